import Foundation
import Testing

@testable import FaultlineFindings

/// Names, statements and paths come from whoever made a trace, and a terminal obeys some of their characters.
@Suite("Names that contain terminal control characters")
struct HostileNamesTests {
    /// A window title, a cleared screen, a colour, a new line, C1, and text that is reversed, isolated and separated.
    private static let attack =
        "\u{1B}]0;title\u{7}\u{1B}[2J\u{1B}[1;31mRED\u{1B}[0m\nFORGED\r\u{7F}\u{9B}31m\u{85}\u{202E}\u{2066}\u{200F}"
        + "\u{61C}\u{2028}FORGED\u{2029}"

    private let directory: TemporaryDirectory
    private let trace: String
    private let store: String

    init() throws {
        directory = try TemporaryDirectory()
        trace = directory.path("\(Self.attack).json")
        store = directory.path("\(Self.attack).sqlite")
        try Self.hostile("groceries-flawed").write(toFile: trace, atomically: true, encoding: .utf8)
        let (name, text) = (Self.attack, Self.attack.replacingOccurrences(of: "'", with: "''"))
        try SQLiteFile.run(
            """
            CREATE TABLE "a\(name)" (id INTEGER PRIMARY KEY, "c\(name)" TEXT, other INTEGER REFERENCES "a\(name)");
            CREATE INDEX "i\(name)" ON "a\(name)" (other); CREATE INDEX "j\(name)" ON "a\(name)" (other);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 800)
            INSERT INTO "a\(name)" SELECT i, '\(text)' || hex(zeroblob(9000)), i % 3 FROM n;
            """, on: store)
    }

    /// Returns a sample trace with an attack in each of its names.
    private static func hostile(_ story: String) throws -> String {
        let sample = BuiltCommand.package.appendingPathComponent("Traces/\(story)/trace.json")
        let escaped = try String(decoding: JSONEncoder().encode(attack), as: UTF8.self).dropFirst().dropLast()
        var text = try String(contentsOf: sample, encoding: .utf8)
        for word in ["Item", "locationAtHome", "Groceries.swift", "release/faultline", "ZITEM", "\"list", "scroll"] {
            text = text.replacingOccurrences(of: word, with: word + escaped)
        }
        return text
    }

    private func file(_ name: String, _ json: Any) throws -> String {
        try JSONSerialization.data(withJSONObject: json).write(to: directory.url.appendingPathComponent(name))
        return directory.path(name)
    }

