import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineFindings
@testable import FaultlineProfile
@testable import FaultlineRules

@Suite("R21: repeated preparation")
struct PreparationRuleTests {
    private func findings(
        times: Int = 20, prepared: Int? = nil, share: Double = 0.6, texts: Int = 1, duration: UInt64 = 200_000
    ) -> [Finding] {
        var music = Music()
        let shape = music.shape("title == ?", [.init(keyPath: "title", operation: "==")])
        let statements = (0..<texts).map { number in
            music.trace.define(.statement(StatementEntry(sql: "SELECT … LIMIT \(number)")))
        }
        for number in 0..<times {
            let isFresh = number < prepared ?? times
            let fetch = music.fetch(shape, rows: 1, duration: duration) {
                $0.prepare = isFresh ? UInt64(share * Double(duration)) : 0
            }
            var sql = TraceEvent.Statement()
            (sql.statement, sql.preparations) = (statements[number % texts], isFresh ? 1 : 0)
            music.trace.event(.sql(sql), duration: 1000, parent: fetch, advancing: false)
        }
        return Analysis(Profile(music.trace.closed()), rules: [PreparationRule()]).findings
    }

    @Test func `A statement that is prepared for every fetch is reported`() throws {
        let finding = try #require(findings().first)
        #expect(finding.rule == "R21" && finding.severity == .warning)
        #expect(finding.title.text == "Keep the statement of the fetch of Track prepared")
        #expect(finding.explanation.map(\.text) == ["20 preparations for 20 fetches took 2.40 ms of 4.00 ms."])
        #expect(abs(finding.saving.time.median - 2_400_000 * 19 / 20) < 1)
    }

    @Test func `R21 advises one text for statements that differ in a number`() throws {
        let finding = try #require(findings(texts: 5).first)
        #expect(finding.title.text == "Use one statement text for all values of the fetch of Track")
        #expect(
            finding.explanation.map(\.text) == ["20 preparations for 20 fetches with 5 texts took 2.40 ms of 4.00 ms."])
        let many = try #require(findings(times: 100, texts: 100).first)
        #expect(many.explanation.map(\.text)[0].contains("with at least 16 texts"))
    }

    @Test func `Rare and quick preparations are not reported`() {
        #expect(findings(times: 9).isEmpty)
        #expect(findings(times: 10).count == 1)
        #expect(findings(times: 40, prepared: 19, share: 1).isEmpty)
        #expect(findings(times: 40, prepared: 20, share: 1).count == 1)
        #expect(findings(share: 0.49).isEmpty)
    }
}

@Suite("R21: repeated preparation of statements")
struct StatementPreparationTests {
    private func findings(
        runs: Int = 40, prepared: Int? = nil, preparing: UInt64 = 8000, usesStore: Bool = false,
        type: TraceEvent.Statement.StatementType = .read, slowest: (preparation: UInt64, run: UInt64)? = nil,
        sql: String = "SELECT name FROM author WHERE id = ?"
    ) throws -> [Finding] {
        var trace = TraceBuilder()
        var statement = TraceEvent.Statement()
        statement.statement = trace.define(.statement(StatementEntry(sql: sql)))
        (statement.type, statement.rows) = (type, 1)
        let stack = trace.stack(12)
        for number in 0..<runs {
            let isFresh = number < prepared ?? runs
            (statement.preparations, statement.prepare) = (isFresh ? 1 : 0, isFresh ? preparing : 0)
            if number == 7, let slowest { statement.prepare = slowest.preparation }
            trace.event(.sql(statement), duration: number == 7 ? slowest?.run ?? 2000 : 2000, stack: stack)
        }
        let messages = trace.closed().map { message in
            guard case .began(var began) = message, !usesStore else { return message }
            began.gaps = [TraceGap(.operations)]
            return TraceMessage.began(began)
        }
        let profile = Profile(messages)
        let stored = try Profile(fileData: profile.fileData())
        let found = Analysis(profile, rules: [PreparationRule()]).findings
        #expect(Analysis(stored, rules: [PreparationRule()]).findings == found)
        return found
    }

