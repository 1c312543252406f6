import FaultlineModel
import FaultlineStore
import Foundation
import Glibc
import Testing

@Suite("Large values in files")
struct ExternalDataTests {
    private static func files(_ store: TestStore) throws -> [URL] {
        let folder = store.folder.appendingPathComponent(".Test_SUPPORT/_EXTERNAL_DATA")
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    }

    @Test("A value whose file another writer has replaced is read anew", arguments: [false, true])
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
        // What has unsaved changes stays on its version, so that they cannot undo those of the other.
        #expect(changed.photo == Data(repeating: 2, count: 3000))
        let error = try #require(throws: StoreError.self) { try changed.managedObjectContext.save() }
        #expect(error.code == .conflict)
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

    @Test("A file that cannot be written to its end is removed")
    func partial() async throws {
        // In a process of its own, whose files cannot grow beyond a megabyte.
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
