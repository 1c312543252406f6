import FaultlineModel
import Foundation
import SharedData
import TestFolders
import Testing

@Suite("Properties do not have the names of what every object has")
struct ReservedNameTests {
    private static let names = [
        "description", "hash", "self", "objectID", "entity", "hasChanges", "copy", "deleted", "isDeleted", "getDeleted",
        "setDeleted", "updated", "isFault",
    ]

    @Test("A model in code is refused, with a name that is free", arguments: names)
    func refusals(_ name: String) throws {
        let capital = name.prefix(1).uppercased() + name.dropFirst()
        let attribute = EntityDescription("Item", attributes: [AttributeDescription(name, .string)])
        let relationship = EntityDescription(
            "Item", relationships: [RelationshipDescription(name, to: "Item", inverse: nil)])
        for entity in [attribute, relationship] {
            let error = #expect(throws: ModelError.self) { try ManagedObjectModel(entities: [entity]) }
            #expect(error?.code == .invalidName)
            #expect(
                error?.message
                    == "Property 'Item.\(name)' has a name that every object has already; choose another name, such as 'item\(capital)'."
            )
            #expect(error?.declaredAt?.hasPrefix("FaultlineModelTests/ReservedNameTests.swift:") == true)
        }
    }

    @Test(
        "The other name begins as the entity's name does",
        arguments: [
            ("Item", "itemHash"), ("ShoppingList", "shoppingListHash"), ("URLItem", "urlItemHash"), ("DB", "dbHash"),
        ])
    func otherNames(_ entity: String, _ name: String) throws {
        let error = #expect(throws: ModelError.self) {
            try ManagedObjectModel(
                entities: [EntityDescription(entity, attributes: [AttributeDescription("hash", .string)])])
        }
        #expect(error?.message.hasSuffix("such as '\(name)'.") == true)
    }

    @Test(
        "Similar names are free",
        arguments: ["itemDescription", "isPendingDeletion", "deletedAt", "updatedAt", "hashValue"])
    func free(_ name: String) throws {
        let entity = EntityDescription("Item", attributes: [AttributeDescription(name, .string)])
        #expect(try ManagedObjectModel(entities: [entity]).reservedProperties.isEmpty)
    }

    @Test("A model file with such a name is loaded, and lists it")
    func files() throws {
        let url = try TestFolder.make().appendingPathComponent("contents")
        try Data(
            """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                <entity name="Item">
                    <attribute name="isDeleted" optional="YES" attributeType="Boolean"/>
                    <attribute name="title" optional="YES" attributeType="String"/>
                </entity>
            </model>
            """.utf8
        ).write(to: url)
        let model = try ManagedObjectModel(contentsOf: url)
        #expect(
            model.reservedProperties.map { "\($0.entity).\($0.name) \($0.otherName)" } == [
                "Item.isDeleted itemIsDeleted"
            ])
        #expect(try ManagedObjectModel(variant: model.entities).reservedProperties.count == 1)
    }

    @Test(
        "No model of a real program that is at hand has such a name",
        .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func realModels() throws {
        var count = 0
        for folder in ["core-data-models", "core-data-stores"] {
            let files = try #require(
                FileManager.default.enumerator(at: SharedData.url(folder), includingPropertiesForKeys: nil))
            for case let url as URL in files where ["xcdatamodel", "mom"].contains(url.pathExtension) {
                let model = try ManagedObjectModel(contentsOf: url)
                #expect(model.reservedProperties.isEmpty, "\(url.path)")
                count += 1
            }
        }
        #expect(count > 20)
    }
}
