import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import FaultlineTrace
import Foundation
import Testing

@Suite("Relationships are maintained at both ends")
struct RelationshipTests {
    @Test("Setting either end updates the other, and moves objects between owners")
    func toOne() throws {
        let store = try TestStore()
        let (fruit, bread) = (Category(context: store.context), Category(context: store.context))
        let (apple, pear) = (Item(context: store.context), Item(context: store.context))
        (apple.name, pear.name) = ("Apple", "Pear")
        apple.category = fruit
        fruit.items.add(pear)
        #expect(Array(fruit.items) == [apple, pear])
        #expect(pear.category === fruit)
        apple.category = bread
        #expect(Array(fruit.items) == [pear])
        #expect(Array(bread.items) == [apple])
        fruit.items.remove(pear)
        #expect(pear.category == nil)
        pear.category = bread
        try store.context.save()
        #expect(try store.sql("SELECT ZNAME, ZCATEGORY FROM ZITEM") == ["Apple|2", "Pear|2"])
    }

    @Test("Setting a one-to-one relationship clears the previous one")
    func oneToOne() throws {
        let store = try TestStore()
        let (first, second) = (Category(context: store.context), Category(context: store.context))
        let section = Section(context: store.context)
        first.section = section
        #expect(section.category === first)
        second.section = section
        #expect(section.category === second)
        #expect(first.section == nil)
        try store.context.save()
        #expect(try store.sql("SELECT ZSECTION FROM ZCATEGORY") == ["NULL", "1"])
        #expect(try store.sql("SELECT ZCATEGORY FROM ZSECTION") == ["2"])
    }

