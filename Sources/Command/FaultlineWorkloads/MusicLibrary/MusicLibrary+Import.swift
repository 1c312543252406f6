import FaultlineRecorder
import FaultlineStore
package import Foundation

extension MusicLibrary {
    /// Creates the store of a form from a Chinook database, replacing an existing one.
    ///
    /// This is not recorded, and does not change the database. The same database gives the same store each time.
    ///
    /// - Throws: ``ChinookError`` if the database cannot be read, is incomplete, or is at the store's URL, before
    ///   anything is removed or created. Otherwise the store's error.
    package static func prepare(_ form: MusicLibraryForm, from database: URL, at url: URL) throws {
        let chinook = try Chinook(contentsOf: database)
        guard database.resolvingSymlinksInPath() != url.resolvingSymlinksInPath() else {
            throw ChinookError.isStore(database.path)
        }
        try StoreFiles.remove(at: url)
        let library = try MusicLibrary(form, at: url, recorder: .off())
        let context = library.container.newBackgroundContext()
        try context.performAndWait { try ChinookImport(chinook, form, context).run() }
    }
}

/// Creates objects from rows.
private struct ChinookImport {
    private let chinook: Chinook
    private let form: MusicLibraryForm
    private let context: ManagedObjectContext

    /// The number of objects created between two saves.
    private static let chunk = 500

    init(_ chinook: Chinook, _ form: MusicLibraryForm, _ context: ManagedObjectContext) {
        self.chinook = chinook
        self.form = form
        self.context = context
    }

    func run() throws {
        let albums = try insertAlbums()
        let genres = try insertGenres()
        let tracks = try insertTracks(albums, genres)
        if !form.flaws.contains(.textSearch) { try insertWords(tracks) }
        try insertPlaylists(tracks)
    }

    private func insertAlbums() throws -> [Int64: Album] {
        var artists: [Int64: Artist] = [:]
        for row in chinook.artists {
            let artist = Artist(context: context)
            artist.number = Int(row.id)
            artist.name = row.name
            artists[row.id] = artist
        }
        var albums: [Int64: Album] = [:]
        for row in chinook.albums {
            let album = Album(context: context)
            album.number = Int(row.id)
            album.title = row.title
            if let artist = row.artist.flatMap({ artists[$0] }) {
                album.artist = artist
                artist.albumCount += 1
            }
            albums[row.id] = album
        }
        try context.save()
        return albums
    }

    private func insertGenres() throws -> [Int64: Genre] {
        var genres: [Int64: Genre] = [:]
        for row in chinook.genres {
            let genre = Genre(context: context)
            genre.number = Int(row.id)
            genre.name = row.name
            genres[row.id] = genre
        }
        try context.save()
        return genres
    }

    private func insertTracks(_ albums: [Int64: Album], _ genres: [Int64: Genre]) throws -> [Int64: Track] {
        var tracks: [Int64: Track] = [:]
        for (place, row) in chinook.tracks.enumerated() {
            let track = Track(context: context)
            track.number = Int(row.id)
            track.title = row.name
            track.composer = row.composer
            track.milliseconds = Int(row.milliseconds)
            track.album = row.album.flatMap { albums[$0] }
            track.genre = row.genre.flatMap { genres[$0] }
            if !form.flaws.contains(.textSearch) { track.foldedTitle = TitleText.folded(row.name) }
            tracks[row.id] = track
            if place % Self.chunk == Self.chunk - 1 { try context.save() }
        }
        try context.save()
        return tracks
    }

    private func insertWords(_ tracks: [Int64: Track]) throws {
        var words: [String: TitleWord] = [:]
        for row in chinook.tracks {
            guard let track = tracks[row.id] else { continue }
            // Sorted, because the order of a set varies between runs.
            for text in TitleText.words(row.name).sorted() {
                let word = words[text] ?? TitleWord(context: context)
                word.text = text
                word.tracks.add(track)
                words[text] = word
            }
        }
        try context.save()
    }

    private func insertPlaylists(_ tracks: [Int64: Track]) throws {
        let entries = Dictionary(grouping: chinook.playlistTracks, by: \.playlist)
        for row in chinook.playlists {
            let playlist = Playlist(context: context)
            playlist.number = Int(row.id)
            playlist.name = row.name
            for (position, track) in Self.mixed((entries[row.id] ?? []).map(\.track)).enumerated() {
                let entry = PlaylistEntry(context: context)
                entry.position = position
                entry.playlist = playlist
                entry.track = tracks[track]
                if position % Self.chunk == Self.chunk - 1 { try context.save() }
            }
            try context.save()
        }
    }

    /// Returns songs in the order of a playlist.
    ///
    /// Chinook defines none. The songs are shuffled, always in the same way, because a playlist does not go through
    /// albums one by one.
    private static func mixed(_ tracks: [Int64]) -> [Int64] {
        tracks.sorted { mix($0) < mix($1) }
    }

    /// Maps a number to a unique pseudorandom one.
    private static func mix(_ number: Int64) -> UInt64 {
        let spread = UInt64(bitPattern: number) &* 0x9e37_79b9_7f4a_7c15
        return (spread ^ spread >> 29) &* 0xbf58_476d_1ce4_e5b9
    }
}
