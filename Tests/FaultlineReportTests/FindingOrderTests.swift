import FaultlineReport
import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineFindings
@testable import FaultlineProfile
@testable import FaultlineRules

@Suite("The order of findings in the text report")
struct FindingOrderTests {
    private static func finding(_ title: String, severity: Severity, saving: Double) -> Finding {
        var finding = Finding(
            rule: "R99", ruleName: "Stub", title: Wording(title),
            change: CallSite(file: "App/List.swift", line: 42, function: "show()"), severity: severity,
            fix: "Change \(title).", saving: Saving(time: .init(median: saving, low: saving, high: saving)),
            confidence: .high, signature: title)
        finding.explanation = ["First of \(title).", "Second of \(title).", "Third of \(title)."]
        finding.claims = [
            Claim(account: .loads(.init(shape: ShapeEntry(entity: title), site: nil)), balance: saving)
        ]
        return finding
    }

    private func report(_ findings: [Finding], showsAll: Bool = false) -> String {
        let analysis = Analysis(Profile(GroceriesStory.trace), rules: [StubRule(findings: findings)])
        return TextReport(analysis, showsAll: showsAll).render()
    }

    /// Warnings that save time, then errors that save none.
    private func mixed(warnings: Int, errors: Int) -> [Finding] {
        (0..<warnings).map { Self.finding("warning \($0)", severity: .warning, saving: Double(90_000 - $0)) }
            + (0..<errors).map { Self.finding("error \($0)", severity: .error, saving: 0) }
    }

    @Test func `Errors come before warnings that save more`() {
        let text = report(mixed(warnings: 7, errors: 1))
        #expect(text.contains("  1. error  R99 Stub"))
        #expect(text.contains("  2. warning  R99 Stub"))
        #expect(text.contains("Also"))
    }

    @Test func `Every error is shown in full, however many there are`() {
        let text = report(mixed(warnings: 2, errors: 9))
        for index in 0..<9 { #expect(text.contains("Change error \(index).")) }
        #expect(!text.contains("Change warning"))
        #expect(text.contains("  10. warning  R99 warning 0"))
    }

    @Test func `On request, all findings are shown in full, with their whole explanation`() {
        let findings = mixed(warnings: 9, errors: 1)
        #expect(!report(findings).contains("Change warning 8."))
        let text = report(findings, showsAll: true)
        for index in 0..<9 {
            #expect(text.contains("Change warning \(index)."))
            #expect(text.contains("Third of warning \(index)."))
        }
        #expect(!text.contains("Also"))
    }

    @Test func `The short line of a finding has every word of its title`() {
        let long =
            "Prefetch the relationship that leads from every post to its author's very long name and to all of it"
        let text = report(mixed(warnings: 6, errors: 0) + [Self.finding(long, severity: .warning, saving: 1)])
        #expect(text.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains("from every post"))
        #expect(!text.contains("…"))
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 100 })
        let words = Set(text.split(whereSeparator: \.isWhitespace))
        #expect(long.split(separator: " ").allSatisfy { words.contains($0) })
    }

    @Test func `Time summed over threads is not shown as a share of the recorded time`() {
        var builder = TraceBuilder()
        for thread in 1...3 as ClosedRange<UInt32> {
            (builder.thread, builder.now) = (thread, 1000)
            builder.event(.fetch(TraceEvent.Fetch()), duration: 1_000_000)
        }
        let text = TextReport(Analysis(Profile(builder.closed()))).render()
        #expect(text.contains("(3.00 ms, summed over 3 threads)"))
        #expect(!text.contains("of the recorded time"))
    }
}
