import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("Changed and committed values")
struct ChangedValueTests {
    @Test("Attributes report their changed and committed values")
    func attributes() throws {
        let store = try Notes.makeStore()
        let note = try Notes.makeNote(in: store)
        #expect(note.changedValues().isEmpty && !note.hasPersistentChangedValues)
        note.text = "three"
        note.words = 9
        #expect(note.changedValues() as? [String: String] == ["text": "three"])
        #expect(note.hasPersistentChangedValues)
        #expect(note.committedValues(forKeys: ["text"]) as? [String: String] == ["text": "one two"])
        note.text = nil
        #expect(note.changedValues()["text"] is NSNull)
        note.text = "one two"
        #expect(note.changedValues().isEmpty && !note.hasPersistentChangedValues)
        #expect(note.hasChanges, "it was set all the same")
        note.count = 3
        try store.context.save()
        #expect(note.changedValues().isEmpty)
        #expect(note.committedValues(forKeys: ["count"])["count"] as? Int64 == 3)
        #expect(Set(note.committedValues(forKeys: nil).keys) == ["text", "count", "folder"])
    }

    @Test("A new object's values are compared with its defaults")
    func inserted() throws {
        let store = try TestStore()
        let item = Item(context: store.context)
        #expect(item.changedValues().isEmpty)
        item.amount = 1
        #expect(item.changedValues().isEmpty)
        item.amount = 2
        item.name = "Milk"
        #expect(item.changedValues()["amount"] as? Int64 == 2)
        #expect(Set(item.changedValues().keys) == ["amount", "name"])
        #expect(item.committedValues(forKeys: ["amount"])["amount"] as? Int64 == 1)
        #expect(item.committedValues(forKeys: ["name", "category"])["name"] is NSNull)
    }

    @Test("To-one and to-many relationships report their changed and committed values")
    func relationships() throws {
        let store = try TestStore()
        try store.fill(items: 3, categories: 2, tags: 1)
        let items = try store.context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")]))
        let (first, second) = (try #require(items[0].category), try #require(items[1].category))
        items[0].category = second
        #expect(items[0].changedValues()["category"] as? Category === second)
        #expect(items[0].committedValues(forKeys: ["category"])["category"] as? Category === first)
        #expect(first.changedValues()["items"] as? Set<ManagedObject> == [items[2]])
        #expect(first.committedValues(forKeys: ["items"])["items"] as? Set<ManagedObject> == [items[0], items[2]])
        #expect(second.committedValues(forKeys: ["items"])["items"] as? Set<ManagedObject> == [items[1]])
        items[0].category = first
        #expect(items[0].changedValues().isEmpty && first.changedValues().isEmpty)
        items[0].category = nil
        #expect(items[0].changedValues()["category"] is NSNull)
    }

    @Test("Primitive values are set without recording a change")
    func primitives() throws {
        let store = try Notes.makeStore()
        let note = try Notes.makeNote(in: store)
        #expect(note.primitiveValue(forKey: "text") == nil && note.isFault)
        note.willAccessValue(forKey: "text")
        #expect(!note.isFault && note.primitiveValue(forKey: "text") as? String == "one two")
        note.setPrimitiveValue("quiet", forKey: "text")
        note.setPrimitiveValue(5, forKey: "words")
        #expect(note.text == "quiet" && note.words == 5 && !note.hasChanges)
        try store.context.save()
        #expect(try store.sql("SELECT ZTEXT FROM ZNOTE") == ["one two"])
        note.willChangeValue(forKey: "text")
        note.setPrimitiveValue("loud", forKey: "text")
        note.didChangeValue(forKey: "text")
        #expect(note.hasChanges)
        try store.context.save()
        #expect(try store.sql("SELECT ZTEXT FROM ZNOTE") == ["loud"])
        let folder = try #require(note.folder)
        note.setPrimitiveValue(nil, forKey: "folder")
        #expect(note.folder == nil && folder.notes.count == 1, "no inverse is set")
    }

    @Test("A primitive value set on a fault takes precedence over the row when the fault fires")
    func primitiveOfFault() throws {
        let store = try Notes.makeStore()
        let note = try Notes.makeNote(in: store)
        note.setPrimitiveValue("early", forKey: "text")
        #expect(note.isFault && note.primitiveValue(forKey: "text") as? String == "early")
        #expect(note.count == 0 && note.text == "early" && !note.hasChanges)
        note.count = 1
        try store.context.save()
        #expect(try store.sql("SELECT ZTEXT, ZCOUNT FROM ZNOTE") == ["early|1"])
    }

    @Test("Relationships report whether they are faults, and their object IDs, without firing")
    func relationshipFaults() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 3)
        let category = try store.context.fetch(FetchRequest<Category>())[0]
        let items = try store.context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")]))
        #expect(items[0].faultingState == 1 && items[0].hasFault(forRelationshipNamed: "category"))
        #expect(items[0].isFault, "asking fires none")
        _ = items[0].amount
        #expect(items[0].faultingState == 0 && items[0].hasFault(forRelationshipNamed: "category"))
        _ = category.name
        #expect(!items[0].hasFault(forRelationshipNamed: "category"))

        #expect(category.hasFault(forRelationshipNamed: "items"))
        let new = Item(context: store.context)
        category.items.add(new)
        store.context.delete(items[1])
        let ids = category.objectIDs(forRelationshipNamed: "items")
        #expect(ids == [items[0].objectID, items[2].objectID, new.objectID])
        #expect(category.hasFault(forRelationshipNamed: "items"))
        #expect(category.items.map(\.objectID) == ids)
        #expect(!category.hasFault(forRelationshipNamed: "items"))
        #expect(category.objectIDs(forRelationshipNamed: "items") == ids)
        #expect(items[0].objectIDs(forRelationshipNamed: "category") == [category.objectID])
        #expect(items[1].objectIDs(forRelationshipNamed: "tags") == [])
    }
}
