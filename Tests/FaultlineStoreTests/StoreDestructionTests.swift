import FaultlineModel
import FaultlineStore
import Foundation
import SharedData
import Testing

@Suite("A store is destroyed with everything that belongs to it, and nothing else is")
struct StoreDestructionTests {
    private static let entities = [
        EntityDescription(
            "Photo",
            attributes: [
                AttributeDescription("name", .string),
                AttributeDescription("image", .binary, allowsExternalBinaryDataStorage: true),
            ])
    ]

    private func open(_ url: URL, type: PersistentStore.StoreType = .sqlite) throws -> PersistentContainer {
        try PersistentContainer(
            name: "Test", managedObjectModel: ManagedObjectModel(entities: Self.entities),
            storeDescription: PersistentStoreDescription(url: url, type: type))
    }

    private func fill(_ container: PersistentContainer, images: Int = 1) throws {
        let context = container.newBackgroundContext()
        for number in 0..<images {
            let photo = context.insertNewObject(forEntityName: "Photo")
            photo["name"] = "Photo \(number)"
            photo["image"] = Data(repeating: UInt8(number), count: 200_000)
        }
        try context.save()
        context.reset()
    }

    private func files(_ folder: URL) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
    }

    @Test("An open store is closed and emptied, with its large values, and can be created again")
    func open() throws {
        let folder = try TestStore.makeFolder()
        let url = folder.appendingPathComponent("Photos.sqlite")
        let container = try open(url)
        try fill(container, images: 3)
        #expect(try files(folder).filter { UUID(uuidString: ($0 as NSString).lastPathComponent) != nil }.count == 3)
        let coordinator = container.persistentStoreCoordinator
        try coordinator.destroyPersistentStore(at: url)
        #expect(coordinator.persistentStores.isEmpty)
        #expect(try files(folder) == ["Photos.sqlite"])
        #expect(try SQLShell.run("SELECT name FROM sqlite_master", url).isEmpty)
        try coordinator.addPersistentStore(with: PersistentStoreDescription(url: url))
        let context = container.newBackgroundContext()
        #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Photo")) == 0)
        try fill(container)
        #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Photo")) == 1)
    }

    @Test("Another connection finds no tables, and reads nothing that was destroyed")
    func others() throws {
        let url = try TestStore.makeFolder().appendingPathComponent("Photos.sqlite")
        let other = try open(url)
        try fill(other)
        let coordinator = try open(try TestStore.makeFolder().appendingPathComponent("Other.sqlite"))
            .persistentStoreCoordinator
        try coordinator.destroyPersistentStore(at: url)
        let context = other.newBackgroundContext()
        #expect(
            performing { _ = try context.fetch(FetchRequest<ManagedObject>(entityName: "Photo")) }.contains(
                "no such table: ZPHOTO"))
        _ = try open(url)
        #expect(try SQLShell.run("PRAGMA integrity_check", url) == ["ok"])
    }

    @Test("A store that another connection is writing to is not destroyed")
    func busy() throws {
        let url = try TestStore.makeFolder().appendingPathComponent("Photos.sqlite")
        let other = try open(url)
        try fill(other)
        try other.persistentStoreCoordinator.run("BEGIN EXCLUSIVE")
        let coordinator = try open(try TestStore.makeFolder().appendingPathComponent("Other.sqlite"))
            .persistentStoreCoordinator
        let error = #expect(throws: StoreError.self) { try coordinator.destroyPersistentStore(at: url) }
        #expect(error?.code == .busy)
        try other.persistentStoreCoordinator.run("ROLLBACK")
        #expect(try other.newBackgroundContext().count(for: FetchRequest<ManagedObject>(entityName: "Photo")) == 1)
    }

    @Test("A file that is no store is refused and stays as it is")
    func refusals() throws {
        let folder = try TestStore.makeFolder()
        let coordinator = try PersistentStoreCoordinator(
            managedObjectModel: ManagedObjectModel(entities: Self.entities))
        let text = folder.appendingPathComponent("notes.txt")
        try Data("These are notes, more than enough of them to look like a file of some length.".utf8).write(to: text)
        #expect(
            performing { try coordinator.destroyPersistentStore(at: text) }
                == "'\(text.path)' is not an SQLite database; name another file, or move this one away.")
        let database = folder.appendingPathComponent("other.sqlite")
        try SQLShell.run("CREATE TABLE notes (text); INSERT INTO notes VALUES ('x')", database)
        #expect(
            performing { try coordinator.destroyPersistentStore(at: database) }
                == "'\(database.path)' is an SQLite database but not a store: it has tables, but none of them is Z_METADATA; name another file."
        )
        #expect(try SQLShell.run("SELECT text FROM notes", database) == ["x"])
        #expect(
            performing { try coordinator.destroyPersistentStore(at: database, type: .binary) }
                == "'\(database.path)' is an SQLite database but not a store: it has tables, but none of them is Z_METADATA; name another file."
        )
        #expect(
            performing { try coordinator.destroyPersistentStore(at: folder) }
                == "'\(folder.path)' cannot be opened because it is a folder; name a file.")
        #expect(
            performing { try coordinator.destroyPersistentStore(at: database, type: .inMemory) }
                == "A store in memory has no file to destroy; remove it from its coordinator, which frees its memory.")
        let missing = folder.appendingPathComponent("missing.sqlite")
        try coordinator.destroyPersistentStore(at: missing)
        #expect(try files(folder) == ["notes.txt", "other.sqlite"])
    }

    @Test("The file of a binary store is removed")
    func binary() throws {
        let folder = try TestStore.makeFolder()
        let url = folder.appendingPathComponent("Photos.store")
        let container = try open(url, type: .binary)
        try fill(container)
        #expect(
            performing { try container.persistentStoreCoordinator.destroyPersistentStore(at: url) }
                == "'\(url.path)' is open as a store of type Binary, not SQLite; pass that type.")
        try container.persistentStoreCoordinator.destroyPersistentStore(at: url, type: .binary)
        #expect(try files(folder).isEmpty && container.persistentStoreCoordinator.persistentStores.isEmpty)
    }

    @Test("Large values of another store in the same folder stay")
    func sharedFolder() throws {
        let folder = try TestStore.makeFolder()
        let (first, second) = (
            folder.appendingPathComponent("Photos.sqlite"), folder.appendingPathComponent("Photos.db")
        )
        let (one, two) = (try open(first), try open(second))
        try fill(one, images: 2)
        try fill(two, images: 1)
        try one.persistentStoreCoordinator.destroyPersistentStore(at: first)
        let context = two.newBackgroundContext()
        let photos = try context.fetch(FetchRequest<ManagedObject>(entityName: "Photo"))
        #expect((photos[0]["image"] as? Data)?.count == 200_000)
        try two.persistentStoreCoordinator.destroyPersistentStore(at: second)
        #expect(try files(folder) == ["Photos.db", "Photos.sqlite"])
    }

    @Test(
        "A store that Core Data wrote is destroyed, too",
        .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func coreData() throws {
        let url = try CoreDataFixture.sample1.copy()
        let coordinator = try PersistentStoreCoordinator(
            managedObjectModel: ManagedObjectModel(entities: Self.entities))
        try coordinator.destroyPersistentStore(at: url)
        #expect(try SQLShell.run("SELECT name FROM sqlite_master", url).isEmpty)
        // Nothing is left to destroy.
        try coordinator.destroyPersistentStore(at: url)
        try coordinator.addPersistentStore(with: PersistentStoreDescription(url: url))
    }
}
