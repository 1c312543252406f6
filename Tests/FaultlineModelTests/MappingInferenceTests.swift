import FaultlineModel
import Foundation
import SharedData
import Testing

@Suite("An inferred mapping model")
struct MappingInferenceTests {
    private static func infer(_ old: [EntityDescription], _ new: [EntityDescription]) throws -> MappingInference {
        try MappingInference(from: ManagedObjectModel(entities: old), to: ManagedObjectModel(entities: new))
    }

    private static func item(_ attribute: AttributeDescription) -> [EntityDescription] {
        [EntityDescription("Item", attributes: [attribute])]
    }

    @Test("has a mapping for each concrete entity, with what each property continues")
    func mappings() throws {
        let old = [
            EntityDescription(
                "Car", attributes: [AttributeDescription("color", .string), AttributeDescription("id", .uuid)]),
            EntityDescription("Gone"), EntityDescription("Same"),
        ]
        let new = [
            EntityDescription(
                "Vehicle",
                attributes: [
                    AttributeDescription("key", .uuid, renamingIdentifier: "id"),
                    AttributeDescription("wheels", .integer16),
                ], renamingIdentifier: "Car"),
            EntityDescription("Fresh"), EntityDescription("Same"), EntityDescription("Base", isAbstract: true),
        ]
        let mapping = try Self.infer(old, new).mappingModel
        #expect(
            mapping.entityMappings.map { "\($0.name) \($0.sourceEntityName ?? "-") \($0.destinationEntityName ?? "-")" }
                == [
                    "IEM_Add_Fresh - Fresh", "IEM_Copy_Same Same Same", "IEM_Transform_Vehicle Car Vehicle",
                    "IEM_Remove_Gone Gone -",
                ])
        let vehicle = try #require(mapping.entityMappingsByName["IEM_Transform_Vehicle"])
        #expect(vehicle.attributeMappings == [PropertyMapping("key", "$source.id"), PropertyMapping("wheels")])
        #expect(
            vehicle.userInfo == ["mappedProperties": "key", "addedProperties": "wheels", "removedProperties": "color"])
        #expect(vehicle.sourceEntityVersionHash?.count == 32)
    }

    @Test("lists what the rows must fulfil")
    func conditions() throws {
        func requirement(
            _ old: AttributeDescription, _ new: AttributeDescription
        ) throws -> MigrationCondition.Requirement? {
            try Self.infer(Self.item(old), Self.item(new)).conditions.first?.requirement
        }
        let name = AttributeDescription("name", .string)
        let required = AttributeDescription("name", .string, isOptional: false)
        let filled = AttributeDescription("name", .string, isOptional: false, defaultValue: "none")
        let other = AttributeDescription("other", .string, isOptional: false)
        #expect(try requirement(name, required) == .noMissingValues(of: "name"))
        #expect(try requirement(name, filled) == nil)
        #expect(try requirement(required, name) == nil)
        #expect(try requirement(name, other) == .noObjects)
        let (wide, narrow) = (AttributeDescription("n", .integer64), AttributeDescription("n", .integer16))
        #expect(try requirement(narrow, wide) == nil)
        #expect(try requirement(wide, narrow) == .valuesFit(.integer16, of: "n"))
        #expect(try requirement(AttributeDescription("n", .boolean), wide) == nil)
        #expect(try requirement(AttributeDescription("n", .boolean, isTransient: true), wide) == nil)
        var unique = Self.item(name)
        unique[0].uniquenessConstraints = [["name"]]
        #expect(try Self.infer(Self.item(name), unique).conditions.map(\.requirement) == [.unique(["name"])])
        #expect(try Self.infer(unique, unique).conditions.isEmpty)
    }

    @Test("notices a removed and an added attribute that may be one under two names")
    func renaming() throws {
        let (flagella, flippers) = (
            AttributeDescription("numberOfFlagella", .integer32), AttributeDescription("numberOfFlippers", .integer32)
        )
        let found = try Self.infer(Self.item(flagella), Self.item(flippers)).possibleRenamings
        #expect(
            found.map(\.description) == [
                "'Item.numberOfFlagella' is removed, and 'Item.numberOfFlippers' of the same type is added. If it is the same property, give it the renaming identifier 'numberOfFlagella'; without it, its values are lost."
            ])
        var named = flippers
        named.renamingIdentifier = "numberOfFlagella"
        #expect(try Self.infer(Self.item(flagella), Self.item(named)).possibleRenamings.isEmpty)
        #expect(
            try Self.infer(Self.item(flagella), Self.item(AttributeDescription("n", .string))).possibleRenamings.isEmpty
        )
    }

    @Test("an attribute that other entities have had before is no new name of a removed one")
    func establishedAttribute() throws {
        func result(_ attribute: AttributeDescription) throws -> [EntityDescription] {
            let site = AttributeDescription("siteID", .integer64)
            return [
                EntityDescription("Order", attributes: [site]), EntityDescription("Result", attributes: [attribute]),
            ]
        }
        let customer = try result(AttributeDescription("customerID", .integer64))
        let known = try result(AttributeDescription("siteID", .integer64))
        #expect(try Self.infer(customer, known).possibleRenamings.isEmpty)
        let flag = { AttributeDescription($0, .boolean) }
        #expect(try Self.infer(result(flag("isFavorite")), result(flag("isArchived"))).possibleRenamings.isEmpty)
        #expect(
            try Self.infer(result(flag("isFavorite")), result(flag("favorite"))).possibleRenamings.map(\.added)
                == ["favorite"])
        let unknown = try result(AttributeDescription("personID", .integer64))
        #expect(try Self.infer(customer, unknown).possibleRenamings.map(\.added) == ["personID"])
    }

    @Test("an entity under a new name is noticed even if nothing can be inferred, and if it has no attributes")
    func renamedDestination() throws {
        func product(_ name: String, _ attributes: [AttributeDescription]) throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription(
                    "Product",
                    relationships: [RelationshipDescription("attributes", to: name, inverse: "product", isToMany: true)]
                ),
                EntityDescription(
                    name, attributes: attributes,
                    relationships: [RelationshipDescription("product", to: "Product", inverse: "attributes")]),
            ])
        }
        for attributes in [[AttributeDescription("key", .string)], []] {
            let (old, new) = (try product("Attribute", attributes), try product("GenericAttribute", attributes))
            #expect {
                try MappingInference(from: old, to: new)
            } throws: {
                "\($0)"
                    == "No mapping can be inferred for 'Product.attributes': its destination 'Attribute' was removed, so its objects would refer to nothing; if 'GenericAttribute' is the same entity, give it the renaming identifier 'Attribute'; or else write a mapping model or a custom stage for it."
            }
            #expect(
                PossibleRenaming.all(ModelMatching(from: old, to: new)).map { "\($0.removed) \($0.added)" } == [
                    "Attribute GenericAttribute"
                ])
        }
    }

    @Test("nothing shows whether Core Data infers a change from another numeric type to Decimal, or back")
    func decimals() throws {
        func uncertain(_ old: AttributeType, _ new: AttributeType) throws -> [InferenceUncertainty] {
            try Self.infer(
                Self.item(AttributeDescription("n", old)), Self.item(AttributeDescription("n", new))
            ).uncertainties
        }
        #expect(
            try uncertain(.integer64, .decimal).map { "\($0.entity).\($0.attribute) \($0.old) \($0.new)" } == [
                "Item.n integer64 decimal"
            ])
        #expect(try uncertain(.decimal, .double).count == 1)
        #expect(try uncertain(.decimal, .decimal).isEmpty && uncertain(.integer16, .double).isEmpty)
    }

    @Test("notices removed and added entities and relationships that may be one under two names")
    func renamedParts() throws {
        func unrelated(_ name: String) -> [EntityDescription] {
            Self.pair {
                $0[0].name = name
                $0[0].relationships = []
                $0[1].relationships = []
            }
        }
        #expect(
            try Self.infer(unrelated("Pet"), unrelated("Animal")).possibleRenamings.map(\.description) == [
                "'Pet' is removed, and 'Animal', which has all its attributes, is added. If it is the same entity, give it the renaming identifier 'Pet'; without it, its objects are lost."
            ])
        // Two entities that fit are not told apart.
        let both = unrelated("Animal") + [EntityDescription("Cat", attributes: unrelated("Pet")[0].attributes)]
        #expect(try Self.infer(unrelated("Pet"), both).possibleRenamings.isEmpty)
        let keeper = Self.pair {
            $0[0].relationships[0] = RelationshipDescription("keeper", to: "User", inverse: "animals")
            $0[1].relationships[0] = RelationshipDescription("animals", to: "Pet", inverse: "keeper", isToMany: true)
        }
        #expect(
            try Self.infer(Self.pair { _ in }, keeper).possibleRenamings.map {
                "\($0.entity ?? "-").\($0.removed) \($0.added)"
            }
                == ["Pet.owner keeper", "User.pets animals"])
    }

    struct Refusal: CustomTestStringConvertible {
        let testDescription: String
        let old: [EntityDescription]
        let new: [EntityDescription]
        let message: String
    }

    private static func pair(_ change: (inout [EntityDescription]) -> Void) -> [EntityDescription] {
        var entities = [
            EntityDescription(
                "Pet", attributes: [AttributeDescription("age", .integer16)],
                relationships: [RelationshipDescription("owner", to: "User", inverse: "pets")]),
            EntityDescription(
                "User", relationships: [RelationshipDescription("pets", to: "Pet", inverse: "owner", isToMany: true)]),
            EntityDescription("Stone"),
        ]
        change(&entities)
        return entities
    }

    static let refusals = [
        Refusal(
            testDescription: "a number becomes text", old: pair { _ in },
            new: pair { $0[0].attributes[0].type = .string },
            message:
                "No mapping can be inferred for 'Pet.age': its type changes from Integer 16 to String, and only numeric types are converted; write a mapping model or a custom stage for it."
        ),
        Refusal(
            testDescription: "a to-many relationship becomes to-one", old: pair { _ in },
            new: pair { $0[1].relationships[0].isToMany = false },
            message:
                "No mapping can be inferred for 'User.pets': it changes from to-many to to-one, and the models do not say which object stays; write a mapping model or a custom stage for it."
        ),
        Refusal(
            testDescription: "the destination is another entity", old: pair { _ in },
            new: pair {
                $0[0].relationships[0].destination = "Stone"
                $0[0].relationships[0].inverse = nil
                $0[1].relationships = []
            },
            message:
                "No mapping can be inferred for 'Pet.owner': its destination changes from 'User' to 'Stone', which does not contain the objects of the former; write a mapping model or a custom stage for it."
        ),
        Refusal(
            testDescription: "the destination was removed", old: pair { _ in },
            new: pair {
                $0[0].relationships[0].destination = "Stone"
                $0[0].relationships[0].inverse = nil
                $0.remove(at: 1)
            },
            message:
                "No mapping can be inferred for 'Pet.owner': its destination 'User' was removed, so its objects would refer to nothing; write a mapping model or a custom stage for it."
        ),
        Refusal(
            testDescription: "an entity joins a hierarchy that had objects", old: pair { _ in },
            new: pair { $0[2].parent = "User" },
            message:
                "No mapping can be inferred for 'Stone': it now inherits from 'User', with which it had no common ancestor, so the keys of their objects can be equal; write a mapping model or a custom stage for it."
        ),
    ]

    @Test("is refused with the entity, the property and the reason", arguments: refusals)
    func refused(_ refusal: Refusal) throws {
        let (old, new) = (try ManagedObjectModel(entities: refusal.old), try ManagedObjectModel(entities: refusal.new))
        let error = try #require(throws: ModelError.self) {
            try MappingModel.inferredMappingModel(from: old, to: new)
        }
        #expect(error.code == .inferredMappingModel && error.message == refusal.message)
        #expect(refusal.message.contains("'\(error.entity!)\(error.property.map { ".\($0)" } ?? "")'"))
    }

    @Test("allows what keeps all references")
    func allowed() throws {
        let old = Self.pair { _ in }
        let changes: [(inout [EntityDescription]) -> Void] = [
            { $0[0].relationships[0].isToMany = true },
            { $0[1].relationships[0].isOrdered = true },
            { $0[1].relationships[0].maximumCount = 3 },
            {
                $0.append(EntityDescription("Owner")); $0[1].parent = "Owner";
                $0[0].relationships[0].destination = "Owner"
                $0[1].relationships = []
                $0[3].relationships = [
                    RelationshipDescription("pets", to: "Pet", inverse: "owner", isToMany: true)
                ]
            },
            {
                $0.append(EntityDescription("Thing", isAbstract: true));
                for index in 0...2 { $0[index].parent = "Thing" }
            },
            {
                $0[0].relationships = []; $0[1].relationships = []
            },
        ]
        for change in changes {
            _ = try Self.infer(old, Self.pair(change)).mappingModel
        }
    }

    @Test(
        "exists for the real steps of the shared models", .enabled(if: SharedData.exists, "\(SharedData.need)"),
        arguments: [
            "core-data-models/objcio/Migrations/Migrations/Moody.xcdatamodeld",
            "core-data-stores/coredataplus/SampleModel/SampleModel.xcdatamodeld",
            "core-data-stores/coredataplus/SampleModel3/SampleModel3.xcdatamodeld",
            "core-data-stores/duckduckgo/BookmarksModel.xcdatamodeld",
            "core-data-models/corestore/Demo/Sources/Demos/Advanced/EvolutionDemo/Advanced.EvolutionDemo.V1.xcdatamodeld",
        ])
    func real(_ path: String) throws {
        let versions = try ModelVersions(contentsOf: SharedData.url(path))
        for (name, next) in zip(versions.names, versions.names.dropFirst()) {
            let mapping = try MappingModel.inferredMappingModel(
                from: versions.model(name), to: versions.model(next))
            #expect(!mapping.entityMappings.isEmpty, "\(name) to \(next)")
        }
    }
}
