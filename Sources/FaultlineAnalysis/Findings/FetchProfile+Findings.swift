internal import FaultlineTrace

extension Profile {
    /// How many rows the entities' tables have at most in a run, as far as scans and fetches of everything tell, by the
    /// entities' names; those that share a table are left out.
    var tableRows: [String: UInt64] {
        fetches.reduce(into: [:]) { rows, fetch in
            let entity = fetch.key.shape.entity
            guard tree(of: entity) == entity, let most = fetch.growth.runs.map(\.tableRows).max() else { return }
            rows[entity] = max(rows[entity] ?? 0, most)
        }
    }
}

// What the rules about a fetch's line have in common.

extension FetchProfile {
    /// Where its objects were read, the most frequent place first.
    var readers: [Finding.Sighting] {
        readSites.filter { $0.key != nil }.map { Finding.Sighting(site: $0, count: $1, time: 0) }
            .sorted { ($0.count, $1.site?.sortText ?? "") > ($1.count, $0.site?.sortText ?? "") }
    }

    /// Its own line.
    var sighting: Finding.Sighting { Finding.Sighting(site: key.site, count: counts.executions, time: counts.time) }

    /// The minimum rows of a large result.
    static let manyRows = Threshold("R14", "minimumRows", 1000, .count, "minimum rows of one result")

    /// Whether the rows are what it is there for; otherwise R03, R05 or R17 say what to do instead.
    var isForItsRows: Bool { ResultDemand(of: self) == nil && unused == nil }

    var isOnMainThread: Bool { Significance.isMost(counts.mainThreadTime, of: counts.time) }

    /// A finding's name across runs.
    ///
    /// - Parameter what: Tells apart what one rule can find of one fetch.
    func signature(_ rule: String, _ what: String) -> String {
        [rule, what, SignatureText.shape(key.shape), key.site?.function ?? ""].joined(separator: "|")
    }
}

extension Profile {
    /// How long all scopes of those names and kinds took, in nanoseconds; the whole trace, if none was marked.
    func wallTime(of scopes: some Sequence<ScopeSummary.Key>) -> UInt64 {
        let total = scopes.compactMap { scope($0) }.reduce(0) { $0 &+ $1.wallTimes.total }
        return total > 0 ? total : wallTime
    }
}

extension [FetchProfile] {
    /// The one with the longest time first.
    var longestFirst: [FetchProfile] {
        sorted { ($0.counts.time, $1.key.sortText) > ($1.counts.time, $0.key.sortText) }
    }

    /// A figure of all of them.
    func total(_ figure: KeyPath<FetchCounts, UInt64>) -> UInt64 { reduce(0) { $0 &+ $1.counts[keyPath: figure] } }
}

extension EntityEntry {
    func property(_ name: some StringProtocol) -> Property? { properties.first { $0.name == name } }
}

extension [ScopeSummary.Key: UInt64] {
    /// The scopes' names, the most frequent first.
    var names: [String] {
        sorted { ($0.value, $1.key.name) > ($1.value, $0.key.name) }.map(\.key.name)
    }
}

extension [CallSite: UInt64] {
    /// From where the function was called that fetches, in a sentence: if a loop is not there, it is here.
    var sentences: [Wording] {
        let most = sorted { ($0.value, $1.key.sortText) > ($1.value, $0.key.sortText) }.prefix(3)
        let sites = most.map { "\(site: $0.key)" as Wording }
        return sites.isEmpty ? [] : ["Called from \(sites.joined(separator: ", "))."]
    }
}
