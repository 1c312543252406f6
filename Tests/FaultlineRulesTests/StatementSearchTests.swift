import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineFindings
@testable import FaultlineProfile
@testable import FaultlineRules

@Suite("R08: statements that search texts")
struct StatementSearchTests {
    private func findings(
        _ sql: String = "SELECT title FROM book WHERE title LIKE ?", steps: UInt32 = 9_999, rows: UInt32 = 5,
        plan: String = "SCAN book", rule: any Rule = TextSearchRule()
    ) throws -> [Finding] {
        var trace = TraceBuilder()
        var statement = TraceEvent.Statement()
        statement.statement = trace.define(.statement(StatementEntry(sql: sql)))
        statement.plan = trace.define(.plan(PlanEntry(rows: [PlanEntry.Row(id: 1, parent: 0, detail: plan)])))
        (statement.type, statement.rows, statement.fullScanSteps) = (.read, rows, steps)
        let stack = trace.stack(12)
        for _ in 0..<4 { trace.event(.sql(statement), duration: 1_000_000, stack: stack) }
        let profile = Profile(trace.closed())
        let found = Analysis(profile, rules: [rule]).findings
        let stored = try Profile(fileData: profile.fileData())
        #expect(Analysis(stored, rules: [rule]).findings == found)
        return found
    }

    @Test func `A search of all rows gets a full-text index`() throws {
        let finding = try #require(findings().first)
        #expect(finding.rule == "R08" && finding.severity == .warning)
        #expect(finding.title.text == "Search book.title with a full-text index, not with LIKE")
        #expect(
            finding.code == [
                "CREATE VIRTUAL TABLE book_title_search USING fts5(title, content = book, tokenize = 'trigram')",
                "INSERT INTO book_title_search(book_title_search) VALUES ('rebuild')",
                "SELECT … FROM book WHERE rowid IN (SELECT rowid FROM book_title_search WHERE title LIKE ?)",
            ])
        #expect(
            finding.alternatives.map(\.text) == [
                "A table WITHOUT ROWID needs a full-text table that keeps a copy of the texts: leave out content.",
                "If the patterns begin with plain text, an index serves them: CREATE INDEX book_title_nocase ON book(title COLLATE NOCASE).",
            ])
        #expect(
            finding.explanation.map(\.text) == [
                "4 runs of SELECT title FROM book WHERE title LIKE ? compared the texts of 40,000 rows to find 20, in 4.00 ms.",
                "SQLite's plan: SCAN book.",
            ])
        #expect(finding.change?.description == "Scroll.swift:12")
    }

    @Test func `A full-text table that the database has is used`() throws {
        var examinations = IndexExaminations()
        examinations.fullTextTables = ["book": "book_fts"]
        let finding = try #require(findings(rule: TextSearchRule(knowing: examinations)).first)
        #expect(finding.title.text == "Search book with its full-text table book_fts, not with LIKE")
        #expect(
            finding.code == [
                "SELECT … FROM book WHERE rowid IN (SELECT rowid FROM book_fts WHERE book_fts MATCH ?)"
            ])
        #expect(finding.alternatives.count == 1)
    }

    @Test func `An index serves no pattern that the statement joins`() throws {
        let finding = try #require(findings("SELECT title FROM book WHERE title LIKE ? || '%'").first)
        let advice =
            "If the patterns begin with plain text, pass each as one value, not as parts joined by ||, so that an index serves it: "
            + "CREATE INDEX book_title_nocase ON book(title COLLATE NOCASE)."
        #expect(finding.alternatives.last?.text == advice)
    }

    @Test func `A search in several columns gets one full-text index`() throws {
        let sql = "SELECT title FROM note WHERE title LIKE ? OR body LIKE ?"
        let finding = try #require(findings(sql, plan: "SCAN note").first)
        #expect(finding.title.text == "Search note(title, body) with a full-text index, not with LIKE")
        #expect(
            finding.code == [
                "CREATE VIRTUAL TABLE note_search USING fts5(title, body, content = note, tokenize = 'trigram')",
                "INSERT INTO note_search(note_search) VALUES ('rebuild')",
            ])
    }

    @Test func `A column with a name that FTS5 reserves gets no code that would fail`() throws {
        let finding = try #require(findings("SELECT a FROM film WHERE rank LIKE ?", plan: "SCAN film").first)
        #expect(finding.code.isEmpty && finding.alternatives.count == 1)
        #expect(
            finding.fix.text.hasSuffix(
                "FTS5 reserves the name rank, so the full-text table needs a copy of the texts in a column with another name."
            ))
    }

    @Test(
        "Searches are recognized with quotes, tables, aliases of other columns and NOT",
        arguments: [
            (
                #"SELECT "id" FROM "shop_book" WHERE "shop_book"."title" LIKE ? ESCAPE ?"#, "shop_book.title",
                "SCAN shop_book"
            ),
            ("SELECT a FROM book WHERE title NOT GLOB ?", "book.title", "SCAN book"),
            (
                "SELECT count(*) AS n FROM (SELECT book.id AS i FROM book WHERE book.title LIKE ?) AS a", "book.title",
                "SCAN book"
            ),
            (
                "SELECT a FROM book WHERE year > ? AND (title LIKE ? OR author LIKE ?)", "book(title, author)",
                "SCAN book"
            ),
        ])
    func recognized(sql: String, column: String, plan: String) throws {
        #expect(try #require(findings(sql, plan: plan).first).title.text.hasPrefix("Search \(column) with"))
    }

    @Test(
        "Good statements are not reported",
        arguments: [
            ("a small table", "SELECT a FROM book WHERE title LIKE ?", 498, 1, "SCAN book"),
            ("most rows match", "SELECT a FROM book WHERE title LIKE ?", 9999, 5000, "SCAN book"),
            (
                "another column is compared", "SELECT a FROM book WHERE title LIKE ? AND author = ?", 9999, 5,
                "SCAN book"
            ),
            ("another table's column", "SELECT a FROM book JOIN author WHERE author.name LIKE ?", 9999, 5, "SCAN book"),
            ("another table is scanned", "SELECT a FROM book JOIN shelf WHERE title LIKE ?", 9999, 5, "SCAN shelf"),
            ("a column named like the operator", #"SELECT a FROM book WHERE "like" > ?"#, 9999, 5, "SCAN book"),
            ("an expression", "SELECT a FROM book WHERE isbn || title LIKE ?", 9999, 5, "SCAN book"),
            ("no search", "SELECT a FROM book WHERE year > ?", 9999, 5, "SCAN book"),
        ] as [(String, String, UInt32, UInt32, String)])
    func good(name: String, sql: String, steps: UInt32, rows: UInt32, plan: String) throws {
        #expect(try findings(sql, steps: steps, rows: rows, plan: plan).isEmpty)
    }

    @Test func `Where an index on another column helps, R06 has the advice`() throws {
        let sql = "SELECT a FROM book WHERE title LIKE ? AND author = ?"
        #expect(
            try findings(sql, rule: MissingIndexRule()).map(\.code) == [["CREATE INDEX book_author ON book(author)"]])
    }
}
