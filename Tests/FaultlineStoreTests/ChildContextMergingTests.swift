import FaultlineModel
import FaultlineStore
import Foundation
import Synchronization
import Testing

@Suite("Merging and conflicts between a child context and its parent")
struct ChildContextMergingTests {
    private let store: TestStore
    private let parent: ManagedObjectContext
    private let child: ManagedObjectContext

    init() throws {
        store = try TestStore()
        try store.fill(items: 3)
        parent = store.context
        child = ManagedObjectContext(parent: parent)
    }

    private func item(_ name: String, in context: ManagedObjectContext) throws -> Item {
        try #require(try context.fetch(FetchRequest<Item>(predicate: PropertyPath("name") == name)).first)
    }

    private func names(in context: ManagedObjectContext) throws -> [String] {
        try context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")])).map(\.name)
    }

    // MARK: - Merging

    @Test("A child that merges automatically sees its parent's unsaved changes and a sibling's saves")
    func following() throws {
        child.automaticallyMergesChangesFromParent = true
        #expect(child.automaticallyMergesChangesFromParent)
        #expect(!parent.automaticallyMergesChangesFromParent)
        let (first, second) = (try item("Item 0", in: child), try item("Item 1", in: child))
        let third = try item("Item 2", in: child)
        func amounts() -> [Int] { child.performAndWait { [first.amount, second.amount] } }
        #expect(amounts() == [1, 1] as [Int])
        #expect(third.amount == 1)
        second.price = 50
        try parent.performAndWait {
            try item("Item 0", in: parent).amount = 2
            try item("Item 1", in: parent).amount = 3
            parent.delete(try item("Item 2", in: parent))
        }
        #expect(amounts() == [2, 3] as [Int])
        child.performAndWait {
            #expect(second.price == 50)
            #expect(!child.registeredObjects.contains(third))
        }

        let sibling = ManagedObjectContext(parent: parent)
        try sibling.performAndWait {
            try item("Item 0", in: sibling).amount = 9
            try sibling.save()
        }
        #expect(amounts() == [9, 3] as [Int])

        parent.performAndWait { parent.rollback() }
        #expect(amounts() == [1, 1] as [Int])
        #expect(child.performAndWait { second.hasChanges && second.price == 50 })
    }

    @Test("A child that merges automatically sees other contexts' saves once its parent has merged them")
    func followingOthers() throws {
        parent.automaticallyMergesChangesFromParent = true
        child.automaticallyMergesChangesFromParent = true
        let first = try item("Item 0", in: child)
        // The parent has the object as well.
        let inParent = try item("Item 0", in: parent)
        #expect(first.amount == 1 && inParent.amount == 1)
        let other = store.container.newBackgroundContext()
        try other.performAndWait {
            try item("Item 0", in: other).amount = 6
            try other.save()
        }
        #expect(parent.performAndWait { inParent.amount } == 6)
        #expect(child.performAndWait { first.amount } == 6)
    }

    @Test("Resetting the parent also discards its unsaved changes in children that merge automatically")
    func resetParent() throws {
        child.automaticallyMergesChangesFromParent = true
        try parent.performAndWait { try item("Item 0", in: parent).amount = 2 }
        let first = try child.performAndWait { try item("Item 0", in: child).objectID }
        let inChild = try #require(child.object(with: first) as? Item)
        #expect(child.performAndWait { inChild.amount } == 2)
        parent.performAndWait { parent.reset() }
        #expect(child.performAndWait { inChild.amount } == 1)
    }

    @Test("A child that does not merge automatically keeps the values it has read")
    func notFollowing() throws {
        let first = try item("Item 0", in: child)
        #expect(first.amount == 1)
        try parent.performAndWait { try item("Item 0", in: parent).amount = 2 }
        child.processPendingChanges()
        #expect(first.amount == 1)
        child.refreshAllObjects()
        #expect(first.amount == 2)
    }

    // MARK: - Conflicts

