import FaultlineFindings
import FaultlineProfile
import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineRules

@Suite("R16: over-normalization")
struct FoldedEntityRuleTests {
    /// Findings for a fetch of items that each read their list.
    private func findings(
        objects: Int = 100, touched: UInt32 = 100, asked: Int = 100, bytes: UInt64 = 60, isElsewhere: Bool = false,
        savesApart: Int = 0, savesTogether: Int = 0, reading: [String]? = nil, inverse: String? = nil
    ) -> [Finding] {
        var groceries = Groceries()
        if let inverse {
            let members = EntityEntry.Property(name: "items", type: "toMany", destination: "Item", inverse: inverse)
            _ = groceries.trace.entity("List", [.init(name: "title", type: "String"), members])
        }
        if let reading {
            _ = groceries.trace.entity(
                "List",
                [
                    .init(name: "title", type: "String"), .init(name: "color", type: "String"),
                    .init(name: "items", type: "toMany", destination: "Item"),
                ])
            for property in reading {
                let use = DestinationUseEntry(entity: "Item", relationship: "list", property: property)
                _ = groceries.trace.define(.destinationUse(use))
            }
        }
        let fetch = groceries.fetch(rows: 100)
        for number in 0..<asked {
            var fault = TraceEvent.Fault()
            (fault.type, fault.entity, fault.filled, fault.bytes) = (.toOne, groceries.list, 1, bytes)
            fault.source = number < objects ? .store : .rowCache
            fault.seenBefore = number >= objects
            (fault.relationship, fault.relationshipEntity) = (groceries.listName, groceries.item)
            (fault.object, fault.origin) = (UInt64(number % objects), fetch)
            groceries.trace.event(.fault(fault), duration: 12_000, stack: groceries.faultStack)
        }
        var use = Groceries.use(of: fetch, rows: 100, batchSize: 0)
        (use.touchedRows, use.runs) = (touched, [.init(first: 0, rows: UInt64(touched))])
        groceries.add(use)
        for number in 0..<(savesApart + savesTogether) {
            var save = TraceEvent.Save()
            save.updated = 1
            save.entities = [.init(entity: groceries.list, updated: 1)]
            if number >= savesApart { save.entities.append(.init(entity: groceries.item, updated: 1)) }
            groceries.trace.event(.save(save), duration: 1000)
        }
        if isElsewhere {
            var sql = TraceEvent.Statement()
            (sql.type, sql.statement) = (.read, groceries.statement)
            groceries.trace.event(.sql(sql), duration: 100_000_000)
        }
        return Analysis(Profile(groceries.trace.closed()), rules: [FoldedEntityRule()]).findings
    }

