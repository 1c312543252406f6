import FaultlineTrace
import Foundation
import FoundationXML
import Testing
import TraceFixtures

@testable import FaultlineFindings
@testable import FaultlineProfile
@testable import FaultlineReport
@testable import FaultlineRules

@Suite("JUnit's XML")
struct JUnitTests {
    private static func analysis(_ findings: [Finding]) -> Analysis {
        Analysis(Profile(GroceriesStory.trace), rules: [StubRule(findings: findings)])
    }

    private static func finding(_ title: Wording, severity: Severity = .warning, _ site: CallSite? = nil) -> Finding {
        Finding(
            rule: "R99", ruleName: "Stub", title: title, change: site, severity: severity, fix: "Do it.",
            code: ["a < b"],
            saving: Saving(), confidence: .high, signature: "R99|\(title)")
    }

    private static func text(_ check: BudgetCheck) throws -> String {
        let print = try #require(JUnitRenderer().printer(of: BudgetCheck.self))
        return print(check, Layout())
    }

    @Test func `Limits and findings are tests, and those that fail say why`() throws {
        var budget = try Budget(
            json: Data(#"{"total": {"trips": 300, "rows": 1}, "scopes": {"cart": {"rows": 9}}}"#.utf8))
        budget.accepted = [
            Acceptance(subject: .finding("R99|B"), reason: "once a year", expires: "2027-06-30"),
            Acceptance(subject: .finding("R99|C"), reason: "was", expires: "2020-01-01"),
        ]
        let known = Self.finding("D")
        let findings = [
            Self.finding("A", CallSite(file: "App/A.swift", line: 7)), Self.finding("B"), Self.finding("C"), known,
            Self.finding("Note", severity: .note),
        ]
        let check = BudgetCheck(
            Self.analysis(findings), budget: budget, baseline: Self.analysis([known]), today: "2026-11-24")
        #expect(
            try Self.text(check) == """
                <?xml version="1.0" encoding="UTF-8"?>
                <testsuites name="faultline check" tests="8" failures="4" errors="0" time="0">
                  <testsuite name="Trace" tests="1" failures="0" errors="0" skipped="0" time="0">
                    <testcase classname="faultline.trace" name="The trace is complete" time="0"/>
                  </testsuite>
                  <testsuite name="Budget" tests="2" failures="1" errors="0" skipped="0" time="0">
                    <testcase classname="faultline.budget" name="trips" time="0"/>
                    <testcase classname="faultline.budget" name="rows" time="0">
                      <failure message="The whole trace exceeds its limit on rows: 300, at most 1." type="budget">The whole trace exceeds its limit on rows: 300, at most 1.</failure>
                    </testcase>
                  </testsuite>
                  <testsuite name="Budget of cart" tests="1" failures="1" errors="0" skipped="0" time="0">
                    <testcase classname="faultline.budget.cart" name="rows, most per run" time="0">
                      <failure message="The limit of the scope &quot;cart&quot; on rows, most per run cannot be checked: not seen." type="budget">The limit of the scope &quot;cart&quot; on rows, most per run cannot be checked: not seen.</failure>
                    </testcase>
                  </testsuite>
                  <testsuite name="Findings" tests="4" failures="2" errors="0" skipped="2" time="0">
                    <testcase classname="faultline.R99" name="R99 A" time="0">
                      <failure message="A." type="warning">At A.swift:7.
                Do it.
                a &lt; b
                Saves no time that could be estimated. Confidence: high.
                To suppress it, add its name to the budget: R99|A</failure>
                    </testcase>
                    <testcase classname="faultline.R99" name="R99 B" time="0">
                      <skipped message="Suppressed until 2027-06-30: once a year"/>
                    </testcase>
                    <testcase classname="faultline.R99" name="R99 C" time="0">
                      <failure message="C." type="warning">Was suppressed until 2020-01-01: was
                Do it.
                a &lt; b
                Saves no time that could be estimated. Confidence: high.
                To suppress it, add its name to the budget: R99|C</failure>
                    </testcase>
                    <testcase classname="faultline.R99" name="R99 D" time="0">
                      <skipped message="The baseline has it, too."/>
                    </testcase>
                  </testsuite>
                </testsuites>

                """)
    }

    @Test func `A trace that proves nothing fails, and a check without findings has a test, too`() throws {
        let text = try Self.text(BudgetCheck(Analysis(Profile()), budget: Budget(), today: "2026-11-24"))
        #expect(text.contains("<failure message=\"No event was recorded, so nothing was checked.\" type=\"trace\">"))
        #expect(text.contains("<testcase classname=\"faultline.findings\" name=\"No new finding\" time=\"0\"/>"))
        #expect(text.contains("tests=\"2\" failures=\"1\""))
    }

    @Test func `No name can break the document`() throws {
        let hostile = "<a b='\"'>]]>&amp;\n\t\u{0}\u{1B}[31m\u{FFFE}\u{85}ä"
        #expect(
            XMLText.escaped(hostile) == "&lt;a b='&quot;'&gt;]]&gt;&amp;amp;\n\t␀␛[31m\u{FFFD}\u{FFFD}ä")
        #expect(
            XMLText.escaped(hostile, inAttribute: true)
                == "&lt;a b='&quot;'&gt;]]&gt;&amp;amp;&#10;&#9;␀␛[31m\u{FFFD}\u{FFFD}ä")
        let finding = Self.finding("\(hostile)", CallSite(file: hostile, line: 1))
        let text = try Self.text(BudgetCheck(Self.analysis([finding]), budget: Budget(), today: "2026-11-24"))
        let reader = Elements()
        let parser = XMLParser(data: Data(text.utf8))
        parser.delegate = reader
        #expect(parser.parse(), "\(String(describing: parser.parserError))")
        #expect(reader.names == ["R99 <a b='\"'>]]>&amp;\n\t␀␛[31m\u{FFFD}\u{FFFD}ä"])
    }

    private final class Elements: NSObject, XMLParserDelegate {
        var names: [String] = []

        func parser(
            _ parser: XMLParser, didStartElement element: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            if element == "testcase", let name = attributes["name"], name.hasPrefix("R99") { names.append(name) }
        }
    }
}
