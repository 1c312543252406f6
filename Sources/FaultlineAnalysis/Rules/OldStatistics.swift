internal import FaultlineTrace

/// Fetches from one table of which SQLite's statistics say something else than what the fetches met.
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
    }

    /// Rows, those that are there or those that are expected, from which on it matters what SQLite expects.
    static let minimumRows = 500.0

    /// The entity at the top of the table's inheritance tree.
    var entity: String
    var difference: Difference
    /// The longest time first.
    var fetches: [FetchProfile]

    static func all(in profile: Profile) -> [OldStatistics] {
        let misjudged = profile.fetches.filter { $0.misjudgement != nil }
        let tables = Dictionary(grouping: misjudged) { fetch in
            profile.entity(fetch.key.shape.entity)?.root ?? fetch.key.shape.entity
        }
        return tables.sorted { $0.key < $1.key }.compactMap { entity, fetches in
            let fetches = fetches.longestFirst
            let differences = fetches.compactMap(\.misjudgement)
            // What is said of the whole table weighs more than what is said of some values.
            guard let difference = differences.first(where: \.isScan) ?? differences.first else { return nil }
            return OldStatistics(entity: entity, difference: difference, fetches: fetches)
        }
    }

    /// The fetches that go through the table for a few rows which an index could find.
    func indexable(_ profile: Profile) -> [FetchProfile] {
        difference.ratio > 1 ? fetches.filter { MissingIndexRule.candidate(for: $0, profile) != nil } : []
    }

    /// What these would save if SQLite took an index, in nanoseconds.
    func saving(_ profile: Profile) -> Double {
        indexable(profile).reduce(0) { $0 + MissingIndexRule.scanning($1) }
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
            guard difference.size >= PlanRule.minimumRatio,
                max(difference.expected, difference.rows) >= OldStatistics.minimumRows,
                difference.ratio > 1 || difference.isExact
            else { continue }
            let isWorse = worst.map { (difference.isScan ? 1 : 0, difference.size) > ($0.isScan ? 1 : 0, $0.size) }
            if isWorse ?? true { worst = difference }
        }
        return worst
    }
}
