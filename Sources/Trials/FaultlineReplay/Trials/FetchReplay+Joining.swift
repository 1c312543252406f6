import FaultlineProfile
import FaultlineStore

extension FetchReplay {
    /// Joins the fetches into one for the values of all of them, with `IN`, whose rows are then grouped by value.
    ///
    /// - Throws: ``Untriable`` if the predicate compares more than one value, or there is only one value.
    func joined() throws -> FetchReplay {
        guard let other = predicate?.joined() else {
            throw Untriable("Its predicate compares more values than the one that IN would replace with a list.")
        }
        let values = executions.flatMap { $0.drawn?.values ?? [] }.flatMap { value in
            if case .list(let values) = value { values } else { [value] }
        }
        guard values.count > 1 else { throw Untriable("The copy has too few values to fetch for several at once.") }
        var replay = self
        replay.predicate = other
        replay.grouping = other.positions[0].names
        if absence != nil { replay.absence = [PredicateValue.list(values).absent(0)] }
        let sample = FetchSample.Execution(joining: executions.map(\.sample))
        // The weight makes the joint fetch stand for all recorded ones.
        let (all, size) = executions.reduce((0, 0)) {
            ($0.0 + $1.weight * Double($1.sample.size), $0.1 + Double($1.sample.size))
        }
        replay.executions = [
            Execution(
                sample: sample, weight: all / size,
                drawn: ValueDrawing.Candidate(values: [.list(values)], count: 0, textMatches: 0))
        ]
        return replay
    }
}

extension FetchSample.Execution {
    /// Creates one fetch that returns the rows of several.
    fileprivate init(joining others: [FetchSample.Execution]) {
        self.init(rows: others.reduce(0) { $0 &+ $1.rows }, limit: 0, offset: 0, batchSize: 0)
    }
}
