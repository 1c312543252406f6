import FaultlineModel
import FaultlineStore
import FaultlineTrace
import Foundation
import Testing

@Suite("A store contains the entities of its configuration")
struct ConfigurationTests {
    private static let configurations = [
        ConfigurationDescription("Food", entities: ["Item", "Category", "Section", "Tag"]),
        ConfigurationDescription("Notes", entities: ["Note"]),
        ConfigurationDescription("Broken", entities: ["Item"]),
    ]
    private static let note = EntityDescription("Note", attributes: [AttributeDescription("text", .string)])

    private func makeStores(_ names: [String?], isRecording: Bool = false) throws -> SeveralStores {
        try SeveralStores(
            names.map { _ in .sqlite }, entities: [Self.note] + Groceries.entities(),
            configurations: Self.configurations, isRecording: isRecording
        ) { $1.configuration = names[$0] }
    }

    @Test("Objects are saved to and fetched from the store whose configuration has their entity")
    func routing() throws {
        let several = try makeStores(["Food", "Notes"], isRecording: true)
        #expect(several.stores.map(\.configurationName) == ["Food", "Notes"])
        #expect(several.container.persistentStoreDescriptions.map(\.configuration) == ["Food", "Notes"])
        let note = several.context.insertNewObject(forEntityName: "Note")
        note.setValue("Buy milk", forKey: "text")
        Item(context: several.context).name = "Milk"
        try several.context.save()
        #expect(try several.names(0) == ["Milk"])
        #expect(try SQLShell.run("SELECT ZTEXT FROM ZNOTE", several.url(1)) == ["Buy milk"])
        #expect(try several.context.count(for: FetchRequest<ManagedObject>(entityName: "Note")) == 1)
        let fetches = several.events.compactMap { event -> TraceEvent.Fetch? in
            guard case .fetch(let fetch) = event.detail else { return nil }
            return fetch
        }
        #expect(fetches.map(\.trips) == [1])
        let tables = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
        #expect(
            try SQLShell.run(tables, several.url(1)) == [
                "ZNOTE", "Z_FAULTLINE", "Z_METADATA", "Z_MODELCACHE", "Z_PRIMARYKEY",
            ])
        let kept = "SELECT Z_CONFIGURATION FROM Z_FAULTLINE"
        #expect(try SQLShell.run(kept, several.url(0)) + SQLShell.run(kept, several.url(1)) == ["Food", "Notes"])
        #expect(
            try SQLShell.run(tables, several.url(0)).filter { !$0.hasPrefix("Z_") } == [
                "ZCATEGORY", "ZITEM", "ZSECTION", "ZTAG",
            ])
        #expect(
            performing { try several.context.assign(Item(context: several.context), to: several.stores[1]) }.hasSuffix(
                "is refused because its configuration 'Notes' does not have the entity; add the entity to the configuration, or name another store."
            ))
    }

    @Test("An entity may be in several stores")
    func overlap() throws {
        let several = try makeStores([nil, "Food", "Notes"])
        try several.add("A", to: 0)
        try several.add("B", to: 1)
        try several.context.save()
        #expect(
            try several.context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")])).map(\.name) == [
                "A", "B",
            ])
        var request = FetchRequest<Item>()
        request.affectedStores = [several.stores[2]]
        #expect(
            performing { _ = try several.context.fetch(request) }
                == "Fetching Item: none of the affected stores has the entity; name a store of the coordinator whose configuration has it."
        )
    }

    @Test("A store reopens with its configuration even if the model has gained other entities")
    func reopened() throws {
        let several = try makeStores(["Food"])
        let item = try several.add("A", to: 0)
        let tag = Tag(context: several.context)
        item.tags.add(tag)
        try several.context.save()
        var description = several.container.persistentStoreDescription
        // The new entity is the first of all, which changes the numbers of the others.
        let first = EntityDescription("Aardvark", attributes: [AttributeDescription("name", .string)])
        let model = try ManagedObjectModel(
            entities: [first, Self.note] + Groceries.entities(), configurations: Self.configurations)
        let context = try PersistentContainer(
            name: "Test", managedObjectModel: model, storeDescription: description, classes: Groceries.classes
        ).newBackgroundContext()
        let read = try context.fetch(FetchRequest<Item>())[0]
        #expect(read.name == "A" && read.tags.count == 1)
        read.name = "B"
        Item(context: context).name = "C"
        try context.save()
        #expect(try several.names(0) == ["B", "C"])

        description.configuration = "Notes"
        #expect(
            performing {
                _ = try PersistentContainer(name: "Test", managedObjectModel: model, storeDescription: description)
            }
                == "The store '\(several.url(0).path)' was created with another model: the store lacks the entity 'Note', the store has an entity 'Category' that the configuration 'Notes' lacks, the store has an entity 'Item' that the configuration 'Notes' lacks, the store has an entity 'Section' that the configuration 'Notes' lacks, the store has an entity 'Tag' that the configuration 'Notes' lacks; open it with the model that it was created with, or migrate it."
        )
        description.configuration = nil
        #expect(
            performing {
                _ = try PersistentContainer(name: "Test", managedObjectModel: model, storeDescription: description)
            }.contains("the store lacks the entity 'Aardvark', the store lacks the entity 'Note'"))
    }

    @Test("A store rejects a model in which the configuration's entities have changed")
    func changed() throws {
        let several = try makeStores(["Notes"])
        let other = EntityDescription("Note", attributes: [AttributeDescription("body", .string)])
        let model = try ManagedObjectModel(
            entities: [other] + Groceries.entities(), configurations: Self.configurations)
        #expect(
            performing {
                var description = several.container.persistentStoreDescription
                description.shouldMigrateStoreAutomatically = false
                _ = try PersistentContainer(name: "Test", managedObjectModel: model, storeDescription: description)
            }
                == "The store '\(several.url(0).path)' was written with another version of the model; since then, the attribute 'Note.body' was added, the attribute 'Note.text' was removed; open it with the version that it was written with, or migrate it."
        )
    }

    @Test("A configuration with an entity includes its subentities")
    func inheritance() throws {
        let several = try SeveralStores(
            [.sqlite, .sqlite], entities: Household.entities + [Self.note],
            configurations: [
                ConfigurationDescription("People", entities: ["Animal", "Person", "Club"]),
                ConfigurationDescription("Notes", entities: ["Note"]),
            ], classes: Household.classes
        ) { $1.configuration = ["Notes", "People"][$0] }
        let dog = Dog(context: several.context)
        dog.name = "Rex"
        try several.context.save()
        #expect(dog.objectID.persistentStore == several.stores[1])
        let animals = try several.container.newBackgroundContext().fetch(FetchRequest<Animal>())
        #expect(animals.map { type(of: $0) == Dog.self } == [true])
        #expect(animals[0].name == "Rex")
    }

    @Test("Opening a store with an unknown or incomplete configuration throws an error that says why")
    func refusals() throws {
        func message(_ name: String) throws -> String {
            let folder = try TestStore.makeFolder()
            var description = PersistentStoreDescription(url: folder.appendingPathComponent("a.store"))
            description.configuration = name
            let model = try ManagedObjectModel(
                entities: [Self.note] + Groceries.entities(), configurations: Self.configurations)
            return performing {
                _ = try PersistentContainer(name: "Test", managedObjectModel: model, storeDescription: description)
            }.replacingOccurrences(of: folder.path, with: "")
        }
        #expect(
            try message("None")
                == "The store '/a.store' cannot be opened with the configuration 'None', which the model does not have (it has 'Food', 'Notes', 'Broken'); correct the name, or add it to the model."
        )
        #expect(
            try message("Broken")
                == "The store '/a.store' cannot be opened with the configuration 'Broken', because 'Item.category' refers to Category, which the configuration does not have, and a relationship cannot refer to another store; add the entity to the configuration, or use a fetched property."
        )
    }
}
