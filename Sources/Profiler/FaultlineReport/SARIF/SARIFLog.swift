internal import FaultlineDocuments
internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineRules

/// A SARIF log: one run of Faultline, with the rules that it knows and the results that they gave.
struct SARIFLog {
    /// The schema that the log follows.
    static let schema = "https://json.schemastore.org/sarif-2.1.0.json"

    /// The rules by their position in the log, which results refer to.
    static let positions = Dictionary(
        uniqueKeysWithValues: (RulePage.all.map(\.id) + [SARIFBudget.rule]).enumerated().map { ($1, $0) })

    let results: [JSONValue]
    /// The limits of the results.
    let notifications: [JSONValue]

    /// Returns the log, with a trailing line feed.
    func render() -> String {
        let driver = JSONValue.sorted([
            "name": .string("Faultline"), "semanticVersion": .string(Version.current),
            "rules": .array(RulePage.all.map(Self.rule) + [SARIFBudget.descriptor]),
        ])
        let run = JSONValue.sorted([
            "tool": .object([("driver", driver)]), "columnKind": .string("unicodeCodePoints"),
            "invocations": .array([
                .sorted(["executionSuccessful": .bool(true), "toolExecutionNotifications": .array(notifications)])
            ]),
            "results": .array(results),
        ])
        return JSONValue.object([
            ("$schema", .string(Self.schema)), ("version", .string("2.1.0")), ("runs", .array([run])),
        ]).indented + "\n"
    }

    /// A rule with its manual page.
    private static func rule(_ page: RulePage) -> JSONValue {
        let text = RuleText.page(of: page, width: 100)
        return .sorted([
            "id": .string(page.id), "name": .string(page.name), "shortDescription": plain(page.name),
            "fullDescription": plain(page.purpose),
            "help": .sorted(["text": .string(text), "markdown": .string(MarkdownRule.page(of: page))]),
            "properties": .object([("tags", .array([.string("performance")]))]),
        ])
    }

    /// A text without markup, for descriptions.
    ///
    /// Descriptions have no placeholders and no links, so nothing is escaped.
    static func plain(_ text: String) -> JSONValue { .object([("text", .string(text))]) }

    /// A message in plain text and in Markdown.
    static func message(_ text: String, markdown: String? = nil) -> JSONValue {
        var members: [String: JSONValue] = ["text": .string(escaped(text, isMarkdown: false))]
        if let markdown { members["markdown"] = .string(escaped(markdown, isMarkdown: true)) }
        return .sorted(members)
    }

    /// Escapes what a message would give a meaning.
    ///
    /// Braces hold the numbers of arguments (section 3.11.5), and in plain text brackets can be a link (section 3.11.6).
    private static func escaped(_ text: String, isMarkdown: Bool) -> String {
        var escaped = ""
        let hasLink = !isMarkdown && text.contains("](")
        for character in text {
            switch character {
            case "{": escaped += "{{"
            case "}": escaped += "}}"
            case "[" where hasLink, "]" where hasLink: escaped += "\\" + String(character)
            default: escaped.append(character)
            }
        }
        return escaped
    }
}

/// The part of a SARIF log that is about the trace itself.
enum SARIFNotification {
    /// The quality of a trace, which is a finding about no line of the program.
    static func value(_ quality: Finding) -> JSONValue {
        value(quality.explanation.map(\.text).joined(separator: " "), level: quality.severity.name, rule: quality.rule)
    }

    static func value(_ sentence: String, level: String, rule: String? = nil) -> JSONValue {
        var members: [String: JSONValue] = ["level": .string(level), "message": SARIFLog.message(sentence)]
        if let rule, let position = SARIFLog.positions[rule] {
            members["associatedRule"] = .sorted(["id": .string(rule), "index": .integer(Int64(position))])
        }
        return .sorted(members)
    }
}

/// SARIF 2.1.0 for code scanning, which shows findings at their lines.
///
/// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
struct SARIFRenderer: Renderer {
    let name = "sarif"
    let purpose = "for code scanning"

    func printer(of document: any Document.Type) -> Printer? {
        document is any ScannedDocument.Type ? { ($0 as? any ScannedDocument)?.log($1.paths).render() ?? "" } : nil
    }
}

/// A document that has a form in SARIF.
protocol ScannedDocument: Document {
    func log(_ paths: RepositoryPaths?) -> SARIFLog
}

extension Analysis: ScannedDocument {
    func log(_ paths: RepositoryPaths?) -> SARIFLog {
        let programs = profile.programs.map(\.path)
        return SARIFLog(
            results: findings.map { SARIFResult(finding: $0.located(in: paths), programs: programs).value },
            // Without a sentence there is nothing to notify of.
            notifications: [quality].compactMap(\.self).filter { !$0.explanation.isEmpty }.map(SARIFNotification.value))
    }
}

extension BudgetCheck: ScannedDocument {
    func log(_ paths: RepositoryPaths?) -> SARIFLog {
        SARIFLog(
            results: SARIFBudget.results(of: self) + SARIFResult.results(of: self, paths),
            notifications: CheckText(self).doubtSentences.map { SARIFNotification.value($0, level: "error") })
    }
}
