import FaultlineTrace
import Foundation
import Testing
import TraceFixtures

@testable import FaultlineProfile
@testable import FaultlineRules

@Suite("A profile's file")
struct ProfileFileTests {
    typealias Story = ProfileMergingTests.Story

    private func text(_ profile: Profile) throws -> String { String(decoding: try profile.fileData(), as: UTF8.self) }

    private func sum(_ profiles: [Profile]) -> Profile {
        Profile(sum: profiles)
    }

    @Test(arguments: Story.allCases)
    func `restores the profile`(_ story: Story) throws {
        let profile = Profile(story.traces[0] + story.traces[1])
        let read = try Profile(fileData: profile.fileData())
        #expect(try text(read) == text(profile))
        let (before, after) = (Analysis(profile), Analysis(read))
        #expect(before.findings == after.findings)
        #expect(before.checks == after.checks && before.quality == after.quality)
        #expect(!after.findings.isEmpty)
        #expect(read.wallTime == profile.wallTime && read.processes == profile.processes)
    }

    @Test func `has no values of requests and statements unless they are wanted`() throws {
        var trace = TraceBuilder()
        let secret = trace.define(.name(NameEntry(name: "[{\"string\":\"SECRET\"}]")))
        let text = trace.define(.name(NameEntry(name: "SELECT a FROM t WHERE b = 'SECRET'")))
        let entity = trace.entity("Item")
        let shape = trace.define(.shape(ShapeEntry(entity: "Item", predicate: "name == ?")))
        let sql = trace.define(.statement(StatementEntry(sql: "SELECT a FROM t WHERE b = ?")))
        for number in 0..<3 as Range<UInt32> {
            var fetch = TraceEvent.Fetch()
            (fetch.entity, fetch.shape, fetch.values, fetch.rows) = (entity, shape, secret, number + 1)
            trace.event(.fetch(fetch), duration: 1000)
            var statement = TraceEvent.Statement()
            (statement.statement, statement.values, statement.rows) = (sql, text, 1)
            trace.event(.sql(statement), duration: 500)
        }
        let profile = Profile(trace.closed())
        #expect(try self.text(profile).components(separatedBy: "SECRET").count == 5)
        let clean = profile.withoutValues
        #expect(try !self.text(clean).contains("SECRET"))
        #expect(clean.totals.eventCount == profile.totals.eventCount)
        #expect(clean.fetches[0].sample.executions.map(\.rows) == profile.fetches[0].sample.executions.map(\.rows))
    }

    @Test func `does not depend on the order and grouping in which profiles are merged`() throws {
        let parts = Story.allCases.flatMap { story in ([7, 8, 9] as [UInt32]).map { Profile(story.trace($0)) } }
        let all = try text(sum(parts))
        #expect(try text(sum(parts.reversed())) == all)
        #expect(try text(sum([sum(Array(parts[3...])), sum(Array(parts[..<3]))])) == all)
        let files = try parts.map { try Profile(fileData: $0.fileData()) }
        #expect(try text(sum([files[4], sum([files[1], files[5]]), files[0], sum([files[3], files[2]])])) == all)
        #expect(sum(parts).recordingCount == 6)
        #expect(sum(parts).wallTime == parts.reduce(0) { $0 + $1.wallTime })
    }

    @Test func `keeps up to 64 processes apart, and sums them by program beyond that`() throws {
        let parts = (1...70).map { Profile(Story.groceries.trace($0)) }
        #expect(sum(Array(parts[..<64])).processes.count == 64)
        let all = sum(parts)
        #expect(all.processes.isEmpty)
        #expect(all.allProcesses.processes == 70 && all.recordingCount == 70)
        #expect(all.totals.events[.fault] == 70 * 60)
        let grouped = sum([sum(Array(parts[65...])), sum(Array(parts[..<3])), sum(Array(parts[3..<65]))])
        #expect(try text(grouped) == text(all))
        // Ten times as many processes take no more space, except for longer numbers.
        let most = sum((0..<10).map { _ in all })
        #expect(try Double(text(most).utf8.count) < 1.1 * Double(text(all).utf8.count))
    }

    @Test func `keeps the alphabetically first spelling of equal lines, in either order`() throws {
        let profiles = ["/build/a/List.swift", "Groceries/List.swift"].map { file in
            var trace = TraceBuilder()
            let site = trace.define(.site(SiteEntry(file: file, line: 42, function: "show()")))
            var fetch = TraceEvent.Fetch()
            fetch.entity = trace.entity("Item")
            trace.event(.fetch(fetch), duration: 5, site: site)
            return Profile(trace.closed())
        }
        let sums = [sum(profiles), sum(profiles.reversed())]
        #expect(sums[0].groups.map(\.key.site?.file) == ["/build/a/List.swift"])
        #expect(try text(sums[0]) == text(sums[1]))
    }

