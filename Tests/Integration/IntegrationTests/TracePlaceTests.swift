import Foundation
import Testing

/// `record -o FILE` replaces only traces.
@Suite("The file for a trace")
struct TracePlaceTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func record(to place: String, _ command: [String]) throws -> BuiltCommand.Result {
        try BuiltCommand.run(["record", "-o", place, "--"] + command, directory: directory.url)
    }

    @Test("is unchanged if the command cannot be run")
    func untouched() throws {
        let precious = directory.path("precious.txt")
        try "precious\n".write(toFile: precious, atomically: true, encoding: .utf8)
        let result = try record(to: precious, ["/no/such/program"])
        #expect(result.status == 2)
        #expect(try String(contentsOfFile: precious, encoding: .utf8) == "precious\n")
        #expect(try record(to: "new.json", ["/no/such/program"]).status == 2)
        #expect(!FileManager.default.fileExists(atPath: directory.path("new.json")))
    }

    @Test("is never one that Faultline did not write, unless the user insists")
    func foreign() throws {
        let precious = directory.path("keep.sqlite")
        try "precious\n".write(toFile: precious, atomically: true, encoding: .utf8)
        let refused = try record(to: precious, ["/bin/echo", "ran"])
        #expect(refused.status == 2 && refused.output.isEmpty)
        #expect(
            refused.errors == "faultline: Cannot write \"\(precious)\": it exists and is not a trace that Faultline "
                + "recorded; name another file with -o, or replace it with --force.\n")
        #expect(try String(contentsOfFile: precious, encoding: .utf8) == "precious\n")
        let command = ["record", "--force", "-o", precious, "--"]
        #expect(try BuiltCommand.run(command + ["/bin/true"], directory: directory.url).status == 0)
        #expect(try String(contentsOfFile: precious, encoding: .utf8) == "precious\n")
        let forced = try BuiltCommand.run(command + [UnrulyProgram.path, "records", "3"], directory: directory.url)
        #expect(forced.status == 0)
        #expect(try String(contentsOfFile: precious, encoding: .utf8).hasPrefix("[\n{\"name\":\"faultline.began\""))
    }

    @Test("keeps an earlier trace that an empty recording would replace")
    func earlier() throws {
        #expect(try record(to: "trace.json", [UnrulyProgram.path, "records", "3"]).status == 0)
        let earlier = try Data(contentsOf: URL(fileURLWithPath: directory.path("trace.json")))
        let empty = try record(to: "trace.json", ["/bin/true"])
        #expect(empty.errors.contains("trace.json\" is unchanged: an empty trace replaces nothing."))
        #expect(try Data(contentsOf: URL(fileURLWithPath: directory.path("trace.json"))) == earlier)
        #expect(try record(to: "trace.json", [UnrulyProgram.path, "records", "5"]).errors.contains("5 events"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == ["trace.json"])
    }

    @Test("is kept if another writer changed it during the recording")
    func changed() throws {
        #expect(try record(to: "trace.json", [UnrulyProgram.path, "records", "3"]).status == 0)
        let script = "\(UnrulyProgram.path) records 5; echo mine > trace.json"
        let result = try record(to: "trace.json", ["/bin/sh", "-c", script])
        #expect(result.errors.contains("trace.json\" changed during the recording and is kept; this recording is in "))
        #expect(try String(contentsOfFile: directory.path("trace.json"), encoding: .utf8) == "mine\n")
        #expect(FileManager.default.fileExists(atPath: directory.path("trace-recording.json")))
    }

    @Test("of a program that records itself is always a new one")
    func besideEarlier() throws {
        for _ in 0..<2 {
            _ = try UnrulyProgram.run(["becomes-another"], trace: "trace.json", directory: directory.url)
        }
        let traces = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
        #expect(traces.count == 4 && traces.contains("trace.json"))
        let events = try traces.map { name in
            try BuiltCommand.run(["events", name, "--kind", "fetch", "--format", "json"], directory: directory.url)
                .output
                .count(where: \.isNewline)
        }
        #expect(events.sorted() == [3, 3, 4, 4])
    }

    @Test("is not the program to be recorded")
    func theProgram() throws {
        let program = directory.path("P")
        try FileManager.default.copyItem(atPath: "/bin/true", toPath: program)
        let before = try Data(contentsOf: URL(fileURLWithPath: program))
        let result = try record(to: "./P", ["./P"])
        #expect(result.status == 2)
        #expect(
            result.errors == "faultline: Cannot write \"./P\": it would replace \"./P\", which the command reads; name "
                + "another file with -o.\n")
        #expect(try Data(contentsOf: URL(fileURLWithPath: program)) == before)
    }

    @Test("has to be a regular file", arguments: ["/dev/null", "/dev/full", "pipe", "folder", "link"])
    func notRegular(place: String) throws {
        mkfifo(directory.path("pipe"), 0o600)
        try FileManager.default.createDirectory(atPath: directory.path("folder"), withIntermediateDirectories: true)
        symlink("/dev/null", directory.path("link"))
        let result = try record(to: place, ["/bin/echo", "ran"])
        let reason = place == "folder" ? "it is a directory" : "it is not a regular file"
        #expect(result.errors == "faultline: Cannot write \"\(place)\": \(reason); name another file with -o.\n")
        #expect(result.status == 2 && result.output.isEmpty)
        #expect(FileManager.default.fileExists(atPath: place.hasPrefix("/") ? place : directory.path(place)))
        let alone = try UnrulyProgram.run(["records", "1"], trace: place, directory: directory.url)
        #expect(
            alone.errors
                == "faultline: The trace \"\(place)\" cannot be written (not a regular file); name another file.\n")
        #expect(alone.output == "done\n" && alone.status == 0)
    }

    @Test("may be a link to a file that exists or not")
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
