internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// Fetches from one table for which SQLite chose its plan by stale statistics.
struct OldStatistics {
    /// The numbers of rows that SQLite expects of a step, and that the step visited.
    struct Difference {
        var expected: Double
        var rows: Double
        /// Whether SQLite misjudges the size of the table, rather than the values of an index.
        var isScan: Bool
        /// Whether every run visited exactly the counted rows.
        var isExact: Bool

        /// The ratio of the visited rows to the expected ones.
        var ratio: Double { max(rows, 1) / max(expected, 1) }
        var size: Double { max(ratio, 1 / ratio) }

        /// Whether both misjudge the same thing in the same direction.
        func isLike(_ other: Difference) -> Bool { isScan == other.isScan && (ratio > 1) == (other.ratio > 1) }
    }

    /// The minimum rows, visited or expected, for SQLite's expectation to matter.
    static let minimumRows = 500.0
    /// The minimum runs with an index that rule out a single unusual value.
    static let minimumSearches: UInt64 = 5

    /// The root entity of the table's inheritance tree.
    var entity: String
    /// `nil` if SQLite's statistics are not known to be wrong, but it scans a table that has an index.
    var difference: Difference?
    /// The fetches, the longest total time first.
    var fetches: [FetchProfile]
    /// The fetches that scan the table for a few rows that one of its indexes would find.
    var indexable: [FetchProfile]

    static func all(in profile: Profile) -> [OldStatistics] {
        let suspects = profile.fetches.longestFirst.compactMap { fetch -> Suspect? in
            let suspect = Suspect(
                fetch: fetch, difference: fetch.worstEstimate,
                ignoresIndex: FetchIndexing(fetch: fetch, profile: profile).ignoresIndex)
            return suspect.difference != nil || suspect.ignoresIndex ? suspect : nil
        }
        let tables = Dictionary(grouping: suspects) { profile.tree(of: $0.fetch.key.shape.entity) }
        return tables.ordered(on: \.key).map { entity, suspects in
            let differences = suspects.compactMap(\.difference)
            // A misjudged table outweighs misjudged values.
            let difference = differences.first(where: \.isScan) ?? differences.first
            let concerned = suspects.filter { suspect in
                guard let difference else { return true }
                return suspect.difference?.isLike(difference) ?? difference.isScan
            }
            return OldStatistics(
                entity: entity, difference: difference, fetches: concerned.map(\.fetch),
                indexable: suspects.filter(\.ignoresIndex).map(\.fetch))
        }
    }

    /// A fetch with misjudged rows, or one that ignores an index.
    private struct Suspect {
        var fetch: FetchProfile
        var difference: Difference?
        var ignoresIndex: Bool
    }

    /// The saving, in nanoseconds, of the fetches that could use an index.
    func saving(_ machine: MachineCosts) -> Double {
        indexable.reduce(0) { $0 + $1.scanSaving(with: nil, machine).median }
    }
}

extension FetchProfile {
    /// The largest difference between the rows that SQLite expects of the fetches' statements and those that they
    /// visit, or `nil` if it is small or unknown.
    var worstEstimate: OldStatistics.Difference? {
        var worst: OldStatistics.Difference?
        for (plan, runs) in statements.texts.ordered(on: \.key).flatMap({ $0.value.knownPlans }) {
            let expectation = runs.expectation
            guard expectation.runs > 0 else { continue }
            let count = Double(expectation.runs)
            let difference = OldStatistics.Difference(
                expected: Double(expectation.expectedRows) / count, rows: Double(expectation.rows) / count,
                isScan: StatementTable.ownScan(in: plan) != nil,
                isExact: expectation.exactRuns == expectation.runs)
            guard difference.size >= PlanRule.minimumRatio.value,
                max(difference.expected, difference.rows) >= OldStatistics.minimumRows,
                difference.ratio > 1 || difference.isExact,
                difference.isScan || expectation.runs >= OldStatistics.minimumSearches
            else { continue }
            let isWorse = worst.map { (difference.isScan ? 1 : 0, difference.size) > ($0.isScan ? 1 : 0, $0.size) }
            if isWorse ?? true { worst = difference }
        }
        return worst
    }
}