    @Test func `A statement that is prepared for each run is reported at its line`() throws {
        let finding = try #require(findings().first)
        #expect(finding.rule == "R21" && finding.change?.description == "Scroll.swift:12")
        #expect(finding.title.text == "Keep this statement prepared, and bind other values to it")
        #expect(
            finding.explanation.map(\.text) == [
                "40 preparations for 40 runs of SELECT name FROM author WHERE id = ? took 320 µs, and the runs 80.0 µs."
            ])
        #expect(abs(finding.saving.time.median - 320_000 * 39 / 40) < 1)
    }

    @Test func `A list in the text is bound as one value`() throws {
        let finding = try #require(findings(sql: "SELECT size FROM chunk WHERE id IN (…)").first)
        #expect(finding.code.joined().contains("IN (SELECT value FROM json_each(?))"))
        #expect(try findings().first?.code == [])
    }

    /// A program that opens 40 connections, each for three statements.
    private func connections(prepare: UInt64, pause: UInt64) -> [TraceMessage] {
        var trace = TraceBuilder()
        let pragma = trace.define(.statement(StatementEntry(sql: "PRAGMA foreign_keys = ON")))
        let texts = ["author", "book", "shelf"].map { table in
            trace.define(.statement(StatementEntry(sql: "SELECT name FROM \(table) WHERE id = ?")))
        }
        let stacks = [12, 14, 16].map { trace.stack($0) }
        var statement = TraceEvent.Statement()
        for _ in 0..<40 {
            (statement.statement, statement.type, statement.preparations) = (pragma, .schema, 1)
            trace.event(.sql(statement), duration: 1000, stack: stacks[0])
            for (text, stack) in zip(texts, stacks) {
                (statement.statement, statement.type, statement.prepare) = (text, .read, prepare)
                trace.event(.sql(statement), duration: 2000, stack: stack)
            }
            trace.now += pause
        }
        return trace.closed().map { message in
            guard case .began(var began) = message else { return message }
            began.gaps = [TraceGap(.operations)]
            return TraceMessage.began(began)
        }
    }

    @Test func `Connections for a few statements each are a finding although preparing takes little`() throws {
        let messages = connections(prepare: 1000, pause: 2_000_000)
        let findings = Analysis(Profile(messages), rules: [PreparationRule(), StatementLoopRule()]).findings
        let finding = try #require(findings.first { $0.rule == "R21" })
        #expect(finding.title.text == "Keep connections open instead of opening 40 connections")
        // Each of the four statements has an equal share in the time between, and three of them read.
        #expect(finding.severity > .note && finding.saving.time.high > 39 * 1_500_000)
        #expect(finding.saving.time.low < 1_000_000)
        // The time between the runs that one finding saves is not saved by another.
        let saved = findings.reduce(0) { $0 + $1.saving.time.median }
        #expect(saved <= 41 * 2_000_000)
    }

    @Test func `Statements that each connection prepares anew are one finding`() throws {
        let messages = connections(prepare: 1_000_000, pause: 0)
        let found = Analysis(Profile(messages), rules: [PreparationRule()]).findings
        let finding = try #require(found.first)
        #expect(found.count == 1 && finding.seenAt.count == 3 && finding.severity == .warning)
        #expect(finding.title.text == "Keep connections open instead of opening 40 connections")
        #expect(finding.fix.text == "Open a connection for each thread once, and keep it.")
        #expect(
            finding.explanation.map(\.text) == [
                """
                40 connections for 120 runs of 3 statements: each of them read the schema and prepared its statements again, in 120 ms.
                """
            ])
        #expect(abs(finding.saving.time.median - 117_000_000) < 1)
    }

    /// Under load, a thread that prepared a statement waited 4 ms for a CPU, which R21 reported as a flaw.
    @Test func `One slow run or preparation does not decide`() throws {
        #expect(try findings(preparing: 200, slowest: (4_000_000, 2000)).isEmpty)
        let found = try findings(slowest: (8000, 20_000_000))
        #expect(found.count == 1)
        #expect(try found.first?.saving.time == findings().first?.saving.time)
    }

    @Test func `Rare and quick preparations, and those of a store, are not reported`() throws {
        #expect(try findings(runs: 9).isEmpty)
        #expect(try findings(prepared: 19).isEmpty)
        #expect(try findings(prepared: 20).count == 1)
        // The runs take 2 µs each, and all of the time.
        #expect(try findings(preparing: 200).isEmpty)
        #expect(try findings(preparing: 600).count == 1)
        #expect(try findings(usesStore: true).isEmpty)
        #expect(try findings(type: .transaction).isEmpty)
    }
}

