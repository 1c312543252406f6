internal import FaultlineTrace

/// A key of a profile's table.
protocol ProfileKey: Hashable, Sendable {
    /// A text that sorts keys independently of the order of events.
    var sortText: String { get }
    /// Whether equal keys can have different texts: keys with call sites can, because paths do not count for equality.
    static var hasSpellings: Bool { get }

    func stored(_ words: inout ProfileWords) -> StoredValue
    init(_ value: StoredValue, _ words: ProfileWords) throws
}

extension ProfileKey {
    static var hasSpellings: Bool { false }
}

/// A key that consists of a name and a line of the program.
protocol NamedSite: ProfileKey {
    var name: String { get }
    /// `nil` if the trace does not have it.
    var site: CallSite? { get }

    init(name: String, site: CallSite?)
}

extension NamedSite {
    static var hasSpellings: Bool { true }
    var sortText: String { name + "\u{2}" + (site?.sortText ?? "") }
    func stored(_ words: inout ProfileWords) -> StoredValue { .list([.text(name), site.stored(&words)]) }

    init(_ value: StoredValue, _ words: ProfileWords) throws {
        let parts = try value.list(of: 2)
        self.init(name: try parts[0].text(), site: try CallSite?(parts[1], words))
    }
}

/// A key that is one of a fixed set of words.
protocol WordKey: ProfileKey, CaseIterable {
    var word: String { get }
}

extension WordKey {
    var word: String { "\(self)" }
    var sortText: String { word }
    func stored(_ words: inout ProfileWords) -> StoredValue { .text(word) }
    init(_ value: StoredValue, _ words: ProfileWords) throws { self = try Self(word: value) }

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
    var word: String { name }
}

extension UInt64: ProfileKey {
    var sortText: String { String(repeating: "0", count: 20 - String(self).count) + String(self) }
    init(_ value: StoredValue, _ words: ProfileWords) throws { self = try value.count() }
}

extension UInt32: ProfileKey {
    var sortText: String { UInt64(self).sortText }
    func stored(_ words: inout ProfileWords) -> StoredValue { StoredValue(UInt64(self)) }

    init(_ value: StoredValue, _ words: ProfileWords) throws {
        guard let number = UInt32(exactly: try value.count()) else {
            throw StoredProblem(expected: "a number from 0 to \(UInt32.max)")
        }
        self = number
    }
}

extension String: ProfileKey {
    var sortText: String { self }
    func stored(_ words: inout ProfileWords) -> StoredValue { .text(self) }
    init(_ value: StoredValue, _ words: ProfileWords) throws { self = try value.text() }
}

extension Optional: ProfileKey where Wrapped: ProfileKey {
    static var hasSpellings: Bool { Wrapped.hasSpellings }
    var sortText: String { map(\.sortText) ?? "" }
    func stored(_ words: inout ProfileWords) -> StoredValue { map { $0.stored(&words) } ?? .none }

    init(_ value: StoredValue, _ words: ProfileWords) throws {
        self = value == .none ? nil : try Wrapped(value, words)
    }
}

extension CallSite: ProfileKey {
    static var hasSpellings: Bool { true }
    func stored(_ words: inout ProfileWords) -> StoredValue { words.number(of: self) }
    init(_ value: StoredValue, _ words: ProfileWords) throws { self = try words.site(value) }
}

extension ShapeEntry: ProfileKey {
    func stored(_ words: inout ProfileWords) -> StoredValue { words.number(of: self) }
    init(_ value: StoredValue, _ words: ProfileWords) throws { self = try words.shape(value) }
}

extension ScopeSummary.Key: ProfileKey {
    var sortText: String { name + "\u{1}\(kind)" }
    func stored(_ words: inout ProfileWords) -> StoredValue { words.number(of: self) }
    init(_ value: StoredValue, _ words: ProfileWords) throws { self = try words.scope(value) }
}

