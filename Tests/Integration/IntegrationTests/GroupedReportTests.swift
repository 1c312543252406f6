import Foundation
import Testing

@Suite("faultline report --by")
struct GroupedReportTests {
    private static let trace = BuiltCommand.package.appendingPathComponent("Traces/groceries-flawed/trace.json").path

    private func section(_ arguments: String...) throws -> [String] {
        let result = try BuiltCommand.run(["report", Self.trace] + arguments)
        #expect(result.status == 0 && result.errors.isEmpty)
        let lines = result.output.components(separatedBy: "\n")
        return Array(lines.drop { !$0.hasPrefix("Hotspots") }.prefix { !$0.isEmpty })
    }

    @Test("groups hotspots by entity, thread, scope and call site")
    func groups() throws {
        #expect(
            try section("--by", "entity") == [
                "Hotspots by entity", "  entity            count     p50     p99  rows    total  share",
                "  Item                307  281 ns  182 µs   504  6.06 ms   85 %",
                "  other statements      7       –       –     –  1.10 ms   15 %",
            ])
        #expect(
            try section("--by", "thread") == [
                "Hotspots by thread", "  thread       count     p50     p99  rows    total  share",
                "  main thread    314  290 ns  919 µs   506  7.16 ms  100 %",
            ])
        let scopes = try section("--by", "scope")
        #expect(
            scopes[0] == "Hotspots by scope  (p50 and p99 are durations of scopes, and totals time in the store)")
        #expect(scopes[1].split(separator: " ") == ["scope", "count", "p50", "p99", "trips", "rows", "total", "share"])
        #expect(scopes.dropFirst(2).map { $0.prefix(15) } == ["  list (screen)", "  item (screen)"])
        let sites = try section("--by", "site")
        #expect(sites[0] == "Hotspots by call site" && sites[2].hasPrefix("  Groceries.swift:81 "))
    }

    @Test("prints the groups as JSON and Markdown, too")
    func formats() throws {
        let json = try BuiltCommand.run(["report", Self.trace, "--by", "site", "--format", "json"])
        let document = try #require(
            try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        let hotspots = try #require(document["hotspots"] as? [String: Any])
        #expect(hotspots["by"] as? String == "site" && (hotspots["rows"] as? [[String: Any]])?.count == 6)
        let markdown = try BuiltCommand.run(["report", Self.trace, "--by", "site", "--format", "markdown"])
        #expect(markdown.output.contains("\n### Hotspots by call site\n"))
        #expect(markdown.output.contains("| `Groceries.swift:81` | 2 |"))
    }

    @Test("says that a profile has no sums of threads, and groups it by anything else")
    func profile() throws {
        let profile = try TemporaryDirectory().path("trace.profile")
        try #require(try BuiltCommand.run(["profile", Self.trace, "-o", profile]).status == 0)
        let threads = try BuiltCommand.run(["report", profile, "--by", "thread"])
        #expect(threads.status == 2 && threads.output.isEmpty)
        #expect(
            threads.errors == "faultline: \"\(profile)\" is a profile, which has no sums of threads; "
                + "name the trace that it was made from, or group by entity, scope or site.\n")
        for grouping in ["entity", "scope", "site"] {
            let ofTrace = try BuiltCommand.run(["report", Self.trace, "--by", grouping])
            let ofProfile = try BuiltCommand.run(["report", profile, "--by", grouping])
            #expect(ofProfile.withoutNextStep == ofTrace.withoutNextStep)
        }
    }
}
