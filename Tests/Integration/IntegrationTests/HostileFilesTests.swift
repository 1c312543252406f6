import Foundation
import SharedData
import Testing

/// Opening a pipe waits for a writer, and a device such as `/dev/zero` has no end, so neither may be opened as a file.
@Suite("A pipe or a device where a file should be")
struct HostileFilesTests {
    private let directory: TemporaryDirectory
    private let pipe: String

    private static let trace = BuiltCommand.package.appendingPathComponent("Traces/groceries-flawed/trace.json").path

    init() throws {
        directory = try TemporaryDirectory()
        pipe = directory.path("pipe")
        try #require(mkfifo(pipe, 0o600) == 0)
    }

    /// Runs the command with little memory and for at most a few seconds.
    private func run(_ arguments: [String]) throws -> BuiltCommand.Result {
        let result = try BuiltCommand.run(
            ["-c", "ulimit -v 4000000; exec timeout 30 \"$0\" \"$@\"", BuiltCommand.faultline] + arguments,
            program: "/bin/sh", directory: directory.url)
        #expect(result.status != 124, "It waits: \(arguments)")
        #expect(!result.wasKilled)
        return result
    }

    private func expectRefusal(_ arguments: [String], sourceLocation: SourceLocation = #_sourceLocation) throws {
        let result = try run(arguments)
        #expect(result.status == 2, "\(result)", sourceLocation: sourceLocation)
        #expect(result.errors.hasPrefix("faultline: "), sourceLocation: sourceLocation)
        #expect(result.errors.filter(\.isNewline).count == 1, "\(result.errors)", sourceLocation: sourceLocation)
    }

    @Test("is rejected in every argument", arguments: ["pipe", "/dev/zero", "/dev/tty", "."])
    func named(file: String) throws {
        for arguments in [
            ["report", file], ["events", file], ["profile", file], ["merge", file], ["diff", file, Self.trace],
            ["check", Self.trace, "--budget", file], ["check", Self.trace, "--baseline", file],
            ["report", Self.trace, "--thresholds", file], ["inspect", file], ["inspect", file, "--model", file],
            ["verify", Self.trace, "--store", file],
        ] {
            try expectRefusal(arguments)
        }
    }

    @Test("is rejected as a program's store", arguments: ["pipe", "/dev/zero"])
    func store(file: String) throws {
        let result = try run(["workload", "groceries", "--store", file])
        #expect(result.status == 75)
        #expect(result.errors.contains("is a pipe or a device, which cannot hold a store"))
    }

    @Test("is not copied from next to a store")
    func besideStore() throws {
        let path = directory.path("list.sqlite")
        try SQLiteFile.run("CREATE TABLE list (item)", on: path)
        try #require(symlink("/dev/zero", path + "-wal") == 0)
        _ = try run(["inspect", path])
        try FileManager.default.removeItem(atPath: path + "-wal")
        try #require(mkfifo(path + "-journal", 0o600) == 0)
        _ = try run(["inspect", path])
    }

    @Test("contains no suppression comments")
    func sources() throws {
        let sources = directory.path("Sources")
        try FileManager.default.createDirectory(atPath: sources, withIntermediateDirectories: true)
        try #require(mkfifo(sources + "/Pipe.swift", 0o600) == 0)
        try #require(symlink("/dev/zero", sources + "/Zero.swift") == 0)
        let result = try run(["check", Self.trace, "--sources", sources])
        #expect(result.status == 1 && result.errors.isEmpty)
    }

    /// Returns the path of a trace without symbols, whose modules are all the same file.
    private func trace(withModule module: String) throws -> String {
        let lines = try String(contentsOfFile: Self.trace, encoding: .utf8).components(separatedBy: "\n")
            .filter { !$0.contains("\"faultline.frame\"") }
            .map { $0.replacing(/"path":"[^"]*"/, with: "\"path\":\"\(module)\"") }
        let path = directory.path("trace.json")
        try lines.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test("is not used as a module for symbols", arguments: ["pipe", "/dev/zero", "/dev/tty"])
    func module(file: String) throws {
        let module = file.hasPrefix("/") ? file : directory.path(file)
        let result = try run(["report", trace(withModule: module)])
        #expect(result.status == 0)
        // One per build of the module that the trace names.
        #expect(
            Set(result.errors.split(separator: "\n")) == [
                "faultline: No symbols from \"\(module)\": it cannot be read as a program or library; check the file."
            ])
    }

    @Test("is not used as separate debug information")
    func debugInformation() throws {
        let program = directory.path("program")
        try Data("int main(void) { return 0; }".utf8).write(to: directory.url.appendingPathComponent("program.c"))
        let script = """
            clang -Wl,--build-id program.c -o program && cp program program.debug && strip program && \
            objcopy --add-gnu-debuglink=program.debug program && rm program.debug && mkfifo program.debug && \
            readelf --notes program | sed -n 's/.*Build ID: //p'
            """
        let made = try BuiltCommand.run(["-c", script], program: "/bin/sh", directory: directory.url)
        let identifier = made.output.trimmingCharacters(in: .whitespacesAndNewlines)
        try #require(identifier.count == 40, "\(made)")
        let path = try trace(withModule: program)
        let text = try String(contentsOfFile: path, encoding: .utf8)
            .replacing(/"buildID":"[^"]*"/, with: "\"buildID\":\"\(identifier)\"")
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        #expect(try run(["report", path]).status == 0)
    }

    @Test("may be a shell's pipe, for a budget, thresholds and a baseline")
    func processSubstitution() throws {
        let script = """
            exec timeout 30 "$0" check "$1" --budget <(echo '{"total": {"trips": 1}, "findings": {"fail": "never"}}') \
            --thresholds <(echo '{"R14": {"minimumRows": 5000}}')
            """
        let result = try BuiltCommand.run(["-c", script, BuiltCommand.faultline, Self.trace], program: "/bin/bash")
        #expect(result.status == 1)
        #expect(result.output.contains("Failed: 1 broken budget."))
        #expect(result.errors == "faultline: Thresholds set: R14 minimumRows 5000.\n")
    }

    @Test("is limited in size even if a shell made it")
    func endlessPipe() throws {
        let script = "ulimit -v 4000000; exec timeout 30 \"$0\" check \"$1\" --budget <(cat /dev/zero)"
        let result = try BuiltCommand.run(["-c", script, BuiltCommand.faultline, Self.trace], program: "/bin/bash")
        #expect(result.status == 2)
        #expect(result.errors.hasPrefix("faultline: Cannot read the budget \""))
        #expect(result.errors.hasSuffix("\" (it is larger than 16 MiB); name another file.\n"))
    }
}