extension FetchProfile.Key: ProfileKey {
    static var hasSpellings: Bool { true }
    func stored(_ words: inout ProfileWords) -> StoredValue { .list([shape.stored(&words), site.stored(&words)]) }

    init(_ value: StoredValue, _ words: ProfileWords) throws {
        let parts = try value.list(of: 2)
        self.init(shape: try ShapeEntry(parts[0], words), site: try CallSite?(parts[1], words))
    }
}

extension FetchProfile.Edge: ProfileKey {
    var sortText: String { entity + "\u{1}" + name }
    func stored(_ words: inout ProfileWords) -> StoredValue { .list([.text(entity), .text(name)]) }

    init(_ value: StoredValue, _ words: ProfileWords) throws {
        let parts = try value.list(of: 2)
        self.init(entity: try parts[0].text(), name: try parts[1].text())
    }
}

extension FaultEvidence.Key: ProfileKey {
    static var hasSpellings: Bool { true }

    /// The fetch, the entity, and the relationship's name if there is one.
    func stored(_ words: inout ProfileWords) -> StoredValue {
        switch subject {
        case .relationship(let entity, let name): .list([fetch.stored(&words), .text(entity), .text(name)])
        case .target(let entity): .list([fetch.stored(&words), .text(entity), .none])
        }
    }

    init(_ value: StoredValue, _ words: ProfileWords) throws {
        let parts = try value.list(of: 3)
        let entity = try parts[1].text()
        let name = try parts[2].optionalText()
        self.init(
            subject: name.map { .relationship(entity: entity, name: $0) } ?? .target(entity: entity),
            fetch: try FetchProfile.Key(parts[0], words))
    }
}

extension LoopEvidence.Key: ProfileKey {
    static var hasSpellings: Bool { true }

    func stored(_ words: inout ProfileWords) -> StoredValue {
        .list([fetch.stored(&words), term.map { .number(Int64($0)) } ?? .none])
    }

    init(_ value: StoredValue, _ words: ProfileWords) throws {
        let parts = try value.list(of: 2)
        let fetch = try FetchProfile.Key(parts[0], words)
        let term = parts[1] == .none ? nil : try parts[1].count()
        guard term.map({ $0 < UInt64(fetch.shape.terms?.count ?? 0) }) ?? true else {
            throw StoredProblem(path: ["1"], expected: "the number of one of the shape's terms")
        }
        self.init(fetch: fetch, term: term.map { Int($0) })
    }
}

extension SaveEvidence.Key: ProfileKey {
    static var hasSpellings: Bool { true }
    func stored(_ words: inout ProfileWords) -> StoredValue { .list([site.stored(&words), StoredValue(entities)]) }

    init(_ value: StoredValue, _ words: ProfileWords) throws {
        let parts = try value.list(of: 2)
        self.init(site: try CallSite?(parts[0], words), entities: try parts[1].texts())
    }
}

extension WaitEvidence.Key: ProfileKey {
    static var hasSpellings: Bool { true }

    func stored(_ words: inout ProfileWords) -> StoredValue {
        .list([
            resource.stored(&words), site.stored(&words), ownerKind.stored(&words), ownerSite.stored(&words),
        ])
    }

    init(_ value: StoredValue, _ words: ProfileWords) throws {
        let parts = try value.list(of: 4)
        self.init(
            resource: try TraceEvent.Wait.Resource(parts[0], words), site: try CallSite?(parts[1], words),
            ownerKind: try EventKind?(parts[2], words), ownerSite: try CallSite?(parts[3], words))
    }
}

extension BlockEvidence.Key: ProfileKey {
    static var hasSpellings: Bool { true }
    func stored(_ words: inout ProfileWords) -> StoredValue { .list([kind.stored(&words), site.stored(&words)]) }

    init(_ value: StoredValue, _ words: ProfileWords) throws {
        let parts = try value.list(of: 2)
        self.init(kind: try EventKind(parts[0], words), site: try CallSite?(parts[1], words))
    }
}

