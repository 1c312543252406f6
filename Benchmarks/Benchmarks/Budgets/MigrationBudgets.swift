import FaultlineModel
import FaultlineStore
import Foundation

/// G30–G32: migrating a store, in place, with a mapping model and with a policy.
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
    }

    private static let count = 100_000

    private let folder = try! ScratchFolder()
    private let old: ManagedObjectModel
    private let new: ManagedObjectModel
    private let original: String

    private init() throws {
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
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(Self.count))
            INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZDAY, ZSIZE, ZTITLE, ZOLD, ZAUTHOR)
            SELECT i, 2, 1, i * 1.5, i, 'the title of note ' || i, i, i % 1000 + 1 FROM n;
            UPDATE Z_PRIMARYKEY SET Z_MAX = \(Self.count);
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
            var description = PersistentStoreDescription(url: try copy())
            description.synchronization = .off
            return try cpuTime {
                _ = try PersistentContainer(name: "New", managedObjectModel: new, storeDescription: description)
            }
        }
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

    private func mapped(_ policy: String?) -> Arm {
        let notes = "NoteToNote"
        let mapping = MappingModel(entityMappings: [
            EntityMapping(
                "AuthorToAuthor", from: "Author", to: "Author",
                attributeMappings: [PropertyMapping("name", .source("name"))]),
            EntityMapping(
                notes, policy == nil ? .transform : .custom, from: "Note", to: "Note",
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
        return Arm(policy == nil ? "mapping model" : "Swift policy") {
            var description = PersistentStoreDescription(url: try copy())
            description.synchronization = .off
            description.mappingModels = [mapping]
            description.migrationPolicies = [StarsPolicy.self]
            return try cpuTime {
                _ = try PersistentContainer(name: "New", managedObjectModel: new, storeDescription: description)
            }
        }
    }
}
