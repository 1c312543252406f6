// A music library that does the same in two forms: as it should not be done, and as it should.
//
//     MusicProgram <store> prepare
//     MusicProgram <store> naive|improved <scenario>…

import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import Foundation

final class Album: ManagedObject {
    static let titleKey = AttributeKey<String>("title")
    static let tracksKey = ToManyKey<Track>("tracks")
    var title: String { self[Self.titleKey] }
}

final class Track: ManagedObject {
    static let titleKey = AttributeKey<String>("title")
    static let foldedTitleKey = AttributeKey<String>("foldedTitle")
    static let lyricsKey = AttributeKey<String?>("lyrics")
    static let millisecondsKey = AttributeKey<Int>("milliseconds")
    static let albumKey = ToOneKey<Album>("album")
    var title: String { self[Self.titleKey] }
    var lyrics: String? { self[Self.lyricsKey] }
    var milliseconds: Int { self[Self.millisecondsKey] }
    var album: Album? { self[Self.albumKey] }
}

final class TrackWord: ManagedObject {
    static let textKey = AttributeKey<String>("text")
    static let tracksKey = ToManyKey<Track>("tracks")
}

func makeModel() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
        EntityDescription(
            "Album", attributes: [AttributeDescription("title", .string, isOptional: false)],
            relationships: [RelationshipDescription("tracks", to: "Track", inverse: "album", isToMany: true)]),
        EntityDescription(
            "Track",
            attributes: [
                AttributeDescription("title", .string, isOptional: false), AttributeDescription("foldedTitle", .string),
                AttributeDescription("lyrics", .string),
                AttributeDescription("milliseconds", .integer32, isOptional: false),
            ],
            relationships: [
                RelationshipDescription("album", to: "Album", inverse: "tracks"),
                RelationshipDescription("words", to: "TrackWord", inverse: "tracks", isToMany: true),
            ],
            indexes: [
                FetchIndexDescription("byTitle", on: "title"),
                FetchIndexDescription("byFoldedTitle", on: "foldedTitle"),
            ]),
        EntityDescription(
            "TrackWord", attributes: [AttributeDescription("text", .string, isOptional: false)],
            relationships: [RelationshipDescription("tracks", to: "Track", inverse: "words", isToMany: true)],
            indexes: [FetchIndexDescription("byText", on: "text")]),
    ])
}

/// Sixty albums of twenty tracks each.
func fill(_ context: ManagedObjectContext) throws {
    let words = ["love", "Night", "river", "STONE", "glass", "summer", "train"].map { text in
        let word = TrackWord(context: context)
        word[TrackWord.textKey] = text.lowercased()
        return (text, word)
    }
    for number in 0..<60 {
        let album = Album(context: context)
        album[Album.titleKey] = "Album \(number)"
        for place in 0..<20 {
            let track = Track(context: context)
            let (text, word) = words[(number * 20 + place) % words.count]
            track[Track.titleKey] = "\(place) \(text) \(number)"
            track[Track.foldedTitleKey] = "\(place) \(text) \(number)".lowercased()
            track[Track.lyricsKey] = String(repeating: "la ", count: 1000)
            track[Track.millisecondsKey] = 1000 * (number + place)
            track[Track.albumKey] = album
            word[TrackWord.tracksKey].add(track)
        }
    }
    try context.save()
}

struct Program {
    let context: ManagedObjectContext
    let isNaive: Bool

    func run(_ scenario: String) throws {
        try Faultline.scope(scenario, kind: .request) {
            switch scenario {
            case "count": try count()
            case "existence": try existence()
            case "sum": try sum()
            case "preview": try preview()
            case "limit": try limit()
            case "identities": try identities()
            case "values": try values()
            case "loop": try loop()
            case "create": try findOrCreate()
            case "contains": try search()
            case "prefix": try searchPrefix()
            case "save": try add()
            case "repeat": try listTitles()
            case "unused": try lookAhead()
            case "unbounded": try listAll()
            case "wait": try importMeanwhile()
            case "sort": try longest()
            case "index": try find()
            case "order": try countLong()
            case "searches": try countPlain()
            case "members": try countMembers()
            case "delete": try deleteAlbums()
            case "prefetch": try listAlbums()
            case "unchanged": try setAgain()
            case "again": try readAgain()
            default: fatalError("There is no scenario \(scenario).")
            }
        }
    }

