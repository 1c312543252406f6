import FaultlineTrace

/// A value that can be merged in any order, and stored in a profile file.
package protocol Mergeable: Sendable {
    mutating func merge(_ other: Self)
    func stored(_ words: inout ProfileWords) -> StoredValue
    /// Restores a stored value into a new, empty one.
    mutating func restore(_ value: StoredValue, _ words: ProfileWords) throws
    /// Divides sums by a number of recordings, rounded down, so that they are those of one recording.
    ///
    /// Maxima, sets and samples stay as they are, which is what the default does.
    mutating func divide(by recordings: UInt64)
}

extension Mergeable {
    package mutating func divide(by recordings: UInt64) {}
}

/// A value with an empty initial state.
package protocol StartsEmpty {
    init()
}

/// A value that is merged and stored part by part.
///
/// The list of parts defines both. Empty parts are not stored.
package protocol Summed: Mergeable {
    static var parts: [SumPart<Self>] { get }
}

extension Summed {
    package mutating func merge(_ other: Self) { mergeParts(other) }

    mutating func mergeParts(_ other: Self) {
        for part in Self.parts { part.merge(&self, other) }
    }

    package mutating func divide(by recordings: UInt64) {
        for part in Self.parts { part.divide(&self, recordings) }
    }

    package func stored(_ words: inout ProfileWords) -> StoredValue {
        var members: [String: StoredValue] = [:]
        for part in Self.parts {
            let value = part.store(self, &words)
            if let name = part.name {
                if !value.isDefault { members[name] = value }
            } else if case .record(let inner) = value {
                members.merge(inner) { $1 }
            }
        }
        return .record(members)
    }

    package mutating func restore(_ value: StoredValue, _ words: ProfileWords) throws {
        for part in Self.parts {
            guard let name = part.name else {
                try part.restore(&self, value, words)
                continue
            }
            try value.member(name) { value in
                if value != .none { try part.restore(&self, value, words) }
            }
        }
    }
}

/// A sum with the key it belongs to.
protocol KeyedSum: Summed {
    associatedtype Key: ProfileKey
    var key: Key { get set }
    /// The number of recordings that have the key.
    var recordings: UInt64 { get set }
    init(_ key: Key)
}

extension KeyedSum {
    /// Merges another sum with an equal key.
    ///
    /// Of two spellings of the key, it keeps the first in alphabetical order.
    mutating func mergeKeyed(_ other: Self) {
        if Key.hasSpellings, other.key.sortText < key.sortText { key = other.key }
        recordings &+= other.recordings
        merge(other)
    }

    /// The mean of the recordings that have the key.
    var mean: Self {
        var mean = self
        mean.divide(by: max(1, recordings))
        mean.recordings = 1
        return mean
    }

    func storedRow(_ words: inout ProfileWords) -> StoredValue {
        .row(key.stored(&words), stored(&words), recordings: recordings)
    }

    init(row value: StoredValue, _ words: ProfileWords) throws {
        let row = try value.row()
        self.init(try StoredProblem.within("0") { try Key(row.key, words) })
        try StoredProblem.within("1") { try restore(row.sum, words) }
        recordings = row.recordings
    }
}

/// The rows of tables whose keys not all recordings have.
extension StoredValue {
    /// A key, its sum and, if it is more than 1, the number of recordings that have the key.
    static func row(_ key: StoredValue, _ sum: StoredValue, recordings: UInt64) -> StoredValue {
        .list(recordings > 1 ? [key, sum, StoredValue(recordings)] : [key, sum])
    }

    func row() throws -> (key: StoredValue, sum: StoredValue, recordings: UInt64) {
        let parts = try list()
        guard parts.count == 2 || parts.count == 3 else { throw StoredProblem(expected: "a list of 2 or 3") }
        let recordings = try StoredProblem.within("2") { parts.count == 3 ? try parts[2].count() : 1 }
        guard recordings > 0 else { throw StoredProblem(path: ["2"], expected: "a whole number from 1 to 2^60") }
        return (parts[0], parts[1], recordings)
    }
}

extension StoredValue {
    /// A record whose members have other names.
    fileprivate func renamed(_ names: [String: String]) -> StoredValue {
        guard !names.isEmpty, case .record(let members) = self else { return self }
        return .record(Dictionary(members.map { (names[$0] ?? $0, $1) }) { first, _ in first })
    }

    fileprivate var isDefault: Bool {
        switch self {
        case .number(let value): value == 0
        case .text(let text): text.isEmpty
        case .list(let values): values.isEmpty
        case .record(let members): members.isEmpty
        case .none: true
        case .unusable: false
        }
    }
}

/// A part of a value: how to merge, store and restore it.
package struct SumPart<Whole: Sendable>: Sendable {
    /// The name in the file, or `nil` if its members are stored as the whole's own.
    package let name: String?
    package let merge: @Sendable (inout Whole, Whole) -> Void
    package let store: @Sendable (Whole, inout ProfileWords) -> StoredValue
    package let restore: @Sendable (inout Whole, StoredValue, ProfileWords) throws -> Void
    /// Divides sums by a number of recordings.
    package let divide: @Sendable (inout Whole, UInt64) -> Void

    /// - Parameter divide: The default leaves the part as it is, because it is no sum.
    package init(
        name: String?, merge: @escaping @Sendable (inout Whole, Whole) -> Void,
        store: @escaping @Sendable (Whole, inout ProfileWords) -> StoredValue,
        restore: @escaping @Sendable (inout Whole, StoredValue, ProfileWords) throws -> Void,
        divide: @escaping @Sendable (inout Whole, UInt64) -> Void = { _, _ in }
    ) {
        (self.name, self.merge, self.store, self.restore, self.divide) = (name, merge, store, restore, divide)
    }
}

