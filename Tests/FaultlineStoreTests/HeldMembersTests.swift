import FaultlineStore
import FaultlineTrace
import Testing

@Suite("Members of relationships are held in memory as long as they can be accessed")
struct HeldMembersTests {
    /// Reads a relationship from both ends.
    private static func read(_ context: ManagedObjectContext) throws -> [Item] {
        let items = Array(try context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")])))
        for item in items {
            for tag in item.tags { _ = tag.items.count }
        }
        return items
    }

    @Test("A background context is released with its last reference, although its objects hold each other")
    func circles() throws {
        let store = try TestStore()
        try store.fill(items: 4, categories: 1, tags: 2)
        weak var read: ManagedObjectContext?
        weak var saved: ManagedObjectContext?
        do {
            let context = store.container.newBackgroundContext()
            read = context
            try context.performAndWait { _ = try Self.read(context) }
        }
        #expect(read == nil)
        do {
            let context = store.container.newBackgroundContext()
            saved = context
            try context.performAndWait {
                let item = Item(context: context)
                item.name = "New"
                for tag in try context.fetch(FetchRequest<Tag>()) {
                    item.tags.add(tag)
                    #expect(tag.items.contains(item))
                }
                try context.save()
            }
        }
        #expect(saved == nil)
        #expect(try store.sql("SELECT COUNT(*) FROM ZITEM") == ["5"])
    }

    @Test("The next block in a context finds the same members without asking the store")
    func remembered() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 4, categories: 1, tags: 1)
        let context = store.container.newBackgroundContext()
        nonisolated(unsafe) var items: [Item] = []
        nonisolated(unsafe) var tag: Tag?
        try context.performAndWait {
            items = try Self.read(context)
            tag = items[0].tags[0]
        }
        let before = toManyFaults(store)
        context.performAndWait {
            let item = items[0]
            #expect(!item.tags.isFault && !item.hasFault(forRelationshipNamed: "tags"))
            #expect(item.objectIDs(forRelationshipNamed: "tags") == [tag?.objectID])
            #expect(item.tags[0] === tag && item.tags.count == 1)
            #expect(tag?.items.map(\.name) == items.map(\.name))
            #expect(tag?.items[0] === item)
            #expect(item.committedValues(forKeys: nil).keys.contains("tags"))
        }
        #expect(toManyFaults(store) == before)
    }

    private func toManyFaults(_ store: TestStore) -> Int {
        store.events.count { event in
            guard case .fault(let fault) = event.detail else { return false }
            return fault.type == .toMany
        }
    }

    @Test("Changes by this context, another context or a merge are visible in held members")
    func changed() throws {
        let store = try TestStore()
        try store.fill(items: 3, categories: 1, tags: 1)
        let context = store.container.newBackgroundContext()
        nonisolated(unsafe) var items: [Item] = []
        try context.performAndWait { items = try Self.read(context) }
        try context.performAndWait {
            let tag = items[0].tags[0]
            items[0].tags.remove(tag)
            #expect(items[0].tags.isEmpty && tag.items.map(\.name) == ["Item 1", "Item 2"])
            try context.save()
        }
        context.performAndWait { #expect(items[0].tags.isEmpty && items[1].tags.count == 1) }
        let other = store.container.newBackgroundContext()
        let gone = try other.performAndWait {
            let tag = try other.fetch(FetchRequest<Tag>())[0]
            let id = tag.objectID
            other.delete(tag)
            try other.save()
            return id
        }
        context.performAndWait {
            context.mergeChanges(
                fromContextDidSave: SavedObjectIDs(updated: Set(items.map(\.objectID)), deleted: [gone]))
            #expect(items.allSatisfy { $0.tags.isEmpty })
        }
    }

    @Test("Unsaved changes and undo actions hold the members")
    func unsaved() throws {
        let store = try TestStore()
        try store.fill(items: 2, categories: 1, tags: 1)
        let context = store.container.newBackgroundContext()
        nonisolated(unsafe) var item: Item?
        try context.performAndWait {
            item = try Self.read(context)[0]
            let tag = Tag(context: context)
            tag.label = "New"
            item?.tags.add(tag)
        }
        context.performAndWait {
            #expect(item?.tags.map(\.label).sorted() == ["New", "Tag 0"])
            context.rollback()
            context.undoManager = UndoManager()
        }
        try context.performAndWait {
            let tag = try #require(item?.tags[0])
            context.delete(tag)
            try context.save()
        }
        context.performAndWait {
            #expect(item?.tags.isEmpty == true)
            context.undo()
            #expect(item?.tags.map(\.label) == ["Tag 0"])
        }
    }
}
