/// The flaws of the music library.
package struct MusicLibraryFlaws: OptionSet, Sendable, Hashable {
    package let rawValue: Int

    package init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Each song of a playlist fires a fault for its album.
    package static let albumPerTrack = MusicLibraryFlaws(rawValue: 1)
    /// Titles are searched without a normalized copy, ignoring case and diacritics, which no index serves.
    package static let textSearch = MusicLibraryFlaws(rawValue: 2)
    /// The songs of a playlist are counted by fetching them.
    package static let countByFetching = MusicLibraryFlaws(rawValue: 4)
    /// The length of the library is summed over objects.
    package static let sumInMemory = MusicLibraryFlaws(rawValue: 8)
    /// The songs of an artist's albums are fetched album by album.
    package static let fetchPerAlbum = MusicLibraryFlaws(rawValue: 16)

    package static let all: MusicLibraryFlaws = [
        .albumPerTrack, .textSearch, .countByFetching, .sumInMemory, .fetchPerAlbum,
    ]

    /// The flaws' names on the command line.
    package static let named: [(name: String, flaw: MusicLibraryFlaws)] = [
        ("album", .albumPerTrack), ("search", .textSearch), ("count", .countByFetching), ("sum", .sumInMemory),
        ("lookup", .fetchPerAlbum),
    ]
}

/// The size of a screen, and the flaws.
package struct MusicLibraryForm: Sendable, Hashable {
    /// How many rows a screen shows.
    package var visibleRows: Int
    package var flaws: MusicLibraryFlaws

    package init(visibleRows: Int, flaws: MusicLibraryFlaws) {
        self.visibleRows = visibleRows
        self.flaws = flaws
    }

    /// One and a half screens, rounded up to a multiple of five.
    var batchSize: Int { (visibleRows * 3 + 9) / 10 * 5 }
}
