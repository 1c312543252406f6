import FaultlineTrace

extension [Finding] {
    /// Joins findings that recommend the same change into one, which begins with the largest saving.
    ///
    /// - Parameter change: The subject of the sentence about the others, such as "The index".
    func joined(_ change: Wording) -> [Finding] {
        var groups: [String: [Finding]] = [:]
        for finding in self { groups[finding.signature, default: []].append(finding) }
        return groups.ordered(on: \.key).map { $0.value.joinedToOne(change) }
    }

    private func joinedToOne(_ change: Wording) -> Finding {
        let largest = indices.reduce(startIndex) { best, index in
            self[index].saving.time.median > self[best].saving.time.median ? index : best
        }
        var joined = self[largest]
        guard count > 1 else { return joined }
        for index in indices where index != largest {
            let other = self[index]
            joined.seenAt += other.seenAt
            joined.subjects += other.subjects
            joined.claims += other.claims
            joined.scopes = Array<String>(Set(joined.scopes).union(other.scopes)).sorted()
            let (time, more) = (joined.saving.time, other.saving.time)
            joined.saving.time = Saving.Range(
                median: time.median + more.median, low: time.low + more.low, high: time.high + more.high)
            joined.score = Swift.max(joined.score, other.score)
            // The statement that is tried stands for the others.
            if case .statement(var change) = joined.remedy, case .statement(let more) = other.remedy {
                let rows = Double(change.rows) / Double(Swift.max(1, change.executions))
                let executions =
                    Double(more.time) / Swift.max(1, Double(change.time) / Double(Swift.max(1, change.executions)))
                change.executions &+= UInt64(Swift.min(executions, 1e15))
                change.rows &+= UInt64(Swift.min(rows * executions, 1e15))
                change.time &+= more.time
                joined.remedy = .statement(change)
            }
        }
        joined.explanation.append(
            "\(change) also serves \(count: UInt64(count - 1), "other statement") of this program.")
        return joined
    }
}
