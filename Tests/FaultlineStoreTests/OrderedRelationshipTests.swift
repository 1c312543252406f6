import FaultlineModel
import FaultlineStore
import FaultlineTrace
import Foundation
import Testing

final class Playlist: ManagedObject {
    /// The entities of playlists, their entries and their songs.
    static let entities = [
        EntityDescription(
            "Entry", attributes: [AttributeDescription("title", .string)],
            relationships: [RelationshipDescription("playlist", to: "Playlist", inverse: "entries")]),
        EntityDescription(
            "Playlist", attributes: [AttributeDescription("name", .string)],
            relationships: [
                RelationshipDescription("entries", to: "Entry", inverse: "playlist", isToMany: true, isOrdered: true),
                RelationshipDescription("songs", to: "Song", inverse: "playlists", isToMany: true, isOrdered: true),
            ]),
        EntityDescription(
            "Song", attributes: [AttributeDescription("title", .string)],
            relationships: [
                RelationshipDescription("playlists", to: "Playlist", inverse: "songs", isToMany: true)
            ]),
    ]

    static let name = AttributeKey<String>("name")
    static let entries = OrderedToManyKey<Entry>("entries")
    static let songs = OrderedToManyKey<Song>("songs")

    var entries: OrderedToMany<Entry> { self[Self.entries] }
    var songs: OrderedToMany<Song> {
        get { self[Self.songs] }
        set { self[Self.songs] = newValue }
    }
}

final class Entry: ManagedObject {
    static let title = AttributeKey<String>("title")
    static let playlist = ToOneKey<Playlist>("playlist")

    var title: String {
        get { self[Self.title] }
        set { self[Self.title] = newValue }
    }
    var playlist: Playlist? {
        get { self[Self.playlist] }
        set { self[Self.playlist] = newValue }
    }
}

final class Song: ManagedObject {
    static let title = AttributeKey<String>("title")
    static let playlists = ToManyKey<Playlist>("playlists")

    var title: String {
        get { self[Self.title] }
        set { self[Self.title] = newValue }
    }
    var playlists: ToMany<Playlist> { self[Self.playlists] }
}

@Suite("Ordered relationships keep their order")
struct OrderedRelationshipTests {
    private let store: TestStore

    init() throws {
        store = try TestStore(Playlist.entities, classes: [Playlist.self, Entry.self, Song.self]) { $0.busyTimeout = 0 }
    }

    @Test("A save in which members move, or leave and join, has updated their owner")
    func updatedOwners() throws {
        let store = try TestStore(
            Playlist.entities, classes: [Playlist.self, Entry.self, Song.self], isRecording: true)
        func save() throws -> TraceEvent.Save? {
            try store.context.save()
            guard case .save(let save) = store.events.last(where: { $0.kind == .save })?.detail else { return nil }
            return save
        }
        let playlist = Playlist(context: store.context)
        for title in "abc" {
            let entry = Entry(context: store.context), song = Song(context: store.context)
            (entry.title, song.title) = (String(title), String(title))
            playlist.entries.add(entry)
            playlist.songs.add(song)
        }
        #expect(try save()?.updated == 0)
        playlist.entries.move(from: 2, to: 0)
        let moved = try #require(try save())
        #expect(moved.updated == 1 && moved.entities.map(\.updated) == [1] && !moved.isBatchRequest)
        playlist.songs.move(from: 0, to: 2)
        #expect(try save()?.updated == 1)
        playlist.songs.remove(playlist.songs[1])
        #expect(try save()?.updated ?? 0 > 0)
    }

    private func playlist(_ titles: String) throws -> Playlist {
        let playlist = Playlist(context: store.context)
        for title in titles { playlist.entries.add(entry(title)) }
        try store.context.save()
        return playlist
    }

    private func entry(_ title: Character) -> Entry {
        let entry = Entry(context: store.context)
        entry.title = String(title)
        return entry
    }

