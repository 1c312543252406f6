import Foundation
import Testing

@Suite("faultline check")
struct CheckTests {
    private static func trace(_ story: String) -> String {
        BuiltCommand.package.appendingPathComponent("Traces/\(story)/trace.json").path
    }

    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func file(_ name: String, _ text: String) throws -> String {
        let path = directory.path(name)
        try FileManager.default.createDirectory(
            at: URL(fileURLWithPath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        return path
    }

    @Test("passes a good trace, and fails a flawed one with the line to change")
    func findings() throws {
        let improved = try BuiltCommand.run(["check", Self.trace("groceries-improved")])
        #expect(improved.status == 0)
        #expect(improved.withoutNextStep == "Passed: no limits were set, no new finding.\n")
        let flawed = try BuiltCommand.run(["check", Self.trace("groceries-flawed")])
        #expect(flawed.status == 1 && flawed.errors == "")
        #expect(flawed.withoutNextStep.hasSuffix("\nFailed: 3 findings.\n"))
        let lines = flawed.output.split(separator: "\n").map(String.init)
        #expect(lines.contains { $0.hasPrefix("  fails       R02 ") && $0.hasSuffix(" Groceries.swift:100") })
        let known = try BuiltCommand.run(
            ["check", Self.trace("groceries-flawed"), "--baseline", Self.trace("groceries-flawed")])
        #expect(known.status == 0)
    }

    @Test("applies the given thresholds, and names them")
    func thresholds() throws {
        let file = try file("thresholds.json", #"{"R02": {"minimumWindows": 50}, "R25": {"minimumObjects": 100}}"#)
        let flawed = try BuiltCommand.run(["check", Self.trace("groceries-flawed"), "--thresholds", file])
        #expect(flawed.status == 1)
        #expect(flawed.errors == "faultline: Thresholds set: R02 minimumWindows 50, R25 minimumObjects 100.\n")
        #expect(flawed.withoutNextStep.hasSuffix("\nFailed: 1 finding.\n"))
        for command in ["report", "profile", "diff", "verify", "explain"] {
            let help = try BuiltCommand.run(["help", command]).output
            #expect(help.contains("--thresholds"))
        }
    }

    @Test("rejects thresholds that would have no effect")
    func wrongThresholds() throws {
        let trace = Self.trace("groceries-flawed")
        let mistyped = try file("mistyped.json", #"{"R06": {"minimalRows": 50}}"#)
        let result = try BuiltCommand.run(["report", trace, "--thresholds", mistyped])
        #expect(result.status == 2 && result.output == "")
        #expect(
            result.errors
                == """
                faultline: The thresholds file "\(mistyped)" cannot be used: "R06.minimalRows" is not known here; use one of \
                "minimumRows", "minimumSteps", "stepsPerRow", "largestShare", "largestIndexShare", "maximumColumns", "needlessWrites", "longFetch"; \
                "faultline explain" lists the thresholds of "significance", and with a rule's number those of the rule.

                """)
        let missing = try BuiltCommand.run(["check", trace, "--thresholds", directory.path("none.json")])
        #expect(missing.status == 2 && missing.output == "")
        #expect(missing.errors.hasPrefix("faultline: "))
    }

    @Test("names what exceeds its limit")
    func limits() throws {
        let budget = try file(
            "budget.json",
            """
            {"total": {"trips": 58, "cacheMisses": 47}, "scopes": {"list": {"trips": 3}, "cart": {"rows": 9}},
             "findings": {"fail": "never"}}
            """)
        let result = try BuiltCommand.run(["check", Self.trace("groceries-flawed"), "--budget", budget])
        #expect(result.status == 1)
        let rows = result.withoutNextStep.split(separator: "\n").map {
            $0.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        }
        #expect(
            rows == [
                "Budgets", "measured at most", "ok (all) trips 58 58", "broken (all) cacheMisses 52 47",
                "broken cart rows, most per run not seen 9", "broken list trips, most per run 12 3",
                #"The trace has no scope "cart"; it has "list" and "item"."#, "Failed: 3 broken budgets.",
            ])
        let json = try BuiltCommand.run(
            ["check", Self.trace("groceries-flawed"), "--budget", budget, "--format", "json"])
        #expect(json.status == 1)
        let check = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        #expect(check["passed"] as? Bool == false && (check["budgets"] as? [Any])?.count == 4)
    }

    @Test("suppresses findings by name, by comment and until a date, and reports stale suppressions")
    func acceptance() throws {
        let flawed = try BuiltCommand.run(["check", Self.trace("groceries-flawed")])
        let names = flawed.output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { $0.hasPrefix("R0") || $0.hasPrefix("R25|") }
        #expect(names.count == 3)
        let entries = { (expires: String) in
            names.map { "{\"finding\": \"\($0)\", \"reason\": \"as ever\"\(expires)}" }.joined(separator: ",")
        }
        let budget = try file("budget.json", "{\"findings\": {\"ignore\": [\(entries(""))]}}")
        #expect(try BuiltCommand.run(["check", Self.trace("groceries-flawed"), "--budget", budget]).status == 0)
        let expired = try file(
            "expired.json", "{\"findings\": {\"ignore\": [\(entries(", \"expires\": \"2020-01-01\""))]}}")
        let late = try BuiltCommand.run(["check", Self.trace("groceries-flawed"), "--budget", expired])
        #expect(late.status == 1 && late.withoutNextStep.hasSuffix("\nFailed: 3 expired suppressions.\n"))
        let stale = try BuiltCommand.run(["check", Self.trace("groceries-improved"), "--budget", budget])
        #expect(stale.status == 0 && stale.output.contains("Stale suppressions\n  R0"))
        #expect(stale.output.contains("In a budget, copy the name that is printed below a finding"))

        let code = String(repeating: "\n", count: 98) + "// faultline:ignore R01, R02: a demonstration\nfetch()\n"
        _ = try file("Sources/Command/FaultlineWorkloads/Groceries.swift", code)
        let commented = try BuiltCommand.run(
            ["check", Self.trace("groceries-flawed"), "--sources", directory.path("Sources")])
        #expect(commented.status == 1 && commented.withoutNextStep.hasSuffix("\nFailed: 2 findings.\n"))
        #expect(commented.output.contains("suppressed: a demonstration"))
        _ = try file("Sources/Cart.swift", "// faultline:ignore R01\n")
        let mistaken = try BuiltCommand.run(
            ["check", Self.trace("groceries-flawed"), "--sources", directory.path("Sources")])
        #expect(mistaken.status == 2)
        #expect(
            mistaken.errors
                == "faultline: The comment in Cart.swift:1 suppresses nothing; write \"faultline:ignore R02: "
                + "why\", or \"faultline:ignore R02, R03 until 2027-06-30: why\".\n")
    }

    @Test("distinguishes wrong usage from a failed check")
    func wrong() throws {
        let trace = Self.trace("groceries-improved")
        #expect(try BuiltCommand.run(["check", "/nowhere.json"]).status == 2)
        let missing = try BuiltCommand.run(["check", trace, "--budget", "/nowhere.json"])
        #expect(missing.status == 2)
        #expect(
            missing.errors
                == "faultline: Cannot read the budget \"/nowhere.json\" (No such file or directory); check the path "
                + "and its "
                + "permissions.\n")
        let folder = try BuiltCommand.run(["check", trace, "--budget", "/tmp"])
        #expect(folder.status == 2 && folder.errors.contains("(Is a directory)"))
        let budget = try file("budget.json", "{\"total\": {\"trip\": 3}}")
        let mistyped = try BuiltCommand.run(["check", trace, "--budget", budget])
        #expect(
            mistyped.status == 2 && mistyped.errors.contains("\"total.trip\" is not known here; use one of \"trips\", ")
        )
        let nullDevice = try BuiltCommand.run(["check", trace, "--sources", "/nowhere"])
        #expect(nullDevice.status == 2)
        #expect(nullDevice.errors == "faultline: There is no folder \"/nowhere\"; name the one with the sources.\n")
    }
}
