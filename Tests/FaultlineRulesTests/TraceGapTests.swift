import FaultlineFindings
import FaultlineProfile
import FaultlineTrace
import Foundation
import Testing
import TraceFixtures

@testable import FaultlineRules

@Suite("Gaps in a trace")
struct TraceGapTests {
    private func profile(
        _ gaps: [TraceGap]?, process: UInt32 = 1, _ more: (inout ProfileBuilder) -> Void = { _ in }
    ) -> Profile {
        var builder = ProfileBuilder()
        builder.add(.began(ProcessBegan(process: process, program: "App", gaps: gaps)))
        builder.add(.entry(process: process, id: 1, .entity(EntityEntry(name: "Book"))))
        var fetch = TraceEvent.Fetch()
        (fetch.entity, fetch.rows, fetch.trips) = (1, 3, 1)
        builder.add(.event(TraceEvent(id: 1, duration: 5000, process: process, .fetch(fetch))))
        more(&builder)
        builder.add(.ended(ProcessEnded(process: process, end: 10_000, events: 1)))
        return builder.finish()
    }

    private func sentences(_ profile: Profile) -> [String] {
        guard let quality = Analysis(profile).quality else { return [] }
        return quality.explanation.map(\.text)
    }

    private func missing(_ profile: Profile) -> [String] {
        Analysis(profile).checks.filter { !$0.isApplicable }.map(\.rule)
    }

    @Test("A rule is not applicable without the data that it needs")
    func needs() {
        #expect(missing(profile(nil)) == [])
        #expect(missing(profile([TraceGap(.plans, remedy: "-x 4")])) == ["R06", "R19", "R22"])
        #expect(missing(profile([TraceGap(.use)])) == ["R02", "R03", "R05", "R17", "R20", "R25"])
        #expect(missing(profile([TraceGap(.callSites)])) == [])
    }

    @Test("Rules that examine fetches, faults and saves are not applicable to statements alone")
    func statementsAlone() {
        #expect(
            missing(profile([TraceGap(.operations)])) == [
                "R01", "R02", "R03", "R04", "R05", "R09", "R10", "R11", "R15", "R16", "R17", "R20", "R22", "R23",
                "R25", "R26",
            ])
        let uncounted = missing(profile([TraceGap(.operations), TraceGap(.counters)]))
        #expect(Set(uncounted).isSuperset(of: ["R08", "R14", "R21"]))
        let sizes = sentences(profile([TraceGap(.operations), TraceGap(.sizes)]))
        #expect(sizes.first == "The trace has no sizes of rows and values, fetches or saves.")
        let told = sentences(profile([TraceGap(.operations), TraceGap(.rows), TraceGap(.shortDurations)]))
        #expect(
            told.prefix(2) == [
                "The trace has no row counts, fetches or saves.",
                "Durations are whole milliseconds, so the sum of many short ones can be far off.",
            ])
        let isAboutScopes = { (sentence: String) in sentence.hasPrefix("No scope was marked") }
        #expect(!told.contains(where: isAboutScopes) && sentences(profile(nil)).contains(where: isAboutScopes))
    }

    @Test("A rule is applicable if one of several recordings has its data")
    func several() throws {
        var both = profile([TraceGap(.use), TraceGap(.waits)])
        try both.merge(profile([TraceGap(.use)], process: 2))
        #expect(missing(both) == ["R02", "R03", "R05", "R17", "R20", "R25"])
        try both.merge(profile(nil, process: 3))
        #expect(missing(both) == [])
    }

    @Test("Totals that one side does not record are not compared")
    func comparison() {
        let (whole, log) = (Analysis(profile(nil)), Analysis(profile([TraceGap(.sizes)], process: 2)))
        let names = { (diff: ProfileDiff) in diff.totals.map(\.name) }
        #expect(names(ProfileDiff(before: whole, after: whole)).contains("bytes"))
        for diff in [ProfileDiff(before: whole, after: log), ProfileDiff(before: log, after: whole)] {
            #expect(names(diff) == ["time", "longestOperation", "trips", "rows", "writes"])
        }
        let statements = Analysis(profile([TraceGap(.rows)], process: 2))
        #expect(names(ProfileDiff(before: whole, after: statements)).contains("rows") == false)
        let django = Analysis(profile([TraceGap(.operations)], process: 2))
        #expect(names(ProfileDiff(before: whole, after: django)).contains("bytes") == false)
        #expect(names(ProfileDiff(before: whole, after: django)).contains("longestOperation") == false)
    }

    @Test("Gaps are kept in a profile's file")
    func file() throws {
        let gaps = [TraceGap(.plans, remedy: "-com.apple.CoreData.SQLDebug 4"), TraceGap(.sizes)]
        let read = try Profile(fileData: profile(gaps).fileData())
        #expect(read.allProcesses.gaps == Set(gaps))
        #expect(missing(read) == ["R06", "R09", "R19", "R22"])
    }

    @Test("Events whose names are not in the trace are reported")
    func names() {
        #expect(!sentences(profile(nil)).contains { $0.contains("names") })
        var fault = TraceEvent.Fault()
        (fault.entity, fault.source) = (9, .store)
        let event = TraceEvent(id: 2, start: 6000, duration: 100, process: 1, .fault(fault))
        let nameless = profile(nil) { $0.add(.event(event)) }
        #expect(
            sentences(nameless).contains(
                "1 event refers to names that the trace does not have: their dictionary was overwritten or lost."))
    }

    @Test("Unrecorded durations and row counts are left out of the distributions")
    func unrecorded() throws {
        var event = TraceEvent(id: 2, start: 6000, process: 1, .fetch(TraceEvent.Fetch()))
        event.unrecorded = [.duration, .rows]
        let profile = profile(nil) { [event] in $0.add(.event(event)) }
        let groups = profile.groups.filter { $0.key.kind == .fetch }
        #expect(groups.reduce(0) { $0 + $1.count } == 2)
        #expect(groups.reduce(0) { $0 + $1.untimed } == 1 && groups.reduce(0) { $0 + $1.uncounted } == 1)
        #expect(groups.allSatisfy { $0.durations.count <= 1 && $0.durations.total % 5000 == 0 })
    }

    /// The notes about a program in Django whose debug log quotes the values of some statements.
    private func notes(quoted: Int) -> [String] {
        var trace = TraceBuilder()
        var statement = TraceEvent.Statement()
        statement.statement = trace.define(.statement(StatementEntry(sql: "SELECT QUOTE(?), QUOTE(?)")))
        (statement.type, statement.rows) = (.read, 1)
        for _ in 0..<quoted { trace.event(.sql(statement), duration: 500, stack: trace.stack(12)) }
        return sentences(Profile(trace.closed())).filter { $0.contains("DEBUG") }
    }

    @Test func `Statements that quote values for Django's log are said to be that`() {
        #expect(notes(quoted: 9).isEmpty)
        #expect(
            notes(quoted: 40) == [
                "Django logs its statements, with 40 statements of its own (20.0 µs): set DEBUG = False before measuring."
            ])
    }
}
