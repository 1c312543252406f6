import CSQLite
import FaultlineModel
import Foundation

/// Removes the files of large values that interrupted saves left behind.
///
/// Only removes files that such a save listed, that have names as the store assigns them, and that no row refers to.
struct ExternalCollection {
    private let external: ExternalData
    private let schema: ModelSchema
    private let connection: SQLConnection

    init(_ external: ExternalData, _ schema: ModelSchema, _ connection: SQLConnection) {
        self.external = external
        self.schema = schema
        self.connection = connection
    }

    /// Removes the files.
    ///
    /// - Complexity: one directory listing; after an interrupted save, O(rows of the tables with large values).
    func collect() {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: external.support.path) else { return }
        for name in names where name.hasPrefix(UnsavedFiles.prefix) {
            UnsavedFiles.take(external.support.appendingPathComponent(name), of: external.store) { files in
                let needed = try referred()
                for file in files where UUID(uuidString: file) != nil && !needed.contains(file) {
                    ExternalData.remove([external.folder.appendingPathComponent(file)])
                }
            }
        }
    }

    /// The names of the files that rows refer to.
    func referred() throws(StoreError) -> Set<String> {
        var names: Set<String> = []
        var seen: Set<String> = []
        for entity in schema.entities {
            for column in entity.columns where entity.properties[column.property].isExternal {
                guard seen.insert("\(entity.table).\(column.name)").inserted else { continue }
                try external.eachFile(
                    "SELECT \(column.name) FROM \(entity.table) WHERE substr(\(column.name), 1, 1) = x'02'", connection
                ) { names.insert($0) }
            }
        }
        return names
    }
}

extension ExternalData {
    /// Passes the names of the files to which a query's columns refer to a closure.
    ///
    /// - Parameter query: A query for one column with large values.
    func eachFile(_ query: String, _ connection: SQLConnection, _ body: (String) -> Void) throws(StoreError) {
        let statement = try connection.prepare(query)
        var result = sqlite3_step(statement.handle)
        while result == SQLITE_ROW {
            let bytes = UnsafeRawBufferPointer(
                start: sqlite3_column_blob(statement.handle, 0), count: Int(sqlite3_column_bytes(statement.handle, 0)))
            if let file = file(bytes) { body(file.lastPathComponent) }
            result = sqlite3_step(statement.handle)
        }
        guard result == SQLITE_DONE else { throw connection.error(result, doing: "Looking for large values") }
    }
}
