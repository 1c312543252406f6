internal import FaultlineAnalysis
internal import FaultlineTrace

/// A workflow command of GitHub Actions that makes an annotation.
struct WorkflowCommand {
    enum Level: String {
        case error, warning, notice
    }

    var level: Level
    var title: String
    var message: String
    /// The annotated line, or `nil` for an annotation of the whole run.
    var site: CallSite?

    init(level: Level, title: String, message: String, site: CallSite? = nil) {
        (self.level, self.title, self.message, self.site) = (level, title, message, site)
    }

    /// Creates the annotation of a finding.
    ///
    /// - Parameter lines: Lines to add to the message.
    init(_ finding: Finding, adding lines: [String] = []) {
        let level: Level =
            switch finding.severity {
            case .error: .error
            case .warning: .warning
            case .note: .notice
            }
        let sentences = ["\(finding.title)."] + finding.explanation.map(\.text) + [finding.fix.text]
        let text = [
            sentences.filter { !$0.isEmpty }.joined(separator: " "), finding.code.joined(separator: "\n"),
            ([FindingsText.saving(finding)] + finding.reservations.map(\.text)).joined(separator: " "),
        ]
        self.init(
            level: level, title: "\(finding.rule) \(finding.ruleName)",
            message: (text + lines).filter { !$0.isEmpty }.joined(separator: "\n"), site: finding.change)
    }

    /// The command, without a line feed.
    var line: String {
        var properties: [String] = []
        if let site, !site.file.isEmpty {
            properties.append("file=\(Self.escaped(property: site.file))")
            if site.line > 0 { properties.append("line=\(site.line)") }
        }
        properties.append("title=\(Self.escaped(property: title))")
        return "::\(level.rawValue) \(properties.joined(separator: ","))::\(Self.escaped(message))"
    }

    /// Escapes what would end a command, as GitHub's toolkit does
    /// (https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts).
    static func escaped(_ text: String) -> String { escaped(text, ["%": "%25", "\r": "%0D", "\n": "%0A"]) }

    /// Escapes what would end a command or one of its properties.
    static func escaped(property: String) -> String {
        escaped(property, ["%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"])
    }

    // A character would not do: Swift takes "\r\n" for a single one.
    private static func escaped(_ text: String, _ codes: [Unicode.Scalar: String]) -> String {
        text.unicodeScalars.map { codes[$0] ?? String($0) }.joined()
    }
}
