public import FaultlineTrace

/// A statement at a line of the program.
public struct StatementSite: Sendable, Hashable {
    /// The statement's text, without values.
    public var sql: String
    /// The line, or `nil` if the trace does not have it.
    public var site: CallSite?
}

extension StatementSite: ProfileKey {
    static var hasSpellings: Bool { true }
    var sortText: String { sql + "\u{2}" + (site?.sortText ?? "") }
    func stored(_ words: inout ProfileWords) -> StoredValue { .list([.text(sql), site.stored(&words)]) }

    init(_ value: StoredValue, _ words: ProfileWords) throws {
        let parts = try value.list(of: 2)
        self.init(sql: try parts[0].text(), site: try CallSite?(parts[1], words))
    }
}
