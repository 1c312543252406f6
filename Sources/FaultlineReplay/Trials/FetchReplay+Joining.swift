import FaultlineAnalysis
import FaultlineStore

extension FetchReplay {
    /// The fetches as one that asks for the values of all of them, with `IN`, and tells its rows apart.
    ///
    /// - Throws: ``Untriable`` if more than one value is compared, or there is only one to ask for.
    func joined() throws -> FetchReplay {
        guard let other = predicate?.joined() else {
            throw Untriable("Its predicate compares more than the one value that IN would take a list of.")
        }
        let values = executions.flatMap { $0.drawn?.values ?? [] }.flatMap { value in
            if case .list(let values) = value { values } else { [value] }
        }
        guard values.count > 1 else { throw Untriable("The copy has too few values to fetch for several at once.") }
        var replay = self
        replay.predicate = other
        replay.grouping = other.places[0].names
        if absence != nil { replay.absence = [PredicateValue.list(values).absent(0)] }
        let sample = FetchSample.Execution(joining: executions.map(\.sample))
        // As many times as it takes to have what all of them stand for.
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
    /// One fetch that finds what others found.
    fileprivate init(joining others: [FetchSample.Execution]) {
        self.init(rows: others.reduce(0) { $0 &+ $1.rows }, limit: 0, offset: 0, batchSize: 0)
    }
}
