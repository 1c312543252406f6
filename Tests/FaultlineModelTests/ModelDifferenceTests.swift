import FaultlineModel
import Foundation
import SharedData
import Testing

@Suite("The differences between two versions of a model")
struct ModelDifferenceTests {
    private static func differences(_ old: [EntityDescription], _ new: [EntityDescription]) throws -> [String] {
        try ManagedObjectModel(entities: new).differences(from: ManagedObjectModel(entities: old)).map {
            $0.description + ($0.requiresMigration ? "" : " (no migration)")
        }
    }

    @Test("name entities and properties that were added, removed or renamed")
    func parts() throws {
        let old = [
            EntityDescription(
                "Car", attributes: [AttributeDescription("color", .string), AttributeDescription("id", .uuid)]),
            EntityDescription("Gone"),
        ]
        let new = [
            EntityDescription(
                "Vehicle",
                attributes: [
                    AttributeDescription("key", .uuid, renamingIdentifier: "id"),
                    AttributeDescription("wheels", .integer16),
                ], renamingIdentifier: "Car"),
            EntityDescription("Fresh"),
        ]
        #expect(
            try Self.differences(old, new) == [
                "the entity 'Fresh' was added", "the entity 'Vehicle' was renamed from 'Car'",
                "the renaming identifier of the entity 'Vehicle' changed from none to Car (no migration)",
                "'Vehicle.key' was renamed from 'id'",
                "the renaming identifier of 'Vehicle.key' changed from none to id (no migration)",
                "the attribute 'Vehicle.wheels' was added", "the attribute 'Vehicle.color' was removed",
                "the entity 'Gone' was removed",
            ])
    }

    @Test("state the settings that changed, before and after")
    func settings() throws {
        let old = EntityDescription(
            "Item", attributes: [AttributeDescription("size", .integer16)],
            relationships: [RelationshipDescription("parts", to: "Item", inverse: "parts", isToMany: true)],
            indexes: [FetchIndexDescription("bySize", on: "size")])
        var new = old
        new.isAbstract = true
        new.attributes[0] = AttributeDescription(
            "size", .integer64, isOptional: false, defaultValue: 1, minimumValue: 1, maximumValue: 9)
        new.relationships[0].isOrdered = true
        new.relationships[0].deleteRule = .deny
        new.uniquenessConstraints = [["size"]]
        new.indexes = [FetchIndexDescription("bySize", elements: [.init("size", isAscending: false)])]
        #expect(
            try Self.differences([old], [new]) == [
                "the entity 'Item' became abstract",
                "the uniqueness constraints of the entity 'Item' changed from none to size",
                "the type of 'Item.size' changed from Integer 16 to Integer 64", "'Item.size' became required",
                "the default value of 'Item.size' changed from none to 1 (no migration)",
                "the validation of 'Item.size' changed from none to at least 1 and at most 9 (no migration)",
                "'Item.parts' became ordered",
                "the delete rule of 'Item.parts' changed from Nullify to Deny (no migration)",
                "the elements of the index 'Item.bySize' changed from size to size descending (no migration)",
            ])
    }

    @Test("follow properties that move within a hierarchy")
    func moves() throws {
        let name = AttributeDescription("name", .string)
        let flat = [
            EntityDescription("Base"), EntityDescription("A", parent: "Base", attributes: [name]),
            EntityDescription("B", parent: "Base", attributes: [name]),
        ]
        let raised = [
            EntityDescription("Base", attributes: [name]), EntityDescription("A", parent: "Base"),
            EntityDescription("B", parent: "Base"),
        ]
        #expect(try Self.differences(flat, raised) == ["'Base.name' was moved from 'A'"])
        #expect(
            try Self.differences(raised, flat)
                == ["'A.name' was moved from 'Base'", "'B.name' was moved from 'Base'"])
    }

    @Test("do not call a relationship changed because its ends were renamed")
    func ends() throws {
        func model(_ entity: String, _ inverse: String, _ identifiers: (String?, String?)) -> [EntityDescription] {
            [
                EntityDescription(
                    "Pet", relationships: [RelationshipDescription("owner", to: entity, inverse: inverse)]),
                EntityDescription(
                    entity,
                    relationships: [
                        RelationshipDescription(
                            inverse, to: "Pet", inverse: "owner", isToMany: true, renamingIdentifier: identifiers.1)
                    ], renamingIdentifier: identifiers.0),
            ]
        }
        let found = try Self.differences(
            model("User", "pets", (nil, nil)), model("Person", "animals", ("User", "pets")))
        #expect(
            found.filter { !$0.hasSuffix("(no migration)") } == [
                "the entity 'Person' was renamed from 'User'", "'Person.animals' was renamed from 'pets'",
            ])
        let other = try Self.differences(model("User", "pets", (nil, nil)), model("Person", "animals", (nil, nil)))
        #expect(other.contains("the destination of 'Pet.owner' changed from User to Person"))
    }

    @Test("prefer an entity's name to a stray renaming identifier")
    func stray() throws {
        let old = [EntityDescription("Conversation"), EntityDescription("Message")]
        let new = [EntityDescription("Conversation", renamingIdentifier: "Message"), EntityDescription("Message")]
        #expect(
            try Self.differences(old, new)
                == ["the renaming identifier of the entity 'Conversation' changed from none to Message (no migration)"])
    }

    @Test("connect versions in which both sides have the same renaming identifier")
    func sharedIdentifier() throws {
        let old = [
            EntityDescription(
                "C", attributes: [AttributeDescription("isSilenced", .boolean, renamingIdentifier: "mutedStatus")])
        ]
        let new = [
            EntityDescription(
                "C", attributes: [AttributeDescription("status", .integer32, renamingIdentifier: "mutedStatus")])
        ]
        #expect(
            try Self.differences(old, new)
                == [
                    "'C.status' was renamed from 'isSilenced'",
                    "the type of 'C.status' changed from Boolean to Integer 32",
                ])
    }

    @Test("of a model to itself are none", .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func same() throws {
        for path in SharedData.paths(endingIn: ".xcdatamodel") {
            let model = try ManagedObjectModel(contentsOf: SharedData.url(path))
            #expect(model.differences(from: model).isEmpty)
        }
    }

    @Test("agree with the hashes", .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func hashes() throws {
        var changed = 0
        for path in SharedData.paths(endingIn: ".xcdatamodeld") {
            let versions = try ModelVersions(contentsOf: SharedData.url(path))
            for (name, next) in zip(versions.names, versions.names.dropFirst()) {
                let (old, new) = (try versions.model(name), try versions.model(next))
                let needed = new.differences(from: old).contains(where: \.requiresMigration)
                let isSame = old.entityVersionHashesByName == new.entityVersionHashesByName
                #expect(needed != isSame, "\(path): \(name) to \(next)")
                changed += needed ? 1 : 0
            }
        }
        #expect(changed >= 12)
    }

    @Test("of a real step are those of its authors", .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func real() throws {
        let versions = try ModelVersions(
            contentsOf: SharedData.url("core-data-stores/coredataplus/SampleModel/SampleModel.xcdatamodeld"))
        let new = try versions.model("SampleModel2")
        let found = new.differences(from: try versions.model("SampleModel")).filter(\.requiresMigration).map(
            \.description)
        #expect(
            found == [
                "the attribute 'Car.color' was removed", "the entity 'LuxuryCar' was renamed from 'ExpensiveSportCar'",
                "the attribute 'Person.id' was removed",
            ])
    }
}
