import FaultlineStore

extension MusicLibrary {
    /// The number of songs on a playlist's card.
    private static let previewCount = 3
    /// The number of screens that the user scrolls through in a playlist.
    private static let screensPerPlaylist = 5

    /// Shows the list of playlists, then each as a card and as a list of songs.
    func showPlaylists(_ context: ManagedObjectContext, _ outcome: inout Outcome) throws {
        let playlists = try screen("playlists", &outcome) { outcome in
            let playlists = try context.fetch(FetchRequest<Playlist>(sortDescriptors: [.ascending("number")]))
            for playlist in playlists { outcome.show(playlist.name) }
            return playlists
        }
        for playlist in playlists {
            try screen("playlist card", &outcome) { try showCard(of: playlist, context, &$0) }
            try showSongs(of: playlist, context, &outcome)
        }
    }

    private func entries(of playlist: Playlist, prefetching keyPath: String) -> FetchRequest<PlaylistEntry> {
        FetchRequest(
            predicate: PropertyPath("playlist") == playlist, sortDescriptors: [.ascending("position")],
            relationshipKeyPathsForPrefetching: [keyPath])
    }

    /// Shows the playlist's number of songs, and its first three.
    private func showCard(
        of playlist: Playlist, _ context: ManagedObjectContext, _ outcome: inout Outcome
    ) throws {
        var request = entries(of: playlist, prefetching: "track")
        let count: Int
        let first: FetchResults<PlaylistEntry>
        if form.flaws.contains(.countByFetching) {
            let all = try context.fetch(request)
            count = all.count
            first = all
        } else {
            count = try context.count(for: request)
            request.fetchLimit = Self.previewCount
            first = try context.fetch(request)
        }
        outcome.show("\(playlist.name), \(count) songs")
        for entry in first.prefix(Self.previewCount) { outcome.show(entry.track?.title ?? "") }
    }

    /// Scrolls through the first songs, which are shown with their albums.
    private func showSongs(
        of playlist: Playlist, _ context: ManagedObjectContext, _ outcome: inout Outcome
    ) throws {
        let perTrack = form.flaws.contains(.albumPerTrack)
        var request = entries(of: playlist, prefetching: perTrack ? "track" : "track.album")
        request.fetchBatchSize = form.batchSize
        let entries = try screen("playlist", &outcome) { outcome in
            let entries = try context.fetch(request)
            showRows(from: 0, of: entries, &outcome)
            return entries
        }
        let end = min(entries.count, Self.screensPerPlaylist * form.visibleRows)
        for top in stride(from: form.visibleRows, to: end, by: form.visibleRows) {
            screen("playlist", &outcome) { showRows(from: top, of: entries, &$0) }
        }
    }

    private func showRows(from top: Int, of entries: FetchResults<PlaylistEntry>, _ outcome: inout Outcome) {
        for index in top..<min(top + form.visibleRows, entries.count) {
            guard let track = entries[index].track else { continue }
            let album = track.album?.title ?? ""
            outcome.show("\(track.title), \(album), \(Self.length(track.milliseconds))")
        }
    }
}