    private func albums() throws -> FetchResults<Album> {
        try context.fetch(FetchRequest<Album>(sortDescriptors: [.ascending("title")], fetchLimit: 10))
    }

    /// Asks something of each album in a request of its own, as a server does: no loop could ask for all of them.
    private func forEachAlbum(_ body: (Album) throws -> Void) throws {
        for album in try albums() { try Faultline.scope("album", kind: .request) { try body(album) } }
    }

    private func tracks(of album: Album) -> FetchRequest<Track> {
        FetchRequest<Track>(predicate: PropertyPath("album") == album)
    }

    /// How many tracks each album has.
    private func count() throws {
        try forEachAlbum { album in
            if isNaive {
                let found = try context.fetch(tracks(of: album))  // counted
                print(album.title, found.count)
            } else {
                print(album.title, try context.count(for: tracks(of: album)))
            }
        }
    }

    /// Whether each album has tracks.
    private func existence() throws {
        try forEachAlbum { album in
            var request = tracks(of: album)
            if isNaive {
                let found = try context.fetch(request)  // asked for emptiness
                print(album.title, found.isEmpty)
            } else {
                request.fetchLimit = 1
                print(album.title, try context.fetchObjectIDs(request).isEmpty)
            }
        }
    }

    /// How long all tracks play; the other form lists them, which is no sum.
    private func sum() throws {
        let tracks = try context.fetch(FetchRequest<Track>(fetchBatchSize: isNaive ? 0 : 200))  // added up
        if isNaive {
            print(tracks.reduce(0) { $0 + $1.milliseconds })
        } else {
            for track in tracks { print(line(track)) }
        }
    }

    /// How many tracks each album has, and its first three.
    private func preview() throws {
        try forEachAlbum { album in
            var request = tracks(of: album)
            if isNaive {
                let found = try context.fetch(request)  // previewed
                print(album.title, found.count, found.prefix(3).map(\.title))
            } else {
                let count = try context.count(for: request)
                request.fetchLimit = 3
                print(album.title, count, try context.fetch(request).map(\.title))
            }
        }
    }

    /// The first track of each album.
    private func limit() throws {
        try forEachAlbum { album in
            var request = tracks(of: album)
            request.sortDescriptors = [.ascending("title")]
            if !isNaive { request.fetchLimit = 1 }
            let first = try context.fetch(request).first  // cut off
            print(album.title, first?.title ?? "")
        }
    }

    /// The identities of each album's tracks.
    private func identities() throws {
        for album in try albums() {
            if isNaive {
                let found = try context.fetch(tracks(of: album))  // only identified
                print(album.title, found.map(\.objectID).count)
            } else {
                print(album.title, try context.fetchObjectIDs(tracks(of: album)).count)
            }
        }
    }

    /// The titles of all tracks; the other form shows the lyrics as well.
    private func values() throws {
        let request = FetchRequest<Track>(sortDescriptors: [.ascending("title")], fetchBatchSize: 200)
        let tracks = try context.fetch(request)  // read in part
        for track in tracks { print(track.title, isNaive ? 0 : track.lyrics?.count ?? 0) }
    }

    /// The tracks of each album.
    private func loop() throws {
        let albums = try albums()
        if isNaive {
            for album in albums {
                let tracks = try context.fetch(tracks(of: album))  // looped
                print(album.title, tracks.map(line))
            }
        } else {
            let request = FetchRequest<Track>(predicate: .isIn("album", objects: albums.map(\.objectID)))
            let groups = Dictionary(grouping: try context.fetch(request), by: \.album)
            for album in albums { print(album.title, groups[album, default: []].map(line)) }
        }
    }

    /// A track as a list shows it.
    private func line(_ track: Track) -> String {
        "\(track.title), \(track.milliseconds / 1000) s, \(track.lyrics?.count ?? 0) letters"
    }

