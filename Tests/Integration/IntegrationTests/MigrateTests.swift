import CSQLite
import FaultlineModel
import FaultlineStore
import Foundation
import SharedData
import Testing

@Suite("faultline migrate", .timeLimit(.minutes(10)))
struct MigrateTests {
    private let directory: TemporaryDirectory
    private let store: String
    private let model: String

    /// Notes with tags, and a newer version with another entity, a renamed, a removed and a new attribute.
    init() throws {
        directory = try TemporaryDirectory()
        (store, model) = (directory.path("notes.sqlite"), directory.path("New.xcdatamodel"))
        func note(_ attributes: [AttributeDescription]) -> [EntityDescription] {
            [
                EntityDescription(
                    "Note", attributes: attributes,
                    relationships: [RelationshipDescription("tags", to: "Tag", inverse: "notes", isToMany: true)]),
                EntityDescription(
                    "Tag",
                    relationships: [RelationshipDescription("notes", to: "Note", inverse: "tags", isToMany: true)]),
            ]
        }
        let old = try ManagedObjectModel(
            entities: note([AttributeDescription("title", .string), AttributeDescription("old", .integer32)]))
        let new = try ManagedObjectModel(
            entities: note([
                AttributeDescription("name", .string, renamingIdentifier: "title"),
                AttributeDescription("stars", .integer16, defaultValue: 3),
            ]) + [EntityDescription("Album")])
        try new.write(to: URL(fileURLWithPath: model))
        try old.write(to: URL(fileURLWithPath: directory.path("Old.xcdatamodel")))
        _ = try PersistentContainer(name: "Old", managedObjectModel: old, storeURL: URL(fileURLWithPath: store))
    }

    private func fill(_ count: Int) throws {
        try SQLiteFile.run(
            """
            PRAGMA journal_mode=delete;
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
            INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZOLD) SELECT i, 1, 1, 'note ' || i, i FROM n;
            INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT) SELECT Z_PK, 2, 1 FROM ZNOTE WHERE Z_PK <= 10;
            INSERT INTO Z_1TAGS SELECT Z_PK, Z_PK % 10 + 1 FROM ZNOTE;
            UPDATE Z_PRIMARYKEY SET Z_MAX = \(count);
            """, on: store)
    }

    private func query(_ sql: String, on path: String? = nil) throws -> String {
        let result = try BuiltCommand.run([path ?? store, sql], program: "/usr/bin/sqlite3")
        return result.errors + result.output
    }

    private func migrate(_ options: [String] = []) throws -> BuiltCommand.Result {
        try BuiltCommand.run(["migrate", store, "--to", model] + options, directory: directory.url)
    }

    @Test("shows the plan and changes nothing, then does it and says where the time went")
    func plan() throws {
        try fill(100)
        let before = try Data(contentsOf: URL(fileURLWithPath: store))
        let planned = try migrate(["--dry-run"])
        #expect(planned.status == 0 && planned.errors.isEmpty)
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
        let lines = planned.output.components(separatedBy: "\n")
        #expect(lines[0] == "The store \"notes.sqlite\" would be migrated to New, in place, in one transaction.")
        for line in [
            "  – The entity 'Album' was added.", "  – 'Note.name' was renamed from 'title'.",
            "  – The attribute 'Note.old' was removed.", "  – The attribute 'Note.stars' was added.",
            "  Note        100  kept", "  Tag          10  kept",
            "  CREATE TABLE ZALBUM ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER );",
            "  UPDATE ZTAG SET Z_ENT = 3;", "  ALTER TABLE Z_1TAGS RENAME TO Z_2TAGS;",
        ] {
            #expect(lines.contains(line), "\(line)")
        }
        #expect(
            planned.output.replacing("\n", with: " ").hasSuffix(" of free disk space. Nothing was changed. "))

