import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineFindings
@testable import FaultlineProfile
@testable import FaultlineRules

@Suite("R01: N+1 faults")
struct PrefetchRuleTests {
    private func findings(_ groceries: Groceries) -> [Finding] {
        Analysis(Profile(groceries.trace.closed()), rules: [PrefetchRule()]).findings
    }

    /// One screen on which faults fire for the lists of items.
    private func screen(
        rows: UInt32 = 100, faults: UInt64 = 100, batchSize: UInt32 = 0, kind: TraceEvent.Scope.Kind = .screen
    ) -> Groceries {
        var groceries = Groceries()
        groceries.scoped(kind) { groceries in
            let fetch = groceries.fetch(rows: rows, batchSize: batchSize)
            for object in 0..<faults { groceries.fault(object + 1, of: fetch) }
        }
        return groceries
    }

    @Test func `A relationship that fires row by row is reported at the fetch's line`() throws {
        let found = findings(screen())
        let finding = try #require(found.first)
        #expect(found.count == 1)
        #expect(finding.rule == "R01")
        #expect(finding.title.text == "Prefetch \"list\" with the fetch of Item")
        #expect(finding.change == CallSite(file: "Groceries/List.swift", line: 42, function: "loadItems()"))
        #expect(finding.seenAt.map(\.site?.description) == ["Scroll.swift:57"])
        #expect(finding.seenAt.map(\.count) == [100])
        #expect(finding.code == ["request.relationshipKeyPathsForPrefetching = [\"list\"]"])
        #expect(finding.saving.trips == 99)
        #expect(finding.severity == .warning)
        #expect(finding.scopes == ["scroll"])
        #expect(
            finding.explanation.map(\.text) == [
                "Item.list went to the store in 100 trips for 100 objects, 1.20 ms in all.",
                "They belong to 1 fetch of Item with 100 loaded rows; all of them were affected.",
            ])
        #expect(finding.evidence.first { $0.name == "trips" }?.value == 100)
        #expect(finding.saving.time.median > 0)
        #expect(finding.saving.time.median <= 1_200_000)
    }

    @Test(arguments: [TraceEvent.Fault.Source.rowCache, .gone])
    func `Faults that the row cache served, or that found no row, are not reported`(_ source: TraceEvent.Fault.Source) {
        var groceries = Groceries()
        groceries.scoped(.screen) { groceries in
            let fetch = groceries.fetch(rows: 100)
            for object in 1...100 { groceries.fault(UInt64(object), of: fetch, source: source) }
        }
        #expect(findings(groceries).isEmpty)
    }

    @Test func `Faults that delete rules fire are not reported`() {
        var groceries = Groceries()
        groceries.scoped(.screen) { groceries in
            let fetch = groceries.fetch(rows: 100)
            for object in 1...100 { groceries.fault(UInt64(object), of: fetch) { $0.isDeleting = true } }
        }
        let analysis = Analysis(Profile(groceries.trace.closed()), rules: [PrefetchRule()])
        #expect(analysis.findings.isEmpty)
        #expect(analysis.checks.first?.examined?.text == "100 faults, 100 of them from the store")
    }

    /// Findings for a screen on which every item's to-many relationship fires, and its members if `reading` is true.
    private func members(
        reading: Bool = false, walking: Bool = false, fetching: Bool = false, elsewhere: Bool = false,
        tellingUse: Bool = true
    ) -> [Finding] {
        var groceries = Groceries()
        let owner = groceries.item
        let name = groceries.trace.define(.name(NameEntry(name: "tags")))
        func fetchTags(_ groceries: inout Groceries) {
            let shape = groceries.trace.define(.shape(ShapeEntry(entity: "Tag")))
            var fetch = TraceEvent.Fetch()
            (fetch.entity, fetch.shape) = (groceries.trace.entity("Tag", []), shape)
            (fetch.rows, fetch.trips) = (300, 1)
            groceries.trace.event(.fetch(fetch), duration: 200_000)
        }
        groceries.scoped(.screen) { groceries in
            let fetch = groceries.fetch(rows: 100)
            for object in 0..<100 as Range<UInt64> {
                groceries.fault(object + 1, of: fetch) { fault in
                    (fault.type, fault.entity, fault.filled) = (.toMany, owner, 3)
                    (fault.relationshipEntity, fault.relationship) = (owner, name)
                }
                if walking {
                    let (tag, shops) = (
                        groceries.trace.entity("Tag", []), groceries.trace.define(.name(NameEntry(name: "shops")))
                    )
                    groceries.fault(object + 2001, of: fetch, source: .rowCache) { fault in
                        (fault.type, fault.relationshipEntity, fault.relationship) = (.toMany, tag, shops)
                    }
                }
                guard reading else { continue }
                groceries.fault(object + 1001, of: fetch, source: .rowCache) { fault in
                    (fault.type, fault.relationshipEntity, fault.relationship) = (.object, owner, name)
                }
            }
            if tellingUse { groceries.add(Groceries.use(of: fetch, rows: 100, batchSize: 0)) }
            if fetching { fetchTags(&groceries) }
        }
        if elsewhere { groceries.scoped(name, .other, pause: 0) { fetchTags(&$0) } }
        return findings(groceries)
    }

    @Test func `R01 advises one grouped fetch to count members that are never read`() throws {
        let finding = try #require(members().first)
        #expect(finding.title.text == "Count Item.tags for all objects at once: the members are never read")
        #expect(finding.code.contains(#"request.propertiesToGroupBy = ["item"]"#) && finding.remedy == nil)
        #expect(
            finding.fix.text == "One fetch of Tag, grouped by item, counts them all."
                && finding.confidence.level <= .medium)
        #expect(
            finding.alternatives.map(\.text) == [
                "Keep the count in a derived attribute of Item (tags.@count), which the store updates."
            ])
        #expect(finding.code.contains(#"request.predicate = .isIn("item", objects: ids)"#))
        // One row for each object instead of three.
        #expect(finding.saving.trips == 99 && finding.saving.rows == 200)
        #expect(members(elsewhere: true).first?.title.text == finding.title.text)
    }

    @Test func `R01 advises a prefetch for members that are read, or may have been`() {
        let title = ["Prefetch \"tags\" with the fetch of Item"]
        #expect(members(reading: true).map(\.title.text) == title)
        // Walking on from a member needs the member.
        #expect(members(walking: true).map(\.title.text) == title)
        #expect(members(fetching: true).map(\.title.text) == title)
        #expect(members(tellingUse: false).map(\.title.text) == title)
    }

    /// The finding for a screen that reads the given properties of the lists of items.
    private func lists(
        reading properties: [String?], batchSize: UInt32 = 0, tags: Bool = false,
        use change: (inout TraceEvent.Use) -> Void = { _ in }
    ) throws -> Finding {
        var groceries = screen(batchSize: batchSize)
        for property in properties {
            let use = DestinationUseEntry(entity: "Item", relationship: "list", property: property)
            _ = groceries.trace.define(.destinationUse(use))
        }
        let fetch = groceries.fetch(rows: 100, batchSize: batchSize)
        if tags {
            let name = groceries.trace.define(.name(NameEntry(name: "tags")))
            let owner = groceries.item
            groceries.fault(1, of: fetch, source: .rowCache) { fault in
                (fault.type, fault.entity, fault.relationship) = (.toMany, owner, name)
            }
        }
        var use = Groceries.use(of: fetch, rows: 100, batchSize: batchSize)
        change(&use)
        groceries.add(use)
        return try #require(findings(groceries).first)
    }

    private static let dictionaries =
        "If the objects are only displayed, fetch dictionaries with \"list.title\" in propertiesToFetch: one "
        + "statement, "
        + "and no List objects."

    @Test func `A dictionary fetch is offered if only one attribute of the destination is read`() throws {
        let finding = try lists(reading: ["title"])
        #expect(finding.title.text == "Prefetch \"list\" with the fetch of Item")
        #expect(finding.alternatives.map(\.text) == [Self.dictionaries])
        #expect(
            finding.explanation.map(\.text).contains("Of the List objects, only \"title\" is read."))
    }

    @Test func `No dictionary fetch is offered if objects are changed, batched or lead to other objects`() throws {
        let told = "Of the List objects, only \"title\" is read."
        for finding in [
            try lists(reading: ["title"], batchSize: 20), try lists(reading: ["title"], tags: true),
            try lists(reading: ["title"]) { $0.modifiedRows = 1 },
            try lists(reading: ["title"]) { use in
                use.properties = [.init(index: 3, rowsRead: 1, rowsLoaded: 0, bytes: 0, largeRows: 0)]
            },
        ] {
            #expect(finding.alternatives.isEmpty && finding.explanation.map(\.text).contains(told))
        }
    }

    @Test(
        arguments: [[], ["title", nil], ["title", "items"], ["title", "unknown"], ["a", "b", "c"]] as [[String?]])
    func `No dictionary fetch is offered if more than two attributes or other properties are read`(
        _ properties: [String?]
    ) throws {
        let finding = try lists(reading: properties)
        #expect(finding.alternatives.isEmpty && !finding.explanation.map(\.text).contains { $0.contains("only") })
    }

    @Test func `The properties read at a destination are merged across traces and kept in a file`() throws {
        let uses = ["title", "color", nil].map { property in
            var trace = TraceBuilder(process: 7)
            let use = DestinationUseEntry(entity: "Item", relationship: "list", property: property)
            _ = trace.define(.destinationUse(use))
            return Profile(trace.closed())
        }
        var sum = uses[0]
        try sum.merge(uses[1])
        let edge = FetchProfile.Edge(entity: "Item", name: "list")
        let two = try #require(Profile(fileData: try sum.fileData()).destinationUse(of: edge))
        #expect(two.properties == ["color", "title"] && two.unrecorded == 0)
        try sum.merge(uses[2])
        #expect(sum.destinationUse(of: edge)?.unrecorded == 1)
    }

    /// A screen of 100 faults; the first `slow` take a millisecond each.
    private func slowly(_ slow: UInt64) -> Groceries {
        var groceries = Groceries()
        groceries.scoped(.screen) { groceries in
            let fetch = groceries.fetch(rows: 100)
            for object in 1...100 as ClosedRange<UInt64> {
                groceries.fault(object, of: fetch, duration: object <= slow ? 1_000_000 : nil)
            }
        }
        return groceries
    }

    @Test func `The extra time of the slowest 10 % of the faults does not count as a saving`() throws {
        let usual = try #require(findings(slowly(0)).first).saving.time
        #expect(usual.median > 0)
        let slow = try #require(findings(slowly(10)).first)
        #expect(slow.seenAt.first?.time == 10 * 1_000_000 + 90 * 12_000)
        #expect(abs(slow.saving.time.median - usual.median) < 1)
        let slower = try #require(findings(slowly(20)).first)
        #expect(slower.saving.time.median > 10 * 900_000)
    }

    @Test func `The predicted saving of merged traces is that of one of them`() throws {
        let one = Profile(slowly(4).trace.closed())
        let saving = try #require(Analysis(one, rules: [PrefetchRule()]).findings.first).saving.time.median
        var all = one
        for _ in 0..<9 { try all.merge(Profile(slowly(4).trace.closed())) }
        let sum = try #require(Analysis(all, rules: [PrefetchRule()]).findings.first)
        #expect(abs(sum.saving.time.median / saving - 1) < 0.01)
        #expect(sum.occurrence?.recordings == 10)
    }

    @Test func `Durations are grouped by quarters of powers of two`() {
        let durations: [UInt64] = [0, 3, 4, 5, 7, 8, 1023, 1024, .max]
        #expect(durations.map { Speeds.number(of: $0) } == [0, 3, 8, 9, 11, 12, 39, 40, 255])
    }

    @Test func `A relationship of a single object is not reported, but those of the objects it leads to are`() {
        #expect(findings(screen(rows: 1, faults: 1)).isEmpty)
        #expect(findings(screen(rows: 1, faults: 20)).map(\.title.text) == ["Prefetch \"list\" with the fetch of Item"])
    }

    @Test func `Five trips are reported, and four are not`() {
        #expect(findings(screen(faults: 5)).count == 1)
        #expect(findings(screen(faults: 4)).isEmpty)
    }

    @Test func `Seven trips for four objects are not reported`() {
        var groceries = Groceries()
        groceries.scoped(.screen) { groceries in
            let fetch = groceries.fetch(rows: 100)
            for object in [1, 2, 3, 4, 4, 4, 4] { groceries.fault(UInt64(object), of: fetch) }
        }
        #expect(findings(groceries).isEmpty)
    }

    @Test func `Trips from different lines are not counted together`() {
        var groceries = Groceries()
        let stacks = (0..<8).map { groceries.trace.stack(200 + $0) }
        groceries.scoped(.screen) { groceries in
            let fetch = groceries.fetch(rows: 100)
            for (object, stack) in stacks.enumerated() { groceries.fault(UInt64(object + 1), of: fetch, stack: stack) }
        }
        #expect(findings(groceries).isEmpty)
    }

    @Test func `Trips for objects of different fetches are not counted together`() {
        var groceries = Groceries()
        groceries.scoped(.screen) { groceries in
            for object in 1...20 {
                let fetch = groceries.fetch(rows: 3)
                groceries.fault(UInt64(object), of: fetch)
            }
        }
        #expect(findings(groceries).isEmpty)
    }

    @Test func `Faults without a known fetch are an obstacle, not a finding`() {
        var groceries = Groceries()
        groceries.scoped(.screen) { groceries in
            for object in 1...20 { groceries.fault(UInt64(object), of: 0) }
            for object in 21...30 { groceries.fault(UInt64(object), of: 999_999) }
        }
        let analysis = Analysis(Profile(groceries.trace.closed()), rules: [PrefetchRule()])
        #expect(analysis.findings.isEmpty)
        #expect(
            analysis.checks.first?.obstacles.map(\.text) == [
                "The trace does not show which fetch the objects of 20 fault trips came from.",
                "The fetches behind 10 fault trips are not in the trace.",
            ])
        #expect(analysis.checks.first?.examined?.text == "30 faults, 30 of them from the store")
    }

    @Test func `Faults in scopes of kind setup are ignored`() {
        #expect(findings(screen(kind: .setup)).isEmpty)
    }

    @Test func `Without scopes, all faults on the objects of a fetch count together`() {
        var groceries = Groceries()
        let fetch = groceries.fetch(rows: 100)
        for object in 1...100 { groceries.fault(UInt64(object), of: fetch) }
        #expect(findings(groceries).count == 1)
    }

    @Test func `Faults on the objects of one fetch on several screens are one finding`() throws {
        var groceries = Groceries()
        let fetch = groceries.fetch(rows: 60)
        for screen in 0..<6 {
            groceries.scoped(.screen) { groceries in
                for object in 1...10 { groceries.fault(UInt64(screen * 10 + object), of: fetch) }
            }
        }
        let found = findings(groceries)
        #expect(found.count == 1)
        let finding = try #require(found.first)
        let value = { (name: String) in finding.evidence.first { $0.name == name }?.value }
        #expect(value("occurrences") == 6)
        #expect(value("trips") == 60)
        #expect(value("originRows") == 60)
        #expect(value("originFetches") == 1)
        #expect(finding.saving.trips == 59)
    }

    @Test func `A batched prefetch makes no trip if the row cache holds all destinations`() throws {
        var groceries = Groceries()
        let fetch = groceries.fetch(rows: 1000, batchSize: 10)
        for batch in 0..<100 as Range<UInt32> { groceries.batch(of: fetch, first: batch * 10, rows: 10) }
        for screen in 0..<5 {
            groceries.scoped(.screen) { groceries in
                for object in 1...10 { groceries.fault(UInt64(screen * 10 + object), of: fetch) }
            }
        }
        let finding = try #require(findings(groceries).first)
        // There are 100 batches, but only 50 destinations, which were needed on 5 screens: 10 trips instead of 50.
        #expect(finding.saving.trips == 40)
    }

    @Test func `A scope of kind other does not split the scope around it`() {
        var groceries = Groceries()
        groceries.scoped(.screen) { groceries in
            let fetch = groceries.fetch(rows: 100)
            for object in 1...10 { groceries.scoped(.other) { $0.fault(UInt64(object), of: fetch) } }
        }
        #expect(findings(groceries).count == 1)
    }

    @Test func `A fault can precede its fetch in the trace if the fetch ran on another thread`() {
        var groceries = Groceries()
        groceries.trace.scope = 0
        // The fetch gets the ID 21, because 20 faults come first.
        for object in 1...20 { groceries.fault(UInt64(object), of: 21) }
        groceries.trace.thread = 8
        #expect(groceries.fetch(rows: 20) == 21)
        #expect(findings(groceries).count == 1)
    }

    @Test func `If few of many rows fire, one more fetch is advised instead of a prefetch`() throws {
        var groceries = Groceries()
        groceries.scoped(.screen) { groceries in
            let fetch = groceries.fetch(rows: 1000)
            for object in 1...50 { groceries.fault(UInt64(object), of: fetch) }
        }
        let finding = try #require(findings(groceries).first)
        #expect(finding.title.text == "Load Item.list for the objects that are used, in one fetch")
        #expect(
            finding.code == [
                "let request = FetchRequest<Item>(", "    predicate: .isIn(\"self\", objects: used.map(\\.objectID)),",
                "    relationshipKeyPathsForPrefetching: [\"list\"])", "let loaded = try context.fetch(request)",
            ])
    }

    @Test func `Touched rows do not count as rows that fired`() throws {
        // The program reads the lists of 40 of 1,000 rows, and visits all rows.
        var groceries = Groceries()
        groceries.scoped(.screen) { groceries in
            let fetch = groceries.fetch(rows: 1000)
            for object in 1...40 { groceries.fault(UInt64(object), of: fetch) }
            groceries.add(Groceries.use(of: fetch, rows: 1000, batchSize: 0))
        }
        let finding = try #require(findings(groceries).first)
        #expect(finding.title.text == "Load Item.list for the objects that are used, in one fetch")
        #expect(finding.explanation.map(\.text).contains { $0.hasSuffix("4.0 % of them were affected.") })
    }

    @Test func `Key paths that are already prefetched stay in the advised code`() throws {
        var groceries = Groceries(prefetch: ["tags"])
        groceries.scoped(.screen) { groceries in
            let fetch = groceries.fetch(rows: 10)
            for object in 1...10 { groceries.fault(UInt64(object), of: fetch) }
        }
        let finding = try #require(findings(groceries).first)
        #expect(finding.code == ["request.relationshipKeyPathsForPrefetching = [\"tags\", \"list\"]"])
    }

    /// The finding for a screen whose items go to the store for their own values.
    private func faulting(_ groceries: Groceries) throws -> Finding {
        var groceries = groceries
        groceries.scoped(.screen) { groceries in
            let fetch = groceries.fetch(rows: 100)
            for object in 1...100 {
                let item = groceries.item
                groceries.fault(UInt64(object), of: fetch) { fault in
                    (fault.type, fault.entity, fault.relationship, fault.relationshipEntity) = (.object, item, 0, 0)
                }
            }
            var use = Groceries.use(of: fetch, rows: 100, batchSize: 0)
            use.properties = [
                .init(index: 0, rowsRead: 100, rowsLoaded: 100, bytes: 1000, largeRows: 0),
                .init(index: 1, rowsRead: 100, rowsLoaded: 0, bytes: 0, largeRows: 0),
            ]
            groceries.add(use)
        }
        return try #require(findings(groceries).first)
    }

    @Test func `R01 advises loading the values with the fetch if it excludes property values`() throws {
        let finding = try faulting(Groceries(includesPropertyValues: false))
        #expect(finding.title.text == "Load the values of Item with the fetch itself")
        #expect(finding.fix.text == "Let the fetch load the values: leave includesPropertyValues on.")
        #expect(finding.code == ["request.includesPropertyValues = true"])
    }

    @Test func `R01 advises adding the properties that are read later to a fetch of partial faults`() throws {
        let finding = try faulting(Groceries(properties: ["name"]))
        #expect(
            finding.fix.text
                == "The objects are partial faults. Add \"image\" to propertiesToFetch: reading it loads the whole row."
        )
        #expect(finding.code == ["request.propertiesToFetch = [\"name\", \"image\"]"])
    }

    @Test func `If the trace does not show why values are missing, no code is advised`() throws {
        let finding = try faulting(Groceries())
        #expect(
            finding.fix.text
                == "Load the values with the fetch: turn includesPropertyValues on, and either leave propertiesToFetch empty "
                + "or name every property that is read.")
        #expect(finding.code.isEmpty)
    }

    @Test func `A saving below the thresholds is a note`() throws {
        var groceries = Groceries()
        let name = groceries.screenName
        groceries.scoped(name, .screen, pause: 1_000_000_000) { groceries in
            let fetch = groceries.fetch(rows: 50)
            for object in 1...50 { groceries.fault(UInt64(object), of: fetch) }
            // The trips are less than a fifth of all trips.
            for _ in 1...300 { _ = groceries.fetch(rows: 1) }
        }
        let finding = try #require(findings(groceries).first)
        #expect(finding.severity == .note)
        #expect(
            finding.reservations.map(\.text) == [
                "The saving is below 1 % of the time that the work took and below 2 ms."
            ])
    }

    @Test func `A large share of all round trips is still a note if they take little time`() throws {
        var groceries = Groceries()
        groceries.scoped(groceries.screenName, .screen, pause: 1_000_000_000) { groceries in
            let fetch = groceries.fetch(rows: 50)
            for object in 1...50 { groceries.fault(UInt64(object), of: fetch) }
            for _ in 1...190 { _ = groceries.fetch(rows: 1) }
        }
        #expect(try #require(findings(groceries).first).severity == .note)
    }

    /// The finding for faults in the program's own process, each of which takes less than a fetch's fixed cost.
    private func quick(rows: UInt32, faults: UInt64, duration: UInt64) throws -> Finding {
        var groceries = Groceries()
        groceries.trip = 15_000
        groceries.row = 200
        for size in 1...30 as ClosedRange<UInt32> { _ = groceries.fetch(rows: size) }
        groceries.scoped(.screen) { groceries in
            let fetch = groceries.fetch(rows: rows)
            for object in 0..<faults { groceries.fault(object + 1, of: fetch, duration: duration) }
        }
        return try #require(findings(groceries).first)
    }

    @Test func `Trips that cost no more than a prefetch are a note that says so`() throws {
        let finding = try quick(rows: 94, faults: 94, duration: 1500)
        #expect(finding.severity == .note && finding.saving.time.median == 0)
        #expect(finding.saving.trips == 93)
        #expect(
            finding.reservations.map(\.text) == [
                "94 trips of typically 1.50 µs: prefetching would save nothing measurable."
            ])
    }

    @Test func `The saving for thousands of quick trips agrees with measurements, and is a warning`() throws {
        let finding = try quick(rows: 5000, faults: 5000, duration: 1489)
        // Of such trips, which took 7.4 ms while recording, 1.7–2.1 ms were measured to be saved.
        #expect((1_500_000...2_600_000).contains(finding.saving.time.median))
        #expect(finding.saving.time.low < 1_682_000 && finding.saving.time.high > 2_147_000)
        #expect(finding.severity == .warning)
    }

    @Test func `A prefetch whose look-ups cost more than the trips is a note without a saving`() throws {
        let finding = try quick(rows: 5000, faults: 500, duration: 1269)
        #expect(finding.severity == .note && finding.saving.time.median == 0)
    }

    @Test func `A finding in a scope with lost events is a note`() throws {
        var groceries = Groceries()
        groceries.scoped(.screen) { groceries in
            let fetch = groceries.fetch(rows: 100)
            for object in 1...50 { groceries.fault(UInt64(object), of: fetch) }
            groceries.trace.add(.lost(EventLoss(process: 7, thread: 7, events: 1)))
            for object in 51...100 { groceries.fault(UInt64(object), of: fetch) }
        }
        // A loss of 1 % of all events would downgrade every finding, so there are many more events.
        for _ in 0..<200 { _ = groceries.fetch(rows: 1) }
        let finding = try #require(findings(groceries).first)
        #expect(finding.severity == .note)
        #expect(finding.reservations.map(\.text) == ["Events were lost while it happened."])
        #expect(finding.confidence.level == .low)
    }

    @Test func `The signature does not depend on line numbers`() throws {
        let first = try #require(findings(screen()).first)
        var moved = Groceries()
        let site = moved.trace.site(99, "loadItems()")
        let stack = moved.trace.stack(300)
        moved.scoped(.screen) { groceries in
            let fetch = groceries.fetch(rows: 100, site: site)
            for object in 1...100 { groceries.fault(UInt64(object), of: fetch, stack: stack) }
        }
        let second = try #require(findings(moved).first)
        #expect(first.signature == second.signature)
        #expect(first.change != second.change)
    }
}
