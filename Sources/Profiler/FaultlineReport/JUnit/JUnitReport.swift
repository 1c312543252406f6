internal import FaultlineFindings
internal import FaultlineRules
internal import FaultlineTrace

/// The outcome of a check as a suite of tests for each group of limits, and one for the findings.
///
///     <testcase classname="faultline.budget.list" name="trips, most per run" time="0"/>
///
/// Jenkins publishes a schema for the format, which has no attribute for a line. The message of a failure has it.
struct JUnitReport {
    /// A test of a suite, and how it ended.
    private struct Case {
        enum Outcome {
            case passed
            case skipped(String)
            /// The message, a word for the kind of failure, and the details.
            case failed(String, type: String, details: String)
        }

        var className: String
        var name: String
        var outcome = Outcome.passed

        var isFailed: Bool { if case .failed = outcome { true } else { false } }
        var isSkipped: Bool { if case .skipped = outcome { true } else { false } }
    }

    private struct Suite {
        var name: String
        var cases: [Case]
    }

    let check: BudgetCheck

    /// Returns the document, with a trailing line feed.
    func render() -> String {
        let suites = [trace] + limits + [findings]
        let all = suites.flatMap(\.cases)
        let root = Self.attributes([
            ("name", "faultline check"), ("tests", "\(all.count)"), ("failures", "\(all.count(where: \.isFailed))"),
            ("errors", "0"), ("time", "0"),
        ])
        return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites\(root)>\n"
            + suites.map(Self.text).joined() + "</testsuites>\n"
    }

    // MARK: - Suites

    /// Whether the trace can be checked at all.
    private var trace: Suite {
        let doubts = CheckText(check).doubtSentences
        var complete = Case(className: "faultline.trace", name: "The trace is complete")
        if !doubts.isEmpty {
            complete.outcome = .failed(doubts[0], type: "trace", details: doubts.joined(separator: "\n"))
        }
        return Suite(name: "Trace", cases: [complete])
    }

    private var limits: [Suite] {
        let scopes: [String?] = [nil] + check.outcomes.compactMap(\.limit.scope).uniqued
        return scopes.compactMap { scope in
            let outcomes = check.outcomes.filter { $0.limit.scope == scope }
            guard !outcomes.isEmpty else { return nil }
            let cases = outcomes.map { outcome in
                let name = CheckText.figures(outcome)[0]
                let className = "faultline.budget" + (scope.map { ".\($0)" } ?? "")
                guard !outcome.isMet else { return Case(className: className, name: name) }
                let sentence = CheckText.sentence(outcome)
                return Case(
                    className: className, name: name, outcome: .failed(sentence, type: "budget", details: sentence))
            }
            return Suite(name: scope.map { "Budget of \($0)" } ?? "Budget", cases: cases)
        }
    }

    private var findings: Suite {
        let cases = check.findings.filter { $0.state != .minor }.map { finding, state, acceptance in
            var test = Case(className: "faultline.\(finding.rule)", name: "\(finding.rule) \(finding.title)")
            let end = acceptance?.expires.map { " until \($0)" } ?? ""
            switch state {
            case .fails: test.outcome = Self.failure(finding)
            case .expired: test.outcome = Self.failure(finding, "Was suppressed\(end): \(acceptance?.reason ?? "")")
            case .known: test.outcome = .skipped("The baseline has it, too.")
            case .accepted: test.outcome = .skipped("Suppressed\(end): \(acceptance?.reason ?? "")")
            case .minor: break
            }
            return test
        }
        let none = Case(className: "faultline.findings", name: "No new finding")
        return Suite(name: "Findings", cases: cases.isEmpty ? [none] : cases)
    }

    private static func failure(_ finding: Finding, _ remark: String? = nil) -> Case.Outcome {
        let site = finding.change.map { "At \($0.description)." }
        let lines =
            [site, remark].compactMap(\.self) + finding.explanation.map(\.text) + [finding.fix.text] + finding.code
            + [FindingsText.saving(finding)] + finding.reservations.map(\.text)
            + ["To suppress it, add its name to the budget: \(finding.signature)"]
        return .failed(
            "\(finding.title).", type: finding.severity.name,
            details: lines.filter { !$0.isEmpty }.joined(separator: "\n"))
    }

    // MARK: - XML

    private static func text(_ suite: Suite) -> String {
        let attributes = attributes([
            ("name", suite.name), ("tests", "\(suite.cases.count)"),
            ("failures", "\(suite.cases.count(where: \.isFailed))"), ("errors", "0"),
            ("skipped", "\(suite.cases.count(where: \.isSkipped))"), ("time", "0"),
        ])
        return "  <testsuite\(attributes)>\n" + suite.cases.map(text).joined() + "  </testsuite>\n"
    }

    private static func text(_ test: Case) -> String {
        let start =
            "    <testcase\(attributes([("classname", test.className), ("name", test.name), ("time", "0")]))"
        switch test.outcome {
        case .passed: return start + "/>\n"
        case .skipped(let reason):
            return start + ">\n      <skipped\(attributes([("message", reason)]))/>\n    </testcase>\n"
        case .failed(let message, let type, let details):
            return start + ">\n      <failure\(attributes([("message", message), ("type", type)]))>"
                + XMLText.escaped(details) + "</failure>\n    </testcase>\n"
        }
    }

    private static func attributes(_ values: [(name: String, value: String)]) -> String {
        values.map { " \($0.name)=\"\(XMLText.escaped($0.value, inAttribute: true))\"" }.joined()
    }
}

/// JUnit's XML, which build servers show as tests: one for each limit, and one for each finding that counts.
struct JUnitRenderer: Renderer {
    let name = "junit"
    let fileExtensions = ["xml"]
    let purpose = "for build servers"

    func printer(of document: any Document.Type) -> Printer? {
        document is BudgetCheck.Type
            ? { document, _ in (document as? BudgetCheck).map { JUnitReport(check: $0).render() } ?? "" } : nil
    }
}

/// Text that an XML 1.0 document can hold.
enum XMLText {
    /// Escapes a text.
    ///
    /// XML forbids most control characters, even as references (https://www.w3.org/TR/xml/#charsets). Their pictures
    /// take their place.
    ///
    /// - Parameter inAttribute: Whether the text is the value of an attribute, in which a parser would replace line
    ///   feeds and tabs by spaces.
    static func escaped(_ text: String, inAttribute: Bool = false) -> String {
        var escaped = ""
        for scalar in Phrase.printable(text, keeping: ["\n", "\t"]).unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\n" where inAttribute: escaped += "&#10;"
            case "\t" where inAttribute: escaped += "&#9;"
            case "\u{FFFE}", "\u{FFFF}": escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
