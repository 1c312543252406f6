internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

extension Profile {
    /// The most rows that the tables of entities had in a run, by entity name, as far as scans and fetches of all rows
    /// show it.
    ///
    /// Entities that share a table are omitted.
    var tableRows: [String: UInt64] {
        fetches.reduce(into: [:]) { rows, fetch in
            let entity = fetch.key.shape.entity
            guard tree(of: entity) == entity, let most = fetch.growth.runs.map(\.tableRows).max() else { return }
            rows[entity] = max(rows[entity] ?? 0, most)
        }
    }
}

// Helpers that the rules about a fetch's line share.

extension FetchProfile {
    /// The time of the fetches if each took as long as the median one, as a share of their time: at most 1.
    ///
    /// The first fetches of a run read pages into memory, and a few wait for others.
    var typicalShare: Double {
        guard counts.time > 0, speeds.count > 0 else { return 1 }
        return min(1, speeds.quantile(0.5) * Double(counts.executions) / Double(counts.time))
    }

    /// The places where the fetch's objects were read, the most frequent first.
    var readers: [Finding.Sighting] {
        readSites.filter { $0.key != nil }.map { Finding.Sighting(site: $0, count: $1, time: 0) }
            .ordered { ($0.count, $1.site?.sortText ?? "") > ($1.count, $0.site?.sortText ?? "") }
    }

    /// The fetch's own line.
    var sighting: Finding.Sighting { Finding.Sighting(site: key.site, count: counts.executions, time: counts.time) }

    /// The minimum rows of a large result.
    static let manyRows = Threshold("R14", "minimumRows", 1000, .count, "minimum rows of one result")

    /// Whether the program uses the fetched rows themselves.
    ///
    /// If not, R03, R05 or R17 advise what to do instead.
    var isForItsRows: Bool { ResultDemand(of: self) == nil && unused == nil }

    var isOnMainThread: Bool { Significance.isMost(counts.mainThreadTime, of: counts.time) }

    /// A signature, which identifies a finding across runs.
    ///
    /// - Parameter what: Distinguishes the findings of one rule about one fetch.
    func signature(_ rule: String, _ what: String) -> String {
        [rule, what, SignatureText.shape(key.shape), key.site?.function ?? ""].joined(separator: "|")
    }
}

extension Profile {
    /// The total wall time of the scopes, in nanoseconds, or of the whole trace if none was recorded.
    func wallTime(of scopes: some Sequence<ScopeSummary.Key>) -> UInt64 {
        let total = scopes.compactMap { scope($0) }.reduce(0) { $0 &+ $1.wallTimes.total }
        return total > 0 ? total : wallTime
    }
}

extension [FetchProfile] {
    /// The fetches sorted by time, the longest first.
    var longestFirst: [FetchProfile] {
        sorted { ($0.counts.time, $1.key.sortText) > ($1.counts.time, $0.key.sortText) }
    }

    /// The sum of a figure over all fetches.
    func total(_ figure: KeyPath<FetchCounts, UInt64>) -> UInt64 { reduce(0) { $0 &+ $1.counts[keyPath: figure] } }
}

extension [ScopeSummary.Key: UInt64] {
    /// The scopes' names, the most frequent first.
    var names: [String] {
        sorted { ($0.value, $1.key.name) > ($1.value, $0.key.name) }.map(\.key.name)
    }
}

extension [CallSite: UInt64] {
    /// The three most frequent lines, or `nil` if there are none.
    var mostFrequent: Wording? {
        let most = sorted { ($0.value, $1.key.sortText) > ($1.value, $0.key.sortText) }.prefix(3)
        return most.isEmpty ? nil : most.map { "\(site: $0.key)" as Wording }.joined(separator: ", ")
    }

    /// A sentence that names the callers of the fetching function: if it has no loop, its callers may.
    var sentences: [Wording] { mostFrequent.map { ["Called from \($0)."] } ?? [] }
}

extension DistinctCount {

    /// Words for a count with its noun.
    ///
    /// An estimate is marked: `about 970 values`.
    ///
    /// - Parameter occasions: The number of occasions over which the counts were summed.
    static func words(_ count: UInt64, over occasions: UInt64, _ noun: String) -> Wording {
        let isEstimate = count / max(1, occasions) > UInt64(capacity)
        return "\(isEstimate ? "about " : "")\(count: count, noun)"
    }
}
