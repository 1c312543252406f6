internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// The wording of R20's findings.
struct UnusedPrefetchAdvice {
    let load: UnusedPrefetchRule.Prefetched
    /// The fetch with the longest total time.
    let fetch: FetchProfile
    let breakEven: Double

    private var entity: String { fetch.key.shape.entity }
    private var isUnused: Bool { load.share <= UnusedPrefetchRule.unusedShare.value }

    var title: Wording {
        isUnused
            ? "Do not prefetch \(quoted: load.path) with the fetch of \(entity: entity)"
            : "Load \(quoted: load.path) of \(entity: entity) only for the rows that use it"
    }

    var fix: Wording {
        isUnused
            ? "Leave the key path out. If one screen needs it and others do not, prefetch it only there."
            : "Leave the key path out, and load the related objects with one fetch for the objects that use them."
    }

    var code: [String] {
        let rest = fetch.key.shape.prefetch.filter { $0 != load.path }.map { "\"\($0)\"" }
        return ["request.relationshipKeyPathsForPrefetching = [\(rest.joined(separator: ", "))]"]
    }

    var explanation: [Wording] {
        let use = load.use
        let used: Wording =
            load.isToMany
            ? "and \(count: load.asked, "object") used theirs"
            : "\(load.asked == 0 ? "none" : "\(count: load.asked)" as Wording) of which \(load.asked == 1 ? "was" : "were") used"
        let cached = load.executions - min(load.executions, use.loads)
        let others: [Wording] =
            cached == 0
            ? [] : ["\(count: cached, "more fetch", plural: "more fetches") had nothing to read for it."]
        return [
            "\(trips: use.trips) prefetched \(rows: use.rows), \(used). Prefetching took \(duration: use.time) of the "
                + "fetches' \(duration: use.loadTime)."
        ] + others + [
            "Prefetching pays off if at least \(percent: breakEven) are used."
        ]
    }
}
