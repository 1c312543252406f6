import Foundation
import Testing

@Suite("faultline diff")
struct DiffTests {
    private static func trace(_ story: String) -> String {
        BuiltCommand.package.appendingPathComponent("Traces/\(story)/trace.json").path
    }

    @Test("A trace is the same as itself, and as its profile")
    func same() throws {
        let profile = try TemporaryDirectory().path("trace.profile")
        let trace = Self.trace("groceries-flawed")
        #expect(try BuiltCommand.run(["profile", trace, "-o", profile]).status == 0)
        let result = try BuiltCommand.run(["diff", trace, profile])
        #expect(result.status == 0 && result.errors == "")
        #expect(result.output.contains("Nothing changed: "))
        #expect(!result.output.contains("Worse") && !result.output.contains("Gone"))
    }

    /// Findings of the part that was cut off are "gone" only because nobody sees them.
    @Test("What a side lacks is told")
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

    @Test("Two single runs of operations that ran one after the other show only large changes of time")
    func sensitivity() throws {
        let trace = Self.trace("music-library")
        let text = try BuiltCommand.run(["diff", trace, trace]).output
        #expect(
            text.hasSuffix(
                """
                4 of them would show a change in time only if it were at least 1.8–4.5 ×; less is within the noise.
                Sums of several runs (faultline merge) show smaller changes.

                """))
        let json = try BuiltCommand.run(["diff", trace, trace, "--format", "json"]).output
        #expect(json.contains(#""leastRatio": 1.8"#))
    }

    @Test("The improved list is told from the flawed one, and the other way round")
    func groceries() throws {
        let (flawed, improved) = (Self.trace("groceries-flawed"), Self.trace("groceries-improved"))
        let better = try BuiltCommand.run(["diff", flawed, improved])
        #expect(better.status == 0)
        // As a reader sees it: the N+1 that went away, at its line.
        let lines = better.output.split(separator: "\n").map(String.init)
        let fault = try #require(lines.first { $0.contains("Item.locationAtHome") && $0.contains("trips 48 → 0") })
        #expect(fault.hasSuffix("Groceries.swift:106"))
        #expect(lines.count { $0.hasPrefix("  gone ") } == 4 && !lines.contains { $0.hasPrefix("  new ") })
        #expect(lines.allSatisfy { $0.count <= 100 })
        let worse = try BuiltCommand.run(["diff", improved, flawed])
        #expect(worse.output.split(separator: "\n").count { $0.hasPrefix("  new ") } == 4)
        #expect(worse.output.contains("Worse\n"))
    }

    @Test("For programs there is everything")
    func json() throws {
        let result = try BuiltCommand.run(
            ["diff", Self.trace("groceries-flawed"), Self.trace("groceries-improved"), "--format", "json"])
        let diff = try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        #expect(
            diff.keys.sorted() == ["findings", "operations", "pace", "plans", "scopes", "totals", "traces", "version"])
        let operations = try #require(diff["operations"] as? [[String: Any]])
        #expect(Set(operations.compactMap { $0["verdict"] as? String }) == ["better", "new", "same", "traded"])
        let report = try ReportDocument(of: Self.trace("groceries-flawed"))
        let trips = (diff["totals"] as? [String: [String: Any]])?["trips"]?["before"] as? UInt64
        #expect(trips == report.totals.readTrips)
    }

    @Test("What cannot be read is told")
    func wrong() throws {
        let missing = try BuiltCommand.run(["diff", Self.trace("n-plus-one"), "/nowhere.json"])
        #expect(missing.status == 2)
        #expect(missing.errors.contains("/nowhere.json"))
        #expect(try BuiltCommand.run(["diff", Self.trace("n-plus-one")]).status == 2)
    }
}
