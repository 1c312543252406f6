import FaultlineModel
import FaultlineStore
import Foundation
import Synchronization
import Testing

@Suite("A context posts notifications of its changes")
struct NotificationTests {
    /// Describes a context's notifications as text, such as `inserted: Item Milk`.
    private final class Observer: Sendable {
        private let lines = Mutex<[String]>([])
        private let tokens = Mutex<[Token]>([])

        private struct Token: @unchecked Sendable {
            // Only passed back to the notification center.
            var observer: any NSObjectProtocol
        }

        init(_ context: ManagedObjectContext, _ names: [Notification.Name]) {
            for name in names {
                let observer = NotificationCenter.default.addObserver(
                    forName: name, object: context, queue: nil
                ) { [weak self] notification in
                    let words = Observer.words(notification)
                    self?.lines.withLock { $0.append(words) }
                }
                let token = Token(observer: observer)
                tokens.withLock { $0.append(token) }
            }
        }

        deinit {
            for token in tokens.withLock({ $0 }) { NotificationCenter.default.removeObserver(token.observer) }
        }

        func take() -> [String] {
            lines.withLock { lines in
                defer { lines = [] }
                return lines
            }
        }

        private static func words(_ notification: Notification) -> String {
            let parts = (notification.userInfo ?? [:]).map { key, value -> String in
                switch value {
                case let objects as Set<ManagedObject>:
                    return "\(key): \(objects.map { Observer.name($0) }.sorted().joined(separator: ", "))"
                case let ids as Set<ManagedObjectID>:
                    return "\(key): \(ids.map { "\($0.entityName)" }.sorted().joined(separator: ", "))"
                default: return "\(key): \(value)"
                }
            }
            let name = notification.name.rawValue.replacing("ManagedObjectContext", with: "")
            return ([name] + parts.sorted()).joined(separator: " | ")
        }

        private static func name(_ object: ManagedObject) -> String {
            switch object {
            case let item as Item: return "Item \(item.name)"
            case let category as FaultlineStoreTests.Category: return "Category \(category.name)"
            default: return object.entityName
            }
        }
    }

    @Test("Changes are posted once per perform, each object with its final state")
    func changes() throws {
        let store = try TestStore()
        try store.fill(items: 2)
        let context = store.context
        let observer = Observer(context, [ManagedObjectContext.didChangeObjectsNotification])
        try context.performAndWait {
            let items = try context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")]))
            items[0].amount = 5
            items[0].amount = 6
            context.delete(items[1])
            Item(context: context).name = "New"
            let passing = Item(context: context)
            context.delete(passing)
            #expect(observer.take().isEmpty, "not for each change")
        }
        #expect(
            observer.take() == [
                "ObjectsDidChange | deleted: Item Item 1 | inserted: Item New | updated: Category Category 0, Item Item 0"
            ])
        context.performAndWait {}
        #expect(observer.take().isEmpty, "nothing has changed since")
        context.rollback()
        context.processPendingChanges()
        #expect(
            observer.take() == [
                "ObjectsDidChange | deleted: Item New | refreshed: Category Category 0, Item Item 0, Item Item 1"
            ])
        let item = try context.fetch(FetchRequest<Item>())[0]
        context.refresh(item, mergeChanges: false)
        context.processPendingChanges()
        #expect(observer.take() == ["ObjectsDidChange | refreshed: Item Item 0"])
        context.reset()
        context.processPendingChanges()
        #expect(observer.take() == ["ObjectsDidChange | invalidatedAll: true"])
    }

    @Test("A save posts that it is about to start, then what it saved, as objects and as object IDs")
    func saves() throws {
        let store = try TestStore()
        try store.fill(items: 2)
        let context = store.context
        let observer = Observer(
            context,
            [
                ManagedObjectContext.didChangeObjectsNotification, ManagedObjectContext.willSaveObjectsNotification,
                ManagedObjectContext.didSaveObjectsNotification, ManagedObjectContext.didSaveObjectIDsNotification,
            ])
        let items = try context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")]))
        items[0].amount = 5
        context.delete(items[1])
        Item(context: context).name = "New"
        try context.save()
        #expect(
            observer.take() == [
                "ObjectsDidChange | deleted: Item Item 1 | inserted: Item New | updated: Category Category 0, Item Item 0",
                "WillSave",
                "DidSave | deleted: Item Item 1 | inserted: Item New | updated: Category Category 0, Item Item 0",
                "DidSaveObjectIDs | deleted_objectIDs: Item | inserted_objectIDs: Item | updated_objectIDs: Category, Item",
            ])
        try context.save()
        #expect(observer.take().isEmpty, "there was nothing to save")
    }

    @Test("A save's notifications convert to object IDs, and others do not")
    func identities() throws {
        let store = try TestStore()
        let context = store.context
        let saved = Mutex<[SavedObjectIDs?]>([])
        let names = [
            ManagedObjectContext.didSaveObjectsNotification, ManagedObjectContext.didSaveObjectIDsNotification,
            ManagedObjectContext.willSaveObjectsNotification,
        ]
        let tokens = names.map { name in
            NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { notification in
                let ids = SavedObjectIDs(notification)
                saved.withLock { $0.append(ids) }
            }
        }
        defer { tokens.forEach(NotificationCenter.default.removeObserver) }
        let item = Item(context: context)
        item.name = "Milk"
        try context.save()
        let expected = SavedObjectIDs(inserted: [item.objectID])
        let found = saved.withLock { $0 }
        #expect(found.count == 3)
        #expect(found[0] == nil)
        for ids in found.dropFirst() {
            #expect(ids?.inserted == expected.inserted)
            #expect(ids?.updated.isEmpty == true && ids?.deleted.isEmpty == true)
        }
    }

    @Test("The saves of a context form a sequence, in order and without loss")
    func sequence() async throws {
        let store = try TestStore()
        let context = store.context
        let saves = context.savedObjectIDs
        for number in 0..<40 {
            try await context.perform {
                Item(context: context).name = "\(number)"
                try context.save()
            }
        }
        var keys: [String] = []
        for await saved in saves {
            keys += saved.inserted.map { $0.uriRepresentation().lastPathComponent }
            if keys.count == 40 { break }
        }
        #expect(keys == (1...40).map { "p\($0)" })
    }

    @Test("Changes that an observer makes before a save are saved")
    func willSave() throws {
        let store = try TestStore()
        let context = store.context
        let item = Item(context: context)
        item.name = "Milk"
        let id = item.objectID
        let token = NotificationCenter.default.addObserver(
            forName: ManagedObjectContext.willSaveObjectsNotification, object: context, queue: nil
        ) { notification in
            let context = notification.object as? ManagedObjectContext
            (context?.registeredObject(for: id) as? Item)?.amount = 12
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try context.save()
        #expect(try store.sql("SELECT ZAMOUNT FROM ZITEM") == ["12"])
    }
}
