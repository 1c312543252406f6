import FaultlineReader
import FaultlineTrace
import Testing

@Suite("A statement kept from a Django log")
struct DjangoStatementTests {
    @Test(
        "contains no values, and repeated values only once",
        arguments: [
            (
                #"SELECT 1 AS "a" FROM "t" WHERE "t"."n" = 'it''s' LIMIT 1"#,
                #"SELECT ? AS "a" FROM "t" WHERE "t"."n" = ? LIMIT 1"#
            ),
            ("SELECT a FROM t WHERE id IN (1)", "SELECT a FROM t WHERE id IN (…)"),
            ("SELECT a FROM t WHERE id IN (1, -2, 'x', NULL)", "SELECT a FROM t WHERE id IN (…)"),
            (
                "SELECT a FROM t WHERE id IN (SELECT b FROM u WHERE c = -7)",
                "SELECT a FROM t WHERE id IN (SELECT b FROM u WHERE c = ?)"
            ),
            ("INSERT INTO t (a, b) VALUES ('x', 1), ('y', NULL), ('z', -3)", "INSERT INTO t (a, b) VALUES (?, …), …"),
            ("INSERT INTO t (a) VALUES ('x')", "INSERT INTO t (a) VALUES (?)"),
            ("INSERT INTO t (a, b) VALUES (f(1), 2), (f(3), 4)", "INSERT INTO t (a, b) VALUES (f(?), ?), …"),
            ("UPDATE t SET year = %s WHERE id = %s", "UPDATE t SET year = ? WHERE id = ?"),
            ("SELECT a FROM t LIMIT 20 OFFSET 40", "SELECT a FROM t LIMIT 20 OFFSET ?"),
            ("select  a ,b\n\tFROM t -- it's secret\n WHERE c=4 /* and 'more' */", "select a, b FROM t WHERE c=?"),
            ("SELECT a - 1, b FROM t", "SELECT a - ?, b FROM t"),
            (#"SAVEPOINT "s140_x1""#, "SAVEPOINT"), (#"RELEASE SAVEPOINT "s140_x12""#, "RELEASE SAVEPOINT"),
            ("ROLLBACK TO SAVEPOINT `s140_x12`", "ROLLBACK TO SAVEPOINT"), ("COMMIT", "COMMIT"),
            ("SELECT NOT a FROM t WHERE b IS NULL AND c = true", "SELECT NOT a FROM t WHERE b IS NULL AND c = ?"),
        ])
    func values(sql: String, kept: String) throws {
        #expect(try DjangoText.kept(sql) == kept)
    }

    @Test(
        "contains no values in the quoting styles of other databases",
        arguments: [
            (#"SELECT E'it\'s' || 'C:\' FROM "t" WHERE a = 'b'"#, #"SELECT ? || ? FROM "t" WHERE a = ?"#),
            ("SELECT $$it's$$, $x$ 'y' $x$ FROM t WHERE a = $1", "SELECT ?, … FROM t WHERE a = $1"),
            (#"SELECT `a`, "say \"x\"", 'it\'s' FROM `t` # it's"#, "SELECT `a`, ?, … FROM `t`"),
            ("SELECT * FROM UNNEST((ARRAY['a', 'b'])::varchar[])", "SELECT * FROM UNNEST((ARRAY[…])::varchar[])"),
            (
                "SELECT a[1] FROM t WHERE b = '2024-05-01'::date AND c IN ('x'::uuid, 'y'::uuid)",
                "SELECT a[?] FROM t WHERE b = ? AND c IN (…)"
            ),
            ("SELECT [a b] FROM [t] WHERE [c] = 5", "SELECT [a b] FROM [t] WHERE [c] = ?"),
            ("SELECT X'00ff', 0xFE, 1.5e-7", "SELECT ?, …"),
        ])
    func databases(sql: String, kept: String) throws {
        #expect(try DjangoText.kept(sql) == kept)
    }

    @Test("is classified as a read, a write, part of a transaction, or a schema statement")
    func types() throws {
        let statements = [
            "SELECT 1", "(SELECT 1) UNION (SELECT 2)", "WITH a AS (SELECT 1) SELECT * FROM a", "EXPLAIN SELECT 1",
            "INSERT INTO t VALUES (1)",
            "UPDATE t SET a = 1", "DELETE FROM t", "WITH a AS (SELECT 1) DELETE FROM t", "SELECT a FROM t FOR UPDATE",
            "BEGIN",
            "COMMIT", "ROLLBACK", "SAVEPOINT a", "RELEASE SAVEPOINT a", "ROLLBACK TO SAVEPOINT a", "CREATE TABLE t (a)",
            "PRAGMA foreign_keys = ON", "\n-- first\nselect 1",
        ]
        let log = try DjangoText(statements.map { DjangoText.record($0) }.joined())
        let types = log.reading.events.compactMap { event -> TraceEvent.Statement.StatementType? in
            if case .sql(let statement) = event.detail { statement.type } else { nil }
        }
        #expect(
            types == [
                .read, .read, .read, .read, .write, .write, .write, .write, .read, .transaction, .transaction,
                .transaction,
                .transaction, .transaction, .transaction, .schema, .schema, .read,
            ])
    }

    @Test("is the same text for any number of values and for any page")
    func repetition() throws {
        let ids = (1...1000).map(String.init).joined(separator: ", ")
        let long = try DjangoText.kept("SELECT a FROM t WHERE id IN (\(ids)) AND b IN (\(ids))", "(\(ids))")
        #expect(long == "SELECT a FROM t WHERE id IN (…) AND b IN (…)")
        let pages = (0..<1000).map { DjangoText.record("SELECT a FROM t LIMIT 20 OFFSET \($0 * 20)") }
        #expect(Set(try DjangoText(pages.joined()).statements).count == 1)
    }

    @Test("reveals none of the values in its records")
    func privacy() throws {
        let log = try DjangoText(
            DjangoText.record("SELECT a FROM t WHERE b = 'Secret' AND c = 471147", "('Secret', 471147)")
                + DjangoText.record("INSERT INTO t (a) VALUES ('Secret\n471147'), ('x')", "('Secret\\n471147', 'x')")
                + "(0.001) FROBNICATE 'Secret'; args=('Secret',); alias=default\n(0.001) SELECT 'Secret 471147")
        let told = log.reading.messages.map { "\($0)" }.joined() + "\(log.reading.summary)"
        #expect(told.contains("b = ? AND c = ?") && !told.contains("Secret") && !told.contains("471147"))
        #expect(
            log.reading.summary.linesNotUnderstood == 1
                && log.reading.summary.firstNotUnderstood?.reason == "FROBNICATE")
    }
}
