import Foundation
import Testing

/// Tests the doctor's output on a machine without problems.
@Suite("faultline doctor")
struct DoctorTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func text(_ arguments: [String] = []) throws -> (lines: [String], result: BuiltCommand.Result) {
        let result = try BuiltCommand.run(["doctor"] + arguments, directory: directory.url)
        return (result.output.components(separatedBy: "\n"), result)
    }

    @Test("tries a recording, a store, the directory's locks, its own stack and symbols")
    func lines() throws {
        let (lines, result) = try text()
        #expect(result.errors.isEmpty && result.status == 0)
        let line = try SourceLine.find(
            "recorder.end(open",
            in: BuiltCommand.package.appendingPathComponent("Sources/Command/faultline/Doctor/CallChain.swift"))
        for expected in [
            "  ✓ trial run        100 events recorded, written to a timeline, read back",
            "  ✓ features         triggers, table-valued functions, auto-vacuum, query plans",
            "  ✓ record locks     granted, and seen by others",
            "  ✓ file lock        granted, and seen by others",
            "  ✓ write-ahead log  created and read a store, 4,096-byte pages",
            "  ✓ frame pointers   24 of 24 nested calls are in the stack",
            "  ✓ own addresses    this program's addresses have functions and lines: CallChain.swift:\(line)",
            "Everything that a recording needs works here.",
        ] {
            #expect(lines.contains(expected), "\(expected)")
        }
    }

    @Test("lists everything in order of importance")
    func order() throws {
        let report = try DoctorReport(directory: directory.url)
        #expect(
            report.groups.map(\.name) == [
                "Recording", "SQLite", "Directory \(directory.url.path)", "Symbols", "LTTng (optional)",
                "Left behind", "Babeltrace 2 (optional)",
            ])
        #expect(
            report.groups.prefix(4).map { $0.checks.map(\.name) } == [
                [
                    "trial run", "shared memory", "fallback", "reserved space", "file size", "open files",
                    "locked memory", "clock",
                ],
                [
                    "library", "threads", "features", "STAT4", "scan status", "column metadata", "secure delete",
                    "store",
                ],
                ["file system", "record locks", "file lock", "write-ahead log"],
                ["frame pointers", "own addresses", "libraries", "debuginfod"],
            ])
        #expect(report.version == 1)
        #expect(report.machine.processors >= 1 && !report.machine.kernel.isEmpty)
    }

    @Test("prints the same as text and as JSON, and why each check matters")
    func formats() throws {
        let (lines, _) = try text()
        let report = try DoctorReport(directory: directory.url)
        let marks = ["ok": "✓", "warning": "!", "missing": "–", "failed": "✗"]
        for group in report.groups {
            #expect(lines.contains(group.name))
            for check in group.checks {
                // Tests that run beside this one leave files behind between the two calls.
                let states = group.name == "Left behind" ? ["ok", "warning"] : [check.state]
                #expect(states.contains(check.state))
                let beginnings = try states.map { try "  \(#require(marks[$0])) \(check.name) " }
                #expect(lines.contains { line in beginnings.contains { line.hasPrefix($0) } }, "\(beginnings)")
                #expect(check.why.hasSuffix(".") && check.why.count > 20)
                if check.state == "ok" { #expect(check.remedy.isEmpty && check.command == nil) }
                if check.state == "warning" || check.state == "failed" { #expect(check.remedy.hasSuffix(".")) }
            }
        }
        #expect(lines.dropLast().last == report.installation.command ?? "No package is missing.")
    }

    @Test("prints no colour in a pipe, and lines of at most 100 columns")
    func pipe() throws {
        let (lines, result) = try text()
        #expect(!result.output.contains("\u{1B}"))
        for line in lines.dropLast(2) { #expect(line.count <= 100, "\(line)") }
    }

    /// Runs the command on a terminal of 80 columns.
    private func onTerminal(_ variables: String) throws -> [String] {
        let command = "stty cols 80; env \(variables) '\(BuiltCommand.faultline)' doctor"
        let result = try BuiltCommand.run(
            ["--quiet", "--command", command, "/dev/null"], program: "/usr/bin/script", environment: ["TERM": "xterm"],
            directory: directory.url)
        return result.output.replacingOccurrences(of: "\r", with: "").components(separatedBy: "\n")
    }

    @Test("prints colours on a terminal, and lines of at most 80 columns")
    func terminal() throws {
        let lines = try onTerminal("-u NO_COLOR")
        #expect(lines.contains("\u{1B}[1mSQLite\u{1B}[0m"))
        #expect(lines.contains { $0.hasPrefix("  \u{1B}[32m✓\u{1B}[0m trial run") })
        for line in lines.dropLast(2) {
            #expect(line.replacing(/\u{1B}\[[0-9;]*m/, with: "").count <= 80, "\(line)")
        }
    }

    @Test("prints no colour if NO_COLOR is set")
    func noColour() throws {
        let lines = try onTerminal("NO_COLOR=1")
        #expect(lines.contains("SQLite") && !lines.joined().contains("\u{1B}"))
    }

    @Test("rejects an unknown format or argument", arguments: [["--format", "xml"], ["somewhere"]])
    func wrongCall(arguments: [String]) throws {
        let (_, result) = try text(arguments)
        #expect(result.status == 2 && result.output.isEmpty)
        #expect(result.errors.hasPrefix("Error: ") && result.errors.contains("Usage: faultline doctor"))
    }

    @Test("names a directory by its absolute path", arguments: [".", "below"])
    func relative(name: String) throws {
        try FileManager.default.createDirectory(atPath: directory.path("below"), withIntermediateDirectories: true)
        let report = try DoctorReport(["--directory", name], directory: directory.url)
        let path = name == "." ? directory.url.path : directory.path(name)
        #expect(report.groups[2].name == "Directory \(path)")
    }

    @Test("leaves nothing behind, wherever it tries something")
    func cleanUp() throws {
        let places = ["here", "home", "temporary", "rings"].map { directory.path($0) }
        for place in places {
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        }
        let report = try DoctorReport(
            ["--directory", places[0]],
            environment: [
                "HOME": places[1], "LTTNG_HOME": places[1], "TMPDIR": places[2], "FAULTLINE_RINGS": places[3],
            ]
        )
        #expect(try report.check("FAULTLINE_RINGS").state == "ok")
        for place in places { #expect(try FileManager.default.contentsOfDirectory(atPath: place).isEmpty, "\(place)") }
    }

    @Test("leaves nothing behind when it is terminated", arguments: 0..<8)
    func ended(attempt: Int) throws {
        let variables = ["TMPDIR": directory.url.path]
        let running = try RunningCommand(
            BuiltCommand.faultline, ["doctor", "--directory", directory.url.path], environment: variables)
        // The doctor has started once it has created a file or has already ended.
        while kill(running.identifier, 0) == 0 {
            let made = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
            if made.count > attempt % 3 { break }
            sched_yield()
        }
        kill(running.identifier, attempt.isMultiple(of: 2) ? SIGTERM : SIGINT)
        let result = running.finish()
        #expect(result.wasKilled ? result.output.isEmpty : result.status == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path).isEmpty)
    }
}
