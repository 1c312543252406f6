import Foundation
import TestFolders
import Testing

@Suite("faultline doctor -- COMMAND", .enabled(if: CProgram.canBuild, "needs cc: apt-get install gcc"))
struct DoctorProgramTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func checks(_ command: String) throws -> [String: DoctorReport.Check] {
        let report = try DoctorReport(["--", command], directory: directory.url)
        let group = try #require(report.groups.first)
        #expect(group.name == "Program \(command)")
        return Dictionary(group.checks.map { ($0.name, $0) }) { first, _ in first }
    }

    /// A function that is long enough to need a frame.
    private static let source = """
        #include <stdio.h>
        int read_rows(int count) {
            int sum = 0;
            for (int row = 0; row < count; row++) { printf("%d %d", row, sum); sum += row * row; }
            printf("%d of %d", sum, count);
            return sum;
        }

        """

    @Test("A C program has its SQLite, its frame pointers and its lines")
    func program() throws {
        let source =
            Self.source + "int sqlite3_step(void *); int main(void) { return read_rows(3) + sqlite3_step(0); }"
        let good = try checks(
            CProgram.build(source, ["-g", "-O1", "-fno-omit-frame-pointer", "-lsqlite3"], in: directory))
        #expect(good["program"]?.state == "ok" && good["preloading"]?.state == "ok")
        #expect(good["SQLite"]?.found.contains("libsqlite3.so.0") == true)
        #expect(good["frame pointers"]?.state == "ok" && good["lines"]?.state == "ok")
        let bare = try checks(
            CProgram.build(source, ["-O1", "-fomit-frame-pointer", "-lsqlite3"], in: directory))
        #expect(bare["frame pointers"]?.state == "warning")
        #expect(bare["frame pointers"]?.remedy.contains("-fno-omit-frame-pointer") == true)
        #expect(bare["lines"]?.found == "functions only")
        let stripped = try checks(CProgram.build(source, ["-s", "-lsqlite3"], in: directory))
        #expect(stripped["lines"]?.found == "neither functions nor lines")
        #expect(stripped["frame pointers"]?.state == "missing")
    }

    @Test("A copy of SQLite that exports nothing is named, and so is a program without any")
    func copies() throws {
        let hidden = "const char *version = \"\(CProgram.sourcesOfSQLite)\"; int main(void) { return version == 0; }"
        let found = try checks(CProgram.build(hidden, ["-O1"], in: directory))["SQLite"]
        #expect(found?.state == "failed" && found?.isEssential == true)
        #expect(found?.found.contains("its own copy (of 2024-01-15)") == true)
        let none = try checks(CProgram.build("int main(void) { return 0; }", [], in: directory))["SQLite"]
        #expect(none?.state == "missing" && none?.remedy == "")
    }

    @Test("A program that nothing can be preloaded into is an obstacle")
    func obstacles() throws {
        let program = try CProgram.build("int main(void) { return 0; }", ["-static"], in: directory)
        let found = try checks(program)
        #expect(found.keys.sorted() == ["program"] && found["program"]?.state == "failed")
        #expect(found["program"]?.found == "\(program) is linked statically")
        let missing = try checks("/nowhere/program")
        #expect(missing["program"]?.found == "no program \"/nowhere/program\" in PATH")
        let text = directory.path("text")
        try "no program".write(toFile: text, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: text)
        #expect(try checks(text)["program"]?.found == "\(text) is not a 64-bit ELF file")
    }

    @Test("A Python interpreter is asked for its version and its SQLite, also for a script", arguments: Python.known)
    func python(python: Python) throws {
        let script = directory.path("manage.py")
        try "#!\(python.path)\nraise SystemExit(7)\n".write(toFile: script, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script)
        for command in [python.path, script] {
            let found = try checks(command)
            #expect(found["Python"]?.found == "3.\(python.minor): functions and lines")
            #expect(found["SQLite"]?.state == "ok" && found["SQLite"]?.found.contains("_sqlite3") == true)
            #expect(found["frame pointers"] == nil)
        }
    }
}