@Suite("R22: changing plans")
struct PlanRuleTests {
    private func trace(
        _ runs: [(plan: String, steps: UInt64)], process: UInt32 = 7, expectedRows: Int? = nil
    ) -> [TraceMessage] {
        var music = Music(process: process)
        let shape = music.shape("album == ?", [.init(keyPath: "album", operation: "==", operand: "object")])
        let text = music.trace.define(.statement(StatementEntry(sql: "SELECT …")))
        for run in runs {
            let plan = music.trace.define(
                .plan(PlanEntry(rows: [.init(id: 1, parent: 0, detail: run.plan, expectedRows: expectedRows)])))
            let fetch = music.fetch(shape, rows: 3, duration: 10_000 + run.steps * 10)
            var sql = TraceEvent.Statement()
            (sql.statement, sql.plan, sql.virtualMachineSteps) = (text, plan, run.steps)
            music.trace.event(.sql(sql), duration: run.steps * 10, parent: fetch, advancing: false)
        }
        return music.trace.closed()
    }

    private let index = "SEARCH t0 USING INDEX ZTRACK_ZALBUM (ZALBUM=?)"

    @Test func `A statement with two plans is reported, with the cost of each`() throws {
        let profile = Profile(trace([(index, 100), (index, 100), ("SCAN t0", 50_000)]))
        let finding = try #require(Analysis(profile, rules: [PlanRule()]).findings.first)
        #expect(finding.rule == "R22" && finding.severity == .warning)
        #expect(finding.title.text == "Run ANALYZE: SQLite has 2 plans for the fetch of Track")
        #expect(
            finding.explanation.map(\.text) == [
                "\(index): 2 runs, 100 steps and 1.00 µs each.", "SCAN t0: 1 run, 50,000 steps and 500 µs each.",
            ])
        #expect(finding.saving.time.high == 499_000)
    }

    @Test func `Plans of merged traces are compared, in any order`() throws {
        let parts = [trace([(index, 100)]), trace([("SCAN t0", 900)], process: 8)].map { Profile($0) }
        let sums = [parts, parts.reversed()].map { Profile(sum: $0) }
        let findings = sums.map { Analysis($0, rules: [PlanRule()]).findings }
        #expect(findings[0] == findings[1])
        // Nine times the steps are not enough for a warning.
        #expect(findings[0].map(\.severity) == [.note])
    }

    @Test func `A statement with one plan is not reported`() {
        #expect(Analysis(Profile(trace([(index, 1), (index, 9000)])), rules: [PlanRule()]).findings.isEmpty)
    }

    /// Findings for fetches of tracks whose plan has the rows that SQLite expects and the indexes of the table.
    private func expecting(
        _ detail: String, _ expected: Int?, rows: UInt32, fullScanSteps: UInt32 = 0, isLimited: Bool = false,
        operation: String = "==", indexes: [String] = [], resultType: String = "objects", times: Int = 5,
        change: (inout PlanEntry) -> Void = { _ in }
    ) -> [Finding] {
        var music = Music()
        let shape = music.shape(
            "title == ?", [.init(keyPath: "title", operation: operation)], resultType: resultType)
        let text = music.trace.define(.statement(StatementEntry(sql: "SELECT …")))
        var plan = PlanEntry(rows: [
            .init(id: 1, parent: 0, detail: detail, expectedRows: expected, indexes: indexes)
        ])
        change(&plan)
        let planID = music.trace.define(.plan(plan))
        for _ in 0..<times {
            let fetch = music.fetch(shape, rows: rows, duration: 200_000) { $0.limit = isLimited ? 10 : 0 }
            var sql = TraceEvent.Statement()
            (sql.statement, sql.plan, sql.fullScanSteps, sql.rows) = (text, planID, fullScanSteps, rows)
            music.trace.event(.sql(sql), duration: 100_000, parent: fetch, advancing: false)
        }
        return Analysis(Profile(music.trace.closed()), rules: [PlanRule(), MissingIndexRule()]).findings
    }

    @Test func `R22 advises ANALYZE, not an index, for a table that SQLite expects to be small`() throws {
        let findings = expecting("SCAN t0", 20, rows: 2, fullScanSteps: 1999, indexes: ["ZALBUM", "ZTITLE"])
        #expect(findings.map(\.rule) == ["R22"])
        let finding = try #require(findings.first)
        #expect(
            finding.title.text
                == "Run ANALYZE: SQLite expects 20 rows in the table of Track, which has 2,000 rows")
        #expect(finding.severity == .warning && finding.confidence.level == .low)
        #expect(
            finding.explanation.map(\.text) == [
                "SQLite chooses the plans of 5 fetches by statistics that ANALYZE gathered when the table was "
                    + "different.",
                "5 fetches scanned the whole table, because scanning a small one is faster than searching its index; "
                    + "one of its indexes serves the search.",
            ])
        // Two of 2,000 rows are returned and sought, which takes 7 and 6 times as long as stepping over one.
        #expect(abs(finding.saving.time.high - 5 * 200_000 / (2000 + 7 * 2) * (2000 - 2 - 6 * 2)) < 1)
        #expect(finding.saving.time.median == finding.saving.time.high / 2 && finding.saving.time.low == 0)
        #expect(finding.remedy.map { if case .analyze(let fetches) = $0 { fetches.count } else { 0 } } == 1)
    }

    @Test func `R06 advises a missing index, however many rows SQLite expects`() throws {
        let findings = expecting("SCAN t0", 20, rows: 2, fullScanSteps: 1999, indexes: ["ZALBUM", "ZALBUM,ZTITLE"])
        #expect(findings.map(\.rule) == ["R06", "R22"] && findings.map(\.severity) == [.warning, .note])
        #expect(findings[1].saving.time == .none)
        #expect(findings[1].reservations.map(\.text) == ["Whether SQLite would choose another plan is unknown."])
    }

    @Test func `R22 advises ANALYZE if SQLite does not use an existing index`() throws {
        let findings = expecting("SCAN t0", nil, rows: 2, fullScanSteps: 1999, indexes: ["ZTITLE,ZALBUM"])
        #expect(
            findings.map(\.title.text) == [
                "Run ANALYZE: SQLite scans the table of Track although it has an index to search with"
            ])
        #expect(findings.map(\.severity) == [.warning])
    }

    @Test func `R22 reports row estimates that are off by a factor of 10, for at least 500 rows`() {
        func rules(
            _ expected: Int?, steps: UInt32 = 1999, isLimited: Bool = false,
            change: (inout PlanEntry) -> Void = { _ in }
        ) -> [String] {
            expecting("SCAN t0", expected, rows: 2, fullScanSteps: steps, isLimited: isLimited, change: change)
                .map(\.rule)
        }
        #expect(rules(201) == ["R06"])
        #expect(rules(200) == ["R06", "R22"])
        #expect(rules(20, steps: 498) == ["R06"])
        #expect(rules(20, steps: 499) == ["R06", "R22"])
        // With a limit, more rows than expected are certain, but fewer are not.
        #expect(rules(20, isLimited: true).contains("R22"))
        #expect(!rules(20_000, isLimited: true).contains("R22"))
        #expect(rules(20_000).contains("R22"))
        // There are no statistics, or there is a join.
        #expect(rules(nil) == ["R06"])
        #expect(
            rules(20) {
                $0.rows.append(.init(id: 2, parent: 0, detail: "SEARCH t1 USING INTEGER PRIMARY KEY (rowid=?)"))
            }
                == ["R06"])
    }

    @Test(arguments: ["count", "dictionaries"])
    func `Counts and groups do not show how many rows SQLite visited`(_ resultType: String) {
        let search = "SEARCH t0 USING INDEX Z_Track_byTitle (ZTITLE=?)"
        #expect(expecting(search, 960, rows: 1, resultType: resultType).isEmpty)
        #expect(
            expecting("SCAN t0 USING COVERING INDEX ZTRACK_ZALBUM_INDEX", 960, rows: 1, resultType: resultType).isEmpty)
        // Neither does a statement that took no step.
        #expect(expecting("SCAN t0", 960, rows: 0).isEmpty)
    }

    @Test func `Values of an index with more or fewer rows than expected are a note`() throws {
        let search = "SEARCH t0 USING INDEX Z_Track_byTitle (ZTITLE=?)"
        let finding = try #require(expecting(search, 3, rows: 600).first)
        #expect(finding.title.text == "ANALYZE may be out of date: SQLite expects 3 rows of Track but finds 600 rows")
        #expect(finding.severity == .note)
        #expect(
            finding.reservations.map(\.text) == [
                "Whether SQLite would choose another plan is unknown.",
                "Values that are far more or less frequent than others look the same as old statistics, and ANALYZE "
                    + "does not "
                    + "change them.",
            ])
        #expect(expecting(search, 3, rows: 600, times: 4).isEmpty)
        #expect(expecting(search, 5000, rows: 2).map(\.severity) == [.note])
        // Other terms excluded rows that the index found, or SQLite searched it several times.
        #expect(expecting(search, 5000, rows: 2, operation: "CONTAINS").isEmpty)
        #expect(expecting(search, 3, rows: 600, operation: "IN").isEmpty)
        #expect(expecting("SEARCH t0 USING INDEX Z_Track_byTitle (Z_ENT=? AND ZTITLE=?)", 5000, rows: 2).isEmpty)
    }

    @Test func `Several plans are reported if old statistics are only a note`() {
        let runs = Array(repeating: (plan: index, steps: UInt64(100)), count: 5) + [("SCAN t0", 50_000)]
        let findings = Analysis(Profile(trace(runs, expectedRows: 5000)), rules: [PlanRule()]).findings
        #expect(findings.map(\.severity) == [.warning, .note])
        #expect(findings.first?.title.text == "Run ANALYZE: SQLite has 2 plans for the fetch of Track")
    }

    @Test func `A table keeps the same texts, whatever their order`() throws {
        var runs = StatementTable.Runs()
        (runs.count, runs.time, runs.rows, runs.virtualMachineSteps) = (1, 2, 3, 4)
        let texts = (0..<100).map { "SELECT \($0)" }
        func table(_ texts: some Sequence<String>) -> StatementTable {
            var table = StatementTable()
            for text in texts { table.add(runs, of: text, plan: "p") }
            return table
        }
        let (forward, backward) = (table(texts), table(texts.reversed()))
        #expect(forward.texts == backward.texts && forward.texts.count == StatementTable.capacity)
        var merged = table(texts[..<37])
        merged.merge(table(texts[37...]))
        #expect(merged.texts == forward.texts)
        merged.merge(forward)
        #expect(merged.texts.values.allSatisfy { $0["p"]?.count == 2 })
    }
}