    /// Finds tracks by their titles, one by one, or all at once.
    private func findOrCreate() throws {
        let titles = (0..<10).map { "\($0) love \($0 * 7)" }
        if isNaive {
            for title in titles {
                let request = FetchRequest<Track>(predicate: PropertyPath("title") == title, fetchLimit: 1)
                let found = try context.fetch(request).first  // found or created
                print(title, found?.milliseconds ?? 0)
            }
        } else {
            let found = try context.fetch(FetchRequest<Track>(predicate: PropertyPath("title").isIn(titles)))
            let tracks = Dictionary(grouping: found, by: \.title)
            for title in titles { print(title, tracks[title]?.first?.milliseconds ?? 0) }
        }
    }

    /// Tracks with a word in their titles.
    private func search() throws {
        if isNaive {
            let predicate = PropertyPath("title").contains("NIGHT", options: [.caseInsensitive, .diacriticInsensitive])
            let found = try context.fetch(FetchRequest<Track>(predicate: predicate))  // searched by a part
            print(found.map(line))
        } else {
            let request = FetchRequest<TrackWord>(
                predicate: PropertyPath("text").beginsWith("night"), relationshipKeyPathsForPrefetching: ["tracks"])
            let found = try context.fetch(request).flatMap { $0[TrackWord.tracksKey] }
            print(found.map(line))
        }
    }

    /// Each album among the titles of all.
    private func listTitles() throws {
        let all = isNaive ? nil : try titles()
        for album in try albums() {
            let titles = try all ?? titles()
            print(album.title, titles.firstIndex(of: album.title) ?? 0, titles.count)
        }
    }

    private func titles() throws -> [String] {
        let found = try context.fetch(FetchRequest<Album>(sortDescriptors: [.ascending("title")]))  // fetched again
        return found.map(\.title)
    }

    /// The titles of albums, and the tracks of every fifth.
    private func lookAhead() throws {
        for (number, album) in try albums().enumerated() {
            let tracks = try isNaive ? found(of: album) : nil
            guard number % 5 == 0 else { continue }
            print(album.title, try (tracks ?? found(of: album)).map(line))
        }
    }

    private func found(of album: Album) throws -> FetchResults<Track> {
        try context.fetch(tracks(of: album))  // looked at by the way
    }

    /// All tracks, one after the other.
    private func listAll() throws {
        let request = FetchRequest<Track>(fetchBatchSize: isNaive ? 0 : 200)
        for track in try context.fetch(request) {  // taken as they come
            print(line(track))
        }
    }

    /// The tracks that come first: by their length, of which there is no index, or by their title.
    private func longest() throws {
        let request = FetchRequest<Track>(
            sortDescriptors: [.descending(isNaive ? "milliseconds" : "title")], fetchLimit: 10)
        print(try context.fetch(request).map(line))  // sorted each time
    }

    /// One track: by its length, of which there is no index, or by its title.
    private func find() throws {
        let predicate =
            isNaive ? PropertyPath("milliseconds") == 78_000 : PropertyPath("title") == "19 glass 59"
        print(try context.fetch(FetchRequest<Track>(predicate: predicate)).map(line))  // looked for everywhere
    }

    /// How many long tracks have no night in their titles.
    private func countLong() throws {
        let isNight = PropertyPath("title").contains("night", options: [.caseInsensitive, .diacriticInsensitive])
        let isLong = PropertyPath("milliseconds") > 39_000
        let request = FetchRequest<Track>(predicate: isNaive ? !isNight && isLong : isLong && !isNight)
        print(try context.count(for: request))  // searched before it is sorted out
    }

    /// How many tracks have no e in their titles, of those without a word in their lyrics that none has.
    private func countPlain() throws {
        func lacks(_ property: String, _ text: String) -> FetchPredicate {
            !PropertyPath(property).contains(text, options: [.caseInsensitive, .diacriticInsensitive])
        }
        let (isNew, isPlain) = (lacks("lyrics", "tra"), lacks("title", "e"))
        let request = FetchRequest<Track>(predicate: isNaive ? isNew && isPlain : isPlain && isNew)
        print(try context.count(for: request))  // searched where nothing is sorted out
    }

    /// How many tracks each album has, asked of the albums or of all tracks at once.
    private func countMembers() throws {
        if isNaive {
            for album in try context.fetch(FetchRequest<Album>()) {  // fetched to be counted
                print(album[Album.tracksKey].count)  // counted one by one
            }
        } else {
            let count = ExpressionDescription("count", .function(.count, "self"))
            var request = FetchRequest<Track>()
            (request.resultType, request.propertiesToFetch) = (.dictionary, ["album", count])
            request.propertiesToGroupBy = ["album"]
            for group in try context.fetchDictionaries(request) { print(group["count"] ?? 0) }
        }
    }

