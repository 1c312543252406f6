public import FaultlineRecorder
public import FaultlineStore
internal import FaultlineTrace
internal import Testing
internal import XCTest

/// Checks that work asks no more of its store than the limits allow, and otherwise fails the current test.
///
///     @Test func list() throws {
///         try expectRoundTrips(atMost: 2, cacheMisses: 0, startingCold: container) { try showList() }
///     }
///
/// If a test has seeded its store through the same container, or has already run the work, the rows are in memory.
/// Faults then make no trips, and an N+1 passes, however small the limits. With `startingCold`, every row is forgotten
/// first, so the work makes the trips of a program that has just started. Pass the container wherever cache misses or
/// faults matter; leave it out to count the trips of a repeated run.
///
/// Only events in the work's own scope count, on any thread: other tests may run at the same time, even on the same
/// recorder. The failure message lists the events that made the trips, their lines, and the analyzer's advice. Works
/// in Swift Testing and in XCTest.
///
/// - Parameters:
///   - trips: The maximum number of round trips: statements of fetches, batches, prefetches, faults and saves.
///   - rows: The maximum number of rows read; unlimited by default.
///   - cacheMisses: The maximum number of faults that go to the store; unlimited by default.
///   - container: The container whose rows are forgotten before the work starts; by default none are. See
///     `PersistentContainer.forgetRows()`, which waits for the queues of its contexts.
///   - recorder: The recorder of the store's container; by default `Recorder.testing`. It must
///     keep its events in memory. If it has recorded nothing of the work and trips are allowed, or if the container has another
///     recorder, the expectation fails.
///   - work: The work that is checked.
/// - Returns: The result of the work.
/// - Throws: The error of the work; nothing is checked then.
/// - Complexity: O(everything that the recorder has recorded so far).
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
    limits.evaluate(
        scope.map { ScopeRecording(recorder, scope: $0, from: start) }, of: container, on: recorder,
        at: TestLocation(fileID: fileID, filePath: filePath, line: line, column: column))
    return result
}

/// Checks that asynchronous work asks no more of its store than the limits allow, and otherwise fails the current
/// test.
///
/// Works like the synchronous version. For tasks that the work starts without awaiting them, the events up to the
/// work's end count.
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
    limits.evaluate(
        scope.map { ScopeRecording(recorder, scope: $0, from: start) }, of: container, on: recorder,
        at: TestLocation(fileID: fileID, filePath: filePath, line: line, column: column))
    return result
}

/// The place of an expectation in a test.
private struct TestLocation {
    var fileID: String
    var filePath: StaticString
    var line: Int
    var column: Int
}

/// The limits on the work's use of its store.
private struct StoreLimits {
    var trips: Int
    var rows: Int?
    var cacheMisses: Int?

    /// - Parameters:
    ///   - container: The container of the store, if it is known.
    ///   - recorder: The recorder that made the recording.
    func evaluate(
        _ recording: ScopeRecording?, of container: PersistentContainer?, on recorder: Recorder, at test: TestLocation
    ) {
        if let container, container.persistentStoreCoordinator.recorder !== recorder {
            return Self.fail(
                "The container has another recorder, so its trips are not counted; create it with recorder: .testing, or pass its recorder here.",
                at: test)
        }
        guard let recording, recording.hasStore else {
            Self.fail(
                "The recorder has not recorded any store; create the container with recorder: .testing, or pass its recorder here.",
                at: test)
            return
        }
        // Whether other tests have recorded a store must not decide.
        guard recording.hasWork || trips == 0 || recording.lost > 0 else {
            return Self.fail(
                "The recorder has recorded nothing of this work; create the container with recorder: .testing, or pass its recorder here. If the work needs no store, expect at most 0 trips.",
                at: test)
        }
        let counts = recording.counts
        let figures: [(figure: Int, limit: Int?, noun: String)] = [
            (counts.trips, trips, "round trip"), (counts.rows, rows, "row"),
            (counts.cacheMisses, cacheMisses, "cache miss"),
        ]
        let broken = figures.compactMap { figure, limit, noun in
            limit.flatMap { figure > $0 ? "\(Self.count(figure, noun)), at most \($0) expected" : nil }
        }
        if !broken.isEmpty {
            Self.fail(broken.joined(separator: "; ") + ":\n" + recording.explanation(), at: test)
        } else if recording.lost > 0 {
            Self.fail(
                "\(recording.lost) events did not fit in the recorder's memory, so the limits cannot be checked; give it more: "
                    + "Recorder.memory(ringBytes:).", at: test)
        }
    }

    private static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)" + (number == 1 ? "" : noun.hasSuffix("s") ? "es" : "s")
    }

    /// Reports a failure to the library that runs the test.
    private static func fail(_ message: String, at test: TestLocation) {
        // A detached thread does not know its test, but the process's arguments show its library.
        if Test.current != nil || CommandLine.arguments.contains("swift-testing") {
            let location = SourceLocation(
                fileID: test.fileID, filePath: "\(test.filePath)", line: test.line, column: test.column)
            Issue.record(Comment(rawValue: message), sourceLocation: location)
        } else {
            XCTFail(message, file: test.filePath, line: UInt(test.line))
        }
    }
}
