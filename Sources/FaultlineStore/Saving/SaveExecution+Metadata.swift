import CSQLite
import Foundation

extension SaveExecution {
    /// Writes the program's metadata if it changed since the last save.
    mutating func writeMetadata() throws(StoreError) {
        guard let unsaved = store.identity.withMetadata({ $0.unsaved }) else { return }
        var list = Data()
        let sql = "SELECT Z_PLIST FROM Z_METADATA"
        let statement = try store.writer.sqlite.statement(sql)
        store.log.statement(sql)
        try read(statement) { row in
            guard let bytes = sqlite3_column_blob(row, 0) else { return }
            list = Data(bytes: bytes, count: Int(sqlite3_column_bytes(row, 0)))
        }
        let new = try StoreMetadata.changing(list, path: store.identity.url.path) { values in
            values = values.filter { StoreMetadata.isOwn($0.key) }.merging(unsaved.values) { $1 }
        }
        try step("UPDATE OR FAIL Z_METADATA SET Z_PLIST = ?", [.blob(new)])
        metadata = unsaved.change
    }
}
