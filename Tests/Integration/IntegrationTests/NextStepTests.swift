import Foundation
import TestFolders
import Testing

@Suite("The command that a report ends with")
struct NextStepTests {
    private static let traces = BuiltCommand.package.appendingPathComponent("Traces")

    /// Runs a command with the sample traces in the current folder as FLAWED and IMPROVED.
    private func run(_ command: String) throws -> BuiltCommand.Result {
        let folder = try TemporaryDirectory()
        for (name, story) in [("FLAWED", "groceries-flawed"), ("IMPROVED", "groceries-improved")] {
            let trace = Self.traces.appendingPathComponent("\(story)/trace.json")
            try FileManager.default.copyItem(at: trace, to: folder.url.appendingPathComponent(name))
        }
        try #"{"total": {"trips": 1}, "findings": {"fail": "never"}}"#
            .write(toFile: folder.path("budget"), atomically: true, encoding: .utf8)
        try #"{"R10": {"minimumSaves": 4}}"#.write(
            toFile: folder.path("limits"), atomically: true, encoding: .utf8)
        try SQLiteFile.run("CREATE TABLE list (item)", on: folder.path("EMPTY"))
        var words = command.split(separator: " ").map(String.init)
        let result = try BuiltCommand.run(words, directory: folder.url)
        // The advised command must work as it is, unless the user has to complete it.
        if let next = result.nextStep, !next.contains("…") {
            words = next.split(separator: " ").map(String.init)
            let followed = try BuiltCommand.run(words, directory: folder.url)
            #expect(followed.status == 0 && !followed.output.isEmpty, "\(next): \(followed.errors)")
        }
        return result
    }

    @Test(
        "follows from what was found, and works",
        arguments: [
            ("report FLAWED", "verify FLAWED --store …"),
            ("report IMPROVED", "record --cpu -- …"),
            ("check FLAWED", "explain FLAWED 1"),
            ("check FLAWED --thresholds limits", "explain FLAWED 1 --thresholds limits"),
            ("check FLAWED --budget budget", "report FLAWED --by scope"),
            ("check IMPROVED", "report IMPROVED"),
            ("check IMPROVED --baseline FLAWED", "diff FLAWED IMPROVED"),
            ("diff IMPROVED FLAWED", "explain FLAWED 1"),
            ("diff FLAWED IMPROVED", "check IMPROVED --baseline FLAWED"),
            ("tree FLAWED", "tree FLAWED --weight time --bottom-up"),
            ("tree FLAWED --bottom-up", "timeline FLAWED"),
            (
                "tree FLAWED --scope list --kind batch",
                "tree FLAWED --weight time --bottom-up --kind batch --scope list"
            ),
            ("timeline FLAWED --from 10ms", "tree FLAWED --from 10ms"),
            ("explain FLAWED 2", "timeline FLAWED --finding 2"),
            ("tree FLAWED --weight cpu", "record --cpu -- …"),
            ("tree FLAWED --weight live", "record --allocations -- …"),
        ])
    func steps(command: String, next: String) throws {
        #expect(try run(command).nextStep == next)
    }

    @Test("is left out of every other format", arguments: ["report FLAWED", "diff FLAWED IMPROVED", "tree FLAWED"])
    func formats(command: String) throws {
        #expect(try !run("\(command) --format json").output.contains("Next, "))
    }

    @Test("quotes a path for the shell, and is left out for a file that cannot be read again")
    func paths() throws {
        let folder = try TemporaryDirectory()
        let trace = Self.traces.appendingPathComponent("n-plus-one/trace.json")
        for name in ["my trace's.json", "-x.json", "\u{1B}.json"] {
            try FileManager.default.copyItem(at: trace, to: folder.url.appendingPathComponent(name))
        }
        func next(_ path: String) throws -> String? {
            try BuiltCommand.run(["report", "--", path], directory: folder.url).nextStep
        }
        #expect(try next("my trace's.json") == #"explain 'my trace'\''s.json' 1"#)
        #expect(try next("-x.json") == "explain ./-x.json 1")
        #expect(try next("\u{1B}.json") == nil)
        #expect(try next("/dev/fd/9") == nil)
    }

    @Test("follows from an inspection")
    func inspection() throws {
        let store = try TemporaryDirectory().path("list.sqlite")
        try SQLiteFile.run("CREATE TABLE list (item); INSERT INTO list VALUES (1)", on: store)
        #expect(try BuiltCommand.run(["inspect", store]).nextStep == "record -- …")
        let empty = try TemporaryDirectory().path("empty.sqlite")
        try SQLiteFile.run("CREATE TABLE list (item)", on: empty)
        #expect(try BuiltCommand.run(["inspect", empty]).nextStep == nil)
    }
}
