import CSQLite
import FaultlineFindings
import FaultlineModel
import FaultlineReader
import FaultlineRecorder
import FaultlineStore
import FaultlineTrace
import Foundation
import Synchronization

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

/// Records events into rings and a timeline, like `faultline record`, and reads them back.
struct TimelineTrial: Examination {
    /// The directory for the timeline.
    let directory: String

    private static let subject = Subject(
        name: "trial run", why: "A recording with the default options works like this one.", isEssential: true)
    private static let events = 100

    var silence: Check {
        Self.subject.failed(
            "\(directory) \(Doctor.silence)", "Name another directory with --directory, and record with -o.")
    }

    func checks() -> [Check] {
        do {
            let read = try ScratchDirectory.with(in: directory) { try record(to: $0.file("trace.json")) }
            guard read == Self.events else {
                return [
                    Self.subject.failed(
                        "only \(read) of \(Self.events) events were read back",
                        "Record a program, and check the head of its report.")
                ]
            }
            return [Self.subject.ok("\(Self.events) events recorded, written to a timeline, read back")]
        } catch let failure as SystemError {
            return [
                Self.subject.failed(
                    "cannot create a file in \(directory) (\(failure))",
                    "Name another directory with --directory, and record with -o.")
            ]
        } catch {
            return [Self.subject.failed("no complete timeline was written in \(directory)", "\(error)")]
        }
    }

    /// Records events, and returns the number that were read back.
    private func record(to path: String) throws -> Int {
        let collector = try TraceCollector(path: path, scratch: Recording.directories(for: path))
        let recorder: Recorder
        do {
            recorder = try Recorder.writing(to: .rings(directory: collector.directory))
        } catch {
            collector.discard()
            throw error
        }
        for _ in 0..<Self.events {
            if let open = recorder.begin() { recorder.end(open, TraceEvent.Fetch(), context: 0, site: 0) }
        }
        recorder.close()
        if let note = collector.finish().notes.first { throw CommandFailure.tool(note) }
        var read = 0
        try TraceReader(path: path).read { message in
            if case .event = message { read += 1 }
        }
        return read
    }
}

/// A temporary directory for a check.
struct ScratchDirectory {
    private let directory: OwnedDirectory
    var path: String { directory.path }

    /// The directory for temporary files, without a trailing slash.
    static var temporary: String {
        let path = NSTemporaryDirectory()
        return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// Creates a directory in another one.
    ///
    /// - Throws: ``SystemError`` if nothing can be created there.
    init(in directory: String) throws(SystemError) {
        guard let made = OwnedDirectory.make(in: directory, purpose: .doctor, content: "") else {
            throw SystemError(code: errno)
        }
        Self.present.withLock { _ = $0.insert(made.path) }
        self.directory = made
    }

    /// The existing scratch directories.
    private static let present = Mutex<Set<String>>([])

    /// Removes the directories of work that has not ended, and may never end.
    static func removeAll() {
        for path in present.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) }
    }

    func file(_ name: String) -> String {
        path + "/" + name
    }

    func remove() {
        directory.remove()
        Self.present.withLock { _ = $0.remove(path) }
    }

    /// Runs `body` with a new directory, and removes the directory.
    static func with<Result>(
        in directory: String, _ body: (ScratchDirectory) throws -> Result
    ) throws -> Result {
        let scratch = try ScratchDirectory(in: directory)
        defer { scratch.remove() }
        return try body(scratch)
    }
}
