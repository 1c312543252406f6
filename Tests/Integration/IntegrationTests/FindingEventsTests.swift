import Foundation
import Testing

/// Whether the events that a finding rests on can be selected by its number.
@Suite("Events of a finding") struct FindingEventsTests {
    private static let trace = "Traces/groceries-flawed/trace.json"

    private func events(_ arguments: [String]) throws -> [[String: Any]] {
        let result = try BuiltCommand.run(["events", Self.trace, "--format", "json"] + arguments)
        try #require(result.status == 0, "\(result.errors)")
        return try result.output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    @Test("are as many as the report counts")
    func agreeWithTheReport() throws {
        let report = try BuiltCommand.run(["report", Self.trace, "--format", "json"])
        let document = try #require(
            try JSONSerialization.jsonObject(with: Data(report.output.utf8)) as? [String: Any])
        let findings = try #require(document["findings"] as? [[String: Any]])
        let position = try #require(findings.firstIndex { $0["rule"] as? String == "R01" })
        let sightings = try #require(findings[position]["seenAt"] as? [[String: Any]])
        let trips = sightings.compactMap { $0["count"] as? Int }.reduce(0, +)

        let rested = try events(["--finding", String(position + 1)])

        #expect(trips > 0 && rested.filter { $0["kind"] as? String == "cacheMiss" }.count == trips)
        #expect(rested.filter { $0["kind"] as? String == "fetch" }.count == 1)
        // The row cache filled others at the same line, which the prefetch would not save.
        #expect(!rested.contains { $0["source"] as? String == "rowCache" })
        #expect(rested.allSatisfy { $0["kind"] as? String != "fault" || $0["relationshipName"] != nil })
    }

    @Test("narrow a call tree too")
    func narrowTheTree() throws {
        let whole = try BuiltCommand.run(["tree", Self.trace, "--format", "json"])
        let part = try BuiltCommand.run(["tree", Self.trace, "--format", "json", "--finding", "2"])
        let events = { (text: String) -> Int? in
            let document = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
            return document?["events"] as? Int
        }
        let (all, some) = (try #require(try events(whole.output)), try #require(try events(part.output)))
        #expect(some > 0 && some < all)
    }

    @Test("are those of the report with the same thresholds")
    func thresholds() throws {
        let path = try TemporaryDirectory().path("thresholds.json")
        // The first finding is then that about the batch size.
        try #"{"R09": {"largeValue": 1000000}}"#.write(toFile: path, atomically: true, encoding: .utf8)
        let first = try events(["--finding", "1", "--thresholds", path])
        let second = try events(["--finding", "2"])
        #expect(first.count > 0 && first.compactMap { $0["id"] as? Int } == second.compactMap { $0["id"] as? Int })
        for command in [["tree"], ["timeline"]] {
            let arguments = [Self.trace, "--finding", "1", "--thresholds", path, "--format", "json"]
            #expect(try BuiltCommand.run(command + arguments).status == 0)
        }
    }

    @Test("leave out those of scopes of set-up, in explanations too")
    func setUp() throws {
        let path = try TemporaryDirectory().path("trace.json")
        let text = try String(contentsOf: BuiltCommand.package.appendingPathComponent(Self.trace), encoding: .utf8)
        let changed = text.replacingOccurrences(of: #""kind":"screen""#, with: #""kind":"setup""#)
        try #require(changed != text)
        try changed.write(toFile: path, atomically: true, encoding: .utf8)
        let result = try BuiltCommand.run(["events", path, "--finding", "1", "--format", "json"])
        let scoped = result.output.split(separator: "\n").filter { !$0.contains(#""scope":0,"#) }
        #expect(result.status == 0 && !result.output.isEmpty && scoped.isEmpty)
        let page = try BuiltCommand.run(["explain", path, "1"])
        #expect(page.output.contains("\nEvents  (\(result.output.split(separator: "\n").count))\n"))
    }

    @Test("are refused for a finding that the report does not have")
    func refuseAnUnknownNumber() throws {
        let result = try BuiltCommand.run(["events", Self.trace, "--finding", "99"])
        #expect(result.status == 2)
        #expect(
            result.errors
                == "faultline: There is no finding 99: \"faultline report \(Self.trace)\" has 4 findings.\n")
        let zero = try BuiltCommand.run(["events", Self.trace, "--finding", "0"])
        #expect(zero.errors.contains("--finding needs the number of a finding, at least 1."))
    }
}
