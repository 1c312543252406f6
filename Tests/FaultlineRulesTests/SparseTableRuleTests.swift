import FaultlineFindings
import FaultlineProfile
import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineRules

@Suite("R15: a sparse inheritance table")
struct SparseTableRuleTests {
    /// Findings for a scan of the table of vehicles, whose subentities have attributes of their own.
    private func findings(
        kinds: Int = 4, own: Int = 3, steps: UInt32 = 5000, elsewhere: UInt64 = 0, isTree: Bool = true
    ) -> [Finding] {
        var trace = TraceBuilder()
        let vehicle = trace.define(
            .entity(EntityEntry(name: "Vehicle", properties: [.init(name: "name", type: "String")])))
        for kind in 0..<kinds {
            let attributes = (0..<own).map { EntityEntry.Property(name: "a\(kind)\($0)", type: "String") }
            _ = trace.define(
                .entity(
                    EntityEntry(
                        name: "Kind\(kind)", root: isTree ? "Vehicle" : nil,
                        properties: [.init(name: "name", type: "String"), .init(name: "parts", type: "toMany")]
                            + attributes)))
        }
        let shape = trace.define(.shape(ShapeEntry(entity: "Vehicle", predicate: "name CONTAINS ?")))
        var fetch = TraceEvent.Fetch()
        (fetch.entity, fetch.shape, fetch.rows, fetch.trips) = (vehicle, shape, 10, 1)
        let id = trace.event(.fetch(fetch), duration: 1_000_000, site: trace.site(42))
        var sql = TraceEvent.Statement()
        (sql.rows, sql.fullScanSteps) = (10, steps)
        trace.event(.sql(sql), duration: 1000, parent: id, advancing: false)
        if elsewhere > 0 {
            var save = TraceEvent.Save()
            save.inserted = 1
            trace.event(.save(save), duration: elsewhere)
        }
        return Analysis(Profile(trace.closed()), rules: [SparseTableRule()]).findings
    }

    @Test func `Entities that share few columns are reported, with the time of scanning their table`() throws {
        let finding = try #require(findings().first)
        #expect(finding.rule == "R15" && finding.severity == .warning && finding.confidence.level == .low)
        #expect(finding.title.text == "Give the subentities of Vehicle tables of their own: they share few properties")
        #expect(finding.change?.description == "List.swift:42")
        #expect(
            finding.explanation.map(\.text) == [
                #"4 entities share the table of Vehicle: Kind0, Kind1, Kind2, Kind3. In the 12 columns that not all of them have, about 75 % of the values are empty if there are as many objects of each entity; "faultline inspect" counts them in a store."#,
                "Scanning the table takes 1.00 ms, 100 % of the store's time.",
            ])
        #expect(finding.saving.time.median == 375_000)
    }

    @Test func `Few entities, few columns and separate tables are not reported`() {
        #expect(findings(kinds: 2, own: 6).isEmpty)
        #expect(findings(kinds: 3, own: 4).count == 1)
        #expect(findings(kinds: 3, own: 3).isEmpty)
        #expect(findings(kinds: 5, own: 2).count == 1)
        #expect(findings(isTree: false).isEmpty)
    }

    /// Findings for fetches of all vehicles that visit each and read some of them.
    private func kinds(
        first: UInt64 = 20, second: UInt64 = 0, root: UInt64 = 0, kinds: Int = 3, touched: UInt32 = 100,
        isLimited: Bool = false, isOpen: Bool = false
    ) -> [Finding] {
        var trace = TraceBuilder()
        let vehicle = trace.define(.entity(EntityEntry(name: "Vehicle")))
        let others = (0..<kinds).map { trace.define(.entity(EntityEntry(name: "Kind\($0)", root: "Vehicle"))) }
        let shape = trace.define(.shape(ShapeEntry(entity: "Vehicle", isLimited: isLimited)))
        for _ in 0..<2 {
            var fetch = TraceEvent.Fetch()
            (fetch.entity, fetch.shape, fetch.rows, fetch.trips) = (vehicle, shape, 100, 1)
            let id = trace.event(.fetch(fetch), duration: 1_000_000, site: trace.site(42))
            for (entity, count) in [(others[0], first), (others[1], second), (vehicle, root)] {
                for object in 0..<count {
                    var fault = TraceEvent.Fault()
                    (fault.type, fault.source, fault.entity) = (.object, .rowCache, entity)
                    (fault.object, fault.origin, fault.filled, fault.seenBefore) = (object, id, 1, true)
                    trace.event(.fault(fault), duration: 300, stack: trace.stack(57))
                }
            }
            var use = Groceries.use(of: id, rows: 100, batchSize: 0)
            (use.entity, use.shape, use.touchedRows) = (vehicle, shape, touched)
            use.state = isOpen ? .open : .closed
            trace.event(.use(use))
        }
        return Analysis(Profile(trace.closed()), rules: [SparseTableRule()]).findings
    }

    @Test func `R15 advises fetching one entity if a fetch of the whole tree reads no other`() throws {
        let found = kinds()
        let finding = try #require(found.first)
        #expect(found.count == 1 && finding.rule == "R15" && finding.severity == .warning)
        #expect(finding.title.text == "Fetch Kind0, not Vehicle: no other objects are read")
        #expect(finding.change?.description == "List.swift:42" && finding.seenAt.first?.site?.line == 57)
        #expect(finding.code == ["FetchRequest<Kind0>(…)"] && finding.saving.rows == 160)
        #expect(
            finding.explanation.map(\.text) == [
                "2 fetches loaded 200 rows of Vehicle and its subentities; 40 were read, all of them of Kind0."
            ])
    }

    @Test func `Reads of several entities or most rows, and limited or open results, are not reported`() {
        #expect(kinds(second: 1).isEmpty)
        #expect(kinds(root: 1).isEmpty)
        #expect(kinds(first: 0, root: 20).isEmpty)
        #expect(kinds(first: 50).count == 1)
        #expect(kinds(first: 51).isEmpty)
        #expect(kinds(kinds: 2).isEmpty)
        #expect(kinds(touched: 89).isEmpty)
        #expect(kinds(isLimited: true).isEmpty)
        #expect(kinds(isOpen: true).isEmpty)
    }

    @Test func `A sparse table is a note if scanning it takes less than 5 % of the store's time`() {
        #expect(findings(steps: 0).map(\.severity) == [.note])
        #expect(findings(elsewhere: 19_000_001).map(\.severity) == [.note])
        #expect(findings(elsewhere: 18_900_000).map(\.severity) == [.warning])
    }
}
