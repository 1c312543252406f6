import FaultlineStore

extension MusicLibrary {
    /// The texts that the user types, letter by letter, to pick from the matching titles.
    private static let typed = ["S", "So", "Sol", "Á", "Ág", "THE", "The T", "m"]
    /// Words that the user searches for in titles.
    private static let words = ["love", "Night", "coração", "ROCK", "não", "you", "de", "xylophone"]

    func showSearches(_ context: ManagedObjectContext, _ outcome: inout Outcome) throws {
        for text in Self.typed {
            try screen("search by title", &outcome) { try showTitles(beginningWith: text, context, &$0) }
        }
        for word in Self.words {
            try screen("search by word", &outcome) { try showTitles(with: word, context, &$0) }
        }
    }

    /// Shows the titles that begin with a text: their number, and as many as fit the screen.
    private func showTitles(
        beginningWith text: String, _ context: ManagedObjectContext, _ outcome: inout Outcome
    ) throws {
        guard !form.flaws.contains(.textSearch) else {
            let request = FetchRequest<Track>(
                predicate: PropertyPath("title").beginsWith(text, options: TitleText.options))
            return show(Self.sorted(try context.fetch(request)), for: text, &outcome)
        }
        let request = FetchRequest<Track>(
            predicate: PropertyPath("foldedTitle").beginsWith(TitleText.folded(text)),
            sortDescriptors: [.ascending("foldedTitle"), .ascending("number")], fetchBatchSize: form.batchSize)
        show(try context.fetch(request), for: text, &outcome)
    }

    /// Shows the titles with a word that begins with a text.
    private func showTitles(
        with text: String, _ context: ManagedObjectContext, _ outcome: inout Outcome
    ) throws {
        let folded = TitleText.folded(text)
        let found: [Track]
        if form.flaws.contains(.textSearch) {
            let request = FetchRequest<Track>(
                predicate: PropertyPath("title").contains(text, options: TitleText.options))
            // Excludes matches in the middle of a word.
            found = try context.fetch(request).filter { TitleText.hasWord(beginningWith: folded, in: $0.title) }
        } else {
            let request = FetchRequest<TitleWord>(
                predicate: PropertyPath("text").beginsWith(folded), relationshipKeyPathsForPrefetching: ["tracks"])
            found = Array(Set(try context.fetch(request).flatMap(\.tracks)))
        }
        show(Self.sorted(found), for: text, &outcome)
    }

    /// Sorts songs by title, ignoring case and diacritics, which would otherwise put Ág after Z.
    private static func sorted(_ tracks: some Sequence<Track>) -> [Track] {
        let keys = tracks.map { (track: $0, title: Array(TitleText.folded($0.title).utf8)) }
        return keys.sorted { left, right in
            if left.title == right.title { return left.track.number < right.track.number }
            return left.title.lexicographicallyPrecedes(right.title)
        }.map(\.track)
    }

    private func show(_ tracks: some RandomAccessCollection<Track>, for text: String, _ outcome: inout Outcome) {
        outcome.show("\(text): \(tracks.count) songs")
        for track in tracks.prefix(form.visibleRows) {
            outcome.show("\(track.title), \(Self.length(track.milliseconds))")
        }
    }
}
