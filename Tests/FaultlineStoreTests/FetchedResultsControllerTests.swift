import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("A fetched results controller")
struct FetchedResultsControllerTests {
    /// Maintains a list of its own from the changes that the delegate methods report.
    private final class List: FetchedResultsControllerDelegate {
        typealias Object = Item
        var sections: [(name: String, items: [ManagedObject])] = []
        var calls: [String] = []
        var all: [FetchedResultsChanges] = []

        func controllerWillChangeContent(_ controller: FetchedResultsController<Item>) { calls.append("will") }

        func controller(
            _ controller: FetchedResultsController<Item>, didChange section: FetchedResultsSection<Item>,
            atSectionIndex index: Int, for type: FetchedResultsChangeType
        ) {
            calls.append("section \(section.name) \(type) \(index)")
        }

        func controller(
            _ controller: FetchedResultsController<Item>, didChange object: Item, at indexPath: IndexPath?,
            for type: FetchedResultsChangeType, newIndexPath: IndexPath?
        ) {
            let text = { (path: IndexPath?) in path.map { "\($0.section).\($0.item)" } ?? "-" }
            calls.append(
                "\(object.isDeleted ? "deleted" : object.name) \(type) \(text(indexPath)) \(text(newIndexPath))")
        }

        func controllerDidChangeContent(_ controller: FetchedResultsController<Item>) { calls.append("did") }

        func controller(
            _ controller: FetchedResultsController<Item>, didChangeContentWith changes: FetchedResultsChanges
        ) {
            all.append(changes)
            apply(changes, names: (controller.sections ?? []).map(\.name), controller.managedObjectContext)
        }

        /// Applies changes as a table view does: removes items from the end first, then inserts from the start.
        private func apply(_ changes: FetchedResultsChanges, names: [String], _ context: ManagedObjectContext) {
            var removed: [IndexPath] = []
            var added: [(IndexPath, ManagedObject)] = []
            for change in changes.objects {
                switch change {
                case .insert(let id, let path): added.append((path, context.object(with: id)))
                case .delete(_, let path): removed.append(path)
                case .move(let id, let from, let to):
                    removed.append(from)
                    added.append((to, context.object(with: id)))
                case .update(let id, let from, let to):
                    #expect(sections[from.section].items[from.item].objectID == id)
                    removed.append(from)
                    added.append((to, context.object(with: id)))
                }
            }
            for path in removed.sorted(by: >) { sections[path.section].items.remove(at: path.item) }
            for index in changes.deletedSections.reversed() {
                #expect(sections[index].items.isEmpty)
                sections.remove(at: index)
            }
            for index in changes.insertedSections { sections.insert((names[index], []), at: index) }
            for (path, id) in added.sorted(by: { $0.0 < $1.0 }) {
                sections[path.section].items.insert(id, at: path.item)
            }
        }
    }

    private func makeController(
        _ store: TestStore, _ request: FetchRequest<Item>, sections: String? = nil
    ) throws -> (FetchedResultsController<Item>, List) {
        let controller = FetchedResultsController(
            fetchRequest: request, managedObjectContext: store.context, sectionNameKeyPath: sections)
        let list = List()
        controller.delegate = list
        try controller.performFetch()
        list.sections = try #require(controller.sections).map { ($0.name, $0.map { $0 }) }
        return (controller, list)
    }

    private func item(_ store: TestStore, _ name: String) throws -> Item {
        try store.context.fetch(FetchRequest<Item>(predicate: PropertyPath("name") == name))[0]
    }

