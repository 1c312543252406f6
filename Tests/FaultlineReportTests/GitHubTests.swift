import FaultlineTrace
import Foundation
import Testing
import TraceFixtures

@testable import FaultlineFindings
@testable import FaultlineProfile
@testable import FaultlineReport
@testable import FaultlineRules

@Suite("Workflow commands of GitHub Actions")
struct GitHubTests {
    private static func analysis(_ findings: [Finding]) -> Analysis {
        Analysis(Profile(GroceriesStory.trace), rules: [StubRule(findings: findings)])
    }

    private static func finding(_ title: Wording, severity: Severity, _ site: CallSite? = nil) -> Finding {
        Finding(
            rule: "R99", ruleName: "A: B, 100 %", title: title, change: site, severity: severity, fix: "Change 50 %.",
            code: ["one", "two"], saving: Saving(), confidence: .high, signature: "R99|\(title)")
    }

    @Test func `Each finding of a report is an annotation at its line`() throws {
        let findings = [
            Self.finding("Do A", severity: .error, CallSite(file: "App/a,b:c%.swift", line: 42)),
            Self.finding("Do B", severity: .warning, CallSite(file: "App/B.swift", line: 0)),
            Self.finding("Do C", severity: .note, CallSite(file: "", line: 0, function: "App+0x12")),
        ]
        let rest = "::Do %@. Change 50 %25.%0Aone%0Atwo%0ASaves no time that could be estimated. Confidence: high.\n"
        let message = { (letter: String) in rest.replacingOccurrences(of: "%@", with: letter) }
        let print = try #require(GitHubRenderer().printer(of: Analysis.self))
        let text = print(Self.analysis(findings), Layout())
        #expect(
            text
                == "::notice title=Faultline::4.11 ms, 180 events, none lost, writing 120 µs.\n"
                + "::error file=App/a%2Cb%3Ac%25.swift,line=42,title=R99 A%3A B%2C 100 %25" + message("A")
                + "::warning file=App/B.swift,title=R99 A%3A B%2C 100 %25" + message("B")
                + "::notice title=R99 A%3A B%2C 100 %25" + message("C"))
    }

    @Test func `Findings are a compiler's diagnostics, too`() throws {
        let findings = [
            Self.finding("Do A", severity: .error, CallSite(file: "App/A.swift", line: 42)),
            Self.finding("Do B", severity: .warning, CallSite(file: "App/B.swift", line: 0)),
            Self.finding("Do C", severity: .note, CallSite(file: "", line: 0, function: "App+0x12")),
        ]
        let rest = "Change 50 %. one two Saves no time that could be estimated. Confidence: high. [R99 A: B, 100 %]\n"
        let print = try #require(CompilerRenderer().printer(of: Analysis.self))
        #expect(
            print(Self.analysis(findings), Layout())
                == "faultline: note: 4.11 ms, 180 events, none lost, writing 120 µs. [Faultline]\n"
                + "App/A.swift:42: error: Do A. " + rest + "App/B.swift: warning: Do B. " + rest
                + "faultline: note: Do C. " + rest)
    }

    @Test func `The limits of what the trace shows are a warning`() throws {
        let print = try #require(GitHubRenderer().printer(of: Analysis.self))
        let text = print(Analysis(Profile()), Layout())
        #expect(text.hasPrefix("::warning title=Faultline::0 ns, 0 events, none lost. "), "\(text)")
    }

    @Test func `A check annotates what makes it fail`() throws {
        var budget = try Budget(json: Data(#"{"total": {"rows": 1, "saves": 9}}"#.utf8))
        budget.accepted = [
            Acceptance(subject: .finding("R99|A"), reason: "once a year"),
            Acceptance(subject: .line(CallSite(file: "App/Z.swift", line: 3), rule: "R02"), reason: "gone"),
        ]
        let findings = [
            Self.finding("A", severity: .error),
            Self.finding("B", severity: .warning, CallSite(file: "App/B.swift", line: 7)),
            Self.finding("C", severity: .note),
        ]
        let check = BudgetCheck(Self.analysis(findings), budget: budget, today: "2026-11-24")
        let print = try #require(GitHubRenderer().printer(of: BudgetCheck.self))
        let text = print(check, Layout())
        #expect(
            text == """
                ::error title=Faultline check::Failed: 1 broken budget, 1 finding.
                ::error title=Budget::The whole trace exceeds its limit on rows: 300, at most 1.
                ::warning file=App/B.swift,line=7,title=R99 A%3A B%2C 100 %25::B. Change 50 %25.%0Aone%0Atwo%0ASaves no time \
                that could be estimated. Confidence: high.%0ATo suppress it, add its name to the budget: R99|B
                ::warning file=App/Z.swift,line=3,title=Stale suppression::No finding matches R02 at Z.swift:3 (gone).

                """)
        let passed = BudgetCheck(Self.analysis([]), budget: Budget(), today: "2026-11-24")
        let verdict = print(passed, Layout())
        #expect(verdict == "::notice title=Faultline check::Passed: no limits were set, no new finding.\n")
    }

    @Test func `No name can end a command or begin another one`() {
        let hostile = "a\r\n::error::b, c: d% e\n"
        #expect(WorkflowCommand.escaped(hostile) == "a%0D%0A::error::b, c: d%25 e%0A")
        #expect(WorkflowCommand.escaped(property: hostile) == "a%0D%0A%3A%3Aerror%3A%3Ab%2C c%3A d%25 e%0A")
        let command = WorkflowCommand(
            level: .notice, title: hostile, message: hostile, site: CallSite(file: hostile, line: 1))
        #expect(command.line.unicodeScalars.allSatisfy { $0 != "\n" && $0 != "\r" })
        #expect(command.line.components(separatedBy: "::error::").count == 2)
    }
}
