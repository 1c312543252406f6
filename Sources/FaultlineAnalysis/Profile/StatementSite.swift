public import FaultlineTrace

/// A statement at a line of the program.
public struct StatementSite: Sendable, Hashable {
    /// The statement's text, without values.
    public var sql: String
    /// The line, or `nil` if the trace does not have it.
    public var site: CallSite?
}

extension StatementSite: NamedSite {
    var name: String { sql }

    init(name: String, site: CallSite?) { self.init(sql: name, site: site) }
}
