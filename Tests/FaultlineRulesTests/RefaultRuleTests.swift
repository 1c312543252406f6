import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineFindings
@testable import FaultlineProfile
@testable import FaultlineRules

@Suite("R11: repeated cache misses")
struct RefaultRuleTests {
    private struct Story {
        var groceries = Groceries()

        mutating func fault(
            _ object: UInt64, seenBefore: Bool, source: TraceEvent.Fault.Source = .store, duration: UInt64 = 10_000
        ) {
            var fault = TraceEvent.Fault()
            (fault.type, fault.source, fault.entity, fault.object) = (.object, source, groceries.item, object)
            (fault.filled, fault.bytes, fault.seenBefore) = (1, 100, seenBefore)
            groceries.trace.event(.fault(fault), duration: duration, stack: groceries.faultStack)
        }

        /// Reads objects repeatedly.
        mutating func read(
            _ objects: UInt64, times: Int, _ between: (inout Story) -> Void = { _ in }
        ) {
            for time in 0..<times {
                for object in 0..<objects { fault(object, seenBefore: time > 0) }
                between(&self)
            }
        }

        mutating func refresh(line: Int) {
            var refresh = TraceEvent.Refresh()
            (refresh.entity, refresh.objects) = (groceries.item, 1)
            groceries.trace.event(.refresh(refresh), duration: 100, stack: groceries.trace.stack(line))
        }

        mutating func save(_ objects: UInt64 = 60) {
            var save = TraceEvent.Save()
            save.updated = UInt32(objects)
            save.entities = [.init(entity: groceries.item, updated: objects)]
            groceries.trace.event(.save(save), duration: 100)
        }

        var findings: [Finding] {
            Analysis(Profile(groceries.trace.closed()), rules: [RefaultRule()]).findings
        }
    }

    private func findings(_ tell: (inout Story) -> Void) -> [Finding] {
        var story = Story()
        tell(&story)
        return story.findings
    }

