import FaultlineFindings
import FaultlineProfile
import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineRules

@Suite("R17: unused results")
struct UnusedResultRuleTests {
    private func findings(_ body: (inout Music, DictionaryID) -> Void) -> [Finding] {
        var music = Music()
        let shape = music.shape()
        music.calibrate(shape)
        body(&music, shape)
        return Analysis(Profile(music.trace.closed()), rules: [UnusedResultRule()]).findings
    }

    @Test func `A result that is never used is reported`() throws {
        let found = findings { music, shape in
            music.scoped(.request) { $0.fetchAndUse(shape, rows: 200, times: 3) { _ in } }
        }
        let finding = try #require(found.first)
        #expect(found.count == 1)
        #expect(finding.rule == "R17")
        #expect(finding.title.text == "Drop the fetch of Track, whose result is never used")
        #expect(finding.change?.description == "List.swift:42")
        #expect(finding.explanation.map(\.text) == ["3 results had 600 rows in all, and none was read."])
        #expect(finding.saving.time.median == 3 * (10_000 + 200 * 2000))
        #expect(finding.saving.trips == 3 && finding.saving.rows == 600 && finding.saving.bytes == 60_000)
        #expect(finding.severity == .warning && finding.confidence.level == .high)
        #expect(finding.scopes == ["album"])
        #expect(finding.signature.hasPrefix("R17|unused|Track#") && finding.signature.hasSuffix("|tracks()"))
        let figures = Dictionary(uniqueKeysWithValues: finding.evidence.map { ($0.name, $0.value) })
        #expect(
            figures == ["executions": 3, "results": 3, "rows": 600, "bytes": 60_000, "fetchTime": 1_230_000])
    }

    @Test func `A finding is a note if events were lost in at least half of its scopes`() throws {
        func found(losing losses: Int) -> [Finding] {
            findings { music, shape in
                for number in 0..<3 {
                    music.scoped(.request) { music in
                        if number < losses { music.trace.add(.lost(EventLoss(process: 7, thread: 7, events: 1))) }
                        music.fetchAndUse(shape, rows: 200) { _ in }
                    }
                }
                // Enough events for the loss to be less than 1 %.
                for _ in 0..<400 { _ = music.fetch(shape, rows: 1, site: music.trace.site(98, "other()")) }
            }
        }
        let finding = try #require(found(losing: 2).first)
        #expect(finding.severity == .note && finding.confidence.level == .low)
        #expect(finding.reservations.map(\.text) == ["Events were lost while it happened."])
        #expect(
            found(losing: 1).map(\.severity) == [.warning]
                && found(losing: 1).map { $0.reservations.map(\.text) } == [[]])
    }

    @Test func `R17 advises moving a fetch to where its result is used if that is only sometimes`() throws {
        let found = findings { music, shape in
            music.fetchAndUse(shape, rows: 200, times: 3) { _ in }
            music.fetchAndUse(shape, rows: 200) { $0.touchFirst(200) }
        }
        #expect(found.map(\.title.text) == ["Fetch Track only where its result is used"])
        #expect(
            found.map { $0.explanation.map(\.text) } == [["Of 4 results, 3 with 600 rows in all were not used."]])
        #expect(found.map(\.saving.rows) == [600])
    }

    @Test func `Results that are used, counted, empty or still held are not reported`() {
        func one(_ change: @escaping (inout TraceEvent.Use) -> Void) -> [Finding] {
            findings { $0.fetchAndUse($1, rows: 200, times: 3, change) }
        }
        #expect(one { _ in }.count == 1)
        #expect(one { $0.touchFirst(1) }.isEmpty)
        #expect(one { $0.countAsked = 1 }.isEmpty)
        #expect(one { ($0.countAsked, $0.emptinessAsked) = (1, 1) }.isEmpty)
        #expect(one { $0.identitiesAsked = 1 }.isEmpty)
        #expect(one { $0.state = .open }.isEmpty)
        #expect(findings { $0.fetchAndUse($1, rows: 0, times: 3) { _ in } }.isEmpty)
        #expect(findings { music, shape in music.scoped(.setup) { $0.fetchAndUse(shape, rows: 200) { _ in } } }.isEmpty)
        // If it is used most of the time, it is a cache that pays off.
        let mostly = findings { music, shape in
            music.fetchAndUse(shape, rows: 200, times: 2) { _ in }
            music.fetchAndUse(shape, rows: 200, times: 3) { $0.touchFirst(200) }
        }
        #expect(mostly.isEmpty)
    }

    @Test func `A fetch that warms the row cache for others is not reported`() {
        func served(_ change: (inout TraceEvent.Fault) -> Void) -> [Finding] {
            var fault = TraceEvent.Fault()
            fault.source = .rowCache
            fault.type = .toOne
            change(&fault)
            return findings { music, shape in
                music.fetchAndUse(shape, rows: 200) { _ in }
                fault.entity = fault.entity == 0 ? music.track : music.album
                music.trace.event(.fault(fault), duration: 300)
            }
        }
        #expect(served { _ in }.isEmpty)
        #expect(served { $0.entity = 1 }.count == 1)
        #expect(served { $0.source = .store }.count == 1)
        #expect(served { $0.type = .toMany }.count == 1)
        // Faults that were served before the fetch do not count.
        let before = findings { music, shape in
            var fault = TraceEvent.Fault()
            (fault.source, fault.type, fault.entity) = (.rowCache, .toOne, music.track)
            music.trace.event(.fault(fault), duration: 300)
            music.fetchAndUse(shape, rows: 200) { _ in }
        }
        #expect(before.count == 1)
        // Objects of another fetch that loaded their rows were served by that fetch.
        let own = findings { music, shape in
            music.fetchAndUse(shape, rows: 200) { _ in }
            var fault = TraceEvent.Fault()
            (fault.source, fault.type, fault.entity) = (.rowCache, .object, music.track)
            fault.origin = music.fetch(shape, rows: 10, site: music.trace.site(80, "other()"))
            music.trace.event(.fault(fault), duration: 300)
        }
        #expect(own.count == 1)
    }

    @Test func `An unused result with a small share of all rows is a note`() {
        let found = findings { music, shape in
            for _ in 0..<40 { _ = music.fetch(shape, rows: 100, site: music.trace.site(80, "other()")) }
            music.fetchAndUse(shape, rows: 30) { _ in }
        }
        #expect(found.map(\.severity) == [.note])
    }
}
