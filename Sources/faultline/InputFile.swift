import Foundation

/// Reads small files that the command is given.
enum InputFile {
    /// - Parameter what: What the file is, for the message: `"budget"`.
    /// - Throws: ``CommandFailure`` with the system's words, and what to do.
    static func read(_ path: String, as what: String) throws -> Data {
        guard let file = fopen(path, "r") else { throw failure(path, what) }
        defer { fclose(file) }
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            data.append(contentsOf: buffer[..<count])
            if ferror(file) != 0 { throw failure(path, what) }
            if count == 0 { return data }
        }
    }

    private static func failure(_ path: String, _ what: String) -> CommandFailure {
        .usage(
            "The \(what) \"\(path)\" cannot be read (\(String(cString: strerror(errno)))); check the path, and whether it may "
                + "be read.")
    }
}