    private func expectHarmless(
        _ text: String, onTerminal: Bool = false, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(!text.contains("\u{1B}[1;31mRED"), "\(text)", sourceLocation: sourceLocation)
        // The command colours its output, and replaces the line that shows how far a long reading is.
        let plain =
            onTerminal
            ? text.replacing(/\u{1B}\[(0|1|2|1;31|1;33|32|34)m/, with: "").replacing(/\u{1B}\[K\r?/, with: "\n") : text
        let obeyed = plain.unicodeScalars.filter { Phrase.isUnprintable($0) && $0 != "\n" }
        #expect(obeyed.isEmpty, "\(text.debugDescription)", sourceLocation: sourceLocation)
        let forged = plain.split(separator: "\n").filter { $0.drop(while: \.isWhitespace).hasPrefix("FORGED") }
        #expect(forged.isEmpty, "\(text)", sourceLocation: sourceLocation)
    }

    /// Runs the command with its output in files and on a terminal, and expects no control characters in either.
    private func check(
        _ arguments: [String], says words: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let result = try BuiltCommand.run(arguments, directory: directory.url)
        #expect(!result.wasKilled, sourceLocation: sourceLocation)
        expectHarmless(result.output, sourceLocation: sourceLocation)
        expectHarmless(result.errors, sourceLocation: sourceLocation)
        if let words { #expect((result.output + result.errors).contains(words), sourceLocation: sourceLocation) }
        let quoted = ([BuiltCommand.faultline] + arguments).map {
            "'" + $0.replacingOccurrences(of: "'", with: "'\\''") + "'"
        }
        let shown = try BuiltCommand.run(
            ["--quiet", "--command", "env -u NO_COLOR " + quoted.joined(separator: " "), "/dev/null"],
            program: "/usr/bin/script", environment: ["TERM": "xterm"], directory: directory.url)
        let text = shown.output.replacingOccurrences(of: "\r\n", with: "\n")
        expectHarmless(text, onTerminal: true, sourceLocation: sourceLocation)
    }

    @Test("are escaped in a report, in the events and in a comparison")
    func traces() throws {
        try check(["report", trace], says: "Item␛]0;title")
        try check(["events", trace, "--stack"], says: "Item␛]0;title")
        let other = BuiltCommand.package.appendingPathComponent("Traces/groceries-improved/trace.json").path
        try check(["diff", other, trace], says: "Item␛]0;title")
        try check(["query", trace, "SELECT entity AS \"\(Self.attack)\", * FROM fetch LIMIT 3"], says: "Item␛]0;title")
        try check(["query", trace, "SELECT \(Self.attack)"])
        try check(["verify", trace, "--store", store])
        try check(["verify", trace, "--store", directory.path("none\(Self.attack)")])
        for name in ["music-library", "n-plus-one"] {
            let path = directory.path(name + Self.attack)
            try Self.hostile(name).write(toFile: path, atomically: true, encoding: .utf8)
            try check(["report", path])
        }
    }

    @Test("are escaped in a check, its budget, baseline and thresholds")
    func check() throws {
        let budget = try file(
            "budget.json",
            [
                "total": ["trips": 1], "scopes": ["list" + Self.attack: ["trips": 1], Self.attack: ["rows": 1]],
                "findings": ["ignore": [["finding": "R01|\(Self.attack)", "reason": Self.attack]]],
            ] as [String: Any])
        try check(["check", trace, "--budget", budget], says: "R01|␛]0;title")
        try check(["check", trace, "--budget", try file("wrong.json", ["total": [Self.attack: 1]])])
        try check(["report", trace, "--thresholds", try file("thresholds.json", ["R02": [Self.attack: 1]])])
        try check(["report", trace, "--thresholds", try file("other.json", [Self.attack: [:]])])
        try Data("// faultline:ignore \(Self.attack)\n// faultline:ignore R99".utf8).write(
            to: directory.url.appendingPathComponent("\(Self.attack).swift"))
        try check(["check", trace, "--sources", directory.url.path])
    }

    @Test("are escaped in an inspected store")
    func inspect() throws {
        try check(["inspect", store], says: "a␛]0;title")
        try check(["inspect", directory.path(Self.attack)])
        try check(["inspect", store, "--model", directory.path("\(Self.attack).xcdatamodel")])
        let model = directory.path("model\(Self.attack).xcdatamodel")
        try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: true)
        try Data("<model><entity name=\"\(Self.attack)\"/></model>".utf8)
            .write(to: URL(fileURLWithPath: model + "/contents"))
        try check(["inspect", store, "--model", model])
    }

    @Test("are escaped in every error, the parser's included")
    func errors() throws {
        let attack = Self.attack
        for arguments in [
            ["report", attack], ["report", "x", "--\(attack)"], ["report", "x", "--format", attack], [attack],
            ["report", "x", attack], ["explain", attack], ["events", "x", "--kind", attack], ["help", attack],
            ["events", trace, "--entity", attack], ["record", "--", attack], ["record", "-\(attack)"],
            ["record", "--try", attack, "--", "/bin/true"], ["record", "-o", "/nowhere/\(attack)", "--", "/bin/true"],
            ["record", "-o", "trace.json", "--", "/bin/sh", "-c", "exit 0 # \(attack)"], ["merge", attack],
            ["merge", "-o", attack + "/x", trace], ["profile", store], ["doctor", "--directory", attack],
            ["query", trace, "SELECT 1", "-o", store], ["check", trace, "--budget", attack],
            ["check", trace, "--sources", attack], ["demo", "music", "--database", attack],
        ] {
            try check(arguments)
        }
    }

    @Test("keep their values in JSON, which escapes them", arguments: ["report", "events", "check", "profile"])
    func json(subcommand: String) throws {
        let format = subcommand == "profile" ? [] : ["--format", "json"]
        let result = try BuiltCommand.run([subcommand, trace] + format)
        expectHarmless(result.output)
        for line in subcommand == "events" ? result.output.split(separator: "\n") : [Substring(result.output)] {
            let value = try JSONSerialization.jsonObject(with: Data(line.utf8))
            guard subcommand != "events" else { continue }
            #expect("\(value)".unicodeScalars.contains("\u{202E}"))
        }
        #expect(result.output.contains("Item\\u001b]0;title") || result.output.contains("Item\\u001B]0;title"))
    }
}
