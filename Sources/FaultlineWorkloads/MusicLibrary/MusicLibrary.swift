public import FaultlineRecorder
import FaultlineStore
public import Foundation

/// A music library: playlists, artists, two ways to search, and how long it all plays, a screen each.
///
/// It comes in two forms that show the same, with its flaws and without; see ``MusicLibraryFlaws``. Its data is a
/// Chinook database.
public struct MusicLibrary {
    public let form: MusicLibraryForm
    let container: PersistentContainer
    let recorder: Recorder

    /// Opens the store.
    ///
    /// - Parameters:
    ///   - url: The store, which ``prepare(_:from:at:)`` made for a form that searches in the same way.
    ///   - recorder: Records what is done; by default the program's own.
    public init(_ form: MusicLibraryForm, at url: URL, recorder: Recorder = .shared) throws {
        self.form = form
        self.recorder = recorder
        let searchesFoldedTitles = !form.flaws.contains(.textSearch)
        var description = PersistentStoreDescription(url: url)
        // A sample needs no protection from a power cut.
        description.synchronization = .off
        container = try PersistentContainer(
            name: "MusicLibrary",
            managedObjectModel: MusicLibraryModel.make(searchesFoldedTitles: searchesFoldedTitles),
            storeDescription: description,
            classes: [
                Artist.self, Album.self, Track.self, Genre.self, Playlist.self, PlaylistEntry.self,
            ] + (searchesFoldedTitles ? [TitleWord.self] : []),
            recorder: recorder)
    }

    /// What the user has seen, so that both forms can be checked to show the same.
    public struct Outcome: Sendable, Hashable {
        public var screens = 0
        public var rows = 0
        /// A sum over all text that was shown, in its order.
        public var checksum: UInt64 = 0

        mutating func show(_ text: String) {
            rows += 1
            checksum.add(text)
        }
    }

    /// Looks at everything once.
    public func run() throws -> Outcome {
        let context = container.viewContext
        return try context.performAndWait {
            var outcome = Outcome()
            try showPlaylists(context, &outcome)
            try showArtists(context, &outcome)
            try showSearches(context, &outcome)
            try showLibrary(context, &outcome)
            return outcome
        }
    }

    /// Does what one screen takes.
    func screen<Result>(
        _ name: String, _ outcome: inout Outcome, _ body: (inout Outcome) throws -> Result
    ) rethrows -> Result {
        outcome.screens += 1
        return try recorder.scope(name, kind: .screen) { try body(&outcome) }
    }

    /// A length as it is shown: `4:05`.
    static func length(_ milliseconds: Int) -> String {
        let seconds = milliseconds / 1000
        return "\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)"
    }
}
