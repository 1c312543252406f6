import Foundation
import Testing

/// Tests what a log's lines suffice to find, and what they do not.
@Suite("Findings in a log")
struct LogFindingTests {
    private func fetch(
        _ sql: String, value: String? = nil, time: String, rows: Int, plan: String? = nil
    ) -> [String] {
        var lines = ["CoreData: sql: \(sql)"]
        if let value { lines.append("CoreData: details: SQLite bind[0] = \(value)") }
        lines += [
            "CoreData: annotation: sql connection fetch time: \(time)s",
            "CoreData: annotation: total fetch execution time: \(time)s for \(rows) rows.",
        ]
        if let plan { lines += ["CoreData: details: SQLite: EXPLAIN QUERY PLAN \(sql)", plan] }
        return lines
    }

    private func report(_ lines: [String]) throws -> (report: ReportDocument, text: String) {
        let log = try TemporaryDirectory().path("app.log")
        try (lines.joined(separator: "\n") + "\n").write(toFile: log, atomically: false, encoding: .utf8)
        let text = try BuiltCommand.run(["report", "--all", log])
        #expect(text.status == 0)
        return (try ReportDocument(of: log), text.output)
    }

    private func titles(_ rule: String, _ lines: [String]) throws -> [String] {
        try report(lines).report.findings.filter { $0.rule == rule }.map(\.title)
    }

    private static let person = "SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZEMAIL, t0.ZNAME FROM ZPERSON t0 WHERE  t0.ZEMAIL = ? "

    @Test("A plan that scans, with long times for few rows, is a missing index")
    func scan() throws {
        let scans = { (time: String, rows: Int) in
            (0..<30).flatMap {
                self.fetch(Self.person, value: "\"\($0)\"", time: time, rows: rows, plan: "2 0 0 SCAN t0")
            }
        }
        #expect(try titles("R06", scans("0.2860", 1)) == ["Index Person by ZEMAIL"])
        // Fast scans may be of a small table, and many rows take time.
        #expect(try titles("R06", scans("0.0010", 1)) == [])
        #expect(try titles("R06", scans("0.0500", 40000)) == [])
    }

