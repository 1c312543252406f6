import CSQLite
import FaultlineAnalysis
import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import Foundation

/// Creates a store in a directory, writes to it, reopens it and reads the rows back.
struct StoreTrial {
    /// SQLite's journal mode, which is `wal` if the write-ahead log works.
    let journalMode: String
    /// The page size in bytes.
    let pageSize: Int
    /// Whether every row was read back.
    let isWhole: Bool

    private static let rows: Int64 = 20

    /// - Throws: ``SystemError`` if no file can be created there, or ``StoreError`` for errors of the store.
    init(in directory: String) throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Row", attributes: [AttributeDescription("number", .integer64)])
        ])
        (journalMode, pageSize, isWhole) = try ScratchDirectory.with(in: directory) { scratch in
            let url = URL(fileURLWithPath: scratch.file("store.sqlite"))
            try Self.write(Self.open(url, model))
            return try Self.read(Self.open(url, model))
        }
    }

    /// The result of a trial in a directory.
    ///
    /// - Parameter found: Returns a few words for success, given the page size.
    static func check(_ subject: Subject, in directory: String, remedy: String, found: (String) -> String) -> Check {
        do {
            let trial = try StoreTrial(in: directory)
            guard trial.isWhole else { return subject.failed("a store in \(directory) lost rows", remedy) }
            guard trial.journalMode == "wal" else {
                return subject.failed(
                    "the journal mode in \(directory) is \"\(trial.journalMode)\", not a write-ahead log", remedy)
            }
            return subject.ok(found("\(Phrase.count(trial.pageSize))-byte pages"))
        } catch let failure as SystemError {
            return subject.failed("cannot create a file in \(directory) (\(failure))", remedy)
        } catch {
            return subject.failed("a store in \(directory) does not work", "\(error)")
        }
    }

    private final class Row: ManagedObject {
        static let number = AttributeKey<Int64>("number")
    }

    private static func open(_ url: URL, _ model: ManagedObjectModel) throws -> PersistentContainer {
        var description = PersistentStoreDescription(url: url)
        // No other process has the store open. If the file system refuses locks, SQLite would wait for nothing.
        description.busyTimeout = 0.1
        return try PersistentContainer(
            name: "doctor", managedObjectModel: model, storeDescription: description, classes: [Row.self],
            recorder: .off(), sqlDebug: SQLDebugLog(level: 0))
    }

    private static func write(_ container: PersistentContainer) throws {
        let context = container.newBackgroundContext()
        try context.performAndWait {
            for number in 0..<rows { Row(context: context)[Row.number] = number }
            try context.save()
        }
    }

    private static func read(_ container: PersistentContainer) throws -> (String, Int, Bool) {
        let context = container.newBackgroundContext()
        let numbers = try context.performAndWait {
            try context.fetch(FetchRequest<Row>(sortDescriptors: [.ascending("number")])).map { $0[Row.number] }
        }
        let coordinator = container.persistentStoreCoordinator
        let mode = try coordinator.withConnection { SQLiteQuery.first("PRAGMA journal_mode", $0) } ?? ""
        let size = try coordinator.withConnection { SQLiteQuery.first("PRAGMA page_size", $0) } ?? ""
        return (mode, Int(size) ?? 0, numbers == Array(0..<rows))
    }
}

/// Queries an SQLite connection.
enum SQLiteQuery {
    /// The first column of a statement's first row, or `nil` if there is none or the statement fails.
    static func first(_ sql: String, _ connection: OpaquePointer) -> String? {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK,
            sqlite3_step(statement) == SQLITE_ROW
        else { return nil }
        return sqlite3_column_text(statement, 0).map { String(cString: $0) }
    }
}
