internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// The answers of a copy of the store about indexes for fetches.
extension MissingIndexRule {
    /// Weighs a finding by what the copy showed for the statements of its fetches.
    func weigh(_ finding: inout Finding, byCopyFor fetches: [FetchProfile]) {
        let answers = fetches.flatMap(\.statements.texts.keys).compactMap { examinations[$0] }
        let tunings = answers.compactMap { answer -> StatementTuning? in
            if case .change(let tuning) = answer, !tuning.indexes.isEmpty { tuning } else { nil }
        }
        if let tuning = tunings.max(by: { $0.before.time < $1.before.time }) {
            finding.explanation.append(tuning.measurement)
            if tuning.resemblesRecording, tuning.savedShare >= Self.provenShare {
                finding.confidence = .high
            }
        } else if !answers.isEmpty, answers.allSatisfy({ if case .nothing = $0 { true } else { false } }) {
            finding.downgrade("On a copy of the store, SQLite takes about as many steps with any index.")
        }
    }

    /// The share of the work on the copy that an index must save to be certain.
    private static let provenShare = 0.5

    /// The findings about fetches for which only the copy shows that an index helps: those that seek with an index that finds far
    /// more rows than match.
    ///
    /// Of scans, the trace itself shows how many rows they step over; sorts are R19's.
    ///
    /// - Parameter demands: The indexes that the trace shows to be missing.
    func examinedFetches(_ profile: Profile, besides demands: [Demand]) -> [Finding] {
        let known = Set(demands.flatMap { $0.fetches.map(\.key) })
        var wanted: [IndexProposal: [(fetch: FetchProfile, sql: String, tuning: StatementTuning)]] = [:]
        for fetch in profile.fetches where !known.contains(fetch.key) {
            for sql in fetch.statements.texts.keys.sorted() {
                guard case .change(let tuning)? = examinations[sql], tuning.indexes.count == 1,
                    let index = IndexProposal(
                        table: tuning.indexes[0].table, columns: tuning.indexes[0].columns, profile),
                    tuning.indexes[0].condition == nil, !index.isOfRelationship(profile),
                    tuning.before.plan.contains(where: { $0.hasPrefix("SEARCH t0 USING INDEX") }),
                    fetch.key.shape.compares(index.elements[0].property),
                    !demands.contains(where: { $0.index.serves(index) })
                else { continue }
                wanted[index, default: []].append((fetch, sql, tuning))
                break
            }
        }
        return wanted.map { finding(for: $0.key, $0.value, profile) }
    }

    private func finding(
        for index: IndexProposal, _ examined: [(fetch: FetchProfile, sql: String, tuning: StatementTuning)],
        _ profile: Profile
    ) -> Finding {
        let examined = examined.ordered { ($0.fetch.counts.time, $1.sql) > ($1.fetch.counts.time, $0.sql) }
        let (fetches, tuning) = (examined.map(\.fetch), examined[0].tuning)
        let gained = examined.reduce(0) { sum, one in
            let time = one.fetch.statements.texts[one.sql]?.values.reduce(0) { $0 &+ $1.time } ?? 0
            return sum + Double(time) * one.tuning.savedShare
        }
        let upkeep = Self.upkeep * Double(index.writes(profile))
        let saved = max(0, gained - upkeep)
        let rows = fetches.total(\.rows)
        var finding = Finding(
            rule: id, ruleName: name, title: "Index \(entity: index.entity) by \(index.properties)",
            change: fetches[0].key.site,
            severity: Significance.severity(
                saving: saved, wallTime: profile.knownWallTime ?? 0, isMainThread: fetches[0].isOnMainThread),
            fix: index.namesColumns
                ? index.modelFix : "With it, SQLite seeks the rows that it needs instead of stepping over others.",
            code: index.code,
            saving: Saving(time: .init(median: saved, low: max(0, gained * 0.8 - upkeep), high: gained)),
            confidence: tuning.resemblesRecording
                ? .high : .medium("measured on a copy of the store, with other values"),
            signature: fetches[0].signature(id, index.properties.text))
        finding.seenAt = fetches.dropFirst().map(\.sighting)
        finding.scopes = fetches[0].counts.scopes.names
        finding.explanation = [
            "\(count: fetches.total(\.executions), "fetch", plural: "fetches") returned \(count: rows, of: .rows) in "
                + "\(duration: fetches.total(\.time)).",
            tuning.measurement,
        ]
        finding.evidence = [
            Evidence("executions", fetches.total(\.executions), .count), Evidence("rows", rows, .rows),
            Evidence("fetchTime", fetches.total(\.time), .nanoseconds),
            Evidence("stepsBefore", tuning.before.steps, .count), Evidence("stepsAfter", tuning.after.steps, .count),
        ]
        finding.claims = fetches.map { Claim.loads($0.key, profile) }
        finding.remedy = index.remedy(for: fetches.map(\.key))
        if tuning.savedShare < Self.provenShare {
            finding.downgrade("It saves less than \(percent: Self.provenShare) of the work.")
        } else if upkeep >= gained {
            finding.downgrade(Self.costsMore)
        }
        return finding
    }
}

extension ShapeEntry {
    /// Whether an index on a property serves one of the comparisons.
    fileprivate func compares(_ property: String) -> Bool {
        (terms ?? []).contains { $0.keyPath == property && ($0.isEquality || $0.isRange) }
    }
}

extension StatementTuning {
    /// A sentence about the runs on the copy, with both plans.
    fileprivate var measurement: Wording {
        let plan = { (work: Work) -> Wording in
            let lines = work.plan.prefix(3).map { "\(code: $0)" as Wording }
            return lines.isEmpty ? "none" : lines.joined(separator: ", ")
        }
        return
            "On a copy of the store, \(count: runs, "run") took \(count: before.steps, "step") of SQLite's virtual machine "
            + "(\(plan(before))), and with the index \(count: after.steps) (\(plan(after)))."
    }
}
