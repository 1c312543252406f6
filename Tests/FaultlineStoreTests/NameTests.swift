import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("Names that SQLite cannot use are rejected together with the model")
struct NameTests {
    private func message(_ entities: [EntityDescription]) -> String {
        performing { _ = try ManagedObjectModel(entities: entities) }
    }

    private func attribute(_ name: String) -> AttributeDescription { AttributeDescription(name, .string) }

    @Test("Names that differ only in case and would share a table or index are rejected")
    func collisions() {
        #expect(
            message([EntityDescription("Item"), EntityDescription("ITEM")])
                == "The entities 'Item' and 'ITEM' differ only in case and would share a table; rename one of them.")
        func many(_ name: String, _ destination: String, _ inverse: String) -> RelationshipDescription {
            RelationshipDescription(name, to: destination, inverse: inverse, isToMany: true)
        }
        #expect(
            message([
                EntityDescription("P", relationships: [many("tags", "T", "ps"), many("Tags", "T", "qs")]),
                EntityDescription("T", relationships: [many("ps", "P", "tags"), many("qs", "P", "Tags")]),
            ])
                == "The to-many relationships 'tags' and 'Tags' of 'P' differ only in case and would share a table; rename one of them."
        )
        #expect(
            message([
                EntityDescription(
                    "P", attributes: [attribute("a")],
                    indexes: [FetchIndexDescription("by", on: "a"), FetchIndexDescription("BY", on: "a")])
            ]) == "The fetch indexes 'by' and 'BY' of 'P' differ only in case; rename one of them.")
    }

    @Test("Names that are not identifiers are rejected")
    func identifiers() {
        #expect(
            message([EntityDescription("My Item")])
                == "Entity 'My Item' has an invalid name; use letters, digits and '_', and begin with a letter.")
        #expect(message([EntityDescription("_METADATA")]).hasPrefix("Entity '_METADATA' has an invalid name"))
        for name in ["first name", "a-b", "1st", "a\"b", "naïve!", "☃"] {
            #expect(
                message([EntityDescription("Item", attributes: [attribute(name)])])
                    == "Property 'Item.\(name)' has an invalid name; use letters, digits and '_', and do not begin with a digit."
            )
        }
        #expect(
            message([
                EntityDescription("P", attributes: [attribute("a")], indexes: [FetchIndexDescription("by a", on: "a")])
            ])
                == "Fetch index 'by a' of 'P' has an invalid name; use letters, digits and '_'.")
    }

    @Test("Unusual but valid names round-trip")
    func odd() throws {
        let names = ["a", "A", "a1", "größe", "where", "_pk", "名前"]
        let store = try TestStore([EntityDescription("Order", attributes: names.map { attribute($0) })], classes: [])
        let object = store.context.insertNewObject(forEntityName: "Order")
        for name in names { object[name] = name }
        try store.context.save()
        let found = try store.foreignContext([]).fetch(FetchRequest<ManagedObject>(entityName: "Order"))[0]
        #expect(names.map { found[$0] as? String } == names)
    }
}
