import FaultlineModel
import FaultlineStore
import FaultlineTrace
import Foundation
import SharedData
import Testing

@Suite("Persistent history records what saves and batch requests change")
struct PersistentHistoryTests {
    /// By number: 1 Category, 2 Item, 3 Tag.
    static let entities = [
        EntityDescription(
            "Item",
            attributes: [
                AttributeDescription("name", .string, preservesValueInHistoryOnDeletion: true),
                AttributeDescription("price", .double), AttributeDescription("note", .string, isTransient: true),
                AttributeDescription("code", .uuid, preservesValueInHistoryOnDeletion: true),
                AttributeDescription("amount", .integer32, defaultValue: 1),
            ],
            relationships: [
                RelationshipDescription("category", to: "Category", inverse: "items"),
                RelationshipDescription("tags", to: "Tag", inverse: "items", isToMany: true),
            ], uniquenessConstraints: [["code"]]),
        EntityDescription(
            "Category", attributes: [AttributeDescription("name", .string)],
            relationships: [RelationshipDescription("items", to: "Item", inverse: "category", isToMany: true)]),
        EntityDescription(
            "Tag", attributes: [AttributeDescription("label", .string)],
            relationships: [RelationshipDescription("items", to: "Item", inverse: "tags", isToMany: true)]),
    ]

    static func makeStore(level: Int = 0, isRecording: Bool = false) throws -> TestStore {
        try TestStore(entities, classes: [], isRecording: isRecording, level: level) {
            $0.tracksPersistentHistory = true
        }
    }

    private func insert(_ entity: String, _ context: ManagedObjectContext, _ values: [String: any Sendable] = [:])
        -> ManagedObject
    {
        let object = context.insertNewObject(forEntityName: entity)
        for (name, value) in values { object[name] = value }
        return object
    }

    private func changes(_ store: TestStore) throws -> [String] {
        try store.sql(
            "SELECT Z_PK, Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, hex(ZCOLUMNS) FROM ACHANGE ORDER BY Z_PK"
        )
    }

    private func history(
        _ store: TestStore,
        _ request: PersistentHistoryChangeRequest = .fetchHistory(after: nil as PersistentHistoryToken?)
    ) throws -> [PersistentHistoryTransaction] {
        try store.context.execute(request).transactions
    }

    // MARK: - The file

    @Test(
        "The tables and indexes are those of a store that Core Data wrote",
        .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func tables() throws {
        let query =
            "SELECT sql FROM sqlite_master WHERE tbl_name IN ('ACHANGE', 'ATRANSACTION', 'ATRANSACTIONSTRING') ORDER BY rowid"
        let real = try SQLShell.run(query, try CoreDataFixture.books.copy())
        let store = try TestStore { $0.tracksPersistentHistory = true }
        #expect(try store.sql(query) == real && real.count == 11)
        #expect(
            try store.sql("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT > 16000") == [
                "16001|CHANGE|0|0", "16002|TRANSACTION|0|0", "16003|TRANSACTIONSTRING|0|0",
            ])
    }

