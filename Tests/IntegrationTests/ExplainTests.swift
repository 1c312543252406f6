import FaultlineAnalysis
import Testing

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
}
