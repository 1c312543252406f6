import Foundation
import Testing

@Suite("faultline timeline")
struct TimelineTests {
    private static let trace = BuiltCommand.package.appendingPathComponent("Traces/groceries-flawed/trace.json").path

    private struct Document: Decodable {
        struct Lane: Decodable {
            var thread: UInt32?
            var isMainThread: Bool
            var tracks: [Track]
            var scopes: [Scopes]
        }
        struct Track: Decodable {
            var kind: String
            var count: UInt64
            var time: UInt64
            var covered: [UInt64]
        }
        struct Scopes: Decodable {
            var name: String
            var count: UInt64
        }
        var from: UInt64
        var to: UInt64
        var lanes: [Lane]
    }

    private struct Event: Decodable {
        var kind: String
        var start: UInt64
        var duration: UInt64
    }

    private func document(_ arguments: String...) throws -> Document {
        let result = try BuiltCommand.run(["timeline", Self.trace, "--format", "json"] + arguments)
        try #require(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
        return try JSONDecoder().decode(Document.self, from: Data(result.output.utf8))
    }

    private func events(_ arguments: String...) throws -> [Event] {
        try BuiltCommand.run(["events", Self.trace, "--format", "json"] + arguments).output.split(separator: "\n")
            .map { try JSONDecoder().decode(Event.self, from: Data($0.utf8)) }
    }

    @Test("has the events and the time of each kind", arguments: [["fetch"], ["batch"], ["sql"], ["cacheMiss"]])
    func totals(kinds: [String]) throws {
        let track = try #require(try document().lanes.first?.tracks.first { $0.kind == kinds[0] })
        let all = try events("--kind", kinds[0])
        #expect(track.count == UInt64(all.count) && track.time == all.reduce(0) { $0 + $1.duration })
    }

    @Test("zooms to a time, a scope and a finding")
    func selection() throws {
        let batch = try #require(try events("--kind", "batch").first)
        let zoomed = try document("--from", "\(batch.start)ns", "--to", "\(batch.start + 1000)ns")
        #expect(zoomed.from == batch.start && zoomed.to == batch.start + 1000)
        let track = try #require(zoomed.lanes[0].tracks.first { $0.kind == "batch" })
        #expect(track.time == 1000 && track.covered.allSatisfy { $0 == 10 })
        let finding = try events("--finding", "2")
        let rested = try document("--finding", "2")
        #expect(rested.lanes[0].tracks.reduce(0) { $0 + $1.count } == UInt64(finding.count))
        #expect(rested.from == finding.map(\.start).min())
        let scope = try document("--scope", "item")
        #expect(scope.lanes[0].scopes.map(\.name) == ["item"])
        #expect(scope.lanes[0].scopes[0].count == UInt64(try events("--scope", "item", "--kind", "scope").count / 2))
    }

    @Test("has rows for each thread with --threads")
    func threads() throws {
        let lanes = try document("--threads").lanes
        #expect(lanes.map(\.isMainThread) == [true] && lanes[0].thread == 11500)
    }

    @Test("fits the width, and has no colours outside a terminal")
    func text() throws {
        let result = try BuiltCommand.run(["timeline", Self.trace])
        #expect(result.status == 0 && !result.output.contains("\u{1B}"))
        let lines = result.withoutNextStep.split(separator: "\n")
        #expect(lines[0].hasPrefix("423 events from 13.7 ms to 31.2 ms  ("))
        #expect(lines.allSatisfy { $0.count <= 100 } && lines.contains { $0.count > 90 })
        for row in ["Fetches", "Batches", "Faults", "Cache Misses", "SQL", "list (screen)"] {
            #expect(lines.contains { $0.hasPrefix("  \(row) ") })
        }
    }

    @Test("says why there is nothing to show")
    func nothing() throws {
        let scope = try BuiltCommand.run(["timeline", Self.trace, "--scope", "nowhere"])
        #expect(scope.status == 2 && scope.output.isEmpty)
        #expect(scope.errors == "faultline: The trace has no event within a scope \"nowhere\".\n")
        let markdown = try BuiltCommand.run(["timeline", Self.trace, "--format", "markdown"])
        #expect(markdown.errors.hasPrefix("Error: \"timeline\" cannot print markdown; it prints text and json.\n"))
        #expect(markdown.status == 2)
    }

    @Test("is as wide as the terminal, in its colours", arguments: [70, 100, 160])
    func terminal(columns: UInt16) throws {
        let shown = try CommandOnTerminal(
            ["timeline", Self.trace], streams: .outputAndErrors, columns: columns
        ).finish()
        #expect(shown.contains("\u{1B}[32m"))
        let plain = shown.replacing(#/\u{1B}\[[0-9;]*m/#, with: "").replacing("\r\n", with: "\n")
        let rows = plain.split(separator: "\n").filter { $0.hasPrefix("  Batches") || $0.hasPrefix("  SQL") }
        #expect(rows.count == 2 && rows.allSatisfy { $0.count == Int(columns) })
    }
}
