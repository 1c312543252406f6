internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// Detects statements that return pages and skip the rows before them, outside any operation of an object store.
struct OffsetDetector: EvidenceDetector {
    static let name = "offsets"
    static let kinds: Set<EventKind> = [.sql]
    /// The most statements and lines to keep.
    private static let capacity = 1024

    var evidence: [StatementSite: OffsetEvidence] = [:]
    /// The texts of statements that skip rows, by their numbers; `nil` for others.
    private var paged: [DictionaryID: String?] = [:]

    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        // A sort reads all rows for each page, wherever that begins.
        guard case .sql(let statement) = event.detail, event.parent == 0, statement.error == 0, statement.sorts == 0,
            statement.type == .read, statement.virtualMachineSteps > 0, !context.isSetup(event.scope),
            let sql = paged(statement.statement, in: context)
        else { return }
        let key = StatementSite(sql: sql, site: context.stackSite(of: event))
        guard hasRoom(for: key, among: Self.capacity) else { return }
        let surroundings = surroundings(of: event.scope, for: key, outside: event.duration, in: &context)
        let library = context.library(on: event.stack)
        evidence[key, default: OffsetEvidence()].count(statement, event, in: surroundings, by: library)
    }

    /// The text of a statement that skips rows.
    private mutating func paged(_ statement: DictionaryID, in context: ProcessContext) -> String? {
        if let known = paged[statement] { return known }
        guard let sql = context.dictionary.statement(statement)?.sql else { return nil }
        paged[statement] = .some(StatementText(sql).isPaged ? sql : nil)
        return paged[statement] ?? nil
    }

    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {}
}

extension Profile {
    /// Statements that skipped rows by an offset, outside any operation of an object store.
    var offsets: [(key: StatementSite, evidence: OffsetEvidence)] {
        evidence(of: OffsetDetector.self)
    }
}

/// Runs of one statement with an offset at one line, outside any operation of an object store.
struct OffsetEvidence: RunEvidence {
    var runs = RunSums()
    /// The steps of SQLite's virtual machine.
    var steps: UInt64 = 0
    /// The steps of the shortest run that returned rows, or 0 if none did.
    var leastSteps: UInt64 = 0
    /// The steps of full scans, also those in the order of an index.
    var fullScanSteps: UInt64 = 0
}

extension OffsetEvidence {
    fileprivate mutating func count(
        _ statement: TraceEvent.Statement, _ event: TraceEvent, in surroundings: Surroundings,
        by library: StatementLibrary?
    ) {
        add(statement, event, in: surroundings, by: library)
        steps &+= statement.virtualMachineSteps
        fullScanSteps &+= UInt64(statement.fullScanSteps)
        guard statement.rows > 0 else { return }
        leastSteps = leastSteps == 0 ? statement.virtualMachineSteps : min(leastSteps, statement.virtualMachineSteps)
    }

    /// The steps for each row that an offset skips, with an index that has the rows in order.
    private static let stepsPerRow = 3.0

    /// The steps beyond those that all runs would take with the offset of the shortest one.
    private var skippingSteps: Double { max(0, Double(steps) - Double(runs.executions) * Double(leastSteps)) }

    /// The number of rows that SQLite stepped over and did not return.
    ///
    /// It counts them only if it scans the whole table. If not, they are estimated from its steps, and the shortest run counts
    /// as the first page.
    var skippedRows: Double {
        if fullScanSteps > 0 { return max(0, Double(fullScanSteps &+ runs.executions) - Double(runs.rows)) }
        return leastSteps == 0 ? 0 : skippingSteps / Self.stepsPerRow
    }

    /// The time for skipping, in nanoseconds, if all steps take as long.
    var skippingTime: Double {
        if fullScanSteps > 0 {
            return Double(runs.time) * skippedRows / max(1, Double(fullScanSteps &+ runs.executions))
        }
        return Double(runs.time) * skippingSteps / max(1, Double(steps))
    }
}

extension OffsetEvidence {
    static let parts: [SumPart<OffsetEvidence>] = [
        .members(\.runs), .sum("steps", \.steps), .minimum("leastSteps", \.leastSteps),
        .sum("fullScanSteps", \.fullScanSteps),
    ]
}

/// Pages that SQLite finds by stepping over all rows before them.
extension UnboundedFetchRule {
    /// The minimum mean of reported offsets, and the minimum ratio of skipped rows to returned ones.
    static let minimumOffset = Threshold(
        "R14", "minimumOffset", 1000, .count, "minimum average offset of a fetch")
    static let offsetFactor = 10.0
    /// The maximum small offset, as a share of the largest.
    private static let nearShare = 0.05

