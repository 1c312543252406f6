import FaultlineMigration
import FaultlineModel
import FaultlineStore
import Foundation

/// G30–G32: migrating a store, in place, with a mapping model and with a policy: the time, and the memory for ten times as many
/// rows.
///
/// The newer version has a renamed, a removed and a new attribute, and another entity that shifts the numbers of the others. Each
/// sample migrates a copy of one store.
struct MigrationBudgets: BudgetGroup {
    static let numbers = ["G30", "G31", "G32"]

    static func measure(_ options: BudgetOptions, into table: inout BudgetTable) throws {
        let budgets = try MigrationBudgets()
        var arms = [budgets.byHand]
        var wanted: [Budget] = []
        func add(_ number: String, _ arm: Arm, atMost limit: Double) {
            guard options.wants(number) else { return }
            arms.append(arm)
            wanted.append(Budget(number, arm.name, against: budgets.byHand.name, atMost: limit))
        }
        add("G30", budgets.inPlace, atMost: 1.3)
        add("G31", budgets.mapped(nil), atMost: 3)
        add("G32", budgets.mapped("StarsPolicy"), atMost: 8)
        let comparison = Comparison(
            name: "migrate 100,000 rows", operations: Self.count, arms: arms, budgets: wanted)
        // A sample takes up to a second.
        table.add(try comparison.run(rounds: max(5, options.rounds / 4)))
        try measureMemory(options, into: &table)
    }

    private static let count = 100_000
    private static let manyRows = 1_000_000

    // MARK: - Memory

    private enum Way: String, CaseIterable {
        case inPlace = "light-weight"
        case mapped = "mapping model"
        case policy = "Swift policy"

        var number: String {
            switch self {
            case .inPlace: "G30"
            case .mapped: "G31"
            case .policy: "G32"
            }
        }
    }

    private static func measureMemory(_ options: BudgetOptions, into table: inout BudgetTable) throws {
        let budgets = try MigrationBudgets(rows: manyRows)
        for way in Way.allCases where options.wants(way.number) {
            let command = try ChildWork.command("migrate", "\(way.rawValue)|\(try budgets.copy().path)")
            let printed = try Child.run(command).trimmingCharacters(in: .whitespacesAndNewlines)
            guard let size = Int(printed) else {
                throw BudgetError("The migration of a million rows printed no size, but: \(printed)")
            }
            table.add(
                way.number, "memory to migrate a million rows: \(way.rawValue)", count: size, atMost: 64 << 10,
                of: "KiB")
        }
    }

    /// Migrates a store in this process, and prints by how many KiB its memory grew at most.
    static func migrate(_ work: String) throws {
        let parts = work.split(separator: "|", maxSplits: 1).map(String.init)
        guard parts.count == 2, let way = Way(rawValue: parts[0]) else { throw BudgetError("There is no way \(work).") }
        let budgets = try MigrationBudgets(rows: 1)
        let before = try memory("VmRSS:")
        let description = budgets.description(
            URL(fileURLWithPath: parts[1]), way == .inPlace ? nil : mapping(way == .policy ? "StarsPolicy" : nil))
        _ = try PersistentContainer(name: "New", managedObjectModel: budgets.new, storeDescription: description)
        print(try memory("VmHWM:") - before)
    }

