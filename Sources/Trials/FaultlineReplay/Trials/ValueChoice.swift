import FaultlineProfile
import FaultlineRecorder
import FaultlineStore
import FaultlineTrace

/// Chooses the values for replayed fetches: the recorded ones, or drawn ones that find about as many rows.
struct ValueChoice {
    let drawing: ValueDrawing
    /// The mean number of texts that matched in a recorded fetch, or `nil` if none were searched.
    let textMatches: Double?
    /// The number of consecutive fetches, each with another value, or `nil` if values may repeat.
    let fetchesOfLoop: Int?

    /// Returns the fetches with values.
    ///
    /// - Parameter samples: The fetches without values.
    /// - Returns: The fetches, for a loop those of one occurrence as far as there are values, and whether the
    ///   values were recorded.
    /// - Throws: ``Untriable`` if the copy has no suitable values.
    func executions(
        for samples: [FetchReplay.Execution], _ context: ManagedObjectContext,
        _ coordinator: PersistentStoreCoordinator, _ recorder: Recorder
    ) throws -> ([FetchReplay.Execution], areRecorded: Bool) {
        let known = samples.compactMap { sample in
            sample.sample.values.flatMap { PredicateValue.values($0) }.flatMap {
                $0.count == drawing.shape.positions.count ? $0 : nil
            }
        }
        if known.count == samples.count, fetchesOfLoop == nil || Self.areAlike(samples) {
            var executions = samples
            for (position, values) in known.enumerated() {
                executions[position].drawn = try drawing.candidate(values, context, coordinator, recorder)
            }
            guard let fetchesOfLoop else { return (executions, true) }
            let distinct = Self.distinct(executions) { $0.drawn?.values ?? [] }
            return (Array(distinct.ordered { $0.weight > $1.weight }.prefix(max(1, fetchesOfLoop))), true)
        }
        guard let fetchesOfLoop else {
            var candidates = try drawing.candidates(context, coordinator, recorder)
            if let textMatches {
                candidates += try drawing.mixtures(
                    candidates, textMatches: textMatches, context, coordinator, recorder)
            }
            return (assign(candidates, to: samples), false)
        }
        let round = Self.round(of: samples, max(1, min(fetchesOfLoop, ValueDrawing.candidates)))
        let candidates = try drawing.candidates(
            context, coordinator, recorder, absent: round.count { $0.sample.rows == 0 })
        let distinct = Self.distinct(candidates, by: \.values)
        return (assign(distinct, to: Self.round(of: samples, min(round.count, distinct.count))), false)
    }

    /// Whether the fetches have similar weights, so that together they resemble one run of a loop.
    private static func areAlike(_ samples: [FetchReplay.Execution]) -> Bool {
        let weights = samples.map(\.weight)
        return (weights.max() ?? 0) <= 4 * (weights.min() ?? 0)
    }

    /// Assigns to each fetch the values with which it finds about as many rows as recorded, and uses each set as rarely
    /// as possible.
    private func assign(
        _ candidates: [ValueDrawing.Candidate], to samples: [FetchReplay.Execution]
    ) -> [FetchReplay.Execution] {
        var uses = Array(repeating: 0, count: candidates.count)
        return samples.map { execution in
            let sample = execution.sample
            let order = { (position: Int) in
                let candidate = candidates[position]
                let rows = Self.distance(Double(sample.cut(candidate.count)), Double(sample.rows))
                let texts = textMatches.map { Self.distance(candidate.textMatches, $0) } ?? 1
                // Finding nothing is a different kind of work.
                let isOther = (candidate.count > 0) != (sample.rows > 0)
                // In a loop, each fetch has a value of its own, even if another would fit better.
                let isTaken = fetchesOfLoop != nil && uses[position] > 0
                return (isTaken ? 1 : 0, isOther ? 1 : 0, Int(max(rows, texts) * 4), uses[position], position)
            }
            let best = candidates.indices.min { order($0) < order($1) } ?? 0
            uses[best] += 1
            var execution = execution
            execution.drawn = candidates[best]
            return execution
        }
    }

    /// Replaces fetches of different weights with `count` fetches of equal weight.
    private static func round(of samples: [FetchReplay.Execution], _ count: Int) -> [FetchReplay.Execution] {
        let all = samples.reduce(0) { $0 + $1.weight }
        var (position, passed) = (0, samples[0].weight)
        return (0..<count).map { number in
            let mark = (Double(number) + 0.5) / Double(count) * all
            while passed < mark, position + 1 < samples.count {
                position += 1
                passed += samples[position].weight
            }
            var execution = samples[position]
            execution.weight = 1
            return execution
        }
    }

    /// The first element with each set of values.
    private static func distinct<Element>(
        _ elements: [Element], by values: (Element) -> [PredicateValue]
    ) -> [Element] {
        var seen: Set<[PredicateValue]> = []
        return elements.filter { seen.insert(values($0)).inserted }
    }

    /// The distance between two numbers, by which twice as many are as far away as half as many.
    private static func distance(_ one: Double, _ other: Double) -> Double {
        let ratio = (one + 1) / (other + 1)
        return min(1e6, max(ratio, 1 / ratio))
    }
}
