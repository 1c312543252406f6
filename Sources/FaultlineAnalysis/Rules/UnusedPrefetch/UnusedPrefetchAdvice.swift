internal import FaultlineTrace

/// The words of R20.
struct UnusedPrefetchAdvice {
    let load: UnusedPrefetchRule.Prefetched
    /// The fetch that takes longest.
    let fetch: FetchProfile
    let breakEven: Double

    private var entity: String { fetch.key.shape.entity }
    private var isUnused: Bool { load.share <= UnusedPrefetchRule.unusedShare.value }

    var title: String {
        isUnused
            ? "Do not prefetch \"\(load.path)\" with the fetch of \(entity)"
            : "Load \"\(load.path)\" of \(entity) only for the rows that use it"
    }

    var fix: String {
        isUnused
            ? "Leave the key path out; if one screen needs it and others do not, prefetch it there alone."
            : "Leave the key path out, and fetch what is needed with one request for the objects that lead to it."
    }

    var code: [String] {
        let rest = fetch.key.shape.prefetch.filter { $0 != load.path }.map { "\"\($0)\"" }
        return ["request.relationshipKeyPathsForPrefetching = [\(rest.joined(separator: ", "))]"]
    }

    var explanation: [String] {
        let use = load.use
        let used =
            load.isToMany
            ? "\(Phrase.count(load.asked, "object")) \(load.asked == 1 ? "was" : "were") asked for theirs"
            : "of which \(load.asked == 0 ? "none" : Phrase.count(load.asked)) \(load.asked == 1 ? "was" : "were") used"
        return [
            "\(Phrase.count(use.trips, "trip")) loaded \(Phrase.count(use.rows, "row")) along, \(used): "
                + "\(Phrase.duration(use.time)) of \(Phrase.duration(use.loadTime)).",
            "Prefetching pays from \(Phrase.percent(breakEven)) on.",
        ]
    }
}
