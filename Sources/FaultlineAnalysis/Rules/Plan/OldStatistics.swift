internal import FaultlineTrace

/// Fetches from one table for which SQLite chose its plan by statistics that are not those of the table.
struct OldStatistics {
    /// What SQLite expects of a step, and what it went to, in rows each time.
    struct Difference {
        var expected: Double
        var rows: Double
        /// Whether it is the table that SQLite is wrong about, and not the values of an index.
        var isScan: Bool
        /// Whether it went to no more than that in any run.
        var isExact: Bool

        /// How many times as many rows there are, or as few.
        var ratio: Double { max(rows, 1) / max(expected, 1) }
        var size: Double { max(ratio, 1 / ratio) }

        /// Whether both are of one thing, and off in the same direction.
        func isLike(_ other: Difference) -> Bool { isScan == other.isScan && (ratio > 1) == (other.ratio > 1) }
    }

    /// The minimum rows, present or expected, for SQLite's expectation to matter.
    static let minimumRows = 500.0
    /// The minimum runs with an index that rule out a single unusual value.
    static let minimumSearches: UInt64 = 5

    /// The entity at the top of the table's inheritance tree.
    var entity: String
    /// `nil`: SQLite's numbers are not known to be wrong, and yet it goes through a table that has an index.
    var difference: Difference?
    /// The longest time first.
    var fetches: [FetchProfile]
    /// Those among them that go through the table for a few rows which one of its indexes would find.
    var indexable: [FetchProfile]

    static func all(in profile: Profile) -> [OldStatistics] {
        let suspects = profile.fetches.longestFirst.compactMap { fetch -> Suspect? in
            let suspect = Suspect(
                fetch: fetch, difference: fetch.misjudgement,
                ignoresIndex: FetchIndexing(fetch: fetch, profile: profile).ignoresIndex)
            return suspect.difference != nil || suspect.ignoresIndex ? suspect : nil
        }
        let tables = Dictionary(grouping: suspects) { profile.tree(of: $0.fetch.key.shape.entity) }
        return tables.sorted { $0.key < $1.key }.map { entity, suspects in
            let differences = suspects.compactMap(\.difference)
            // What is said of the whole table weighs more than what is said of some values.
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

    /// Fetches of which one of the two is so.
    private struct Suspect {
        var fetch: FetchProfile
        var difference: Difference?
        var ignoresIndex: Bool
    }

    /// What the fetches that could take an index would save with it, in nanoseconds.
    func saving(_ machine: MachineCosts) -> Double {
        indexable.reduce(0) { $0 + $1.sparedScan(with: nil, machine).median }
    }
}

extension FetchProfile {
    /// What SQLite expects of the fetches' statements and how far that is from what they met; `nil`: it is not far off, or
    /// it is not known.
    var misjudgement: OldStatistics.Difference? {
        var worst: OldStatistics.Difference?
        for (plan, runs) in statements.texts.sorted(by: { $0.key < $1.key }).flatMap({ $0.value.knownPlans }) {
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
