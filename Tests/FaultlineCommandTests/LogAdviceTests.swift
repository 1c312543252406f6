import FaultlineFindings
import FaultlineProfile
import FaultlineReader
import FaultlineReport
import FaultlineTrace
import Foundation
import TestFolders
import Testing

@testable import FaultlineRules

/// What the lines of a log suffice to find.
@Suite("Advice from logs")
struct LogAdviceTests {
    private func analysis(_ lines: [String]) throws -> Analysis {
        let file = TestFolder.file("log")
        defer { try? FileManager.default.removeItem(at: file) }
        try (lines.joined(separator: "\n") + "\n").write(to: file, atomically: false, encoding: .utf8)
        var builder = ProfileBuilder()
        try TraceReader(path: file.path).read { builder.add($0) }
        return Analysis(builder.finish())
    }

    private func text(_ analysis: Analysis) -> String {
        TextReport(analysis).render(width: 100, colour: false)
    }

    // MARK: - Counts

    private func counts(_ number: Int, time: String = "0.0100", _ predicate: String = "t0.ZEVENT = ?") -> [String] {
        (0..<number).flatMap {
            [
                "CoreData: sql: SELECT COUNT(*) FROM ZTICKET t0 WHERE  \(predicate) ",
                "CoreData: annotation: total count request execution time: \(time)s for count of \($0 % 5).",
            ]
        }
    }

    @Test("Counts in a loop are found without their values", arguments: ["0.0100", "0.0010"])
    func countLoop(_ time: String) throws {
        let found = try analysis(counts(60, time: time)).findings
        #expect(found.map(\.rule) == ["R04"] && found.first?.severity == .warning)
        #expect(found.first?.title.text.hasPrefix("Count ") == true)
        #expect(found.first?.title.text.hasSuffix(" at once, in one grouped fetch") == true)
        #expect(found.first?.explanation.first?.text.contains("if they are the same, ask once") == true)
        #expect(found.first?.saving.trips == 59)
        #expect(try analysis(counts(4, time: time)).findings.isEmpty)
        // Counts without a condition are not of different values.
        #expect(try analysis(counts(60, time: time, "t0.ZOPEN IS NOT NULL")).findings.allSatisfy { $0.rule != "R04" })
        // If several values can differ, none is named.
        let two = try analysis(counts(60, time: time, "( t0.ZEVENT = ? AND  t0.ZSEAT = ?)")).findings
        #expect(two.first?.title.text.contains("for all values at once") == true)
    }

    // MARK: - Batches

    private func batches(_ number: Int, of size: Int, rows: Int, seconds: Double? = nil) -> [String] {
        var lines: [String] = []
        var now = 0.0
        func add(_ text: String, after time: Double = 0) {
            now += time
            let stamp = seconds.map { _ in
                String(
                    format: "2022-11-05 10:%02d:%06.3f App[1:2] ", Int(now) / 60,
                    now.truncatingRemainder(dividingBy: 60))
            }
            lines.append((stamp ?? "") + "CoreData: " + text)
        }
        add("sql: SELECT 0, t0.Z_PK FROM ZITEM t0 ORDER BY t0.ZNAME")
        add("annotation: total fetch execution time: 0.0030s for \(rows) rows.", after: 0.003)
        for _ in 0..<number {
            add("annotation: Bound intarray _Z_intarray0", after: seconds ?? 0)
            add(
                "sql: SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZNAME FROM ZITEM t0 WHERE  t0.Z_PK IN (SELECT * FROM _Z_intarray0)  LIMIT \(size)"
            )
            add("annotation: total fetch execution time: 0.0009s for \(size) rows.", after: 0.0009)
        }
        return lines
    }

