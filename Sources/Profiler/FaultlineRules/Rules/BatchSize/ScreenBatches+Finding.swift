internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// The findings of R02 about results that are shown a screenful at a time.
extension ScreenBatches {
    /// The minimum unused memory that justifies a warning by itself.
    static let minimumMemory = Threshold(
        "R02", "unusedMemory", 262_144.0, .size, "minimum unused memory that justifies a warning")
    /// The minimum unused share of a batch that justifies a warning by itself.
    ///
    /// The cost of a row differs between machines, but the number of loaded rows does not.
    static let wastedShare = Threshold(
        "R02", "unusedShare", 1.0 / 3, .share,
        "minimum unused share of a batch that justifies a warning")
    /// The maximum time the main thread can spend on a frame without dropping it, in nanoseconds.
    static let frame = Threshold("R02", "frame", 8_000_000.0, .time, "maximum time of a frame on the main thread")

    func finding(rule: BatchSizeRule, _ profile: Profile, _ costs: CostModel) -> Finding {
        let fault = self.fault
        let estimate = costs.rows(of: fetch.shape)
        let identity = profile.identities(of: fetch, costs)
        let (before, after) = (use.loadings[size] ?? .init(), use.loadings[advised] ?? .init())
        // A batched fetch first finds identities and then seeks the rows by them. An unbatched fetch does neither.
        let identities =
            fault == .missing ? identity.line.cost(trips: Double(use.executions), rows: Double(use.rows)) : 0
        let sought = fault == .missing ? CostModel.soughtRow * Double(after.rows) : 0
        let factors = CostModel.identityRange
        let sorting = fault == .missing ? WideSort.time(beyond: estimate, of: profile.fetch(fetch)) : StepCost.none
        let (usual, least, most) = (
            (factor: 1.0, sorting: sorting.usual), (factor: factors.upperBound, sorting: sorting.least),
            (factor: factors.lowerBound, sorting: sorting.most)
        )
        let total = estimate.range(usual: usual, least: least, most: most) { line, other in
            line.cost(
                trips: Double(before.batches) - Double(after.batches), rows: Double(before.rows) - Double(after.rows))
                - other.factor * (identities + sought) + other.sorting
        }
        let first =
            identities / Double(max(1, use.executions)) + (sought > 0 ? CostModel.soughtRow * Double(advised) : 0)
        let results = Double(max(1, use.executions))
        let pause = estimate.range(usual: usual, least: least, most: most) { line, other in
            self.pause(line, fault) - other.factor * first + other.sorting / results
        }
        var finding = Finding(
            rule: rule.id, ruleName: rule.name, title: title, change: fetch.site, severity: severity(fault),
            fix: fix(fault), code: ["request.fetchBatchSize = \(advised)"],
            saving: Saving(time: Saving.Range(total)),
            confidence: byPauses
                ? min(.medium("pauses stand in for screens"), estimate.confidence)
                : use.runsLost > 0
                    ? min(.medium("only a part of the rows' use was recorded"), estimate.confidence)
                    : estimate.confidence,
            signature: BatchSizeRule.signature(fetch))
        finding.saving.trips =
            Int64(clamping: before.batches) - Int64(clamping: after.batches)
            - (fault == .missing ? Int64(clamping: use.executions) : 0)
        finding.saving.rows = Int64(clamping: before.rows) - Int64(clamping: after.rows)
        finding.saving.bytes = Int64(saturating: Double(finding.saving.rows) * use.rowSize)
        let surplus = fault == .tooSmall ? 0 : max(0, loaded - Double(advised))
        finding.saving.memory = Int64(saturating: surplus * use.rowSize)
        finding.seenAt = BatchSizeRule.seenAt(use)
        finding.scopes = use.loadScopes.names
        let claim = Claim.loads(fetch, profile)
        finding.claims = [claim]
        finding.remedy = .change(fetch, FetchChange(batchSize: UInt32(clamping: advised)))
        // No wait can get shorter than zero.
        let waits = Double(max(1, fault == .tooSmall ? windows : use.loads))
        var shorter = Saving.Range(pause).limited(to: claim.balance / waits)
        // The user notices the longest of several waits, which exceeds the typical one.
        shorter.high = max(shorter.high, shorter.median * Self.longestWait)
        finding.saving.pause = shorter
        var curve = BatchCurve(use, current: size, line: estimate.line, identity: identity.line) {
            $0.batchSize > 0 && $0.batchSize <= use.maximumRows
        }
        curve.advised = advised
        finding.batchCurve = curve
        describe(&finding, fault, estimate, before, after)
        weigh(&finding, total.median, shorter.median, profile, costsAsMuch: costsAsMuch(curve, pause: shorter.median))
        return finding
    }

    /// The ratio of the longest wait to the typical one: 1.1–1.25 were measured for rows with photos, and 1.6 on a busy
    /// machine.
    private static let longestWait = 1.6

    /// The time by which the wait for a batch gets shorter.
    ///
    /// For batches that are too small, it is the time of the extra trips.
    private func pause(_ line: CostLine, _ fault: Fault) -> Double {
        switch fault {
        case .none: 0
        case .missing, .tooLarge: (loaded - min(rows, Double(advised))) * line.row
        case .tooSmall: (Double(screen) / Double(size)).rounded(.up) * line.trip - line.trip
        }
    }

