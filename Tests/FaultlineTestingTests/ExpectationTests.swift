import FaultlineRecorder
import FaultlineStore
import FaultlineTesting
import Foundation
import Synchronization
import Testing

@Suite("Round trip expectations")
struct ExpectationTests {
    /// Returns the messages and lines of failed expectations.
    private func failures(_ work: () throws -> Void) throws -> [(text: String, line: Int?)] {
        let found = Mutex<[(text: String, line: Int?)]>([])
        try withKnownIssue(isIntermittent: true) {
            try work()
        } matching: { issue in
            guard issue.error == nil else { return false }
            let text = issue.comments.map(\.rawValue).joined(separator: "\n")
            found.withLock { $0.append((text, issue.sourceLocation?.line)) }
            return true
        }
        return found.withLock { $0 }
    }

    @Test("Work within its limits passes and returns its result")
    func kept() throws {
        let store = try BookStore()
        let letters = try expectRoundTrips(atMost: 2, rows: 24, cacheMisses: 0, recorder: store.recorder) {
            try store.show(prefetching: ["shelf"])
        }
        #expect(letters == 86)
    }

    @Test("Work beyond its limits fails with the events, their lines and the advice")
    func broken() throws {
        let store = try BookStore()
        let line = #line + 2
        let failed = try failures {
            try expectRoundTrips(atMost: 2, rows: 20, cacheMisses: 11, recorder: store.recorder) {
                _ = try store.show(prefetching: [])
            }
        }
        #expect(failed.map(\.line) == [line])
        let lines = try #require(failed.first).text.split(separator: "\n").map(String.init)
        #expect(
            lines.first
                == "13 round trips, at most 2 expected; 24 rows, at most 20 expected; 12 cache misses, at most 11 expected:"
        )
        let words = lines.dropFirst().map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
        #expect(words.count == 3)
        #expect(words[0].hasPrefix("fault Book.shelf 12 × 12 trips 12 rows BookStore.swift:"))
        #expect(words[1].hasPrefix("fetch Book 1 × 1 trip 12 rows BookStore.swift:"))
        #expect(words[2].hasPrefix("→ Prefetch \"shelf\" with the fetch of Book, BookStore.swift:"))
    }

    @Test("A cold start finds an N+1 over rows that the test seeded", arguments: [false, true])
    func coldStart(inViewContext: Bool) throws {
        let store = try BookStore(isWarm: true)
        let context = inViewContext ? store.container.viewContext : nil
        let work = { _ = try store.show(prefetching: [], in: context) }
        // Everything is in memory.
        try expectRoundTrips(atMost: 1, cacheMisses: 0, recorder: store.recorder, work)
        let failed = try failures {
            try expectRoundTrips(
                atMost: 1, cacheMisses: 0, startingCold: store.container, recorder: store.recorder, work)
        }
        #expect(
            failed.first?.text.hasPrefix(
                "13 round trips, at most 1 expected; 12 cache misses, at most 0 expected:") == true, "\(failed)")
        try expectRoundTrips(atMost: 2, cacheMisses: 0, startingCold: store.container, recorder: store.recorder) {
            _ = try store.show(prefetching: ["shelf"], in: context)
        }
    }

    @Test("A cold start keeps unsaved changes and new objects")
    func coldStartKeepsChanges() throws {
        let store = try BookStore(isWarm: true)
        let context = store.container.viewContext
        try context.performAndWait {
            let request = FetchRequest<BookStore.Book>(sortDescriptors: [.ascending("title")])
            let book = try context.fetch(request)[0]
            book[BookStore.Book.title] = "Another"
            let new = BookStore.Shelf(context: context)
            new[BookStore.Shelf.label] = "New"
            store.container.forgetRows()
            #expect(book[BookStore.Book.title] == "Another")
            #expect(book[BookStore.Book.shelf]?[BookStore.Shelf.label] == "Shelf 0")
            #expect(new[BookStore.Shelf.label] == "New")
            try context.save()
            let other = store.container.newBackgroundContext()
            let count = try other.performAndWait {
                try other.fetch(FetchRequest<BookStore.Book>(predicate: PropertyPath("title") == "Another")).count
            }
            #expect(count == 1)
        }
    }

    @Test("Each expectation counts only its own work, under concurrency", arguments: 0..<8)
    func parallel(_ number: Int) async throws {
        // Each test has a store of its own, because loaded rows are shared. All use one recorder.
        let store = SharedStore(store: try BookStore(recorder: .testing))
        let isPrefetched = number % 2 == 0
        let trips = isPrefetched ? 2 : 13
        for _ in 0..<3 {
            let failed = try await Task.detached {
                try failures {
                    try expectRoundTrips(atMost: trips) { _ = try store.show(prefetching: isPrefetched) }
                    try expectRoundTrips(atMost: trips - 1) { _ = try store.show(prefetching: isPrefetched) }
                }
            }.value
            #expect(failed.count == 1)
            #expect(failed.first?.text.hasPrefix("\(trips) round trips, at most \(trips - 1) expected:") == true)
        }
    }

    /// A store that tests use at the same time.
    private static let shared = Result { SharedStore(store: try BookStore(recorder: .testing)) }

    private struct SharedStore: @unchecked Sendable {
        // The contexts of a container may be created and used on any thread.
        let store: BookStore
        func show(prefetching: Bool) throws -> Int { try store.show(prefetching: prefetching ? ["shelf"] : []) }
    }

    @Test("Asynchronous work counts on whatever thread it runs")
    func asynchronous() async throws {
        let store = try Self.shared.get()
        let letters = try await expectRoundTrips(atMost: 2) {
            try await store.store.container.performBackgroundTask { context in
                let request = FetchRequest<BookStore.Book>(relationshipKeyPathsForPrefetching: ["shelf"])
                return try context.fetch(request).reduce(0) {
                    $0 + ($1[BookStore.Book.shelf]?[BookStore.Shelf.label].count ?? 0)
                }
            }
        }
        #expect(letters == 86)
    }

    @Test("An error thrown by the work is rethrown, and nothing is checked")
    func thrown() throws {
        let store = try BookStore()
        #expect(throws: CancellationError.self) {
            try expectRoundTrips(atMost: 0, recorder: store.recorder) {
                _ = try store.show(prefetching: [])
                throw CancellationError()
            }
        }
    }

    @Test("A recorder that saw no store fails the expectation")
    func unseen() throws {
        let text =
            "The recorder has not recorded any store; create the container with recorder: .testing, or pass its recorder here."
        #expect(try failures { expectRoundTrips(atMost: 3, recorder: .memory()) {} }.map(\.text) == [text])
        #expect(try failures { expectRoundTrips(atMost: 3, recorder: .off()) {} }.map(\.text) == [text])
    }

    @Test("A container with another recorder fails the expectation, whatever else the recorder has seen")
    func forgotten() throws {
        let seen = try BookStore(), forgotten = try BookStore(recorder: .off())
        _ = try seen.show(prefetching: [])
        let nothing =
            "The recorder has recorded nothing of this work; create the container with recorder: .testing, or pass its recorder here. If the work needs no store, expect at most 0 trips."
        let plain = try failures {
            try expectRoundTrips(atMost: 3, recorder: seen.recorder) { _ = try forgotten.show(prefetching: []) }
        }
        #expect(plain.map(\.text) == [nothing])
        let other =
            "The container has another recorder, so its trips are not counted; create it with recorder: .testing, or pass its recorder here."
        let cold = try failures {
            try expectRoundTrips(atMost: 0, startingCold: forgotten.container, recorder: seen.recorder) {
                _ = try forgotten.show(prefetching: [])
            }
        }
        #expect(cold.map(\.text) == [other])
        #expect(try failures { expectRoundTrips(atMost: 0, recorder: seen.recorder) {} }.isEmpty)
    }

    @Test("Events that did not fit in memory fail the expectation")
    func lost() throws {
        let store = try BookStore(recorder: .memory(ringBytes: 1 << 12))
        _ = store.recorder.messages()
        let failed = try failures {
            try expectRoundTrips(atMost: 1_000_000, recorder: store.recorder) {
                for _ in 0..<40 { _ = try store.show(prefetching: []) }
            }
        }
        let text = try #require(failed.first).text
        #expect(
            text.hasSuffix(
                " events did not fit in the recorder's memory, so the limits cannot be checked; give it more: "
                    + "Recorder.memory(ringBytes:)."))
        #expect((text.split(separator: " ").first.flatMap { Int($0) } ?? 0) > 0)
    }
}
