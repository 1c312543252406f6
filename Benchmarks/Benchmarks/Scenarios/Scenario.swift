import FaultlineStore
import Foundation

/// A typical use of a store.
struct Scenario: Sendable {
    let name: String
    /// Whether the store contains the music before the run.
    var startsFilled = true
    /// Runs the scenario once.
    ///
    /// Returns a sum over everything it shows, which keeps the work from being optimized away.
    let run: @Sendable (PersistentContainer) throws -> Int

    static let all = [importing, scrolling, searching, albumScreen, saveStorm, faultStorm, concurrentReaders]

    /// Creates and saves all objects at once.
    static let importing = Scenario(name: "import", startsFilled: false) { container in
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            try MusicStore.fill(context)
            return context.registeredObjects.count
        }
    }

    /// Lists all tracks with their albums, in batches.
    static let scrolling = Scenario(name: "scroll") { container in
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            let request = FetchRequest<Track>(
                sortDescriptors: [.ascending("title")], fetchBatchSize: 20,
                relationshipKeyPathsForPrefetching: ["album"])
            var shown = 0
            for track in try context.fetch(request) {
                shown += track[Track.title].utf8.count + (track[Track.album]?[Album.title].utf8.count ?? 0)
            }
            return shown
        }
    }

    /// Lists the first tracks whose titles begin with each letter.
    static let searching = Scenario(name: "search") { container in
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            var shown = 0
            for letter in "abcdefghijklmnopqrstuvwxyz" {
                let request = FetchRequest<Track>(
                    predicate: PropertyPath("title").beginsWith(String(letter)),
                    sortDescriptors: [.ascending("title")], fetchLimit: 20)
                for track in try context.fetch(request) { shown += track[Track.title].utf8.count }
            }
            return shown
        }
    }

    /// Shows one album after the other, with its artist and its tracks with their lengths.
    static let albumScreen = Scenario(name: "album screen") { container in
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            var shown = 0
            for number in 0..<50 {
                let request = FetchRequest<Album>(
                    predicate: PropertyPath("title") == "Album \(number)",
                    relationshipKeyPathsForPrefetching: ["artist", "tracks"])
                for album in try context.fetch(request) {
                    shown += album[Album.artist]?[Artist.name].utf8.count ?? 0
                    for track in album[Album.tracks] {
                        shown += track[Track.title].utf8.count + track[Track.milliseconds]
                    }
                }
            }
            return shown
        }
    }

    /// Saves after each change to one object, again and again.
    static let saveStorm = Scenario(name: "save storm") { container in
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            let tracks = try context.fetch(FetchRequest<Track>(fetchLimit: 100))
            for track in tracks {
                track[Track.playCount] += 1
                try context.save()
            }
            return tracks.count
        }
    }

    /// Fires faults one by one on objects of which only the IDs were fetched.
    static let faultStorm = Scenario(name: "fault storm") { container in
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            var shown = 0
            for track in try context.fetch(FetchRequest<Track>(includesPropertyValues: false)) {
                shown += track[Track.milliseconds]
            }
            return shown
        }
    }

    /// Reads all tracks in four contexts on separate threads.
    static let concurrentReaders = Scenario(name: "concurrent readers") { container in
        let sums = Sums()
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            let context = container.newBackgroundContext()
            sums.add(
                Result {
                    try context.performAndWait {
                        var shown = 0
                        for track in try context.fetch(FetchRequest<Track>()) { shown += track[Track.milliseconds] }
                        return shown
                    }
                })
        }
        return try sums.total()
    }

    /// The results of several threads.
    private final class Sums: @unchecked Sendable {
        // The lock guards the results.
        private let lock = NSLock()
        private var results: [Result<Int, any Error>] = []

        func add(_ result: Result<Int, any Error>) {
            lock.withLock { results.append(result) }
        }

        func total() throws -> Int {
            try lock.withLock { try results.reduce(0) { try $0 + $1.get() } }
        }
    }
}
