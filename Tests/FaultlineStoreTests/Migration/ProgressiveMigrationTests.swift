import FaultlineMigration
import FaultlineModel
import FaultlineStore
import Foundation
import Synchronization
import Testing

@Suite("A store goes through several versions in the fewest steps that mapping models and inference allow")
struct ProgressiveMigrationTests {
    /// The name of a note has another name in each version, without a renaming identifier.
    private let v: [ManagedObjectModel]
    private let store: MigratedStore

    init() throws {
        let photo = AttributeDescription("photo", .binary, allowsExternalBinaryDataStorage: true)
        v = try ["a", "b", "c", "d"].enumerated().map { position, name in
            // Two neighbouring versions can be inferred with the name's identifier, except for the second and the third.
            let before = position == 2 ? nil : ["", "a", "", "c"][position]
            return try ManagedObjectModel(entities: [
                EntityDescription(
                    "Note",
                    attributes: [
                        AttributeDescription(name, .string, renamingIdentifier: before?.isEmpty == true ? nil : before),
                        photo,
                    ])
            ])
        }
        store = try MigratedStore(
            v[0].entities, "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZA) VALUES (1, 1, 1, 'one'), (7, 1, 1, 'seven')")
    }

    /// Copies the name from one version to another one.
    private func mapping(_ old: Int, _ new: Int, policy: String? = nil, value: String? = nil) throws -> MappingModel {
        let names = ["a", "b", "c", "d"]
        var mapping = EntityMapping(
            "NoteToNote", from: "Note", to: "Note",
            attributeMappings: [
                PropertyMapping(names[new - 1], try MappingExpression(format: value ?? "$source.\(names[old - 1])")),
                PropertyMapping("photo", .source("photo")),
            ], entityMigrationPolicyClassName: policy)
        mapping.sourceEntityVersionHash = v[old - 1].entityVersionHashesByName["Note"]
        mapping.destinationEntityVersionHash = v[new - 1].entityVersionHashesByName["Note"]
        return MappingModel(entityMappings: [mapping])
    }

    private func migrate(
        to version: Int, _ mappings: [MappingModel], sources: [ManagedObjectModel]? = nil, infers: Bool = true,
        allowsEarlier: Bool = false
    ) throws {
        try store.migrate(to: v[version - 1]) {
            $0.allowsEarlierVersions = allowsEarlier
            $0.sourceModels = sources ?? v
            $0.mappingModels = mappings
            $0.migrationPolicies = [CopyingPolicy.self, FailingPolicy.self]
            $0.shouldInferMappingModelAutomatically = infers
        }.close()
    }