extension ResultNeed: ProfileKey {
    var sortText: String {
        switch self {
        case .fold(let property): "fold\u{1}" + property
        case .update(let properties): (["update"] + properties).joined(separator: "\u{1}")
        default: "\(self)"
        }
    }

    /// A word.
    ///
    /// For a fold or an update, a list of the word and the properties.
    func stored(_ words: inout ProfileWords) -> StoredValue {
        switch self {
        case .fold(let property): .list([.text("fold"), .text(property)])
        case .update(let properties): .list([.text("update")] + properties.map { .text($0) })
        default: .text("\(self)")
        }
    }

    init(_ value: StoredValue, _ words: ProfileWords) throws {
        if case .list(let parts) = value, parts.count >= 2 {
            let names = try parts.dropFirst().map { try $0.text() }
            switch try parts[0].text() {
            case "fold" where names.count == 1: self = .fold(property: names[0])
            case "update": self = .update(properties: names)
            default: throw StoredProblem(expected: "the use of a result")
            }
            return
        }
        let plain: [ResultNeed] = [.nothing, .count, .existence, .identities, .deletion, .first, .all, .some]
        let text = try value.text()
        guard let need = plain.first(where: { "\($0)" == text }) else {
            throw StoredProblem(expected: "one of " + plain.map { "\"\($0)\"" }.joined(separator: ", "))
        }
        self = need
    }
}

extension EventGroup.Key: ProfileKey {
    static var hasSpellings: Bool { true }

    /// The kind, the subject, the fault's type and source, the statement's type, and the call sites of the event and
    /// its fetch.
    func stored(_ words: inout ProfileWords) -> StoredValue {
        .list([
            kind.stored(&words), subject.stored(&words), faultType.stored(&words), source.stored(&words),
            statementType.stored(&words), site.stored(&words), fetchSite.stored(&words),
        ])
    }

    init(_ value: StoredValue, _ words: ProfileWords) throws {
        let parts = try value.list(of: 7)
        self.init(
            kind: try EventKind(parts[0], words), subject: try Subject(parts[1], words),
            faultType: try TraceEvent.Fault.FaultType?(parts[2], words),
            source: try TraceEvent.Fault.Source?(parts[3], words),
            statementType: try TraceEvent.Statement.StatementType?(parts[4], words),
            site: try CallSite?(parts[5], words), fetchSite: try CallSite?(parts[6], words))
    }
}

extension EventGroup.Key.Subject {
    fileprivate func stored(_ words: inout ProfileWords) -> StoredValue {
        switch self {
        case .shape(let shape): .list([.text("shape"), shape.stored(&words)])
        case .entity(let name): .list([.text("entity"), .text(name)])
        case .relationship(let entity, let name): .list([.text("relationship"), .text(entity), .text(name)])
        case .statement(let sql): .list([.text("statement"), .text(sql)])
        case .saved(let entities): .list([.text("saved"), StoredValue(entities)])
        case .named(let name): .list([.text("named"), .text(name)])
        case .unknown: .none
        }
    }

    fileprivate init(_ value: StoredValue, _ words: ProfileWords) throws {
        guard value != .none else {
            self = .unknown
            return
        }
        let parts = try value.list()
        switch (try parts.first?.text(), parts.count) {
        case ("shape", 2): self = .shape(try ShapeEntry(parts[1], words))
        case ("entity", 2): self = .entity(try parts[1].text())
        case ("relationship", 3): self = .relationship(entity: try parts[1].text(), name: try parts[2].text())
        case ("statement", 2): self = .statement(try parts[1].text())
        case ("saved", 2): self = .saved(try parts[1].texts())
        case ("named", 2): self = .named(try parts[1].text())
        default: throw StoredProblem(expected: "a group's subject")
        }
    }
}
