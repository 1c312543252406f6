import Foundation
import TestFolders
import Testing

@Suite("Events are selected by what they are, and when and where they happened")
struct EventSelectionTests {
    private static let trace = BuiltCommand.package.appendingPathComponent("Traces/groceries-flawed/trace.json").path

    private struct Event: Decodable {
        var kind: String
        var start, duration: UInt64
        var thread: Int?
    }

    /// The selected events of a sample trace.
    private func events(_ options: String..., status: Int32 = 0) throws -> (found: [Event], errors: String) {
        let result = try BuiltCommand.run(["events", Self.trace, "--format", "json"] + options)
        #expect(result.status == status)
        let lines = result.output.split(separator: "\n").map { Data($0.utf8) }
        return (try lines.map { try JSONDecoder().decode(Event.self, from: $0) }, result.errors)
    }

    private func count(_ sql: String) throws -> Int {
        let result = try BuiltCommand.run(["query", Self.trace, "SELECT count(*) FROM " + sql])
        let last = result.output.split(separator: "\n").last?.trimmingCharacters(in: .whitespaces) ?? ""
        return try #require(Int(last), "\(result.errors)")
    }

    @Test("by the time in which they ran")
    func time() throws {
        let all = try events("--kind", "batch").found
        let first = try #require(all.first)
        try #require(all.count == 2)
        func times(_ from: UInt64, _ to: UInt64) throws -> [UInt64] {
            try events("--kind", "batch", "--from", "\(from)ns", "--to", "\(to)ns").found.map(\.start)
        }
        // An event that overlaps the interval is selected.
        #expect(try times(first.start + first.duration / 2, first.start + first.duration) == [first.start])
        #expect(try times(0, first.start - 1) == [])
        #expect(try times(first.start + first.duration + 1, 1 << 50) == [all[1].start])
    }

    @Test("by the scope around them, which also selects the scope itself")
    func scope() throws {
        let found = try events("--scope", "item").found
        #expect(found.count { $0.kind == "scope" } == 2 * Set(found.filter { $0.kind == "scope" }.map(\.start)).count)
        #expect(found.contains { $0.kind == "cacheMiss" || $0.kind == "fault" || $0.kind == "fetch" })
        let lists = try events("--scope", "list").found
        #expect(lists.contains { $0.kind == "batch" } && !found.contains { $0.kind == "batch" })
    }

    @Test("by thread and call site")
    func place() throws {
        #expect(try events("--site", "Groceries.swift:81").found.map(\.kind) == ["batch", "batch"])
        #expect(try events("--site", "Groceries.swift", "--kind", "fetch").found.count == count("fetch"))
        #expect(try events("--thread", "main", "--kind", "fault").found.count == count("fault WHERE isMainThread"))
        let number = try #require(events("--kind", "fetch").found.first?.thread)
        #expect(try events("--thread", "\(number)", "--kind", "fetch").found.count == count("fetch"))
    }

    @Test("or the reason why there are none is given")
    func nothing() throws {
        #expect(
            try events("--scope", "nowhere", status: 2).errors
                == "faultline: The trace has no event within a scope \"nowhere\".\n"
        )
        #expect(
            try events("--thread", "worker", "--site", "A.swift:1", "--entity", "Shelf", status: 2).errors == """
                faultline: The trace has no event of an entity "Shelf".
                faultline: The trace has no event on a thread "worker".
                faultline: The trace has no event at A.swift:1.

                """)
        #expect(try events("--from", "9000s").errors == "faultline: The trace has no such event.\n")
        let result = try BuiltCommand.run(["events", Self.trace, "--from", "2s", "--to", "1s"])
        #expect(result.status != 0 && result.errors.hasPrefix("Error: --from must not be later than --to."))
    }

    @Test("in a call tree, too")
    func tree() throws {
        let all = try BuiltCommand.run(["tree", Self.trace, "--format", "json"])
        let one = try BuiltCommand.run(["tree", Self.trace, "--format", "json", "--site", "Groceries.swift:81"])
        struct Tree: Decodable { var total: UInt64 }
        let totals = try [all, one].map { try JSONDecoder().decode(Tree.self, from: Data($0.output.utf8)).total }
        #expect(totals[1] == (try events("--site", "Groceries.swift:81").found.reduce(0) { $0 + $1.duration }))
        #expect(totals[1] < totals[0])
    }
}
