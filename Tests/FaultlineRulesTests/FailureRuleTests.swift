import FaultlineFindings
import FaultlineProfile
import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineRules

@Suite("R26: failures")
struct FailureRuleTests {
    private func findings(_ fill: (inout Groceries) -> Void) -> [Finding] {
        var groceries = Groceries()
        fill(&groceries)
        return Analysis(Profile(groceries.trace.closed()), rules: [FailureRule()]).findings
    }

    private func save(_ groceries: inout Groceries, error: UInt32, conflicts: UInt32 = 0, namesEntities: Bool = true) {
        var save = TraceEvent.Save()
        (save.updated, save.error, save.conflicts) = (1, error, conflicts)
        if namesEntities { save.entities = [.init(entity: groceries.item, updated: 1)] }
        groceries.trace.event(.save(save), duration: 2_000_000, site: groceries.fetchSite)
    }

    @Test("R26 advises a merge policy for saves with conflicts")
    func conflicts() throws {
        let found = findings { groceries in
            for _ in 0..<3 { save(&groceries, error: 4, conflicts: 2) }
            for _ in 0..<5 { save(&groceries, error: 0) }
        }
        let finding = try #require(found.first)
        #expect(found.count == 1 && finding.severity == .warning)
        #expect(finding.title.text == "Resolve the conflicts of the saves of Item")
        #expect(finding.code == ["context.mergePolicy = .mergeByPropertyObjectTrump"])
        #expect(
            finding.explanation.map(\.text) == [
                "3 saves failed with 6 conflicts, and wrote nothing.", "The failed operations took 6.00 ms.",
            ])
        #expect(finding.evidence.map(\.value) == [3, 0, 6, 6_000_000])
        let unnamed = findings { save(&$0, error: 4, conflicts: 1, namesEntities: false) }
        #expect(unnamed.first?.title.text == "Resolve the conflicts of these saves")
    }

    @Test(
        "The advice depends on SQLite's result code",
        arguments: [
            (4, "Find out why the store refuses the saves of Item", "SQLITE_ABORT"),
            (13, "Make the store readable and writable for the saves of Item", "SQLITE_FULL"),
            (266, "Make the store readable and writable for the saves of Item", "SQLITE_IOERR"),
            (11, "Restore the store: its file is damaged", "SQLITE_CORRUPT"),
            (1, "Handle the failures of the saves of Item", "SQLITE_ERROR"),
            (77, "Handle the failures of the saves of Item", "SQLite's code 77"),
        ] as [(UInt32, String, String)])
    func codes(code: UInt32, title: String, name: String) throws {
        let finding = try #require(findings { save(&$0, error: code) }.first)
        #expect(finding.title.text == title)
        #expect(finding.explanation.first?.text == "1 save failed with \(name).")
    }

    @Test("Faults that found no row are reported as an error")
    func gone() throws {
        let found = findings { groceries in
            let fetch = groceries.fetch(rows: 30)
            for object in 0..<20 as Range<UInt64> { groceries.fault(object, of: fetch, source: .gone) }
        }
        let finding = try #require(found.first)
        #expect(finding.title.text == "Stop reading Item objects whose rows were deleted")
        #expect(finding.severity == .error)
        #expect(finding.change?.description == "Scroll.swift:57")
        #expect(finding.code == ["context.automaticallyMergesChangesFromParent = true"])
    }

    @Test("Successes, errors thrown to the program, busy locks and scopes of kind setup are not reported")
    func silent() {
        #expect(
            findings { groceries in
                let fetch = groceries.fetch(rows: 30)
                groceries.fault(1, of: fetch)
                groceries.fault(2, of: fetch, source: .gone) { $0.isThrowing = true }
                save(&groceries, error: 0, conflicts: 3)
                save(&groceries, error: 5)
                save(&groceries, error: 261)
                groceries.scoped(.setup) { save(&$0, error: 4, conflicts: 1) }
            }.isEmpty)
    }

    @Test("Failures of several recordings have the figures of one, and a profile's file keeps them")
    func merging() throws {
        var groceries = Groceries()
        save(&groceries, error: 4, conflicts: 1)
        var profile = Profile(groceries.trace.closed())
        try profile.merge(Profile(groceries.trace.closed()))
        let again = try Profile(fileData: profile.fileData())
        let evidence = Analysis(again, rules: [FailureRule()]).findings.first?.evidence
        #expect(evidence?.map(\.value) == [1, 0, 1, 2_000_000])
    }

    @Test("R26 needs a trace that records errors")
    func gap() {
        let profile = Profile(Groceries().trace.closed())
        #expect(Analysis(profile).checks.first { $0.rule == "R26" }?.isApplicable == true)
        #expect(FailureRule().needs == [.errors])
    }
}