    @Test("A plan that searches by a column other than the selective one is a missing index")
    func otherIndex() throws {
        let sql =
            "SELECT t0.Z_ENT, t0.Z_PK, t0.Z_OPT, t0.ZCODE FROM ZITEM t0 WHERE ( t0.ZCODE = ? AND  t0.Z_ENT = ?) "
        let search = { (columns: String) in
            self.fetch(
                sql, value: "7", time: "0.1880", rows: 1, plan: "4 0 0 SEARCH t0 USING INDEX ZITEM_INDEX (\(columns))")
        }
        let (report, text) = try report(search("Z_ENT=?"))
        #expect(report.findings.filter { $0.rule == "R06" }.map(\.title) == ["Index Item by ZCODE"])
        let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains("SEARCH t0 USING INDEX ZITEM_INDEX (Z_ENT=?)"))
        // A search by the selective column cannot be improved.
        #expect(try titles("R06", search("ZCODE=?")) == [])
    }

    @Test("One long fetch of few rows is reported, with the level that logs its plan")
    func longFetch() throws {
        let sql = "SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZTITLE FROM ZBOOK t0 WHERE  t0.ZYEAR > ? ORDER BY t0.ZTITLE"
        let (report, text) = try report(fetch(sql, time: "5.2000", rows: 40))
        #expect(report.findings.map(\.title) == ["Find out why the fetch of Book takes 5.20 s for 40 rows"])
        #expect(text.contains("-com.apple.CoreData.SQLDebug 4") && text.contains("index Book by ZYEAR"))
        #expect(try self.report(fetch(sql, time: "0.0100", rows: 40)).report.findings.isEmpty)
    }

    @Test("A text search without counts gets no claims about other terms")
    func search() throws {
        let sql = "SELECT 0, t0.Z_PK, t0.Z_OPT FROM ZBOOK t0 WHERE  NSCoreDataStringSearch( t0.ZTITLE, ?, 129, 0) "
        for values in [["\"a\"", "\"b\""], [nil, nil]] {
            let (report, text) = try report(values.flatMap { fetch(sql, value: $0, time: "0.5000", rows: 3) })
            #expect(report.findings.map(\.rule) == ["R08"])
            #expect(report.findings.first?.severity != "note")
            #expect(!text.contains("Another term") && !text.contains("examined about"))
        }
        #expect(try titles("R08", fetch(sql, value: "\"a\"", time: "0.0010", rows: 3)) == [])
    }

    @Test("Sixty counts in a loop are one grouped count", arguments: [true, false])
    func grouped(_ isApple: Bool) throws {
        let sql = "SELECT COUNT(*) FROM ZMESSAGE t0 WHERE ( t0.ZCHANNEL = ? AND  t0.ZISREAD = ?) "
        let lines = (1...60).flatMap { key -> [String] in
            let object = "0x00\(key) <x-coredata://A/Channel/p\(key)>"
            // Only logs of this package contain row cache hits.
            let hit = isApple ? [] : ["CoreData: annotation: fault fulfilled from row cache for : \(object)"]
            return hit + [
                "CoreData: sql: \(sql)", "CoreData: details: SQLite bind[0] = \(isApple ? "(int64)" : "")\(key)",
                "CoreData: details: SQLite bind[1] = \(isApple ? "(int64)" : "")0",
                "CoreData: annotation: total count request execution time: 0.0002s for count of 20.",
            ]
        }
        let (report, text) = try report(lines)
        let finding = try #require(report.findings.first { $0.rule == "R04" })
        #expect(finding.title == "Count Message for all values of ZCHANNEL at once, in one grouped fetch")
        #expect(finding.severity != "note")
        #expect(!text.contains("could not be read"))
    }

    @Test("An N+1 names the fetch that returned its objects")
    func origin() throws {
        var lines =
            fetch("SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZTITLE, t0.ZAUTHOR FROM ZBOOK t0", time: "0.0020", rows: 100)
            + fetch("SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZLABEL FROM ZTAG t0", time: "0.0002", rows: 12)
        for key in 1...100 {
            lines +=
                fetch("SELECT 0, t0.Z_PK, t0.ZNAME FROM ZAUTHOR t0 WHERE  t0.Z_PK = ? ", time: "0.0006", rows: 1)
                + ["CoreData: annotation: fault fulfilled from database for : 0xd0 <x-coredata://A/Author/p\(key)>"]
        }
        let (report, text) = try report(lines)
        #expect(
            report.findings.filter { $0.rule == "R01" }.map(\.title)
                == ["Prefetch the relationship to Author with the fetch of Book"])
        #expect(text.contains("100 loaded rows") && !text.contains("12 loaded rows"))
    }

    @Test("A rule whose data a log lacks is not applicable, rather than without findings")
    func notApplicable() throws {
        let quick = fetch(Self.person, time: "0.0001", rows: 1)
        let level1 = try report(quick).text
        #expect(level1.contains("Not applicable, because the trace lacks what they need: "))
        let words = level1.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains("R06, R19, R22 (query plans, which -com.apple.CoreData.SQLDebug 4 logs)"))
        #expect(words.contains("R18, R29 (bound values, which -com.apple.CoreData.SQLDebug 2 logs)"))
        #expect(words.contains("(use of results)"))
        for rule in ["R02", "R06", "R18", "R22"] {
            #expect(!level1.contains("\(rule) ") || !words.contains("Nothing found: \(rule)"))
        }
        let level4 = try report(fetch(Self.person, value: "1", time: "0.0001", rows: 1, plan: "2 0 0 SCAN t0")).text
        #expect(!level4.contains("(query plans") && !level4.contains("(bound values"))
    }

    @Test("Figures that a log lacks are not shown as zero")
    func unrecorded() throws {
        let text = try report([
            "CoreData: sql: BEGIN EXCLUSIVE", "CoreData: sql: INSERT INTO ZBOOK(Z_PK) VALUES(?)",
            "CoreData: sql: COMMIT",
            "CoreData: sql: SELECT 0, t0.Z_PK, t0.Z_OPT FROM ZBOOK t0",
        ]).text
        let lines = text.split(separator: "\n").map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
        #expect(lines.contains("save Book 1 – – 1 – –") && lines.contains("fetch Book 1 – – – – –"))
        #expect(lines.contains { $0.hasPrefix("save 1 1 3 – –") } && lines.contains { $0.hasPrefix("fetch 1 – 1 – –") })
    }

    @Test("Lines that could not be parsed are reported")
    func notUnderstood() throws {
        let log = try TemporaryDirectory().path("app.log")
        let lines =
            fetch(Self.person, time: "0.0001", rows: 1) + ["CoreData: annotation: sql connection fetch time: soon"]
        try lines.joined(separator: "\n").write(toFile: log, atomically: false, encoding: .utf8)
        let result = try BuiltCommand.run(["report", "--all", log])
        #expect(
            result.errors
                == """
                faultline: 1 line looks like part of the log but could not be parsed, the first in line 4: "annotation: sql \
                connection fetch time: soon".

                """)
        #expect(result.output.contains("1 damaged part of the trace could not be read"))
    }
}
