import CMachine
import CSQLite
import FaultlineStore
import Foundation
import Glibc

/// Checks the loaded SQLite library: its version, its features, and whether a store works with it.
struct SQLiteChecks: Examination {
    private static let library = Subject(
        name: "library", why: "Stores are SQLite databases.", isEssential: true, package: "libsqlite3-dev")
    private static let threads = Subject(
        name: "threads", why: "A program uses its stores from several threads at once.", isEssential: true,
        package: "libsqlite3-dev")
    private static let features = Subject(
        name: "features", why: "A store needs them to be created, read and explained.", isEssential: true,
        package: "libsqlite3-dev")
    private static let statistics = Subject(
        name: "STAT4", why: "With it, ANALYZE shows the planner which values are rare; without it, only averages.")
    private static let scanStatus = Subject(
        name: "scan status",
        why: "With it, SQLite counts the rows of each loop of a plan; the store does not use them.")
    private static let columnMetadata = Subject(
        name: "column metadata", why: "With it, SQLite reports a result's tables and columns; the store knows its own.")
    private static let secureDelete = Subject(
        name: "secure delete", why: "With it, SQLite overwrites deleted data, so deleting writes more pages.")
    private static let store = Subject(
        name: "store", why: "Everything else depends on it.", isEssential: true)

    /// The first version that counts changes in 64 bits (`sqlite3_changes64`).
    private static let minimumVersion: Int32 = 3_037_000

    var silence: Check {
        Self.store.failed(
            "\(ScratchDirectory.temporary) \(Doctor.silence)", "Check what is mounted there, or set TMPDIR.")
    }

    func checks() -> [Check] {
        var connection: OpaquePointer?
        defer { sqlite3_close(connection) }
        guard sqlite3_open(":memory:", &connection) == SQLITE_OK, let connection else {
            return [library(), Self.store.failed("SQLite cannot open a database", "Reinstall libsqlite3-dev.")]
        }
        return [
            library(), threads(), features(connection), statistics(connection), scanStatus(), columnMetadata(),
            secureDelete(connection), store(),
        ]
    }

    private func library() -> Check {
        let version = String(cString: sqlite3_libversion())
        let address = unsafeBitCast(
            sqlite3_libversion as @convention(c) () -> UnsafePointer<CChar>?, to: UnsafeRawPointer.self)
        let path = SharedLibrary.path(at: address) ?? "linked in"
        let number = sqlite3_libversion_number()
        if number < Self.minimumVersion {
            return Self.library.failed(
                "\(version), and 3.37.0 is needed", "Install a newer libsqlite3 than \(path).")
        }
        if number < SQLITE_VERSION_NUMBER {
            return Self.library.warning(
                "\(version), older than \(SQLITE_VERSION) of the build",
                "Check which one is loaded (\(path)) and why: LD_LIBRARY_PATH, /usr/local.")
        }
        return Self.library.ok("\(version), \(path)")
    }

    private func threads() -> Check {
        switch sqlite3_threadsafe() {
        case 0:
            Self.threads.failed(
                "single-thread: built without mutexes",
                "Install a library that was built with SQLITE_THREADSAFE=1 or 2.")
        case 2: Self.threads.ok("multi-thread; a store guards its own connection")
        default: Self.threads.ok("serialized; a store guards its own connection")
        }
    }

    /// Tries the features that a store needs in memory, except the write-ahead log, which needs a file.
    private func features(_ connection: OpaquePointer) -> Check {
        let needed: [(name: String, exists: Bool)] = [
            (
                "triggers",
                tried(connection, ["CREATE TABLE a (b)", "CREATE TRIGGER c AFTER DELETE ON a BEGIN SELECT 1; END"])
            ),
            ("table-valued functions", SQLiteQuery.first("SELECT name FROM pragma_table_info('a')", connection) == "b"),
            ("auto-vacuum", SQLiteQuery.first("PRAGMA auto_vacuum", connection) != nil),
            ("query plans", SQLiteQuery.first("EXPLAIN QUERY PLAN SELECT b FROM a", connection) != nil),
        ]
        let absent = needed.filter { !$0.exists }.map(\.name).joined(separator: ", ")
        guard absent.isEmpty else {
            return Self.features.failed("this build has no \(absent)", "Install a library that was built with them.")
        }
        return Self.features.ok(needed.map(\.name).joined(separator: ", "))
    }

