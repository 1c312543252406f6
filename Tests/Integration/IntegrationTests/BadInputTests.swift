import Foundation
import Testing

/// Whatever its input, the command answers with one sentence that says what failed, where, and what to do.
@Suite("Given bad input, the command")
struct BadInputTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func write(_ text: String, to name: String) throws -> String {
        let path = directory.path(name)
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    private func expectUsage(
        _ arguments: [String], _ sentence: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let result = try BuiltCommand.run(arguments)
        #expect(result.errors == "faultline: \(sentence)\n", sourceLocation: sourceLocation)
        #expect(result.output.isEmpty, sourceLocation: sourceLocation)
        #expect(result.status == 2 && !result.wasKilled, sourceLocation: sourceLocation)
    }

    @Test("names a missing trace", arguments: ["report", "events", "tree", "timeline"])
    func missing(subcommand: String) throws {
        let path = directory.path("none.json")
        try expectUsage(
            [subcommand, path], "Could not open the trace \"\(path)\": there is no such file; check the path.")
    }

    @Test("reports a trace that was cut, and one that was concatenated with itself")
    func cutAndJoined() throws {
        let whole = BuiltCommand.package.appendingPathComponent("Traces/groceries-flawed/trace.json").path
        let text = try String(contentsOfFile: whole, encoding: .utf8)
        let cut = directory.path("cut.json")
        try String(text.prefix(text.count / 2)).write(toFile: cut, atomically: true, encoding: .utf8)
        for command in [["events", cut], ["query", cut, "SELECT 1"], ["profile", cut, "-o", directory.path("p")]] {
            let result = try BuiltCommand.run(command)
            #expect(result.status == 0)
            #expect(result.errors.contains("1 process has no end in the trace: the last events are missing.\n"))
        }
        let joined = directory.path("joined.json")
        try (text + text).write(toFile: joined, atomically: true, encoding: .utf8)
        let report = try BuiltCommand.run(["report", joined])
        #expect(report.errors.contains("1 recording begins again in the file, as if traces had been concatenated: "))
    }

    @Test("rejects a foreign JSON file before reading its events", arguments: ["query", "recover"])
    func foreignNames(command: String) throws {
        let path = directory.path("foreign.json")
        try #"[{"ph":"X"}]"#.write(toFile: path, atomically: true, encoding: .utf8)
        let result = try BuiltCommand.run([command, path])
        #expect(result.status == 2 && result.output.isEmpty)
        #expect(result.errors.contains("it is JSON, but not a Faultline timeline; "))
    }

    @Test("rejects a foreign JSON file")
    func foreign() throws {
        let path = try write("{\"name\": \"left-pad\", \"version\": \"1.0.0\"}\n", to: "package.json")
        try expectUsage(
            ["report", path],
            "Could not read the trace \"\(path)\": it is JSON, but not a Faultline timeline; "
                + "name a file that \"faultline record\" wrote.")
    }

    @Test("rejects another producer's trace events")
    func foreignTrace() throws {
        let path = try write(
            "[\n{\"name\":\"Paint\",\"cat\":\"blink\",\"ph\":\"X\",\"ts\":1,\"dur\":2,\"pid\":1,\"tid\":1,\"args\":{}}\n]\n",
            to: "chrome.json")
        try expectUsage(
            ["report", path],
            "Could not read the trace \"\(path)\": it is JSON, but not a Faultline timeline; "
                + "name a file that \"faultline record\" wrote.")
    }

    @Test("says what a file that is not a trace looks like")
    func notATrace() throws {
        let path = directory.path("store.sqlite")
        try SQLiteFile.run("CREATE TABLE list (item)", on: path)
        let result = try BuiltCommand.run(["report", path])
        #expect(result.status == 2)
        #expect(result.errors.contains("it is not a timeline but an SQLite database"))
        #expect(result.errors.filter(\.isNewline).count == 1)
    }

    @Test("reads the intact part of a damaged trace, and reports how much is damaged")
    func damaged() throws {
        let run = try GroceriesRun(items: 20, rows: 5, flaws: "none")
        var lines = try String(contentsOfFile: run.trace, encoding: .utf8).components(separatedBy: "\n")
        lines.insert("{\"name\":\"fetch\",\"cat\":\"fetch\",\"ph\":\"X\",\"ts\":", at: lines.count / 2)
        let path = try write(lines.joined(separator: "\n"), to: "damaged.json")
        let result = try BuiltCommand.run(["report", path])
        #expect(result.status == 0)
        #expect(result.errors.contains("1 damaged line"))
        #expect(result.output.contains("Where the store's time went"))
    }

    @Test("rejects a command that does not exist, and writes no trace")
    func noCommand() throws {
        let trace = directory.path("trace.json")
        try expectUsage(
            ["record", "-o", trace, "--", "/no/such/program"],
            "Cannot run the command \"/no/such/program\" (No such file or directory); "
                + "name a program that is in PATH, or its path.")
        #expect(!FileManager.default.fileExists(atPath: trace))
    }

