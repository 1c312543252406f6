import FaultlineFindings
import FaultlineProfile
import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineRules

@Suite("R04: ranges and subqueries in a loop")
struct RangeLoopTests {
    private static let from = ShapeEntry.Term(keyPath: "milliseconds", operation: ">=")
    private static let to = ShapeEntry.Term(keyPath: "milliseconds", operation: "<")
    private static let byAlbum = ShapeEntry.Term(keyPath: "album", operation: "==", operand: "object")

    /// Findings for fetches whose terms have the operands that `operands` returns for each number.
    private func loop(
        _ terms: [ShapeEntry.Term] = [from, to], _ type: TraceEvent.Fetch.ResultType = .objects, times: UInt64 = 20,
        rows: UInt32 = 12, isLimited: Bool = false, sort: [String] = [], use: (inout TraceEvent.Use) -> Void = { _ in },
        rules: [any Rule] = [FetchLoopRule()], operands: (UInt64) -> [UInt64] = { [$0, $0 + 1] }
    ) -> [Finding] {
        var music = Music()
        music.calibrate(music.shape())
        let shape = music.shape("…", terms, sort: sort, isLimited: isLimited, resultType: "\(type)")
        music.scoped(.screen) { music in
            for number in 1...times {
                let fetch = music.fetch(shape, rows: rows, duration: 40_000) {
                    ($0.operands, $0.parameters, $0.resultType) = (operands(number), number, type)
                    $0.limit = isLimited ? 1 : 0
                }
                music.statement(of: fetch, virtualMachineSteps: 40, rows: 1)
                guard type == .objects else { continue }
                var used = Music.use(of: fetch, rows: rows)
                use(&used)
                music.add(used, shape: shape)
            }
        }
        let profile = Profile(music.trace.closed())
        let findings = Analysis(profile, rules: rules).findings
        // A profile file has the same evidence.
        #expect((try? Analysis(Profile(fileData: profile.fileData()), rules: rules).findings) == findings)
        return findings
    }

    @Test func `R04 advises one grouped fetch instead of counts for one range after another`() throws {
        let found = loop([Self.from, Self.to, Self.byAlbum], .count, operands: { [$0, $0 + 1, 7] })
        let finding = try #require(found.first)
        #expect(found.count == 1 && finding.severity == .warning && finding.confidence.level == .low)
        #expect(
            finding.title.text == "Count Track once for all ranges of milliseconds, in one grouped fetch")
        #expect(
            finding.code == [
                #"let count = ExpressionDescription("count", .function(.count, "self"))"#,
                "let first: FetchExpression = .value(lowest)",
                #"let place: FetchExpression = (.function(.castToNumber, .keyPath("milliseconds")) - first) / .value(width)"#,
                #"let range = ExpressionDescription("range", .function(.floor, place))"#,
                "var request = FetchRequest<Track>()",
                #"request.predicate = PropertyPath("milliseconds") >= lowest && PropertyPath("milliseconds") < highest"#,
                "    && otherTerms",
                "(request.resultType, request.propertiesToFetch) = (.dictionary, [range, count])",
                #"request.propertiesToGroupBy = ["range"]"#, "let groups = try context.fetchDictionaries(request)",
            ])
        #expect(
            finding.explanation.map(\.text) == [
                "20 fetches followed one another, for 20 ranges of milliseconds: 240 rows, 800 µs in all.",
                "Each range begins where another ends.",
            ])
        // 20 requests of 40 µs, minus a trip of 10 µs, 20 × 40 steps of 15 ns, and 3 µs for each range.
        #expect(abs(finding.saving.time.median - (800_000 - 10_000 - 12_000 - 60_000)) < 1)
        #expect(finding.saving.trips == 19 && finding.remedy == nil)
    }

    @Test func `Rows of all ranges are fetched at once`() throws {
        let use = { (use: inout TraceEvent.Use) in
            use.touchFirst(12, in: .screen)
            use.read(.title, rows: 12)
        }
        let finding = try #require(loop(use: use).first)
        #expect(finding.title.text == "Fetch Track once for all ranges of milliseconds")
        #expect(
            finding.code == [
                #"request.predicate = PropertyPath("milliseconds") >= lowest && PropertyPath("milliseconds") < highest"#,
                "let found = try context.fetch(request)",
            ])
        #expect(finding.severity == .warning && finding.saving.rows == 0 && finding.saving.trips == 19)
        // Going backward, each range ends where the last one began.
        #expect(loop(use: use, operands: { [100 - $0, 101 - $0] }).map(\.severity) == [.warning])
    }

    @Test func `A number that is added up range by range is aggregated by R04, not by R05`() {
        let found = loop(
            rows: 30,
            use: { use in
                use.touchFirst(30, in: .screen)
                use.read(.milliseconds, rows: 30)
            }, rules: [FetchLoopRule(), AggregateRule()])
        #expect(
            found.map(\.title.text) == ["Aggregate Track once for all ranges of milliseconds, in one grouped fetch"])
        #expect(
            found.first?.code.first == #"let sum = ExpressionDescription("sum", .function(.sum, "milliseconds"))"#)
    }

    @Test func `Ranges with rows between them are a note`() throws {
        let finding = try #require(loop([Self.from, Self.to], .count, operands: { [$0 * 10, $0 * 10 + 5] }).first)
        #expect(finding.severity == .note)
        #expect(
            finding.reservations.map(\.text) == [
                "The ranges do not adjoin one another, so one fetch may also read the rows between them."
            ])
        // The trace has one operand for both bounds.
        let between = ShapeEntry.Term(keyPath: "milliseconds", operation: "BETWEEN")
        #expect(loop([between], .count, operands: { [$0] }).map(\.severity) == [.note])
    }

    @Test func `Open ranges, two ranges at once, pages and first rows are no ranges in a loop`() {
        #expect(loop([Self.from], .count, operands: { [$0] }).isEmpty)
        #expect(loop([Self.from, Self.from], .count).isEmpty)
        let other = ShapeEntry.Term(keyPath: "album.year", operation: "<")
        #expect(loop([Self.from, other], .count).isEmpty)
        #expect(loop([Self.from, Self.to, Self.byAlbum], .count, operands: { [$0, $0 + 1, $0] }).isEmpty)
        // One of the bounds is the same each time.
        #expect(loop([Self.from, Self.to], .count, operands: { [$0, 900] }).isEmpty)
        #expect(loop(isLimited: true, sort: ["milliseconds ascending"]).isEmpty)
        #expect(loop(times: 4).isEmpty)
        // The trip of a fetch with many rows costs little.
        #expect(loop(rows: 100).isEmpty)
    }

    @Test func `A subquery with other values each time is replaced by one fetch of the members`() throws {
        let late = ShapeEntry.Term(
            keyPath: "SUBQUERY(playlists, $list, $list.owner == ?).@count", operation: ">")
        let finding = try #require(loop([late], .count, operands: { [$0] }).first)
        #expect(finding.title.text == "Fetch the playlists of Track for all values at once, with IN")
        #expect(
            finding.explanation.map(\.text) == [
                "20 fetches followed one another, for 20 values of a SUBQUERY over playlists, which each of them computes "
                    + "for its rows one by one: 800 µs in all."
            ])
        #expect(finding.severity == .warning && finding.confidence.level == .low && finding.code.isEmpty)
        #expect(loop([late], .count, operands: { _ in [1] }).isEmpty)
    }
}
