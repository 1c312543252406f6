import FaultlineFindings
import FaultlineTrace
import Foundation
import Testing
import TraceFixtures

@testable import FaultlineProfile
@testable import FaultlineRules

@Suite("The sum of different recordings")
struct MixedRecordingsTests {
    /// A recording that prepares a statement for each of its runs, or for one of them.
    private func statements(prepared: Int, number: UInt32) -> Profile {
        var trace = TraceBuilder(process: number)
        var statement = TraceEvent.Statement()
        statement.statement = trace.define(.statement(StatementEntry(sql: "SELECT name FROM author WHERE id = ?")))
        (statement.type, statement.rows) = (.read, 1)
        let stack = trace.stack(12)
        for run in 0..<40 {
            (statement.preparations, statement.prepare) = run < prepared ? (1, 80_000) : (0, 0)
            trace.event(.sql(statement), duration: 2000, stack: stack)
        }
        return Profile(
            trace.closed().map { message in
                guard case .began(var began) = message else { return message }
                began.gaps = [TraceGap(.operations)]
                return TraceMessage.began(began)
            })
    }

    /// A recording with a list of objects, whose faults go to the store one by one if it is flawed.
    private func groceries(isFlawed: Bool, number: UInt32) -> Profile {
        var groceries = Groceries(process: number)
        groceries.trip = 200_000
        groceries.scroll(rows: 100, batchSize: 50, screen: 10, times: 20)
        groceries.scoped(.screen) { groceries in
            let fetch = groceries.fetch(rows: 100)
            if isFlawed { for object in 1...60 { groceries.fault(UInt64(object), of: fetch) } }
        }
        return Profile(groceries.trace.closed())
    }

    private func sum(_ flawed: Int, of all: Int, _ profile: (Bool, UInt32) -> Profile) -> Analysis {
        Analysis(Profile(sum: (0..<all).map { profile($0 < flawed, UInt32($0 + 1)) }))
    }

    @Test func `keeps the finding of one of them, and says in how many it occurs`() throws {
        let alone = try #require(Analysis(groceries(isFlawed: true, number: 1)).findings.first { $0.rule == "R01" })
        let both = try #require(
            sum(1, of: 2) { groceries(isFlawed: $0, number: $1) }.findings.first { $0.rule == "R01" })
        #expect(both.severity == alone.severity && both.change == alone.change && both.title == alone.title)
        #expect(both.occurrence == Occurrence(recordings: 1, of: 2))
        #expect(both.saving.trips == alone.saving.trips && both.saving.time == alone.saving.time)
        #expect(alone.occurrence == nil)
    }

    @Test func `has a finding of few of them as a note`() throws {
        let finding = try #require(
            sum(1, of: 12) { groceries(isFlawed: $0, number: $1) }.findings.first { $0.rule == "R01" })
        #expect(finding.severity == .note && finding.occurrence == Occurrence(recordings: 1, of: 12))
        #expect(
            finding.reservations.map(\.text).contains(
                "It occurs in 1 of 12 recordings with this operation, fewer than 25 %."))
        let more = try #require(
            sum(3, of: 12) { groceries(isFlawed: $0, number: $1) }.findings.first { $0.rule == "R01" })
        #expect(more.severity > .note && more.occurrence == Occurrence(recordings: 3, of: 12))
    }

    @Test func `is judged among the recordings with the operation`() throws {
        // Recordings of another program say nothing about this one.
        var profiles = (1...9).map { statements(prepared: 1, number: $0) }
        profiles.append(groceries(isFlawed: true, number: 10))
        let finding = try #require(Analysis(Profile(sum: profiles)).findings.first { $0.rule == "R01" })
        #expect(finding.occurrence == Occurrence(recordings: 1, of: 10))
        #expect(!finding.reservations.contains { $0.text.hasPrefix("It occurs in") })
    }

    @Test func `keeps a finding that the mean does not show`() throws {
        let sum = sum(2, of: 6) { statements(prepared: $0 ? 40 : 1, number: $1) }
        let finding = try #require(sum.findings.first { $0.rule == "R21" })
        let alone = try #require(Analysis(statements(prepared: 40, number: 1)).findings.first { $0.rule == "R21" })
        #expect(finding.title == alone.title && finding.change == alone.change && finding.severity == alone.severity)
        #expect(finding.occurrence == Occurrence(recordings: 2, of: 6))
        #expect(abs(finding.saving.time.median - alone.saving.time.median) < 1)
        #expect(
            finding.explanation.map(\.text) == ["In the mean of all recordings, it is too small to be reported."])
        // Prepared once in each of many recordings, the statement is kept.
        #expect(
            !self.sum(0, of: 30) { statements(prepared: $0 ? 40 : 1, number: $1) }.findings.contains {
                $0.rule == "R21"
            })
    }

    @Test func `does not depend on order, grouping and files`() throws {
        let parts =
            (1...4).map { statements(prepared: $0 < 3 ? 40 : 1, number: $0) }
            + (5...8).map { groceries(isFlawed: $0 < 7, number: $0) }
        let text = { (profile: Profile) in try String(decoding: profile.fileData(), as: UTF8.self) }
        let all = Profile(sum: parts)
        let halves = [Profile(sum: Array(parts[4...])), Profile(sum: Array(parts[..<4]))]
        #expect(try text(Profile(sum: halves)) == text(all))
        #expect(try text(Profile(sum: parts.reversed().map { try Profile(fileData: $0.fileData()) })) == text(all))
        #expect(Analysis(try Profile(fileData: all.fileData())).findings == Analysis(all).findings)
    }

    @Test func `keeps the dates, and what else a process says about itself`() throws {
        let messages: [TraceMessage] = [
            .began(
                ProcessBegan(
                    process: 7, program: "/bin/app", start: 500, date: 1_795_822_389.190_123, source: .sqlDebug)),
            .event(TraceEvent(id: 1, start: 600, duration: 10, thread: 7, process: 7, .fetch(TraceEvent.Fetch()))),
            .ended(
                ProcessEnded(process: 7, end: 900, events: 1, withoutRing: 3, ringFailure: "no space left on device")),
        ]
        let profile = Profile(messages)
        let stored = try Profile(fileData: profile.fileData())
        #expect(stored.processes == profile.processes)
        var sum = stored
        try sum.merge(groceries(isFlawed: false, number: 1))
        let again = try Profile(fileData: sum.fileData())
        #expect(again.processes.map(\.date).sorted() == [0, 1_795_822_389.190_123])
        #expect(again.processes.contains { $0.usesCoreData && $0.ended?.withoutRing == 3 })
    }

    @Test func `counts findings of recordings alone`() throws {
        let profile = groceries(isFlawed: true, number: 1)
        #expect(profile.isUnexamined && profile.findingTallies == nil)
        let stored = try Profile(fileData: profile.fileData())
        #expect(!stored.isUnexamined && stored.findingTallies?.values.map(\.rule).contains("R01") == true)
        // A sum of recordings that an earlier version had not examined does not say in how many a finding occurs.
        var text = String(
            decoding: try Profile(sum: [stored, groceries(isFlawed: true, number: 2)]).fileData(), as: UTF8.self)
        text = text.replacingOccurrences(of: "\"examined\":2", with: "\"examined\":1")
        let sum = Analysis(try Profile(fileData: Data(text.utf8)))
        #expect(sum.findings.contains { $0.rule == "R01" } && sum.findings.compactMap(\.occurrence).isEmpty)
    }
}
