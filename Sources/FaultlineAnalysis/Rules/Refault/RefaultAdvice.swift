internal import FaultlineTrace

/// The wording of R11's findings.
struct RefaultAdvice {
    let key: RefaultEvidence.Key
    let evidence: RefaultEvidence
    /// The limit of the row cache in bytes, or `nil` if the trace does not have it.
    let limit: UInt64?
    /// `nil` if no line dominates.
    let evictor: Evictor?
    /// The rows and bytes that the row cache evicted, or 0 in traces of older recorders.
    let evictions: (rows: UInt64, bytes: UInt64)

    /// The line for which more than half of all bytes of objects were read.
    struct Evictor {
        let site: CallSite
        let bytes: UInt64
        let share: Double

        /// Returns `nil` if there is none.
        init?(_ profile: Profile) {
            var read: [CallSite: UInt64] = [:]
            for group in profile.groups where [.fetch, .batch, .fault].contains(group.key.kind) {
                // A cache hit displaces nothing, and only objects are kept in the row cache.
                if case .shape(let shape) = group.key.subject, shape.resultType != "objects" { continue }
                guard group.key.source != .rowCache, let site = group.key.fetchSite ?? group.key.site else { continue }
                read[site, default: 0] &+= group.counts.bytes
            }
            let all = read.values.reduce(0) { $0 + Double($1) }
            let most = read.max { ($0.value, $1.key.sortText) < ($1.value, $0.key.sortText) }
            guard let most, Double(most.value) * 2 > all else { return nil }
            (site, bytes, share) = (most.key, most.value, Double(most.value) / all)
        }
    }

    init(_ key: RefaultEvidence.Key, _ evidence: RefaultEvidence, _ evictor: Evictor?, _ profile: Profile) {
        (self.key, self.evidence) = (key, evidence)
        limit = profile.entity(key.entity)?.rowCacheLimit
        self.evictor = evictor?.site == key.site ? nil : evictor
        evictions = (profile.totals.rowsEvicted, profile.totals.bytesEvicted)
    }

    /// Whether most objects were refreshed or their context reset, rather than evicted.
    var isRefreshed: Bool { evidence.refreshed >= evidence.evicted }

    /// The line of the refresh or reset that caused most of the faults.
    var change: CallSite? {
        guard isRefreshed else { return nil }
        let sites = evidence.refreshSites.filter { $0.key != nil }
        return sites.max { ($0.value, $1.key?.sortText ?? "") < ($1.value, $0.key?.sortText ?? "") }?.key ?? nil
    }

    var title: Wording {
        isRefreshed
            ? "Do not refresh or reset \(entity: key.entity) objects while they are in use"
            : "Keep \(entity: key.entity) objects alive, or enlarge the row cache"
    }

    var fix: Wording {
        isRefreshed
            ? "Objects that are refreshed, or whose context is reset, are read again at their next use. Refresh only "
                + "what others have changed, and reset only at the end of a piece of work."
            : "A row stays in memory while an object holds it or the row cache has room. Keep the objects in an array "
                + "during the work, share one context, or raise the limit."
    }

    var code: [String] {
        guard !isRefreshed else { return ["context.refresh(object, mergeChanges: true)  // only if others changed it"] }
        // Rows were evicted at the current limit, so the new one must exceed it.
        let least = max(Double(evidence.room.percentile(90)), Double(limit ?? 0)) * 1.25
        var mebibytes = 32
        while Double(mebibytes << 20) < least, mebibytes < 1 << 16 { mebibytes *= 2 }
        return ["description.rowCacheLimit = \(mebibytes) << 20"]
    }

    var explanation: [Wording] {
        let share = Double(evidence.repeats) / Double(max(1, evidence.misses))
        var sentences: [Wording] = [
            "\(count: evidence.repeats) of \(count: evidence.misses, "fault") that went to the store "
                + "(\(percent: share)) were for objects that had been in memory: "
                + "\(duration: evidence.time) in all."
        ]
        if evidence.maximumInScope > 2 {
            sentences.append("One was read \(count: evidence.maximumInScope) times in one scope.")
        }
        if isRefreshed {
            sentences.append("\(times(evidence.refreshed)) had been refreshed or reset in between.")
        } else {
            sentences.append(room)
            if let limit {
                sentences.append(
                    "The row cache's limit is \(size: limit). It evicts whole blocks of rows, so it needs more room than the "
                        + "rows themselves.")
            }
            if evictions.rows > 0 {
                sentences.append(
                    "The row cache evicted \(count: evictions.rows, "row") (\(size: evictions.bytes)) in all.")
            }
            if let evictor {
                sentences.append(
                    "\(percent: evictor.share) of the bytes read for objects, "
                        + "\(size: evictor.bytes), were read at \(site: evictor.site).")
            }
        }
        if evidence.changed > 0 {
            sentences.append("\(times(evidence.changed)) may have been changed in between, and had to be read.")
        }
        return sentences
    }

    /// The memory for rows with which the objects would have been found.
    private var room: Wording {
        let (half, most) = (evidence.room.percentile(50), evidence.room.percentile(90))
        let (small, large) = ("\(size: half)" as Wording, "\(size: most)" as Wording)
        return small.text == large.text
            ? "With \(large) for rows, nine of ten would have been in memory."
            : "With \(small) for rows, half of them would have been in memory; with \(large), nine of ten."
    }

    /// An estimate of the repeats with this cause, from the part whose cause is known.
    private func times(_ part: UInt64) -> Wording {
        "\(decimal: Double(evidence.repeats) * Double(part) / Double(max(1, evidence.known)), places: 0)"
    }

    /// The figures, with the cache sizes that would give various hit rates.
    var numbers: [Evidence] {
        var numbers = [
            Evidence("misses", evidence.misses, .count), Evidence("repeats", evidence.repeats, .count),
            Evidence("repeatTime", evidence.time, .nanoseconds), Evidence("refreshed", evidence.refreshed, .count),
            Evidence("evicted", evidence.evicted, .count), Evidence("changed", evidence.changed, .count),
            Evidence("mostInScope", evidence.maximumInScope, .count),
        ]
        guard evidence.evicted > 0 else { return numbers }
        if let limit { numbers.append(Evidence("rowCacheLimit", limit, .bytes)) }
        for percent in [10.0, 25, 50, 75, 90, 99] {
            numbers.append(Evidence("roomFor\(Int(percent))Percent", evidence.room.percentile(percent), .bytes))
        }
        return numbers
    }
}