    /// Deletes albums with their tracks, as the rule of the relationship says.
    private func deleteAlbums() throws {
        for album in try context.fetch(FetchRequest<Album>(fetchLimit: 20)) { context.delete(album) }
        try context.save()
    }

    /// All albums, for whose tracks nobody asks.
    private func listAlbums() throws {
        var request = FetchRequest<Album>(sortDescriptors: [.ascending("title")], fetchBatchSize: 15)
        if isNaive { request.relationshipKeyPathsForPrefetching = ["tracks"] }
        for album in try context.fetch(request) {  // loaded along
            print(album.title)
        }
    }

    /// Gives albums the titles that they have, or looks before.
    private func setAgain() throws {
        for album in try context.fetch(FetchRequest<Album>(sortDescriptors: [.ascending("title")])) {
            let title = album.title.split(separator: " ").joined(separator: " ")
            if isNaive || album.title != title { album[Album.titleKey] = title }
        }
        try context.save()  // saved for nothing
    }

    /// A hundred tracks four times, from a store whose row cache keeps next to nothing.
    private func readAgain() throws {
        var description = PersistentStoreDescription(url: URL(fileURLWithPath: arguments[1]))
        description.rowCacheLimit = 0
        let small = try PersistentContainer(
            name: "Music", managedObjectModel: container.managedObjectModel, storeDescription: description,
            classes: [Album.self, Track.self, TrackWord.self])
        let context = small.newBackgroundContext()
        try context.performAndWait {
            let ids = try context.fetchObjectIDs(FetchRequest<Track>(fetchLimit: 100))
            guard isNaive else {
                var request = FetchRequest<Track>(predicate: .isIn("self", objects: ids))
                request.returnsObjectsAsFaults = false
                request.propertiesToFetch = ["title"]
                let held = try context.fetch(request)
                for _ in 0..<4 { for track in held { print(track.title) } }
                return
            }
            for _ in 0..<4 {
                for id in ids {
                    guard let track = context.object(with: id) as? Track else { continue }
                    print(track.title)  // read again
                }
            }
        }
    }

    /// Shows how many albums there are while others are imported.
    private func importMeanwhile() throws {
        let shown = container.newBackgroundContext()
        let importing = isNaive ? shown : container.newBackgroundContext()
        let (isSaving, isDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        Thread.detachNewThread {
            importing.performAndWait {
                for number in 1...1000 {
                    let album = Album(context: importing)
                    album[Album.titleKey] = "Imported \(number)"
                }
                isSaving.signal()
                try? importing.save()  // saved while others wait
            }
            isDone.signal()
        }
        isSaving.wait()
        print(try shown.performAndWait { try shown.count(for: FetchRequest<Album>()) })
        isDone.wait()
    }

    /// Albums that are new.
    private func add() throws {
        for number in 1...40 {
            let album = Album(context: context)
            album[Album.titleKey] = "New \(number)"
            if isNaive {
                try context.save()  // saved one by one
            }
        }
        if !isNaive { try context.save() }
    }

    /// Tracks whose titles begin so.
    private func searchPrefix() throws {
        let predicate =
            isNaive
            ? PropertyPath("title").beginsWith("1 Ni", options: .caseInsensitive)
            : PropertyPath("foldedTitle").beginsWith("1 ni")
        let found = try context.fetch(FetchRequest<Track>(predicate: predicate))  // searched by its beginning
        print(found.map(line))
    }
}

let arguments = CommandLine.arguments
let container = try PersistentContainer(
    name: "Music", managedObjectModel: makeModel(), storeURL: URL(fileURLWithPath: arguments[1]),
    classes: [Album.self, Track.self, TrackWord.self])
let context = container.newBackgroundContext()
try context.performAndWait {
    if arguments[2] == "prepare" { return try fill(context) }
    let program = Program(context: context, isNaive: arguments[2] == "naive")
    for scenario in arguments[3...] {
        try program.run(scenario)
        // Objects in the context would be read from memory.
        context.reset()
    }
}
