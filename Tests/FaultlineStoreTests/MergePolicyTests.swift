import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import FaultlineTrace
import Foundation
import Testing

@Suite("A save that conflicts with another follows the merge policy")
struct MergePolicyTests {
    private typealias Category = FaultlineStoreTests.Category

    /// Two contexts that have read the same items.
    private struct Pair {
        let store: TestStore
        let here: ManagedObjectContext
        let there: ManagedObjectContext
        let mine: [Item]
        let theirs: [Item]

        init(_ policy: MergePolicy, items: Int = 1, categories: Int = 0, isRecording: Bool = false) throws {
            store = try TestStore(isRecording: isRecording)
            try store.fill(items: items, categories: categories)
            (here, there) = (store.context, store.container.newBackgroundContext())
            here.mergePolicy = policy
            let request = FetchRequest<Item>(sortDescriptors: [.ascending("name")])
            (mine, theirs) = (Array(try here.fetch(request)), Array(try there.fetch(request)))
            #expect(mine.map(\.amount) == theirs.map(\.amount))
        }

        func rows(_ columns: String) throws -> [String] {
            try store.sql("SELECT \(columns) FROM ZITEM ORDER BY Z_PK")
        }
    }

    private static let merging = MergePolicy.allCases.filter { $0 != .error }

