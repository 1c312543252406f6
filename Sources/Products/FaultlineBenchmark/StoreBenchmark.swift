#if Benchmarks
public import Benchmark
public import FaultlineRecorder
import FaultlineCounting
public import Foundation

/// A benchmark of a program's work with a store, for [ordo-one/benchmark](https://github.com/ordo-one/benchmark).
///
///     let benchmarks: @Sendable () -> Void = {
///         StoreBenchmark("album screen", makeSubject: { try Library(recorder: $0) }) { library in
///             try library.showAlbums()
///         }
///     }
///
/// It reports time and instructions, and the counts of trips, rows, faults and cache misses. The counts come from
/// a separate run that is recorded; the timed runs are not. Another recorded run leaves its trace in
/// ``tracesFolder``, for `faultline report`.
///
/// The counts are the same every time, so ``thresholds`` treat any change of them as a failure; times are reported
/// but have no threshold.
public struct StoreBenchmark {
    /// The folder for traces: the one in `FAULTLINE_BENCHMARK_TRACES`, or else `.benchmarkTraces` in the current
    /// directory.
    ///
    /// A trace has the name of its benchmark, with `_` for characters that are unsuitable for file names.
    public static var tracesFolder: URL {
        let path = ProcessInfo.processInfo.environment["FAULTLINE_BENCHMARK_TRACES"] ?? ".benchmarkTraces"
        return URL(fileURLWithPath: path, isDirectory: true)
    }

    /// Time, instructions and the counts of the store.
    public static var metrics: [BenchmarkMetric] {
        [.wallClock, .cpuTotal, .instructions] + StoreMetric.all.map(\.metric)
    }

    /// The thresholds: counts must be equal, instructions may differ by 10 %, and times have no threshold.
    public static var thresholds: [BenchmarkMetric: BenchmarkThresholds] {
        var thresholds: [BenchmarkMetric: BenchmarkThresholds] = [
            .wallClock: .none, .cpuTotal: .none,
            .instructions: BenchmarkThresholds(relative: [.p50: 10, .p90: 10]),
        ]
        for metric in StoreMetric.all { thresholds[metric.metric] = .strict }
        return thresholds
    }

    /// Creates a benchmark.
    ///
    /// - Parameters:
    ///   - name: The name, unique in the program.
    ///   - configuration: The configuration; its metrics and thresholds are replaced by ``metrics`` and
    ///     ``thresholds``.
    ///   - changesSubject: Whether a run changes the state that the next run finds, like an import; each run then
    ///     gets its own subject, created outside the measurement. Default: no.
    ///   - makeSubject: Opens a store with the given recorder, fills it if necessary, and returns the subject for
    ///     `body`. It is not measured.
    ///   - body: The scenario.
    @discardableResult
    public init<Subject>(
        _ name: String, configuration: Benchmark.Configuration = Benchmark.defaultConfiguration,
        changesSubject: Bool = false, makeSubject: @escaping @Sendable (Recorder) throws -> Subject,
        body: @escaping @Sendable (Subject) throws -> Void
    ) {
        var configuration = configuration
        configuration.metrics = Self.metrics
        configuration.thresholds = Self.thresholds
        Benchmark(name, configuration: configuration) { (benchmark: Benchmark, prepared: Prepared<Subject>) in
            let subject = changesSubject ? try makeSubject(.off()) : prepared.subject
            benchmark.startMeasurement()
            try body(subject)
            benchmark.stopMeasurement()
            for metric in StoreMetric.all { benchmark.measurement(metric.metric, metric.count(prepared.counts)) }
        } setup: {
            try Self.keepTrace(of: name, makeSubject, body)
            return Prepared(
                subject: try makeSubject(.off()), counts: try Self.count(name, makeSubject, body))
        }
    }

    private struct Prepared<Subject>: @unchecked Sendable {
        // Created by the setup and used by one benchmark.
        let subject: Subject
        let counts: StoreCounts
    }

    private static func count<Subject>(
        _ name: String, _ makeSubject: (Recorder) throws -> Subject, _ body: (Subject) throws -> Void
    ) throws -> StoreCounts {
        let recorder = Recorder.memory(ringBytes: 64 << 20)
        let subject = try makeSubject(recorder)
        let counts = try recorder.countingStore { try body(subject) }.counts
        // A precondition would omit its message in a release build.
        if counts.lostEvents > 0 {
            fatalError(
                "'\(name)' records more events than fit in the recorder's memory; reduce its work or its data.")
        }
        return counts
    }

    private static func keepTrace<Subject>(
        of name: String, _ makeSubject: (Recorder) throws -> Subject, _ body: (Subject) throws -> Void
    ) throws {
        let folder = tracesFolder
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = name.map { $0.isLetter || $0.isNumber || "-.".contains($0) ? $0 : "_" }
        let path = folder.appendingPathComponent(String(file) + ".json").path
        let recorder = try Recorder.writing(to: .timeline(path: path))
        let subject = try recorder.scope("preparation") { try makeSubject(recorder) }
        try recorder.scope(name) { try body(subject) }
        if let problem = recorder.close() {
            FileHandle.standardError.write(Data("\(problem)\n".utf8))
        }
    }
}
#endif
