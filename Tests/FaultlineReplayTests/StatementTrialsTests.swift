import Foundation
import TestFolders
import Testing

@testable import FaultlineFindings
@testable import FaultlineReplay

@Suite("Trials of statements")
struct StatementTrialsTests {
    private let path: String
    private let file: DatabaseFile

    init() throws {
        path = TestFolder.file("sqlite").path
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        file = try DatabaseFile(copy: path, named: "shop.sqlite")
        try file.run("CREATE TABLE book(id INTEGER PRIMARY KEY, title TEXT)")
        try file.run("INSERT INTO book(title) VALUES ('Emma'), ('Ulysses')")
    }

    private func pair(_ kind: StatementChange.Kind, _ samples: [String]) throws -> StatementPair {
        let change = StatementChange(
            sql: "SELECT * FROM book WHERE id = ?", executions: 4, rows: 4, time: 4000, kind: kind)
        return try StatementTrials(change: change, samples: samples, base: file, path: path, name: path).pair()
    }

    private static let kinds: [StatementChange.Kind] = [.prepared, .once(runs: 4), .indexes([])]

    @Test("Runs with recorded values are tried only if they are runs of the same statement", arguments: kinds)
    func otherStatements(_ kind: StatementChange.Kind) throws {
        let right = "SELECT * FROM book WHERE id = 2"
        #expect(try pair(kind, [right, right]).before.run() > 0)
        let error = #expect(throws: Untriable.self) { try pair(kind, [right, "DELETE FROM book"]) }
        #expect(error?.reason == "The trace has other statements in the place of this one's values.")
        #expect(try file.number("SELECT count(*) FROM book") == 2)
    }

    @Test("A limit to the time of queries ends with the work that it is for")
    func limit() throws {
        let long = """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500000) SELECT count(*) FROM n
            """
        let error = #expect(throws: ReplayError.self) { try file.limitingQueries(to: 0) { try file.number(long) } }
        #expect(error?.description.contains("interrupted") == true, "\(String(describing: error))")
        #expect(file.wasInterrupted)
        #expect(try file.number(long) == 500_000)
    }

    @Test("Names and texts are quoted, whatever follows a quote")
    func quoting() throws {
        // A quote and a combining character are one character of Swift.
        for text in ["a'b", "a\"b", "a\"\u{308}b", "a'\u{308}b"] {
            try file.run("CREATE TABLE \(DatabaseFile.quoted(text))(a)")
            #expect(
                try file.number("SELECT count(*) FROM sqlite_schema WHERE name = \(DatabaseFile.literal(text))") == 1)
        }
    }
}
