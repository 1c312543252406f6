import FaultlineModel

/// The entities of the music library: artists with their albums, songs with their genres, playlists with their
/// entries.
///
/// Titles can be prepared for searching: a normalized copy in the song, and single words in a separate entity.
enum MusicLibraryModel {
    static func make(searchesFoldedTitles: Bool) throws -> ManagedObjectModel {
        try ManagedObjectModel(
            entities: [
                artist, album, searchesFoldedTitles ? trackWithFoldedTitle : track, genre, playlist, playlistEntry,
            ] + (searchesFoldedTitles ? [titleWord] : []))
    }

    private static let artist = EntityDescription(
        "Artist",
        attributes: [
            AttributeDescription("number", .integer64, isOptional: false),
            AttributeDescription("name", .string, isOptional: false),
            AttributeDescription("albumCount", .integer32, defaultValue: 0),
        ],
        relationships: [RelationshipDescription("albums", to: "Album", inverse: "artist", isToMany: true)],
        indexes: [
            FetchIndexDescription(
                "byAlbumCount", elements: [.init("albumCount", isAscending: false), .init("name"), .init("number")])
        ])

    private static let album = EntityDescription(
        "Album",
        attributes: [
            AttributeDescription("number", .integer64, isOptional: false),
            AttributeDescription("title", .string, isOptional: false),
        ],
        relationships: [
            RelationshipDescription("artist", to: "Artist", inverse: "albums"),
            RelationshipDescription("tracks", to: "Track", inverse: "album", isToMany: true),
        ])

    private static let trackAttributes = [
        AttributeDescription("number", .integer64, isOptional: false),
        AttributeDescription("title", .string, isOptional: false),
        AttributeDescription("composer", .string),
        AttributeDescription("milliseconds", .integer32, isOptional: false),
    ]

    private static let trackRelationships = [
        RelationshipDescription("album", to: "Album", inverse: "tracks"),
        RelationshipDescription("genre", to: "Genre", inverse: "tracks"),
        RelationshipDescription("entries", to: "PlaylistEntry", inverse: "track", isToMany: true),
    ]

    private static let track = EntityDescription(
        "Track", attributes: trackAttributes, relationships: trackRelationships)

    private static let trackWithFoldedTitle = EntityDescription(
        "Track",
        attributes: trackAttributes + [AttributeDescription("foldedTitle", .string, isOptional: false)],
        relationships: trackRelationships + [
            RelationshipDescription("words", to: "TitleWord", inverse: "tracks", isToMany: true)
        ],
        indexes: [FetchIndexDescription("byFoldedTitle", on: "foldedTitle", "number")])

    /// A normalized word of titles.
    private static let titleWord = EntityDescription(
        "TitleWord",
        attributes: [AttributeDescription("text", .string, isOptional: false)],
        relationships: [RelationshipDescription("tracks", to: "Track", inverse: "words", isToMany: true)],
        indexes: [FetchIndexDescription("byText", on: "text")])

    private static let genre = EntityDescription(
        "Genre",
        attributes: [
            AttributeDescription("number", .integer64, isOptional: false),
            AttributeDescription("name", .string, isOptional: false),
        ],
        relationships: [RelationshipDescription("tracks", to: "Track", inverse: "genre", isToMany: true)])

    private static let playlist = EntityDescription(
        "Playlist",
        attributes: [
            AttributeDescription("number", .integer64, isOptional: false),
            AttributeDescription("name", .string, isOptional: false),
        ],
        relationships: [RelationshipDescription("entries", to: "PlaylistEntry", inverse: "playlist", isToMany: true)])

    private static let playlistEntry = EntityDescription(
        "PlaylistEntry",
        attributes: [AttributeDescription("position", .integer32, isOptional: false)],
        relationships: [
            RelationshipDescription("playlist", to: "Playlist", inverse: "entries"),
            RelationshipDescription("track", to: "Track", inverse: "entries"),
        ],
        indexes: [FetchIndexDescription("inOrder", on: "playlist", "position")])
}
