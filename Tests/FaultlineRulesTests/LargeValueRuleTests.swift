import FaultlineFindings
import FaultlineProfile
import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineRules

@Suite("R09: large values in hot rows")
struct LargeValueRuleTests {
    /// Findings for a fetch that loads images of `size` bytes and reads `read` of them.
    private func findings(
        rows: UInt32 = 100, read: UInt64 = 0, size: UInt64 = 40_000, large: UInt64? = nil, isExternal: Bool? = nil,
        elsewhere pause: UInt64 = 0
    ) -> [Finding] {
        var groceries = Groceries(isImageExternal: isExternal)
        groceries.trace.now += pause
        groceries.scoped(.screen) { groceries in
            let fetch = groceries.fetch(rows: rows)
            var use = Groceries.use(of: fetch, rows: rows, batchSize: 0)
            let count = UInt64(rows)
            use.properties = [
                .init(index: 0, rowsRead: count, rowsLoaded: count, bytes: count * 20, largeRows: 0),
                .init(index: 1, rowsRead: read, rowsLoaded: count, bytes: count * size, largeRows: large ?? count),
            ]
            groceries.add(use)
        }
        return Analysis(Profile(groceries.trace.closed()), rules: [LargeValueRule()]).findings
    }

    @Test func `Images that are never read are reported where the model declares them`() throws {
        let found = findings()
        #expect(found.count == 1)
        let finding = try #require(found.first)
        #expect(finding.title.text == "Move Item.image into an entity of its own")
        #expect(finding.change == CallSite(file: "Groceries/Model.swift", line: 12))
        #expect(finding.seenAt.map(\.site?.description) == ["List.swift:42"])
        #expect(finding.severity >= .warning)
        #expect(finding.saving.bytes == 4_000_000)
        #expect(
            finding.explanation.map(\.text) == [
                "100 % of the values have at least 16 KiB; the average is 39.1 KiB.",
                "1 fetch loaded it in 100 rows, 3.81 MiB in all; the program read it in 0.",
            ])
    }

    @Test func `R09 advises keeping very large values in files`() throws {
        let finding = try #require(findings(size: 300_000).first)
        #expect(finding.title.text == "Keep Item.image outside the rows, in files of its own")
        #expect(finding.code == ["image.allowsExternalBinaryDataStorage = true"])
        #expect(findings(size: 300_000, isExternal: true).isEmpty)
    }

    @Test func `Values that are read in a quarter of the rows are not reported`() {
        #expect(findings(read: 25).isEmpty)
        #expect(findings(read: 24).count == 1)
    }

    @Test func `Values of which at most 5 % are large are not reported`() {
        #expect(findings(size: 500, large: 0).isEmpty)
        #expect(findings(size: 2000, large: 5).isEmpty)
        #expect(findings(size: 2000, large: 6).count == 1)
    }

    @Test func `Fewer than 100 rows are a note if they take little time, and fewer than ten are not reported`() {
        let few = findings(rows: 40, size: 17_000, elsewhere: 10_000_000_000)
        #expect(few.map(\.severity) == [.note])
        #expect(few.first?.reservations.map(\.text).contains("Fewer than 100 rows were loaded with it.") == true)
        #expect(findings(rows: 99).map(\.severity) != [.note])
        #expect(findings(rows: 9).isEmpty)
    }

    @Test func `The cost per byte follows from long rows if nothing else shows it`() throws {
        var groceries = Groceries()
        groceries.row = 80_000
        groceries.scoped(.screen) { groceries in
            for _ in 0..<5 {
                let fetch = groceries.fetch(rows: 100)
                var use = Groceries.use(of: fetch, rows: 100, batchSize: 0)
                use.properties = [.init(index: 1, rowsRead: 0, rowsLoaded: 100, bytes: 4_000_000, largeRows: 100)]
                groceries.add(use)
            }
        }
        let finding = try #require(
            Analysis(Profile(groceries.trace.closed()), rules: [LargeValueRule()]).findings.first)
        // 500 rows take 80 µs each, and short rows would take 1 µs: more than the nine tenths that can be saved.
        #expect(abs(finding.saving.time.median - 0.9 * 5 * 8_010_000) < 1)
        #expect(finding.confidence.level == .low)
    }

    @Test func `A saving never exceeds the time of the fetches`() throws {
        let finding = try #require(findings(size: 100_000_000).first)
        #expect(finding.saving.time.high <= 10_000 + 100 * 2000)
    }
}
