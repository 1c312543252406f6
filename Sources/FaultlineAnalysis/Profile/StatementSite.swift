public import FaultlineTrace

/// A statement at a line of the program.
public struct StatementSite: Sendable, Hashable {
    /// The statement's text, without values.
    public var sql: String
    /// The line, or `nil` if the trace does not have it.
    public var site: CallSite?
}

extension StatementSite {
    /// A sentence about a line that is not the program's own, or `nil` if it is.
    var reservation: Wording? {
        guard let site, site.isInPythonLibrary else { return nil }
        return
            "The line is a library's: no function of the program was on the stack, as in a thread of the library's own."
    }
}

extension StatementSite: NamedSite {
    var name: String { sql }

    init(name: String, site: CallSite?) { self.init(sql: name, site: site) }
}
