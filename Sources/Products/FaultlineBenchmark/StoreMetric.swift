#if Benchmarks
import Benchmark
import FaultlineCounting

/// A store count as a metric.
struct StoreMetric: Sendable {
    let metric: BenchmarkMetric
    let count: @Sendable (StoreCounts) -> Int

    static let all = [
        StoreMetric("trips") { $0.trips }, StoreMetric("rows") { $0.rows }, StoreMetric("faults") { $0.faults },
        StoreMetric("cache misses") { $0.cacheMisses },
    ]

    private init(_ name: String, _ count: @escaping @Sendable (StoreCounts) -> Int) {
        metric = .custom(name, polarity: .prefersSmaller, useScalingFactor: false)
        self.count = count
    }
}
#endif
