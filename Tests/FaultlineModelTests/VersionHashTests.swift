import FaultlineDigest
import FaultlineModel
import Foundation
import Testing

@Suite("The version hash of an entity")
struct VersionHashTests {
    /// A model of two versions of one entity, which differ by one change.
    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let old: EntityDescription
        let new: EntityDescription

        init(
            _ description: String, _ change: (inout EntityDescription) -> Void,
            of old: EntityDescription = VersionHashTests.item
        ) {
            testDescription = description
            self.old = old
            var new = old
            change(&new)
            self.new = new
        }
    }

    private static let item = EntityDescription(
        "Item", attributes: [AttributeDescription("name", .string), AttributeDescription("size", .integer16)],
        relationships: [RelationshipDescription("next", to: "Item", inverse: nil)])

    private static func hash(_ entity: EntityDescription) throws -> Data {
        let model = try ManagedObjectModel(entities: [entity, EntityDescription("Other")])
        return try #require(model.entityVersionHashesByName[entity.name])
    }

    static let changing = [
        Case("an attribute is added") { $0.attributes.append(AttributeDescription("more", .string)) },
        Case("an attribute is removed") { $0.attributes.removeLast() },
        Case("an attribute is renamed") { $0.attributes[0].name = "title" },
        Case("an attribute becomes required") { $0.attributes[0].isOptional = false },
        Case("an attribute becomes transient") { $0.attributes[0].isTransient = true },
        Case("the type changes") { $0.attributes[1].type = .integer32 },
        Case("the attribute has a modifier") { $0.attributes[0].versionHashModifier = "2" },
        Case("the relationship has a modifier") { $0.relationships[0].versionHashModifier = "2" },
        Case("the entity has a modifier") { $0.versionHashModifier = "2" },
        Case("it becomes abstract") { $0.isAbstract = true },
        Case("the destination changes") { $0.relationships[0].destination = "Other" },
        Case("the relationship becomes to-many") { $0.relationships[0].isToMany = true },
        Case("the relationship is ordered") {
            $0.relationships[0].isToMany = true
            $0.relationships[0].isOrdered = true
        },
        Case("the relationship has a minimum count") { $0.relationships[0].minimumCount = 1 },
        Case("the relationship has a maximum count") { $0.relationships[0].maximumCount = 7 },
        Case("the relationship has an inverse") { $0.relationships[0].inverse = "next" },
        Case("the relationship becomes required") { $0.relationships[0].isOptional = false },
        Case("it gets a uniqueness constraint") { $0.uniquenessConstraints = [["name"]] },
    ]

    static let keeping = [
        Case("a transient attribute is added") {
            $0.attributes.append(AttributeDescription("more", .string, isTransient: true))
        },
        Case("the attributes have another order") { $0.attributes.reverse() },
        Case("a default value is set") { $0.attributes[0].defaultValue = "none" },
        Case("validation is added") { $0.attributes[0].minimumValue = 3 },
        Case("the delete rule changes") { $0.relationships[0].deleteRule = .cascade },
        Case("the class changes") { $0.managedObjectClassName = "Thing" },
        Case("user info is added") { $0.userInfo = ["a": "b"] },
        Case("an index is added") { $0.indexes = [FetchIndexDescription("byName", on: "name")] },
        Case("a renaming identifier is added") { $0.attributes[0].renamingIdentifier = "title" },
    ]

    @Test("changes", arguments: changing)
    func changes(_ change: Case) throws {
        #expect(try Self.hash(change.old) != Self.hash(change.new))
    }

    @Test("stays", arguments: keeping)
    func stays(_ change: Case) throws {
        #expect(try Self.hash(change.old) == Self.hash(change.new))
    }

    @Test("of a child contains its parent's, but not the other way round")
    func inheritance() throws {
        func hashes(_ parent: AttributeDescription, _ child: AttributeDescription) throws -> [String: Data] {
            try ManagedObjectModel(entities: [
                EntityDescription("Base", attributes: [parent]),
                EntityDescription("Child", parent: "Base", attributes: [child]),
            ]).entityVersionHashesByName
        }
        let first = try hashes(AttributeDescription("a", .string), AttributeDescription("b", .string))
        let parent = try hashes(AttributeDescription("a", .date), AttributeDescription("b", .string))
        let child = try hashes(AttributeDescription("a", .string), AttributeDescription("b", .date))
        #expect(first["Base"] != parent["Base"] && first["Child"] != parent["Child"])
        #expect(first["Base"] == child["Base"] && first["Child"] != child["Child"])
    }

    @Test("is not changed by a hash of its relationship's destination")
    func destination() throws {
        func hash(_ type: AttributeType) throws -> Data? {
            try ManagedObjectModel(entities: [
                EntityDescription("Pet", relationships: [RelationshipDescription("owner", to: "User", inverse: nil)]),
                EntityDescription("User", attributes: [AttributeDescription("name", type)]),
            ]).entityVersionHashesByName["Pet"]
        }
        #expect(try hash(.string) == hash(.binary))
    }

    @Test("has 32 bytes, and the checksum of all has 44 characters")
    func size() throws {
        let model = try ManagedObjectModel(entities: [Self.item, EntityDescription("Other")])
        #expect(model.entityVersionHashesByName.values.allSatisfy { $0.count == 32 })
        #expect(Data(base64Encoded: model.versionChecksum)?.count == 32)
    }

    @Test("has the published values of SHA-256")
    func digest() {
        func text(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }
        #expect(
            text(SHA256.hash("abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(text(SHA256.hash("")) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    }
}

@Suite("A model and a store's metadata")
struct StoreCompatibilityTests {
    private static let model = try! ManagedObjectModel(
        entities: [EntityDescription("A"), EntityDescription("B"), EntityDescription("C", parent: "B")],
        configurations: [ConfigurationDescription("local", entities: ["B"])])

    private static func metadata(_ hashes: [String: Data]) -> [String: any Sendable] {
        ["FaultlineModelHash": "0", "NSStoreModelVersionHashes": hashes]
    }

    @Test("fit if all hashes are equal")
    func fits() {
        let hashes = Self.model.entityVersionHashesByName
        #expect(Self.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: Self.metadata(hashes)))
        let fewer = hashes.filter { $0.key != "A" }
        #expect(!Self.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: Self.metadata(fewer)))
        #expect(!Self.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: [:]))
    }

    @Test("fit by a configuration with its entities and their subentities")
    func configuration() {
        let hashes = Self.model.entityVersionHashesByName
        let local = Self.metadata(hashes.filter { $0.key != "A" })
        #expect(Self.model.isConfiguration(withName: "local", compatibleWithStoreMetadata: local))
        #expect(
            !Self.model.isConfiguration(withName: "local", compatibleWithStoreMetadata: Self.metadata(hashes)))
        #expect(!Self.model.isConfiguration(withName: "none", compatibleWithStoreMetadata: local))
    }

    @Test("of another program that claims to have the same hashes do not fit")
    func foreign() {
        let metadata: [String: any Sendable] = ["NSStoreModelVersionHashes": Self.model.entityVersionHashesByName]
        #expect(!Self.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    }
}
