import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("A store that cannot be opened throws an error that says why")
struct OpeningTests {
    private let folder: URL
    private let model: ManagedObjectModel

    init() throws {
        folder = try TestStore.makeFolder()
        model = try ManagedObjectModel(entities: Groceries.entities())
    }

    private func open(_ name: String, isReadOnly: Bool = false, model: ManagedObjectModel? = nil) throws {
        var description = PersistentStoreDescription(url: folder.appendingPathComponent(name))
        description.isReadOnly = isReadOnly
        description.shouldMigrateStoreAutomatically = false
        _ = try PersistentContainer(
            name: "Test", managedObjectModel: model ?? self.model, storeDescription: description)
    }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    @Test("A new store contains its model, so a tool can read it from the file alone")
    func keptModel() throws {
        try open("Test.sqlite")
        let text = try SQLShell.run("SELECT Z_MODEL FROM Z_FAULTLINE", folder.appendingPathComponent("Test.sqlite"))
        #expect(text == [try model.contents()])
        #expect(
            try SQLShell.run(
                "SELECT Z_CONFIGURATION FROM Z_FAULTLINE", self.folder.appendingPathComponent("Test.sqlite"))
                == [""])
        let folder = folder.appendingPathComponent("Kept.xcdatamodel")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(text[0].utf8).write(to: folder.appendingPathComponent("contents"))
        #expect(try ManagedObjectModel(contentsOf: folder).versionHash == model.versionHash)
    }

    @Test func missingFolder() {
        #expect(
            performing { try open("no/Test.sqlite") }
                == "'\(path("no/Test.sqlite"))' cannot be opened because the folder '\(path("no"))' does not exist; create it first."
        )
    }

    @Test func folderInsteadOfFile() {
        #expect(
            performing {
                try FileManager.default.createDirectory(
                    at: folder.appendingPathComponent("Folder"), withIntermediateDirectories: true)
                try open("Folder")
            } == "'\(path("Folder"))' cannot be opened because it is a folder; name a file.")
    }

    @Test func noDatabase() throws {
        try Data("This is a text, and not a short one, since SQLite looks at the first hundred bytes of a file.\n".utf8)
            .write(to: folder.appendingPathComponent("Text.sqlite"))
        #expect(
            performing { try open("Text.sqlite") }
                == "'\(path("Text.sqlite"))' is not an SQLite database; name another file, or move this one away.")
    }

    @Test func noStore() throws {
        try SQLShell.run("CREATE TABLE player (id INTEGER)", folder.appendingPathComponent("Other.sqlite"))
        #expect(
            performing { try open("Other.sqlite") }
                == "'\(path("Other.sqlite"))' is an SQLite database but not a store: it has tables, but none of them is Z_METADATA; name another file."
        )
    }

    @Test func otherModel() throws {
        try open("Test.sqlite")
        var entities = Groceries.entities()
        entities[0].attributes.append(AttributeDescription("brand", .string))
        let more = try ManagedObjectModel(entities: entities)
        #expect(
            performing { try open("Test.sqlite", model: more) }
                == "The store '\(path("Test.sqlite"))' was written with another version of the model; since then, the attribute 'Item.brand' was added; open it with the version that it was written with, or migrate it."
        )
        entities[0].attributes.removeLast()
        entities[0].relationships.removeLast()
        let fewer = try ManagedObjectModel(entities: Array(entities.dropLast()))
        #expect(
            performing { try open("Test.sqlite", model: fewer) }
                == "The store '\(path("Test.sqlite"))' was written with another version of the model; since then, the relationship 'Item.tags' was removed, the entity 'Tag' was removed; open it with the version that it was written with, or migrate it."
        )
    }

    @Test("A property that became required is a difference, although the tables are equal")
    func requiredProperty() throws {
        try open("Test.sqlite")
        var entities = Groceries.entities()
        let index = try #require(entities[0].attributes.firstIndex { $0.isOptional })
        entities[0].attributes[index].isOptional = false
        let name = entities[0].attributes[index].name
        let strict = try ManagedObjectModel(entities: entities)
        #expect(
            performing { try open("Test.sqlite", model: strict) }
                == "The store '\(path("Test.sqlite"))' was written with another version of the model; since then, 'Item.\(name)' became required; open it with the version that it was written with, or migrate it."
        )
        let url = folder.appendingPathComponent("Test.sqlite")
        #expect(try !PersistentStoreCoordinator.fits(strict, storeAt: url))
        #expect(try PersistentStoreCoordinator.fits(model, storeAt: url))
    }

    @Test("The metadata has Core Data's keys for the version")
    func versionMetadata() throws {
        try open("Test.sqlite")
        let metadata = try PersistentStoreCoordinator.metadataForPersistentStore(
            type: .sqlite, at: folder.appendingPathComponent("Test.sqlite"))
        #expect(metadata["NSStoreModelVersionHashes"] as? [String: Data] == model.entityVersionHashesByName)
        #expect(metadata["NSStoreModelVersionHashesVersion"] as? Int == 3)
        #expect(metadata["NSStoreModelVersionChecksumKey"] as? String == model.versionChecksum)
        #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    }

    @Test("An unsupported model is rejected before the store is created")
    func unsupportedModels() throws {
        func message(_ entity: EntityDescription) -> String {
            let text = performing {
                try open("New.sqlite", model: try ManagedObjectModel(entities: [entity]))
            }
            #expect(!FileManager.default.fileExists(atPath: path("New.sqlite")))
            return text
        }
        #expect(
            message(EntityDescription("A", attributes: [AttributeDescription("x", .composite)]))
                == "The store '\(path("New.sqlite"))' does not support 'A.x', a composite attribute; make its parts separate attributes in the model."
        )
    }

    @Test func unknownClass() throws {
        #expect(
            performing {
                _ = try PersistentContainer(
                    name: "Test", managedObjectModel: model, storeURL: folder.appendingPathComponent("Test.sqlite"),
                    classes: [Everything.self])
            }
                == "The class Everything is for the entity 'Everything', which the model does not have; correct its entityName."
        )
    }

    @Test("A read-only store can be read, and throws when it is saved")
    func readOnly() throws {
        #expect(
            performing { try open("New.sqlite", isReadOnly: true) }
                == "'\(path("New.sqlite"))' cannot be opened; check that this user may read and write it and its folder."
        )
        try open("Test.sqlite")
        var description = PersistentStoreDescription(url: folder.appendingPathComponent("Test.sqlite"))
        description.isReadOnly = true
        let container = try PersistentContainer(
            name: "Test", managedObjectModel: model, storeDescription: description, classes: Groceries.classes)
        let context = container.newBackgroundContext()
        #expect(try context.count(for: FetchRequest<Item>()) == 0)
        Item(context: context).name = "x"
        #expect(
            performing { try context.save() }
                == "Saving in '\(path("Test.sqlite"))' is refused because the store was opened read-only; open it without isReadOnly, or assign new objects to another store."
        )
    }

    @Test("A new store uses WAL and incremental vacuum, and has version 1 and a UUID")
    func settings() throws {
        try open("Test.sqlite")
        let url = folder.appendingPathComponent("Test.sqlite")
        #expect(try SQLShell.run("PRAGMA journal_mode; PRAGMA auto_vacuum", url) == ["wal", "2"])
        #expect(try SQLShell.run("SELECT Z_VERSION, length(Z_UUID) FROM Z_METADATA", url) == ["1|36"])
    }
}
