/// The time of a loop's fetches, in nanoseconds.
///
/// The functions take the profile of all fetches from the loop's line.
extension LoopEvidence {
    /// The time without work that is done once, such as preparing the statement, for each of the lines that fit the costs.
    func time(_ fetch: FetchProfile?, _ estimate: CostModel.Estimate) -> (CostLine) -> Double {
        let unsaved = pendingTime(fetch)
        let rest = max(0, Double(time) - preparation(fetch) - unsaved)
        return { unsaved + estimate.typical(rest, trips: Double(executions), rows: Double(rows), $0) }
    }

    /// The time once statements are prepared and pages are in memory.
    ///
    /// Fewer than ten fetches have no slowest tenth to leave out, so only the preparation of statements is subtracted.
    func typicalTime(_ fetch: FetchProfile?) -> Double {
        executions < 10 ? max(0, Double(time) - preparation(fetch)) : speeds.typicalTime
    }

    /// The time in which the fetches compared unsaved objects.
    func pendingTime(_ fetch: FetchProfile?) -> Double {
        guard let counts = fetch?.counts, counts.executions > 0 else { return 0 }
        return Double(counts.pendingTime) * Double(min(executions, counts.executions)) / Double(counts.executions)
    }

    private func preparation(_ fetch: FetchProfile?) -> Double { fetch?.counts.prepareTime(of: executions) ?? 0 }
}