    @Test("Saving changes to an object that the parent has deleted is a conflict and changes nothing")
    func conflict() throws {
        let inChild = try item("Item 0", in: child)
        inChild.amount = 5
        Item(context: child).name = "new"
        parent.delete(try item("Item 0", in: parent))
        var error: StoreError?
        do { try child.save() } catch let failure as StoreError { error = failure }
        #expect(error?.code == .conflict)
        #expect(
            error?.message
                == "Saving Item \(inChild.objectID): the parent context '\(parent.name)' has deleted the object that was changed here, or no longer has it; refresh the object, or set a merge policy that prefers one of the two contexts."
        )
        #expect(error?.conflicts.map(\.objectID) == [inChild.objectID])
        #expect(error?.conflicts.first?.objectSnapshot?["amount"] as? Int64 == 5)
        #expect(error?.conflicts.first?.cachedSnapshot?["amount"] as? Int64 == 1)
        #expect(try names(in: parent) == ["Item 1", "Item 2"])
        #expect(child.insertedObjects.count == 1 && child.updatedObjects == [inChild])
    }

    @Test(
        "A merge policy resolves deletion conflicts", arguments: [MergePolicy.mergeByPropertyObjectTrump, .overwrite],
        [MergePolicy.mergeByPropertyStoreTrump, .rollback])
    func policies(_ preferring: MergePolicy, _ yielding: MergePolicy) throws {
        for (policy, expected) in [(preferring, ["Item 0|5", "Item 1|1"]), (yielding, ["Item 1|1"])] {
            let child = ManagedObjectContext(parent: parent)
            child.mergePolicy = policy
            let inChild = try item("Item 0", in: child)
            inChild.amount = 5
            parent.delete(try item("Item 0", in: parent))
            let deleted = try item("Item 2", in: parent).objectID
            let both = child.object(with: deleted)
            try both.fulfill()
            parent.delete(parent.object(with: deleted))
            // Both contexts deleted it, so there is no conflict.
            child.delete(both)
            try child.save()
            #expect(!child.hasChanges)
            #expect(
                try parent.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")])).map {
                    "\($0.name)|\($0.amount)"
                } == expected)
            parent.rollback()
        }
    }

    @Test("Saving an object whose insertion the parent rolled back is a conflict, or inserts it again")
    func rolledBack() throws {
        let new = Item(context: child)
        new.name = "new"
        try child.save()
        parent.rollback()
        new.amount = 2
        #expect(performing { try child.save() }.contains("or no longer has it; refresh the object"))
        child.mergePolicy = .mergeByPropertyObjectTrump
        try child.save()
        try parent.save()
        #expect(try store.sql("SELECT ZNAME, ZAMOUNT FROM ZITEM WHERE ZNAME = 'new'") == ["new|2"])
        child.processPendingChanges()
        #expect(!new.objectID.isTemporaryID)
    }

    @Test("Saving a relationship to an object that the parent does not have throws an error")
    func lostDestination() throws {
        let store = try Household.makeStore()
        let parent = store.context
        let child = ManagedObjectContext(parent: parent)
        let club = Club(context: child)
        try child.save()
        parent.rollback()
        let person = Person(context: child)
        person[Person.home] = club
        #expect(
            performing { try child.save() }
                == "Saving Person \(person.objectID): 'home' refers to a Club that the parent context '\(parent.name)' does not have, because it was deleted, rolled back or reset; set it to an object that exists."
        )
        #expect(!parent.hasChanges)
        person[Person.home] = nil
        try child.save()
        #expect(parent.insertedObjects.count == 1)
    }

    @Test("Both ends of a relationship stay consistent when child and parent change it")
    func relationships() throws {
        let (theirs, ours) = (Category(context: parent), Category(context: parent))
        (theirs.name, ours.name) = ("theirs", "ours")
        let inChild = try item("Item 0", in: child)
        inChild.category = try #require(child.object(with: ours.objectID) as? FaultlineStoreTests.Category)
        let inParent = try item("Item 0", in: parent)
        let old = try #require(inParent.category)
        inParent.category = theirs
        try child.save()
        #expect(inParent.category === ours)
        #expect(Array(ours.items) == [inParent])
        #expect(theirs.items.isEmpty)
        #expect(old.items.map(\.name) == ["Item 1", "Item 2"])
    }

    // MARK: - Undo, delete rules and query generations

    @Test("Undo, rollback and reset in a child leave the parent unchanged")
    func takingBack() throws {
        child.undoManager = UndoManager()
        let first = try child.performAndWait { () throws -> ManagedObjectID in
            let first = try item("Item 0", in: child)
            first.amount = 2
            return first.objectID
        }
        let inChild = try #require(child.object(with: first) as? Item)
        child.undo()
        #expect(inChild.amount == 1 && !child.hasChanges)
        child.redo()
        #expect(inChild.amount == 2)
        child.rollback()
        #expect(inChild.amount == 1)
        #expect(!parent.hasChanges)

        // After a save, undoing an insertion deletes the object, and undoing a deletion inserts it.
        child.performAndWait { Item(context: child).name = "new" }
        try child.save()
        #expect(try names(in: parent).contains("new"))
        child.undo()
        try child.save()
        #expect(try !names(in: parent).contains("new"))
        child.performAndWait { child.delete(inChild) }
        try child.save()
        #expect(try names(in: parent) == ["Item 1", "Item 2"])
        child.undo()
        try child.save()
        #expect(try names(in: parent) == ["Item 0", "Item 1", "Item 2"])
        try parent.save()
        #expect(
            try store.sql("SELECT ZNAME, ZCATEGORY FROM ZITEM ORDER BY ZNAME") == [
                "Item 0|1", "Item 1|1", "Item 2|1",
            ])
        child.reset()
        #expect(try names(in: child) == ["Item 0", "Item 1", "Item 2"])
    }

    @Test("The parent can undo what a child saved")
    func undoInParent() throws {
        parent.undoManager = UndoManager()
        let new = Item(context: child)
        new.name = "new"
        try item("Item 0", in: child).amount = 4
        child.delete(try item("Item 1", in: child))
        parent.performAndWait { try? child.save() }
        #expect(try names(in: parent) == ["Item 0", "Item 2", "new"])
        parent.undo()
        #expect(try names(in: parent) == ["Item 0", "Item 1", "Item 2"])
        #expect(try item("Item 0", in: parent).amount == 1)
        try parent.save()
        #expect(
            try store.sql("SELECT ZNAME, ZAMOUNT, ZCATEGORY FROM ZITEM ORDER BY ZNAME") == [
                "Item 0|1|1", "Item 1|1|1", "Item 2|1|1",
            ])
    }

    @Test("Delete rules apply in the child, and to objects that only the parent has loaded")
    func deleteRules() throws {
        let store = try TestStore(Groceries.entities(itemsRule: .cascade))
        try store.fill(items: 2)
        let parent = store.context
        let child = ManagedObjectContext(parent: parent)
        let category = try child.fetch(FetchRequest<FaultlineStoreTests.Category>())[0]
        child.delete(category)
        #expect(child.deletedObjects.count == 3)
        let late = Item(context: parent)
        late.name = "late"
        late.category = try parent.fetch(FetchRequest<FaultlineStoreTests.Category>())[0]
        try child.save()
        #expect(late.isDeleted)
        try parent.save()
        #expect(try store.sql("SELECT (SELECT COUNT(*) FROM ZITEM), (SELECT COUNT(*) FROM ZCATEGORY)") == ["0|0"])
    }

    @Test("A child cannot be pinned, and reads the query generation of its pinned parent")
    func queryGenerations() throws {
        try parent.setQueryGeneration(from: .current)
        let other = store.container.newBackgroundContext()
        try item("Item 0", in: other).name = "changed"
        try other.save()
        #expect(try names(in: child) == ["Item 0", "Item 1", "Item 2"])
        #expect(child.queryGenerationToken == parent.queryGenerationToken)
        #expect(
            performing { try child.setQueryGeneration(from: .current) }
                == "Pinning the context '\(child.name)' to a state of the store is refused, because it reads from its parent '\(parent.name)'; pin the ancestor without a parent."
        )
        try parent.setQueryGeneration(from: nil)
        #expect(try names(in: child) == ["Item 1", "Item 2", "changed"])
    }

    @Test("A fetch in a child throws an error once the store has been removed")
    func removedStore() throws {
        let first = try item("Item 0", in: child)
        first.amount = 2
        let coordinator = store.container.persistentStoreCoordinator
        try coordinator.remove(coordinator.persistentStores[0])
        #expect(performing { _ = try child.fetch(FetchRequest<Item>()) }.contains("has no store; add one first."))
        #expect(!child.hasChanges)
        try child.save()
    }

    // MARK: - Notifications

    /// Collects the notifications that contexts post, with the number of objects in each.
    private final class Observer: Sendable {
        private let lines = Mutex<[String]>([])
        private let tokens = Mutex<[Token]>([])

        private struct Token: @unchecked Sendable {
            // Only passed back to the notification center.
            var observer: any NSObjectProtocol
        }

        init(_ contexts: [(String, ManagedObjectContext)]) {
            let names = [
                ManagedObjectContext.didChangeObjectsNotification, ManagedObjectContext.willSaveObjectsNotification,
                ManagedObjectContext.didSaveObjectsNotification,
            ]
            for (name, context) in contexts {
                for notification in names { observe(notification, of: context, as: name) }
            }
        }

        deinit {
            for token in tokens.withLock({ $0 }) { NotificationCenter.default.removeObserver(token.observer) }
        }

        private func observe(_ notification: Notification.Name, of context: ManagedObjectContext, as name: String) {
            let observer = NotificationCenter.default.addObserver(forName: notification, object: context, queue: nil) {
                [weak self] posted in
                let counts = (posted.userInfo ?? [:]).map { key, value in
                    "\(key) \((value as? Set<ManagedObject>)?.count ?? 0)"
                }
                let what = posted.name.rawValue.replacing("ManagedObjectContext", with: "")
                let line = ([name, what] + counts.sorted()).joined(separator: " ")
                self?.lines.withLock { $0.append(line) }
            }
            let token = Token(observer: observer)
            tokens.withLock { $0.append(token) }
        }

        func take() -> [String] {
            lines.withLock { lines in
                defer { lines = [] }
                return lines
            }
        }
    }

    @Test("A child's save posts save notifications in the child and change notifications in the parent")
    func notifications() throws {
        let observer = Observer([("child", child), ("parent", parent)])
        Item(context: child).name = "new"
        try item("Item 0", in: child).amount = 4
        child.delete(try item("Item 1", in: child))
        _ = observer.take()
        try child.save()
        #expect(
            observer.take() == [
                "child ObjectsDidChange deleted 1 inserted 1 updated 2", "child WillSave",
                "parent ObjectsDidChange deleted 1 inserted 1 updated 2",
                "child DidSave deleted 1 inserted 1 updated 2",
            ])
        try parent.save()
        #expect(
            observer.take() == ["parent WillSave", "parent DidSave deleted 1 inserted 1 updated 2"])
    }

    @Test("A fetched results controller of a child follows changes in the child and in its parent")
    func controller() throws {
        child.automaticallyMergesChangesFromParent = true
        let controller = FetchedResultsController(
            fetchRequest: FetchRequest<Item>(sortDescriptors: [.ascending("name")]), managedObjectContext: child)
        try child.performAndWait { try controller.performFetch() }
        func shown() -> [String] { child.performAndWait { (controller.fetchedObjects ?? []).map(\.name) } }
        #expect(shown() == ["Item 0", "Item 1", "Item 2"])
        child.performAndWait { Item(context: child).name = "child" }
        #expect(shown() == ["Item 0", "Item 1", "Item 2", "child"])
        try parent.performAndWait {
            Item(context: parent).name = "Item 0½"
            try item("Item 1", in: parent).name = "later"
            parent.delete(try item("Item 2", in: parent))
        }
        #expect(shown() == ["Item 0", "Item 0½", "child", "later"])
        try child.performAndWait { try child.save() }
        try parent.performAndWait { try parent.save() }
        #expect(shown() == ["Item 0", "Item 0½", "child", "later"])
        #expect(
            child.performAndWait { (controller.fetchedObjects ?? []).allSatisfy { !$0.objectID.isTemporaryID } })
    }
}
