import FaultlineDocuments
import FaultlineTrace
import Foundation
import Testing
import TraceFixtures

@testable import FaultlineFindings
@testable import FaultlineProfile
@testable import FaultlineReport
@testable import FaultlineRules

@Suite("SARIF")
struct SARIFTests {
    private static func analysis(_ findings: [Finding]) -> Analysis {
        Analysis(Profile(GroceriesStory.trace), rules: [StubRule(findings: findings)])
    }

    private static func finding(_ site: CallSite?, title: Wording = "Do it", severity: Severity = .warning) -> Finding {
        Finding(
            rule: "R99", ruleName: "Stub", title: title, change: site, severity: severity, fix: "Do it.",
            saving: Saving(),
            confidence: .high, signature: "R99|\(title)")
    }

    private static func run(_ text: String) throws -> [String: Any] {
        let log = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(log["version"] as? String == "2.1.0")
        return try #require((log["runs"] as? [[String: Any]])?.first)
    }

    private static func results(_ analysis: Analysis) throws -> [[String: Any]] {
        let print = try #require(SARIFRenderer().printer(of: Analysis.self))
        let text = print(analysis, Layout())
        return try #require(try run(text)["results"] as? [[String: Any]])
    }

    private static func results(_ check: BudgetCheck) throws -> [[String: Any]] {
        let print = try #require(SARIFRenderer().printer(of: BudgetCheck.self))
        let text = print(check, Layout())
        return try #require(try run(text)["results"] as? [[String: Any]])
    }

    /// The only location of a result, as JSON with sorted keys.
    private static func location(_ result: [String: Any]) throws -> String {
        let locations = try #require(result["locations"] as? [Any])
        try #require(locations.count == 1)
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
        return String(
            decoding: try JSONSerialization.data(withJSONObject: locations[0], options: options), as: UTF8.self)
    }