    private static func memory(_ field: String) throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix(field) } ?? ""
        return line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
    }

    private let folder = try! ScratchFolder()
    private let old: ManagedObjectModel
    private let new: ManagedObjectModel
    private let original: String

    private init(rows count: Int = Self.count) throws {
        func model(_ attributes: [AttributeDescription], _ more: [EntityDescription] = []) throws -> ManagedObjectModel
        {
            try ManagedObjectModel(
                entities: more + [
                    EntityDescription(
                        "Author", attributes: [AttributeDescription("name", .string)],
                        relationships: [RelationshipDescription("notes", to: "Note", inverse: "author", isToMany: true)]
                    ),
                    EntityDescription(
                        "Note",
                        attributes: [AttributeDescription("day", .date), AttributeDescription("size", .integer32)]
                            + attributes,
                        relationships: [RelationshipDescription("author", to: "Author", inverse: "notes")]),
                ])
        }
        old = try model([AttributeDescription("title", .string), AttributeDescription("old", .integer64)])
        new = try model(
            [
                AttributeDescription("name", .string, renamingIdentifier: "title"),
                AttributeDescription("stars", .integer16, defaultValue: 3),
            ], [EntityDescription("Album")])
        original = folder.path("Old.sqlite")
        _ = try PersistentContainer(
            name: "Old", managedObjectModel: old, storeURL: URL(fileURLWithPath: original))
        let raw = RawConnection(URL(fileURLWithPath: original))
        raw.run(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
            INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT i, 1, 1, 'author ' || i FROM n;
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
            INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZDAY, ZSIZE, ZTITLE, ZOLD, ZAUTHOR)
            SELECT i, 2, 1, i * 1.5, i, 'the title of note ' || i, i, i % 1000 + 1 FROM n;
            UPDATE Z_PRIMARYKEY SET Z_MAX = \(count);
            PRAGMA journal_mode = delete;
            """)
    }

    /// Copies the store, and removes the copy of the sample before.
    private func copy() throws -> URL {
        let url = URL(fileURLWithPath: folder.path("Copy.sqlite"))
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + suffix) }
        try FileManager.default.copyItem(at: URL(fileURLWithPath: original), to: url)
        return url
    }

    private var byHand: Arm {
        Arm("SQL by hand") {
            let raw = RawConnection(try copy())
            return cpuTime {
                raw.run(
                    """
                    BEGIN;
                    CREATE TABLE ZALBUM (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER);
                    ALTER TABLE ZNOTE RENAME TO OLD;
                    CREATE TABLE ZNOTE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZSIZE INTEGER, ZSTARS INTEGER,
                        ZAUTHOR INTEGER, ZDAY TIMESTAMP, ZNAME VARCHAR);
                    INSERT INTO ZNOTE SELECT Z_PK, 3, Z_OPT, ZSIZE, 3, ZAUTHOR, ZDAY, ZTITLE FROM OLD;
                    DROP TABLE OLD;
                    CREATE INDEX ZNOTE_ZAUTHOR_INDEX ON ZNOTE (ZAUTHOR);
                    UPDATE ZAUTHOR SET Z_ENT = 2;
                    COMMIT;
                    """)
            }
        }
    }

    private var inPlace: Arm {
        Arm("light-weight") {
            let description = description(try copy(), nil)
            return try cpuTime {
                _ = try PersistentContainer(name: "New", managedObjectModel: new, storeDescription: description)
            }
        }
    }

    private func description(_ url: URL, _ mapping: MappingModel?) -> PersistentStoreDescription {
        var description = PersistentStoreDescription(url: url)
        description.synchronization = .off
        description.mappingModels = [mapping].compactMap { $0 }
        description.migrationPolicies = [StarsPolicy.self]
        return description
    }

    /// Counts stars anew.
    private final class StarsPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
            for note in manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source]) {
                note["stars"] = (source["size"] as? Int64 ?? 0) % 5
            }
        }
    }

    private static func mapping(_ policy: String?) -> MappingModel {
        MappingModel(entityMappings: [
            EntityMapping(
                "AuthorToAuthor", from: "Author", to: "Author",
                attributeMappings: [PropertyMapping("name", .source("name"))]),
            EntityMapping(
                "NoteToNote", policy == nil ? .transform : .custom, from: "Note", to: "Note",
                attributeMappings: [
                    PropertyMapping("day", .source("day")), PropertyMapping("size", .source("size")),
                    PropertyMapping("name", .source("title")),
                ],
                relationshipMappings: [
                    PropertyMapping(
                        "author",
                        .destinationInstances(
                            forEntityMappingNamed: "AuthorToAuthor", sourceInstances: .source("author")))
                ], entityMigrationPolicyClassName: policy),
        ])
    }

    private func mapped(_ policy: String?) -> Arm {
        Arm(policy == nil ? "mapping model" : "Swift policy") {
            let description = description(try copy(), Self.mapping(policy))
            return try cpuTime {
                _ = try PersistentContainer(name: "New", managedObjectModel: new, storeDescription: description)
            }
        }
    }
}
