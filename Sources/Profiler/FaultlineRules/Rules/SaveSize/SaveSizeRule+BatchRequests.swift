internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

extension SaveSizeRule {
    /// The factor by which a batch request is faster than fetching and saving the objects that it writes.
    ///
    /// Two to three was measured with 2,400 objects on one machine, and four on another.
    private static let speedUp = (least: 2.0, usual: 3.0, most: 5.0)

    /// The findings about objects that were fetched only to be deleted, or set to the same values.
    struct BatchRequests {
        var findings: [Finding] = []
        /// The number of objects that batch requests would replace, by the line that saves them.
        fileprivate var rows: [CallSite?: UInt64] = [:]

        /// Whether batch requests would write most of what a line saves.
        func replaces(_ key: SaveEvidence.Key, _ evidence: SaveEvidence) -> Bool {
            guard let site = key.site, let written = rows[site] else { return false }
            return Significance.isAtLeastHalf(written, of: evidence.small.objects &+ evidence.large.objects)
        }
    }

    func batchRequests(_ profile: Profile) -> BatchRequests {
        var requests = BatchRequests()
        for fetch in profile.fetches {
            guard let demand = ResultDemand(of: fetch), let advice = BatchRequestAdvice(fetch, demand) else { continue }
            requests.findings.append(finding(fetch, demand.tally, advice, profile))
            requests.rows.merge(demand.tally.written.rows) { $0 &+ $1 }
        }
        return requests
    }

    private func finding(
        _ fetch: FetchProfile, _ tally: ResultTally, _ advice: BatchRequestAdvice, _ profile: Profile
    ) -> Finding {
        let written = tally.written
        let time = Double(tally.time) + Double(written.time)
        // A batch request commits too, but only once.
        let avoided = written.saves - min(written.saves, tally.executions)
        let commit = Double(written.commit) * Double(avoided) / Double(max(1, written.saves))
        func saving(_ speedUp: Double) -> Double { time * (1 - 1 / speedUp) + commit }
        var finding = Finding(
            rule: id, ruleName: name, title: advice.title, change: fetch.key.site,
            severity: min(
                Severity.warning,
                Severity.of(
                    Double(tally.rows) / Double(tally.executions), warning: ResultDemand.minimumWritten.value,
                    error: 10_000)),
            fix: advice.fix, code: advice.code,
            saving: Saving(
                time: Saving.Range(
                    (saving(Self.speedUp.usual), saving(Self.speedUp.least), saving(Self.speedUp.most)))),
            confidence: .medium("the share of the time that a batch request saves is assumed"),
            signature: fetch.signature(id, advice.what))
        finding.saving.rows = Int64(clamping: tally.rows)
        finding.saving.bytes = Int64(clamping: tally.bytes)
        finding.seenAt = written.rows.filter { $0.key != nil }.map { Finding.Sighting(site: $0, count: $1, time: 0) }
            .ordered { ($0.count, $1.site?.sortText ?? "") > ($1.count, $0.site?.sortText ?? "") }
        finding.scopes = fetch.counts.scopes.names
        finding.explanation = advice.explanation
        finding.evidence = [
            Evidence("executions", tally.executions, .count), Evidence("rows", tally.rows, .rows),
            Evidence("bytes", tally.bytes, .bytes), Evidence("fetchTime", tally.time, .nanoseconds),
            Evidence("saves", written.saves, .count), Evidence("saveTime", written.time, .nanoseconds),
            Evidence("commit", written.commit, .nanoseconds),
        ]
        finding.claims =
            [Claim.loads(fetch.key, profile)]
            + written.rows.keys.compactMap { $0 }.ordered(on: \.sortText).map { site in
                let share = Double(written.rows[site] ?? 0) / Double(max(1, tally.rows))
                return Claim(
                    SaveDetector.self, SaveEvidence.Key(site: site, entities: []),
                    balance: (Double(written.time) + Double(written.commit)) * share)
            }
        finding.weigh(
            isLongEnough: Significance.isMet(
                saving: finding.saving.time.median, wallTime: profile.wallTime(of: fetch.counts.scopes.keys),
                isMainThread: fetch.isOnMainThread),
            isLargePart: Significance.isMet(rows: finding.saving.rows, of: profile.totals.rowsLoaded), of: "rows")
        return finding
    }
}

/// The wording of R10's findings about batch requests.
private struct BatchRequestAdvice {
    private let entity: String
    /// The properties that are set, or empty if the objects are deleted.
    private let properties: [String]
    private let tally: ResultTally

    /// Returns `nil` if the results had another purpose.
    init?(_ fetch: FetchProfile, _ demand: ResultDemand) {
        switch demand.kind {
        case .deletion: properties = []
        case .update(let names): properties = names
        default: return nil
        }
        entity = fetch.key.shape.entity
        tally = demand.tally
    }

    /// A part of the finding's signature.
    var what: String { properties.isEmpty ? "batchDelete" : "batchUpdate," + properties.joined(separator: ",") }

    private var names: Wording {
        let names = properties.map { "\(entity).\($0)" }
        guard let last = names.last, names.count > 1 else { return .properties(names) }
        return "\(Wording.properties(names.dropLast())) and \(property: last)"
    }

    var title: Wording {
        properties.isEmpty ? "Delete \(entity: entity) with a batch request" : "Set \(names) with a batch request"
    }

    var fix: Wording {
        let what = properties.isEmpty ? "deletes the rows and applies their delete rules" : "sets the values"
        return
            "A \(code: properties.isEmpty ? "BatchDeleteRequest" : "BatchUpdateRequest") \(what) in the store, "
            + "without loading any object. It writes at once, skips validation and ignores unsaved changes. Contexts "
            + "see the changes only after its object IDs are merged into them."
    }

    var code: [String] {
        let merge = "context.mergeChanges(fromContextDidSave: SavedObjectIDs"
        guard !properties.isEmpty else {
            return [
                "let result = try context.execute(BatchDeleteRequest(fetchRequest: request))",
                "\(merge)(deleted: Set(result.objectIDs)))",
            ]
        }
        let values = properties.map { "\"\($0)\": .value(\($0))" }.joined(separator: ", ")
        return [
            "let update = BatchUpdateRequest(fetchRequest: request, propertiesToUpdate: [\(values)])",
            "let result = try context.execute(update)", "\(merge)(updated: Set(result.objectIDs)))",
        ]
    }

    var explanation: [Wording] {
        let objects: Wording = "\(count: tally.rows, "object")"
        let times: Wording = tally.executions == 1 ? "" : " of \(count: tally.executions) fetches"
        let done =
            properties.isEmpty ? "were deleted" : "were set to the same \(properties.count == 1 ? "value" : "values")"
        let saves: Wording = tally.written.saves == 1 ? "the save" : "\(count: tally.written.saves, "save")"
        return [
            "\(objects)\(times) \(done), and the program read none of them.",
            "Fetching them took \(duration: tally.time), and \(saves) \(duration: tally.written.time) "
                + "without COMMIT.",
        ]
    }
}