    @Test func `Two entities that are always read together, one to one, are reported`() throws {
        let found = findings()
        let finding = try #require(found.first)
        #expect(found.count == 1)
        #expect(finding.rule == "R16" && finding.severity == .warning && finding.confidence.level == .low)
        #expect(finding.title.text == #"Fold List into Item, which always reads it through "list""#)
        #expect(finding.change?.description == "List.swift:42")
        #expect(finding.code == ["Item.title: String"])
        #expect(
            finding.explanation.map(\.text) == [
                "100 objects of Item were used, and 100 of List with them, each from a different one: 1.20 ms, 85 % "
                    + "of the store's time."
            ])
        #expect(finding.saving.trips == 100)
        #expect(finding.saving.time.median > 1_000_000 && finding.saving.time.median <= 1_200_000)
    }

    @Test func `A to-one relationship with a to-many inverse is not reported`() {
        #expect(findings(inverse: "list").isEmpty)
        // This to-many relationship is the inverse of another one.
        #expect(findings(inverse: "formerList").count == 1)
    }

    @Test func `The attributes to move are those that are read, if the trace shows them`() {
        #expect(findings(reading: []).first?.code == ["Item.title: String", "Item.color: String"])
        #expect(findings(reading: ["color"]).first?.code == ["Item.color: String"])
        #expect(findings(reading: ["items"]).first?.code == ["Item.title: String", "Item.color: String"])
    }

    /// Findings for purchases that read their baskets, which read their owners.
    private func chain(
        lists: UInt64 = 100, owners: UInt64 = 100, asking: UInt64 = 100, isPrefetched: Bool = false,
        isSizeKnown: Bool = true, tableLists: UInt64 = 1000, tableOwners: UInt64 = 1000
    ) -> [Finding] {
        var groceries = Groceries(prefetch: isPrefetched ? ["list", "list.owner"] : [])
        let list = groceries.trace.entity("Basket", [.init(name: "owner", type: "toOne", destination: "Owner")])
        let owner = groceries.trace.entity("Owner", [.init(name: "name", type: "String")])
        let item = groceries.trace.entity("Purchase", [.init(name: "basket", type: "toOne", destination: "Basket")])
        let names = ["basket", "owner"].map { groceries.trace.define(.name(NameEntry(name: $0))) }
        let shape = groceries.trace.define(
            .shape(ShapeEntry(entity: "Purchase", prefetch: isPrefetched ? ["basket", "basket.owner"] : [])))
        var fetch = TraceEvent.Fetch()
        (fetch.entity, fetch.shape, fetch.rows, fetch.trips) = (item, shape, 100, isPrefetched ? 3 : 1)
        if isPrefetched {
            fetch.prefetches = [
                .init(path: 0, trips: 1, rows: lists, bytes: 6000, duration: 300_000),
                .init(path: 1, trips: 1, rows: owners, bytes: 6000, duration: 300_000),
            ]
        }
        let id = groceries.trace.event(.fetch(fetch), duration: 800_000, site: groceries.fetchSite)
        func fetchAll(_ entity: DictionaryID, _ name: String, _ rows: UInt64) {
            var all = TraceEvent.Fetch()
            all.shape = groceries.trace.define(.shape(ShapeEntry(entity: name)))
            (all.entity, all.rows, all.trips) = (entity, UInt32(rows), 1)
            groceries.trace.event(.fetch(all), duration: 1000)
        }
        if isSizeKnown {
            fetchAll(list, "Basket", tableLists)
            fetchAll(owner, "Owner", tableOwners)
        }
        func fire(
            _ entity: DictionaryID, of home: DictionaryID, _ name: DictionaryID, _ number: UInt64, _ count: UInt64
        ) {
            var fault = TraceEvent.Fault()
            (fault.type, fault.entity, fault.filled, fault.bytes) = (.toOne, entity, 1, 60)
            fault.source = isPrefetched || number >= count ? .rowCache : .store
            fault.seenBefore = fault.source == .rowCache
            (fault.relationship, fault.relationshipEntity) = (name, home)
            (fault.object, fault.origin) = (number % count, id)
            groceries.trace.event(.fault(fault), duration: 12_000, stack: groceries.faultStack)
        }
        for number in 0..<100 as Range<UInt64> { fire(list, of: item, names[0], number, lists) }
        for number in 0..<asking { fire(owner, of: list, names[1], number, owners) }
        var use = Groceries.use(of: id, rows: 100, batchSize: 0)
        (use.entity, use.shape) = (item, shape)
        groceries.trace.event(.use(use))
        return Analysis(Profile(groceries.trace.closed()), rules: [FoldedEntityRule()]).findings
    }

    @Test(arguments: [false, true])
    func `A chain of one-to-one relationships is reported link by link`(_ isPrefetched: Bool) {
        let first = #"Fold Basket into Purchase, which always reads it through "basket""#
        let second = #"Fold Owner into Basket, which always reads it through "owner""#
        #expect(Set(chain(isPrefetched: isPrefetched).map(\.title.text)) == [first, second])
        #expect(chain(owners: 30, isPrefetched: isPrefetched).map(\.title.text) == [first])
        #expect(chain(asking: 80, isPrefetched: isPrefetched).map(\.title.text) == [first])
        #expect(chain(lists: 40, isPrefetched: isPrefetched).map(\.title.text) == [second])
        // 100 of many objects rarely share a destination, so the sizes of the tables decide.
        #expect(chain(isPrefetched: isPrefetched, tableOwners: 899).map(\.title.text) == [first])
        #expect(chain(isPrefetched: isPrefetched, tableOwners: 900).count == 2)
        #expect(chain(isPrefetched: isPrefetched, isSizeKnown: false).map(\.title.text) == [first])
    }

    /// Findings for members, some of them moderators (a subentity), each with a profile of their own.
    private func family(moderators: Int = 30, asked: Int = 100, isPrefetched: Bool = false) -> [Finding] {
        var trace = TraceBuilder()
        let own: [EntityEntry.Property] = [
            .init(name: "name", type: "String"), .init(name: "profile", type: "toOne", destination: "Profile"),
        ]
        let member = trace.entity("Member", own)
        let moderator = trace.define(
            .entity(
                EntityEntry(name: "Moderator", root: "Member", properties: own + [.init(name: "since", type: "Date")])))
        let profile = trace.entity("Profile", [.init(name: "motto", type: "String")])
        let (name, stack) = (trace.define(.name(NameEntry(name: "profile"))), trace.stack(57))
        let shape = trace.define(.shape(ShapeEntry(entity: "Member")))
        var fetch = TraceEvent.Fetch()
        (fetch.entity, fetch.shape, fetch.rows, fetch.trips) = (member, shape, 100, 1)
        let id = trace.event(.fetch(fetch), duration: 200_000, site: trace.site(42))
        for number in 0..<asked {
            var fault = TraceEvent.Fault()
            (fault.type, fault.entity, fault.filled, fault.bytes) = (.toOne, profile, 1, 60)
            fault.source = .store
            (fault.relationship, fault.relationshipEntity) = (name, number < moderators ? moderator : member)
            (fault.object, fault.origin) = (UInt64(number), id)
            trace.event(.fault(fault), duration: 12_000, stack: stack)
        }
        var use = TraceEvent.Use()
        (use.fetch, use.entity, use.shape, use.rows, use.loadedRows) = (id, member, shape, 100, 100)
        (use.touchedRows, use.runs) = (100, [.init(first: 0, rows: 100)])
        trace.event(.use(use))
        return Analysis(Profile(trace.closed()), rules: [FoldedEntityRule()]).findings
    }

    @Test(arguments: [0, 30, 100]) func `An inherited relationship counts as that of the parent`(
        _ moderators: Int
    ) throws {
        let found = family(moderators: moderators)
        #expect(found.map(\.title.text) == [#"Fold Profile into Member, which always reads it through "profile""#])
        #expect(found.first?.saving.trips == 100)
        #expect(family(moderators: moderators, asked: 89).isEmpty)
    }

    @Test func `A destination that several objects share is not reported`() {
        #expect(findings(objects: 90).count == 1)
        #expect(findings(objects: 89).isEmpty)
        #expect(findings(objects: 10).isEmpty)
    }

    @Test func `A destination that is not always read, or read by few objects, is not reported`() {
        #expect(findings(objects: 90, asked: 90).count == 1)
        #expect(findings(objects: 89, asked: 89).isEmpty)
        #expect(findings(objects: 49, touched: 49, asked: 49).isEmpty)
        #expect(findings(objects: 50, touched: 50, asked: 50).count == 1)
    }

    @Test func `Destinations of at least 2 KiB are not reported`() {
        #expect(findings(bytes: 2047).count == 1)
        #expect(findings(bytes: 2048).isEmpty)
    }

    @Test func `A destination that is saved alone more often than it is read is not reported`() {
        #expect(findings(savesApart: 100).count == 1)
        #expect(findings(savesApart: 101).isEmpty)
        #expect(findings(savesTogether: 101).count == 1)
    }

    @Test func `A relationship that takes less than 5 % of the store's time is not reported`() {
        #expect(findings(isElsewhere: true).isEmpty)
    }
}