    @Test("Batches that follow one another are too small")
    func smallBatches() throws {
        let finding = try #require(try analysis(batches(160, of: 5, rows: 800)).findings.first)
        #expect(finding.rule == "R02" && finding.severity == .warning)
        #expect(finding.title.text.hasPrefix("Set the batch size of ") && finding.title.text.hasSuffix("(now 5)"))
        #expect(finding.code.first?.hasPrefix("request.fetchBatchSize = ") == true)
        #expect(
            finding.explanation.first?.text.hasPrefix("160 batches of 5 rows followed one another, for 800 of 800 rows")
                == true)
        #expect(!finding.alternatives.isEmpty && finding.saving.trips > 100)
        // With the times of a clock, nothing is left open.
        let timed = try #require(try analysis(batches(160, of: 5, rows: 800, seconds: 0.001)).findings.first)
        #expect(timed.rule == "R02" && timed.alternatives.isEmpty)
    }

    @Test("Batches of a scrolled list, few batches, and batches of a good size are not")
    func goodBatches() throws {
        #expect(try analysis(batches(160, of: 5, rows: 800, seconds: 0.5)).findings.allSatisfy { $0.rule != "R02" })
        #expect(try analysis(batches(9, of: 5, rows: 800)).findings.allSatisfy { $0.rule != "R02" })
        #expect(try analysis(batches(10, of: 200, rows: 2000)).findings.allSatisfy { $0.rule != "R02" })
    }

    // MARK: - Core Data's own tables

    @Test(
        "Advice about Core Data's own tables names the feature that reads them",
        arguments: [
            ("ACHANGE", "ZTRANSACTIONID", "Keep and fetch less persistent history", "deleteHistory(before:"),
            ("ANSCKRECORDMETADATA", "ZENTITYPK", "Give CloudKit fewer changes to mirror", "cloudKitContainerOptions"),
            ("Z_3TAGS", "Z_3ITEMS", "Prefetch \"tags\"", "relationshipKeyPathsForPrefetching = [\"tags\"]"),
        ])
    func ownTables(_ table: String, _ column: String, _ title: String, _ code: String) throws {
        let lines = (0..<200).flatMap { _ in
            [
                "CoreData: sql: SELECT 0, t0.Z_PK, t0.ZENTITY FROM \(table) t0 WHERE  t0.\(column) = ?",
                "CoreData: annotation: sql connection fetch time: 0.0030s",
                "CoreData: annotation: total fetch execution time: 0.0040s for 3 rows.",
            ]
        }
        let finding = try #require(try analysis(lines).findings.first)
        #expect(finding.title.text.hasPrefix(title) && finding.code.contains { $0.contains(code) })
        #expect(finding.severity <= .warning && finding.codeLanguage == "swift" && finding.remedy == nil)
        #expect(finding.confidence < .high && finding.saving.time.low == 0)
    }

    // MARK: - The API

    @Test("Advice about Core Data's logs is in Core Data's API")
    func api() throws {
        let select = "CoreData: sql: SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZNAME FROM ZUSER t0 WHERE "
        let total = "CoreData: annotation: total fetch execution time: 0.0045s for 1 rows."
        func fetches(_ predicate: String, _ binds: (Int) -> [String]) -> [String] {
            (0..<60).flatMap { key in
                [select + " \(predicate) "]
                    + binds(key).enumerated().map { "CoreData: details: SQLite bind[\($0)] = \($1)" }
                    + ["CoreData: annotation: sql connection fetch time: 0.0040s", total]
            }
        }
        let known = try analysis(fetches("( t0.ZREMOTEID = ? AND  t0.ZOPEN = ?)") { ["\"id-\($0)\"", "1"] }).findings
        let finding = try #require(known.first { $0.rule == "R04" })
        #expect(finding.title.text == "Fetch User for all values of ZREMOTEID at once, with IN")
        #expect(
            finding.code == [
                "// \"remoteid\": the property of the column ZREMOTEID, with its own capitals",
                "request.predicate = NSPredicate(format: \"remoteid IN %@ AND open == %@\", values, open)",
                "let found = try context.fetch(request)", "let groups = Dictionary(grouping: found) { $0.remoteid }",
            ])
        let faults = (1...60).flatMap { key in
            [
                "CoreData: sql: SELECT 0, t0.Z_PK, t0.ZNAME FROM ZAUTHOR t0 WHERE  t0.Z_PK = ? ", total,
                "CoreData: annotation: fault fulfilled from database for : 0xd0 <x-coredata://A/Author/p\(key)>",
            ]
        }
        let all = [
            known, try analysis(faults).findings, try analysis(counts(60)).findings,
            try analysis(fetches("t0.ZREMOTEID = ?") { _ in [] }).findings,
        ]
        for finding in all.joined() {
            let text = (finding.code + [finding.fix.text] + finding.alternatives.map(\.text)).joined(separator: "\n")
            for name in ["FetchPredicate", ".isIn(", "fetchDictionaries", "PropertyPath", "FetchResults"] {
                #expect(!text.contains(name), "\(text)")
            }
            for name in ["FetchRequest<", "ExpressionDescription("] {
                #expect(text.count(of: name) == text.count(of: "NS" + name), "\(text)")
            }
        }
        #expect(all.allSatisfy { !$0.isEmpty })
    }

    // MARK: - Long fetches

    @Test("A count of distinct rows over a join, and rows on a telephone, take their time")
    func longFetches() throws {
        let count = [
            "CoreData: sql: SELECT COUNT(DISTINCT t0.Z_PK) FROM ZWORD t0 JOIN ZCATEGORY t1 ON t0.ZCATEGORY = t1.Z_PK WHERE  t1.ZA = ?",
            "CoreData: details: SQLite bind[0] = \"s\"",
            "CoreData: annotation: total count request execution time: 0.0254s for count of 18988.",
        ]
        #expect(try analysis(count).findings.isEmpty)
        func fetch(_ time: String, rows: Int) -> [String] {
            [
                "CoreData: sql: SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZA FROM ZITEM t0 WHERE  t0.ZA > ? ",
                "CoreData: annotation: sql connection fetch time: \(time)s",
                "CoreData: annotation: total fetch execution time: \(time)s for \(rows) rows.",
            ]
        }
        #expect(try analysis(fetch("0.0310", rows: 2000)).findings.allSatisfy { $0.rule != "R06" })
        let long = try analysis(fetch("0.9000", rows: 20)).findings
        #expect(long.map(\.title.text) == ["Find out why the fetch of Item takes 900 ms for 20 rows"])
    }

    // MARK: - Unknown times

    @Test("Saves without times have none in their finding")
    func untimedSaves() throws {
        let save = [
            "CoreData: sql: BEGIN EXCLUSIVE", "CoreData: sql: INSERT INTO ZITEM(Z_PK, Z_ENT, Z_OPT) VALUES(?, ?, ?)",
            "CoreData: sql: COMMIT",
        ]
        let analysis = try analysis((0..<30).flatMap { _ in save })
        let finding = try #require(analysis.findings.first { $0.rule == "R10" })
        #expect(
            finding.explanation.map(\.text) == [
                "30 saves followed one another, with one object each. The trace does not show how long they took."
            ])
        #expect(!finding.evidence.contains { $0.name == "saveTime" || $0.name == "commit" })
        let report = text(analysis)
        #expect(!report.contains("0 ns"), "\(report)")
        let timed = try self.analysis(
            (0..<30).flatMap { _ in save.prefix(2) + ["CoreData: annotation: sql execution time: 0.0020s", save[2]] })
        let other = try #require(timed.findings.first { $0.rule == "R10" })
        #expect(
            other.explanation.map(\.text) == ["30 saves followed one another, with one object each: 60.0 ms in all."])
    }

    @Test("Statements without times have no total, and loops no time between them")
    func untimedStatements() throws {
        let prefix = "INFO:sqlalchemy.engine.Engine:"
        let lines = (0..<30).flatMap {
            [
                prefix + "SELECT artist.id, artist.name FROM artist WHERE artist.id = ?",
                prefix + "[generated in 0.1s] (\($0),)",
            ]
        }
        let analysis = try analysis(lines)
        let finding = try #require(analysis.findings.first)
        #expect(finding.title.text == "Read artist with one statement instead of 30")
        #expect(finding.alternatives.first?.text.contains("options(selectinload(….artist))") == true)
        let report = text(analysis)
        #expect(!report.contains("0 ns") && report.contains("the trace has no durations"), "\(report)")
    }

    @Test("A migration that failed has no time")
    func failedMigration() throws {
        let error =
            "CoreData: error: -addPersistentStoreWithType:SQLite URL:a returned error Error Domain=NSCocoaErrorDomain"
        let report = text(try analysis([error + " Code=134130 \"x\""]))
        #expect(
            report.contains("Migrations\n  in place, as inferred; it failed\n") && !report.contains("0 ns"), "\(report)"
        )
    }

    @Test("A long batch update is shown with its statement")
    func batchUpdate() throws {
        let analysis = try analysis([
            "CoreData: sql: BEGIN EXCLUSIVE", "CoreData: sql: UPDATE OR FAIL ZITEM SET ZREAD = ?  WHERE  ZREAD = ? ",
            "CoreData: annotation: sql execution time: 4.8000s", "CoreData: sql: COMMIT",
        ])
        let work = try #require(analysis.unexplained.first)
        #expect(work.group.key.kind == .save && work.group.totalTime == 4_800_000_000)
        #expect(
            work.explanation.contains {
                $0.text.hasPrefix("UPDATE OR FAIL ZITEM SET ZREAD = ?") && $0.text.hasSuffix("took 4.80 s of that.")
            })
    }

    @Test("A log's other statements have no time if it does not have it")
    func otherStatements() throws {
        let analysis = try analysis([
            "CoreData: sql: SELECT 0, t0.Z_PK, t0.Z_OPT FROM ZITEM t0",
            "CoreData: annotation: total fetch execution time: 0.0030s for 8 rows.", "CoreData: sql: pragma page_count",
        ])
        let grouped = GroupedHotspots(analysis.profile, by: .entity)
        let text = TextReport(analysis, grouped: grouped).render(width: 100, colour: false)
        let own = TextReport(analysis).render(width: 100, colour: false)
        #expect(!own.contains("0 ns") && !text.contains("0 ns"), "\(own)")
        let row = text.split(separator: "\n").first { $0.contains("other statements") }
        #expect(row?.split(whereSeparator: \.isWhitespace).suffix(6) == ["1", "–", "–", "–", "–", "–"], "\(text)")
    }

    // MARK: - Other logs

    @Test("A loop of Django's is one, although lines are late, and durations below a millisecond are not 0")
    func django() throws {
        var milliseconds = 0
        let lines = (0..<200).map { key in
            milliseconds += key % 14 == 13 ? 35 : 2
            let stamp = String(format: "2026-11-24 20:19:%02d,%03d", milliseconds / 1000, milliseconds % 1000)
            let sql =
                "SELECT \"shop_author\".\"id\" FROM \"shop_author\" WHERE \"shop_author\".\"id\" = \(key) LIMIT 21"
            return "DEBUG \(stamp) utils 12 140243123456789 (0.000) \(sql); args=(\(key),); alias=default"
        }
        for lines in [lines, lines.map { String($0.drop { $0 != "(" }) }] {
            let analysis = try analysis(lines)
            let finding = try #require(analysis.findings.first)
            #expect(finding.title.text == "Read shop_author with one statement instead of 200")
            #expect(finding.severity == .warning && finding.saving.trips == 199)
            #expect(finding.alternatives.first?.text.contains("select_related(\"author\")") == true)
            #expect(!text(analysis).contains("0 ns"), "\(text(analysis))")
        }
    }

    @Test("A loop in a request of Rails is a warning at its line")
    func rails() throws {
        var lines = [
            "Started GET \"/posts\" for ::1 at 2026-10-30 18:05:37 +0530",
            "  Post Load (0.9ms)  SELECT \"posts\".* FROM \"posts\"", "  ↳ app/views/posts/index.html.erb:3",
        ]
        for key in 1...30 {
            lines.append(
                "  User Load (0.4ms)  SELECT \"users\".* FROM \"users\" WHERE \"users\".\"id\" = ? LIMIT ?  [[\"id\", \(key)], [\"LIMIT\", 1]]"
            )
            lines.append("  ↳ app/views/posts/_post.html.erb:7:in 'block in _post'")
        }
        let finding = try #require(try analysis(lines + ["Completed 200 OK in 19ms"]).findings.first)
        #expect(finding.rule == "R27" && finding.severity == .warning)
        #expect(finding.change?.description == "_post.html.erb:7" && finding.scopes == ["GET /posts"])
        #expect(finding.alternatives.first?.text.contains("includes(:user)") == true)
    }
}

extension String {
    fileprivate func count(of part: String) -> Int { components(separatedBy: part).count - 1 }
}
