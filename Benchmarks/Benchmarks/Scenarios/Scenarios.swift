import Benchmark
import FaultlineBenchmark
import FaultlineStore

/// The scenarios as benchmarks, which report their time and their requests to the store.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        timeUnits: .microseconds, warmupIterations: 1, scalingFactor: .one, maxDuration: .seconds(2),
        maxIterations: 200)
    for scenario in Scenario.all {
        StoreBenchmark(
            scenario.name, changesSubject: !scenario.startsFilled,
            makeSubject: { try MusicStore(recorder: $0, isFilled: scenario.startsFilled) }
        ) { music in
            blackHole(try scenario.run(music.container))
        }
    }
}
