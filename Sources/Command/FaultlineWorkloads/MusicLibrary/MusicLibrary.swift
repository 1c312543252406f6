package import FaultlineRecorder
import FaultlineStore
package import Foundation

/// A music library with a screen each for playlists, artists, two kinds of search, and its total length.
///
/// It comes in two forms with the same output, with and without flaws; see ``MusicLibraryFlaws``. Its data is a
/// Chinook database.
package struct MusicLibrary {
    package let form: MusicLibraryForm
    let container: PersistentContainer
    let recorder: Recorder

    /// Opens the store.
    ///
    /// - Parameters:
    ///   - url: The store, which ``prepare(_:from:at:)`` created for a form that searches in the same way.
    ///   - recorder: The recorder; by default the program's own.
    package init(_ form: MusicLibraryForm, at url: URL, recorder: Recorder = .shared) throws {
        self.form = form
        self.recorder = recorder
        let searchesFoldedTitles = !form.flaws.contains(.textSearch)
        var description = PersistentStoreDescription(sampleAt: url)
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

    /// The output that the user has seen, which shows whether both forms display the same.
    package struct Outcome: Sendable, Hashable {
        package var screens = 0
        package var rows = 0
        /// A checksum of all text shown, in order.
        package var checksum: UInt64 = 0

        mutating func show(_ text: String) {
            rows += 1
            checksum.add(text)
        }
    }

    /// Shows every screen once.
    package func run() throws -> Outcome {
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

    /// Runs the work of one screen in a scope.
    func screen<Result>(
        _ name: String, _ outcome: inout Outcome, _ body: (inout Outcome) throws -> Result
    ) rethrows -> Result {
        outcome.screens += 1
        return try recorder.scope(name, kind: .screen) { try body(&outcome) }
    }

    /// Formats a duration: `4:05`.
    static func length(_ milliseconds: Int) -> String {
        let seconds = milliseconds / 1000
        return "\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)"
    }
}
