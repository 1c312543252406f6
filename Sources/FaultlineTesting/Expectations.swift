public import FaultlineRecorder
public import FaultlineStore
internal import FaultlineTrace
internal import Testing
internal import XCTest

/// Expects work to ask no more of its store than it may, and fails the test in which it runs if it does.
///
///     @Test func list() throws {
///         try expectRoundTrips(atMost: 2, cacheMisses: 0, startingCold: container) { try showList() }
///     }
///
/// A test that has seeded its store through the same container, or has run the work before, finds the rows in memory: faults
/// then make no trips, and an N+1 passes, however small the limits. With `startingCold` every row is forgotten first, and
/// the work asks the store for what a program asks it for that has just started. Pass the container wherever cache misses or
/// faults matter; leave it out to count what the work asks for the second time.
///
/// Counts what happens in the work's own scope, on whatever thread: other tests may run at the same time, on the same
/// recorder too. The message names the events that made the trips, their lines, and what the analyzer advises. Works in
/// Swift Testing and in XCTest.
///
/// - Parameters:
///   - trips: How often SQLite may be asked: the statements of fetches, batches, prefetches, faults and saves.
///   - rows: How many rows may be read; by default any number.
///   - cacheMisses: How many faults may go to the store; by default any number.
///   - container: The container whose rows are forgotten before the work starts; by default they stay. See
///     ``PersistentContainer/forgetRows()``, which waits for the queues of its contexts.
///   - recorder: What the store's container was made with; by default ``FaultlineRecorder/Recorder/testing``. It must
///     keep its events in memory, and a recorder that never saw a store fails the expectation.
/// - Returns: What the work returns.
/// - Throws: What the work throws; then nothing is expected of it.
/// - Complexity: O(everything that the recorder has recorded until now).
@discardableResult
public func expectRoundTrips<Result>(
    atMost trips: Int, rows: Int? = nil, cacheMisses: Int? = nil, startingCold container: PersistentContainer? = nil,
    recorder: Recorder = .testing,
    fileID: String = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column,
    _ work: () throws -> Result
) rethrows -> Result {
    container?.forgetRows()
    let start = recorder.messages().count
    var scope: EventID?
    let result = try recorder.scope("expectation", kind: .test) {
        scope = RecordedScope.current(of: recorder)?.id
        return try work()
    }
    let limits = StoreLimits(trips: trips, rows: rows, cacheMisses: cacheMisses)
    limits.judge(
        scope.map { ScopeRecording(recorder, scope: $0, from: start) },
        at: TestPlace(fileID: fileID, filePath: filePath, line: line, column: column))
    return result
}

/// Expects asynchronous work to ask no more of its store than it may, and fails the test in which it runs if it does.
///
/// Everything is as with work that is not asynchronous. What tasks do that the work starts and does not wait for counts as
/// far as it has happened when the work ends.
@discardableResult
public func expectRoundTrips<Result>(
    atMost trips: Int, rows: Int? = nil, cacheMisses: Int? = nil, startingCold container: PersistentContainer? = nil,
    recorder: Recorder = .testing,
    fileID: String = #fileID, filePath: StaticString = #filePath, line: Int = #line, column: Int = #column,
    _ work: nonisolated(nonsending) () async throws -> Result
) async rethrows -> Result {
    container?.forgetRows()
    let start = recorder.messages().count
    var scope: EventID?
    let result = try await recorder.scope("expectation", kind: .test) {
        scope = RecordedScope.current(of: recorder)?.id
        return try await work()
    }
    let limits = StoreLimits(trips: trips, rows: rows, cacheMisses: cacheMisses)
    limits.judge(
        scope.map { ScopeRecording(recorder, scope: $0, from: start) },
        at: TestPlace(fileID: fileID, filePath: filePath, line: line, column: column))
    return result
}

/// Where an expectation stands in a test.
private struct TestPlace {
    var fileID: String
    var filePath: StaticString
    var line: Int
    var column: Int
}

/// What work may ask of its store.
private struct StoreLimits {
    var trips: Int
    var rows: Int?
    var cacheMisses: Int?

    func judge(_ recording: ScopeRecording?, at place: TestPlace) {
        guard let recording, recording.hasStore else {
            Self.fail(
                "The recorder has recorded no store; make the container with recorder: .testing, or pass its recorder here.",
                at: place)
            return
        }
        let counts = recording.counts
        let figures: [(figure: Int, limit: Int?, thing: String)] = [
            (counts.trips, trips, "round trip"), (counts.rows, rows, "row"),
            (counts.cacheMisses, cacheMisses, "cache miss"),
        ]
        let broken = figures.compactMap { figure, limit, thing in
            limit.flatMap { figure > $0 ? "\(Self.count(figure, thing)), at most \($0) expected" : nil }
        }
        if !broken.isEmpty {
            Self.fail(broken.joined(separator: "; ") + ":\n" + recording.explanation(), at: place)
        } else if recording.lost > 0 {
            Self.fail(
                "\(recording.lost) events did not fit the recorder's memory, without which nothing is proved; give it more: "
                    + "Recorder.memory(ringBytes:).", at: place)
        }
    }

    private static func count(_ number: Int, _ thing: String) -> String {
        "\(number) \(thing)" + (number == 1 ? "" : thing.hasSuffix("s") ? "es" : "s")
    }

    /// Tells the library that runs the test.
    private static func fail(_ message: String, at place: TestPlace) {
        // A thread of its own does not know its test, but the process knows its library.
        if Test.current != nil || CommandLine.arguments.contains("swift-testing") {
            let location = SourceLocation(
                fileID: place.fileID, filePath: "\(place.filePath)", line: place.line, column: place.column)
            Issue.record(Comment(rawValue: message), sourceLocation: location)
        } else {
            XCTFail(message, file: place.filePath, line: UInt(place.line))
        }
    }
}