    func paged(_ fetch: FetchProfile, _ profile: Profile, _ costs: CostModel) -> Finding? {
        let counts = fetch.counts
        let mean = Double(counts.skippedRows) / Double(max(1, counts.offsetFetches))
        guard mean >= Self.minimumOffset.value,
            Double(counts.skippedRows) >= Self.offsetFactor * Double(counts.rows)
        else { return nil }
        let measured = Self.measured(fetch)
        let step = costs.machine.steppedRow
        let skipped = Double(counts.skippedRows)
        let saving =
            measured
            ?? Saving.Range(
                (step.usual * skipped, step.least * skipped, step.most * skipped)
            ).limited(to: counts.runTime)
        let advice = OffsetAdvice(fetch: fetch, step: measured.map { $0.median / skipped })
        var finding = Finding(
            rule: id, ruleName: name, title: advice.title, change: fetch.key.site,
            severity: Severity.of(mean, warning: Self.minimumOffset.value, error: 50 * Self.minimumOffset.value),
            fix: advice.fix, code: advice.code, saving: Saving(time: saving),
            confidence: measured == nil
                ? .low("the cost of skipping a row is assumed")
                : saving.high - saving.low <= saving.median / 2 ? .high : .medium("the range of the saving is wide"),
            signature: fetch.signature(id, "offset"))
        finding.seenAt = [fetch.sighting]
        finding.scopes = counts.scopes.names
        finding.explanation = advice.explanation
        finding.alternatives = advice.alternatives
        finding.evidence = [
            Evidence("executions", counts.executions, .count), Evidence("offsetFetches", counts.offsetFetches, .count),
            Evidence("skippedRows", counts.skippedRows, .rows), Evidence("largestOffset", counts.largestOffset, .rows),
            Evidence("rows", counts.rows, .rows), Evidence("fetchTime", counts.time, .nanoseconds),
        ]
        finding.claims = [Claim.loads(fetch.key, profile)]
        if !Significance.isMet(
            saving: saving.median, wallTime: profile.wallTime(of: counts.scopes.keys),
            isMainThread: fetch.isOnMainThread)
        {
            finding.downgrade(Significance.notProven)
        }
        return finding
    }

    /// The time of all fetches beyond the time of fetches with small offsets, which every page would take if it
    /// continued after the last row of the previous one.
    ///
    /// `nil` if there are too few fetches with a small offset, or the others took less.
    private static func measured(_ fetch: FetchProfile) -> Saving.Range? {
        let counts = fetch.counts
        let near = Double(counts.largestOffset) * nearShare
        let pages = fetch.pages.loads.filter { Double($0.rows) <= near }.map { Double($0.duration) }.sorted()
        guard pages.count >= 3 else { return nil }
        let at = { (share: Double) in
            pages[Int((share * Double(pages.count - 1)).rounded())] * Double(counts.executions)
        }
        let typical = min(fetch.speeds.typicalTime, counts.runTime)
        // No page is faster than one with a small offset. If some seem to be, something else delayed the first pages.
        guard typical >= at(0.5) else { return nil }
        return Saving.Range((typical - at(0.5), typical - at(0.75), counts.runTime - at(0.25)))
    }
}

/// The wording of R14's findings about offsets.
struct OffsetAdvice {
    let fetch: FetchProfile
    /// The measured time of a row that an offset skips, in nanoseconds, or `nil` if the trace does not have it.
    let step: Double?

    private var shape: ShapeEntry { fetch.key.shape }

    /// The key paths of the sort keys, with their direction.
    private var keys: [(keyPath: String, isAscending: Bool)] {
        shape.sort.map { text in
            let words = text.split(separator: " ")
            return (words.first.map(String.init) ?? "", words.dropFirst().first != "descending")
        }
    }

    var title: Wording {
        "Continue each page of \(entity: shape.entity) after the last row of the previous page, not by offset"
    }

    var fix: Wording {
        guard let first = keys.first else {
            return
                "Sort by a unique, indexed attribute, remember its value in the last row of a page, and fetch the "
                + "rows after it."
        }
        var sentences: [Wording] = [
            "Remember the last row of a page, and fetch the rows after it: with an index on "
                + "\(property: first.keyPath), SQLite seeks them directly."
        ]
        if keys.count == 1 {
            sentences.append(
                "Rows that share a value of \(property: first.keyPath) need a second sort key that is unique, and a condition on both."
            )
        }
        return sentences.joined(separator: " ")
    }

    var code: [String] {
        guard let first = keys.first, !first.keyPath.hasPrefix("Z"), keys.count <= 2 else { return [] }
        let rest = shape.predicate.isEmpty ? "" : " && predicate"
        let compare = { (key: (keyPath: String, isAscending: Bool), orEqual: Bool) in
            "PropertyPath(\"\(key.keyPath)\") \(key.isAscending ? ">" : "<")\(orEqual ? "=" : "") last.\(Self.value(key.keyPath))"
        }
        guard keys.count == 2 else {
            return ["request.predicate = \(compare(first, false))\(rest)", "request.fetchOffset = 0"]
        }
        return [
            "request.predicate = \(compare(first, true))",
            "    && (\(compare(first, false)) || \(compare(keys[1], false)))\(rest)", "request.fetchOffset = 0",
        ]
    }

    private static func value(_ keyPath: String) -> String {
        keyPath.split(separator: ".").joined(separator: "?.")
    }

    var explanation: [Wording] {
        let counts = fetch.counts
        var sentences: [Wording] = [
            "\(count: counts.offsetFetches, "fetch", plural: "fetches") skipped "
                + "\(rows: counts.skippedRows) with offsets of up to \(count: counts.largestOffset, of: .rows), to "
                + "return \(rows: counts.rows): \(duration: counts.time) in all."
        ]
        let each: Wording = step.map { ", \(duration: $0) measured for each" } ?? ""
        sentences.append(
            "SQLite steps over all rows before the offset\(each), so a page takes longer the further back it is.")
        return sentences
    }

    var alternatives: [Wording] {
        var sentences: [Wording] = ["To jump to a page, remember the sort keys at which pages begin."]
        if fetch.counts.sorts > 0, let first = keys.first {
            sentences.append(
                "Without an index on \(property: first.keyPath), SQLite sorts the rows for each page, wherever the "
                    + "page begins."
            )
        }
        return sentences
    }
}