    @Test func `does not depend on the order of entities and processes that differ in details`() throws {
        func profile(type: String, duration: UInt64) -> Profile {
            var trace = TraceBuilder()
            _ = trace.entity("Item", [.init(name: "amount", type: type)])
            trace.event(.sql(TraceEvent.Statement()), duration: duration)
            return Profile(trace.closed())
        }
        let parts = [profile(type: "Integer 64", duration: 5), profile(type: "Boolean", duration: 6)]
        #expect(try text(sum(parts)) == text(sum(parts.reversed())))
    }

    @Test func `keeps trips of every trace although their events have the same IDs`() {
        let parts = (1...40).map { factor in
            var trace = TraceBuilder()
            var fault = TraceEvent.Fault()
            (fault.source, fault.filled, fault.origin) = (.store, 1, 1)
            for _ in 0..<30 { trace.event(.fault(fault), duration: UInt64(factor) * 1000) }
            return Profile(trace.closed())
        }
        let kept = sum(parts).loads.loads.map(\.duration).sorted()
        // The median of the sample is near that of all trips, 20 µs, and not near the fastest trips.
        #expect(kept.count == 16 && (10_000...32_000).contains(kept[8]))
        let again = sum([sum(Array(parts[20...])), sum(Array(parts[..<20]))])
        #expect(again.loads.loads.map(\.duration).sorted() == kept)
    }

    @Test func `is rejected if numbers are impossible, but may have a negative line`() throws {
        let head = "{\"faultline-profile\":1,\"sites\":[],\"shapes\":[],\"scopes\":[],"
        let rest = "\"groups\":[[[\"fetch\",null,null,null,null,null,null],{\"netTime\":-9223372036854775808}]]}"
        #expect(throws: ProfileFileError.self) { try Profile(fileData: Data((head + rest).utf8)) }
        let buckets =
            "\"groups\":[[[\"fetch\",null,null,null,null,null,null],{\"durations\":{\"buckets\":[[4503599627370496,"
            + "5000]],\"total\":1,\"maximum\":1}}]]}"
        #expect(throws: ProfileFileError.self) { try Profile(fileData: Data((head + buckets).utf8)) }
        var trace = TraceBuilder()
        let site = trace.define(.site(SiteEntry(file: "List.swift", line: -5, function: "show()")))
        trace.event(.fetch(TraceEvent.Fetch()), duration: 5, site: site)
        #expect(try Profile(fileData: Profile(trace.closed()).fileData()).groups.count == 1)
    }

    @Test func `keeps the percentiles of many values`() throws {
        var durations = Distribution()
        for value in 1...5000 as ClosedRange<UInt64> { durations.record(value * value) }
        var words = ProfileWords()
        var read = Distribution()
        try read.restore(durations.stored(&words), words)
        for percent in [0, 1, 50, 90, 99, 99.9, 100] {
            #expect(read.percentile(percent) == durations.percentile(percent))
        }
        #expect(read.count == 5000 && read.total == durations.total && read.maximum == 25_000_000)
    }

    /// A trace of impossible durations once overflowed the sum that reading a histogram makes.
    @Test func `keeps sums of durations that no program takes`() throws {
        func restored(_ durations: Distribution) throws -> Distribution {
            var words = ProfileWords()
            var read = Distribution()
            try read.restore(durations.stored(&words), words)
            return read
        }
        var durations = Distribution()
        for _ in 0..<2000 { durations.record(1 << 60) }
        durations.record(.max, times: 5000)
        var sum = durations
        for _ in 0..<100 { sum.merge(durations) }
        #expect(sum.count == 707_000 && sum.counts(between: [1]).reduce(0, +) == 707_000)
        #expect(try restored(sum).count == 707_000)
        // A hundred years in all are none too many for a fleet.
        var fleet = Distribution()
        for _ in 0..<3000 { fleet.record(1 << 50) }
        #expect(try restored(fleet).percentile(50) == fleet.percentile(50))
    }

    @Test func `keeps the names that its files have always had for the runs of a rule`() throws {
        var evidence = SmallTransactionEvidence()
        (evidence.executions, evidence.occurrences, evidence.implicit) = (7, 2, 3)
        var words = ProfileWords()
        let stored = evidence.stored(&words)
        #expect(stored == .record(["transactions": .number(7), "occurrences": .number(2), "implicit": .number(3)]))
        var read = SmallTransactionEvidence()
        try read.restore(stored, words)
        #expect(read.executions == 7 && read.occurrences == 2 && read.implicit == 3)
    }

