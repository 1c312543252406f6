import CSQLite
import Foundation

/// SQLite without Faultline's store, to inspect a store's file from outside.
enum SQLShell {
    /// Makes a store look as Core Data writes it: without this library's copy of the model and without its key in the metadata.
    static func disguise(_ url: URL) throws {
        guard case .blob(let data)? = try cells("SELECT Z_PLIST FROM Z_METADATA", url).first?["Z_PLIST"],
            var list = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
        else { return }
        list = list.filter { !$0.key.hasPrefix("Faultline") }
        let hex = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
            .map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        try run("UPDATE Z_METADATA SET Z_PLIST = x'\(hex)'; DROP TABLE Z_FAULTLINE;", url)
    }

    struct Failure: Error {
        var message: String
    }

    /// Runs statements and returns all of their rows, with columns joined by `|`.
    @discardableResult
    static func run(_ text: String, _ url: URL) throws -> [String] {
        var connection: OpaquePointer?
        guard sqlite3_open(url.path, &connection) == SQLITE_OK else { throw Failure(message: "cannot open") }
        defer { sqlite3_close(connection) }
        sqlite3_busy_timeout(connection, 5000)
        var rows: [String] = []
        var message: UnsafeMutablePointer<CChar>?
        let result = withUnsafeMutablePointer(to: &rows) { rows in
            sqlite3_exec(
                connection, text,
                { rows, count, values, _ in
                    let line = (0..<Int(count)).map { values?[$0].map { String(cString: $0) } ?? "NULL" }
                    rows!.assumingMemoryBound(to: [String].self).pointee.append(line.joined(separator: "|"))
                    return 0
                }, rows, &message)
        }
        guard result == SQLITE_OK else {
            let text = message.map { String(cString: $0) } ?? "error \(result)"
            sqlite3_free(message)
            throw Failure(message: text)
        }
        return rows
    }
}

/// A second connection that stays open to hold locks.
final class OpenConnection {
    private var connection: OpaquePointer?

    init(_ url: URL) throws {
        guard sqlite3_open(url.path, &connection) == SQLITE_OK else { throw SQLShell.Failure(message: "cannot open") }
    }

    deinit {
        sqlite3_close(connection)
    }

    func run(_ text: String) throws {
        guard sqlite3_exec(connection, text, nil, nil, nil) == SQLITE_OK else {
            throw SQLShell.Failure(message: String(cString: sqlite3_errmsg(connection)))
        }
    }
}
