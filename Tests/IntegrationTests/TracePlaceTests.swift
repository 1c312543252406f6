import Foundation
import Testing

/// `record -o FILE` replaces a trace, and nothing else.
@Suite("The place for a trace")
struct TracePlaceTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func record(to place: String, _ command: [String]) throws -> BuiltCommand.Result {
        try BuiltCommand.run(["record", "-o", place, "--"] + command, directory: directory.url)
    }

    @Test("is as it was if the command cannot be run")
    func untouched() throws {
        let precious = directory.path("precious.txt")
        try "precious\n".write(toFile: precious, atomically: true, encoding: .utf8)
        let result = try record(to: precious, ["/no/such/program"])
        #expect(result.status == 2)
        #expect(try String(contentsOfFile: precious, encoding: .utf8) == "precious\n")
        #expect(try record(to: "new.json", ["/no/such/program"]).status == 2)
        #expect(!FileManager.default.fileExists(atPath: directory.path("new.json")))
    }

    @Test("is not the program that is to be recorded")
    func theProgram() throws {
        let program = directory.path("P")
        try FileManager.default.copyItem(atPath: "/bin/true", toPath: program)
        let before = try Data(contentsOf: URL(fileURLWithPath: program))
        let result = try record(to: "./P", ["./P"])
        #expect(result.status == 2)
        #expect(
            result.errors == "faultline: The command \"./P\" cannot be run (Text file busy); "
                + "name a program that is in PATH, or its path.\n")
        #expect(try Data(contentsOf: URL(fileURLWithPath: program)) == before)
    }

    @Test("has to be a regular file", arguments: ["/dev/null", "/dev/full", "pipe", "folder", "link"])
    func notRegular(place: String) throws {
        mkfifo(directory.path("pipe"), 0o600)
        try FileManager.default.createDirectory(atPath: directory.path("folder"), withIntermediateDirectories: true)
        symlink("/dev/null", directory.path("link"))
        let result = try record(to: place, ["/bin/echo", "ran"])
        #expect(
            result.errors
                == "faultline: The trace \"\(place)\" cannot be written (not a regular file); name another file.\n")
        #expect(result.status == 2 && result.output.isEmpty)
        #expect(FileManager.default.fileExists(atPath: place.hasPrefix("/") ? place : directory.path(place)))
        let alone = try UnrulyProgram.run(["records", "1"], trace: place, directory: directory.url)
        #expect(alone.errors == result.errors && alone.output == "done\n" && alone.status == 0)
    }

    @Test("may be a link to a file, there already or not")
    func linked() throws {
        symlink("target.json", directory.path("link.json"))
        for _ in 0..<2 {
            let result = try record(to: "link.json", [UnrulyProgram.path, "records", "3"])
            #expect(result.status == 0)
            #expect(try UnrulyProgram.fetches(directory.path("target.json")) == 3)
        }
        symlink("nothing.json", directory.path("other.json"))
        #expect(try record(to: "other.json", ["/no/such/program"]).status == 2)
        #expect(!FileManager.default.fileExists(atPath: directory.path("nothing.json")))
    }
}