    @Test func `A result has the rule, the severity, the message, the lines and the finding's name`() throws {
        let results = try Self.results(Analysis(Profile(GroceriesStory.trace)))
        let first = try #require(results.first)
        #expect(results.map { $0["ruleId"] as? String } == ["R01", "R02", "R09"])
        #expect(first["level"] as? String == "warning" && first["ruleIndex"] as? Int == 0)
        let message = try #require(first["message"] as? [String: String])
        #expect(
            message["text"]?.hasPrefix(
                """
                Prefetch "list" with the fetch of Item. Item.list went to the store in 100 trips for 100 objects, 1.20 ms \
                in all.
                """) == true)
        #expect(
            message["text"]?.hasSuffix("Saves 982 µs (354 µs–1.13 ms), 24 % of the run, 99 trips. Confidence: medium.")
                == true)
        #expect(
            message["markdown"]?.hasPrefix("**Prefetch `list` with the fetch of `Item`.**\n\n`Item.list` went") == true)
        let code = "```swift\nrequest.relationshipKeyPathsForPrefetching = [\"list\"]\n```\n"
        #expect(message["markdown"]?.contains(code) == true)
        #expect(
            try Self.location(first)
                == #"{"logicalLocations":[{"fullyQualifiedName":"loadItems()","kind":"function"}],"physicalLocation":"#
                + #"{"artifactLocation":{"uri":"Groceries/List.swift"},"region":{"startLine":42}}}"#)
        let related = try #require(first["relatedLocations"] as? [[String: Any]])
        #expect(related.map { $0["id"] as? Int } == [1])
        #expect((related.first?["message"] as? [String: String])?["text"] == "Observed here 100 times.")
        let rank = try #require(first["rank"] as? Double)
        #expect((0...100).contains(rank))
        let prints = try #require(first["partialFingerprints"] as? [String: String])
        #expect(
            prints.keys.sorted() == ["findingSignature/v1"] && prints.values.first?.hasPrefix("R01|Item.list|") == true)
        let properties = try #require(first["properties"] as? [String: Any])
        #expect(properties["confidence"] as? String == "medium")
        #expect((properties["saving"] as? [String: Any])?["trips"] as? Int == 99)
    }

    @Test func `Rules have the text of explain`() throws {
        let print = try #require(SARIFRenderer().printer(of: Analysis.self))
        let text = print(Self.analysis([]), Layout())
        let driver = try #require((try Self.run(text)["tool"] as? [String: [String: Any]])?["driver"])
        let rules = try #require(driver["rules"] as? [[String: Any]])
        #expect(driver["name"] as? String == "Faultline" && driver["semanticVersion"] as? String == Version.current)
        #expect(rules.map { $0["id"] as? String } == RulePage.all.map(\.id) + ["budget"])
        for (rule, page) in zip(rules, RulePage.all) {
            let help = try #require(rule["help"] as? [String: String])
            #expect(rule["name"] as? String == page.name)
            #expect((rule["fullDescription"] as? [String: String])?["text"] == page.purpose)
            #expect(help["text"] == RuleText.page(of: page, width: 100))
            #expect(help["markdown"]?.contains("\n\n### What it looks for\n\n") == true)
            #expect(help["markdown"]?.contains("\n\n### Exceptions\n\n- ") == true)
        }
    }

    @Test func `A finding without a line has the place that is known`() throws {
        let sites: [(CallSite?, String)] = [
            (
                CallSite(file: "App/A.swift", line: 0),
                #"{"physicalLocation":{"artifactLocation":{"uri":"App/A.swift"}}}"#
            ),
            (
                CallSite(file: "", line: 0, function: "App+0x12"),
                #"{"logicalLocations":[{"fullyQualifiedName":"App+0x12","kind":"function"}],"physicalLocation":"#
                    + #"{"artifactLocation":{"uri":"file:///usr/bin/groceries"}}}"#
            ),
            (nil, #"{"physicalLocation":{"artifactLocation":{"uri":"file:///usr/bin/groceries"}}}"#),
        ]
        for (site, expected) in sites {
            let results = try Self.results(Self.analysis([Self.finding(site)]))
            #expect(try Self.location(results[0]) == expected)
        }
        // A log has no program either.
        let result = SARIFResult(finding: Self.finding(nil), programs: [""]).value
        #expect(result.line.contains(#""locations":[]"#))
    }

    @Test(arguments: [
        ("App/List.swift", "App/List.swift"), ("/home/me/My App/ä.swift", "file:///home/me/My%20App/%C3%A4.swift"),
        ("<string>", "%3Cstring%3E"), ("a:b/c?d#e%f", "a%3Ab/c%3Fd%23e%25f"), ("a\nb", "a%0Ab"),
    ])
    func `A path becomes a URI`(path: String, uri: String) {
        #expect(SARIFLocation.uri(path) == uri)
    }

    @Test func `Braces and links in a name are text, not arguments and links`() throws {
        let title: Wording = "Change \(code: "{0} [a](1)")"
        let results = try Self.results(Self.analysis([Self.finding(nil, title: title)]))
        let message = try #require(results[0]["message"] as? [String: String])
        #expect(message["text"]?.hasPrefix(#"Change {{0}} \[a\](1). Do it."#) == true)
        #expect(message["markdown"]?.hasPrefix("**Change `{{0}} [a](1)`.**\n") == true)
    }

    @Test func `A check has its broken limits, its findings and their suppressions`() throws {
        var budget = try Budget(
            json: Data(#"{"total": {"trips": 3, "rows": 1}, "scopes": {"cart": {"rows": 9}}}"#.utf8))
        budget.accepted = [
            Acceptance(subject: .finding("R99|A"), reason: "once a year"),
            Acceptance(subject: .finding("R99|B"), reason: "was", expires: "2020-01-01"),
            Acceptance(subject: .line(CallSite(file: "A.swift", line: 3), rule: "R99"), reason: "in a comment"),
        ]
        let known = Self.finding(nil, title: "Known")
        let findings = [
            Self.finding(nil, title: "A"), Self.finding(nil, title: "B"),
            Self.finding(CallSite(file: "A.swift", line: 3), title: "C"), known,
            Self.finding(nil, title: "Note", severity: .note),
        ]
        let check = BudgetCheck(
            Self.analysis(findings), budget: budget, baseline: Self.analysis([known]), today: "2026-11-24")
        let results = try Self.results(check)
        let limits = results.filter { $0["ruleId"] as? String == "budget" }
        #expect(
            limits.compactMap { ($0["message"] as? [String: String])?["text"] } == [
                "The whole trace exceeds its limit on rows: 300, at most 1.",
                "The limit of the scope \"cart\" on rows, most per run cannot be checked: not seen.",
            ])
        #expect(
            limits.allSatisfy { $0["level"] as? String == "error" && $0["ruleIndex"] as? Int == RulePage.all.count })
        let states = results.filter { $0["ruleId"] as? String == "R99" }.map { result in
            let suppression = (result["suppressions"] as? [[String: Any]])?.first
            return [suppression?["kind"], suppression?["justification"], result["baselineState"]].map {
                $0 as? String ?? "–"
            }
        }
        #expect(
            Set(states) == [
                ["external", "once a year", "–"], ["–", "–", "–"], ["inSource", "in a comment", "–"],
                ["–", "–", "unchanged"],
            ])
        #expect(states.count == 4)
    }

    @Test func `The log says what limits it`() throws {
        let empty = BudgetCheck(Analysis(Profile()), budget: Budget(), today: "2026-11-24")
        let print = try #require(SARIFRenderer().printer(of: BudgetCheck.self))
        let text = print(empty, Layout())
        let invocation = try #require((try Self.run(text)["invocations"] as? [[String: Any]])?.first)
        let notes = try #require(invocation["toolExecutionNotifications"] as? [[String: Any]])
        #expect(notes.map { $0["level"] as? String } == ["error"])
        #expect(
            (notes[0]["message"] as? [String: String])?["text"] == "No event was recorded, so nothing was checked.")
    }
}
