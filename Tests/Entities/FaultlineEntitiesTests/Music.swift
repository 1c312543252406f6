import FaultlineEntities

/// The music library's entities, declared as classes, with folded titles.
enum Music {
    @Entity final class Artist: ManagedObject {
        var number: Int
        var name: String
        @Attribute(type: .integer32, isOptional: true) var albumCount = 0
        @Relationship(inverse: \Album.artist) var albums: ToMany<Album>

        #Index<Artist>("byAlbumCount", .descending(\.albumCount), .ascending(\.name), .ascending(\.number))
    }

    @Entity final class Album: ManagedObject {
        var number: Int
        var title: String
        var artist: Artist?
        @Relationship(inverse: \Track.album) var tracks: ToMany<Track>
    }

    @Entity final class Track: ManagedObject {
        var number: Int
        var title: String
        var composer: String?
        var milliseconds: Int32
        var foldedTitle: String
        var album: Album?
        @Relationship(inverse: \Genre.tracks) var genre: Genre?
        var entries: ToMany<PlaylistEntry>
        var words: ToMany<TitleWord>

        #Index<Track>("byFoldedTitle", .ascending(\.foldedTitle), .ascending(\.number))
    }

    @Entity final class Genre: ManagedObject {
        var number: Int
        var name: String
        var tracks: ToMany<Track>
    }

    @Entity final class Playlist: ManagedObject {
        var number: Int
        var name: String
        var entries: ToMany<PlaylistEntry>
    }

    @Entity final class PlaylistEntry: ManagedObject {
        var position: Int32
        var playlist: Playlist?
        var track: Track?

        #Index<PlaylistEntry>("inOrder", .ascending(\.playlist), .ascending(\.position))
    }

    @Entity final class TitleWord: ManagedObject {
        var text: String
        var tracks: ToMany<Track>

        #Index<TitleWord>([\.text])
    }
}
