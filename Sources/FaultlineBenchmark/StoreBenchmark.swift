#if Benchmarks
    public import Benchmark
    public import FaultlineRecorder
    import FaultlineCounting
    public import Foundation

    /// What a program does with a store, as a benchmark of [ordo-one/benchmark](https://github.com/ordo-one/benchmark).
    ///
    ///     let benchmarks: @Sendable () -> Void = {
    ///         StoreBenchmark("album screen", makeSubject: { try Library(recorder: $0) }) { library in
    ///             try library.showAlbums()
    ///         }
    ///     }
    ///
    /// It reports time and instructions as they are, and what the store was asked for: trips, rows, faults and cache
    /// misses. Those are counted in a run of their own, which is recorded; the runs that are timed are not. Another
    /// recorded run leaves its trace, for `faultline report`, in ``tracesFolder``.
    ///
    /// The counts are the same every time, so that ``thresholds`` take any change of them for a fault; times are reported
    /// and not judged.
    public struct StoreBenchmark {
        /// Where traces are kept: the folder that `FAULTLINE_BENCHMARK_TRACES` names, or else `.benchmarkTraces` in the
        /// current directory.
        ///
        /// A trace is named as its benchmark is, with `_` for what a file's name had better not have.
        public static var tracesFolder: URL {
            let path = ProcessInfo.processInfo.environment["FAULTLINE_BENCHMARK_TRACES"] ?? ".benchmarkTraces"
            return URL(fileURLWithPath: path, isDirectory: true)
        }

        /// Time, instructions and the counts of the store.
        public static var metrics: [BenchmarkMetric] {
            [.wallClock, .cpuTotal, .instructions] + StoreMetric.all.map(\.metric)
        }

        /// What is judged: counts, which are the same every time, and instructions, within 10 %.
        public static var thresholds: [BenchmarkMetric: BenchmarkThresholds] {
            var thresholds: [BenchmarkMetric: BenchmarkThresholds] = [
                .wallClock: .none, .cpuTotal: .none,
                .instructions: BenchmarkThresholds(relative: [.p50: 10, .p90: 10]),
            ]
            for metric in StoreMetric.all { thresholds[metric.metric] = .strict }
            return thresholds
        }

        /// Makes a benchmark.
        ///
        /// - Parameters:
        ///   - configuration: its metrics and thresholds are taken for ``metrics`` and ``thresholds``.
        ///   - changesSubject: whether a run finds something else than the run before has found, such as an import; then
        ///     each run has a subject of its own, which is made outside the measurement. Default: no.
        ///   - makeSubject: opens a store with the recorder that it gets, fills it if need be, and returns whatever
        ///     `body` works with. What it does is not measured.
        ///   - body: the scenario.
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
            // Made by the setup and used by one benchmark.
            let subject: Subject
            let counts: StoreCounts
        }

        private static func count<Subject>(
            _ name: String, _ makeSubject: (Recorder) throws -> Subject, _ body: (Subject) throws -> Void
        ) throws -> StoreCounts {
            let recorder = Recorder.memory(ringBytes: 64 << 20)
            let subject = try makeSubject(recorder)
            let counts = try recorder.countingStore { try body(subject) }.counts
            // A precondition would drop its sentence in a release build.
            if counts.lostEvents > 0 {
                fatalError("'\(name)' makes more events than can be counted; let it do less, or fill less.")
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
