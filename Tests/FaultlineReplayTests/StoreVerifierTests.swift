import CSQLite
import FaultlineFindings
import FaultlineModel
import FaultlineProfile
import FaultlineRules
import Foundation
import Testing

@testable import FaultlineReplay

@Suite("Advice tried on a copy of a store")
struct StoreVerifierTests {
    private func trial(_ shop: RecordedShop, of rule: String = "R05") throws -> Trial {
        let verification = try StoreVerifier(path: shop.url.path).verify(Analysis(shop.profile))
        return try #require(verification.trials.first { $0.finding.rule == rule }, "\(verification)")
    }

    @Test("Advice can be tried on a store with or without a configuration", arguments: [nil, "Shop"])
    func configuration(_ name: String?) throws {
        let trial = try trial(try RecordedShop(configuration: name))
        let measured = try #require(trial.measurement, "\(trial)")
        #expect(measured.before.trips == measured.after.trips)
        #expect(measured.before.rows > 0 && measured.after.rows == 0)
    }

    @Test("A fetch that found nothing finds nothing in the trial either")
    func nothing() throws {
        let shop = try RecordedShop()
        let fetch = try #require(shop.profile.fetches.first { $0.counts.executions == 10 })
        let recorded = fetch.sample.executions.reduce(0) { $0 + $1.rows }
        let measured = try #require(try trial(shop).measurement)
        #expect(fetch.sample.executions.count == 8 && measured.before.rows == recorded)
    }

    @Test("Each fetch of a loop has its value, and the fetch that replaces the loop finds the same rows")
    func loop() throws {
        let shop = try RecordedShop(asks: .items)
        let measured = try #require(try trial(shop, of: "R04").measurement)
        #expect((measured.operations, measured.recordedOperations) == (10, 10))
        #expect(measured.before.trips == 10 && measured.after.trips == 1)
        // Every fetch finds the 20 items of another price, or none.
        #expect(measured.before.rows.isMultiple(of: 20) && (100...200).contains(measured.before.rows))
        #expect(measured.after.rows == measured.before.rows)
    }

    @Test("Lists of values are joined too, including an empty one")
    func lists() throws {
        let shop = try RecordedShop(asks: .lists)
        // The recorder has no values here, so they are added as if they had been recorded.
        var price = -1
        let file = String(decoding: try shop.profile.fileData(), as: UTF8.self)
            .replacing(#/\["(?<hash>[0-9a-f]+)",null,/#) { fetch in
                price += 1
                let list = price == 0 ? "" : #"{\"double\":\#(price)},{\"double\":-1}"#
                return #"["\#(fetch.hash)","[{\"list\":[\#(list)]}]","#
            }
        let profile = try Profile(fileData: Data(file.utf8))
        let verification = try StoreVerifier(path: shop.url.path).verify(Analysis(profile))
        let trial = try #require(verification.trials.first { $0.finding.rule == "R04" }, "\(verification)")
        let measured = try #require(trial.measurement, "\(trial)")
        #expect(price >= 7)
        #expect(measured.before.trips == measured.operations && measured.after.trips == 1)
        #expect(measured.after.rows == measured.before.rows && measured.after.rows > 0)
        #expect(!trial.notes.contains { $0.contains("drawn") })
    }

    @Test("Values that were not recorded are drawn from the copy, and a note says so")
    func notes() throws {
        let notes = try trial(try RecordedShop()).notes
        #expect(
            notes.first?.hasPrefix("The trace has no predicate values, so they were drawn from the copy") == true)
    }

    @Test("Pages that SQLite had cached are in its cache when the fetches are measured", arguments: [false, true])
    func pages(_ isWarm: Bool) throws {
        let notes = try trial(try RecordedShop(items: 3000, isWarm: isWarm)).notes
        #expect(
            notes.contains { $0.hasPrefix("When it was recorded, SQLite had most of these pages in its cache.") }
                == isWarm)
    }

    @Test("A step outside the store does not count in the total")
    func reading() {
        var timing = Timing(.thread)
        timing.step(weight: 2) { _ = sched_yield() }
        let total = timing.total
        timing.step(weight: 2, isInStore: false) { _ = sched_yield() }
        #expect(timing.total == total)
    }

    /// Runs a statement and returns the numbers in its first column.
    private func numbers(_ sql: String, _ shop: RecordedShop) throws -> [Int] {
        var connection: OpaquePointer?
        try #require(sqlite3_open(shop.url.path, &connection) == SQLITE_OK)
        defer { sqlite3_close(connection) }
        var statement: OpaquePointer?
        try #require(sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK)
        defer { sqlite3_finalize(statement) }
        var numbers: [Int] = []
        while sqlite3_step(statement) == SQLITE_ROW { numbers.append(Int(sqlite3_column_int64(statement, 0))) }
        return numbers
    }

    @Test("Unreadable rows make the trial fail, and do not count as a saving")
    func damage() throws {
        let shop = try RecordedShop(items: 3000)
        _ = try numbers("PRAGMA wal_checkpoint(TRUNCATE)", shop)
        let size = try numbers("PRAGMA page_size", shop)[0]
        let leaves = try numbers("SELECT pageno FROM dbstat WHERE name = 'ZITEM' AND pagetype = 'leaf'", shop)
        #expect(leaves.count > 10)
        let file = try FileHandle(forWritingTo: shop.url)
        for page in leaves {
            try file.seek(toOffset: UInt64((page - 1) * size))
            try file.write(contentsOf: Data(count: size))
        }
        try file.close()
        guard case .notTried(let reason) = try trial(shop).outcome else {
            Issue.record("It was tried.")
            return
        }
        #expect(
            reason.contains(shop.url.path) && !reason.replacing(shop.url.path, with: "").contains("faultline-"),
            "\(reason)")
    }

    @Test("A store without a copy of its model needs a matching one")
    func models() throws {
        let shop = try RecordedShop()
        _ = try numbers("DROP TABLE Z_FAULTLINE", shop)
        #expect {
            try StoreVerifier(path: shop.url.path)
        } throws: {
            "\($0)"
                == "The store \"\(shop.url.path)\" has no readable copy of its model; name the model with --model."
        }
        #expect(throws: ReplayError.self) { try StoreVerifier(path: shop.url.path, models: [try other()]) }
        let whole = try RecordedShop(configuration: nil)
        _ = try numbers("DROP TABLE Z_FAULTLINE", whole)
        let verification = try StoreVerifier(path: whole.url.path, models: [whole.model]).verify(
            Analysis(whole.profile))
        #expect(verification.trials.contains { $0.measurement != nil })
    }

    private func other() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [EntityDescription("Other", attributes: [AttributeDescription("a", .string)])])
    }
}
