import Foundation
import Testing
import TraceFixtures

@testable import FaultlineProfile
@testable import FaultlineReport
@testable import FaultlineRules
@testable import FaultlineTrace

@Suite("Exported spans")
struct OTLPExportTests {
    /// The spans of each line.
    private static func export(_ messages: [TraceMessage]) throws -> [[[String: Any]]] {
        let bytes = CallPathExportTests.export(OTLPExporter.self, messages)
        return try String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { line in
            let data = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            let resource = try #require((data?["resourceSpans"] as? [[String: Any]])?.first)
            return try #require((resource["scopeSpans"] as? [[String: Any]])?.first?["spans"] as? [[String: Any]])
        }
    }

    @Test func `A scope is a trace, even if it has not ended, and a failure is a status`() throws {
        var builder = TraceBuilder()
        let name = builder.define(.name(NameEntry(name: "list")))
        var begin = TraceEvent.Scope()
        (begin.name, begin.kind) = (name, .screen)
        let scope = builder.event(.scope(begin), duration: 0)
        builder.scope = scope
        var fetch = TraceEvent.Fetch()
        fetch.error = 5
        builder.event(.fetch(fetch), duration: 2000)
        builder.event(.use(TraceEvent.Use()), duration: 10)
        builder.scope = 0
        builder.event(.save(TraceEvent.Save()), duration: 1000)
        let lines = try Self.export(builder.trace)
        let spans = try #require(lines.first)
        #expect(lines.count == 1 && spans.map { $0["name"] as? String } == ["fetch", "save", "list"])
        let traces = spans.map { $0["traceId"] as? String }
        #expect(traces[0] == traces[2] && traces[0] != traces[1])
        #expect(spans[0]["parentSpanId"] as? String == spans[2]["spanId"] as? String)
        #expect(spans[1]["parentSpanId"] == nil && spans[2]["parentSpanId"] == nil)
        let status = try #require(spans[0]["status"] as? [String: Any])
        #expect(status["code"] as? Int == 2 && status["message"] as? String == "SQLite's result code is 5.")
        #expect(spans[1]["status"] == nil)
        // Without a date, times count from the beginning of the trace.
        #expect(spans[0]["startTimeUnixNano"] as? String == "1000" && spans[0]["endTimeUnixNano"] as? String == "3000")
        #expect(spans[2]["startTimeUnixNano"] as? String == "1000")
    }

    @Test func `A scope has the name that it has at its end, in spans and on the page`() throws {
        var builder = TraceBuilder()
        let names = ["request", "views.list"].map { builder.define(.name(NameEntry(name: $0))) }
        builder.scoped(names[0], .request, endingAs: names[1]) { $0.now += 5000 }
        #expect(try Self.export(builder.trace).first?.map { $0["name"] as? String } == ["views.list"])
        var page = PageEvents(Analysis(Profile(builder.trace)), limit: 10)
        for message in builder.trace { page.add(message) }
        page.finish()
        #expect(page.rows.map { page.tables.strings.values[$0.label] } == ["views.list"])
    }

    @Test(arguments: [
        (
            "SELECT a, (SELECT count(*) FROM tag) FROM main.book b JOIN author ON 1",
            "SELECT SELECT tag main.book author"
        ),
        ("WITH x AS (SELECT 1 FROM a) SELECT replace(b, 'SELECT', '') FROM x", "SELECT a SELECT x"),
        ("INSERT OR REPLACE INTO item(a) SELECT a FROM old ON CONFLICT DO UPDATE SET a = 1", "INSERT item SELECT old"),
        ("UPDATE OR FAIL \"my item\" SET a = ?", "UPDATE my item"), ("DELETE FROM item", "DELETE item"),
        ("CREATE TEMP TABLE IF NOT EXISTS t(a)", "CREATE TABLE t"), ("BEGIN EXCLUSIVE", "BEGIN"),
        ("pragma journal_mode=wal", "PRAGMA journal_mode"), ("", ""),
    ])
    func `A statement's summary has its operations and their tables`(sql: String, summary: String) {
        #expect(QuerySummary.text(of: sql) == summary)
    }

    @Test func `Only statements that read return rows, and a span is named by its summary`() throws {
        var builder = TraceBuilder()
        for (sql, type) in [
            ("SELECT a FROM item", TraceEvent.Statement.StatementType.read), ("DELETE FROM item", .write),
        ] {
            var statement = TraceEvent.Statement()
            (statement.statement, statement.type) = (builder.define(.statement(StatementEntry(sql: sql))), type)
            statement.rows = 3
            builder.event(.sql(statement), duration: 10)
        }
        let spans = try #require(try Self.export(builder.trace).first)
        #expect(spans.map { $0["name"] as? String } == ["SELECT item", "DELETE item"])
        let keys = spans.map { Set(($0["attributes"] as? [[String: Any]] ?? []).compactMap { $0["key"] as? String }) }
        #expect(keys.map { $0.contains("db.response.returned_rows") } == [true, false])
        #expect(keys.allSatisfy { $0.contains("db.query.summary") && !$0.contains("db.operation.name") })
        #expect(keys[1].contains("faultline.rows"))
    }

    @Test func `A line has spans of one process, and not too many`() throws {
        var messages: [TraceMessage] = []
        for process: UInt32 in [7, 8] {
            messages.append(
                .began(ProcessBegan(process: process, program: "/bin/p", start: 500, date: 1_795_596_427.665_209)))
        }
        for index: UInt64 in 1...1501 {
            let process: UInt32 = index <= 1500 ? 7 : 8
            messages.append(
                .event(
                    TraceEvent(
                        id: index, start: 600, duration: 1, thread: 7, process: process,
                        .save(TraceEvent.Save()))))
        }
        let lines = try Self.export(messages)
        #expect(lines.map(\.count) == [1000, 500, 1])
        #expect(lines[0][0]["startTimeUnixNano"] as? String == "1795596427665209100")
        // The same number in another process is another span, of another trace.
        let keys = Set(lines.joined().compactMap { $0["spanId"] as? String })
        #expect(keys.count == 1501 && lines[0][0]["traceId"] as? String != lines[2][0]["traceId"] as? String)
    }

    @Test func `Damaged numbers and missing names are exported, too`() throws {
        let events: [TraceEvent] = EventKind.allCases.map { kind in
            var event = TraceEvent.filled(kind).event
            (event.start, event.duration, event.process) = (.max - 1, .max, 9)
            return event
        }
        for format in TraceExporters.all {
            let bytes = CallPathExportTests.export(format, events.map { .event($0) })
            #expect(!bytes.isEmpty || format.name == "folded", "\(format.name)")
        }
    }
}
