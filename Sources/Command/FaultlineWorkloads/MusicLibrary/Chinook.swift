import Foundation

/// The rows of a Chinook database, a sample that is published for many databases, here as an SQLite file
/// (https://github.com/lerocha/chinook-database).
struct Chinook: Sendable {
    let artists: [Artist]
    let albums: [Album]
    let genres: [Genre]
    let tracks: [Track]
    let playlists: [Playlist]
    let playlistTracks: [PlaylistTrack]

    /// Reads a file without changing it.
    ///
    /// - Throws: ``ChinookError`` if there is no such file, if it is not a Chinook database, or if a row is invalid.
    init(contentsOf url: URL) throws(ChinookError) {
        let file = try ChinookFile(path: url.path)
        try file.check([
            Artist.self, Album.self, Genre.self, Track.self, Playlist.self, PlaylistTrack.self,
        ])
        artists = try file.rows()
        albums = try file.rows()
        genres = try file.rows()
        tracks = try file.rows()
        playlists = try file.rows()
        playlistTracks = try file.rows()
        if let row = wrongLength() ?? brokenReference() { throw .damaged(url.path, row) }
    }

    /// The first song with a negative or impossibly long duration.
    private func wrongLength() -> String? {
        tracks.first { Int32(exactly: $0.milliseconds) ?? -1 < 0 }.map {
            "Track \($0.id) has an impossible duration of \($0.milliseconds) milliseconds"
        }
    }

    /// The first row that refers to a missing one: SQLite checks references only on request
    /// (https://www.sqlite.org/foreignkeys.html#fk_enable).
    private func brokenReference() -> String? {
        let artists = Set(artists.map(\.id))
        let albums = Set(albums.map(\.id))
        let genres = Set(genres.map(\.id))
        let tracks = Set(self.tracks.map(\.id))
        let playlists = Set(playlists.map(\.id))
        func missing(_ row: String, _ id: Int64?, from table: String, with ids: Set<Int64>) -> String? {
            guard let id, !ids.contains(id) else { return nil }
            return "\(row) refers to \(table) \(id), which does not exist"
        }
        for album in self.albums {
            if let found = missing("Album \(album.id)", album.artist, from: "Artist", with: artists) { return found }
        }
        for track in self.tracks {
            if let found = missing("Track \(track.id)", track.album, from: "Album", with: albums)
                ?? missing("Track \(track.id)", track.genre, from: "Genre", with: genres)
            {
                return found
            }
        }
        for entry in playlistTracks {
            if let found = missing("a PlaylistTrack", entry.playlist, from: "Playlist", with: playlists)
                ?? missing("a PlaylistTrack", entry.track, from: "Track", with: tracks)
            {
                return found
            }
        }
        return nil
    }
}

/// A row of a Chinook table.
protocol ChinookRow: Sendable {
    static var table: String { get }
    /// The columns to read, in the order in which ``init(_:)`` gets them.
    static var columns: [String] { get }

    init(_ row: ChinookFile.Row)
}

// Names that Chinook's schema allows to be missing become empty.
extension Chinook {
    struct Artist: ChinookRow {
        static let table = "Artist"
        static let columns = ["ArtistId", "Name"]
        let id: Int64
        let name: String

        init(_ row: ChinookFile.Row) {
            id = row.integer(0)
            name = row.text(1) ?? ""
        }
    }

    struct Album: ChinookRow {
        static let table = "Album"
        static let columns = ["AlbumId", "Title", "ArtistId"]
        let id: Int64
        let title: String
        let artist: Int64?

        init(_ row: ChinookFile.Row) {
            id = row.integer(0)
            title = row.text(1) ?? ""
            artist = row.reference(2)
        }
    }

    struct Genre: ChinookRow {
        static let table = "Genre"
        static let columns = ["GenreId", "Name"]
        let id: Int64
        let name: String

        init(_ row: ChinookFile.Row) {
            id = row.integer(0)
            name = row.text(1) ?? ""
        }
    }

    struct Track: ChinookRow {
        static let table = "Track"
        static let columns = ["TrackId", "Name", "AlbumId", "GenreId", "Composer", "Milliseconds"]
        let id: Int64
        let name: String
        let album: Int64?
        let genre: Int64?
        let composer: String?
        let milliseconds: Int64

        init(_ row: ChinookFile.Row) {
            id = row.integer(0)
            name = row.text(1) ?? ""
            album = row.reference(2)
            genre = row.reference(3)
            composer = row.text(4)
            milliseconds = row.integer(5)
        }
    }

    struct Playlist: ChinookRow {
        static let table = "Playlist"
        static let columns = ["PlaylistId", "Name"]
        let id: Int64
        let name: String

        init(_ row: ChinookFile.Row) {
            id = row.integer(0)
            name = row.text(1) ?? ""
        }
    }

    struct PlaylistTrack: ChinookRow {
        static let table = "PlaylistTrack"
        static let columns = ["PlaylistId", "TrackId"]
        let playlist: Int64
        let track: Int64

        init(_ row: ChinookFile.Row) {
            playlist = row.integer(0)
            track = row.integer(1)
        }
    }
}
