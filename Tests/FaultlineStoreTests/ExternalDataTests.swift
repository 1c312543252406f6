import FaultlineModel
import FaultlineStore
import Foundation
import Glibc
import Testing

@Suite("Large values in external files")
struct ExternalDataTests {
    private static func files(_ store: TestStore) throws -> [URL] {
        let folder = store.folder.appendingPathComponent(".Test_SUPPORT/_EXTERNAL_DATA")
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    }

    @Test("A value whose file another writer has replaced is read again", arguments: [false, true])
    func replaced(_ isForeign: Bool) throws {
        let store = try Household.makeStore()
        let maker = store.container.newBackgroundContext()
        let person = Person(context: maker)
        person.name = "old"
        person.photo = Data(repeating: 1, count: 3000)
        try maker.save()
        let found = try store.context.fetch(FetchRequest<Person>())[0]
        let changed = try store.container.newBackgroundContext().fetch(FetchRequest<Person>())[0]
        #expect(found.name == "old")
        changed.name = "mine"
        let writer = isForeign ? try store.foreignContext() : maker
        let theirs = try writer.fetch(FetchRequest<Person>())[0]
        theirs.name = "new"
        theirs.photo = Data(repeating: 2, count: 3000)
        try writer.save()

        #expect(found.photo == Data(repeating: 2, count: 3000))
        #expect(found.name == "new", "the values of an object are of one version")
        #expect(try store.context.count(for: FetchRequest<Club>()) == 0, "no failure is left behind")
        // An object with unsaved changes stays at its version, so that they cannot undo the other writer's.
        #expect(changed.photo == Data(repeating: 2, count: 3000))
        let error = try #require(throws: StoreError.self) { try changed.managedObjectContext.save() }
        #expect(error.code == .conflict)
    }

    @Test("Opening a store removes only the files that a killed save left behind")
    func leftBehind() throws {
        let store = try Household.makeStore()
        Person(context: store.context).photo = Data(repeating: 1, count: 3000)
        try store.context.save()
        let needed = try #require(try Self.files(store).first)
        let folder = needed.deletingLastPathComponent()
        let support = folder.deletingLastPathComponent()
        let names = (0..<4).map { _ in UUID().uuidString }
        let outside = support.appendingPathComponent("keep")
        let kept =
            [folder.appendingPathComponent("notes.txt"), outside] + names[1...].map(folder.appendingPathComponent)
        for file in kept + [folder.appendingPathComponent(names[0])] { try Data("x".utf8).write(to: file) }
        func note(_ name: String, _ lines: [String]) throws -> URL {
            let file = support.appendingPathComponent("unsaved-\(name)")
            try Data(lines.joined(separator: "\n").utf8).write(to: file)
            return file
        }
        let own = store.container.persistentStoreCoordinator.storeUUID
        // The last line is incomplete. One file is needed, and two have names that the store never uses.
        let dead = try note("1", [own, needed.lastPathComponent, names[0], "notes.txt", "../keep", names[1]])
        let another = try note("2", ["of another store", names[2], ""])
        let alive = try note("3", [own, names[3], ""])
        let lock = open(alive.path, O_RDONLY)
        try #require(flock(lock, LOCK_EX) == 0)
        defer { close(lock) }

        _ = try store.foreignContext()
        let exists = { (file: URL) in FileManager.default.fileExists(atPath: file.path) }
        #expect(!exists(folder.appendingPathComponent(names[0])) && !exists(dead))
        #expect(([needed, another, alive] + kept).filter { !exists($0) } == [])
    }

    @Test("A name that leads out of the folder is not treated as an external file")
    func foreignName() throws {
        let store = try Household.makeStore()
        Person(context: store.context).photo = Data(repeating: 1, count: 3000)
        try store.context.save()
        let victim = store.folder.appendingPathComponent("victim")
        try Data("precious".utf8).write(to: victim)
        try store.container.persistentStoreCoordinator.run(
            "UPDATE ZPERSON SET ZPHOTO = x'02' || CAST('../../victim' AS BLOB) || x'00'")
        let reader = try store.foreignContext()
        #expect(try reader.fetch(FetchRequest<Person>())[0].photo == nil)
        let error = try #require(throws: StoreError.self) { try reader.save() }
        #expect(error.code == .externalData)
        let context = try store.foreignContext()
        context.delete(try context.fetch(FetchRequest<Person>())[0])
        try context.save()
        #expect(try Data(contentsOf: victim) == Data("precious".utf8))
    }

    @Test("A value whose file is missing can be replaced")
    func replaceMissing() throws {
        let store = try Household.makeStore()
        let person = Person(context: store.context)
        person.photo = Data(repeating: 1, count: 3000)
        try store.context.save()
        for file in try Self.files(store) { try FileManager.default.removeItem(at: file) }
        person.photo = Data(repeating: 2, count: 3000)
        try store.context.save()
        #expect(person.photo == Data(repeating: 2, count: 3000))
        #expect(try store.context.count(for: FetchRequest<Person>()) == 1)
    }

    @Test("A file that cannot be written completely is removed")
    func partial() async throws {
        // Runs in a process of its own, whose files cannot grow beyond 1 MiB.
        await #expect(processExitsWith: .success) {
            let store = try Household.makeStore()
            let person = Person(context: store.context)
            person.photo = Data(repeating: 1, count: 3_000_000)
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 1 << 20, rlim_max: 1 << 20)
            #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            let error = try #require(throws: StoreError.self) { try store.context.save() }
            #expect(error.code == .externalData)
            #expect(try Self.files(store).isEmpty)
        }
    }
}
