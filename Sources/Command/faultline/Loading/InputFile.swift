import FaultlineTrace
import Foundation

/// Reads small input files.
enum InputFile {
    /// The maximum bytes of a file that a person wrote.
    static let most = 16 << 20

    /// Reads a file, or a pipe that a shell passes in its place: `--budget <(jq .budget settings.json)`.
    ///
    /// - Parameters:
    ///   - what: The kind of file, for the message, such as `"budget"`.
    ///   - limit: The maximum bytes of the file.
    /// - Throws: ``CommandFailure`` with the system's message, and what to do.
    static func read(_ path: String, as what: String, atMost limit: Int = most) throws -> Data {
        do {
            return Data(try RegularFile.bytes(of: path, atMost: limit, allowingPipe: true))
        } catch {
            let advice =
                switch error {
                case .system: "check the path and its permissions"
                case .notRegular, .tooLarge: "name another file"
                }
            throw CommandFailure.usage("Cannot read the \(what) \"\(path)\" (\(error)); \(advice).")
        }
    }
}