    @Test("A save writes one transaction with a change for each object, and the names once")
    func rows() throws {
        let start = Date().timeIntervalSinceReferenceDate
        let store = try Self.makeStore()
        let context = store.context
        context.transactionAuthor = "app"
        context.name = "import"
        let category = insert("Category", context)
        let item = insert("Item", context, ["name": "Milk"])
        try context.save()
        (item["price"], item["category"]) = (2.5, category)
        try context.save()
        context.delete(item)
        try context.save()
        let written = try changes(store)
        #expect(
            written == [
                "1|16001|NULL|0|1|1|1|", "2|16001|NULL|0|2|1|1|",
                // amount, category, code, name, price, tags: the second and the fifth; items, name: the first
                "3|16001|NULL|1|2|1|2|48", "4|16001|NULL|1|1|1|2|80",
                "5|16001|NULL|1|1|1|3|80", "6|16001|NULL|2|2|1|3|",
            ])
        #expect(
            try store.sql(
                "SELECT Z_PK, Z_ENT, Z_OPT, ZAUTHORTS, ZBUNDLEIDTS, ZCONTEXTNAMETS, ZPROCESSIDTS, ZAUTHOR, ZQUERYGEN FROM ATRANSACTION"
            ) == (1...3).map { "\($0)|16002|NULL|1|NULL|2|3|NULL|NULL" })
        let names = try store.sql("SELECT Z_PK, Z_ENT, Z_OPT, ZNAME FROM ATRANSACTIONSTRING")
        #expect(
            names == [
                "1|16003|NULL|app", "2|16003|NULL|import",
                "3|16003|NULL|\(ProcessInfo.processInfo.processName)",
            ])
        #expect(try store.sql("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT > 16000") == ["6", "3", "3"])
        let times = try store.sql("SELECT ZTIMESTAMP FROM ATRANSACTION").compactMap { Double($0) }
        #expect(times.sorted() == times && times[0] >= start && times[2] <= Date().timeIntervalSinceReferenceDate)
        #expect(try store.sql("PRAGMA integrity_check") == ["ok"])
    }

    @Test("Without the option a store has no history, and a save runs no statement for one")
    func off() throws {
        let store = try TestStore(Self.entities, classes: [], isRecording: true)
        _ = insert("Item", store.context)
        try store.context.save()
        #expect(try store.sql("SELECT name FROM sqlite_master WHERE name LIKE 'A%'").isEmpty)
        #expect(
            store.statements(ofType: .write).suffix(2) == [
                "UPDATE OR FAIL Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ? AND Z_MAX = ?",
                "INSERT INTO ZITEM(Z_PK, Z_ENT, Z_OPT, ZAMOUNT, ZCODE, ZNAME, ZPRICE, ZCATEGORY) VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
            ])
        #expect(
            performing { _ = try history(store) }
                == "'\(store.url.path)' was opened without its history; set tracksPersistentHistory in its description."
        )
        #expect(try store.container.persistentStoreCoordinator.currentPersistentHistoryToken() == nil)
    }

    @Test("The statements for the history are in the save's transaction, in the SQL log and in the trace")
    func statements() throws {
        let store = try Self.makeStore(level: 1, isRecording: true)
        _ = store.lines.take()
        _ = insert("Category", store.context)
        try store.context.save()
        let lines = store.lines.take().filter { $0.hasPrefix("CoreData: sql: ") }.map { String($0.dropFirst(15)) }
        #expect(
            Array(lines.drop { !$0.hasPrefix("INSERT INTO ZCATEGORY") }) == [
                "INSERT INTO ZCATEGORY(Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES(?, ?, ?, ?)",
                "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?",
                "UPDATE OR FAIL Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?",
                "SELECT Z_PK FROM ATRANSACTIONSTRING WHERE ZNAME = ?",
                "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?",
                "UPDATE OR FAIL Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?",
                "INSERT INTO ATRANSACTIONSTRING(Z_PK, Z_ENT, ZNAME) VALUES(?, ?, ?)",
                "INSERT INTO ATRANSACTION(Z_PK, Z_ENT, ZAUTHORTS, ZBUNDLEIDTS, ZCONTEXTNAMETS, ZPROCESSIDTS, ZTIMESTAMP) VALUES(?, ?, ?, ?, ?, ?, ?)",
                "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?",
                "UPDATE OR FAIL Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?",
                "INSERT INTO ACHANGE(Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS) VALUES(?, ?, ?, ?, ?, ?, ?)",
                "COMMIT",
            ])
        #expect(store.statements(ofType: .write).contains { $0.hasPrefix("INSERT INTO ACHANGE") })
        _ = try history(store)
        #expect(store.statements().contains { $0.contains("FROM ATRANSACTION t0") })
    }

    // MARK: - Reading

    @Test("A transaction tells who changed which properties of which objects")
    func reading() throws {
        let store = try Self.makeStore()
        let context = store.context
        context.transactionAuthor = "app"
        let (first, second) = (insert("Category", context), insert("Category", context))
        let item = insert("Item", context, ["name": "Milk"])
        item["category"] = first
        let tag = insert("Tag", context)
        try context.save()
        context.name = "edit"
        context.transactionAuthor = nil
        item["category"] = second
        item["price"] = 3.0
        item["tags"] = [tag]
        try context.save()
        let all = try history(store)
        #expect(all.map(\.transactionNumber) == [1, 2])
        #expect(all.map(\.author) == ["app", nil] && all.map(\.contextName) == [nil, "edit"])
        #expect(all[0].processID == ProcessInfo.processInfo.processName && all[0].bundleID == "")
        #expect(all[0].storeID == store.container.persistentStoreCoordinator.storeUUID)
        let inserted = try #require(all[0].changes)
        #expect(Set(inserted.map(\.changedObjectID)) == Set([first, second, item, tag].map(\.objectID)))
        #expect(inserted.allSatisfy { $0.changeType == .insert && $0.updatedProperties == nil && $0.tombstone == nil })
        let updated = try #require(all[1].changes)
        #expect(updated.allSatisfy { $0.changeType == .update && $0.transactionNumber == 2 })
        let properties = Dictionary(uniqueKeysWithValues: updated.map { ($0.changedObjectID, $0.updatedProperties) })
        #expect(properties.count == 4)
        #expect(properties[item.objectID] == ["category", "price", "tags"])
        for object in [first, second, tag] { #expect(properties[object.objectID] == ["items"]) }
    }

    @Test("Properties set to the values that they had, and unsaved objects, are no changes")
    func unchanged() throws {
        let store = try Self.makeStore()
        let item = insert("Item", store.context, ["name": "Milk"])
        try store.context.save()
        item["name"] = "Milk"
        store.context.delete(insert("Item", store.context))
        try store.context.save()
        #expect(try changes(store).count == 1)
    }

    @Test("A deleted object's tombstone has the attributes that the model preserves")
    func tombstones() throws {
        let store = try Self.makeStore()
        let code = UUID()
        let items = [
            insert("Item", store.context, ["name": "Milk", "code": code, "price": 1.0]), insert("Item", store.context),
        ]
        try store.context.save()
        store.context.refreshAllObjects()
        for item in items { store.context.delete(item) }
        try store.context.save()
        let deleted = try #require(try history(store).last?.changes)
        #expect(deleted.map(\.changeType) == [.delete, .delete])
        #expect(
            deleted.first { $0.changedObjectID == items[0].objectID }?.tombstone == [
                "name": "Milk", "code": .uuid(code),
            ])
        #expect(deleted.first { $0.changedObjectID == items[1].objectID }?.tombstone == [:])
        #expect(
            try store.sql("SELECT hex(ZTOMBSTONE0), ZTOMBSTONE1 FROM ACHANGE WHERE ZENTITYPK = 1 AND ZCHANGETYPE = 2")
                == [
                    "\(code.uuidString.replacing("-", with: ""))|Milk"
                ])
        #expect(
            try store.sql("SELECT type FROM pragma_table_info('ACHANGE') WHERE name LIKE 'ZTOMB%'") == ["BLOB", "BLOB"])
    }

    @Test("Batch requests are recorded as saves are")
    func batches() throws {
        let store = try Self.makeStore()
        let context = store.context
        context.transactionAuthor = "batch"
        context.mergePolicy = .mergeByPropertyObjectTrump
        let (one, two) = (UUID(), UUID())
        let category = insert("Category", context)
        try context.save()
        try context.execute(
            BatchInsertRequest(
                entityName: "Item",
                objects: [
                    ["code": .uuid(one), "name": "a", "category": .object(category.objectID)],
                    ["code": .uuid(two), "name": "b"],
                ]))
        try context.execute(
            BatchInsertRequest(entityName: "Item", objects: [["code": .uuid(two), "price": 2], ["name": "c"]]))
        let request = FetchRequest<ManagedObject>(entityName: "Item", predicate: PropertyPath("name") == "a")
        try context.execute(BatchUpdateRequest(fetchRequest: request, propertiesToUpdate: ["amount": .value(4)]))
        try context.execute(BatchDeleteRequest(objectIDs: [category.objectID]))
        try context.execute(BatchDeleteRequest(fetchRequest: request))
        let all = try history(store)
        #expect(all.count == 6 && all.allSatisfy { $0.author == "batch" })
        func described(_ number: Int) -> [String] {
            (all[number].changes ?? []).map { change in
                let names = change.updatedProperties.map { $0.sorted().joined(separator: " ") } ?? ""
                return
                    "\(change.changeType) \(change.changedObjectID.uriRepresentation().pathComponents.suffix(2).joined()) \(names)"
            }
        }
        #expect(described(1) == ["insert Itemp1 ", "insert Itemp2 "])
        #expect(Set(described(2)) == ["insert Itemp3 ", "update Itemp2 code price"])
        #expect(described(3) == ["update Itemp1 amount"])
        #expect(Set(described(4)) == ["update Itemp1 category", "delete Categoryp1 "])
        #expect(described(5) == ["delete Itemp1 "])
        #expect(all[5].changes?.first?.tombstone == ["name": "a", "code": .uuid(one)])
    }

    // MARK: - Positions

    @Test("History is fetched after a transaction, a token or a time")
    func positions() throws {
        let store = try Self.makeStore()
        let coordinator = store.container.persistentStoreCoordinator
        let start = try #require(try coordinator.currentPersistentHistoryToken(fromStores: nil))
        for _ in 0..<3 {
            _ = insert("Tag", store.context)
            try store.context.save()
        }
        let all = try history(store)
        #expect(try history(store, .fetchHistory(after: start)).map(\.transactionNumber) == [1, 2, 3])
        #expect(try history(store, .fetchHistory(after: all[0])).map(\.transactionNumber) == [2, 3])
        #expect(try history(store, .fetchHistory(after: all[1].token)).map(\.transactionNumber) == [3])
        #expect(try history(store, .fetchHistory(after: all[1].timestamp)).map(\.transactionNumber) == [3])
        #expect(try history(store, .fetchHistory(after: all[1].timestamp))[0].changes?.count == 1)
        let end = try #require(try coordinator.currentPersistentHistoryToken())
        #expect(end == all[2].token)
        let kept = try JSONDecoder().decode(PersistentHistoryToken.self, from: try JSONEncoder().encode(end))
        #expect(kept == end)
        #expect(try history(store, .fetchHistory(after: kept)).isEmpty)
    }

    @Test("A deletion removes the transactions before a position, and a token from before it has expired")
    func deletion() throws {
        let store = try Self.makeStore()
        for _ in 0..<4 {
            _ = insert("Tag", store.context)
            try store.context.save()
        }
        let all = try history(store)
        let result = try store.context.execute(PersistentHistoryChangeRequest.deleteHistory(before: all[1]))
        #expect(result.count == 1 && result.transactions.isEmpty)
        #expect(try history(store).map(\.transactionNumber) == [2, 3, 4])
        #expect(try store.sql("SELECT ZTRANSACTIONID FROM ACHANGE") == ["2", "3", "4"])
        #expect(try history(store, .fetchHistory(after: all[0].token)).count == 3)
        try store.context.execute(PersistentHistoryChangeRequest.deleteHistory(before: all[3].timestamp))
        #expect(try history(store).map(\.transactionNumber) == [4])
        let error = #expect(throws: StoreError.self) { try history(store, .fetchHistory(after: all[0].token)) }
        #expect(error?.code == .historyTokenExpired)
        #expect(
            error?.message
                == "Reading the history of '\(store.url.path)' after transaction 1 is refused because later transactions were deleted; fetch the objects anew, and continue from currentPersistentHistoryToken(fromStores:)."
        )
        try store.context.execute(
            PersistentHistoryChangeRequest.deleteHistory(before: nil as PersistentHistoryToken?))
        try store.context.execute(PersistentHistoryChangeRequest.deleteHistory(before: Date.distantFuture))
        #expect(try history(store).isEmpty)
        #expect(try history(store, .fetchHistory(after: all[3].token)).isEmpty)
        #expect(throws: StoreError.self) { try history(store, .fetchHistory(after: all[2].token)) }
    }

    @Test("A fetch request selects transactions or changes by a predicate")
    func predicates() throws {
        let store = try Self.makeStore()
        for (author, entity) in [("app", "Tag"), ("extension", "Item"), ("app", "Item")] {
            store.context.transactionAuthor = author
            _ = insert(entity, store.context)
            _ = insert("Category", store.context)
            try store.context.save()
        }
        func fetch(_ base: PersistentHistoryFetchRequest, _ predicate: FetchPredicate?, limit: Int = 0) throws
            -> [String]
        {
            var request = base
            request.predicate = predicate
            request.fetchLimit = limit
            return try history(store, .fetchHistory(withFetch: request)).map {
                "\($0.transactionNumber): \(($0.changes ?? []).map(\.changedObjectID.entityName).joined(separator: " "))"
            }
        }
        let transactions = PersistentHistoryTransaction.fetchRequest
        let changes = PersistentHistoryChange.fetchRequest
        #expect(try fetch(transactions, PropertyPath("author") != "app") == ["2: Category Item"])
        #expect(
            try fetch(transactions, try FetchPredicate(format: "author IN %@", ["app", "x"]), limit: 1) == [
                "1: Category Tag"
            ])
        #expect(
            try fetch(transactions, try FetchPredicate(format: "author BEGINSWITH[c] 'EXT' OR transactionNumber > 2"))
                == ["2: Category Item", "3: Category Item"])
        #expect(try fetch(transactions, FetchPredicate.isNotNil("contextName")).isEmpty)
        #expect(try fetch(changes, try FetchPredicate(format: "changedEntity == 'Item'")) == ["2: Item", "3: Item"])
        let id = try #require(try history(store)[0].changes?.last?.changedObjectID)
        #expect(try fetch(changes, .comparison("changedObjectID", is: id)) == ["1: Tag"])
        #expect(try fetch(changes, nil, limit: 3) == ["1: Category Tag", "2: Category"])
        #expect(
            performing { _ = try fetch(transactions, PropertyPath("writer") == "x") }
                == "Fetching history: there is no key 'writer'; use author, contextName, bundleID, processID, timestamp or transactionNumber."
        )
        #expect(
            performing { _ = try fetch(transactions, .comparison(.keyPath("author"), .equalTo, .keyPath("processID"))) }
                == "Fetching history: 'author == processID' does not compare a key with a constant; write the key on the left and a value on the right."
        )
    }

    @Test("A result has what the request asks for")
    func resultTypes() throws {
        let store = try Self.makeStore()
        let tag = insert("Tag", store.context)
        try store.context.save()
        tag["label"] = "x"
        try store.context.save()
        func result(_ type: PersistentHistoryChangeRequest.ResultType) throws -> PersistentHistoryResult {
            var request = PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
            request.resultType = type
            return try store.context.execute(request)
        }
        #expect(try result(.transactionsAndChanges).transactions.map { $0.changes?.count } == [1, 1])
        #expect(try result(.transactionsOnly).transactions.map { $0.changes?.count } == [nil, nil])
        #expect(try result(.changesOnly).changes.map(\.changeType) == [.insert, .update])
        #expect(try result(.objectIDs).objectIDs == [tag.objectID])
        #expect(try result(.count).count == 2)
        #expect(try result(.statusOnly).transactions.isEmpty)
    }

    // MARK: - Several contexts, programs and stores

    @Test("A context merges the transactions of another program")
    func merging() throws {
        let store = try Self.makeStore()
        let tag = insert("Tag", store.context, ["label": "old"])
        let gone = insert("Tag", store.context)
        try store.context.save()
        let token = try store.container.persistentStoreCoordinator.currentPersistentHistoryToken()
        let other = try PersistentContainer(
            name: "Other", managedObjectModel: store.container.managedObjectModel,
            storeDescription: store.container.persistentStoreDescription)
        let context = other.newBackgroundContext()
        context.transactionAuthor = "other"
        let tags = try context.fetch(
            FetchRequest<ManagedObject>(entityName: "Tag", sortDescriptors: [.ascending("label")]))
        tags.last?["label"] = "new"
        tags.first.map { context.delete($0) }
        let new = insert("Tag", context, ["label": "added"])
        try context.save()
        #expect(tag["label"] as? String == "old")
        for transaction in try history(store, .fetchHistory(after: token)) {
            store.context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
        }
        #expect(tag["label"] as? String == "new")
        #expect(store.context.registeredObject(for: gone.objectID) == nil)
        let url = new.objectID.uriRepresentation()
        let id = try #require(store.container.persistentStoreCoordinator.managedObjectID(forURIRepresentation: url))
        #expect(try store.context.existingObject(with: id)["label"] as? String == "added")
        context.reset()
    }

    @Test("A save that fails leaves nothing in the history, and the next one writes its names again")
    func failures() throws {
        let store = try Self.makeStore()
        let code = UUID()
        _ = insert("Item", store.context, ["code": code])
        let other = store.container.newBackgroundContext()
        other.transactionAuthor = "other"
        _ = insert("Item", other, ["code": code, "name": "Milk"])
        try store.context.save()
        #expect(throws: StoreError.self) { try other.save() }
        #expect(try history(store).count == 1)
        other.mergePolicy = .mergeByPropertyObjectTrump
        try other.save()
        #expect(try history(store).map(\.author) == [nil, "other"])
        #expect(try history(store).last?.changes?.map(\.updatedProperties) == [["name"]])
    }

    @Test("The save of a child is recorded when its parent saves")
    func children() throws {
        let store = try Self.makeStore()
        store.context.transactionAuthor = "parent"
        let child = ManagedObjectContext(parent: store.context)
        _ = insert("Tag", child)
        try child.save()
        #expect(try history(store).isEmpty)
        try store.context.save()
        #expect(try history(store).map(\.author) == ["parent"])
        child.reset()
    }

    @Test("Each store has its own history, and a token has a position in each")
    func severalStores() throws {
        let folder = try TestStore.makeFolder()
        let descriptions = ["a", "b", "c"].map { name in
            var description = PersistentStoreDescription(url: folder.appendingPathComponent("\(name).sqlite"))
            description.tracksPersistentHistory = name != "c"
            return description
        }
        let container = try PersistentContainer(
            name: "Test", managedObjectModel: ManagedObjectModel(entities: Self.entities),
            storeDescriptions: descriptions)
        let context = container.newBackgroundContext()
        let coordinator = container.persistentStoreCoordinator
        for store in coordinator.persistentStores {
            try context.assign(insert("Tag", context), to: store)
        }
        try context.save()
        let all = try context.execute(
            PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
        )
        .transactions
        #expect(all.map(\.storeID) == coordinator.persistentStores.prefix(2).map(\.identifier))
        let token = try coordinator.currentPersistentHistoryToken()
        #expect(try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: token)).transactions.isEmpty)
        var one = PersistentHistoryChangeRequest.fetchHistory(after: all[0])
        #expect(try context.execute(one).transactions.map(\.storeID) == [all[1].storeID])
        one.affectedStores = [coordinator.persistentStores[0]]
        #expect(try context.execute(one).transactions.isEmpty)
        context.reset()
    }

    @Test("Stores of every type can track their history", arguments: [PersistentStore.StoreType.binary, .inMemory])
    func types(_ type: PersistentStore.StoreType) throws {
        let url = try TestStore.makeFolder().appendingPathComponent("Store")
        var description = PersistentStoreDescription(url: url, type: type)
        description.tracksPersistentHistory = true
        func open() throws -> PersistentContainer {
            try PersistentContainer(
                name: "Test", managedObjectModel: ManagedObjectModel(entities: Self.entities),
                storeDescription: description)
        }
        let context = try open().newBackgroundContext()
        _ = insert("Tag", context)
        try context.save()
        let request = PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
        #expect(try context.execute(request).transactions.count == 1)
        if type == .binary {
            #expect(try open().newBackgroundContext().execute(request).transactions.count == 1)
        }
        context.reset()
    }

    // MARK: - Opening

    private func reopen(
        _ store: TestStore, _ entities: [EntityDescription] = entities,
        _ change: (inout PersistentStoreDescription) -> Void
    ) throws -> PersistentContainer {
        var description = PersistentStoreDescription(url: store.url)
        change(&description)
        return try PersistentContainer(
            name: "Test", managedObjectModel: ManagedObjectModel(entities: entities), storeDescription: description)
    }

    @Test("A store with a history refuses saves that would be missing there, unless the program allows it")
    func untracked() throws {
        let store = try Self.makeStore()
        _ = insert("Tag", store.context)
        try store.context.save()
        let sentence =
            "Saving in '\(store.url.path)' is refused because the store keeps a history of its changes (table ATRANSACTION), in which this one would be missing; set tracksPersistentHistory, or ignoresPersistentHistory if nothing reads the history."
        let context = try reopen(store) { _ in }.newBackgroundContext()
        _ = insert("Tag", context)
        #expect(performing { try context.save() } == sentence)
        #expect(
            performing { try context.execute(BatchInsertRequest(entityName: "Tag", objects: [["label": "x"]])) }
                == sentence)
        let ignoring = try reopen(store) { $0.ignoresPersistentHistory = true }.newBackgroundContext()
        _ = insert("Tag", ignoring)
        try ignoring.save()
        #expect(try changes(store).count == 1)
    }

    @Test("A store that is opened read-only shows its history, and begins none")
    func readOnly() throws {
        let store = try Self.makeStore()
        _ = insert("Tag", store.context)
        try store.context.save()
        let request = PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
        let reader = try reopen(store) { ($0.tracksPersistentHistory, $0.isReadOnly) = (true, true) }
        #expect(try reader.newBackgroundContext().execute(request).transactions.count == 1)
        #expect(
            performing {
                try reader.newBackgroundContext().execute(PersistentHistoryChangeRequest.deleteHistory(before: Date()))
            }.contains("because the store was opened read-only"))
        let plain = try TestStore(Self.entities, classes: [])
        let empty = try reopen(plain) { ($0.tracksPersistentHistory, $0.isReadOnly) = (true, true) }
        #expect(
            performing { try empty.newBackgroundContext().execute(request) }
                == "'\(plain.url.path)' has no history, and none is begun because it was opened read-only; open it writable once."
        )
        #expect(try empty.persistentStoreCoordinator.currentPersistentHistoryToken() == nil)
    }

    @Test("A history is begun in a store that had none, and gets columns for newly preserved attributes")
    func begun() throws {
        let plain = try TestStore(Self.entities, classes: [])
        _ = insert("Tag", plain.context)
        try plain.context.save()
        var entities = Self.entities
        entities[2].attributes[0].preservesValueInHistoryOnDeletion = true
        entities[0].attributes[1].preservesValueInHistoryOnDeletion = true
        let context = try reopen(plain, entities) { $0.tracksPersistentHistory = true }.newBackgroundContext()
        let tag = try context.fetch(FetchRequest<ManagedObject>(entityName: "Tag"))[0]
        tag["label"] = "x"
        try context.save()
        context.delete(tag)
        try context.save()
        let all = try context.execute(
            PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
        )
        .transactions
        #expect(all.map { $0.changes?.map(\.changeType) } == [[.update], [.delete]])
        #expect(all[1].changes?[0].tombstone == ["label": "x"])
        #expect(
            try plain.sql("SELECT name FROM pragma_table_info('ACHANGE') WHERE name LIKE 'ZTOMB%'")
                == ["ZTOMBSTONE0", "ZTOMBSTONE1", "ZTOMBSTONE2"])
        context.reset()
    }
}
