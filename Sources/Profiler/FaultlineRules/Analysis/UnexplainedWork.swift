package import FaultlineFindings
package import FaultlineProfile
package import FaultlineTrace

/// An operation that takes much of the run, and that no finding explains.
///
/// Rules recognize certain causes. What they find nothing about is not fast for that reason, so a report shows such work
/// with its counts, and says what the rules left out.
package struct UnexplainedWork: Sendable {
    /// The operation's events from all lines, under the line that spent the most time.
    package let group: EventGroup
    /// The other lines, the one with the most time first.
    package let otherSites: [CallSite]
    /// The operation's time as a share of ``whole``, from 0 to 1.
    package let share: Double
    /// The time that ``share`` refers to.
    package let whole: Whole
    /// Sentences about its time, its counts, its plan, and what the rules did not examine.
    package let explanation: [Wording]

    /// A time that the times of operations are compared with.
    package enum Whole: String, Sendable, Hashable, CaseIterable {
        /// From the first process's start to the last one's end.
        case run
        /// All operations, for a run that mostly waits or whose length is unknown.
        case store
    }

    /// The minimum share of the run.
    static let part = 0.05
    /// The minimum share of the store's time, and its minimum time in nanoseconds, in a run that mostly waits.
    static let storePart = 0.25
    static let storeTime: UInt64 = 100_000_000
    /// The minimum time of any, in nanoseconds.
    static let leastTime: UInt64 = 2_000_000
}

extension UnexplainedWork {
    /// The work that no finding explains, the longest first.
    ///
    /// - Parameters:
    ///   - examinations: SQLite's answers about indexes for statements.
    ///   - causes: Findings about the time that single operations take.
    ///   - frequency: Findings about how often they run, which does not explain why each of them takes many steps.
    static func all(
        _ profile: Profile, _ examinations: IndexExaminations, causes: [Finding], frequency: [Finding]
    ) -> [UnexplainedWork] {
        let (causes, frequency) = (causes.map(\.basis), frequency.map(\.basis))
        let open = profile.hotspots.filter { group in
            !causes.contains { $0.contains(group.key) }
                && (group.takesManySteps || group.makesLists || KnownCause.readsAgain(group, examinations)
                    || !frequency.contains { $0.contains(group.key) })
        }
        return Dictionary(grouping: open) { Operation(kind: $0.key.kind, subject: $0.key.subject) }.values
            .compactMap { UnexplainedWork($0, profile, examinations) }
            .ordered {
                ($0.group.totalTime, $1.group.key.sortText) > ($1.group.totalTime, $0.group.key.sortText)
            }
    }

    private struct Operation: Hashable {
        var kind: EventKind
        var subject: EventGroup.Key.Subject
    }

    /// - Parameter groups: Groups of one operation, at least one.
    /// - Returns: `nil` if they take little time.
    private init?(_ groups: [EventGroup], _ profile: Profile, _ examinations: IndexExaminations) {
        let groups = groups.ordered { ($0.totalTime, $1.key.sortText) > ($1.totalTime, $0.key.sortText) }
        var whole = groups[0]
        for other in groups.dropFirst() { whole.merge(other) }
        let (time, storeTime) = (whole.totalTime, profile.totals.storeTime)
        let run = profile.knownWallTime ?? 0
        let ofRun = run == 0 ? 0 : min(1, Double(time) / Double(run))
        let ofStore = storeTime == 0 ? 0 : min(1, Double(time) / Double(storeTime))
        guard time >= Self.leastTime else { return nil }
        if ofRun >= Self.part {
            (share, self.whole) = (ofRun, .run)
        } else if ofStore >= Self.storePart, time >= Self.storeTime {
            (share, self.whole) = (ofStore, .store)
        } else {
            return nil
        }
        group = whole
        var seen = Set([whole.key.site])
        otherSites = groups.compactMap(\.key.site).filter { seen.insert($0).inserted }
        var sentences = [Self.time(whole, share, self.whole)] + Self.counts(whole) + Self.statements(whole, profile)
        if case .statement(let sql) = whole.key.subject {
            let circumstances = KnownCause.Circumstances(sql, profile)
            sentences += Self.plan(circumstances.scans) + Self.unexamined(sql, whole, circumstances, examinations)
        }
        explanation = sentences
    }

    private static func time(_ group: EventGroup, _ share: Double, _ whole: Whole) -> Wording {
        let part: Wording = whole == .run ? "the run" : "the store's time"
        let time: Wording =
            "\(count: group.count, "run") took \(duration: group.totalTime), \(percent: share) of \(part)"
        guard group.count > 1 else { return time + "." }
        return time + ": half of them up to \(duration: group.durations.percentile(50)), the longest "
            + "\(duration: group.durations.maximum)."
    }

