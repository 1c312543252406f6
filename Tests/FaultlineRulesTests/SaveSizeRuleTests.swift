import FaultlineFindings
import FaultlineProfile
import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineRules

@Suite("R10: saves")
struct SaveSizeRuleTests {
    /// The fixed cost of a save, which is mostly COMMIT, and its cost per object, in nanoseconds.
    private static let commit: UInt64 = 120_000
    private static let object: UInt64 = 4000

    private struct Shop: MusicStory {
        var music = Music()
        lazy var site = music.trace.site(70, "add()")

        mutating func save(
            _ objects: UInt32 = 1, site: DictionaryID? = nil, duration: UInt64? = nil, pause: UInt64 = 0,
            _ change: (inout TraceEvent.Save) -> Void = { _ in }
        ) {
            var save = TraceEvent.Save()
            save.inserted = objects
            save.commit = SaveSizeRuleTests.commit * 3 / 4
            save.entities = [.init(entity: music.track, inserted: UInt64(objects))]
            change(&save)
            music.trace.event(
                .save(save),
                duration: duration ?? SaveSizeRuleTests.commit + UInt64(objects) * SaveSizeRuleTests.object
                    + save.lockWait,
                site: site ?? self.site)
            music.trace.now += pause
        }

        mutating func saves(_ count: Int, objects: UInt32 = 1, pause: UInt64 = 0) {
            for _ in 0..<count { save(objects, pause: pause) }
        }

        /// Adds saves of many sizes from unrelated lines, from which the costs are fitted.
        mutating func calibrate() {
            for objects in 6...30 as ClosedRange<UInt32> {
                save(objects, site: music.trace.site(Int(objects) + 200, "calibrate\(objects)()"))
            }
        }

        func analysis() -> Analysis { Analysis(Profile(music.trace.closed()), rules: [SaveSizeRule()]) }
    }

    private func findings(_ body: (inout Shop) -> Void) -> [Finding] {
        var shop = Shop()
        body(&shop)
        return shop.analysis().findings
    }

