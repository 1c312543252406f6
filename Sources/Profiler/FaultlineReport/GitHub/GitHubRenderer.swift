internal import FaultlineFindings
internal import FaultlineRules
internal import FaultlineTrace

/// Workflow commands of GitHub Actions, which become annotations at the lines of a pull request.
///
///     ::warning file=App/List.swift,line=42,title=R01 N+1 faults::Prefetch "list" with the fetch of Item. …
///
/// GitHub shows the first ten of each level in a step. Findings come in order of severity and saving.
/// https://docs.github.com/en/actions/reference/workflow-commands-for-github-actions
struct GitHubRenderer: Renderer {
    let name = "github"
    let fileExtensions: [String] = []
    let purpose = "for annotations in GitHub Actions"

    func printer(of document: any Document.Type) -> Printer? {
        guard document is any AnnotatedDocument.Type else { return nil }
        return { ($0 as? any AnnotatedDocument)?.annotations($1.paths).map { $0.line + "\n" }.joined() ?? "" }
    }
}

/// The diagnostics of a compiler, by which editors find their way to the lines.
///
///     App/List.swift:42: warning: Prefetch "list" with the fetch of Item. … [R01 N+1 faults]
///
/// The format is that of GCC (https://www.gnu.org/prep/standards/html_node/Errors.html), which Xcode, Visual Studio Code, Vim and
/// Emacs read.
struct CompilerRenderer: Renderer {
    let name = "gcc"
    let fileExtensions: [String] = []
    let purpose = "for editors"

    func printer(of document: any Document.Type) -> Printer? {
        guard document is any AnnotatedDocument.Type else { return nil }
        return { ($0 as? any AnnotatedDocument)?.annotations($1.paths).map { $0.diagnostic + "\n" }.joined() ?? "" }
    }
}

/// A document that has annotations at lines.
protocol AnnotatedDocument: Document {
    func annotations(_ paths: RepositoryPaths?) -> [WorkflowCommand]
}

extension Analysis: AnnotatedDocument {
    func annotations(_ paths: RepositoryPaths?) -> [WorkflowCommand] {
        let limits = quality?.explanation.map(\.text) ?? []
        let facts = TextReport.facts(profile) + "."
        let summary = WorkflowCommand(
            level: limits.isEmpty ? .notice : .warning, title: "Faultline",
            message: ([facts] + limits).joined(separator: " "))
        return [summary] + findings.map { WorkflowCommand($0.located(in: paths)) }
    }
}

extension BudgetCheck: AnnotatedDocument {
    func annotations(_ paths: RepositoryPaths?) -> [WorkflowCommand] {
        let verdict = WorkflowCommand(
            level: isPassed ? .notice : .error, title: "Faultline check", message: CheckText(self).verdict)
        let limits = outcomes.filter { !$0.isMet }.map {
            WorkflowCommand(level: .error, title: "Budget", message: CheckText.sentence($0))
        }
        let failing = findings.filter { $0.state.isFailing }.map { finding, _, _ in
            WorkflowCommand(
                finding.located(in: paths),
                adding: ["To suppress it, add its name to the budget: \(finding.signature)"])
        }
        let stale = stale.map { acceptance in
            var command = WorkflowCommand(
                level: .warning, title: "Stale suppression",
                message: "No finding matches \(CheckText.subject(acceptance)) (\(acceptance.reason)).")
            if case .line(let site, _) = acceptance.subject { command.site = site }
            return command
        }
        return [verdict] + limits + failing + stale
    }
}

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

    /// The annotation as a diagnostic of a compiler, without a line feed.
    var diagnostic: String {
        let place = site.flatMap { $0.file.isEmpty ? nil : $0.line > 0 ? "\($0.file):\($0.line)" : $0.file }
        let text = message.split(whereSeparator: \.isNewline).joined(separator: " ")
        return "\(place ?? "faultline"): \(level == .notice ? "note" : level.rawValue): \(text) [\(title)]"
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
