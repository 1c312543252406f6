import CSQLite
import Foundation
import SharedData
import Testing

@Suite("faultline inspect")
struct InspectTests {
    /// The parts of a JSON report that the tests read.
    private struct Report: Decodable {
        struct Finding: Decodable { var rule, title, severity: String }
        struct Column: Decodable {
            var name: String
            var property: String?
            var meanSize, emptyShare: Double
            var largestSize: UInt64
        }
        struct Index: Decodable {
            var name: String
            var columns: [String]
        }
        struct Reference: Decodable { var column, table: String }
        struct Table: Decodable {
            var name: String
            var entity: String?
            var rows, size, sampled: UInt64
            var columns: [Column]
            var indexes: [Index]
            var references: [Reference]
        }
        struct Withdrawn: Decodable { var title, reason: String }
        struct Part: Decodable {
            var kind, name: String
            var rows, size: UInt64
        }
        var tables: [Table]
        var withdrawn: [Withdrawn]
        var others: [Part]
        var size: UInt64
        var findings: [Finding]
        var isCoreData: Bool
        var journalMode: String
    }

    private func inspect(_ arguments: String...) throws -> Report {
        let result = try BuiltCommand.run(["inspect", "--format", "json"] + arguments)
        guard result.status == 0 else { throw CommandFailed(text: result.errors) }
        return try JSONDecoder().decode(Report.self, from: Data(result.output.utf8))
    }

    /// A shop whose items have photos before their prices.
    private static let shop = """
        CREATE TABLE shelf(id INTEGER PRIMARY KEY, label TEXT);
        CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, photo BLOB, price REAL, shelf INTEGER REFERENCES shelf);
        CREATE INDEX byName ON item(name);
        CREATE INDEX byNameAndPrice ON item(name, price);
        WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 20)
            INSERT INTO shelf SELECT i, 'shelf ' || i FROM n;
        WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
            INSERT INTO item SELECT i, 'item ' || i, randomblob(18000), i, i % 20 + 1 FROM n;
        """

