import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import Foundation

/// Artists with albums, and albums with tracks.
final class Artist: ManagedObject {
    static let name = AttributeKey<String>("name")
    static let albums = ToManyKey<Album>("albums")
}

final class Album: ManagedObject {
    static let title = AttributeKey<String>("title")
    static let year = AttributeKey<Int>("year")
    static let artist = ToOneKey<Artist>("artist")
    static let tracks = ToManyKey<Track>("tracks")
}

final class Track: ManagedObject {
    static let title = AttributeKey<String>("title")
    static let milliseconds = AttributeKey<Int>("milliseconds")
    static let playCount = AttributeKey<Int>("playCount")
    static let album = ToOneKey<Album>("album")
}

/// A store of music in a temporary folder, which is removed with it.
///
/// The data are the same every time: 50 artists with 4 albums each, and 10 tracks on each album.
final class MusicStore {
    static let artists = 50
    static let albums = 4
    static let tracks = 10

    let container: PersistentContainer
    private let folder: URL

    /// - Parameter isFilled: Whether to create the music.
    init(recorder: Recorder = .off(), isFilled: Bool = true) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("faultline-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var description = PersistentStoreDescription(url: folder.appendingPathComponent("music.sqlite"))
        // The duration of disk writes is not measured.
        description.synchronization = .off
        // Rows that a scenario has not loaded itself must come from the store.
        description.rowCacheLimit = 0
        container = try PersistentContainer(
            name: "Music", managedObjectModel: Self.model(), storeDescription: description,
            classes: [Artist.self, Album.self, Track.self], recorder: recorder)
        guard isFilled else { return }
        let context = container.newBackgroundContext()
        try context.performAndWait { try Self.fill(context) }
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    /// Creates the music and saves it.
    static func fill(_ context: ManagedObjectContext) throws {
        for artistNumber in 0..<artists {
            let artist = Artist(context: context)
            artist[Artist.name] = "Artist \(artistNumber)"
            for albumNumber in 0..<albums {
                let album = Album(context: context)
                album[Album.title] = "Album \(artistNumber * albums + albumNumber)"
                album[Album.year] = 1960 + (artistNumber + albumNumber * 7) % 60
                album[Album.artist] = artist
                for trackNumber in 0..<tracks {
                    let track = Track(context: context)
                    // Distributes titles evenly over the letters.
                    let letter = UnicodeScalar(UInt8(97 + (artistNumber * 7 + albumNumber * 3 + trackNumber) % 26))
                    track[Track.title] = "\(letter) song \(artistNumber)-\(albumNumber)-\(trackNumber)"
                    track[Track.milliseconds] = 120_000 + (artistNumber * 977 + trackNumber * 131) % 240_000
                    track[Track.album] = album
                }
            }
        }
        try context.save()
    }

    private static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Artist", attributes: [AttributeDescription("name", .string)],
                relationships: [RelationshipDescription("albums", to: "Album", inverse: "artist", isToMany: true)]),
            EntityDescription(
                "Album",
                attributes: [AttributeDescription("title", .string), AttributeDescription("year", .integer32)],
                relationships: [
                    RelationshipDescription("artist", to: "Artist", inverse: "albums"),
                    RelationshipDescription("tracks", to: "Track", inverse: "album", isToMany: true),
                ]),
            EntityDescription(
                "Track",
                attributes: [
                    AttributeDescription("title", .string), AttributeDescription("milliseconds", .integer32),
                    AttributeDescription("playCount", .integer32, defaultValue: 0),
                ],
                relationships: [RelationshipDescription("album", to: "Album", inverse: "tracks")],
                indexes: [FetchIndexDescription("byTitle", on: "title")]),
        ])
    }
}
