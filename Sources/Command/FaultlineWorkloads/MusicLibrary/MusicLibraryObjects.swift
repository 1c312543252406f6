import FaultlineStore

final class Artist: ManagedObject {
    private static let numberKey = AttributeKey<Int>("number")
    private static let nameKey = AttributeKey<String>("name")
    private static let albumCountKey = AttributeKey<Int>("albumCount")

    var number: Int {
        get { self[Self.numberKey] }
        set { self[Self.numberKey] = newValue }
    }

    var name: String {
        get { self[Self.nameKey] }
        set { self[Self.nameKey] = newValue }
    }

    /// A denormalized count, which lets a list of artists do without their albums.
    var albumCount: Int {
        get { self[Self.albumCountKey] }
        set { self[Self.albumCountKey] = newValue }
    }
}

final class Album: ManagedObject {
    private static let numberKey = AttributeKey<Int>("number")
    private static let titleKey = AttributeKey<String>("title")
    private static let artistKey = ToOneKey<Artist>("artist")

    var number: Int {
        get { self[Self.numberKey] }
        set { self[Self.numberKey] = newValue }
    }

    var title: String {
        get { self[Self.titleKey] }
        set { self[Self.titleKey] = newValue }
    }

    var artist: Artist? {
        get { self[Self.artistKey] }
        set { self[Self.artistKey] = newValue }
    }
}

final class Track: ManagedObject {
    private static let numberKey = AttributeKey<Int>("number")
    private static let titleKey = AttributeKey<String>("title")
    private static let foldedTitleKey = AttributeKey<String>("foldedTitle")
    private static let composerKey = AttributeKey<String?>("composer")
    private static let millisecondsKey = AttributeKey<Int>("milliseconds")
    private static let albumKey = ToOneKey<Album>("album")
    private static let genreKey = ToOneKey<Genre>("genre")

    /// The number in Chinook, which follows the order of an album's songs.
    var number: Int {
        get { self[Self.numberKey] }
        set { self[Self.numberKey] = newValue }
    }

    var title: String {
        get { self[Self.titleKey] }
        set { self[Self.titleKey] = newValue }
    }

    /// The normalized title, without case and diacritics, in models that have it.
    var foldedTitle: String {
        get { self[Self.foldedTitleKey] }
        set { self[Self.foldedTitleKey] = newValue }
    }

    var composer: String? {
        get { self[Self.composerKey] }
        set { self[Self.composerKey] = newValue }
    }

    var milliseconds: Int {
        get { self[Self.millisecondsKey] }
        set { self[Self.millisecondsKey] = newValue }
    }

    var album: Album? {
        get { self[Self.albumKey] }
        set { self[Self.albumKey] = newValue }
    }

    var genre: Genre? {
        get { self[Self.genreKey] }
        set { self[Self.genreKey] = newValue }
    }
}

/// A normalized word of titles.
final class TitleWord: ManagedObject {
    private static let textKey = AttributeKey<String>("text")
    private static let tracksKey = ToManyKey<Track>("tracks")

    var text: String {
        get { self[Self.textKey] }
        set { self[Self.textKey] = newValue }
    }

    var tracks: ToMany<Track> { self[Self.tracksKey] }
}

final class Genre: ManagedObject {
    private static let numberKey = AttributeKey<Int>("number")
    private static let nameKey = AttributeKey<String>("name")

    var number: Int {
        get { self[Self.numberKey] }
        set { self[Self.numberKey] = newValue }
    }

    var name: String {
        get { self[Self.nameKey] }
        set { self[Self.nameKey] = newValue }
    }
}

final class Playlist: ManagedObject {
    private static let numberKey = AttributeKey<Int>("number")
    private static let nameKey = AttributeKey<String>("name")

    var number: Int {
        get { self[Self.numberKey] }
        set { self[Self.numberKey] = newValue }
    }

    var name: String {
        get { self[Self.nameKey] }
        set { self[Self.nameKey] = newValue }
    }
}

/// A song at a position in a playlist.
final class PlaylistEntry: ManagedObject {
    private static let positionKey = AttributeKey<Int>("position")
    private static let playlistKey = ToOneKey<Playlist>("playlist")
    private static let trackKey = ToOneKey<Track>("track")

    var position: Int {
        get { self[Self.positionKey] }
        set { self[Self.positionKey] = newValue }
    }

    var playlist: Playlist? {
        get { self[Self.playlistKey] }
        set { self[Self.playlistKey] = newValue }
    }

    var track: Track? {
        get { self[Self.trackKey] }
        set { self[Self.trackKey] = newValue }
    }
}
