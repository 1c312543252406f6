/// A value that adds up in any order and that a profile's file can hold.
protocol Mergeable: Sendable {
    mutating func merge(_ other: Self)
    func stored(_ words: inout ProfileWords) -> StoredValue
    /// Takes the place of the value, which is new.
    mutating func restore(_ value: StoredValue, _ words: ProfileWords) throws
}

/// A value that begins with nothing.
protocol StartsEmpty {
    init()
}

/// A value whose parts add up one by one.
///
/// What its parts are is said once, and merging and the file follow from it. A part that has nothing is not written.
protocol Summed: Mergeable {
    static var parts: [SumPart<Self>] { get }
}

extension Summed {
    mutating func merge(_ other: Self) { mergeParts(other) }

    mutating func mergeParts(_ other: Self) {
        for part in Self.parts { part.merge(&self, other) }
    }

    func stored(_ words: inout ProfileWords) -> StoredValue {
        var members: [String: StoredValue] = [:]
        for part in Self.parts {
            let value = part.store(self, &words)
            if !value.saysNothing { members[part.name] = value }
        }
        return .record(members)
    }

    mutating func restore(_ value: StoredValue, _ words: ProfileWords) throws {
        for part in Self.parts {
            try value.member(part.name) { value in
                if value != .none { try part.restore(&self, value, words) }
            }
        }
    }
}

/// A sum that knows what it is the sum of.
protocol KeyedSum: Summed {
    associatedtype Key: ProfileKey
    var key: Key { get set }
    init(_ key: Key)
}

extension KeyedSum {
    /// Adds another sum of the same, and keeps of two spellings the one that comes first in the alphabet.
    mutating func mergeKeyed(_ other: Self) {
        if Key.hasSpellings, other.key.sortText < key.sortText { key = other.key }
        merge(other)
    }

    /// The pair of key and sum.
    func storedPair(_ words: inout ProfileWords) -> StoredValue { .list([key.stored(&words), stored(&words)]) }

    init(pair value: StoredValue, _ words: ProfileWords) throws {
        let pair = try value.list(of: 2)
        self.init(try StoredProblem.within("0") { try Key(pair[0], words) })
        try StoredProblem.within("1") { try restore(pair[1], words) }
    }
}

extension StoredValue {
    fileprivate var saysNothing: Bool {
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

/// One part of a value: how it adds up, and how a file holds it.
struct SumPart<Whole: Sendable>: Sendable {
    /// Its name in the file.
    let name: String
    let merge: @Sendable (inout Whole, Whole) -> Void
    let store: @Sendable (Whole, inout ProfileWords) -> StoredValue
    let restore: @Sendable (inout Whole, StoredValue, ProfileWords) throws -> Void
}

extension SumPart {
    typealias Path<Value> = WritableKeyPath<Whole, Value> & Sendable

    /// A count of which the parts' sum is that of the whole.
    static func sum(_ name: String, _ path: any Path<UInt64>) -> SumPart {
        part(name, path)
    }

    /// A number of which the larger one stays.
    static func maximum(_ name: String, _ path: any Path<UInt64>) -> SumPart {
        SumPart(
            name: name, merge: { $0[keyPath: path] = max($0[keyPath: path], $1[keyPath: path]) },
            store: { whole, _ in StoredValue(whole[keyPath: path]) },
            restore: { whole, value, _ in whole[keyPath: path] = try value.count() })
    }

    /// Whether something was so in any part.
    static func any(_ name: String, _ path: any Path<Bool>) -> SumPart {
        SumPart(
            name: name, merge: { $0[keyPath: path] = $0[keyPath: path] || $1[keyPath: path] },
            store: { whole, _ in StoredValue(whole[keyPath: path]) },
            restore: { whole, value, _ in whole[keyPath: path] = try value.count() != 0 })
    }

    /// Texts, each once.
    static func union(_ name: String, _ path: any Path<Set<String>>) -> SumPart {
        SumPart(
            name: name, merge: { $0[keyPath: path].formUnion($1[keyPath: path]) },
            store: { whole, _ in StoredValue(whole[keyPath: path].sorted()) },
            restore: { whole, value, _ in whole[keyPath: path] = Set(try value.texts()) })
    }

    /// What adds up by itself.
    static func part<Value: Mergeable>(_ name: String, _ path: any Path<Value>) -> SumPart {
        SumPart(
            name: name, merge: { $0[keyPath: path].merge($1[keyPath: path]) },
            store: { whole, words in whole[keyPath: path].stored(&words) },
            restore: { whole, value, words in try whole[keyPath: path].restore(value, words) })
    }
}

// MARK: Numbers

extension UInt64: Mergeable, StartsEmpty {
    mutating func merge(_ other: UInt64) { self &+= other }
    func stored(_ words: inout ProfileWords) -> StoredValue { StoredValue(self) }
    mutating func restore(_ value: StoredValue, _ words: ProfileWords) throws { self = try value.count() }
}

extension Int64: Mergeable, StartsEmpty {
    mutating func merge(_ other: Int64) { self &+= other }

    func stored(_ words: inout ProfileWords) -> StoredValue {
        .number(Swift.max(-StoredValue.largest, Swift.min(StoredValue.largest, self)))
    }

    mutating func restore(_ value: StoredValue, _ words: ProfileWords) throws { self = try value.signed() }
}

// MARK: Tables

extension Dictionary: StartsEmpty {}

/// Tables are lists of pairs of key and value, in the order of the keys.
extension Dictionary: Mergeable where Key: ProfileKey, Value: Mergeable & StartsEmpty {
    /// Adds another table's values to those of the same keys.
    ///
    /// Of keys that are equal and not spelled alike the one that comes first in the alphabet stays.
    mutating func merge(_ other: [Key: Value]) {
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

    func stored(_ words: inout ProfileWords) -> StoredValue {
        let rows = map { ($0.key, $0.key.sortText, $0.value) }.sorted { $0.1 < $1.1 }
        return .list(rows.map { .list([$0.0.stored(&words), $0.2.stored(&words)]) })
    }

    mutating func restore(_ value: StoredValue, _ words: ProfileWords) throws {
        for (key, value) in try value.map({ row in
            let pair = try row.list(of: 2)
            var value = Value()
            let key = try StoredProblem.within("0") { try Key(pair[0], words) }
            try StoredProblem.within("1") { try value.restore(pair[1], words) }
            return (key, value)
        }) {
            // Each sum is bounded by itself.
            guard self[key] == nil else { throw StoredProblem(expected: "a table in which each key stands once") }
            self[key] = value
        }
    }
}
