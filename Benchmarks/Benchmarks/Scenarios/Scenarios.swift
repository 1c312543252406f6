import Benchmark
import FaultlineRecorder
import FaultlineStore
import FaultlineTesting

/// What programs do with a store: the time it takes, and what it asks of the store.
///
/// The counts are those of a run of its own that is recorded; the runs that are timed are not.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.wallClock, .cpuTotal, .instructions] + Count.all.map(\.metric), timeUnits: .microseconds,
        warmupIterations: 1, scalingFactor: .one, maxDuration: .seconds(2), maxIterations: 200, thresholds: thresholds)
    for scenario in Scenario.all {
        Benchmark(scenario.name) { benchmark, store in
            // Each import has a store of its own.
            let music = scenario.startsFilled ? store.music : try MusicStore(isFilled: false)
            benchmark.startMeasurement()
            blackHole(try scenario.run(music.container))
            benchmark.stopMeasurement()
            for count in Count.all { benchmark.measurement(count.metric, count.value(store.counts)) }
        } setup: {
            try RecordedStore(scenario)
        }
    }
}

/// What is judged: counts, which are the same every time, and instructions, which differ a little.
///
/// Times are not.
private var thresholds: [BenchmarkMetric: BenchmarkThresholds] {
    var thresholds: [BenchmarkMetric: BenchmarkThresholds] = [
        .wallClock: .none, .cpuTotal: .none, .instructions: BenchmarkThresholds(relative: [.p50: 10, .p90: 10]),
    ]
    for count in Count.all { thresholds[count.metric] = .strict }
    return thresholds
}

/// A store to measure with, and what the scenario asked of one that was recorded.
struct RecordedStore: @unchecked Sendable {
    // Made by the setup and used by one benchmark.
    let music: MusicStore
    let counts: StoreCounts

    init(_ scenario: Scenario) throws {
        music = try MusicStore(isFilled: scenario.startsFilled)
        let recorder = Recorder.memory(ringBytes: 16 << 20)
        let recorded = try MusicStore(recorder: recorder, isFilled: scenario.startsFilled)
        counts = try recorder.countingStore { blackHole(try scenario.run(recorded.container)) }.counts
        precondition(counts.lostEvents == 0, "The recorder of '\(scenario.name)' is too small.")
    }
}

/// A count of the store as a metric.
struct Count: Sendable {
    let metric: BenchmarkMetric
    let value: @Sendable (StoreCounts) -> Int

    static let all = [
        Count("trips") { $0.trips }, Count("rows") { $0.rows }, Count("faults") { $0.faults },
        Count("cache misses") { $0.cacheMisses },
    ]

    private init(_ name: String, _ value: @escaping @Sendable (StoreCounts) -> Int) {
        metric = .custom(name, polarity: .prefersSmaller, useScalingFactor: false)
        self.value = value
    }
}