    /// Sentences about those counts that can explain the time.
    private static func counts(_ group: EventGroup) -> [Wording] {
        let counts = group.counts
        let isLong = { (time: UInt64) in time >= group.totalTime / 10 && time > 0 }
        var sentences: [Wording] = []
        let scanned = counts.fullScanSteps &+ group.count
        if counts.fullScanSteps > 0, scanned >= 10 &* max(1, counts.rows) {
            sentences.append(
                "SQLite stepped over \(count: scanned, of: .rows) rows of tables for \(rows: counts.rows).")
        } else if counts.virtualMachineSteps >= 1000 &* max(1, counts.rows) {
            sentences.append("SQLite took \(count: counts.virtualMachineSteps, "step") for \(rows: counts.rows).")
        } else if counts.rows > 0 {
            let verb: Wording = group.key.statementType == .write || group.key.kind == .save ? "wrote" : "read"
            sentences.append("It \(verb) \(rows: counts.rows).")
        }
        if counts.sorts > 0 { sentences.append("SQLite sorted \(count: counts.sorts, "time").") }
        if counts.automaticIndexes > 0 {
            sentences.append("SQLite built an index of \(rows: counts.automaticIndexes) for single runs.")
        }
        if isLong(counts.syncTime) {
            sentences.append(
                "\(duration: counts.syncTime) of that it waited for the disk, in \(count: counts.syncs, "sync").")
        }
        if counts.fileReads >= 1000 { sentences.append("SQLite read from files \(count: counts.fileReads, "time").") }
        if isLong(counts.wait), group.key.kind != .wait {
            sentences.append("\(duration: counts.wait) of that it waited for a lock or a queue.")
        }
        if isLong(counts.prepare) { sentences.append("\(duration: counts.prepare) of that it prepared statements.") }
        if isLong(counts.commit) { sentences.append("\(duration: counts.commit) of that were COMMIT.") }
        if isLong(counts.materialise) {
            sentences.append("\(duration: counts.materialise) of that it made objects from rows.")
        }
        if counts.errors > 0 { sentences.append("\(count: counts.errors, "run") failed.") }
        return sentences
    }

    /// A sentence about the statements that took most of a save's time, or about whose statement it is.
    private static func statements(_ group: EventGroup, _ profile: Profile) -> [Wording] {
        if case .statement(let sql) = group.key.subject {
            return CoreDataTable(StatementText(sql).table, profile).map { ["The statement belongs to \($0.owner)."] }
                ?? []
        }
        guard case .saved(let entities) = group.key.subject else { return [] }
        let longest = profile.groups.filter { $0.key.kind == .sql && $0.key.statementType == .write }
            .max { ($0.totalTime, $1.key.sortText) < ($1.totalTime, $0.key.sortText) }
        guard let longest, longest.totalTime <= group.totalTime, 2 * longest.totalTime >= group.totalTime,
            case .statement(let sql) = longest.key.subject,
            entities.contains(where: { sql.contains("\($0) ") || sql.contains("Z\($0.uppercased()) ") })
        else { return [] }
        let words = sql.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let text = Phrase.shortened(words, to: 120)
        let runs: Wording = longest.count == 1 ? "" : ", in \(count: longest.count, "run")"
        return ["\(code: text) took \(duration: longest.totalTime) of that\(runs)."]
    }

    private static func plan(_ scans: Set<String>) -> [Wording] {
        guard !scans.isEmpty else { return [] }
        let lines = scans.sorted().prefix(4).map { "\(code: $0)" as Wording }
        return ["SQLite's plan: \(lines.joined(separator: ", "))."]
    }

    /// Sentences about a cause that no index mends, or about what the rules about scans did not examine.
    private static func unexamined(
        _ sql: String, _ group: EventGroup, _ circumstances: KnownCause.Circumstances, _ examinations: IndexExaminations
    ) -> [Wording] {
        if let cause = KnownCause(sql, group, circumstances, examinations) { return cause.sentences }
        switch examinations[sql] {
        case .nothing(_, let mismatches) where !mismatches.isEmpty: return mismatches.map(\.sentence)
        case .nothing(let hasRecordedValues, _):
            if hasRecordedValues {
                return [
                    "SQLite was asked on a copy of the database: no index that it would use, and no statistics, save steps."
                ]
            }
            return [
                "SQLite was asked on a copy of the database. With values drawn from that copy, neither an index that it would use nor "
                    + "statistics save steps.", "Record with \(code: "--values") to try those of the program.",
            ]
        case .notExamined(let reason): return ["SQLite could not be asked about indexes. \(reason)"]
        case .change, nil: break
        }
        guard group.counts.fullScanSteps > 0 else { return [] }
        if group.key.statementType == .write, circumstances.scans.isEmpty {
            return [
                "Its own plan scans no table: SQLite looks for rows that refer to the changed ones, or runs a trigger. An index "
                    + "on each foreign key that refers to the table avoids the former."
            ]
        }
        var runs = RunSums()
        (runs.executions, runs.rows) = (group.count, group.counts.rows)
        return StatementIndexes.obstacle(StatementText(sql), runs).map { ["R06 proposes no index, because \($0)."] }
            ?? []
    }
}

extension EventGroup {
    /// Whether each of its statements takes many steps for its rows.
    var takesManySteps: Bool {
        let steps = Double(counts.fullScanSteps), rows = Double(max(1, counts.rows))
        return steps >= FetchIndexing.minimumRows.value * Double(count)
            && steps >= FetchIndexing.stepsPerRow.value * rows
    }
}
