import Foundation
import TestFolders
import Testing

/// A program in `GuestPrograms`, which behaves in many ways and prints what it sees.
struct GuestProgram {
    /// One way to behave.
    struct Kind: CustomTestStringConvertible {
        var program: [String]
        var name: String
        var needsRoot: Bool

        var testDescription: String { name }

        /// Runs it to its end.
        ///
        /// - Parameter command: The beginning of the command that runs the program.
        func run(by command: [String] = []) throws -> BuiltCommand.Result {
            let directory = try TemporaryDirectory()
            let (input, scratch) = (directory.path("input"), directory.path("scratch"))
            try (1...2000).map { "\($0)\n" }.joined().write(toFile: input, atomically: true, encoding: .utf8)
            try FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: true)
            return try BuiltCommand.run(
                ["-c", "exec \"$@\" < \"$0\"", input] + command + program + [name, scratch], program: "/bin/sh")
        }
    }

    let kinds: [Kind]

    private init(_ words: [String]) throws {
        let list = try BuiltCommand.run(words.dropFirst() + ["kinds"], program: words[0])
        kinds = list.output.split(separator: "\n").map { line in
            let parts = line.split(separator: " ")
            return Kind(program: words, name: String(parts[0]), needsRoot: parts.count > 1)
        }
    }

    private static let sources = BuiltCommand.package.appendingPathComponent("Tests/Integration/GuestPrograms").path

    /// The program in C, which is built once.
    static let inC = Result<GuestProgram, any Error> {
        let program = try TemporaryDirectory().path("guest")
        let files = try FileManager.default.contentsOfDirectory(atPath: sources).filter { $0.hasSuffix(".c") }
        let built = try BuiltCommand.run(
            ["-O1", "-fno-omit-frame-pointer", "-o", program] + files.map { sources + "/" + $0 }
                + ["-lsqlite3", "-lpthread"], program: "/usr/bin/cc")
        try #require(built.status == 0, "\(built.errors)")
        return try GuestProgram([program])
    }

    /// The program in Python, with the newest interpreter.
    static let inPython = Result<GuestProgram, any Error> {
        let python = try #require(Python.known.max { $0.minor < $1.minor })
        return try GuestProgram([python.path, sources + "/guest.py"])
    }

    /// The kind whose output is a measure.
    static let measuresStack = "stack_depth"
    /// The kinds of both programs.
    static let kinds = ((try? inC.get().kinds) ?? []) + ((try? inPython.get().kinds) ?? [])
    static let ordinary = kinds.filter { !$0.needsRoot && $0.name != measuresStack }
    static let ofRoot = kinds.filter(\.needsRoot)
}

@Suite(
    "Recorded, a program does what it does alone", .enabled(if: CProgram.canBuild, "needs cc: apt-get install gcc"),
    .enabled(if: !Python.known.isEmpty, "needs python3"))
struct GuestProgramTests {
    private static let all = ["--cpu", "--allocations", "--columns", "--values"]

    /// Records a program, and compares it with a run alone.
    private func compare(_ kind: GuestProgram.Kind, _ options: [String]) throws {
        let trace = try TemporaryDirectory().path("trace.json")
        let alone = try kind.run()
        let recorded = try kind.run(
            by: [BuiltCommand.faultline, "record", "--quiet", "-o", trace] + options + ["--"])
        #expect(recorded.output == alone.output)
        #expect(recorded.status == alone.status && recorded.wasKilled == alone.wasKilled)
        // The command says if events were lost or a process was not recorded, as one that changed its root.
        let losses = [" lost because ", " could not be recorded: "]
        let errors = recorded.errors.split(separator: "\n", omittingEmptySubsequences: false)
            .filter { line in !(line.hasPrefix("faultline: ") && losses.contains { line.contains($0) }) }
        #expect(errors.joined(separator: "\n") == alone.errors)
        #expect(try String(contentsOfFile: trace, encoding: .utf8).contains("\"cat\":\"sql\""), "nothing was recorded")
    }

    @Test("The programs can be built and started")
    func programs() throws {
        #expect(try GuestProgram.inC.get().kinds.count > 100)
        #expect(try GuestProgram.inPython.get().kinds.count > 25)
    }

    @Test("with the default options and with all others", arguments: GuestProgram.ordinary, [[], all])
    func behaviour(kind: GuestProgram.Kind, options: [String]) throws { try compare(kind, options) }

    @Test(
        "if it gives up the superuser's rights", .enabled(if: geteuid() == 0, "needs root"),
        arguments: GuestProgram.ofRoot, [[], all])
    func rights(kind: GuestProgram.Kind, options: [String]) throws { try compare(kind, options) }

    @Test("on a terminal")
    func terminal() throws {
        let kind = try #require(try GuestProgram.inC.get().kinds.first { $0.name == "terminal" })
        let trace = try TemporaryDirectory().path("trace.json")
        let onTerminal = kind.program + ["on_terminal"]
        let recorded = try kind.run(by: onTerminal + [BuiltCommand.faultline, "record", "--quiet", "-o", trace, "--"])
        #expect(try kind.run(by: onTerminal).output == recorded.output)
        #expect(recorded.output.contains("0 is a terminal: 1") && recorded.output.hasSuffix("command: status 0\n"))
    }

    // MARK: - Stacks

    private static let selections = [[], all] + all.map { [$0] }
    /// The bytes of a thread's stack that recording may take.
    private static let bytesOfStack = 2048

    private func measuring() throws -> GuestProgram.Kind {
        try #require(try GuestProgram.inC.get().kinds.first { $0.name == GuestProgram.measuresStack })
    }

    @Test("and takes little more of its threads' stacks", arguments: selections)
    func stack(options: [String]) throws {
        let kind = try measuring(), trace = try TemporaryDirectory().path("trace.json")
        let alone = try #require(Int(kind.run().output.dropLast()))
        let recorded = try kind.run(
            by: [BuiltCommand.faultline, "record", "--quiet", "-o", trace] + options + ["--"])
        #expect(try abs(#require(Int(recorded.output.dropLast())) - alone) <= Self.bytesOfStack)
    }

    @Test(
        "and takes little more of its threads' stacks if it records to LTTng",
        .enabled(if: LTTngSandbox.isAvailable, LTTngSandbox.need))
    func stackOfLTTng() throws {
        let kind = try measuring(), directory = try TemporaryDirectory()
        // Allocations are recorded to a timeline only.
        let options = Self.all.filter { $0 != "--allocations" }, selections = [[], options] + options.map { [$0] }
        let command = (kind.program + [kind.name]).joined(separator: " ")
        let result = try LTTngSandbox.run(
            "start_daemon; mkdir 0; \(command) 0\n"
                + selections.enumerated().map { number, selection in
                    "mkdir \(number + 1); $FAULTLINE record --quiet --to lttng \(selection.joined(separator: " ")) "
                        + "-o ctf-\(number) -- \(command) \(number + 1)"
                }.joined(separator: "\n"), directory: directory)
        #expect(!result.errors.contains("could not load LTTng"), "\(result.errors)")
        let depths = result.output.split(separator: "\n").compactMap { Int($0) }
        try #require(depths.count == selections.count + 1, "\(result.output)\(result.errors)")
        #expect(depths.allSatisfy { abs($0 - depths[0]) <= Self.bytesOfStack }, "\(depths)")
    }
}
