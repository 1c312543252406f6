import FaultlineTrace
import Foundation
import Testing
import TraceFixtures

@testable import FaultlineFindings
@testable import FaultlineProfile
@testable import FaultlineRules

@Suite("Thresholds")
struct ThresholdTests {
    private func thresholds(_ json: String) throws -> Thresholds { try Thresholds(json: Data(json.utf8)) }

    private func reason(_ json: String) -> String? {
        do {
            _ = try thresholds(json)
            return nil
        } catch {
            return (error as? BudgetError)?.reason
        }
    }

    @Test func `Every threshold has a unique name, and is read as it is printed`() throws {
        let all = Thresholds.all
        #expect(Set(all.map { "\($0.rule).\($0.name)" }).count == all.count)
        #expect(all.allSatisfy { !$0.meaning.isEmpty && $0.standard > 0 })
        for threshold in all {
            let isNumber = threshold.unit == .count || threshold.unit == .factor && !threshold.text.contains(".")
            let value = isNumber ? threshold.text : "\"\(threshold.text)\""
            let read = try thresholds(#"{"\#(threshold.rule)": {"\#(threshold.name)": \#(value)}}"#)
            #expect(abs(read[threshold] - threshold.standard) <= threshold.standard * 0.002, "\(threshold)")
        }
    }

    @Test func `Rules use the thresholds that apply while the profile is made`() throws {
        var groceries = Groceries()
        groceries.scoped(.screen) { groceries in
            let fetch = groceries.fetch(rows: 100)
            for object in 0..<4 as Range<UInt64> { groceries.fault(object + 1, of: fetch) }
        }
        let trace = groceries.trace.closed()
        func found(_ thresholds: Thresholds) -> [String] {
            thresholds.apply { Analysis(Profile(trace), rules: [PrefetchRule()]).findings.map(\.rule) }
        }
        let fewer = try thresholds(#"{"R01": {"minimumTrips": 4}}"#)
        #expect(found(fewer) == ["R01"])
        #expect(found(Thresholds()).isEmpty)
        // A profile does not contain what its own thresholds left out.
        let profile = Profile(trace)
        #expect(fewer.apply { Analysis(profile, rules: [PrefetchRule()]) }.findings.isEmpty)
    }

    @Test func `A profile keeps the thresholds it was made with, in its file as well`() throws {
        var groceries = Groceries()
        groceries.scoped(.screen) { groceries in
            let fetch = groceries.fetch(rows: 100)
            for object in 0..<4 as Range<UInt64> { groceries.fault(object + 1, of: fetch) }
        }
        let fewer = try thresholds(#"{"R01": {"minimumTrips": 4}}"#)
        let profile = Profile(groceries.trace.closed(), thresholds: fewer)
        #expect(profile.thresholds == fewer && profile.faults.count == 1)
        #expect(Analysis(profile, rules: [PrefetchRule()]).findings.map(\.rule) == ["R01"])
        let read = try Profile(fileData: profile.fileData())
        #expect(read.thresholds == fewer)
        #expect(Analysis(read, rules: [PrefetchRule()]).findings.map(\.rule) == ["R01"])
        // Default thresholds are not written.
        #expect(
            try !String(decoding: Profile(groceries.trace.closed()).fileData(), as: UTF8.self).contains("thresholds"))
    }

    @Test func `Profiles with different thresholds do not merge`() throws {
        let trace = Groceries(process: 7).trace.closed()
        let other = Groceries(process: 8).trace.closed()
        var profile = Profile(trace)
        let fewer = Profile(other, thresholds: try thresholds(#"{"R01": {"minimumTrips": 4}}"#))
        #expect(throws: ProfileMergeError(differing: ["R01 minimumTrips"])) { try profile.merge(fewer) }
        #expect(profile.recordingCount == 1)
        var empty = Profile()
        try empty.merge(fewer)
        #expect(empty.thresholds == fewer.thresholds && empty.recordingCount == 1)
        // A threshold that is set to its default equals the default.
        try profile.merge(Profile(other, thresholds: try thresholds(#"{"R01": {"minimumTrips": 5}}"#)))
        #expect(profile.recordingCount == 2)
    }

    @Test func `The significance of a saving can be set as well`() throws {
        var groceries = Groceries()
        groceries.scoped(.screen) { groceries in
            let fetch = groceries.fetch(rows: 100)
            for object in 0..<100 as Range<UInt64> { groceries.fault(object + 1, of: fetch) }
        }
        let profile = Profile(groceries.trace.closed())
        func findings(_ json: String) throws -> [Finding] {
            try thresholds(json).apply { Analysis(profile, rules: [PrefetchRule()]).findings }
        }
        #expect(try findings("{}").map(\.severity) == [.warning])
        let note = try findings(
            #"{"significance": {"share": "99 %", "time": "5 s", "mainThreadTime": "5 s", "part": "100 %"}}"#)
        #expect(note.map(\.severity) == [.note])
        #expect(
            note.first?.reservations.map(\.text) == [
                "The saving is below 99 % of the time that the work took and below 5 s."
            ])
    }

    @Test func `Manual pages show the thresholds in force`() throws {
        let manual = try thresholds(#"{"R14": {"minimumRows": 77}}"#).apply { UnboundedFetchRule().manual }
        #expect(manual.trigger.contains("at least 77 rows or 4 MiB at once"))
        #expect(UnboundedFetchRule().manual.trigger.contains("1,000 rows"))
    }

    /// Thresholds that a page need not show: they only turn a finding into a note, or affect its confidence.
    private static let unrecorded: Set = [
        "R02.unusedMemory", "R02.unusedShare", "R02.frame", "R02.minimumRows", "R03.usualShare", "R04.waitFactor",
        "R09.largeValue", "R09.readShare", "R10.mainThreadPart", "R10.part", "R17.manyRows",
        "R18.manyTimes", "R24.lostShare", "R25.minimumShare",
    ]

    @Test func `A rule's page shows the rule's thresholds`() {
        for threshold in Thresholds.all where threshold.rule != "significance" {
            guard !Self.unrecorded.contains("\(threshold.rule).\(threshold.name)") else { continue }
            var thresholds = Thresholds()
            thresholds[threshold] = threshold.unit == .share ? 0.77 : threshold.standard * 7 + 7
            func page() -> String {
                let manual = Rules.all.first { $0.id == threshold.rule }?.manual
                return "\(String(describing: manual))"
            }
            #expect(thresholds.apply { page() } != page(), "\(threshold.rule).\(threshold.name)")
        }
    }

    @Test(arguments: [
        ("[1]", #"cannot be used: it is not an object"#),
        ("{", "is not JSON (Unexpected end of file during JSON parse)"),
        (#"{"R99": {}}"#, nil), (#"{"R14": {"rows": 5}}"#, nil),
        (
            #"{"R14": {"minimumRows": "many"}}"#,
            #"cannot be used: "R14.minimumRows" is not a whole number from 0 to 2^60"#
        ),
        (#"{"R12": {"longBlock": 16}}"#, #"cannot be used: "R12.longBlock" is not a time, such as "16 ms""#),
        (#"{"R13": {"waitShare": "120 %"}}"#, #"cannot be used: "R13.waitShare" is not a share, such as "30 %""#),
        (#"{"R13": {"waitShare": "-3 %"}}"#, #"cannot be used: "R13.waitShare" is not a share, such as "30 %""#),
        (
            #"{"R02": {"costRatio": "twice"}}"#,
            #"cannot be used: "R02.costRatio" is not a number of times, such as 2 or "1.5""#
        ),
        (
            #"{"R09": {"fileSize": "nan KiB"}}"#,
            #"cannot be used: "R09.fileSize" is not a size, such as "64 KiB" or a number of bytes"#
        ),
    ])
    func `An invalid threshold is rejected with the reason`(_ json: String, _ expected: String?) throws {
        let reason = try #require(self.reason(json))
        if let expected { #expect(reason == expected) }
        if json.contains("R99") {
            #expect(reason.hasPrefix(#"cannot be used: "R99" is not known here; use one of "R01", "R02", "#))
        }
        if json.contains(#""rows""#) {
            #expect(
                reason
                    == #"cannot be used: "R14.rows" is not known here; use one of "minimumRows", "minimumBytes", "minimumSlope", "minimumOffset""#
            )
        }
    }

    @Test func `No value of a threshold breaks the rules`() throws {
        var groceries = Groceries()
        groceries.scoped(.screen) { groceries in
            let fetch = groceries.fetch(rows: 100)
            for object in 0..<30 as Range<UInt64> { groceries.fault(object + 1, of: fetch) }
            groceries.scroll(rows: 100, batchSize: 50, screen: 10)
        }
        let trace = groceries.trace.closed()
        for value in [0.0, 1, 9e15] {
            var thresholds = Thresholds()
            for threshold in Thresholds.all { thresholds[threshold] = threshold.unit == .share ? min(1, value) : value }
            let analysis = thresholds.apply { Analysis(Profile(trace)) }
            #expect(analysis.findings.allSatisfy { (0...1).contains($0.share) })
            #expect(thresholds.apply { RulePage.all.map { $0.manual.trigger } }.allSatisfy { !$0.isEmpty })
        }
    }
}
