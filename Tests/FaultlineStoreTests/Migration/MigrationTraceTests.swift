import FaultlineMigration
import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import FaultlineTrace
import Foundation
import Testing

@Suite("A migration and its parts are recorded, and printed by Core Data's migration log")
struct MigrationTraceTests {
    /// Counts letters.
    final class LengthPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
            let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source])
            for note in made { note["length"] = Int64((source["title"] as? String ?? "").count) }
        }
    }

    /// Sets a relationship that the mapping sets, too.
    class AuthorPolicy: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
            let authors = try manager.destinationContext.fetch(FetchRequest<ManagedObject>(entityName: "Author"))
            let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source])
            for note in made { note["author"] = authors.first }
        }
    }

    /// Sets relationships in the second stage, when all objects exist.
    final class LateAuthorPolicy: AuthorPolicy {
        override func createRelationships(
            forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws {
            try super.createRelationships(forDestination: destination, in: mapping, manager: manager)
        }
    }

    private static func model(_ attributes: [AttributeDescription]) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Author", attributes: [AttributeDescription("name", .string)],
                relationships: [RelationshipDescription("notes", to: "Note", inverse: "author", isToMany: true)]),
            EntityDescription(
                "Note", attributes: attributes,
                relationships: [RelationshipDescription("author", to: "Author", inverse: "notes")]),
        ])
    }

    private let old: ManagedObjectModel
    private let new: ManagedObjectModel
    private let store: MigratedStore
    private let lines = TestStore.Lines()
    private let recorder = Recorder.memory()

    init() throws {
        old = try Self.model([AttributeDescription("title", .string)])
        new = try Self.model([
            AttributeDescription("name", .string, renamingIdentifier: "title"),
            AttributeDescription("length", .integer64),
        ])
        store = try MigratedStore(
            old.entities,
            """
            INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'Ann'), (2, 1, 1, 'Bob');
            INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZAUTHOR) VALUES (1, 2, 1, 'abc', 1), (5, 2, 1, 'defg', 2), (6, 2, 1, NULL, NULL);
            """)
    }

    private func mapping(_ policy: String?) -> MappingModel {
        MappingModel(entityMappings: [
            EntityMapping(
                "AuthorToAuthor", from: "Author", to: "Author",
                attributeMappings: [PropertyMapping("name", .source("name"))]),
            EntityMapping(
                "NoteToNote", policy == nil ? .transform : .custom, from: "Note", to: "Note",
                attributeMappings: [PropertyMapping("name", .source("title"))],
                relationshipMappings: [
                    PropertyMapping(
                        "author",
                        .destinationInstances(
                            forEntityMappingNamed: "AuthorToAuthor", sourceInstances: .source("author")))
                ], entityMigrationPolicyClassName: policy),
        ])
    }

    private var log: SQLDebugLog {
        let log = SQLDebugLog(level: 0) { [lines] in lines.add($0) }
        log.printsMigrations = true
        return log
    }

    private func migrate(_ change: (inout PersistentStoreDescription) -> Void) throws {
        var description = PersistentStoreDescription(url: store.url)
        change(&description)
        try PersistentContainer(
            name: "New", managedObjectModel: new, storeDescription: description, recorder: recorder, sqlDebug: log
        ).close()
    }

    /// The parts of the recorded migrations, each with the rows it went through.
    private func events() -> [String] {
        let dictionary = recorder.dictionary
        return recorder.events.compactMap { event in
            guard case .migration(let fields) = event.detail else { return nil }
            let name = dictionary.name(fields.name)?.replacing(store.url.path, with: "STORE") ?? ""
            return "\(fields.stage) \(fields.way) \(name) \(fields.rows)"
        }
    }

    @Test("In place, by inference and by a mapping model")
    func inPlace() throws {
        let size = try #require(
            try FileManager.default.attributesOfItem(atPath: store.url.path)[.size] as? UInt64)
        try migrate { _ in }
        #expect(
            events() == [
                "plan inferred  0", "rows inferred Note 0", "verify inferred  0", "whole inferred STORE 0",
            ])
        #expect(
            lines.take().map { $0.replacing(store.url.path, with: "STORE") } == [
                "CoreData: annotation: (migration) Migrating the store 'STORE' (\(size) bytes), in place, inferred from names and renaming identifiers",
                "CoreData: annotation: (migration) plan: #s", "CoreData: annotation: (migration) rows 'Note': #s",
                "CoreData: annotation: (migration) verify: #s",
                "CoreData: annotation: (migration) Migrated the store in #s",
            ])
        let whole = recorder.events.compactMap { event -> TraceEvent.Migration? in
            guard case .migration(let fields) = event.detail, fields.stage == .whole else { return nil }
            #expect(event.duration > 0 && event.stack != 0)
            return fields
        }
        #expect(whole.map(\.bytes) == [size] && whole.map(\.timeInSQL) == [0])
    }

    @Test("Object by object, with direct references and without a second pass")
    func objects() throws {
        try migrate {
            $0.mappingModels = [mapping("LengthPolicy")]
            $0.migrationPolicies = [LengthPolicy.self]
        }
        #expect(
            events() == [
                "create objects AuthorToAuthor 2", "create objects NoteToNote 3", "relate objects AuthorToAuthor 0",
                "relate objects NoteToNote 0", "verify objects AuthorToAuthor 0", "verify objects NoteToNote 0",
                "verify objects  0", "whole objects STORE 0",
            ])
        #expect(
            try store.rows("SELECT Z_PK, ZNAME, ZLENGTH, ZAUTHOR FROM ZNOTE ORDER BY 1") == [
                "1|abc|3|1", "5|defg|4|2", "6|NULL|0|NULL",
            ])
    }

    @Test(
        "The mapping's relationships replace those that a policy set before",
        arguments: ["AuthorPolicy", "LateAuthorPolicy"])
    func relationshipsOfPolicies(name: String) throws {
        try migrate {
            $0.mappingModels = [mapping(name)]
            $0.migrationPolicies = [AuthorPolicy.self, LateAuthorPolicy.self]
        }
        #expect(try store.rows("SELECT Z_PK, ZAUTHOR FROM ZNOTE ORDER BY 1") == ["1|1", "5|2", "6|NULL"])
        #expect(events().contains("relate objects NoteToNote \(name == "AuthorPolicy" ? 0 : 3)"))
    }

    @Test("A manager that copies what could be inferred is recorded as such")
    func inferable() throws {
        for (mapping, expected) in [(mapping(nil), false), (try .inferredMappingModel(from: old, to: new), true)] {
            let target = try TestStore.makeFolder().appendingPathComponent("New.sqlite")
            let manager = MigrationManager(
                sourceModel: old, destinationModel: new, recorder: recorder, sqlDebug: SQLDebugLog(level: 0))
            try manager.migrateStore(from: store.url, mapping: mapping, to: target)
            let flags = recorder.events.compactMap { event -> Bool? in
                guard case .migration(let fields) = event.detail, fields.stage == .whole else { return nil }
                return fields.timeInSQL > 0
            }
            // The first mapping leaves the inverse relationship out. It gives the same store, but it is not what is inferred.
            #expect(flags.last == expected)
        }
    }

    @Test("A migration that fails is recorded with its error")
    func failed() throws {
        try store.rows("UPDATE ZNOTE SET ZTITLE = 'x'")
        let strict = try Self.model([AttributeDescription("name", .string, isOptional: false)])
        #expect(throws: StoreError.self) {
            try PersistentContainer(
                name: "New", managedObjectModel: strict, storeDescription: PersistentStoreDescription(url: store.url),
                recorder: recorder, sqlDebug: log)
        }
        let failures = recorder.events.compactMap { event -> UInt32? in
            guard case .migration(let fields) = event.detail else { return nil }
            return fields.error
        }
        #expect(failures.count == 1 && failures != [0])
        let last = try #require(lines.take().last)
        #expect(last.hasPrefix("CoreData: annotation: (migration) Migrating the store failed after #s: "))
    }
}
