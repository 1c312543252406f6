import FaultlineStore

extension MusicLibrary {
    /// The number of artists that the user opens.
    private static let openedArtists = 10

    /// Shows the artists with the most albums, and the albums of some of them.
    func showArtists(_ context: ManagedObjectContext, _ outcome: inout Outcome) throws {
        let artists = try screen("artists", &outcome) { outcome in
            let artists = try context.fetch(
                FetchRequest<Artist>(
                    sortDescriptors: [.descending("albumCount"), .ascending("name"), .ascending("number")],
                    fetchLimit: max(form.visibleRows, Self.openedArtists)))
            for artist in artists.prefix(form.visibleRows) {
                outcome.show("\(artist.name), \(artist.albumCount) albums")
            }
            return artists
        }
        for artist in artists.prefix(Self.openedArtists) {
            try screen("artist", &outcome) { try showAlbums(of: artist, context, &$0) }
        }
    }

    /// Shows the artist's albums, each with its number of songs, its length and its genre.
    private func showAlbums(
        of artist: Artist, _ context: ManagedObjectContext, _ outcome: inout Outcome
    ) throws {
        let albums = try context.fetch(
            FetchRequest<Album>(
                predicate: PropertyPath("artist") == artist,
                sortDescriptors: [.ascending("title"), .ascending("number")]))
        let perAlbum = form.flaws.contains(.fetchPerAlbum)
        let tracks = perAlbum ? [:] : try self.tracks(of: albums, context)
        for album in albums {
            let songs = perAlbum ? try self.tracks(of: album, context) : tracks[album] ?? []
            let length = songs.reduce(0) { $0 + $1.milliseconds }
            let genre = songs.first?.genre?.name ?? ""
            outcome.show("\(album.title), \(songs.count) songs, \(Self.length(length)), \(genre)")
        }
    }

    private func tracks(of album: Album, _ context: ManagedObjectContext) throws -> [Track] {
        let request = FetchRequest<Track>(
            predicate: PropertyPath("album") == album, sortDescriptors: [.ascending("number")],
            relationshipKeyPathsForPrefetching: ["genre"])
        return Array(try context.fetch(request))
    }

    private func tracks(of albums: FetchResults<Album>, _ context: ManagedObjectContext) throws -> [Album: [Track]] {
        let request = FetchRequest<Track>(
            predicate: .isIn("album", objects: albums.objectIDs), sortDescriptors: [.ascending("number")],
            relationshipKeyPathsForPrefetching: ["genre"])
        var tracks: [Album: [Track]] = [:]
        for track in try context.fetch(request) {
            if let album = track.album { tracks[album, default: []].append(track) }
        }
        return tracks
    }
}
