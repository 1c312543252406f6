internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// The findings of R02 about results that are read without pauses.
extension BulkBatches {
    /// - Parameters:
    ///   - curve: The costs with the advised size, which is better than the one in force.
    ///   - estimate: The cost of a trip and of a row, which the curve is based on; `nil` for that of the shape.
    func finding(
        rule: BatchSizeRule, _ curve: BatchCurve, _ profile: Profile, _ costs: CostModel,
        estimate: CostModel.Estimate? = nil
    ) -> Finding {
        let estimate = estimate ?? costs.rows(of: fetch.shape)
        let identity = profile.identities(of: fetch, costs).line
        let advised = curve.advised
        let (now, then) = (curve.cost(size), curve.cost(advised))
        let memory = memory(size, curve)
        let sorting =
            size == 0 && advised > 0
            ? WideSort.time(beyond: estimate, of: profile.fetch(fetch)) : StepCost.none
        let saving = estimate.range(usual: sorting.usual, least: sorting.least, most: sorting.most) { line, sorting in
            sorting + BatchCurve.cost(of: use, size, line, identity) - BatchCurve.cost(of: use, advised, line, identity)
        }
        let figure =
            memory > Self.memoryLimit.value
            ? max(now / max(1, then), memory / Self.memoryLimit.value) : now / max(1, then)
        var finding = Finding(
            rule: rule.id, ruleName: rule.name, title: title(advised), change: fetch.site,
            severity: severity(figure, memory, saving: saving.median, profile), fix: fix(curve),
            code: ["request.fetchBatchSize = \(advised)"], saving: Saving(time: Saving.Range(saving)),
            confidence: use.runsLost > 0
                ? min(.medium("only a part of the rows' use was recorded"), estimate.confidence)
                : estimate.confidence,
            signature: BatchSizeRule.signature(fetch))
        let (before, after) = (use.loadings[size] ?? .init(), use.loadings[advised] ?? .init())
        let identityTrips = { (size: UInt64) in size > 0 ? Int64(clamping: use.executions) : 0 }
        finding.saving.trips =
            Int64(clamping: before.batches) - Int64(clamping: after.batches) + identityTrips(size)
            - identityTrips(advised)
        finding.saving.rows = Int64(clamping: before.rows) - Int64(clamping: after.rows)
        finding.saving.bytes = Int64(saturating: Double(finding.saving.rows) * use.rowSize)
        finding.saving.memory = Int64(saturating: max(0, memory - self.memory(advised, curve)))
        finding.seenAt = BatchSizeRule.seenAt(use)
        finding.scopes = use.loadScopes.names
        finding.claims = [Claim.loads(fetch, profile)]
        finding.remedy = .change(fetch, FetchChange(batchSize: UInt32(clamping: advised)))
        describe(&finding, curve)
        let isMain = Significance.isMost(use.mainThreadLoads, of: use.loads)
        if memory <= Self.memoryLimit.value,
            !Significance.isMet(
                saving: saving.median, wallTime: profile.wallTime(of: use.loadScopes.keys), isMainThread: isMain)
        {
            finding.downgrade(Significance.tooLittle() + ".")
        }
        return finding
    }

    /// - Parameter figure: The ratio of the costs, or of the memory to its limit.
    private func severity(_ figure: Double, _ memory: Double, saving: Double, _ profile: Profile) -> Severity {
        let severity = Severity.of(figure - 1, warning: 0.3, error: 4)
        guard memory <= Self.memoryLimit.value else { return severity }
        // A great ratio of short times is no error.
        let isMain = Significance.isMost(use.mainThreadLoads, of: use.loads)
        return min(
            severity,
            max(
                .warning,
                Significance.severity(
                    saving: saving, wallTime: profile.wallTime(of: use.loadScopes.keys), isMainThread: isMain)))
    }

    private func title(_ advised: UInt64) -> Wording {
        let now: Wording = size == 0 ? "now all rows at once" : "now \(count: size, of: .rows)"
        return advised == 0
            ? "Load \(entity: fetch.shape.entity) at once, without batches (\(now))"
            : "Set the batch size of \(entity: fetch.shape.entity) to \(count: advised, of: .rows) (\(now))"
    }

    private func fix(_ curve: BatchCurve) -> Wording {
        let equal = curve.equalSizes
        if use.isScattered {
            return curve.advised == 0
                ? "The program reads scattered rows, and one trip for all rows costs less than almost one for each."
                : "The program reads scattered rows, and small batches load the fewest unused rows."
        }
        if curve.advised == 0 {
            return "All rows are used, and they fit in memory.\(equal.map { " \($0)." as Wording } ?? "")"
        }
        return equal.map {
            use.rowSize > 0
                ? "\($0). Of those that take little memory, this one needs the fewest trips."
                : "\($0); the smallest of them takes the least memory."
        }
            ?? "Other sizes take more time or more memory."
    }

    private func describe(_ finding: inout Finding, _ curve: BatchCurve) {
        let manner = use.isScattered ? "in scattered places" : "without pauses"
        finding.explanation = [
            "\(count: use.touchedRows, of: .rows) of \(rows: use.rows) were used \(manner), in "
                + "\(count: use.executions, "result")."
        ]
        if use.isScattered {
            finding.alternatives = [
                "Fetch just these rows, by a predicate or by their IDs, so that nothing else is loaded."
            ]
        }
        if use.isScattered, use.loadedRows >= 2 &* use.touchedRows {
            let each = Double(use.loadedRows) / Double(use.touchedRows)
            finding.explanation.append(
                "\(decimal: each, places: 0, of: .rows) rows were loaded for each that was used.")
        }
        finding.evidence = [
            Evidence("batchSize", size, .rows), Evidence("advisedBatchSize", curve.advised, .rows),
            Evidence("executions", use.executions, .count), Evidence("matchedRows", use.rows, .rows),
            Evidence("loadedRows", use.loadedRows, .rows), Evidence("touchedRows", use.touchedRows, .rows),
            Evidence("rowBytes", use.rowSize, .bytes),
        ]
        finding.batchCurve = curve
    }
}
