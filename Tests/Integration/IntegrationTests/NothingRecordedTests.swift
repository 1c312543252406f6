import Foundation
import TestFolders
import Testing

@Suite("If nothing is recorded, record says why")
struct NothingRecordedTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func record(_ words: [String], command: String = BuiltCommand.faultline) throws -> BuiltCommand.Result {
        try BuiltCommand.run(
            ["record", "-o", directory.path("trace.json"), "--"] + words, program: command)
    }

    private func build(_ source: String, _ arguments: [String]) throws -> String {
        try CProgram.build(source, arguments, in: directory)
    }

    @Test("A static program", .enabled(if: CProgram.canBuild, "needs cc: apt-get install gcc"))
    func staticProgram() throws {
        let program = try build("int main(void) { return 4; }", ["-static"])
        let result = try record([program])
        #expect(result.status == 4)
        #expect(
            result.errors
                == "faultline: No process of \"\(program)\" recorded anything: \(program) is linked statically, so "
                + "no library can be preloaded into it; link it dynamically, or use FaultlineStore.\n")
    }

    @Test(
        "A program with a copy of SQLite that exports nothing, also if a shell started it", arguments: [false, true])
    func ownCopy(inShell: Bool) throws {
        try #require(CProgram.canBuild)
        let program = try build(
            "const char *version = \"\(CProgram.sourcesOfSQLite)\"; int main(void) { return version == 0; }", ["-O1"])
        let result = try record(inShell ? ["/bin/sh", "-c", "\(program); \(program)"] : [program])
        let sentence =
            "\(program) contains its own copy of SQLite (of 2024-01-15), whose calls cannot be seen from outside; use a build "
            + "that is linked to libsqlite3.\n"
        #expect(result.errors.hasPrefix("faultline: Not recorded: " + sentence))
        #expect(result.errors.contains("recorded anything: no process opened a Faultline store or called SQLite"))
    }

    @Test("A library that exports its copy of SQLite is no hidden copy")
    func exportedCopy() throws {
        try #require(CProgram.canBuild)
        let program = try build(
            "const char *version = \"\(CProgram.sourcesOfSQLite)\"; int sqlite3_step(void) { return 0; } int main(void) { return 0; }",
            ["-rdynamic"])
        #expect(try !record([program]).errors.contains("Not recorded"))
    }

    @Test("An extension for SQLite that names its version is no hidden copy")
    func loadableExtension() throws {
        try #require(CProgram.canBuild)
        let program = try build(
            "const char *version = \"\(CProgram.sourcesOfSQLite)\"; int sqlite3_words_init(void) { return 0; } "
                + "int main(void) { return version == 0; }", ["-O1", "-rdynamic"])
        #expect(try !record([program]).errors.contains("Not recorded"))
    }

    @Test("A command without the library beside it")
    func noLibrary() throws {
        let copy = directory.path("faultline")
        try FileManager.default.copyItem(atPath: BuiltCommand.faultline, toPath: copy)
        let result = try record(["true"], command: copy)
        #expect(
            result.errors == "faultline: No process of \"true\" recorded anything: none uses FaultlineStore, and "
                + "libFaultlinePreload.so, which records other programs, is not beside the command; build it with "
                + "\"make build\".\n")
    }

    @Test("The library is found and preloaded from a path with spaces and colons")
    func awkwardPath() throws {
        let place = directory.path("a place: one")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        for name in ["faultline", "libFaultlinePreload.so"] {
            try FileManager.default.copyItem(
                at: BuiltCommand.products.appendingPathComponent(name), to: URL(fileURLWithPath: place + "/" + name))
        }
        let program = BuiltCommand.programs.appendingPathComponent("SQLiteProgram").path
        let result = try record([program, "books", ":memory:"], command: place + "/faultline")
        #expect(result.status == 0 && result.errors.contains("SELECT name FROM author WHERE id = ?"))
        #expect(result.errors.contains("R27 Statement in a loop"))
    }
}
