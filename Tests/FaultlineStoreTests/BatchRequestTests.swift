import FaultlineModel
import FaultlineStore
import FaultlineTrace
import Foundation
import Testing

@Suite("Batch requests run inside the store")
struct BatchRequestTests {
    private func names(_ store: TestStore) throws -> [String] {
        try store.container.newBackgroundContext().fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")]))
            .map(\.name)
    }

    @Test("A batch update changes the selected rows, with values computed from their own attributes")
    func updates() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 4, categories: 2)
        let before = store.statements().count
        let request = FetchRequest<Item>(predicate: PropertyPath("category.name") == "Category 1")
        let result = try store.context.execute(
            BatchUpdateRequest(
                fetchRequest: request,
                propertiesToUpdate: [
                    "price": .keyPath("price") * .value(2), "name": .function(.uppercase, .keyPath("name")),
                    "amount": .keyPath("price") + .value(0.75),
                ]))
        #expect(result.count == 2)
        #expect(
            Array(store.statements()[before...]) == [
                "SELECT 0, t0.Z_PK FROM ZITEM t0 JOIN ZCATEGORY t1 ON t0.ZCATEGORY = t1.Z_PK WHERE  t1.ZNAME = ?"
            ])
        #expect(
            store.statements(ofType: .write).suffix(1) == [
                "UPDATE OR FAIL ZITEM AS t0 SET ZAMOUNT = CAST(( t0.ZPRICE + ?) AS INTEGER), ZNAME = FaultlineUppercase( t0.ZNAME), ZPRICE = ( t0.ZPRICE * ?), Z_OPT = Z_OPT + 1 WHERE  t0.Z_PK IN (SELECT * FROM _Z_intarray0)"
            ])
        #expect(try names(store) == ["ITEM 1", "ITEM 3", "Item 0", "Item 2"])
        let item = try store.context.fetch(FetchRequest<Item>(predicate: PropertyPath("name") == "ITEM 3"))[0]
        #expect(item.price == 6 && item.amount == 3)
        guard case .save(let save) = try #require(store.events.last { $0.kind == .save }).detail else {
            Issue.record("The event is no save.")
            return
        }
        #expect(save.updated == 2 && save.entities.map(\.updated) == [2])
        #expect(save.isBatchRequest)
    }

    @Test("A batch update increments row versions, so later saves detect the conflict")
    func versions() throws {
        let store = try TestStore()
        try store.fill(items: 1)
        let item = try store.context.fetch(FetchRequest<Item>())[0]
        item.name = "Mine"
        let other = store.container.newBackgroundContext()
        try other.execute(
            BatchUpdateRequest(fetchRequest: FetchRequest<Item>(), propertiesToUpdate: ["price": .null]))
        let error = #expect(throws: StoreError.self) { try store.context.save() }
        #expect(error?.code == .conflict)
    }

    @Test("A batch delete removes the selected rows and clears references to them")
    func deletions() throws {
        let store = try TestStore()
        try store.fill(items: 4, categories: 2, tags: 2)
        let kept = try store.context.fetch(
            FetchRequest<Category>(sortDescriptors: [.ascending("name")], relationshipKeyPathsForPrefetching: ["items"])
        )[0]
        var request = FetchRequest<Item>(predicate: PropertyPath("price") >= 1)
        request.fetchLimit = 2
        request.sortDescriptors = [.ascending("price")]
        let result = try store.context.execute(BatchDeleteRequest(fetchRequest: request))
        #expect(result.count == 2 && result.objectIDs.count == 2)
        #expect(try names(store) == ["Item 0", "Item 3"])
        #expect(try store.sql("SELECT COUNT(*) FROM Z_2TAGS") == ["2"])
        store.context.refreshAllObjects()
        #expect(kept.items.map(\.name) == ["Item 0"])
        let section = Section(context: store.context)
        section.category = kept
        try store.context.save()
        try store.context.execute(BatchDeleteRequest(objectIDs: [kept.objectID]))
        let fresh = store.container.newBackgroundContext()
        #expect(try fresh.fetch(FetchRequest<Section>())[0].category == nil)
        #expect(try fresh.fetch(FetchRequest<Item>(predicate: PropertyPath("category") == nil)).count == 1)
        #expect(try store.context.execute(BatchDeleteRequest(objectIDs: [])).count == 0)
    }

    @Test("A batch delete applies the cascade and deny rules")
    func deleteRules() throws {
        let cascading = try TestStore(Groceries.entities(itemsRule: .cascade), classes: Groceries.classes)
        try cascading.fill(items: 4, categories: 2)
        let request = FetchRequest<Category>(predicate: PropertyPath("name") == "Category 0")
        let result = try cascading.context.execute(BatchDeleteRequest(fetchRequest: request))
        #expect(result.count == 1)
        #expect(result.objectIDs.map(\.entityName) == ["Category", "Item", "Item"])
        #expect(try names(cascading) == ["Item 1", "Item 3"])

        let denying = try TestStore(Groceries.entities(itemsRule: .deny), classes: Groceries.classes)
        try denying.fill(items: 4, categories: 2)
        #expect(
            performing { try denying.context.execute(BatchDeleteRequest(fetchRequest: request)) }
                == "Deleting Category: the delete rule of 'items' denies the deletion while related objects exist (2); delete those first."
        )
        #expect(try names(denying).count == 4)
        #expect(try denying.context.count(for: FetchRequest<Category>()) == 2)
    }

    @Test("A batch delete removes rows of several entities of one inheritance tree")
    func trees() throws {
        let store = try Household.makeStore()
        for name in ["a", "b"] { Dog(context: store.context).name = name }
        Cat(context: store.context).name = "c"
        try store.context.save()
        let result = try store.context.execute(
            BatchDeleteRequest(fetchRequest: FetchRequest<Animal>(predicate: PropertyPath("name") > "a")))
        #expect(result.objectIDs.map(\.entityName).sorted() == ["Cat", "Dog"])
        #expect(try store.container.newBackgroundContext().fetch(FetchRequest<Animal>()).map(\.name) == ["a"])
    }

    @Test("A batch insert creates rows with default values, from an array or one dictionary at a time")
    func insertions() throws {
        let store = try TestStore()
        try store.fill(items: 1)
        let result = try store.context.execute(
            BatchInsertRequest(entityName: "Item", objects: [["name": "a", "price": 3], ["name": "b", "amount": 7]]))
        #expect(result.count == 2 && !result.objectIDs[0].isTemporaryID)
        var left = 3
        try store.context.execute(
            BatchInsertRequest(entityName: "Item") { dictionary in
                left -= 1
                dictionary["name"] = .string("c\(left)")
                return left < 0
            })
        #expect(try names(store) == ["Item 0", "a", "b", "c0", "c1", "c2"])
        let item = try store.context.existingObject(with: result.objectIDs[0])
        #expect(item["price"] as? Double == 3 && item["amount"] as? Int64 == 1)
        Item(context: store.context).name = "d"
        try store.context.save()
        #expect(try names(store).count == 7)
    }

    @Test("A violated uniqueness constraint fails the whole batch request")
    func constraints() throws {
        let store = try TestStore(
            [
                EntityDescription(
                    "Code", attributes: [AttributeDescription("code", .string)], uniquenessConstraints: [["code"]])
            ],
            classes: [])
        let request = { (codes: [String]) in
            BatchInsertRequest(entityName: "Code", objects: codes.map { ["code": .string($0)] })
        }
        #expect(try store.context.execute(request(["A", "B"])).count == 2)
        let stored = try store.context.fetch(
            FetchRequest<ManagedObject>(entityName: "Code", sortDescriptors: [.ascending("code")]))[0]
        let sentence =
            "Running a batch request in '\(store.url.path)' failed because values that must be unique already exist (UNIQUE constraint failed: ZCODE.ZCODE); omit them, or save objects with a merge policy that resolves the conflict."
        #expect(
            performing { try store.context.execute(request(["C", "A"])) }
                == "Inserting Code: 'code' must be unique, and Code \(stored.objectID) has the same value; omit the dictionary, or set the context's mergePolicy."
        )
        #expect(try store.sql("SELECT ZCODE FROM ZCODE ORDER BY 1") == ["A", "B"])
        let all = FetchRequest<ManagedObject>(entityName: "Code")
        #expect(
            performing {
                try store.context.execute(
                    BatchUpdateRequest(fetchRequest: all, propertiesToUpdate: ["code": .value("D")]))
            } == sentence)
        #expect(try store.sql("SELECT ZCODE FROM ZCODE ORDER BY 1") == ["A", "B"])
    }

    @Test("An invalid batch request throws an error and changes nothing")
    func errors() throws {
        let store = try TestStore()
        try store.fill(items: 2)
        func update(_ values: [String: FetchExpression]) -> String {
            performing {
                try store.context.execute(
                    BatchUpdateRequest(fetchRequest: FetchRequest<Item>(), propertiesToUpdate: values))
            }
        }
        #expect(update([:]) == "Updating Item: propertiesToUpdate is empty; add an attribute with its new value.")
        #expect(
            update(["nmae": .null])
                == "Updating Item: 'nmae' is not a stored attribute of Item and cannot be updated; correct the name.")
        #expect(
            update(["price": .value("x")])
                == "Updating Item: 'price' of type Double cannot be set to \"x\"; pass a value of its type.")
        #expect(
            update(["price": .keyPath("name")])
                == "Updating Item: 'price' of type Double cannot be set to 'name', of type String; pass a value of its type."
        )
        #expect(
            update(["name": .keyPath("category.name")])
                == "Updating Item: an update can compute values only from the object's own attributes; remove the key paths through relationships."
        )
        let unknown = FetchRequest<Item>(predicate: PropertyPath("nmae") == "x")
        let problem = "Item: 'nmae' is not a valid key path because Item has no property 'nmae'; correct the key path."
        #expect(
            performing { try store.context.execute(BatchDeleteRequest(fetchRequest: unknown)) }
                == "Deleting \(problem)")
        #expect(
            performing {
                try store.context.execute(
                    BatchUpdateRequest(fetchRequest: unknown, propertiesToUpdate: ["name": .value("x")]))
            } == "Updating \(problem)")
        func insert(_ values: [String: AttributeValue]) -> String {
            performing {
                try store.context.execute(BatchInsertRequest(entityName: "Item", objects: [["name": "x"], values]))
            }
        }
        #expect(insert(["nmae": 3]) == "Inserting Item: it has no property 'nmae'; correct the name.")
        #expect(
            insert(["price": "x"])
                == "Inserting Item: 'price' of type Double cannot be set to \"x\"; pass a value of its type.")
        #expect(try names(store) == ["Item 0", "Item 1"])
        #expect(
            performing { try store.context.execute(BatchInsertRequest(entityName: "None", objects: [])) }
                == "Inserting None: the model has no such entity; correct the name, or add it to the model.")
    }
}
