import CSQLite
import FaultlineAnalysis
import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import Foundation

/// Makes a store in a directory, writes to it, opens it again and reads what was written.
struct StoreTrial {
    /// How SQLite keeps what is not yet in the store's file; `wal` if its write-ahead log works.
    let journalMode: String
    /// Bytes of a page.
    let pageSize: Int
    /// Whether every row came back.
    let isWhole: Bool

    private static let rows: Int64 = 20

    /// - Throws: ``SystemError`` if no file can be made there; ``StoreError`` for what the store says.
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

    /// What a trial in a directory says.
    ///
    /// - Parameter found: Says in a few words that it works, given the size of a page.
    static func check(_ subject: Subject, in directory: String, remedy: String, found: (String) -> String) -> Check {
        do {
            let trial = try StoreTrial(in: directory)
            guard trial.isWhole else { return subject.failed("a store in \(directory) lost rows", remedy) }
            guard trial.journalMode == "wal" else {
                return subject.failed("no write-ahead log in \(directory), but \"\(trial.journalMode)\"", remedy)
            }
            return subject.ok(found("\(Phrase.count(trial.pageSize))-byte pages"))
        } catch let failure as SystemError {
            return subject.failed("no file can be made in \(directory) (\(failure))", remedy)
        } catch {
            return subject.failed("a store in \(directory) does not work", "\(error)")
        }
    }

    private final class Row: ManagedObject {
        static let number = AttributeKey<Int64>("number")
    }

    private static func open(_ url: URL, _ model: ManagedObjectModel) throws -> PersistentContainer {
        var description = PersistentStoreDescription(url: url)
        // Nobody else has the store: where locks are refused, SQLite waits for somebody who is not there.
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

/// Questions to a connection of SQLite's.
enum SQLiteQuery {
    /// The first column of a statement's first row; `nil` if there is none, or the statement does not run.
    static func first(_ sql: String, _ connection: OpaquePointer) -> String? {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK,
            sqlite3_step(statement) == SQLITE_ROW
        else { return nil }
        return sqlite3_column_text(statement, 0).map { String(cString: $0) }
    }
}