    @Test(
        "The policy decides each property that both contexts set, and keeps or drops the others",
        arguments: [
            (MergePolicy.mergeByPropertyStoreTrump, "theirs|5.0|7|3"), (.mergeByPropertyObjectTrump, "mine|5.0|7|3"),
            (.overwrite, "mine|0.0|7|3"), (.rollback, "theirs|5.0|1|2"),
        ])
    func properties(_ policy: MergePolicy, _ expected: String) throws {
        let pair = try Pair(policy, isRecording: true)
        (pair.theirs[0].name, pair.theirs[0].price) = ("theirs", 5)
        try pair.there.save()
        (pair.mine[0].name, pair.mine[0].amount) = ("mine", 7)
        try pair.here.save()
        #expect(try pair.rows("ZNAME, ZPRICE, ZAMOUNT, Z_OPT") == [expected])
        let item = pair.mine[0]
        #expect(
            "\(item.name)|\(item.price ?? -1)|\(item.amount)"
                == expected.split(separator: "|").dropLast().joined(separator: "|"))
        #expect(!pair.here.hasChanges)
        guard case .save(let save) = try #require(pair.store.events.last { $0.kind == .save }).detail else {
            Issue.record("The event is no save.")
            return
        }
        #expect(save.conflicts == 1)
        #expect(save.error == 0)
        #expect(pair.store.events.count { $0.kind == .save } == 3, "one event for the save, however often it is tried")
        // The object can be changed and saved again.
        item.amount = 70
        try pair.here.save()
        #expect(try pair.rows("ZAMOUNT") == ["70"])
    }

    @Test("A value set to what it already was is no change and cannot win", arguments: merging)
    func unchanged(_ policy: MergePolicy) throws {
        guard policy != .overwrite else { return }
        let pair = try Pair(policy)
        pair.theirs[0].name = "theirs"
        try pair.there.save()
        pair.mine[0].name = "Item 0"
        pair.mine[0].amount = 7
        try pair.here.save()
        #expect(try pair.rows("ZNAME") == ["theirs"])
    }

    @Test(
        "The policy decides a to-one relationship like any other property, and its inverse follows",
        arguments: [
            (MergePolicy.mergeByPropertyStoreTrump, 2, 7), (.mergeByPropertyObjectTrump, 3, 7), (.overwrite, 3, 7),
            (.rollback, 2, 1),
        ])
    func relationships(_ policy: MergePolicy, _ expected: Int, _ amount: Int) throws {
        let pair = try Pair(policy, categories: 3)
        func categories(_ context: ManagedObjectContext) throws -> [Category] {
            Array(try context.fetch(FetchRequest<Category>(sortDescriptors: [.ascending("name")])))
        }
        let (mine, theirs) = (try categories(pair.here), try categories(pair.there))
        #expect(mine.map { $0.items.count } == [1, 0, 0])
        pair.theirs[0].category = theirs[1]
        try pair.there.save()
        pair.mine[0].category = mine[2]
        pair.mine[0].amount = 7
        try pair.here.save()
        #expect(try pair.rows("ZCATEGORY, ZAMOUNT") == ["\(expected)|\(amount)"])
        #expect(pair.mine[0].category === mine[expected - 1])
        #expect(mine.map { $0.items.count } == (0..<3).map { $0 == expected - 1 ? 1 : 0 })
    }

    @Test("Members that both contexts added to a relationship are all kept under any policy", arguments: merging)
    func members(_ policy: MergePolicy) throws {
        let store = try TestStore()
        try store.fill(items: 3, tags: 1)
        let (here, there) = (store.context, store.container.newBackgroundContext())
        here.mergePolicy = policy
        func add(_ number: Int, in context: ManagedObjectContext) throws {
            let items = try context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")]))
            let tag = Tag(context: context)
            tag.label = "\(number)"
            items[0].tags.add(tag)
            items[0].category?.name = "changed \(number)"
            // Both contexts read this before either saves.
            #expect(items[0].tags.count == 2)
        }
        try add(1, in: here)
        try add(2, in: there)
        try there.save()
        try here.save()
        #expect(try store.sql("SELECT COUNT(*) FROM Z_2TAGS WHERE Z_2ITEMS = 1") == ["3"])
    }

    @Test("The policy decides whether an object that the other context deleted is restored", arguments: merging)
    func deletedThere(_ policy: MergePolicy) throws {
        let pair = try Pair(policy, items: 2, categories: 1)
        let id = pair.mine[0].objectID
        pair.there.delete(pair.theirs[0])
        try pair.there.save()
        pair.mine[0].amount = 7
        pair.mine[1].amount = 8
        try pair.here.save()
        let isKept = policy == .overwrite || policy == .mergeByPropertyObjectTrump
        #expect(
            try pair.rows("Z_PK, ZNAME, ZAMOUNT, ZCATEGORY, Z_OPT")
                == (isKept ? ["1|Item 0|7|1|2"] : []) + ["2|Item 1|8|1|2"])
        #expect((pair.here.registeredObject(for: id) === pair.mine[0]) == isKept)
        #expect(!pair.here.hasChanges)
        if isKept {
            pair.mine[0].amount = 9
            try pair.here.save()
            #expect(try pair.rows("ZAMOUNT").first == "9")
        }
    }

    @Test("The policy decides whether to delete an object that the other context changed", arguments: merging)
    func deletedHere(_ policy: MergePolicy) throws {
        let pair = try Pair(policy, items: 2, categories: 1)
        let category = try #require(pair.mine[0].category)
        let theirs = try #require(pair.theirs[0].category)
        #expect(category.items.count == 2)
        #expect(category.name == "Category 0")
        theirs.name = "theirs"
        try pair.there.save()
        pair.here.delete(category)
        try pair.here.save()
        let isGone = policy == .overwrite || policy == .mergeByPropertyObjectTrump
        #expect(try pair.store.sql("SELECT ZNAME FROM ZCATEGORY") == (isGone ? [] : ["theirs"]))
        #expect(try pair.rows("ZCATEGORY") == (isGone ? ["NULL", "NULL"] : ["1", "1"]))
        #expect((pair.mine[1].category === category) != isGone)
        if !isGone {
            #expect(category.name == "theirs")
            #expect(category.items.count == 2)
            #expect(!category.isDeleted)
        }
    }

    @Test("An object that both contexts deleted is deleted", arguments: merging)
    func deletedTwice(_ policy: MergePolicy) throws {
        let pair = try Pair(policy, items: 2)
        for (context, items) in [(pair.there, pair.theirs), (pair.here, pair.mine)] {
            context.delete(items[0])
            try context.save()
        }
        #expect(try pair.rows("ZNAME") == ["Item 1"])
        #expect(!pair.here.hasChanges)
    }

    @Test(
        "The policy decides whether a destination that the other context deleted is restored", arguments: merging)
    func deletedOwner(_ policy: MergePolicy) throws {
        let pair = try Pair(policy, items: 1, categories: 2)
        let categories = try pair.here.fetch(FetchRequest<Category>(sortDescriptors: [.ascending("name")]))
        let category = categories[1]
        #expect(category.name == "Category 1")
        pair.mine[0].category = category
        pair.there.delete(try pair.there.existingObject(with: category.objectID))
        try pair.there.save()
        try pair.here.save()
        let isKept = policy == .overwrite || policy == .mergeByPropertyObjectTrump
        #expect(try pair.store.sql("SELECT COUNT(*) FROM ZCATEGORY") == [isKept ? "2" : "1"])
        #expect(try pair.rows("ZCATEGORY") == [isKept ? "2" : "NULL"])
    }

    @Test("Without a policy, the error lists every conflict with its snapshots")
    func error() throws {
        let pair = try Pair(.error, items: 4, categories: 1)
        let ids = pair.mine.map(\.objectID)
        #expect(pair.here.mergePolicy == .error)
        pair.theirs[0].name = "theirs"
        pair.there.delete(pair.theirs[1])
        pair.theirs[2].price = nil
        try pair.there.save()
        pair.mine[0].amount = 7
        pair.mine[1].amount = 8
        pair.here.delete(pair.mine[2])
        pair.mine[3].amount = 9
        let error = try #require(throws: StoreError.self) { try pair.here.save() }
        #expect(error.code == .conflict)
        #expect(error.objectID == ids[0])
        #expect(
            error.message
                == "Saving Item \(ids[0]) and 2 other objects: other writers changed or deleted them since they were read; refresh them and make the changes again."
        )
        #expect(error.conflicts.map(\.objectID) == Array(ids[..<3]))
        #expect(error.conflicts.map(\.oldVersionNumber) == [1, 1, 1])
        #expect(error.conflicts.map(\.newVersionNumber) == [2, 0, 2])
        let first = error.conflicts[0]
        #expect(first.objectSnapshot?["name"] as? String == "Item 0")
        #expect(first.objectSnapshot?["amount"] as? Int64 == 7)
        #expect(first.cachedSnapshot?["amount"] as? Int64 == 1)
        #expect(first.persistedSnapshot?["name"] as? String == "theirs")
        #expect(first.persistedSnapshot?["amount"] as? Int64 == 1)
        #expect((first.persistedSnapshot?["category"] as? ManagedObjectID)?.entityName == "Category")
        #expect(error.conflicts[1].persistedSnapshot == nil)
        #expect(error.conflicts[2].objectSnapshot == nil)
        #expect(error.conflicts[2].cachedSnapshot?["price"] as? Double == 2)
        #expect(error.conflicts[2].persistedSnapshot?["price"] == nil)
        #expect(try pair.rows("ZNAME, ZAMOUNT") == ["theirs|1", "Item 2|1", "Item 3|1"], "nothing was written")
        #expect(pair.here.updatedObjects.count == 4 && pair.mine[2].isDeleted)
        // The program can now choose a policy.
        pair.here.mergePolicy = .mergeByPropertyObjectTrump
        try pair.here.save()
        #expect(try pair.rows("ZNAME, ZAMOUNT") == ["theirs|7", "Item 1|8", "Item 3|9"])
    }

    @Test("Contexts that repeatedly save the same object all succeed, and each save increments its version")
    func counting() async throws {
        let store = try TestStore()
        try store.fill(items: 4)
        let ids = try store.context.fetchObjectIDs(FetchRequest<Item>(sortDescriptors: [.ascending("name")]))
        let container = store.container
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    let context = container.newBackgroundContext()
                    for round in 0..<25 {
                        try await context.perform {
                            let item = try context.existingObject(with: ids[0])
                            item["price"] = Double(worker * 100 + round)
                            try context.existingObject(with: ids[worker])["name"] = "\(worker) \(round)"
                            context.mergePolicy = .mergeByPropertyObjectTrump
                            try context.save()
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        // Each of four contexts saves the shared item 25 times. The first renames it within those saves.
        #expect(try store.sql("SELECT Z_OPT FROM ZITEM ORDER BY Z_PK LIMIT 1") == ["101"])
        #expect(try store.sql("SELECT ZNAME FROM ZITEM ORDER BY Z_PK") == (0..<4).map { "\($0) 24" })
    }
}
