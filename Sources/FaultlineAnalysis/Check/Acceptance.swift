public import FaultlineTrace

/// A suppression of findings, with its reason.
public struct Acceptance: Sendable, Hashable {
    public enum Subject: Sendable, Hashable {
        /// One finding, by its ``Finding/signature``.
        case finding(String)
        /// The findings of a rule at a line.
        case line(CallSite, rule: String)
    }

    public var subject: Subject
    public var reason: String
    /// The last day on which the suppression is valid, as `"2027-06-30"`, or `nil` if it never expires.
    public var expires: String?

    public init(subject: Subject, reason: String, expires: String? = nil) {
        self.subject = subject
        self.reason = reason
        self.expires = expires
    }

    func covers(_ finding: Finding) -> Bool {
        switch subject {
        case .finding(let signature): finding.signature == signature
        case .line(let site, let rule):
            finding.rule == rule && finding.change == site
                && (finding.change.map { Self.isSameFile($0.file, site.file) } ?? false)
        }
    }

    /// Whether a file name in a trace denotes a source file.
    ///
    /// A trace has a path, which may come from another machine, or a module and a file name. Two modules can have files
    /// of the same name.
    private static func isSameFile(_ recorded: String, _ source: String) -> Bool {
        let recorded = recorded.split(separator: "/")
        let source = source.split(separator: "/")
        guard recorded.count > 1, source.count > 1 else { return recorded.last == source.last }
        // Paths must agree in the last folder. A module's name must be one of the source file's folders.
        return recorded.suffix(2) == source.suffix(2)
            || (recorded.count == 2 && source.dropLast().contains(recorded[0]))
    }

    static func isDay(_ text: some StringProtocol) -> Bool {
        String(text).wholeMatch(of: /\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])/) != nil
    }
}
