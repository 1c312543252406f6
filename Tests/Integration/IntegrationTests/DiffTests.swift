import Foundation
import Testing

@Suite("faultline diff")
struct DiffTests {
    private static func trace(_ story: String) -> String {
        BuiltCommand.package.appendingPathComponent("Traces/\(story)/trace.json").path
    }

    @Test("A trace does not differ from itself or from its profile")
    func same() throws {
        let profile = try TemporaryDirectory().path("trace.profile")
        let trace = Self.trace("groceries-flawed")
        #expect(try BuiltCommand.run(["profile", trace, "-o", profile]).status == 0)
        let result = try BuiltCommand.run(["diff", trace, profile])
        #expect(result.status == 0 && result.errors == "")
        #expect(result.output.contains("Nothing changed: "))
        #expect(!result.output.contains("Worse") && !result.output.contains("Gone"))
    }

    /// Findings of the missing part only seem to be "gone", because the trace does not contain them.
    @Test("An incomplete side is reported")
    func cut() throws {
        let cut = try TemporaryDirectory().path("cut.json")
        let text = try String(contentsOfFile: Self.trace("groceries-flawed"), encoding: .utf8)
        try String(text.prefix(text.count / 2)).write(toFile: cut, atomically: true, encoding: .utf8)
        let result = try BuiltCommand.run(["diff", Self.trace("groceries-flawed"), cut])
        #expect(result.status == 0)
        #expect(
            result.errors.contains(
                "faultline: \(cut): 1 process has no end in the trace: the last events are missing.\n")
        )
    }

    @Test("Two single runs of sequential operations show only large changes in time")
    func sensitivity() throws {
        let trace = Self.trace("music-library")
        let text = try BuiltCommand.run(["diff", trace, trace]).withoutNextStep
        #expect(
            text.hasSuffix(
                """
                4 of them would show a change in time only if it were at least 1.8–5.5 ×; less is within the noise.
                Sums of several runs (faultline merge) show smaller changes.

                """))
        let json = try BuiltCommand.run(["diff", trace, trace, "--format", "json"]).output
        #expect(json.contains(#""leastRatio": 1.8"#))
        let improved = Self.trace("groceries-improved")
        #expect(
            try BuiltCommand.run(["diff", improved, improved]).output.contains(
                "\n1 of them ran too rarely to judge its time. Sums of several runs (faultline merge) show smaller\n"))
    }

    @Test("The improved list differs from the flawed one, in both directions")
    func groceries() throws {
        let (flawed, improved) = (Self.trace("groceries-flawed"), Self.trace("groceries-improved"))
        let better = try BuiltCommand.run(["diff", flawed, improved])
        #expect(better.status == 0)
        // As a reader sees it: the N+1 that is gone, at its line.
        let lines = better.withoutNextStep.split(separator: "\n").map(String.init)
        let fault = try #require(lines.first { $0.contains("Item.locationAtHome") && $0.contains("trips 48 → 0") })
        #expect(fault.hasSuffix("Groceries.swift:106"))
        #expect(lines.count { $0.hasPrefix("  gone ") } == 4 && !lines.contains { $0.hasPrefix("  new ") })
        #expect(lines.allSatisfy { $0.count <= 100 })
        let worse = try BuiltCommand.run(["diff", improved, flawed])
        #expect(worse.output.split(separator: "\n").count { $0.hasPrefix("  new ") } == 4)
        #expect(worse.output.contains("Worse\n"))
        #expect(better.output.contains("  ÷ ") && worse.output.contains("  × "))
    }

    @Test("JSON output contains every part of a comparison")
    func json() throws {
        let result = try BuiltCommand.run(
            ["diff", Self.trace("groceries-flawed"), Self.trace("groceries-improved"), "--format", "json"])
        let diff = try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        #expect(
            diff.keys.sorted() == [
                "findings", "operations", "pace", "plans", "samples", "scopes", "totals", "traces", "version",
            ])
        let operations = try #require(diff["operations"] as? [[String: Any]])
        #expect(Set(operations.compactMap { $0["verdict"] as? String }) == ["better", "new", "same", "traded"])
        let report = try ReportDocument(of: Self.trace("groceries-flawed"))
        let trips = (diff["totals"] as? [String: [String: Any]])?["trips"]?["before"] as? UInt64
        #expect(trips == report.totals.readTrips)
    }

    @Test("Unreadable files are reported")
    func wrong() throws {
        let missing = try BuiltCommand.run(["diff", Self.trace("n-plus-one"), "/nowhere.json"])
        #expect(missing.status == 2)
        #expect(missing.errors.contains("/nowhere.json"))
        #expect(try BuiltCommand.run(["diff", Self.trace("n-plus-one")]).status == 2)
    }
}
