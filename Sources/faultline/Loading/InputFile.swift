import FaultlineTrace
import Foundation

/// Reads small files that the command is given.
enum InputFile {
    /// The most bytes of a file that somebody wrote by hand.
    static let most = 16 << 20

    /// Reads a file, or what a shell hands over in its place: `--budget <(jq .budget settings.json)`.
    ///
    /// - Parameters:
    ///   - what: What the file is, for the message: `"budget"`.
    ///   - limit: The most bytes that such a file has.
    /// - Throws: ``CommandFailure`` with the system's words, and what to do.
    static func read(_ path: String, as what: String, atMost limit: Int = most) throws -> Data {
        do {
            return Data(try RegularFile.bytes(of: path, atMost: limit, allowingPipe: true))
        } catch {
            let advice =
                switch error {
                case .system: "check the path, and whether it may be read"
                case .notRegular, .tooLarge: "name another file"
                }
            throw CommandFailure.usage("The \(what) \"\(path)\" cannot be read (\(error)); \(advice).")
        }
    }
}