    private func statistics(_ connection: OpaquePointer) -> Check {
        let exists =
            tried(connection, ["CREATE TABLE d (e)", "CREATE INDEX f ON d (e)", "INSERT INTO d VALUES (1)", "ANALYZE"])
            && SQLiteQuery.first("SELECT name FROM sqlite_master WHERE name = 'sqlite_stat4'", connection) != nil
        return exists
            ? Self.statistics.ok("in this build")
            : Self.statistics.missing("not in this build: ANALYZE gathers only averages")
    }

    private func scanStatus() -> Check {
        Self.isExported("sqlite3_stmt_scanstatus")
            ? Self.scanStatus.ok("in this build") : Self.scanStatus.missing("not in this build; the store does without")
    }

    private func columnMetadata() -> Check {
        Self.isExported("sqlite3_column_table_name")
            ? Self.columnMetadata.ok("in this build")
            : Self.columnMetadata.missing("not in this build; the store does without")
    }

    private func secureDelete(_ connection: OpaquePointer) -> Check {
        switch SQLiteQuery.first("PRAGMA secure_delete", connection) {
        case "1": Self.secureDelete.ok("on: deleted data is overwritten")
        case "2": Self.secureDelete.ok("fast: deleted data is overwritten if that writes no more pages")
        default: Self.secureDelete.ok("off")
        }
    }

    private func store() -> Check {
        let position = ScratchDirectory.temporary
        return StoreTrial.check(Self.store, in: position, remedy: "Set TMPDIR to a writable local directory.") {
            "created and read in \(position), WAL, \($0)"
        }
    }

    private func tried(_ connection: OpaquePointer, _ statements: [String]) -> Bool {
        statements.allSatisfy { sqlite3_exec(connection, $0, nil, nil, nil) == SQLITE_OK }
    }

    /// Whether the loaded library has a function.
    ///
    /// The lookup is by name, because the library may differ from the one at build time.
    private static func isExported(_ function: String) -> Bool {
        guard let library = try? SharedLibrary("libsqlite3.so.0", loads: false) else { return false }
        return library.symbol(function) != nil
    }
}

/// A shared library, located as the dynamic linker would for a program linked against it.
struct SharedLibrary {
    private let handle: UnsafeMutableRawPointer

    /// The reason why a library cannot be loaded.
    enum Failure: Error {
        /// There is no library of that name.
        case missing
        /// The library exists but cannot be loaded, for the linker's reason.
        case unusable(String)
    }

    /// - Parameter loads: Whether to load the library. If not, only a library that is already loaded is found.
    init(_ name: String, loads: Bool = true) throws(Failure) {
        guard let handle = dlopen(name, loads ? RTLD_LAZY | RTLD_LOCAL : RTLD_LAZY | RTLD_NOLOAD) else {
            let reason = dlerror().map { String(cString: $0) } ?? ""
            throw Self.failure(reason, name: name)
        }
        self.handle = handle
    }

    /// Interprets the linker's message.
    static func failure(_ reason: String, name: String) -> Failure {
        if reason.isEmpty || reason.contains("\(name): cannot open shared object file: No such file") {
            return .missing
        }
        // "liblttng-ust.so.1: file too short"
        return .unusable(
            reason.split(separator: ":").last.map { $0.trimmingPrefix { $0 == " " } }.map(String.init) ?? reason)
    }

    func symbol(_ name: String) -> UnsafeMutableRawPointer? {
        dlsym(handle, name)
    }

    /// The path of the file mapped at an address.
    static func path(at address: UnsafeRawPointer) -> String? {
        cmachine_file_at(address).map { String(cString: $0) }
    }
}
