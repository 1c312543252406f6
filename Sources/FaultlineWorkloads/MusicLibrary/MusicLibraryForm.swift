/// Which of its flaws the music library has.
public struct MusicLibraryFlaws: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Each song of a playlist looks up its album by itself.
    public static let albumPerTrack = MusicLibraryFlaws(rawValue: 1)
    /// Titles are searched as they are, without regard to case and diacritics, which no index serves.
    public static let textSearch = MusicLibraryFlaws(rawValue: 2)
    /// The songs of a playlist are counted by fetching them.
    public static let countByFetching = MusicLibraryFlaws(rawValue: 4)
    /// The length of the library is added up over objects.
    public static let sumInMemory = MusicLibraryFlaws(rawValue: 8)
    /// The songs of an artist's albums are fetched album by album.
    public static let fetchPerAlbum = MusicLibraryFlaws(rawValue: 16)

    public static let all: MusicLibraryFlaws = [
        .albumPerTrack, .textSearch, .countByFetching, .sumInMemory, .fetchPerAlbum,
    ]

    /// The names by which the command line knows them.
    public static let named: [(name: String, flaw: MusicLibraryFlaws)] = [
        ("album", .albumPerTrack), ("search", .textSearch), ("count", .countByFetching), ("sum", .sumInMemory),
        ("lookup", .fetchPerAlbum),
    ]
}

/// The music library's shape.
public struct MusicLibraryForm: Sendable, Hashable {
    /// How many rows a screen shows.
    public var visibleRows: Int
    public var flaws: MusicLibraryFlaws

    public init(visibleRows: Int, flaws: MusicLibraryFlaws) {
        self.visibleRows = visibleRows
        self.flaws = flaws
    }

    /// One and a half screens, in fives.
    var batchSize: Int { (visibleRows * 3 + 9) / 10 * 5 }
}
