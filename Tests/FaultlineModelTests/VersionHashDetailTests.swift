import FaultlineModel
import Foundation
import Testing

@Suite("The version hash of an entity among others")
struct VersionHashDetailTests {
    /// A change of a model, and the entity whose hash is compared.
    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let entity: String
        let new: [EntityDescription]

        init(_ description: String, of entity: String = "Item", _ change: (inout [EntityDescription]) -> Void) {
            testDescription = description
            self.entity = entity
            var new = VersionHashDetailTests.entities
            change(&new)
            self.new = new
        }
    }

    fileprivate static let entities = [
        EntityDescription("Base", attributes: [AttributeDescription("id", .uuid)]),
        EntityDescription(
            "Item", parent: "Base",
            attributes: [
                AttributeDescription("name", .string), AttributeDescription("data", .binary),
                AttributeDescription("image", .transformable, valueTransformerName: "A"),
            ],
            relationships: [
                RelationshipDescription("next", to: "Item", inverse: nil),
                RelationshipDescription("owner", to: "Owner", inverse: "items"),
            ]),
        EntityDescription("Leaf", parent: "Item"),
        EntityDescription(
            "Owner", attributes: [AttributeDescription("title", .string)],
            relationships: [RelationshipDescription("items", to: "Item", inverse: "owner", isToMany: true)]),
        EntityDescription("Other"),
    ]

    private static func hashes(_ entities: [EntityDescription]) throws -> [String: Data] {
        try ManagedObjectModel(entities: entities).entityVersionHashesByName
    }

    private static func hash(_ entities: [EntityDescription], _ entity: String) throws -> Data {
        try #require(try hashes(entities)[entity])
    }

    static let changing = [
        Case("a relationship is added") {
            $0[1].relationships.append(RelationshipDescription("more", to: "Other", inverse: nil))
        },
        Case("a relationship is removed") { $0[1].relationships.remove(at: 0) },
        Case("a relationship is renamed") { $0[1].relationships[0].name = "following" },
        Case("a relationship's inverse is renamed", of: "Owner") {
            $0[1].relationships[1].name = "keeper"
            $0[3].relationships[0].inverse = "keeper"
        },
        Case("the parent is removed") { $0[1].parent = nil },
        Case("the parent changes") { $0[1].parent = "Other" },
        Case("a parent is set", of: "Owner") { $0[3].parent = "Other" },
        Case("the parent has another attribute") { $0[0].attributes.append(AttributeDescription("day", .date)) },
        Case("the parent is renamed") {
            $0[0].name = "Root"
            $0[1].parent = "Root"
        },
        Case("an attribute becomes external") { $0[1].attributes[1].allowsExternalBinaryDataStorage = true },
        Case("an attribute becomes derived") { $0[1].attributes[0].derivationExpression = "owner.title" },
    ]

    static let keeping = [
        Case("a child is added", of: "Base") { $0.append(EntityDescription("Leaf2", parent: "Base")) },
        Case("a child is removed") { $0.remove(at: 2) },
        Case("a child has another attribute") { $0[2].attributes.append(AttributeDescription("day", .date)) },
        Case("the destination has another relationship") {
            $0[3].relationships.append(RelationshipDescription("first", to: "Item", inverse: nil))
        },
        Case("the transformer changes") { $0[1].attributes[2].valueTransformerName = "B" },
        Case("the class of a value changes") { $0[1].attributes[2].attributeValueClassName = "Image" },
        Case("the class of the objects changes") { $0[1].managedObjectClassName = "Thing" },
        Case("a maximum is set") { $0[1].attributes[0].maximumValue = 10 },
        Case("a regular expression is set") { $0[1].attributes[0].regularExpression = "[a-z]+" },
        Case("the entity has a renaming identifier") { $0[1].renamingIdentifier = "Thing" },
        Case("a relationship has a renaming identifier") { $0[1].relationships[0].renamingIdentifier = "following" },
        Case("a relationship has user info") { $0[1].relationships[0].userInfo = ["a": "b"] },
    ]

    @Test("changes", arguments: changing)
    func changes(_ change: Case) throws {
        #expect(try Self.hash(change.new, change.entity) != Self.hash(Self.entities, change.entity))
    }

    @Test("stays", arguments: keeping)
    func stays(_ change: Case) throws {
        #expect(try Self.hash(change.new, change.entity) == Self.hash(Self.entities, change.entity))
    }

    @Test("changes with the name, also if an identifier has the older one")
    func renamed() throws {
        let item = EntityDescription("Item", attributes: [AttributeDescription("name", .string)])
        var thing = item
        (thing.name, thing.renamingIdentifier) = ("Thing", "Item")
        #expect(try Self.hash([item], "Item") != Self.hash([thing], "Thing"))
    }

    @Test("changes for all children, and no other entity, if a parent's property has a modifier")
    func inheritedModifier() throws {
        let before = try Self.hashes(Self.entities)
        var entities = Self.entities
        entities[0].attributes[0].versionHashModifier = "2"
        let after = try Self.hashes(entities)
        #expect(before.keys.filter { before[$0] != after[$0] }.sorted() == ["Base", "Item", "Leaf"])
        entities = Self.entities
        entities[1].relationships[0].versionHashModifier = "2"
        let later = try Self.hashes(entities)
        #expect(before.keys.filter { before[$0] != later[$0] }.sorted() == ["Item", "Leaf"])
    }

    @Test("does not depend on templates and configurations, and neither does the checksum")
    func otherParts() throws {
        let plain = try ManagedObjectModel(entities: Self.entities)
        let other = try ManagedObjectModel(
            entities: Self.entities, versionIdentifiers: ["2"],
            configurations: [ConfigurationDescription("Local", entities: ["Other"])],
            fetchRequestTemplates: [FetchRequestTemplate("all", entity: "Item", predicate: "name != nil")])
        #expect(plain.entityVersionHashesByName == other.entityVersionHashesByName)
        #expect(plain.versionChecksum == other.versionChecksum)
    }
}