    @Test("rejects a trace path that cannot be written")
    func noPlace() throws {
        try expectUsage(
            ["record", "-o", "/nowhere/trace.json", "--", "/bin/true"],
            "Cannot write \"/nowhere/trace.json\": there is no folder \"/nowhere\"; make it, or name another file with -o."
        )
    }

    @Test(
        "explains wrong usage and exits with 2",
        arguments: [
            ["record"], ["record", "--"], ["events", "x", "--kind", "nonsense"], ["nonsense"],
            ["events", "x", "--kind", ""], ["events", "x", "--min-duration", "12"], ["demo", "--items", "0"],
            ["report", "x", "--format", "xml"], ["record", "--nonsense", "--", "/bin/true"],
            ["record", "-x", "/bin/true"],
        ])
    func wrongCall(arguments: [String]) throws {
        let result = try BuiltCommand.run(arguments)
        #expect(result.status == 2)
        #expect(result.output.isEmpty)
        #expect(result.errors.hasPrefix("Error: "))
        #expect(result.errors.contains("Usage: faultline"))
    }

    @Test(
        "suggests the command that a mistyped one resembles",
        arguments: [
            (["repotr", "x"], "did you mean \"report\"?"), (["verfy"], "did you mean \"verify\"?"),
            (["\u{1B}[31m"], "\"faultline --help\" lists the commands."),
        ])
    func mistypedCommand(arguments: [String], hint: String) throws {
        let result = try BuiltCommand.run(arguments)
        #expect(result.status == 2 && result.output.isEmpty)
        #expect(result.errors.hasPrefix("Error: There is no command \""))
        #expect(result.errors.split(separator: "\n").first?.hasSuffix(hint) == true)
        #expect(!result.errors.contains("\u{1B}"))
    }

    @Test("reports that its output cannot be written", arguments: ["report", "events", "tree"])
    func fullOutput(subcommand: String) throws {
        let trace = BuiltCommand.package.appendingPathComponent("Traces/groceries-flawed/trace.json").path
        let script = "\(BuiltCommand.faultline) \(subcommand) \(trace) >/dev/full"
        let result = try BuiltCommand.run(["-c", script], program: "/bin/sh")
        #expect(result.status == 75)
        #expect(
            result.errors
                == "faultline: Writing to standard output failed (No space left on device); free some space, or write elsewhere.\n"
        )
    }

    private func expectFailure(ofStore path: String, form: [String] = [], _ sentence: String) throws {
        let result = try BuiltCommand.run(["workload", "groceries", "--store", path] + form)
        #expect(result.errors == "faultline: \(sentence)\n")
        #expect(result.output.isEmpty)
        #expect(result.status == 75 && !result.wasKilled)
    }

    @Test("reports a store that is not a database")
    func noDatabase() throws {
        let path = try write("this is no database, but a text of some length\n", to: "notes.sqlite")
        try expectFailure(
            ofStore: path, "'\(path)' is not an SQLite database; name another file, or move this one away.")
        #expect(try String(contentsOfFile: path, encoding: .utf8).hasPrefix("this is no database"))
    }

    @Test("reports a database that is not a store")
    func foreignDatabase() throws {
        let path = directory.path("foreign.sqlite")
        try SQLiteFile.run("CREATE TABLE list (item)", on: path)
        try expectFailure(
            ofStore: path,
            "'\(path)' is an SQLite database but not a store: it has tables, but none of them is Z_METADATA; name another file."
        )
    }

    @Test("reports a store of another model, and leaves it unchanged")
    func otherModel() throws {
        let path = directory.path("list.sqlite")
        let prepared = try BuiltCommand.run(["workload", "groceries", "--store", path, "--items", "10", "--prepare"])
        try #require(prepared.status == 0)
        try expectFailure(
            ofStore: path, form: ["--flaws", "photo"],
            "The store '\(path)' was written with another version of the model; since then, the attribute 'Item.photo' was added, "
                + "the relationship 'Item.photo' was removed, the entity 'ItemPhoto' was removed; open it with the version that it was written with, or migrate it."
        )
        #expect(try BuiltCommand.run(["workload", "groceries", "--store", path, "--items", "10"]).status == 0)
    }

    @Test("reports that no process of the command recorded anything")
    func nothingRecorded() throws {
        let trace = directory.path("trace.json")
        let result = try BuiltCommand.run(["record", "-o", trace, "--", "/bin/echo", "hello"])
        #expect(result.status == 0)
        #expect(result.output == "hello\n")
        #expect(
            result.errors == "faultline: No process of \"/bin/echo\" recorded anything: "
                + "no process opened a Faultline store or called SQLite in a shared library.\n")
    }
}
