import FaultlineModel
import FaultlineStore
import FaultlineTrace
import Foundation
import Testing

@Suite("A child passes ordered relationships and large values to its parent, and saves without queries")
struct ChildContextRelationshipTests {
    private let store: TestStore
    private let parent: ManagedObjectContext
    private let child: ManagedObjectContext

    init() throws {
        store = try TestStore(
            Playlist.entities, classes: [Playlist.self, Entry.self, Song.self], isRecording: true)
        let maker = store.container.newBackgroundContext()
        let list = Playlist(context: maker)
        list.setValue("list", forKey: "name")
        for title in "abcd" {
            let entry = Entry(context: maker)
            entry.title = String(title)
            list.entries.add(entry)
            let song = Song(context: maker)
            song.title = String(title)
            list.songs.add(song)
        }
        try maker.save()
        parent = store.context
        child = ManagedObjectContext(parent: parent)
    }

    private func list(in context: ManagedObjectContext) throws -> Playlist {
        try context.fetch(FetchRequest<Playlist>(predicate: PropertyPath("name") == "list"))[0]
    }

    private func order(in context: ManagedObjectContext) throws -> String {
        let list = try list(in: context)
        return "\(list.entries.map(\.title).joined()) \(list.songs.map(\.title).joined())"
    }

    /// Returns the read and write statements, without read transactions, which can end at any time.
    private func statements() -> [String] {
        store.statements(ofType: .read) + store.statements(ofType: .write)
    }

    @Test("The order of members passes through a child to the store", arguments: [false, true])
    func order(_ isRead: Bool) throws {
        let inChild = try list(in: child)
        if isRead { #expect(try order(in: child) == "abcd abcd") }
        let (entry, song) = (Entry(context: child), Song(context: child))
        (entry.title, song.title) = ("e", "e")
        inChild.entries.add(entry)
        inChild.songs.add(song)
        if isRead {
            inChild.entries.move(from: 4, to: 0)
            inChild.songs.move(from: 0, to: 3)
        }
        let before = statements()
        try child.save()
        #expect(statements() == before)
        let expected = isRead ? "eabcd bcdae" : "abcde abcde"
        #expect(try order(in: parent) == expected)
        #expect(try order(in: ManagedObjectContext(parent: parent)) == expected)
        try parent.save()
        #expect(try order(in: store.container.newBackgroundContext()) == expected)
    }

    @Test("Members that the parent added stay, after those that the child reordered")
    func orderedByBoth() throws {
        #expect(try order(in: child) == "abcd abcd")
        let late = Entry(context: parent)
        late.title = "z"
        try list(in: parent).entries.add(late)
        let inChild = try list(in: child)
        inChild.entries.move(from: 3, to: 0)
        inChild.entries.remove(inChild.entries[2])
        try child.save()
        #expect(try order(in: parent) == "dacz abcd")
        try parent.save()
        #expect(try order(in: store.container.newBackgroundContext()) == "dacz abcd")
    }

    @Test("Saving deletions and moves in a child runs no statement")
    func statementsOfSaves() throws {
        let inChild = try list(in: child)
        let entries = Array(inChild.entries)
        child.delete(entries[0])
        let other = Playlist(context: child)
        entries[1].playlist = other
        entries[2].title = "c2"
        let before = statements()
        try child.save()
        #expect(statements() == before)
        #expect(try list(in: parent).entries.map(\.title) == ["c2", "d"])
        try parent.save()
        #expect(
            try store.sql("SELECT ZTITLE, ZPLAYLIST FROM ZENTRY ORDER BY ZTITLE") == ["b|2", "c2|1", "d|1"])
    }

    @Test("A large value passes through a child to its file, and objects of subentities keep their class")
    func largeValues() throws {
        let store = try Household.makeStore()
        let parent = store.context
        let child = ManagedObjectContext(parent: parent)
        let person = Person(context: child)
        person.photo = Data(repeating: 7, count: 5000)
        let dog = Dog(context: child)
        dog[Dog.breed] = "Poodle"
        dog.owner = person
        try child.save()
        let grandchild = ManagedObjectContext(parent: child)
        let pets = try grandchild.fetch(FetchRequest<Animal>())
        #expect(pets.map { ($0 as? Dog)?[Dog.breed] } == ["Poodle"])
        #expect(pets[0].owner?.photo?.count == 5000)
        #expect(pets[0].owner?.pets.map(\.objectID) == [dog.objectID])
        try parent.save()
        #expect(try store.sql("SELECT ZOWNER, ZBREED FROM ZANIMAL") == ["1|Poodle"])
        #expect(try store.container.newBackgroundContext().fetch(FetchRequest<Person>())[0].photo?.count == 5000)
        #expect(person.photo?.count == 5000)
    }
}
