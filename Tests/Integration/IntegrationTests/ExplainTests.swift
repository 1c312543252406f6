import Foundation
import Testing

@testable import FaultlineRules

@Suite("faultline explain")
struct ExplainTests {
    @Test("has a page for every rule, with lines that fit a terminal", arguments: RulePage.all.map(\.id))
    func page(_ id: String) throws {
        let rule = try #require(RulePage.all.first { $0.id == id })
        let result = try BuiltCommand.run(["explain", id.lowercased()])
        #expect(result.status == 0 && result.errors == "")
        #expect(result.output.hasPrefix("\(id) \(rule.name)\n"))
        let headings = [
            "What it looks for", "What a finding is based on", "What to do", "What it saves", "Exceptions",
        ]
        for heading in headings { #expect(result.output.contains("\n\(heading)\n  ")) }
        #expect(result.output.split(separator: "\n").allSatisfy { $0.count <= 100 })
        let manual = rule.manual
        for text in [manual.trigger, manual.evidence, manual.fix, manual.saving] + manual.guards {
            #expect(text.hasSuffix(".") && !text.contains("  "))
        }
        #expect(manual.guards.count >= 2)
    }

    @Test("lists the rules and rejects others")
    func list() throws {
        let list = try BuiltCommand.run(["explain"])
        for rule in RulePage.all { #expect(list.output.contains("\(rule.id)  \(rule.name)\n")) }
        let other = try BuiltCommand.run(["explain", "R99"])
        #expect(other.status == 2)
        #expect(other.errors.hasPrefix("faultline: There is no rule \"R99\"; the rules are R01, R02,"))
    }

    // MARK: - A finding of a trace

    private static let trace = BuiltCommand.package.appendingPathComponent("Traces/groceries-flawed/trace.json").path

    @Test("shows a finding as the report with --all does, below its rule")
    func finding() throws {
        let report = try BuiltCommand.run(["report", "--all", Self.trace]).output
        let page = try BuiltCommand.run(["explain", Self.trace, "2"])
        #expect(page.status == 0 && page.errors == "")
        #expect(page.output.hasPrefix("R02 Batch size\n  Batches much larger or smaller than what the program"))
        let begin = try #require(report.range(of: "  2. warning"))
        let end = try #require(report.range(of: "  3. warning"))
        #expect(page.output.contains("\n\nFinding 2 of 4\n" + report[begin.lowerBound..<end.lowerBound] + "\n"))
    }

    @Test("lists the slowest events that a finding rests on, and how many there are", arguments: ["2", "3", "4"])
    func events(number: String) throws {
        let all = try BuiltCommand.run(["events", Self.trace, "--finding", number]).output.split(separator: "\n")
        let page = try BuiltCommand.run(["explain", Self.trace, number]).output.components(separatedBy: "\n")
        let title = try #require(page.firstIndex { $0.hasPrefix("Events  (") })
        let count = all.count - 1
        #expect(page[title] == (count > 10 ? "Events  (the 10 slowest of \(count))" : "Events  (\(count))"))
        #expect(page[title + 1] == all[0])
        let shown = page[(title + 2)...].prefix { !$0.isEmpty }
        #expect(shown.count == min(count, 10))
        #expect(shown.allSatisfy { line in all.dropFirst().contains { $0 == line } })
        // The slowest of all is the first.
        let times = try BuiltCommand.run(["events", Self.trace, "--finding", number, "--format", "json"]).output
            .split(separator: "\n").map { try JSONDecoder().decode(Event.self, from: Data($0.utf8)).duration }
        let slowest = try #require(times.indices.max { (times[$0], $1) < (times[$1], $0) })
        #expect(shown.first.map { $0[...] } == all[1 + slowest])
    }

    private struct Event: Decodable { var duration: UInt64 }

    @Test("shows the source lines around the line to change and the places seen")
    func sources() throws {
        let folder = try TemporaryDirectory()
        let lines = (1...120).map { $0 == 100 ? "\tlet request = …" : "line \($0)" }.joined(separator: "\n")
        try lines.write(toFile: folder.path("Groceries.swift"), atomically: true, encoding: .utf8)
        let page = try BuiltCommand.run(["explain", Self.trace, "2", "--sources", folder.url.path]).withoutNextStep
        #expect(
            page.hasSuffix(
                """
                Sources  (→ the line to change, • observed)
                  \(folder.path("Groceries.swift"))
                      78  line 78
                      79  line 79
                      80  line 80
                  •   81  line 81
                      82  line 82
                      83  line 83
                      84  line 84
                       ⋮
                      97  line 97
                      98  line 98
                      99  line 99
                  →  100      let request = …
                     101  line 101
                     102  line 102
                     103  line 103
                  Groceries.swift is newer than the trace, so its lines may have moved.

                """))
    }

    @Test("finds sources of another machine by the end of their path, and names those that are missing")
    func foreignSources() throws {
        let here = try BuiltCommand.run(["explain", Self.trace, "2"], directory: BuiltCommand.package).output
        #expect(here.contains("  Sources/Command/FaultlineWorkloads/Groceries/Groceries.swift\n"))
        let folder = try TemporaryDirectory()
        let nowhere = try BuiltCommand.run(["explain", Self.trace, "2"], directory: folder.url).withoutNextStep
        #expect(
            nowhere.hasSuffix(
                "\nSources\n  Groceries.swift was not found; --sources names the folder with the program's sources.\n"))
    }

    @Test("finds sources that the trace names by their module in any folder of the module")
    func moduleSources() throws {
        let page = try BuiltCommand.run(["explain", Self.trace, "1"], directory: BuiltCommand.package).output
        #expect(page.contains("\n  Sources/Command/FaultlineWorkloads/Groceries/GroceriesModel.swift\n"))
        #expect(page.contains("\n  →   29  ") && !page.contains("was not found"))
    }

    @Test("explains a finding of a profile without its events")
    func profile() throws {
        let profile = try TemporaryDirectory().path("trace.profile")
        try #require(try BuiltCommand.run(["profile", Self.trace, "-o", profile]).status == 0)
        let page = try BuiltCommand.run(["explain", profile, "2"])
        #expect(page.status == 0 && page.output.contains("\nFinding 2 of 4\n"))
        #expect(page.output.contains("\nEvents\n  A profile has no events; explain the trace that it was made from "))
    }

    @Test("rejects a trace without a number, a number without a finding, and a folder that does not exist")
    func badFinding() throws {
        func errors(_ arguments: String...) throws -> String {
            let result = try BuiltCommand.run(["explain"] + arguments)
            #expect(result.status == 2 && result.output.isEmpty)
            return result.errors
        }
        let trace = Self.trace
        #expect(
            try errors(trace)
                == "faultline: \"\(trace)\" is a file, not a rule; add the number of a finding of its report: "
                + "faultline explain \(trace) 1.\n")
        for number in ["0", "9"] {
            #expect(
                try errors(trace, number)
                    == "faultline: There is no finding \(number): \"faultline report \(trace)\" has 4 findings.\n")
        }
        #expect(
            try errors("R02", "1")
                == "faultline: Could not open the trace \"R02\": there is no such file; check the path.\n")
        #expect(
            try errors(trace, "1", "--sources", "/no/such")
                == "faultline: There is no folder \"/no/such\"; name the one with the sources.\n")
        #expect(try errors(trace, "two").hasPrefix("Error: The value 'two' is invalid for '<finding>'"))
    }
}
