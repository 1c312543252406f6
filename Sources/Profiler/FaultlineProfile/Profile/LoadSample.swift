internal import FaultlineTrace

/// The size and the duration of one trip to the store.
package struct Load: Sendable, Hashable {
    package var rows: UInt64
    package var bytes: UInt64
    /// In nanoseconds.
    package var duration: UInt64

    package init(rows: UInt64, bytes: UInt64, duration: UInt64) {
        (self.rows, self.bytes, self.duration) = (rows, bytes, duration)
    }

    /// Whether its rows have large values.
    ///
    /// The time these take says nothing about the cost of trips and rows.
    var isLarge: Bool { bytes >= TraceEvent.Release.minimumBytes &* max(1, rows) }
}

/// A bounded sample of trips, spread over the sizes that occurred.
///
/// For each power of two of rows, it keeps the trips with the smallest hashes of their IDs. Which trips are kept
/// depends only on the trips, so partial samples can be merged in any order, and thousands of single rows do not
/// displace the few large trips.
package struct LoadSample: Mergeable {
    private struct Entry: Sendable {
        var hash: UInt64
        var load: Load
    }

    static let perStratum = 16

    private var strata: [Int: [Entry]] = [:]
    package private(set) var count: UInt64 = 0

    mutating func insert(_ load: Load, hash: UInt64) {
        count &+= 1
        let stratum = UInt64.bitWidth - load.rows.leadingZeroBitCount
        Self.insert(Entry(hash: hash, load: load), into: &strata[stratum, default: []])
    }

    /// Rehashes the trips of a trace, because other traces have events with the same IDs.
    ///
    /// Without new hashes, the same IDs would be sampled from every trace.
    mutating func mix(_ salt: UInt64) {
        for stratum in strata.keys {
            strata[stratum] = strata[stratum]?.map { entry in
                Entry(hash: StableHash.mix(entry.hash ^ salt), load: entry.load)
            }
        }
    }

    package mutating func merge(_ other: LoadSample) {
        count &+= other.count
        for (stratum, entries) in other.strata {
            for entry in entries { Self.insert(entry, into: &strata[stratum, default: []]) }
        }
    }

    /// Divides the number of trips; those that are kept describe every recording.
    package mutating func divide(by recordings: UInt64) { count /= recordings }

    /// The number of trips, and for each kept trip its hash in hexadecimal, rows, bytes and duration.
    package func stored(_ words: inout ProfileWords) -> StoredValue {
        guard count > 0 else { return .none }
        let kept = strata.values.joined().ordered(by: Self.precedes).map { entry -> StoredValue in
            .list([
                .text(String(entry.hash, radix: 16)), StoredValue(entry.load.rows), StoredValue(entry.load.bytes),
                StoredValue(entry.load.duration),
            ])
        }
        return .record(["count": StoredValue(count), "kept": .list(kept)])
    }

    package mutating func restore(_ value: StoredValue, _ words: ProfileWords) throws {
        let kept = try value.member("kept") { kept in
            try kept.map { entry in
                let parts = try entry.list(of: 4)
                guard let hash = UInt64(try parts[0].text(), radix: 16) else {
                    throw StoredProblem(path: ["0"], expected: "a number in hexadecimal digits")
                }
                let load = Load(
                    rows: try parts[1].count(), bytes: try parts[2].count(), duration: try parts[3].count())
                return (hash, load)
            }
        }
        for (hash, load) in kept { insert(load, hash: hash) }
        count = try value.member("count") { try $0.count() }
    }

    /// The trips in the sample, the smallest first.
    package var loads: [Load] {
        strata.values.joined().map(\.load).ordered {
            ($0.rows, $0.duration, $0.bytes) < ($1.rows, $1.duration, $1.bytes)
        }
    }

    package var distinctRows: Int { Set(strata.values.joined().map(\.load.rows)).count }

    private static func insert(_ entry: Entry, into entries: inout [Entry]) {
        if entries.count < perStratum {
            entries.append(entry)
        } else if let worst = entries.indices.max(by: { precedes(entries[$0], entries[$1]) }),
            precedes(entry, entries[worst])
        {
            entries[worst] = entry
        }
    }

    private static func precedes(_ a: Entry, _ b: Entry) -> Bool {
        (a.hash, a.load.duration, a.load.rows, a.load.bytes) < (b.hash, b.load.duration, b.load.rows, b.load.bytes)
    }
}