    private func song(_ title: Character) -> Song {
        let song = Song(context: store.context)
        song.title = String(title)
        return song
    }

    /// Returns what another context reads.
    private func read(prefetching: Bool = false) throws -> [String] {
        let context = store.container.newBackgroundContext()
        let lists = try context.fetch(
            FetchRequest<Playlist>(
                sortDescriptors: [.ascending("name")],
                relationshipKeyPathsForPrefetching: prefetching ? ["entries", "songs"] : []))
        return lists.map { "\($0.entries.map(\.title).joined()) \($0.songs.map(\.title).joined())" }
    }

    @Test("The order is stored in a column next to the key it orders")
    func schema() throws {
        #expect(
            try store.sql("SELECT sql FROM sqlite_master WHERE type = 'table' AND name IN ('ZENTRY', 'Z_2SONGS')") == [
                "CREATE TABLE ZENTRY ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZPLAYLIST INTEGER, Z_FOK_PLAYLIST INTEGER, ZTITLE VARCHAR )",
                "CREATE TABLE Z_2SONGS ( Z_2PLAYLISTS INTEGER, Z_3SONGS INTEGER, Z_FOK_3SONGS INTEGER, PRIMARY KEY (Z_2PLAYLISTS, Z_3SONGS) )",
            ])
    }

    @Test("Adding, inserting, moving and removing members keeps the intended order", arguments: [false, true])
    func changes(_ prefetching: Bool) throws {
        let list = try playlist("abcd")
        #expect(try store.sql("SELECT Z_FOK_PLAYLIST FROM ZENTRY ORDER BY ZTITLE") == ["2048", "4096", "6144", "8192"])
        list.entries.move(from: 3, to: 0)
        list.entries.insert(entry("x"), at: 2)
        list.entries.remove(at: 4)
        #expect(list.entries.map(\.title).joined() == "daxb")
        try store.context.save()
        #expect(list.entries.map(\.title).joined() == "daxb")
        #expect(try read(prefetching: prefetching) == ["daxb "])
        // Only the moved members have new numbers, and the removed one has none.
        #expect(
            try store.sql("SELECT ZTITLE, Z_FOK_PLAYLIST FROM ZENTRY ORDER BY ZTITLE") == [
                "a|2048", "b|4096", "c|NULL", "d|1024", "x|3072",
            ])
        list.entries.insert(list.entries[3], at: 0)
        #expect(list.entries.map(\.title).joined() == "daxb")
    }

    @Test("Setting the inverse appends the object without loading the members")
    func inverse() throws {
        let list = try playlist("abc")
        let other = store.container.newBackgroundContext()
        let found = try other.fetch(FetchRequest<Playlist>())[0]
        let entry = Entry(context: other)
        entry.title = "d"
        entry.playlist = found
        #expect(found.entries.isFault)
        try other.save()
        #expect(try read() == ["abcd "])
        store.context.refresh(list, mergeChanges: false)
        #expect(list.entries.map(\.title).joined() == "abcd")
    }

    @Test("An object that moves to another list is appended there")
    func moving() throws {
        let (first, second) = (try playlist("abc"), try playlist("de"))
        first.entries[0].playlist = second
        try store.context.save()
        #expect(second.entries.map(\.title).joined() == "dea")
        #expect(try read().sorted() == ["bc ", "dea "])
        #expect(try store.sql("SELECT Z_FOK_PLAYLIST FROM ZENTRY WHERE ZTITLE = 'a'") == ["6144"])
    }

    @Test("Without a free number between two members, all members are renumbered")
    func noRoom() throws {
        let list = try playlist("ab")
        _ = try store.sql("UPDATE ZENTRY SET Z_FOK_PLAYLIST = Z_PK")
        list.entries.insert(entry("c"), at: 1)
        try store.context.save()
        #expect(
            try store.sql("SELECT ZTITLE, Z_FOK_PLAYLIST FROM ZENTRY ORDER BY ZTITLE") == [
                "a|2048", "b|6144", "c|4096",
            ])
        _ = try store.sql("UPDATE ZENTRY SET Z_FOK_PLAYLIST = 9223372036854775807 WHERE ZTITLE = 'b'")
        list.entries.add(entry("d"))
        try store.context.save()
        #expect(try read() == ["acbd "])
    }

    @Test("Members that another writer added stay, after those that this context reordered")
    func others() throws {
        let list = try playlist("ab")
        #expect(list.entries.count == 2)
        let other = store.container.newBackgroundContext()
        let entry = Entry(context: other)
        entry.title = "x"
        entry.playlist = try other.fetch(FetchRequest<Playlist>())[0]
        try other.save()
        list.entries.move(from: 1, to: 0)
        try store.context.save()
        #expect(try read() == ["bax "])
    }

    @Test("A failed save leaves the stored order unchanged, and a rollback restores the order")
    func failure() throws {
        let list = try playlist("abc")
        list.entries.move(from: 0, to: 2)
        store.context.rollback()
        #expect(list.entries.map(\.title).joined() == "abc")
        #expect(!store.context.hasChanges)
        list.entries.move(from: 0, to: 2)
        let lock = try OpenConnection(store.url)
        try lock.run("BEGIN EXCLUSIVE")
        #expect(throws: StoreError.self) { try store.context.save() }
        try lock.run("ROLLBACK")
        #expect(try read() == ["abc "])
        try store.context.save()
        #expect(try read() == ["bca "])
    }

    @Test("Many-to-many relationships store their order in the join table", arguments: [false, true])
    func manyToMany(_ prefetching: Bool) throws {
        let list = Playlist(context: store.context)
        let songs = "abc".map { song($0) }
        for song in songs.reversed() { list.songs.add(song) }
        try store.context.save()
        #expect(try read(prefetching: prefetching) == [" cba"])
        #expect(
            try store.sql("SELECT ZTITLE, Z_FOK_3SONGS FROM Z_2SONGS JOIN ZSONG ON Z_PK = Z_3SONGS ORDER BY ZTITLE")
                == [
                    "a|6144", "b|4096", "c|2048",
                ])
        list.songs.move(from: 2, to: 1)
        list.songs.remove(songs[2])
        let other = song("d")
        other.playlists.add(list)
        list.songs.move(from: 2, to: 0)
        try store.context.save()
        #expect(try read(prefetching: prefetching) == [" dab"])
        list["songs"] = [songs[1], other, songs[2], songs[1]]
        try store.context.save()
        #expect(list.songs.map(\.title).joined() == "bdc")
        #expect(try read(prefetching: prefetching) == [" bdc"])
        store.context.delete(other)
        try store.context.save()
        #expect(try read(prefetching: prefetching) == [" bc"])
    }

    @Test("Random changes to the order are saved as made, with unique numbers")
    func arrangements() throws {
        let list = try playlist("abcdefghij")
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<50 {
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: list.entries.insert(entry("n"), at: Int.random(in: 0...list.entries.count, using: &generator))
                case 1 where list.entries.count > 3:
                    list.entries.remove(at: Int.random(in: 0..<list.entries.count, using: &generator))
                default:
                    list.entries.move(
                        from: Int.random(in: 0..<list.entries.count, using: &generator),
                        to: Int.random(in: 0..<list.entries.count, using: &generator))
                }
            }
            try store.context.save()
            let keys = try store.sql(
                "SELECT Z_PK FROM ZENTRY WHERE ZPLAYLIST IS NOT NULL ORDER BY Z_FOK_PLAYLIST")
            #expect(list.entries.map { $0.objectID.uriRepresentation().lastPathComponent } == keys.map { "p\($0)" })
            #expect(
                try store.sql(
                    "SELECT COUNT(*) FROM ZENTRY WHERE ZPLAYLIST IS NOT NULL GROUP BY Z_FOK_PLAYLIST HAVING COUNT(*) > 1"
                ).isEmpty)
        }
    }
}