    @Test(arguments: [(100 as UInt64, 2 as UInt64), (100, 0), (0, 100)])
    func `A finding is a note if large values fill the row cache`(_ rows: UInt64, _ large: UInt64) throws {
        let finding = try #require(
            findings { story in
                let fetch = story.groceries.fetch(rows: 100)
                var use = Groceries.use(of: fetch, rows: 100, batchSize: 0)
                use.properties = [
                    .init(index: 1, rowsRead: 0, rowsLoaded: 100, bytes: rows == 0 ? 1_000_000 : 10, largeRows: large)
                ]
                story.groceries.add(use)
                story.read(60, times: 4)
            }.first)
        let words = "Large values that are loaded with the rows fill the row cache: fix those first (R09)."
        #expect(finding.reservations.map(\.text).contains(words) == (rows == 0))
        #expect((finding.severity == .note) == (rows == 0))
    }

    @Test func `Rows that evict one another are reported, with the size of the cache that they need`() throws {
        let finding = try #require(findings { $0.read(60, times: 4) }.first)
        #expect(finding.rule == "R11" && finding.severity == .warning)
        #expect(finding.title.text == "Keep Item objects alive, or enlarge the row cache")
        #expect(finding.change?.description == "Scroll.swift:57")
        #expect(finding.code == ["description.rowCacheLimit = 32 << 20"])
        #expect(
            finding.explanation.map(\.text) == [
                "180 of 240 faults that went to the store (75 %) were for objects that had been in memory: 1.80 ms in all.",
                "With 9.61 KiB for rows, nine of ten would have been in memory.",
            ])
        #expect(finding.saving.time.median == 1_800_000 && finding.saving.trips == 180)
        let figures = Dictionary(uniqueKeysWithValues: finding.evidence.map { ($0.name, $0.value) })
        #expect(figures["evicted"] == 180 && figures["refreshed"] == 0 && figures["roomFor90Percent"] == 60 * 164)
    }

    @Test func `The finding states how many rows the row cache evicted`() throws {
        var story = Story()
        story.read(60, times: 4) { story in
            var eviction = TraceEvent.Eviction()
            (eviction.entity, eviction.rows, eviction.bytes) = (story.groceries.item, 50, 8192)
            story.groceries.trace.event(.eviction(eviction), duration: 0)
        }
        let profile = Profile(story.groceries.trace.closed())
        #expect(profile.totals.rowsEvicted == 200 && profile.totals.bytesEvicted == 32768)
        #expect(profile.totals.events[.eviction] == 4)
        #expect(!profile.groups.contains { $0.key.kind == .eviction })
        let finding = try #require(story.findings.first)
        #expect(finding.explanation.map(\.text).contains("The row cache evicted 200 rows (32.0 KiB) in all."))
    }

    /// The finding for objects that the photos of a fetch evict, in stores whose row caches have these limits.
    private func crowded(limits: [UInt64?], photos: UInt64) -> Finding? {
        findings { story in
            for limit in limits {
                _ = story.groceries.trace.define(.entity(EntityEntry(name: "Item", rowCacheLimit: limit)))
            }
            let (item, shape, site) = (
                story.groceries.item, story.groceries.shape, story.groceries.trace.site(80)
            )
            story.read(60, times: 4) { story in
                var fetch = TraceEvent.Fetch()
                (fetch.entity, fetch.shape, fetch.rows, fetch.trips, fetch.bytes) = (item, shape, 10, 1, photos)
                story.groceries.trace.event(.fetch(fetch), duration: 50_000, site: site)
            }
        }.first
    }

    @Test func `The finding states the row cache's limit and the line that filled the cache`() throws {
        let finding = try #require(crowded(limits: [4096], photos: 40_000))
        #expect(
            finding.explanation.map(\.text).suffix(3) == [
                "With 49.3 KiB for rows, nine of ten would have been in memory.",
                "The row cache's limit is 4.00 KiB. It evicts whole blocks of rows, so it needs more room than the rows "
                    + "themselves.",
                "87 % of the bytes read for objects, 156 KiB, were read at List.swift:80.",
            ])
        #expect(finding.code == ["description.rowCacheLimit = 32 << 20"])
        #expect(finding.evidence.first { $0.name == "rowCacheLimit" }?.value == 4096)
        // Here, most of the bytes are those of the faulting objects.
        #expect(try #require(crowded(limits: [4096], photos: 4000)).explanation.count == 3)
    }

    @Test func `The advised limit of the row cache exceeds the lowest limit of the stores`() {
        func code(_ limits: UInt64?...) -> [String]? { crowded(limits: limits, photos: 40_000)?.code }
        #expect(code(64 << 20) == ["description.rowCacheLimit = 128 << 20"])
        #expect(code(64 << 20, 24 << 20) == ["description.rowCacheLimit = 32 << 20"])
        #expect(code(24 << 20, nil, 64 << 20) == ["description.rowCacheLimit = 32 << 20"])
        #expect(code(.max) == ["description.rowCacheLimit = 65536 << 20"])
    }

    @Test func `Refreshed objects are reported at the line of the refresh`() throws {
        let finding = try #require(findings { $0.read(60, times: 3) { $0.refresh(line: 91) } }.first)
        #expect(finding.title.text == "Do not refresh or reset Item objects while they are in use")
        #expect(finding.change?.line == 91 && finding.seenAt.map(\.site?.line) == [57])
        #expect(finding.explanation.map(\.text).last == "120 had been refreshed or reset in between.")
    }

    @Test(arguments: [false, true])
    func `R11 reports faults on rows that a fetch had loaded, and R01 other faults`(_ wereLoaded: Bool) throws {
        var story = Story()
        story.groceries.scoped(.bulk) { groceries in
            let (fetch, item) = (groceries.fetch(rows: 60), groceries.item)
            for _ in 0..<3 {
                for object in 0..<60 {
                    groceries.fault(UInt64(object), of: fetch) {
                        ($0.type, $0.entity, $0.seenBefore) = (.object, item, wereLoaded)
                        ($0.relationship, $0.relationshipEntity) = (0, 0)
                    }
                }
            }
        }
        let findings = Analysis(
            Profile(story.groceries.trace.closed()), rules: [PrefetchRule(), RefaultRule()]
        ).findings
        #expect(findings.map(\.rule) == [wereLoaded ? "R11" : "R01"])
        #expect(try #require(findings.first).saving.time.median > 0)
    }

    @Test func `Objects that were changed in between do not count`() {
        #expect(findings { $0.read(60, times: 3) { $0.save() } }.isEmpty)
        let mixed = findings { story in
            story.read(60, times: 2)
            story.save()
            for object in 0..<60 { story.fault(UInt64(object), seenBefore: true) }
        }
        #expect(mixed.first?.explanation.map(\.text).last == "60 may have been changed in between, and had to be read.")
        #expect(mixed.first?.saving.trips == 60)
        // One saved object explains one that was read again.
        let one = findings { $0.read(60, times: 3) { $0.save(1) } }
        #expect(one.first?.saving.trips == 118)
    }

    @Test func `Few repeated faults, or a small share of all faults, are not reported`() {
        func story(objects: UInt64, again: UInt64) -> [Finding] {
            findings { story in
                story.read(objects, times: 1)
                for object in 0..<again { story.fault(object, seenBefore: true) }
            }
        }
        #expect(story(objects: 80, again: 20).count == 1)
        #expect(story(objects: 80, again: 19).isEmpty)
        #expect(story(objects: 20, again: 20).isEmpty)
        #expect(story(objects: 25, again: 25).count == 1)
    }

    @Test func `Three objects that are read three times in one scope are reported`() {
        func found(_ objects: UInt64, times: Int, isScoped: Bool = true) -> Int {
            var story = Story()
            if isScoped {
                var copy = story
                story.groceries.scoped(.screen) { inner in
                    copy.groceries = inner
                    copy.read(objects, times: times)
                    inner = copy.groceries
                }
            } else {
                story.read(objects, times: times)
            }
            return story.findings.count
        }
        #expect(found(3, times: 3) == 1)
        #expect(found(2, times: 3) == 0)
        #expect(found(5, times: 2) == 0)
        #expect(found(3, times: 3, isScoped: false) == 0)
    }

    @Test func `Faults that the row cache serves are not reported`() {
        #expect(
            findings { story in
                for time in 0..<4 {
                    for object in 0..<60 as Range<UInt64> {
                        story.fault(object, seenBefore: time > 0, source: time > 0 ? .rowCache : .store)
                    }
                }
            }.isEmpty)
    }
}