    @Test("notifies its delegate of insertions, deletions, moves and updates")
    func delegate() throws {
        let store = try TestStore()
        try store.fill(items: 4)
        let (controller, list) = try makeController(
            store, FetchRequest(predicate: PropertyPath("price") < 10, sortDescriptors: [.ascending("name")]))
        #expect(controller.fetchedObjects?.map(\.name) == ["Item 0", "Item 1", "Item 2", "Item 3"])
        let new = Item(context: store.context)
        new.name = "Item 1b"
        new.price = 1
        store.context.delete(try item(store, "Item 0"))
        try item(store, "Item 1").name = "Item 9"
        try item(store, "Item 2").price = 3
        store.context.processPendingChanges()
        #expect(
            list.calls == [
                "will", "deleted delete 0.0 -", "Item 1b insert - 0.0", "Item 9 move 0.1 0.3", "Item 2 update 0.2 0.1",
                "did",
            ])
        list.calls = []
        try item(store, "Item 3").price = 99
        store.context.processPendingChanges()
        #expect(list.calls == ["will", "Item 3 delete 0.2 -", "did"])
        #expect(controller.fetchedObjects?.map(\.name) == ["Item 1b", "Item 2", "Item 9"])
        #expect(controller.indexPath(forObject: new) == IndexPath(item: 0, section: 0))
        #expect(controller.object(at: IndexPath(item: 2, section: 0)).name == "Item 9")
        list.calls = []
        try store.context.save()
        store.context.processPendingChanges()
        #expect(list.calls.isEmpty, "saving changes nothing that is shown")
        #expect(controller.indexPath(forObject: new) == IndexPath(item: 0, section: 0))
    }

    @Test("adds and removes sections")
    func sections() throws {
        let store = try TestStore()
        try store.fill(items: 5, categories: 2)
        let (controller, list) = try makeController(
            store, FetchRequest(sortDescriptors: [.ascending("category.name"), .ascending("name")]),
            sections: "category.name")
        #expect(controller.sections?.map(\.name) == ["Category 0", "Category 1"])
        #expect(
            controller.sections?.map { $0.map(\.name) } == [["Item 0", "Item 2", "Item 4"], ["Item 1", "Item 3"]])
        #expect(controller.sectionIndexTitles == ["C"])
        #expect(controller.section(forSectionIndexTitle: "C") == 0)
        let bread = Category(context: store.context)
        bread.name = "Bread"
        try item(store, "Item 1").category = bread
        try item(store, "Item 3").category = try item(store, "Item 0").category
        store.context.processPendingChanges()
        #expect(
            list.calls == [
                "will", "section Category 1 delete 1", "section Bread insert 0", "Item 1 move 1.0 0.0",
                "Item 3 move 1.1 1.2", "did",
            ])
        #expect(controller.sections?.map { $0.map(\.name) } == [["Item 1"], ["Item 0", "Item 2", "Item 3", "Item 4"]])
        #expect(controller.sectionIndexTitles == ["B", "C"])
    }

    @Test("delivers changes as an asynchronous sequence that ends with it")
    func sequence() async throws {
        let store = try TestStore()
        try store.fill(items: 1)
        var controller: FetchedResultsController<Item>? = FetchedResultsController(
            fetchRequest: FetchRequest(sortDescriptors: [.ascending("name")]), managedObjectContext: store.context)
        try controller?.performFetch()
        let changes = try #require(controller?.changes)
        let new = Item(context: store.context)
        new.name = "A"
        store.context.processPendingChanges()
        store.context.delete(new)
        store.context.processPendingChanges()
        controller = nil
        var found: [FetchedResultsChanges] = []
        for await change in changes { found.append(change) }
        #expect(found.map(\.objects.count) == [1, 1])
        guard case .insert(_, let path)? = found.first?.objects.first else { Issue.record("no insertion"); return }
        #expect(path == IndexPath(item: 0, section: 0))
    }

    @Test("updates its content when its context merges another context's save")
    func merging() throws {
        let store = try TestStore()
        try store.fill(items: 3)
        let (controller, list) = try makeController(store, FetchRequest(sortDescriptors: [.ascending("name")]))
        store.context.automaticallyMergesChangesFromParent = true
        let other = store.container.newBackgroundContext()
        try other.performAndWait {
            let items = try other.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")]))
            items[0].name = "Item 7"
            other.delete(items[1])
            Item(context: other).name = "Item 5"
            try other.save()
        }
        store.context.performAndWait {}
        store.context.processPendingChanges()
        #expect(controller.fetchedObjects?.map(\.name) == ["Item 2", "Item 5", "Item 7"])
        #expect(list.sections[0].items == controller.fetchedObjects)
    }

    @Test("loads batches as they are accessed, and a few to find an object's position")
    func batches() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 400)
        let before = store.statements().count
        let controller = FetchedResultsController(
            fetchRequest: FetchRequest<Item>(sortDescriptors: [.ascending("price")], fetchBatchSize: 10),
            managedObjectContext: store.context)
        try controller.performFetch()
        #expect(controller.sections?[0].count == 400)
        #expect(store.statements().count == before + 1)
        #expect(controller.object(at: IndexPath(item: 55, section: 0)).price == 55)
        #expect(store.statements().count == before + 2)
        let new = Item(context: store.context)
        new.price = 200.5
        store.context.processPendingChanges()
        #expect(controller.indexPath(forObject: new) == IndexPath(item: 201, section: 0))
        #expect(store.statements().count < before + 14)
    }

    @Test("updates its content with a limit, and after a reset")
    func replacing() throws {
        let store = try TestStore()
        try store.fill(items: 5)
        let (controller, list) = try makeController(
            store, FetchRequest(sortDescriptors: [.ascending("name")], fetchLimit: 2, fetchOffset: 1))
        #expect(controller.fetchedObjects?.map(\.name) == ["Item 1", "Item 2"])
        store.context.delete(try item(store, "Item 0"))
        store.context.processPendingChanges()
        #expect(controller.fetchedObjects?.map(\.name) == ["Item 2", "Item 3"])
        #expect(list.sections[0].items == controller.fetchedObjects)
        store.context.reset()
        store.context.processPendingChanges()
        #expect(controller.fetchedObjects?.map(\.name) == ["Item 1", "Item 2"])
    }

    @Test("throws an error if its sort descriptors do not determine the order or the sections")
    func errors() throws {
        let store = try TestStore()
        try store.fill(items: 4, categories: 2)
        #expect(
            performing { _ = try makeController(store, FetchRequest()) }
                == "Fetching Item: a controller keeps its objects in order, but the request has no sort descriptors; add one."
        )
        #expect(
            performing {
                _ = try makeController(
                    store, FetchRequest(sortDescriptors: [.ascending("name")]), sections: "category.name")
            }
                == "Fetching Item: the sort descriptors separate objects of section 'Category 0'; sort by 'category.name' first."
        )
    }

    // MARK: - Random edits

    @Test("matches a fetch after random edits", arguments: 0..<20)
    func randomEdits(seed: Int) throws {
        var random = RandomNumbers(seed: UInt64(seed))
        let store = try TestStore()
        try store.fill(items: 20, categories: 4)
        let context = store.context
        let hasSections = seed % 2 == 0
        var request = FetchRequest<Item>(
            predicate: try FetchPredicate(format: "price < 15 AND category != nil"),
            sortDescriptors: (hasSections ? [.ascending("category.name")] : []) + [
                .descending("price"), .ascending("name"),
            ])
        if seed % 3 == 1 { request.fetchBatchSize = 4 }
        let (controller, list) = try makeController(store, request, sections: hasSections ? "category.name" : nil)
        for step in 0..<60 {
            for _ in 0...random.number(4) { try edit(store, &random, step) }
            if random.number(6) == 0 { try context.save() }
            context.processPendingChanges()
            let expected = try context.fetch(request).map { $0 }
            #expect(controller.fetchedObjects == expected)
            #expect(list.sections.flatMap(\.items) == expected)
            #expect(list.sections.map(\.name) == controller.sections?.map(\.name))
            #expect(list.sections.map(\.items.count) == controller.sections?.map(\.count))
        }
    }

    private func edit(_ store: TestStore, _ random: inout RandomNumbers, _ step: Int) throws {
        let context = store.context
        let items = try context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")])).map { $0 }
        let categories = try context.fetch(FetchRequest<Category>(sortDescriptors: [.ascending("name")])).map { $0 }
        switch random.number(5) {
        case 0:
            let item = Item(context: context)
            item.name = "New \(step) \(random.number(1000))"
            item.price = Double(random.number(20))
            item.category = random.one(categories)
        case 1 where items.count > 5: context.delete(random.one(items))
        case 2: random.one(items).price = Double(random.number(20))
        case 3: random.one(items).category = random.number(4) == 0 ? nil : random.one(categories)
        default: random.one(items).name = "Item \(step) \(random.number(1000))"
        }
    }
}