        let done = try migrate(["--keep-backup"])
        #expect(done.status == 0 && done.errors.isEmpty)
        #expect(done.output.hasPrefix("The store \"notes.sqlite\" was migrated to New, in place, in one transaction."))
        #expect(done.output.contains("\nWhere the time went\n"))
        let backup = directory.path("notes.backup.sqlite")
        #expect(done.output.hasSuffix("The older store is \"notes.backup.sqlite\", in the same folder.\n"))
        #expect(try query("SELECT COUNT(*), MIN(ZNAME), SUM(ZSTARS), MAX(Z_ENT) FROM ZNOTE") == "100|note 1|300|2\n")
        #expect(try query("SELECT COUNT(*), SUM(ZOLD) FROM ZNOTE", on: backup) == "100|5050\n")
        let again = try migrate()
        #expect(again.output == "The store \"notes.sqlite\" already fits New.\n\nNothing was changed.\n")
    }

    @Test("prints the same as JSON")
    func json() throws {
        try fill(20)
        for (options, state) in [(["--dry-run"], "planned"), ([], "migrated"), ([], "current")] {
            let result = try migrate(options + ["--format", "json"])
            let document = try #require(
                try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
            #expect(document["state"] as? String == state)
            #expect((document["plan"] as? [[String: String]])?.isEmpty == (state == "current"))
            #expect((document["steps"] as? [[String: Any]])?.isEmpty == (state != "migrated"))
        }
    }

    @Test("writes a page, and checks the page's file before it migrates")
    func page() throws {
        try fill(5)
        let before = try Data(contentsOf: URL(fileURLWithPath: store))
        let (page, own) = (directory.path("page.html"), directory.path("own.html"))
        try Data("mine".utf8).write(to: URL(fileURLWithPath: own))
        for (options, text) in [
            ([], "A page is written to a file: name it with -o page.html."),
            (["-o", own], "\"\(own)\""), (["-o", directory.path("no/page.html")], "no/page.html"),
        ] {
            let result = try migrate(["--format", "html"] + options)
            #expect(result.status != 0 && result.errors.contains(text), "\(result.errors)")
        }
        #expect(try String(contentsOf: URL(fileURLWithPath: own), encoding: .utf8) == "mine")
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
        let done = try migrate(["--format", "html", "-o", page])
        #expect(done.status == 0 && done.output.isEmpty)
        let text = try String(contentsOf: URL(fileURLWithPath: page), encoding: .utf8)
        #expect(text.contains("data-page=\"model\"") && text.contains("5 objects, kept"))
        #expect(text.contains("was migrated to New, in place, in one transaction."))
        #expect(try query("SELECT COUNT(ZNAME) FROM ZNOTE") == "5\n")
    }

    @Test("refuses what it cannot do, and leaves the store alone")
    func refusals() throws {
        try fill(5)
        let before = try Data(contentsOf: URL(fileURLWithPath: store))
        let strict = try ManagedObjectModel(entities: [
            EntityDescription(
                "Note", attributes: [AttributeDescription("code", .string, isOptional: false)])
        ])
        let path = directory.path("Strict.xcdatamodel")
        try strict.write(to: URL(fileURLWithPath: path))
        let refused = try BuiltCommand.run(["migrate", store, "--to", path])
        #expect(refused.status == 1)
        #expect(refused.output.hasPrefix("The store \"notes.sqlite\" cannot be migrated to Strict."))
        #expect(
            refused.output.contains("  – 'Note.code' is new, required and without a default value, so 5 Note objects"))
        #expect(refused.output.hasSuffix("\nNothing was changed.\n"))

        let foreign = directory.path("foreign.sqlite")
        try SQLiteFile.run("CREATE TABLE t (a)", on: foreign)
        for (arguments, text) in [
            (
                [foreign, "--to", model],
                "'\(foreign)' is an SQLite database but not a store: it has tables, but none of them is Z_METADATA; name another file."
            ),
            (
                [directory.path("no.sqlite"), "--to", model],
                "'\(directory.path("no.sqlite"))' cannot be opened; check that this user may read and write it and its folder."
            ),
            (
                [store, "--to", directory.path("No.xcdatamodel")],
                "'\(directory.path("No.xcdatamodel"))' does not exist; name a .xcdatamodeld or a .xcdatamodel."
            ),
        ] {
            let result = try BuiltCommand.run(["migrate"] + arguments)
            #expect(result.status == 2 && result.output.isEmpty)
            #expect(result.errors == "faultline: \(text)\n")
        }
        try Data("mine".utf8).write(to: URL(fileURLWithPath: directory.path("notes.backup.sqlite")))
        let taken = try migrate(["--keep-backup"])
        #expect(taken.status == 2)
        #expect(
            taken.errors
                == "faultline: The backup would replace \"\(directory.path("notes.backup.sqlite"))\"; move that file away first.\n"
        )
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
    }

    @Test(
        "a relationship for which a store has no column is left out of comparisons, and migrated",
        .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func relationshipWithoutInverse() throws {
        let folder = try SharedData.url("core-data-stores/coredataplus/SampleModel")
        let cars = directory.path("cars.sqlite")
        try Data(contentsOf: folder.appendingPathComponent("Fixtures/SampleModel_V1.sqlite")).write(
            to: URL(fileURLWithPath: cars))
        var entities = try ManagedObjectModel(
            contentsOf: folder.appendingPathComponent("SampleModel.xcdatamodeld"), version: "SampleModel"
        ).entities
        let person = try #require(entities.firstIndex { $0.name == "Person" })
        entities[person].relationships.append(RelationshipDescription("likes", to: "Car", inverse: nil, isToMany: true))
        let (target, same) = (directory.path("New.xcdatamodel"), directory.path("Likes.xcdatamodel"))
        try ManagedObjectModel(entities: entities).write(to: URL(fileURLWithPath: same))
        entities[person].attributes.append(AttributeDescription("nickname", .string))
        try ManagedObjectModel(entities: entities).write(to: URL(fileURLWithPath: target))
        let found = try BuiltCommand.run(["model", "find", cars, same])
        #expect(found.status == 0 && found.output.hasSuffix("✓ Likes\n"), "\(found)")
        let migrated = try BuiltCommand.run(["migrate", cars, "--to", target])
        #expect(migrated.status == 0, "\(migrated)")
        #expect(
            try query("SELECT name FROM pragma_table_info('ZCAR') WHERE name LIKE '%LIKES'", on: cars) == "Z1LIKES\n")
    }

    @Test("a store whose version is not found needs --from", .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func source() throws {
        let folder = try SharedData.url("core-data-stores/coredataplus/SampleModel")
        let cars = directory.path("cars.sqlite")
        try Data(contentsOf: folder.appendingPathComponent("Fixtures/SampleModel_V1.sqlite")).write(
            to: URL(fileURLWithPath: cars))
        let target = directory.path("Target.xcdatamodel")
        let models = folder.appendingPathComponent("SampleModel.xcdatamodeld")
        try ManagedObjectModel(contentsOf: models, version: "SampleModel2").write(to: URL(fileURLWithPath: target))
        _ = try query("UPDATE Z_MODELCACHE SET Z_CONTENT = NULL", on: cars)
        let unknown = try BuiltCommand.run(["migrate", cars, "--to", target])
        #expect(
            unknown.errors
                == "faultline: The version of \"\(cars)\" was not found: the store has no readable copy of its model, and none of the versions beside \"\(target)\" fits it; name its version with --from.\n"
        )
        let changed = directory.path("changed.sqlite")
        try Data(contentsOf: folder.appendingPathComponent("Fixtures/SampleModel_V1.sqlite")).write(
            to: URL(fileURLWithPath: changed))
        _ = try query("ALTER TABLE ZCAR ADD COLUMN ZMORE INTEGER", on: changed)
        #expect(
            try BuiltCommand.run(["migrate", changed, "--to", target]).errors
                == "faultline: The version of \"\(changed)\" was not found: the store does not fit its own copy of its model (the store's table ZCAR has a column ZMORE that the model lacks), and none of the versions beside \"\(target)\" fits it; name its version with --from.\n"
        )
        let result = try BuiltCommand.run(["migrate", cars, "--to", target, "--from", models.path])
        #expect(result.status == 0)
        #expect(try query("SELECT COUNT(*) FROM ZCAR", on: cars) == "125\n")
    }

    @Test(
        "leads a store through several versions with their mapping models",
        .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func versions() throws {
        let moods = try Moods(in: directory, count: 1)
        let arguments = moods.arguments
        let planned = try BuiltCommand.run(arguments + ["--dry-run"])
        #expect(planned.status == 0 && planned.errors.isEmpty, "\(planned.errors)")
        let lines = planned.output.components(separatedBy: "\n")
        #expect(
            lines[0]
                == "The store \"moods.sqlite\" would be migrated to Moody 5, in 3 steps, on a copy that then replaces it."
        )
        #expect(lines.contains { $0.hasPrefix("  – Moody 3 → Moody 4: with a mapping model") }, "\(planned.output)")
        let done = try BuiltCommand.run(arguments + ["--format", "json", "--keep-backup"])
        #expect(done.status == 0 && done.errors.isEmpty, "\(done.errors)")
        let document = try #require(
            try JSONSerialization.jsonObject(with: Data(done.output.utf8)) as? [String: Any])
        #expect(
            (document["path"] as? [[String: Any]])?.map { $0["to"] as? String } == ["Moody 3", "Moody 4", "Moody 5"])
        #expect(
            try query("SELECT Z_PK, ZNUMERICISO3166CODE, ZISOCONTINENT FROM ZCOUNTRY", on: moods.store) == "2|276|150\n"
        )
        #expect(
            try query("SELECT COUNT(*) FROM ZGEOGRAPHICREGION", on: directory.path("moods.backup.sqlite")) == "2\n")
    }

    /// A store of objc.io's moods, and the command that leads it through three versions.
    private struct Moods {
        let store: String
        let arguments: [String]
        let versions: [String]

        init(in directory: TemporaryDirectory, count: Int) throws {
            let folder = try SharedData.url("core-data-models/objcio/Migrations/Migrations")
            func file(_ name: String) -> String { folder.appendingPathComponent(name).path }
            versions = (2...5).map { file("Moody.xcdatamodeld/Moody \($0).xcdatamodel") }
            let first = try ManagedObjectModel(contentsOf: URL(fileURLWithPath: versions[0]))
            store = directory.path("moods.sqlite")
            _ = try PersistentContainer(
                name: "Moody", managedObjectModel: first, storeURL: URL(fileURLWithPath: store))
            try SQLiteFile.run(
                """
                PRAGMA journal_mode=delete;
                INSERT INTO ZGEOGRAPHICREGION
                (Z_PK, Z_ENT, Z_OPT, ZCONTINENT, ZUPDATEDAT, ZNUMERICISO3166CODE, ZUNIQUENESSDUMMY, ZNUMBEROFMOODS, ZNUMBEROFCOUNTRIES)
                SELECT 1, Z_ENT, 1, NULL, 5.5, 150, 1, 2, 2 FROM Z_PRIMARYKEY WHERE Z_NAME = 'Continent'
                UNION SELECT 2, Z_ENT, 1, 1, 6.5, 276, 2, 2, NULL FROM Z_PRIMARYKEY WHERE Z_NAME = 'Country';
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
                INSERT INTO ZMOOD (Z_PK, Z_ENT, Z_OPT, ZCOUNTRY, ZREMOTEID, ZRATING, ZDATE, ZMARKEDFORREMOTEDELETION)
                SELECT i, Z_ENT, 1, 2, 'mood ' || i, 3, 8.5, 0 FROM Z_PRIMARYKEY, n WHERE Z_NAME = 'Mood';
                """, on: store)
            arguments =
                ["migrate", store, "--to", versions[3]] + versions.prefix(3).flatMap { ["--from", $0] }
                + (2...4).flatMap { ["--mapping", file("Moody \($0)-Moody \($0 + 1).xcmappingmodel")] }
        }
    }

    // MARK: - Safety

    /// Runs a migration that is killed at a random point, and checks that the store is as before or as after.
    private func kill(_ arguments: [String], within time: Swift.Duration, _ check: () throws -> Bool) throws -> Bool {
        let running = try RunningCommand(BuiltCommand.faultline, arguments)
        let end = ContinuousClock.now + time * Double.random(in: 0..<1)
        while ContinuousClock.now < end { sched_yield() }
        Foundation.kill(running.identifier, SIGKILL)
        _ = running.finish()
        return try check()
    }

    @Test("leaves the store as before or as after when it is killed at 100 random points")
    func killed() throws {
        try fill(20_000)
        let original = try Data(contentsOf: URL(fileURLWithPath: store))
        let arguments = ["migrate", store, "--to", model]
        let start = ContinuousClock.now
        try #require(try migrate().status == 0)
        let time = (ContinuousClock.now - start) * 1.1
        var done = 0
        for _ in 0..<100 {
            try original.write(to: URL(fileURLWithPath: store))
            let isDone = try kill(arguments, within: time) {
                #expect(try query("PRAGMA integrity_check") == "ok\n")
                let isDone = try query("SELECT COUNT(*) FROM pragma_table_info('ZNOTE') WHERE name = 'ZSTARS'") == "1\n"
                #expect(
                    try query(
                        isDone ? "SELECT COUNT(*), SUM(ZSTARS) FROM ZNOTE" : "SELECT COUNT(*), SUM(ZOLD) FROM ZNOTE")
                        == (isDone ? "20000|60000\n" : "20000|200010000\n"))
                let versions = [model, directory.path("Old.xcdatamodel")]
                let found = try BuiltCommand.run(["model", "find", store] + versions)
                #expect(found.output.hasPrefix("The store \"\(store)\" fits \"\(isDone ? "New" : "Old")\"."))
                return isDone
            }
            done += isDone ? 1 : 0
        }
        // Some of the random points must lie within the migration.
        #expect(done < 100)
        #expect(try migrate().status == 0)
        #expect(try query("SELECT COUNT(*) FROM Z_2TAGS") == "20000\n")
    }

    @Test(
        "leaves the store as before or as after when it is killed in one of several steps, and no files",
        .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func killedSteps() throws {
        let moods = try Moods(in: directory, count: 2000)
        let original = try Data(contentsOf: URL(fileURLWithPath: moods.store))
        let start = ContinuousClock.now
        try #require(try BuiltCommand.run(moods.arguments).status == 0)
        let time = (ContinuousClock.now - start) * 1.1
        var done = 0
        for _ in 0..<25 {
            for suffix in ["-journal", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: moods.store + suffix)
            }
            try original.write(to: URL(fileURLWithPath: moods.store))
            let isDone = try kill(moods.arguments, within: time) {
                // The command rolls an interrupted transaction back before it reads the store.
                let found = try BuiltCommand.run(["model", "find", moods.store, moods.versions[0], moods.versions[3]])
                #expect(try query("PRAGMA integrity_check", on: moods.store) == "ok\n")
                let isDone =
                    try query("SELECT COUNT(*) FROM sqlite_master WHERE name = 'ZGEOGRAPHICREGION'", on: moods.store)
                    == "0\n"
                #expect(try query("SELECT COUNT(*), MAX(ZREMOTEID) FROM ZMOOD", on: moods.store) == "2000|mood 999\n")
                #expect(found.output.contains("✓ Moody \(isDone ? 5 : 2)\n"), "\(found.output)")
                return isDone
            }
            done += isDone ? 1 : 0
        }
        #expect(done < 25)
        try original.write(to: URL(fileURLWithPath: moods.store))
        #expect(try BuiltCommand.run(moods.arguments).status == 0)
        let left = try FileManager.default.contentsOfDirectory(atPath: directory.url.path).filter { $0.hasPrefix(".") }
        #expect(left == [])
    }

    @Test(
        "says that the disk is full, and leaves the store as it was",
        .enabled(if: PrivateMounts.isAvailable, PrivateMounts.need))
    func fullDisk() throws {
        try fill(20_000)
        let disk = directory.path("disk")
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        let size = try #require(FileManager.default.attributesOfItem(atPath: store)[.size] as? Int)
        let copy = "\(disk)/notes.sqlite"
        // Values of this size need more space than the store has now.
        let long = directory.path("Long.xcdatamodel")
        var entities = try ManagedObjectModel(contentsOf: URL(fileURLWithPath: directory.path("Old.xcdatamodel")))
            .entities
        entities[0].attributes.append(
            AttributeDescription("text", .string, defaultValue: .string(String(repeating: "x", count: 1000))))
        try ManagedObjectModel(entities: entities).write(to: URL(fileURLWithPath: long))
        for (model, space, expected) in [
            (model, size / 2, "needs up to"),
            (long, size + (128 << 10), "failed because the disk is full; free some space and try again."),
        ] {
            let result = try PrivateMounts.run(
                "cp \(store) \(disk); \(BuiltCommand.faultline) migrate \(copy) --to \(model); echo status $?; sqlite3 \(copy) 'PRAGMA integrity_check; SELECT COUNT(*), SUM(ZOLD) FROM ZNOTE'",
                after: [PrivateMounts.disk(disk, bytes: size + space)])
            #expect(result.errors.contains(expected), "\(result.errors)")
            #expect(result.errors.hasPrefix("faultline: Migrating") && result.errors.split(separator: "\n").count == 1)
            #expect(result.output == "status 2\nok\n20000|200010000\n")
        }
    }

    @Test("says that a folder cannot be written, and that another program has the store open")
    func obstacles() throws {
        try fill(10)
        let before = try Data(contentsOf: URL(fileURLWithPath: store))
        var connection: OpaquePointer?
        try #require(sqlite3_open(store, &connection) == SQLITE_OK)
        try #require(sqlite3_exec(connection, "BEGIN; SELECT * FROM ZNOTE", nil, nil, nil) == SQLITE_OK)
        let busy = try migrate()
        #expect(busy.status == 2)
        #expect(
            busy.errors.hasPrefix(
                "faultline: Migrating the store in '\(store)' timed out after 5.0 s because another connection"))
        sqlite3_close(connection)
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
        // The superuser may write everywhere, so the command runs as somebody else.
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: store)
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: directory.url.path)
        defer { try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory.url.path) }
        let program = geteuid() == 0 ? ["setpriv", "--reuid=65534", "--clear-groups"] : []
        let result = try BuiltCommand.run(
            program + [BuiltCommand.faultline, "migrate", store, "--to", model], program: "/usr/bin/env")
        #expect(result.status == 2)
        #expect(result.errors.hasPrefix("faultline: ") && result.errors.contains(store), "\(result.errors)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
    }

    @Test("killed while it writes a backup, leaves none, and the next removes the rest", arguments: [1, 40, 400])
    func killedBackup(_ blocks: Int) throws {
        // A large join table: the plan copies a sample of the entities' rows to a temporary file, which could be the larger one.
        try fill(300)
        try SQLiteFile.run(
            """
            INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT) SELECT Z_PK, 2, 1 FROM ZNOTE WHERE Z_PK > 10;
            INSERT OR IGNORE INTO Z_1TAGS SELECT n.Z_PK, t.Z_PK FROM ZNOTE n, ZTAG t;
            """, on: store)
        let before = try Data(contentsOf: URL(fileURLWithPath: store))
        // The system kills the command at the write that makes a file larger.
        let killed = try BuiltCommand.run(
            ["-c", "ulimit -c 0; ulimit -f \(blocks); exec \"$0\" \"$@\"", BuiltCommand.faultline]
                + ["migrate", store, "--to", model, "--keep-backup"], program: "/bin/sh")
        #expect(killed.wasKilled && killed.status == SIGXFSZ, "\(killed)")
        func files() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: directory.url.path).filter { $0.contains("backup") }
        }
        let left = try files()
        #expect(!left.isEmpty && left.allSatisfy { $0.hasPrefix(".notes.backup.sqlite.migration-") }, "\(left)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
        let done = try migrate(["--keep-backup"])
        #expect(done.status == 0, "\(done.errors)")
        #expect(try files() == ["notes.backup.sqlite"])
        #expect(
            try query("PRAGMA integrity_check; SELECT COUNT(*) FROM ZNOTE", on: directory.path("notes.backup.sqlite"))
                == "ok\n300\n")
    }

    @Test("keeps other programs out while it copies the store for a backup")
    func backupUnderLock() throws {
        try fill(20_000)
        // Somebody else tries to write all the time.
        let writer = try RunningCommand(
            "/bin/sh",
            [
                "-c",
                "while ! [ -e '\(directory.path("stop"))' ]; do sqlite3 '\(store)' \"INSERT INTO ZTAG (Z_ENT, Z_OPT) VALUES (2, 1)\" 2>/dev/null; done",
            ])
        var result = try migrate(["--keep-backup"])
        for _ in 0..<50 where result.status != 0 { result = try migrate(["--keep-backup"]) }
        try Data().write(to: URL(fileURLWithPath: directory.path("stop")))
        _ = writer.finish()
        #expect(result.status == 0, "\(result.errors)")
        let backup = directory.path("notes.backup.sqlite")
        #expect(try query("PRAGMA integrity_check") == "ok\n")
        #expect(
            try query("PRAGMA integrity_check; SELECT COUNT(*), SUM(ZOLD) FROM ZNOTE", on: backup)
                == "ok\n20000|200010000\n")
        // Whatever was written before the backup was migrated too.
        let before = try query("SELECT COUNT(*) FROM ZTAG", on: backup)
        #expect(try query("SELECT COUNT(*) FROM ZTAG WHERE Z_ENT = 3") == before)
    }
}