@Suite("A reuse tracker")
struct ReuseTrackerTests {
    @Test func `reports the amount loaded since the object was loaded, and the previous use`() {
        var tracker = ReuseTracker()
        let uses: [(object: UInt64, loaded: UInt64, isLoad: Bool)] = [
            (1, 100, true), (2, 150, true), (1, 150, false), (1, 400, false), (1, 500, true), (1, 550, true),
        ]
        let found = uses.enumerated().map { time, use in
            tracker.use(use.object, in: 1, at: UInt64(time), loaded: use.loaded, isLoad: use.isLoad)
        }
        #expect(found.map { $0?.loadedSince } == [nil, nil, 50, 300, 400, 50])
        #expect(found.map { $0?.last } == [nil, nil, 0, 2, 3, 4])
    }

    @Test func `follows a sample if there are many objects`() {
        var tracker = ReuseTracker()
        let objects: UInt64 = 100_000
        for object in 0..<objects { _ = tracker.use(object, in: 1, at: object, loaded: object, isLoad: true) }
        let again = (0..<objects).compactMap {
            tracker.use($0, in: 1, at: objects + $0, loaded: objects + $0, isLoad: true)
        }
        let stands = again.reduce(0) { $0 + $1.weight }
        #expect(abs(Double(stands) - Double(objects)) < 0.1 * Double(objects))
        #expect(again.allSatisfy { $0.loadedSince == objects } && again.count <= ReuseTracker.capacity)
    }

    @Test func `counts the loads of an object in each scope`() {
        var tracker = ReuseTracker()
        let times = [1, 1, 1, 2, 2, 1].map { scope in
            tracker.use(7, in: EventID(scope), at: 1, loaded: 0, isLoad: true)?.timesInScope ?? 1
        }
        #expect(times == [1, 2, 3, 1, 2, 1])
        #expect(tracker.use(7, in: 1, at: 2, loaded: 0, isLoad: false)?.timesInScope == 1)
        #expect(tracker.use(7, in: 0, at: 2, loaded: 0, isLoad: true)?.timesInScope == 0)
    }
}