extension SumPart {
    package typealias Path<Value> = WritableKeyPath<Whole, Value> & Sendable

    /// A count, which merges by addition.
    package static func sum(_ name: String, _ path: any Path<UInt64>) -> SumPart {
        part(name, path)
    }

    /// A number; merging keeps the larger one.
    package static func maximum(_ name: String, _ path: any Path<UInt64>) -> SumPart {
        SumPart(
            name: name, merge: { $0[keyPath: path] = max($0[keyPath: path], $1[keyPath: path]) },
            store: { whole, _ in StoredValue(whole[keyPath: path]) },
            restore: { whole, value, _ in whole[keyPath: path] = try value.count() })
    }

    /// A number; merging keeps the smaller one.
    ///
    /// 0 stands for none.
    package static func minimum(_ name: String, _ path: any Path<UInt64>) -> SumPart {
        SumPart(
            name: name,
            merge: { whole, other in
                let numbers = [whole[keyPath: path], other[keyPath: path]].filter { $0 > 0 }
                whole[keyPath: path] = numbers.min() ?? 0
            },
            store: { whole, _ in StoredValue(whole[keyPath: path]) },
            restore: { whole, value, _ in whole[keyPath: path] = try value.count() })
    }

    /// A flag, which is true if it is true in either value.
    static func any(_ name: String, _ path: any Path<Bool>) -> SumPart {
        SumPart(
            name: name, merge: { $0[keyPath: path] = $0[keyPath: path] || $1[keyPath: path] },
            store: { whole, _ in StoredValue(whole[keyPath: path]) },
            restore: { whole, value, _ in whole[keyPath: path] = try value.count() != 0 })
    }

    /// A set of texts, which merges by union.
    package static func union(_ name: String, _ path: any Path<Set<String>>) -> SumPart {
        SumPart(
            name: name, merge: { $0[keyPath: path].formUnion($1[keyPath: path]) },
            store: { whole, _ in StoredValue(whole[keyPath: path].sorted()) },
            restore: { whole, value, _ in whole[keyPath: path] = Set(try value.texts()) })
    }

    /// A part that merges itself.
    package static func part<Value: Mergeable>(_ name: String, _ path: any Path<Value>) -> SumPart {
        SumPart(
            name: name, merge: { $0[keyPath: path].merge($1[keyPath: path]) },
            store: { whole, words in whole[keyPath: path].stored(&words) },
            restore: { whole, value, words in try whole[keyPath: path].restore(value, words) },
            divide: { $0[keyPath: path].divide(by: $1) })
    }

    /// A part whose members are stored as the whole's own.
    ///
    /// - Parameter names: The names that the file has for some of them.
    package static func members<Value: Summed>(_ path: any Path<Value>, named names: [String: String] = [:]) -> SumPart
    {
        let own = Dictionary(uniqueKeysWithValues: names.map { ($1, $0) })
        return SumPart(
            name: nil, merge: { $0[keyPath: path].merge($1[keyPath: path]) },
            store: { $0[keyPath: path].stored(&$1).renamed(names) },
            restore: { try $0[keyPath: path].restore($1.renamed(own), $2) },
            divide: { $0[keyPath: path].divide(by: $1) })
    }
}

// MARK: - Numbers

extension UInt64: Mergeable, StartsEmpty {
    package mutating func merge(_ other: UInt64) { self &+= other }
    package func stored(_ words: inout ProfileWords) -> StoredValue { StoredValue(self) }
    package mutating func restore(_ value: StoredValue, _ words: ProfileWords) throws { self = try value.count() }
    package mutating func divide(by recordings: UInt64) { self /= recordings }
}

extension Int64: Mergeable, StartsEmpty {
    package mutating func merge(_ other: Int64) { self &+= other }

    package func stored(_ words: inout ProfileWords) -> StoredValue {
        .number(Swift.max(-StoredValue.largest, Swift.min(StoredValue.largest, self)))
    }

    package mutating func restore(_ value: StoredValue, _ words: ProfileWords) throws { self = try value.signed() }
    package mutating func divide(by recordings: UInt64) { self /= Int64(clamping: recordings) }
}

// MARK: - Tables

extension Dictionary: StartsEmpty {}

/// A table is stored as a list of pairs of key and value, sorted by key.
extension Dictionary: Mergeable where Key: ProfileKey, Value: Mergeable & StartsEmpty {
    /// Merges another table's values into those with equal keys.
    ///
    /// Of two spellings of a key, it keeps the first in alphabetical order.
    package mutating func merge(_ other: [Key: Value]) {
        guard !other.isEmpty else { return }
        for (key, value) in other {
            guard let index = index(forKey: key) else {
                self[key] = value
                continue
            }
            values[index].merge(value)
            if Key.hasSpellings, key.sortText < self[index].key.sortText {
                let (_, merged) = remove(at: index)
                self[key] = merged
            }
        }
    }

    package func stored(_ words: inout ProfileWords) -> StoredValue {
        .list(ordered(on: \.key.sortText).map { .list([$0.key.stored(&words), $0.value.stored(&words)]) })
    }

    package mutating func restore(_ value: StoredValue, _ words: ProfileWords) throws {
        for (key, value) in try value.map({ row in
            let pair = try row.list(of: 2)
            var value = Value()
            let key = try StoredProblem.within("0") { try Key(pair[0], words) }
            try StoredProblem.within("1") { try value.restore(pair[1], words) }
            return (key, value)
        }) {
            // A repeated key would add two sums, each of which is bounded only by itself.
            guard self[key] == nil else { throw StoredProblem(expected: "a table in which each key is unique") }
            self[key] = value
        }
    }

    package mutating func divide(by recordings: UInt64) {
        for index in indices { values[index].divide(by: recordings) }
    }
}