    /// A property missing from `parts` would be neither merged nor stored.
    @Test func `has every property that is merged`() {
        func check<Sum: Summed>(_ sum: Sum, but others: Set<String> = []) {
            let properties = Mirror(reflecting: sum).children.compactMap(\.label)
            // The members of the runs stand beside the others in a file.
            // So does the number of recordings that have a key.
            let merged = Set(properties).subtracting(others).subtracting(["recordings"])
            #expect(merged == Set(Sum.parts.map { $0.name ?? "runs" }), "\(Sum.self)")
            #expect(Sum.parts.count == Set(Sum.parts.map(\.name)).count)
        }
        let fetch = FetchProfile.Key(shape: ShapeEntry(entity: "Item"), site: nil)
        check(ProfileCounts())
        check(EventGroup.Counts())
        check(ProgramSummary())
        check(FetchCounts())
        check(PropertyUse())
        check(ResultUse())
        check(ResultUse.Loading())
        check(ResultTally())
        check(WrittenRows())
        check(FaultEvidence())
        check(TripSum())
        check(RunSums())
        check(LoopEvidence())
        check(RepeatEvidence())
        check(RepeatedStatementEvidence())
        check(StatementLoopEvidence())
        check(SmallTransactionEvidence())
        check(StatementScanEvidence())
        check(OffsetEvidence())
        check(SaveEvidence())
        check(SaveEvidence.Small())
        check(SaveEvidence.Large())
        check(SaveEvidence.Blocking())
        check(StatementTable.Runs())
        check(StatementTable.Expectation())
        check(WaitEvidence())
        check(BlockEvidence())
        check(FetchProfile(fetch), but: ["key"])
        check(ScopeSummary(ScopeSummary.Key(name: "list", kind: .screen)), but: ["key"])
        check(
            EventGroup(EventGroup.Key(kind: .fetch, subject: .unknown, faultType: nil, source: nil, site: nil)),
            but: ["key"])
        check(ProfileTables.ShapeLoads(fetch.shape), but: ["shape", "isSearch"])
    }

    @Test(arguments: [
        ("", "is not JSON, or is cut short"),
        ("{\"faultline-profile\":1,\"groups\":[", "is not JSON, or is cut short"),
        ("{\"traceEvents\":[]}", "is JSON without \"faultline-profile\""),
        ("[]", "is JSON without \"faultline-profile\""),
        (
            "{\"faultline-profile\":99}",
            "was made by a later version of faultline (format 99; this version reads formats up to 2)"
        ),
        ("{\"faultline-profile\":1}", "is damaged: \"sites\" is not a list"),
        (
            "{\"faultline-profile\":1,\"sites\":[],\"shapes\":[],\"scopes\":[[\"a\",\"b\"]]}",
            "is damaged: \"scopes.0.1\" is not one of \"other\", \"screen\", \"request\", \"bulk\", "
                + "\"test\", \"setup\""
        ),
        (
            "{\"faultline-profile\":1,\"sites\":[[\"a\",-1,\"\"]],\"shapes\":[],\"scopes\":[]}",
            "is damaged: \"sites.0.1\" is not a whole number from 0 to 2^60"
        ),
        (
            "{\"faultline-profile\":1,\"sites\":[],\"shapes\":[],\"scopes\":[],\"waits\":[[[\"sqlite\",7,null,null],{}]]}",
            "is damaged: \"waits.0.0\" is not the number of a call site"
        ),
        (
            "{\"faultline-profile\":1,\"sites\":[],\"shapes\":[],\"scopes\":[],"
                + "\"changes\":[[\"Item\",{\"saves\":1}],[\"Item\",{\"saves\":1}]]}",
            "is damaged: \"changes\" is not a table in which each key is unique"
        ),
    ])
    func `is rejected with the reason if it is invalid`(_ json: String, _ reason: String) {
        #expect(throws: ProfileFileError(reason: reason)) { try Profile(fileData: Data(json.utf8)) }
    }

    @Test func `is recognized by its beginning, unlike other JSON`() throws {
        #expect(Profile.isProfile(try Profile().fileData()))
        #expect(Profile.isProfile("{\n  \"faultline-profile\": 1,".utf8))
        #expect(!Profile.isProfile("{\"traceEvents\":[".utf8))
        #expect(!Profile.isProfile("".utf8))
    }

    @Test func `restores an empty profile`() throws {
        let read = try Profile(fileData: Profile().fileData())
        #expect(read.recordingCount == 0 && read.totals == ProfileCounts() && read.processes.isEmpty)
    }
}