    @Test("Many-to-many pairs are rows of a join table, written once")
    func manyToMany() throws {
        let store = try TestStore()
        try store.fill(items: 3, tags: 1)
        #expect(
            try store.sql("SELECT Z_2TAGS, Z_4TAGS FROM (SELECT Z_2ITEMS AS Z_2TAGS, Z_4TAGS FROM Z_2TAGS)") == [
                "1|1", "2|1", "3|1",
            ])
        let tag = try store.context.fetch(FetchRequest<Tag>())[0]
        let items = try store.context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")]))
        #expect(Array(tag.items) == Array(items))
        #expect(Array(items[1].tags) == [tag])
        tag.items.remove(items[1])
        #expect(items[1].tags.isEmpty)
        try store.context.save()
        #expect(try store.sql("SELECT Z_2ITEMS FROM Z_2TAGS") == ["1", "3"])
        let other = store.container.newBackgroundContext()
        #expect(try other.fetch(FetchRequest<Tag>())[0].items.map(\.name) == ["Item 0", "Item 2"])
    }

    @Test("Setting one end does not load the other")
    func noLoading() throws {
        let store = try TestStore(isRecording: true)
        try store.fill(items: 5)
        let category = try store.context.fetch(FetchRequest<Category>())[0]
        let before = store.statements().count
        let item = Item(context: store.context)
        item.name = "New"
        item.category = category
        #expect(category.items.isFault)
        #expect(store.statements().count == before)
        #expect(category.items.count == 6)
        #expect(category.items.last === item)
        #expect(store.statements().count == before + 1)
        try store.context.save()
        #expect(try store.sql("SELECT COUNT(*) FROM ZITEM WHERE ZCATEGORY = 1") == ["6"])
    }

    @Test("Nullify clears the inverse, cascade deletes the objects, and no action leaves them as they are")
    func deleteRules() throws {
        for (rule, rest) in [(DeleteRule.nullify, ["NULL", "NULL"]), (.cascade, []), (.noAction, ["1", "1"])] {
            let store = try TestStore(Groceries.entities(itemsRule: rule))
            try store.fill(items: 2)
            store.context.delete(try store.context.fetch(FetchRequest<Category>())[0])
            try store.context.save()
            #expect(try store.sql("SELECT COUNT(*) FROM ZCATEGORY") == ["0"])
            #expect(try store.sql("SELECT ZCATEGORY FROM ZITEM") == rest, "\(rule)")
        }
    }

    @Test("Deny prevents the deletion until the related objects are deleted too")
    func denial() throws {
        let store = try TestStore(Groceries.entities(itemsRule: .deny))
        try store.fill(items: 2)
        let category = try store.context.fetch(FetchRequest<Category>())[0]
        store.context.delete(category)
        #expect(
            performing { try store.context.save() }
                == "Deleting Category \(category.objectID): the delete rule of 'items' denies the deletion while related objects exist (2); delete those first."
        )
        for item in try store.context.fetch(FetchRequest<Item>()) { store.context.delete(item) }
        try store.context.save()
        #expect(try store.sql("SELECT (SELECT COUNT(*) FROM ZITEM) + (SELECT COUNT(*) FROM ZCATEGORY)") == ["0"])
    }

    @Test("Deleting an object removes its join rows, and fetches exclude it before the save")
    func deletion() throws {
        let store = try TestStore()
        try store.fill(items: 2, tags: 1)
        let items = try store.context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")]))
        let tag = try store.context.fetch(FetchRequest<Tag>())[0]
        store.context.delete(items[0])
        #expect(tag.items.map(\.name) == ["Item 1"])
        #expect(try store.context.fetch(FetchRequest<Item>()).map(\.name) == ["Item 1"])
        try store.context.save()
        #expect(try store.sql("SELECT Z_2ITEMS FROM Z_2TAGS") == ["2"])
        #expect(try store.sql("SELECT Z_PK FROM ZITEM") == ["2"])
    }

    @Test("Subentities share a table, and relationships return objects of the right class")
    func inheritance() throws {
        let store = try TestStore(
            [
                EntityDescription(
                    "Medium", isAbstract: true, attributes: [AttributeDescription("title", .string)],
                    relationships: [RelationshipDescription("shelf", to: "Shelf", inverse: "media")]),
                EntityDescription("Book", parent: "Medium", attributes: [AttributeDescription("pages", .integer32)]),
                EntityDescription("Record", parent: "Medium", attributes: [AttributeDescription("minutes", .double)]),
                EntityDescription(
                    "Shelf",
                    relationships: [
                        RelationshipDescription("media", to: "Medium", inverse: "shelf", isToMany: true),
                        RelationshipDescription("best", to: "Medium", inverse: nil),
                    ]),
            ], classes: [])
        let shelf = store.context.insertNewObject(forEntityName: "Shelf")
        for (kind, title) in [("Book", "B"), ("Record", "R")] {
            let medium = store.context.insertNewObject(forEntityName: kind)
            medium["title"] = title
            medium["shelf"] = shelf
            if kind == "Record" {
                medium["minutes"] = 42.5
                shelf["best"] = medium
            }
        }
        try store.context.save()
        #expect(
            try store.sql("SELECT Z_PK, Z_ENT, ZPAGES, ZMINUTES, ZTITLE FROM ZMEDIUM") == [
                "1|2|NULL|NULL|B", "2|3|NULL|42.5|R",
            ])
        #expect(try store.sql("SELECT ZBEST, Z1_BEST FROM ZSHELF") == ["2|3"])
        #expect(
            try store.sql("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY") == [
                "1|Medium|0|2", "2|Book|1|0", "3|Record|1|0", "4|Shelf|0|1",
            ])

        let other = store.container.newBackgroundContext()
        let all = try other.fetch(
            FetchRequest<ManagedObject>(entityName: "Medium", sortDescriptors: [.ascending("title")]))
        #expect(all.map(\.entityName) == ["Book", "Record"])
        #expect(all[1]["minutes"] as? Double == 42.5)
        #expect(try other.fetch(FetchRequest<ManagedObject>(entityName: "Record")).map(\.entityName) == ["Record"])
        #expect(
            try other.count(for: FetchRequest<ManagedObject>(entityName: "Medium", includesSubentities: false)) == 0)
        let found = try other.fetch(FetchRequest<ManagedObject>(entityName: "Shelf"))[0]
        let best = try #require(found["best"] as? ManagedObject)
        #expect(best === all[1])
        store.context.reset()
        let fresh = try store.context.fetch(FetchRequest<ManagedObject>(entityName: "Shelf"))[0]
        #expect((fresh["best"] as? ManagedObject)?.entityName == "Record")
        #expect((fresh["media"] as? ToMany<ManagedObject>)?.map(\.entityName) == ["Book", "Record"])
    }
}