@Suite("R23: unneeded writes")
struct UnchangedWriteRuleTests {
    private func findings(unchanged: UInt32, updated: UInt32 = 0, times: Int = 1) -> [Finding] {
        var music = Music()
        let site = music.trace.site(70, "importAll()")
        for _ in 0..<times {
            var save = TraceEvent.Save()
            (save.unchanged, save.updated) = (unchanged, updated)
            if updated > 0 { save.entities = [.init(entity: music.track, updated: UInt64(updated))] }
            music.trace.event(.save(save), duration: 500_000, site: site)
        }
        return Analysis(Profile(music.trace.closed()), rules: [UnchangedWriteRule()]).findings
    }

    @Test func `Saves of unchanged objects are reported`() throws {
        let finding = try #require(findings(unchanged: 20, times: 5).first)
        #expect(finding.rule == "R23" && finding.severity == .warning)
        #expect(finding.title.text == "Set values only where they differ from the current values")
        #expect(finding.change?.description == "List.swift:70")
        #expect(
            finding.explanation.map(\.text) == [
                "5 saves of 100 objects, of which 100 had been set to the values in the store: nothing had to be "
                    + "written."
            ])
        #expect(finding.saving.time.median == 2_500_000)
    }

    @Test func `Unchanged objects among as many changed ones are a note`() throws {
        let finding = try #require(findings(unchanged: 20, updated: 20).first)
        #expect(finding.severity == .note && finding.saving.time.median == 0)
        #expect(
            finding.explanation.map(\.text) == [
                "1 save of 40 objects, of which 20 had been set to the values in the store."
            ]
        )
        #expect(findings(unchanged: 20, updated: 21).isEmpty)
    }

    @Test func `Saves in scopes of kind setup are ignored`() {
        func findings(_ kind: TraceEvent.Scope.Kind) -> [Finding] {
            var music = Music()
            music.scoped(kind) { music in
                var save = TraceEvent.Save()
                save.unchanged = 20
                music.trace.event(.save(save), duration: 500_000, site: music.trace.site(70, "importAll()"))
            }
            return Analysis(Profile(music.trace.closed()), rules: [UnchangedWriteRule()]).findings
        }
        #expect(findings(.bulk).map(\.severity) == [.warning])
        #expect(findings(.setup).isEmpty)
    }

    @Test func `A small share of the time and of the saved objects is a note`() throws {
        var music = Music()
        for unchanged in [10, 0] as [UInt32] {
            var save = TraceEvent.Save()
            (save.unchanged, save.updated) = (unchanged, unchanged == 0 ? 500 : 0)
            let site = music.trace.site(unchanged == 0 ? 80 : 70, "importAll()")
            music.trace.event(.save(save), duration: unchanged == 0 ? 50_000_000 : 100_000, site: site)
        }
        let finding = try #require(
            Analysis(Profile(music.trace.closed()), rules: [UnchangedWriteRule()]).findings.first)
        #expect(finding.severity == .note)
        #expect(finding.reservations.map(\.text).first?.hasSuffix("below 20 % of all objects that are saved.") == true)
    }

    @Test func `Fewer than ten unchanged objects are not reported`() {
        #expect(findings(unchanged: 9).isEmpty)
        #expect(findings(unchanged: 10).count == 1)
        #expect(findings(unchanged: 0).isEmpty)
    }
}