    @Test func `Batch requests that insert a row each are advised to be one request`() throws {
        let found = findings { shop in
            shop.scoped(.bulk) { shop in for _ in 0..<50 { shop.save { $0.isBatchRequest = true } } }
        }
        let finding = try #require(found.first)
        #expect(found.count == 1 && finding.severity == .warning && finding.remedy == nil)
        #expect(finding.title.text == "Insert the rows of Track with one batch request")
        #expect(
            finding.fix.text
                == "Collect the rows first, and insert them with one request: each request is a transaction of its own."
        )
        #expect(finding.code == [#"try context.execute(BatchInsertRequest(entityName: "Track", objects: rows))"#])
        #expect(
            finding.explanation.first?.text
                == "50 batch requests followed one another, with one row each: 6.20 ms in all, 4.50 ms of it in COMMIT."
        )
        #expect(finding.saving.trips == 0)
    }

    @Test func `R10 advises one save instead of a save after each object`() throws {
        var shop = Shop()
        shop.calibrate()
        shop.scoped(.bulk) { $0.saves(50) }
        let analysis = shop.analysis()
        #expect(analysis.checks.map(\.examined?.text) == ["75 saves"])
        let finding = try #require(analysis.findings.first)
        #expect(analysis.findings.count == 1)
        #expect(finding.rule == "R10")
        #expect(finding.title.text == "Save Track once, after all changes")
        #expect(finding.change?.description == "List.swift:70")
        // A saving of a few milliseconds is no error, however many saves there were.
        #expect(finding.severity == .warning)
        #expect(
            finding.explanation.map(\.text) == [
                "50 saves followed one another, with one object each: 6.20 ms in all, 4.50 ms of it in COMMIT.",
                "The time of a commit depends on the disk: 90.0 µs here.",
            ])
        // The fixed cost of 49 saves.
        #expect(abs(finding.saving.time.median - Double(49 * Self.commit)) < 1)
        #expect(finding.confidence.level == .high)
        #expect(finding.scopes == ["album"])
        #expect(finding.signature == "R10|small|Track|add()")
        #expect(finding.seenAt.map(\.count) == [50])
        let figures = Dictionary(uniqueKeysWithValues: finding.evidence.map { ($0.name, $0.value) })
        #expect(
            figures == [
                "saves": 50, "objects": 50, "occurrences": 1, "saveTime": 6_200_000, "commit": 4_500_000,
                "wallTime": 6_200_000,
            ])
    }

    @Test func `Without saves of other sizes, only the commits count as a saving`() throws {
        let finding = try #require(findings { shop in shop.scoped(.bulk) { $0.saves(20, objects: 5) } }.first)
        #expect(abs(finding.saving.time.median - Double(19 * Self.commit * 3 / 4)) < 1)
        #expect(finding.saving.time.high > finding.saving.time.median)
        #expect(finding.confidence.level == .medium)
    }

    @Test func `Ten saves of five objects are reported, and fewer or larger saves are not`() {
        #expect(findings { $0.saves(10, objects: 5) }.count == 1)
        #expect(findings { $0.saves(9, objects: 5) }.isEmpty)
        #expect(findings { $0.saves(50, objects: 6) }.isEmpty)
        #expect(findings { $0.saves(50, objects: 0) }.isEmpty)
        // A larger save in between ends the series.
        let mixed = findings { shop in
            shop.saves(9)
            shop.save(6)
            shop.saves(9)
        }
        #expect(mixed.isEmpty)
    }

    @Test func `Saves with pauses of at least 100 ms are not reported`() {
        #expect(findings { $0.saves(50, pause: 100_000_000) }.isEmpty)
        #expect(findings { $0.saves(50, pause: 99_000_000) }.count == 1)
    }

    @Test func `Saves from different lines, scopes or threads are not counted together`() {
        let lines = findings { shop in
            let other = shop.music.trace.site(71, "remove()")
            for _ in 0..<9 {
                shop.save()
                shop.save(site: other)
            }
        }
        #expect(lines.isEmpty)
        let requests = findings { shop in
            for _ in 0..<9 { shop.scoped(.request) { $0.saves(2) } }
        }
        #expect(requests.isEmpty)
        let threads = findings { shop in
            for _ in 0..<9 {
                shop.music.trace.thread = 7
                shop.save()
                shop.music.trace.thread = 8
                shop.save()
            }
        }
        #expect(threads.isEmpty)
    }

    @Test func `Saves in scopes of kind setup, and failed saves, do not count`() {
        #expect(findings { shop in shop.scoped(.setup) { $0.saves(50) } }.isEmpty)
        let failed = findings { shop in
            for _ in 0..<50 { shop.save { $0.error = 19 } }
        }
        #expect(failed.isEmpty)
        #expect(findings { shop in shop.scoped(.setup) { $0.save(20_000) } }.isEmpty)
    }

    @Test func `Saves that run no statement, such as those of child contexts, do not count`() {
        var shop = Shop()
        shop.calibrate()
        shop.scoped(.bulk) { shop in
            for _ in 0..<50 { shop.save(duration: 5000) { $0.commit = 0 } }
            shop.save(20_000, duration: 200_000_000) { $0.commit = 0 }
        }
        let analysis = shop.analysis()
        #expect(analysis.findings.isEmpty)
        #expect(analysis.checks.map(\.examined?.text) == ["76 saves"])
        // Neither do they make a save to the store look cheaper.
        var plain = Shop()
        plain.calibrate()
        let costs = CostModel(Profile(plain.music.trace.closed()))
        #expect(CostModel(Profile(shop.music.trace.closed())).saves?.line == costs.saves?.line)

        // The same saves with trips count.
        #expect(findings { shop in for _ in 0..<50 { shop.save { ($0.commit, $0.trips) = (0, 4) } } }.count == 1)
    }

    @Test func `Occasions add up, and recordings are those of their mean, in any order`() throws {
        var traces: [[TraceMessage]] = []
        for process in [7, 8] as [UInt32] {
            var shop = Shop(music: Music(process: process))
            for _ in 0..<2 { shop.scoped(.request) { $0.saves(12) } }
            traces.append(shop.music.trace.closed())
        }
        var (first, second) = (Profile(traces[0]), Profile(traces[1]))
        try first.merge(Profile(traces[1]))
        try second.merge(Profile(traces[0]))
        let findings = Analysis(first, rules: [SaveSizeRule()]).findings
        #expect(findings == Analysis(second, rules: [SaveSizeRule()]).findings)
        let finding = try #require(findings.first)
        #expect(
            finding.explanation.map(\.text).first?.hasPrefix(
                "24 saves followed one another, about 12 on each of 2 occasions, with one object each: ")
                == true)
        #expect(finding.severity == .warning)
    }

    @Test func `A few small saves in a long run are a note`() throws {
        let finding = try #require(
            findings { shop in
                for line in 0..<100 { shop.save(50, site: shop.music.trace.site(300 + line, "other\(line)()")) }
                shop.music.trace.now += 1_000_000_000
                shop.scoped(.screen) { shop in
                    shop.saves(10)
                    shop.music.trace.now += 1_000_000_000
                }
            }.first)
        #expect(finding.severity == .note)
        #expect(
            finding.reservations.map(\.text) == [
                "The saving is below 1 % of the time that the work took and below 2 ms, and below 20 % of all saves."
            ])
    }

    @Test func `Batch requests are no saves, and updated objects are not reset`() throws {
        var requests = Shop()
        requests.calibrate()
        requests.music.trace.isMainThread = true
        requests.save(50_000) { $0.isBatchRequest = true }
        for _ in 0..<40 { requests.save(6) { $0.isBatchRequest = true } }
        for _ in 0..<40 {
            requests.save { ($0.isBatchRequest, $0.inserted, $0.updated) = (true, 0, 1) }
        }
        #expect(requests.analysis().findings.isEmpty)
        var updates = Shop()
        updates.calibrate()
        updates.music.trace.isMainThread = true
        updates.save(50_000) { ($0.inserted, $0.updated) = (0, 50_000) }
        let finding = try #require(updates.analysis().findings.first)
        #expect(finding.code.contains("try context.save()") && !finding.code.joined().contains("reset"))
    }

    @Test func `R10 advises splitting a large save on the main thread`() throws {
        var shop = Shop()
        shop.calibrate()
        shop.music.trace.isMainThread = true
        shop.save(50_000)
        let finding = try #require(shop.analysis().findings.first)
        // At 4 µs per object, 2,000 objects take 8 ms.
        #expect(finding.title.text == "Save Track in parts of 2,000 objects")
        #expect(
            finding.code == [
                "if inserted.isMultiple(of: 2000) {", "    try context.save()", "    context.reset()", "}",
            ])
        #expect(
            finding.explanation.map(\.text) == ["A save took 200 ms without COMMIT; the largest had 50,000 objects."])
        #expect(finding.severity == .warning && finding.reservations.isEmpty)
        // 200.03 ms become parts of 8 ms.
        #expect(abs((finding.saving.pause?.median ?? 0) - 192_030_000) < 1)
        #expect(finding.saving.time == .none)
        #expect(finding.signature == "R10|large|Track|add()")
    }

    @Test func `A large save off the main thread is a note, and its waits do not count`() throws {
        let finding = try #require(findings { $0.save(10_000) }.first)
        #expect(finding.severity == .note)
        #expect(
            finding.reservations.map(\.text) == [
                "It ran off the main thread, where it delays only other writers."
            ])
        #expect(findings { $0.save(9_999) }.isEmpty)
        let long: UInt64 = 100_090_000
        #expect(findings { $0.save(1000, duration: long) }.count == 1)
        #expect(findings { $0.save(1000, duration: long) { $0.lockWait = 1 } }.isEmpty)
    }

    @Test func `The time of COMMIT does not count for a large save`() {
        // The disk is slow, or a checkpoint copies the write-ahead log into the store.
        #expect(findings { $0.save(1000, duration: 400_000_000) { $0.commit = 350_000_000 } }.isEmpty)
        #expect(contended(held: 60_000_000) { $0.commit = 50_000_000 }.isEmpty)
    }

    @Test func `Saves that cannot be split into two full parts are not reported`() {
        let parts = findings { shop in
            for _ in 0..<30 { shop.save(100, duration: 150_000_000) }
        }
        #expect(parts.isEmpty)
        #expect(findings { $0.save(199, duration: 150_000_000) }.isEmpty)
        #expect(
            findings { $0.save(200, duration: 150_000_000) }.map(\.title.text) == ["Save Track in parts of 100 objects"]
        )
    }

    @Test func `R10 advises saving in parts instead of many small saves, and does not report such parts`() throws {
        var shop = Shop()
        shop.calibrate()
        shop.scoped(.bulk) { $0.saves(15_000) }
        let finding = try #require(shop.analysis().findings.first)
        // At 4 µs per object, 12,500 take 50 ms, and a save of 10,000 objects is large anyway.
        #expect(finding.title.text == "Save Track after every 5,000 objects")
        #expect(finding.code.contains("    if (index + 1).isMultiple(of: 5000) { try context.save() }"))
        var applied = Shop()
        applied.calibrate()
        applied.scoped(.bulk) { shop in
            for _ in 0..<3 { shop.save(5000) }
        }
        #expect(applied.analysis().findings.isEmpty)
    }

    /// Findings for a save on thread 9 whose lock thread 7 waits for.
    private func contended(
        objects: UInt32 = 2000, held: UInt64 = 60_000_000, waited: UInt64 = 40_000_000, after: UInt64 = 0,
        isMainThread: Bool = true,
        _ resource: TraceEvent.Wait.Resource = .coordinator, _ change: (inout TraceEvent.Save) -> Void = { _ in }
    ) -> [Finding] {
        findings { shop in
            shop.music.trace.thread = 9
            shop.save(objects, duration: held, change)
            let end = shop.music.trace.now
            var wait = TraceEvent.Wait()
            (wait.resource, wait.isBlocking, wait.ownerThread) = (resource, true, 9)
            shop.music.trace.thread = 7
            shop.music.trace.isMainThread = isMainThread
            shop.music.trace.now = end + after - waited
            shop.music.trace.event(.wait(wait), duration: waited, site: shop.music.trace.site(60, "show()"))
        }
    }

    @Test func `R10 advises splitting a save whose lock blocks a waiter, however short the save is`() throws {
        let finding = try #require(contended().first)
        #expect(finding.title.text == "Save Track in parts of 200 objects")
        #expect(finding.change?.description == "List.swift:70")
        #expect(
            finding.explanation.map(\.text) == [
                "A save took 59.9 ms without COMMIT; the largest had 2,000 objects.",
                "1 wait for its lock, on the main thread: 40.0 ms in all.",
            ])
        #expect(finding.severity == .warning && finding.reservations.isEmpty)
        #expect(finding.seenAt.isEmpty)
        // A part of 200 objects takes a tenth of 60 ms.
        #expect(finding.saving.pause?.median == 53_919_000)
        // Off the main thread, a part may take as long as a wait that is not reported.
        #expect(contended(isMainThread: false).map(\.title.text) == ["Save Track in parts of 500 objects"])
    }

    @Test func `Short waits, and waits for small saves, failed saves or other locks, do not count`() {
        #expect(contended(waited: 16_000_000).count == 1)
        #expect(contended(waited: 15_999_999).isEmpty)
        #expect(contended(objects: 200).count == 1)
        #expect(contended(objects: 199).isEmpty)
        // Most of the wait came after the save.
        #expect(contended(after: 24_000_000).count == 1)
        #expect(contended(after: 24_000_001).isEmpty)
        #expect(contended(.contextQueue).isEmpty)
        #expect(contended { $0.error = 19 }.isEmpty)
    }

    @Test func `A large save that blocks a waiter is one finding, and a warning`() throws {
        let findings = contended(objects: 50_000, held: 200_000_000, isMainThread: false)
        let finding = try #require(findings.first)
        #expect(findings.count == 1)
        #expect(finding.severity == .warning && finding.reservations.isEmpty)
        #expect(
            finding.explanation.map(\.text) == [
                "A save took 200 ms without COMMIT; the largest had 50,000 objects.",
                "1 wait for its lock: 40.0 ms in all.",
            ])
    }

    @Test func `A trace without saves has nothing to examine`() {
        let analysis = Shop().analysis()
        #expect(analysis.checks.map(\.examined?.text) == [nil])
    }
}
