import ApplicationFlaws
import Foundation
import Testing

@Suite("The chat")
struct ChatFindingsTests {
    private func report(_ scenario: String, _ form: String) throws -> ReportDocument {
        let flaw = Flaw("Chat", scenario, "", "", line: "")
        return try flaw.report(flaw.trace(form))
    }

    @Test("gets no advice to index a value that most messages share")
    func selectivity() throws {
        #expect(try report("readTrains", "flawed").findings.filter { $0.rule == "R06" }.isEmpty)
    }

    @Test("gets a finding for a text search only for the rows that it compares", arguments: ["flawed", "repaired"])
    func comparisons(form: String) throws {
        let found = try report("sized", form).findings.filter { $0.rule == "R08" }
        #expect(found.allSatisfy { $0.severity == "note" && $0.figure("candidates") == 60 })
    }

    @Test("loads no photos with the properties that it names")
    func partialFaults() throws {
        #expect(try report("partial", "repaired").findings.filter { $0.rule == "R09" }.isEmpty)
        let found = try report("partial", "flawed").findings.filter { $0.rule == "R09" }
        #expect(found.map(\.title) == ["Move Message.photo into an entity of its own"])
    }
}