    @Test("reports what will be slow in any SQLite file")
    func shop() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("shop.sqlite")
        try SQLiteFile.run(Self.shop, on: path)
        let report = try inspect(path)
        #expect(
            Set(report.findings.map(\.title)) == [
                "Move item.photo into a table of its own", "Put item.photo after price, shelf",
                "Index item by shelf",
            ])
        // The other index orders the rows of a name by price, so SQLite would have to sort them by key.
        #expect(report.withdrawn.map(\.title) == ["Drop the index byName"])
        let item = try #require(report.tables.first { $0.name == "item" })
        #expect(item.rows == 1000 && item.size > 18_000_000)
        #expect(item.columns.first { $0.name == "photo" }?.meanSize == 18_000)
        #expect(item.columns.first { $0.name == "photo" }?.largestSize == 18_000)
        #expect(item.references.map(\.table) == ["shelf"])
        #expect(!report.isCoreData && report.journalMode == "rollback")
        let text = try BuiltCommand.run(["inspect", path]).output
        #expect(text.hasPrefix("shop.sqlite: "))
        #expect(text.contains("     → CREATE INDEX item_shelf ON item (shelf);\n"))
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }

    @Test("finds nothing in a well-made file or an empty one")
    func fine() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("shop.sqlite")
        try SQLiteFile.run(
            """
            CREATE TABLE shelf(id INTEGER PRIMARY KEY, label TEXT);
            CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, price REAL, shelf INTEGER REFERENCES shelf);
            CREATE INDEX byShelf ON item(shelf);
            WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
                INSERT INTO item SELECT i, 'item ' || i, i, i % 20 + 1 FROM n;
            """, on: path)
        #expect(try inspect(path).findings.map(\.title) == [])
        let empty = directory.path("empty.sqlite")
        try SQLiteFile.run("CREATE TABLE t(a)", on: empty)
        #expect(try inspect(empty).findings.map(\.title) == [])
    }

    @Test("reads the write-ahead log, and leaves the files unchanged")
    func log() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("open.sqlite")
        var connection: OpaquePointer?
        try #require(sqlite3_open(path, &connection) == SQLITE_OK)
        defer { sqlite3_close(connection) }
        let sql = """
            PRAGMA journal_mode = wal; CREATE TABLE t(a);
            WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 700) INSERT INTO t SELECT i FROM n;
            """
        try #require(sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK)
        let files = ["open.sqlite", "open.sqlite-wal", "open.sqlite-shm"]
        func contents() throws -> [Data] {
            try files.map { try Data(contentsOf: URL(fileURLWithPath: directory.path($0))) }
        }
        let before = try contents()
        let report = try inspect(path)
        #expect(report.tables.map(\.rows) == [700] && report.journalMode == "wal")
        #expect(try contents() == before)
        let list = try FileManager.default.contentsOfDirectory(atPath: (path as NSString).deletingLastPathComponent)
        #expect(Set(list) == Set(files))
    }

    /// `inspect` used to advise dropping this index, because the primary key starts with its column, which made some
    /// queries 2.5 to 31 times slower.
    @Test(
        "keeps an index of Chinook that its primary key does not replace",
        .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func chinook() throws {
        let report = try inspect(SharedData.url("chinook/Chinook_Sqlite.sqlite").path)
        #expect(report.findings.map(\.title) == [])
        #expect(report.withdrawn.map(\.title) == ["Drop the index IFK_PlaylistTrackPlaylistId"])
        #expect(report.withdrawn.first?.reason.hasPrefix("Without it, ") == true)
        #expect(report.tables.first { $0.name == "Track" }?.rows == 3503)
        #expect(report.tables.first { $0.name == "Track" }?.references.map(\.table) == ["Album", "Genre", "MediaType"])
    }

    @Test(
        "shows entities and, with the model, properties of Core Data's stores",
        .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func coreData() throws {
        let folder = try SharedData.url("core-data-stores/duckduckgo").path
        // The store has an older version of the model than the current one.
        let report = try inspect(
            folder + "/Bookmarks_V3.sqlite", "--model", folder + "/BookmarksModel.xcdatamodeld")
        #expect(report.isCoreData)
        let table = try #require(report.tables.first { $0.name == "ZBOOKMARKENTITY" })
        #expect(table.entity == "BookmarkEntity")
        #expect(table.columns.first { $0.name == "ZPARENT" }?.property == "parent")
        #expect(table.references.contains { $0.column == "ZPARENT" && $0.table == "ZBOOKMARKENTITY" })
        #expect(report.tables.allSatisfy { $0.name != "Z_METADATA" && $0.name != "Z_PRIMARYKEY" })
    }

    @Test("reports a file that is not a store in one sentence, with a remedy")
    func wrong() throws {
        let directory = try TemporaryDirectory()
        func message(_ arguments: String...) throws -> String {
            let result = try BuiltCommand.run(["inspect"] + arguments)
            #expect(result.status == 2 && result.output.isEmpty)
            return result.errors
        }
        let text = directory.path("notes.txt")
        try "no database".write(toFile: text, atomically: false, encoding: .utf8)
        #expect(
            try message(text)
                == "faultline: Cannot read \"\(text)\" as an SQLite file (file is not a database); name an SQLite file.\n"
        )
        for path in ["/dev/null", (text as NSString).deletingLastPathComponent] {
            #expect(
                try message(path)
                    == "faultline: \"\(path)\" is not a regular file; name the file of a store, not its folder or a "
                    + "device.\n"
            )
        }
        let missing = directory.path("missing")
        #expect(
            try message(missing)
                == "faultline: Cannot read the store \"\(missing)\": there is no such file; check the path.\n")
        let store = directory.path("shop.sqlite")
        try SQLiteFile.run(Self.shop, on: store)
        #expect(try message(store, "--model", text).contains("is not XML; name the contents of a .xcdatamodel"))
        // A truncated store, and one with overwritten pages.
        var bytes = try Data(contentsOf: URL(fileURLWithPath: store))
        let cut = directory.path("cut.sqlite")
        try bytes.prefix(40_000).write(to: URL(fileURLWithPath: cut))
        #expect(try message(cut).contains("database disk image is malformed"))
        for place in 4096..<200_000 { bytes[place] = UInt8(truncatingIfNeeded: place &* 31) }
        let broken = directory.path("broken.sqlite")
        try bytes.write(to: URL(fileURLWithPath: broken))
        #expect(
            try message(broken).hasSuffix(
                "(database disk image is malformed); run \"PRAGMA integrity_check\" to see whether the store is "
                    + "damaged.\n"
            ))
    }
}
