import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("A binary store is a single file, written as a whole")
struct BinaryStoreTests {
    private static func makeStore(_ change: (inout PersistentStoreDescription) -> Void = { _ in }) throws -> TestStore {
        try TestStore {
            $0.type = .binary
            change(&$0)
        }
    }

    /// Opens the file in another coordinator.
    private func open(_ url: URL, isReadOnly: Bool = false) throws -> ManagedObjectContext {
        var description = PersistentStoreDescription(url: url, type: .binary)
        description.isReadOnly = isReadOnly
        return try PersistentContainer(
            name: "Test", managedObjectModel: ManagedObjectModel(entities: Groceries.entities()),
            storeDescription: description, classes: Groceries.classes
        ).newBackgroundContext()
    }

    private func names(_ context: ManagedObjectContext) throws -> [String] {
        try context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("price")])).map(\.name)
    }

    @Test("A reopened store has everything that was saved, and there is no other file")
    func saving() throws {
        let store = try Self.makeStore { $0.synchronization = .full }
        #expect(try FileManager.default.contentsOfDirectory(atPath: store.folder.path) == ["Test.sqlite"])
        try store.fill(items: 300, categories: 4, tags: 3)
        let item = try store.context.fetch(FetchRequest<Item>(predicate: PropertyPath("name") == "Item 7"))[0]
        item.name = "Milk"
        store.context.delete(
            try store.context.fetch(FetchRequest<Item>(predicate: PropertyPath("name") == "Item 0"))[0])
        try store.context.save()
        #expect(try FileManager.default.contentsOfDirectory(atPath: store.folder.path) == ["Test.sqlite"])

        let context = try open(store.url)
        let expected = (1..<300).map { $0 == 7 ? "Milk" : "Item \($0)" }
        #expect(try names(context) == expected)
        let read = try context.fetch(FetchRequest<Item>(predicate: PropertyPath("name") == "Milk"))[0]
        #expect(read.category?.name == "Category 3" && read.tags.count == 1)
        #expect(try store.sql("PRAGMA integrity_check") == ["ok"], "The file is a database like any other.")
        #expect(try store.sql("SELECT count(*) FROM ZITEM") == ["299"])
    }

    @Test("A reopened store continues its primary keys")
    func keys() throws {
        let store = try Self.makeStore()
        try store.fill(items: 3)
        let context = try open(store.url)
        let item = Item(context: context)
        item.name = "New"
        try context.save()
        #expect(item.objectID.uriRepresentation().lastPathComponent == "p4")
    }

    @Test("A save that cannot write the file leaves the store as it was")
    func failedWrite() throws {
        let store = try Self.makeStore()
        try store.fill(items: 2)
        let item = try store.context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("price")]))[0]
        item.name = "Milk"
        Item(context: store.context).name = "New"
        let away = store.folder.appendingPathExtension("away")
        try FileManager.default.moveItem(at: store.folder, to: away)
        #expect(
            performing { try store.context.save() }
                == "'\(store.url.path)' cannot be opened because the folder '\(store.folder.path)' does not exist; create it first."
        )
        #expect(store.context.hasChanges && item.name == "Milk")
        #expect(try names(store.container.newBackgroundContext()) == ["Item 0", "Item 1"])
        #expect(
            performing {
                _ = try store.context.execute(BatchDeleteRequest(fetchRequest: FetchRequest<Item>()))
            }
                == "'\(store.url.path)' cannot be opened because the folder '\(store.folder.path)' does not exist; create it first."
        )
        #expect(try names(store.container.newBackgroundContext()) == ["Item 0", "Item 1"])

        try FileManager.default.moveItem(at: away, to: store.folder)
        #expect(try names(open(store.url)) == ["Item 0", "Item 1"])
        try store.context.save()
        #expect(try names(open(store.url)).sorted() == ["Item 1", "Milk", "New"])
    }

    @Test("A save does not overwrite a file that another writer has replaced")
    func replaced() throws {
        let store = try Self.makeStore()
        try store.fill(items: 1)
        let other = try open(store.url)
        Item(context: other).name = "Theirs"
        try other.save()
        Item(context: store.context).name = "Mine"
        #expect(
            performing { try store.context.save() }
                == "Saving in '\(store.url.path)' is refused because another writer has replaced the file since it was read; open the store again and repeat the changes."
        )
        #expect(try names(open(store.url)).sorted() == ["Item 0", "Theirs"])
    }

    @Test("A save keeps the file's permissions and follows a symbolic link")
    func permissions() throws {
        let store = try Self.makeStore()
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: store.url.path)
        let link = store.folder.appendingPathComponent("Link.sqlite")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: store.url)
        let context = try open(link)
        Item(context: context).name = "New"
        try context.save()
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == store.url.path)
        #expect(
            try FileManager.default.attributesOfItem(atPath: store.url.path)[.posixPermissions] as? Int == 0o640)
        #expect(try names(open(store.url)) == ["New"])
    }

    @Test func readOnly() throws {
        let store = try Self.makeStore()
        try store.fill(items: 2)
        let before = try Data(contentsOf: store.url)
        let context = try open(store.url, isReadOnly: true)
        #expect(try names(context) == ["Item 0", "Item 1"])
        Item(context: context).name = "New"
        #expect(
            performing { try context.save() }
                == "Saving in '\(store.url.path)' is refused because the store was opened read-only; open it without isReadOnly, or assign new objects to another store."
        )
        #expect(try Data(contentsOf: store.url) == before)
        let missing = store.folder.appendingPathComponent("Missing.sqlite")
        #expect(
            performing { _ = try open(missing, isReadOnly: true) }
                == "'\(missing.path)' cannot be opened; check that this user may read and write it and its folder.")
        #expect(!FileManager.default.fileExists(atPath: missing.path))
    }

    // MARK: - Files that are not binary stores

    private func message(_ bytes: Data) throws -> String {
        let url = try TestStore.makeFolder().appendingPathComponent("Test.store")
        try bytes.write(to: url)
        let message = performing { _ = try open(url) }
        #expect(try Data(contentsOf: url) == bytes, "What cannot be read is left as it is.")
        return message.replacingOccurrences(of: url.path, with: "FILE")
    }

    @Test("A keyed archive written by Core Data is reported as such")
    func keyedArchive() throws {
        let archive = try PropertyListSerialization.data(
            fromPropertyList: ["$archiver": "NSKeyedArchiver", "$objects": ["$null"]], format: .binary, options: 0)
        let sentence =
            "'FILE' is a keyed archive, the format of Core Data's binary stores, which Faultline cannot read; let Core Data migrate it to an SQLite store."
        #expect(try message(archive) == sentence)
        #expect(try message(Data(repeating: 0, count: 32) + archive) == sentence)
    }

    @Test func otherFiles() throws {
        #expect(
            try message(Data("Just a text.".utf8))
                == "'FILE' is not a binary store; name another file, or move this one away.")
        let store = try TestStore()
        try store.fill(items: 1)
        #expect(
            try message(Data(contentsOf: store.url))
                == "'FILE' is an SQLite store, not a binary one; set the description's type to sqlite.")
        let database = store.folder.appendingPathComponent("Other.sqlite")
        try SQLShell.run("CREATE TABLE player (id INTEGER)", database)
        #expect(
            try message(Data(contentsOf: database))
                == "'FILE' is an SQLite database but not a store: it has tables, but none of them is Z_METADATA; name another file."
        )
    }

    @Test("A truncated file is reported as damaged, wherever it was cut", arguments: 1..<20)
    func cut(_ part: Int) throws {
        let store = try Self.makeStore()
        try store.fill(items: 400, categories: 3)
        let whole = try Data(contentsOf: store.url)
        let message = try message(whole.prefix(whole.count * part / 20 - part))
        #expect(message.hasPrefix("Opening the store in 'FILE' failed because the file is damaged ("))
        #expect(message.hasSuffix("); restore it from a copy."))
    }

    @Test("An overwritten page causes an error or loses its values, but never a crash", arguments: 0..<16)
    func overwritten(_ number: Int) throws {
        let store = try Self.makeStore()
        try store.fill(items: 400, categories: 3, tags: 5)
        var image = try Data(contentsOf: store.url)
        let page = number * (image.count / 4096) / 16
        var generator = SystemRandomNumberGenerator()
        for offset in page * 4096..<(page + 1) * 4096 { image[offset] = UInt8.random(in: 0...255, using: &generator) }
        try image.write(to: store.url)
        do {
            let context = try open(store.url)
            for item in try context.fetch(FetchRequest<Item>()) {
                _ = (item.name, item.category?.name, item.tags.count)
            }
        } catch is StoreError {}
    }

    @Test("A new store in a missing folder throws an error that names the folder")
    func missingFolder() throws {
        let folder = try TestStore.makeFolder().appendingPathComponent("no")
        let url = folder.appendingPathComponent("Test.store")
        #expect(
            performing { _ = try open(url) }
                == "'\(url.path)' cannot be opened because the folder '\(folder.path)' does not exist; create it first."
        )
    }
}
