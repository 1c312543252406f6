package import FaultlineTrace

/// A key of a profile's table.
package protocol ProfileKey: Hashable, Sendable {
    /// A text that sorts keys independently of the order of events.
    var sortText: String { get }
    /// Whether equal keys can have different texts: keys with call sites can, because paths do not count for equality.
    static var hasSpellings: Bool { get }

    func stored(_ words: inout ProfileWords) -> StoredValue
    init(_ value: StoredValue, _ words: ProfileWords) throws
}

extension ProfileKey {
    package static var hasSpellings: Bool { false }
}

/// A key that consists of a name and a line of the program.
package protocol NamedSite: ProfileKey {
    var name: String { get }
    /// `nil` if the trace does not have it.
    var site: CallSite? { get }

    init(name: String, site: CallSite?)
}

extension NamedSite {
    package static var hasSpellings: Bool { true }
    package var sortText: String { name + "\u{2}" + (site?.sortText ?? "") }
    package func stored(_ words: inout ProfileWords) -> StoredValue { .list([.text(name), site.stored(&words)]) }

    package init(_ value: StoredValue, _ words: ProfileWords) throws {
        let parts = try value.list(of: 2)
        self.init(name: try parts[0].text(), site: try CallSite?(parts[1], words))
    }
}

/// A key that is one of a fixed set of words.
package protocol WordKey: ProfileKey, CaseIterable {
    var word: String { get }
}

extension WordKey {
    package var word: String { "\(self)" }
    package var sortText: String { word }
    package func stored(_ words: inout ProfileWords) -> StoredValue { .text(word) }
    package init(_ value: StoredValue, _ words: ProfileWords) throws { self = try Self(word: value) }

    init(word value: StoredValue) throws {
        let text = try value.text()
        guard let known = Self.allCases.first(where: { $0.word == text }) else {
            throw StoredProblem(expected: "one of " + Self.allCases.map { "\"\($0.word)\"" }.joined(separator: ", "))
        }
        self = known
    }
}

extension TraceEvent.Scope.Kind: WordKey {}
extension TraceEvent.Fault.FaultType: WordKey {}
extension TraceEvent.Fault.Source: WordKey {}
extension TraceEvent.Statement.StatementType: WordKey {}
extension TraceEvent.Wait.Resource: WordKey {}
extension EventKind: WordKey {
    package var word: String { name }
}

extension UInt64: ProfileKey {
    package var sortText: String { String(repeating: "0", count: 20 - String(self).count) + String(self) }
    package init(_ value: StoredValue, _ words: ProfileWords) throws { self = try value.count() }
}

extension UInt32: ProfileKey {
    package var sortText: String { UInt64(self).sortText }
    package func stored(_ words: inout ProfileWords) -> StoredValue { StoredValue(UInt64(self)) }

    package init(_ value: StoredValue, _ words: ProfileWords) throws {
        guard let number = UInt32(exactly: try value.count()) else {
            throw StoredProblem(expected: "a number from 0 to \(UInt32.max)")
        }
        self = number
    }
}

extension String: ProfileKey {
    package var sortText: String { self }
    package func stored(_ words: inout ProfileWords) -> StoredValue { .text(self) }
    package init(_ value: StoredValue, _ words: ProfileWords) throws { self = try value.text() }
}

extension Optional: ProfileKey where Wrapped: ProfileKey {
    package static var hasSpellings: Bool { Wrapped.hasSpellings }
    package var sortText: String { map(\.sortText) ?? "" }
    package func stored(_ words: inout ProfileWords) -> StoredValue { map { $0.stored(&words) } ?? .none }

    package init(_ value: StoredValue, _ words: ProfileWords) throws {
        self = value == .none ? nil : try Wrapped(value, words)
    }
}

extension CallSite: ProfileKey {
    package static var hasSpellings: Bool { true }
    package func stored(_ words: inout ProfileWords) -> StoredValue { words.number(of: self) }
    package init(_ value: StoredValue, _ words: ProfileWords) throws { self = try words.site(value) }
}

extension ShapeEntry: ProfileKey {
    package func stored(_ words: inout ProfileWords) -> StoredValue { words.number(of: self) }
    package init(_ value: StoredValue, _ words: ProfileWords) throws { self = try words.shape(value) }
}
