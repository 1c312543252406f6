import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineFindings
@testable import FaultlineProfile
@testable import FaultlineRules

@Suite("R14: results that a mapper keeps in memory")
struct WholeResultTests {
    /// - Parameter frame: The file and the function of the mapper that runs the statement.
    private func findings(
        _ sql: String = "SELECT * FROM shop_book", rows: UInt32 = 6000,
        frame: (file: String, function: String) = ("/usr/lib/django/db/models/query.py", "QuerySet._fetch_all")
    ) throws -> [Finding] {
        var trace = TraceBuilder()
        var statement = TraceEvent.Statement()
        statement.statement = trace.define(.statement(StatementEntry(sql: sql)))
        (statement.type, statement.rows) = (.read, rows)
        let isPython = frame.file.hasSuffix(".py")
        let frames = [frame, ("/shop/views.py", "page")].enumerated().map { index, frame in
            FrameEntry(
                address: "0x800000000000000\(index)", module: isPython ? "Python" : "App",
                locations: [.init(symbol: frame.1, function: frame.1, file: frame.0, line: 31)])
        }
        for frame in frames { _ = trace.define(.frame(frame)) }
        let stack = trace.define(.stack(StackEntry(frames: frames.map(\.address))))
        for _ in 0..<2 { trace.event(.sql(statement), duration: 1_000_000, stack: stack) }
        let profile = Profile(trace.closed())
        let found = Analysis(profile, rules: [UnboundedFetchRule()]).findings
        let stored = try Profile(fileData: profile.fileData())
        #expect(Analysis(stored, rules: [UnboundedFetchRule()]).findings == found)
        return found
    }

    @Test func `Django keeps the rows of a queryset, unless it is iterated`() throws {
        let finding = try #require(findings().first)
        #expect(finding.rule == "R14" && finding.severity == .warning)
        #expect(finding.title.text == "Load the rows of shop_book in parts, or a page at a time")
        #expect(finding.code == ["for row in Book.objects.iterator(chunk_size=500): …"])
        #expect(
            finding.explanation.map(\.text) == [
                "SELECT * FROM shop_book returned 6,000 rows at once, and nothing limits the number. 2 runs returned up to that many. "
                    + "Django keeps them all in memory."
            ])
        #expect(try findings(frame: ("/usr/lib/django/db/models/query.py", "QuerySet._iterator")).isEmpty)
        #expect(try findings(frame: ("/shop/models.py", "_fetch_all")).isEmpty)
    }

    @Test func `GRDB keeps the rows of fetchAll, but not those of a cursor`() throws {
        let all = "(extension in GRDB):GRDB.FetchRequest.fetchAll(GRDB.Database) throws -> Array<A>"
        #expect(
            try findings("SELECT * FROM track", frame: ("FetchRequest.swift", all)).first?.code == [
                "let rows = try Track.fetchCursor(db)"
            ])
        let cursor = "(extension in GRDB):GRDB.FetchRequest.fetchCursor(GRDB.Database)"
        #expect(try findings("SELECT * FROM track", frame: ("FetchRequest.swift", cursor)).isEmpty)
    }

    @Test func `Fewer rows are a note, and a limit is fine`() throws {
        #expect(try findings(rows: 4999).map(\.severity) == [.note])
        #expect(try findings(rows: 999).isEmpty)
        #expect(try findings("SELECT * FROM shop_book LIMIT ?").isEmpty)
    }
}