    private var files: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: store.url.deletingLastPathComponent().path).sorted()
        }
    }

    @Test("Inferred steps lead to a mapping model and on from it", arguments: [nil, "CopyingPolicy"])
    func chain(policy: String?) throws {
        try migrate(to: 4, [try mapping(2, 3, policy: policy)])
        #expect(try store.rows("SELECT Z_PK, ZD FROM ZNOTE ORDER BY 1") == ["1|one", "7|seven"])
        #expect(try files == ["Store.sqlite"])
    }

    @Test("One mapping model for the whole way is used alone")
    func shortest() throws {
        try migrate(to: 4, [try mapping(2, 3), try mapping(1, 4, value: "\"direct\"")])
        #expect(try store.rows("SELECT DISTINCT ZD FROM ZNOTE") == ["direct"])
    }

    @Test("Mapping models alone lead through the versions if nothing may be inferred")
    func mapped() throws {
        let mappings = [try mapping(1, 2), try mapping(2, 3)]
        try migrate(to: 3, mappings, infers: false)
        #expect(try store.rows("SELECT ZC FROM ZNOTE ORDER BY 1") == ["one", "seven"])
        // The step from the third version would have to be inferred.
        #expect(performing { try migrate(to: 4, mappings, infers: false) }.contains("was written with another version"))
    }

    @Test("Without mapping models, one step is inferred if it can be, and otherwise those through the versions")
    func inferred() throws {
        func model(_ attributes: [AttributeDescription]) throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [EntityDescription("Note", attributes: attributes)])
        }
        let name = AttributeDescription("name", .string)
        let versions = [
            try model([name, AttributeDescription("n", .string)]), try model([name]),
            try model([name, AttributeDescription("n", .integer16, defaultValue: 3)]),
        ]
        let store = try MigratedStore(
            versions[0].entities, "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZNAME, ZN) VALUES (4, 1, 1, 'x', 'text')")
        #expect(
            try store.refusal(versions[2].entities).contains("its type changes from String to Integer 16, and only"))
        try store.migrate(to: versions[2]) { $0.sourceModels = versions }
        #expect(try store.rows("SELECT Z_PK, ZNAME, ZN FROM ZNOTE") == ["4|x|3"])
    }

    @Test("Inference does not pass over a mapping model")
    func passingOver() throws {
        // The version before the mapping model is not reached: its entity has lost an attribute of another type.
        var entities = v[1].entities
        entities[0].attributes[0].type = .integer16
        entities[0].attributes[0].renamingIdentifier = "a"
        let between = try ManagedObjectModel(entities: entities)
        var lost = try mapping(2, 3)
        lost.entityMappings[0].sourceEntityVersionHash = between.entityVersionHashesByName["Note"]
        let before = try store.dump()
        #expect(
            performing { try migrate(to: 3, [lost], sources: [v[0], between, v[2]]) }
                == "Migrating '\(store.url.path)' is refused because an inferred step would skip one of its mappingModels, and no other steps lead to this version; make a mapping model from the store's version."
        )
        #expect(
            performing { try migrate(to: 3, [lost], sources: []) }
                == "Migrating '\(store.url.path)' is refused because a mapping model leads to this version, but from another one than the store's: 'NoteToNote' was made for another version of the older entity 'Note'. List all versions in sourceModels, from the oldest to the newest, or leave the mapping model out."
        )
        #expect(try store.dump() == before)
    }

    /// Fails at the first object.
    final class FailingPolicy: EntityMigrationPolicy {
        override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
            throw CocoaError(.featureUnsupported)
        }
    }

    @Test("A step that fails leaves the store as it was, and the error names the store")
    func failure() throws {
        let before = try store.dump()
        #expect(
            performing { try migrate(to: 4, [try mapping(2, 3), try mapping(3, 4, policy: "FailingPolicy")]) }
                .hasPrefix("Migrating '\(store.url.path)' was undone because of an error: "))
        #expect(
            performing { try migrate(to: 4, [try mapping(2, 3), try mapping(3, 4, policy: "Unknown")]) }
                == "The mapping 'NoteToNote' needs the policy 'Unknown', which the migration manager does not have; add the class to its policies."
        )
        // The second step finds two objects with the same name.
        var entities = v[1].entities
        entities[0].uniquenessConstraints = [["b"]]
        let unique = try ManagedObjectModel(entities: entities)
        var last = try mapping(2, 3)
        last.entityMappings[0].sourceEntityVersionHash = unique.entityVersionHashesByName["Note"]
        try store.rows("UPDATE ZNOTE SET ZA = 'same'")
        let text = performing { try migrate(to: 3, [last], sources: [v[0], unique, v[2]]) }
        #expect(text.hasPrefix("Migrating '\(store.url.path)' is refused: 'Note.b' must be unique now"), "\(text)")
        try store.rows("UPDATE ZNOTE SET ZA = CASE Z_PK WHEN 1 THEN 'one' ELSE 'seven' END")
        #expect(try store.dump() == before)
        #expect(try files == ["Store.sqlite"])
    }

    @Test("Large values go through all steps, and no file is left over", arguments: [nil, "CopyingPolicy"])
    func files(policy: String?) throws {
        let photo = Data((0..<300_000).map { UInt8($0 % 251) })
        func open(_ model: ManagedObjectModel, _ body: (ManagedObjectContext) throws -> Void) throws {
            let container = try PersistentContainer(name: "Test", managedObjectModel: model, storeURL: store.url)
            let context = container.newBackgroundContext()
            try context.performAndWait { try body(context) }
            try container.close()
        }
        try open(v[0]) { context in
            for note in try context.fetch(FetchRequest<ManagedObject>(entityName: "Note")) { note["photo"] = photo }
            try context.save()
        }
        let folder = store.url.deletingLastPathComponent().appendingPathComponent(".Store_SUPPORT/_EXTERNAL_DATA")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
        try migrate(to: 4, [try mapping(2, 3, policy: policy)])
        try open(v[3]) { context in
            let notes = try context.fetch(FetchRequest<ManagedObject>(entityName: "Note"))
            #expect(notes.map { $0["photo"] as? Data } == [photo, photo])
            #expect(Set(notes.map { $0["d"] as? String }) == ["one", "seven"])
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
        #expect(try files == [".Store_SUPPORT", "Store.sqlite"])
    }

    @Test("A store does not go back to an older version, unless a mapping model leads there")
    func backward() throws {
        try migrate(to: 2, [])
        let before = try store.dump()
        let refusal =
            "Opening '\(store.url.path)' is refused because it has a newer version of the model than the program, and values that the older one lacks would be lost; open it with the newer version, or set allowsEarlierVersions."
        // The store itself knows that it had the first version, and the list says that the fourth one is newer.
        #expect(performing { try migrate(to: 1, [], sources: []) } == refusal)
        #expect(performing { try migrate(to: 1, []) } == refusal)
        #expect(try store.dump() == before)
        try migrate(to: 1, [try mapping(2, 1)])
        #expect(try store.rows("SELECT ZA FROM ZNOTE ORDER BY 1") == ["one", "seven"])
        try migrate(to: 2, [try mapping(1, 2, policy: "CopyingPolicy")])
        #expect(performing { try migrate(to: 1, [], sources: []) } == refusal)
        try migrate(to: 1, [], allowsEarlier: true)
        #expect(try store.rows("SELECT Z_PK, ZA FROM ZNOTE ORDER BY 1") == ["1|NULL", "7|NULL"])
        // Going forward again is no way back.
        try migrate(to: 2, [])
        #expect(try store.rows("SELECT Z_PK, ZB FROM ZNOTE ORDER BY 1") == ["1|NULL", "7|NULL"])
    }

    @Test("A way back does not lead through newer versions")
    func backwardThroughNewer() throws {
        try migrate(to: 3, [try mapping(2, 3)])
        var entities = v[0].entities
        entities[0].attributes[0] = AttributeDescription("c", .integer16)
        let numbers = try ManagedObjectModel(entities: entities)
        #expect(
            try store.refusal(entities) { $0.sourceModels = [numbers, v[2], v[3]] }
                .contains("its type changes from String to Integer 16"))
    }

    @Test(
        "Programs that open an older store at the same time all get it, and nothing is lost",
        arguments: [nil, "CopyingPolicy"])
    func race(policy: String?) throws {
        for round in 0..<10 {
            let url = store.url.deletingLastPathComponent().appendingPathComponent("\(round).sqlite")
            try FileManager.default.copyItem(at: store.url, to: url)
            var description = PersistentStoreDescription(url: url)
            description.busyTimeout = 30
            description.sourceModels = v
            description.mappingModels = [try mapping(2, 3, policy: policy)]
            description.migrationPolicies = [CopyingPolicy.self]
            let (wanted, model) = (description, v[3])
            let failures = Mutex<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 4) { number in
                let text = performing {
                    let container = try PersistentContainer(
                        name: "Test", managedObjectModel: model, storeDescription: wanted)
                    let context = container.newBackgroundContext()
                    try context.performAndWait {
                        context.insertNewObject(forEntityName: "Note")["d"] = "new \(number)"
                        try context.save()
                    }
                    try container.close()
                }
                if text != "no error" { failures.withLock { $0.append(text) } }
            }
            #expect(failures.withLock { $0 } == [])
            #expect(
                try SQLShell.run("SELECT ZD FROM ZNOTE ORDER BY 1", url)
                    == ["new 0", "new 1", "new 2", "new 3", "one", "seven"])
            #expect(try files.filter { $0.hasPrefix(".") } == [])
        }
    }
}
