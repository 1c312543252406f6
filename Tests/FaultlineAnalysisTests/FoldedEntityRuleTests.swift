import FaultlineAnalysis
import FaultlineTrace
import Testing
import TraceFixtures

@Suite("R16: one object in two entities")
struct FoldedEntityRuleTests {
    /// Fetches of items of which each asks for its list.
    private func findings(
        objects: Int = 100, touched: UInt32 = 100, asked: Int = 100, bytes: UInt64 = 60, isElsewhere: Bool = false,
        savesApart: Int = 0, savesTogether: Int = 0
    ) -> [Finding] {
        var groceries = Groceries()
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

    @Test func `What is always read together, one for one, belongs together`() throws {
        let found = findings()
        let finding = try #require(found.first)
        #expect(found.count == 1)
        #expect(finding.rule == "R16" && finding.severity == .warning && finding.confidence == .low)
        #expect(finding.title == #"Fold List into Item, which always reads it through "list""#)
        #expect(finding.change?.description == "List.swift:42")
        #expect(finding.code == ["Item.title: String"])
        #expect(
            finding.explanation == [
                "100 objects of Item were used, and 100 of List with them, each from one: 1.20 ms, 85 % of the store's time."
            ])
        #expect(finding.saving.trips == 100)
        #expect(finding.saving.time.median > 1_000_000 && finding.saving.time.median <= 1_200_000)
    }

    @Test func `What several share is no part of one`() {
        #expect(findings(objects: 90).count == 1)
        #expect(findings(objects: 89).isEmpty)
        #expect(findings(objects: 10).isEmpty)
    }

    @Test func `What is not always read is apart for a reason`() {
        #expect(findings(objects: 90, asked: 90).count == 1)
        #expect(findings(objects: 89, asked: 89).isEmpty)
        #expect(findings(objects: 49, touched: 49, asked: 49).isEmpty)
        #expect(findings(objects: 50, touched: 50, asked: 50).count == 1)
    }

    @Test func `Large objects are kept apart`() {
        #expect(findings(bytes: 2047).count == 1)
        #expect(findings(bytes: 2048).isEmpty)
    }

    @Test func `What is saved apart more often than it is read stays apart`() {
        #expect(findings(savesApart: 100).count == 1)
        #expect(findings(savesApart: 101).isEmpty)
        #expect(findings(savesTogether: 101).count == 1)
    }

    @Test func `Below a twentieth of the store's time it is not worth a word`() {
        #expect(findings(isElsewhere: true).isEmpty)
    }
}