    /// The severity of the rows that a screen loads but does not show, per row shown.
    ///
    /// For batches that are too small, of the extra trips.
    private func severity(_ fault: Fault) -> Severity {
        let figure =
            fault == .tooSmall
            ? (Double(screen) / Double(size)).rounded(.up) - 1
            : (loaded - Double(advised)) / Double(screen)
        return Severity.of(figure, warning: 0.5, error: 10)
    }

    /// Whether the advised size costs at least as much as the current one, and does not shorten the waits.
    private func costsAsMuch(_ curve: BatchCurve, pause: Double) -> Bool {
        let share = BatchCurve.equality.value - 1
        return curve.cost(advised) * BatchCurve.equality.value >= curve.cost(size)
            && pause <= share * (curve[size]?.wait ?? 0)
    }

    private func weigh(
        _ finding: inout Finding, _ total: Double, _ pause: Double, _ profile: Profile, costsAsMuch: Bool
    ) {
        let wall = wallTime(profile)
        let isMain = Significance.isMost(use.mainThreadLoads, of: use.loads)
        let pauses = pause * Double(max(1, use.loads))
        let isWorth =
            Significance.isMet(saving: max(total, pauses), wallTime: wall, isMainThread: isMain)
            || Double(finding.saving.memory) >= Self.minimumMemory.value
            || !costsAsMuch && loaded - Double(advised) >= loaded * Self.wastedShare.value
        if !isWorth, costsAsMuch {
            finding.downgrade("Both sizes cost about the same here, and the waits are equally long.")
        } else if !isWorth {
            finding.downgrade(
                Significance.tooLittle("The saving of the screens is", of: "their time")
                    + ", and below \(threshold: Self.wastedShare) of the rows.")
        }
        if byPauses {
            finding.reservations.append("No scope marks a screen, so pauses between touched rows stand in for screens.")
        }
        if use.runsLost > 0 {
            finding.reservations.append(
                "Some touched rows did not fit into the recording, so the estimate of trips is too low.")
        }
    }

    /// The total time of the screens, from the mean of the scopes in which rows were loaded.
    private func wallTime(_ profile: Profile) -> UInt64 {
        let scopes = use.loadScopes.compactMap { key, _ in key.kind == .screen ? profile.scope(key) : nil }
        let closed = scopes.reduce(0) { $0 &+ $1.wallTimes.count }
        guard closed > 0 else { return 0 }
        return scopes.reduce(0) { $0 &+ $1.wallTimes.total } / closed &* windows
    }

    private var title: Wording {
        let now: Wording = size == 0 ? "now all rows at once" : "now \(count: size, of: .rows)"
        return "Set the batch size of \(entity: fetch.shape.entity) to \(plain: advised, of: .rows) (\(now))"
    }

    private func fix(_ fault: Fault) -> Wording {
        switch fault {
        case .tooSmall: "Load each screen in one batch, with half a screen to spare."
        case .none, .tooLarge, .missing:
            "Load half a screen more than a screen shows, and the rest when the user scrolls to it."
        }
    }

    private func describe(
        _ finding: inout Finding, _ fault: Fault, _ estimate: CostModel.Estimate, _ before: ResultUse.Loading,
        _ after: ResultUse.Loading
    ) {
        let noun = byPauses ? "burst" : "screen"
        let seen: Wording = "\(count: windows, noun)"
        let held: Wording =
            loaded >= rows ? "all \(decimal: rows, places: 0, of: .rows) rows" : "\(count: size, of: .rows) rows"
        finding.explanation = [
            "\(seen) seen: 95 % of them show at most \(rows: screen), and \(held) are loaded at a "
                + "time."
        ]
        if fault != .tooSmall {
            let surplus = max(0, loaded - Double(screen))
            let size: Wording = surplus * use.rowSize >= 65_536 ? " (\(size: surplus * use.rowSize))" : ""
            // The advice saves the difference of the two.
            let spare = max(0, Double(advised) - Double(screen))
            let spared: Wording = surplus * use.rowSize >= 65_536 ? " (\(size: spare * use.rowSize))" : ""
            finding.explanation.append(
                "The first \(noun) loads \(decimal: surplus, places: 0, of: .rows) rows\(size) that it never shows, "
                    + "and would load \(decimal: spare, places: 0, of: .rows)\(spared) with batches of "
                    + "\(plain: advised, of: .rows).")
        }
        let batches: Wording =
            "\(count: after.batches, "batch", plural: "batches") instead of \(count: before.batches)"
        let loads: Wording =
            before.rows == after.rows
            ? "still loads \(rows: after.rows)"
            : "loads \(rows: after.rows) instead of \(count: before.rows, of: .rows)"
        finding.explanation.append("To show the same rows, the program then needs \(batches), and \(loads).")
        if estimate.line.cost(trips: 1, rows: Double(advised)) > Self.frame.value {
            finding.explanation.append(
                "Even \(plain: advised, of: .rows) rows take longer than a frame: the rows themselves are too large.")
        }
        finding.evidence = [
            Evidence("batchSize", size, .rows), Evidence("advisedBatchSize", advised, .rows),
            Evidence("windows", windows, .count), Evidence("windowRows", screen, .rows),
            Evidence("executions", use.executions, .count), Evidence("matchedRows", use.rows, .rows),
            Evidence("loadedRows", use.loadedRows, .rows), Evidence("touchedRows", use.touchedRows, .rows),
            Evidence("batches", before.batches, .count), Evidence("batchesAdvised", after.batches, .count),
            Evidence("rowBytes", use.rowSize, .bytes),
        ]
    }
}
