internal import FaultlineTrace

// What the rules about a fetch's line have in common.

extension FetchProfile {
    /// Where its objects were read, the most frequent place first.
    var readers: [Finding.Sighting] {
        readSites.filter { $0.key != nil }.map { Finding.Sighting(site: $0, count: $1, time: 0) }
            .sorted { ($0.count, $1.site?.sortText ?? "") > ($1.count, $0.site?.sortText ?? "") }
    }

    var isOnMainThread: Bool { counts.mainThreadTime * 2 > counts.time }

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

extension [ScopeSummary.Key: UInt64] {
    /// The scopes' names, the most frequent first.
    var names: [String] {
        sorted { ($0.value, $1.key.name) > ($1.value, $0.key.name) }.map(\.key.name)
    }
}
