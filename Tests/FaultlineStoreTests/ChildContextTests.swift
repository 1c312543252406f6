import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("A child context sees its parent's unsaved changes and saves to its parent")
struct ChildContextTests {
    /// A store with items, a context with unsaved changes, and a child of it.
    private struct Family {
        let store: TestStore
        let parent: ManagedObjectContext
        let child: ManagedObjectContext

        init(items: Int = 0, tags: Int = 0, isRecording: Bool = false) throws {
            store = try TestStore(isRecording: isRecording)
            if items > 0 { try store.fill(items: items, tags: tags) }
            parent = store.context
            child = ManagedObjectContext(parent: parent)
        }

        func item(_ name: String, in context: ManagedObjectContext) throws -> Item {
            try #require(
                try context.fetch(FetchRequest<Item>(predicate: PropertyPath("name") == name)).first)
        }

        func names(_ request: FetchRequest<Item>? = nil, in context: ManagedObjectContext) throws -> [String] {
            let request = request ?? FetchRequest<Item>(sortDescriptors: [.ascending("name")])
            return try context.fetch(request).map(\.name)
        }
    }

    @Test("A child refers to its parent and shares its coordinator")
    func parent() throws {
        let family = try Family()
        let grandchild = ManagedObjectContext(parent: family.child, concurrencyType: .mainQueue, name: "form")
        #expect(family.parent.parent == nil)
        #expect(family.child.parent === family.parent)
        #expect(grandchild.parent === family.child)
        #expect(grandchild.name == "form")
        #expect(family.child.name == "child of \(family.parent.name)")
        #expect(grandchild.concurrencyType == .mainQueue)
        #expect(family.child.concurrencyType == .privateQueue)
        #expect(grandchild.persistentStoreCoordinator === family.parent.persistentStoreCoordinator)
    }

    // MARK: - Fetching

    @Test("A child's fetch includes the parent's unsaved insertions, changes and deletions", arguments: [0, 2])
    func fetching(_ batchSize: Int) throws {
        let family = try Family(items: 4)
        let new = Item(context: family.parent)
        new.name = "Item 1½"
        try family.item("Item 0", in: family.parent).name = "Item 9"
        family.parent.delete(try family.item("Item 2", in: family.parent))
        var request = FetchRequest<Item>(sortDescriptors: [.ascending("name")], fetchBatchSize: batchSize)
        #expect(try family.names(request, in: family.child) == ["Item 1", "Item 1½", "Item 3", "Item 9"])
        #expect(try family.child.count(for: request) == 4)
        #expect(try family.child.fetchObjectIDs(request).contains(new.objectID))
        request.predicate = PropertyPath("name") == "Item 9"
        #expect(try family.names(request, in: family.child) == ["Item 9"])
        request.predicate = PropertyPath("name") == "Item 0"
        #expect(try family.names(request, in: family.child).isEmpty)
        request.predicate = nil
        (request.fetchLimit, request.fetchOffset) = (2, 1)
        #expect(try family.names(request, in: family.child) == ["Item 1½", "Item 3"])
        #expect(try family.child.count(for: request) == 2)
        #expect(!family.child.hasChanges)
    }

    @Test("A child's own changes take precedence over its parent's")
    func ownChanges() throws {
        let family = try Family(items: 3)
        try family.item("Item 0", in: family.parent).name = "parent 0"
        try family.item("Item 1", in: family.parent).name = "parent 1"
        try family.item("parent 0", in: family.child).name = "child 0"
        family.child.delete(try family.item("parent 1", in: family.child))
        Item(context: family.child).name = "child new"
        #expect(try family.names(in: family.child) == ["Item 2", "child 0", "child new"])
        #expect(try family.names(in: family.parent) == ["Item 2", "parent 0", "parent 1"])
    }

    @Test("A grandchild sees the changes of all its ancestors, the nearest taking precedence")
    func grandchild() throws {
        let family = try Family(items: 3)
        let grandchild = ManagedObjectContext(parent: family.child)
        try family.item("Item 0", in: family.parent).name = "parent 0"
        try family.item("Item 1", in: family.parent).name = "parent 1"
        try family.item("parent 1", in: family.child).name = "child 1"
        family.child.delete(try family.item("Item 2", in: family.child))
        #expect(try family.names(in: grandchild) == ["child 1", "parent 0"])
        #expect(try family.item("parent 0", in: grandchild).price == 0)
    }

    @Test("A child's fetch of dictionaries, or without pending changes, returns the store's values")
    func withoutPendingChanges() throws {
        let family = try Family(items: 2)
        Item(context: family.parent).name = "new"
        var request = FetchRequest<Item>()
        request.includesPendingChanges = false
        #expect(try family.child.count(for: request) == 2)
        request.includesPendingChanges = true
        #expect(try family.child.count(for: request) == 3)
        request.resultType = .dictionary
        request.propertiesToFetch = ["name"]
        #expect(try family.child.fetchDictionaries(request).count == 2)
    }

    // MARK: - Faults

    @Test("A fault in a child fires with the parent's values, including changes made after the fetch")
    func faults() throws {
        let family = try Family(items: 1)
        let fetched = try #require(try family.child.fetch(FetchRequest<Item>()).first)
        #expect(fetched.isFault)
        let item = try family.item("Item 0", in: family.parent)
        item.amount = 7
        item.price = nil
        let category = Category(context: family.parent)
        category.name = "new"
        item.category = category
        #expect(fetched.amount == 7)
        #expect(fetched.price == nil)
        #expect(fetched.name == "Item 0")
        #expect(fetched.category?.name == "new")
        #expect(fetched.category?.objectID == category.objectID)
        #expect(fetched.category?.items.map(\.objectID) == [item.objectID])
        #expect(!family.child.hasChanges)

        // Values that were read stay until the object is refreshed.
        item.amount = 8
        #expect(fetched.amount == 7)
        family.child.refresh(fetched, mergeChanges: true)
        #expect(fetched.amount == 8)
    }

    @Test("Relationships in a child include the parent's unsaved changes")
    func relationships() throws {
        let family = try Family(items: 4, tags: 2)
        let first = try family.item("Item 0", in: family.parent)
        let second = try family.item("Item 1", in: family.parent)
        let tag = try #require(second.tags.first)
        first.tags.removeAll()
        first.tags.add(tag)
        family.parent.delete(try family.item("Item 3", in: family.parent))
        let inChild = try family.item("Item 0", in: family.child)
        #expect(inChild.tags.map(\.label) == ["Tag 1"])
        let tagInChild = try #require(inChild.tags.first)
        #expect(Set(tagInChild.items.map(\.name)) == ["Item 0", "Item 1"])
        #expect(
            Set(try #require(inChild.category).items.map(\.name)) == ["Item 0", "Item 1", "Item 2"])
    }

    @Test("An object that the parent deleted is inaccessible in the child")
    func deletedInParent() throws {
        let family = try Family(items: 1)
        let fault = try #require(try family.child.fetch(FetchRequest<Item>()).first)
        let id = fault.objectID
        family.parent.delete(try family.item("Item 0", in: family.parent))
        #expect(
            performing { _ = try family.child.existingObject(with: id) }
                == "Item \(id) is no longer in the parent context '\(family.parent.name)', because it was deleted there or never saved; release the object."
        )
        #expect(fault.isInaccessible)
        #expect(performing { _ = try family.child.fetch(FetchRequest<Item>()) }.contains("it was deleted there"))
        #expect(try family.child.fetch(FetchRequest<Item>()).isEmpty)
    }

    // MARK: - Saving

    @Test("Saving a child passes its changes to the parent and writes nothing to the store")
    func saving() throws {
        let family = try Family(items: 3)
        let new = Item(context: family.child)
        new.name = "new"
        new.category = try family.child.fetch(FetchRequest<Category>())[0]
        try family.item("Item 0", in: family.child).amount = 5
        family.child.delete(try family.item("Item 1", in: family.child))
        try family.child.save()
        #expect(!family.child.hasChanges)
        #expect(!new.isInserted && !new.isFault)
        #expect(family.parent.hasChanges)
        #expect(family.parent.insertedObjects.map(\.objectID) == [new.objectID])
        #expect(family.parent.deletedObjects.count == 1)
        #expect(try store(family) == ["Item 0|1|1", "Item 1|1|1", "Item 2|1|1"])
        #expect(try family.item("new", in: family.parent).category?.name == "Category 0")
        #expect(try family.item("Item 0", in: family.parent).amount == 5)

        try family.parent.save()
        #expect(try store(family) == ["Item 0|5|1", "Item 2|1|1", "new|1|1"])
        #expect(try family.names(in: family.child) == ["Item 0", "Item 2", "new"])
    }

    private func store(_ family: Family) throws -> [String] {
        try family.store.sql("SELECT ZNAME, ZAMOUNT, ZCATEGORY FROM ZITEM ORDER BY ZNAME")
    }

    @Test("When child and parent changed the same object, the child's changed values win")
    func merging() throws {
        let family = try Family(items: 1)
        let inParent = try family.item("Item 0", in: family.parent)
        let inChild = try family.item("Item 0", in: family.child)
        #expect(inChild.amount == 1)
        inParent.amount = 2
        inParent.name = "parent"
        inChild.amount = 3
        // The value is the same, so this is no change.
        inChild.price = 0
        inParent.price = 9
        try family.child.save()
        #expect(inParent.amount == 3)
        #expect(inParent.name == "parent")
        #expect(inParent.price == 9)
        #expect(inChild.name == "Item 0")
        family.child.refresh(inChild, mergeChanges: true)
        #expect(inChild.name == "parent")
    }

    @Test("An object that fails validation is not saved to the parent")
    func validation() throws {
        let family = try Family()
        let item = Item(context: family.child)
        item.setValue(nil, forKey: "name")
        #expect(performing { try family.child.save() }.contains("'name'"))
        #expect(!family.parent.hasChanges)
        #expect(item.isInserted)
    }

    @Test("Each save passes changes to the next context, and only the last one reaches the store")
    func chain() throws {
        let family = try Family()
        let grandchild = ManagedObjectContext(parent: family.child)
        let item = Item(context: grandchild)
        item.name = "new"
        let category = Category(context: grandchild)
        category.name = "category"
        item.category = category
        try grandchild.save()
        #expect(family.child.hasChanges && !family.parent.hasChanges)
        try family.child.save()
        #expect(family.parent.hasChanges)
        #expect(try family.store.sql("SELECT COUNT(*) FROM ZITEM") == ["0"])
        #expect(item.category === category)
        try family.parent.save()
        #expect(
            try family.store.sql("SELECT i.ZNAME, c.ZNAME FROM ZITEM i JOIN ZCATEGORY c ON i.ZCATEGORY = c.Z_PK")
                == ["new|category"])
    }

    // MARK: - Object IDs

    @Test("An object has the same temporary ID in child and parent, and both get the permanent one")
    func identities() throws {
        let family = try Family()
        let item = Item(context: family.child)
        item.name = "new"
        let category = Category(context: family.child)
        item.category = category
        let temporary = item.objectID
        try family.child.save()
        #expect(item.objectID == temporary && temporary.isTemporaryID)
        let inParent = try #require(family.parent.registeredObject(for: temporary))
        #expect(inParent.isInserted)
        let members = Set([item])
        try family.parent.save()
        family.child.processPendingChanges()
        #expect(!item.objectID.isTemporaryID)
        #expect(item.objectID == inParent.objectID)
        #expect(members.contains(item))
        #expect(family.child.registeredObject(for: item.objectID) === item)
        #expect(family.child.object(with: temporary) === item)
        #expect(try family.child.existingObject(with: item.objectID) === item)
        #expect(item.category === category)
        #expect(item.changedValues().isEmpty)
        #expect(try family.child.fetch(FetchRequest<Item>()).map { $0 } == [item])
        item.name = "again"
        try family.child.save()
        try family.parent.save()
        #expect(try family.store.sql("SELECT Z_PK, ZNAME, ZCATEGORY FROM ZITEM") == ["1|again|1"])
    }

    @Test("A child obtains permanent IDs for its own objects and for its parent's")
    func obtaining() throws {
        let family = try Family()
        let own = Item(context: family.child)
        own.name = "own"
        let inParent = Item(context: family.parent)
        inParent.name = "parent"
        let inherited = try family.item("parent", in: family.child)
        try family.child.obtainPermanentIDs(for: [own, inherited])
        #expect(!own.objectID.isTemporaryID)
        #expect(!inherited.objectID.isTemporaryID)
        #expect(inParent.objectID == inherited.objectID)
        #expect(family.child.registeredObject(for: inherited.objectID) === inherited)
        let id = own.objectID
        try family.child.save()
        try family.parent.save()
        #expect(own.objectID == id)
        #expect(
            try family.store.sql("SELECT Z_PK, ZNAME FROM ZITEM ORDER BY ZNAME")
                == [
                    "\(id.uriRepresentation().lastPathComponent.dropFirst())|own",
                    "\(inParent.objectID.uriRepresentation().lastPathComponent.dropFirst())|parent",
                ])
    }

    @Test("A child's save takes over the permanent IDs that its parent's save has assigned, without changes of its own")
    func permanentIDsAfterSave() throws {
        let family = try Family()
        try family.child.performAndWait {
            let item = Item(context: family.child)
            item.name = "Milk"
            try family.child.save()
            try family.parent.performAndWait { try family.parent.save() }
            try family.child.save()
            #expect(!item.objectID.isTemporaryID)
        }
    }

}
