import Foundation
import Testing

@Suite("A trace with a maximum size", .timeLimit(.minutes(10)))
struct MaximumSizeTests {
    private let directory: TemporaryDirectory
    private var trace: String { directory.path("trace.json") }
    private static let program = BuiltCommand.programs.appendingPathComponent("UnrulyProgram").path
    private static let size = 1 << 20

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func record(_ command: [String]) throws -> BuiltCommand.Result {
        try BuiltCommand.run(["record", "--max-size", "1M", "-o", trace, "--"] + command)
    }

    /// The lines of the trace, which must be JSON as a whole.
    private func lines() throws -> [[String: Any]] {
        let data = try Data(contentsOf: URL(fileURLWithPath: trace))
        #expect(data.count <= Self.size)
        return try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
    }

    private func arguments(_ lines: [[String: Any]], of name: String) -> [[String: Any]] {
        lines.filter { $0["name"] as? String == name }.compactMap { $0["args"] as? [String: Any] }
    }

    @Test("keeps the last events, and the report says how many were removed")
    func lastEvents() throws {
        let count = 50_000
        let result = try record([Self.program, "records", "\(count)"])
        #expect(result.status == 0)
        #expect(result.output == "done\n")
        let lines = try lines()
        let kept = lines.filter { $0["ph"] as? String == "X" }
        let began = try #require(arguments(lines, of: "faultline.began").first)
        let removed = try #require(began["removed"] as? Int)
        #expect(kept.count + removed == count)
        #expect(kept.count > 1000)
        // They are the last ones, and the recording begins with them.
        let ended = try #require(arguments(lines, of: "faultline.ended").first)
        #expect(ended["events"] as? Int == count)
        let ends = kept.map { ($0["ts"] as? Double ?? 0) + ($0["dur"] as? Double ?? 0) }
        let start = try #require(began["start"] as? Double) / 1000
        #expect(abs(try #require(ends.min()) - start) < 0.01)

        let words = removed.formatted(.number.locale(Locale(identifier: "en_US")))
        #expect(
            result.errors.replacing("\n", with: " ").contains(
                "none lost, \(words) earlier ones removed by --max-size; recording took"))
        let report = try BuiltCommand.run(["report", trace, "--format", "json"])
        #expect(report.output.contains("\"removed\": \(removed)"))
        let text = try BuiltCommand.run(["report", trace]).output
            .split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(
            text.contains(
                "\(words) earlier events were removed to keep the trace below its maximum size: the report is about the end of the run."
            ))
    }

    @Test("keeps the names of what its events refer to")
    func names() throws {
        let store = directory.path("list.sqlite")
        let work = [
            "workload", "groceries", "--store", store, "--items", "600", "--rows", "600", "--flaws", "location",
        ]
        #expect(try BuiltCommand.run(work + ["--prepare"]).status == 0)
        let script = "\(BuiltCommand.faultline) \(work.joined(separator: " ")) --repeat | head -300"
        #expect(try record(["/bin/sh", "-c", script]).status == 0)
        #expect(try arguments(lines(), of: "faultline.began").contains { $0["removed"] != nil })
        let events = try RecordedEvents(of: trace).all
        let faults = events.filter { $0.kind == "fault" }
        #expect(faults.count > 50)
        #expect(faults.allSatisfy { $0.entityName != nil })
        #expect(events.filter { $0.kind == "sql" }.allSatisfy { $0.sql?.isEmpty == false })
        // The fetch that the first faults came from may be gone, which is no reason to report less.
        let report = try ReportDocument(of: trace)
        #expect(report.groups.contains { $0.kind == "fault" && $0.site?.text.hasPrefix("Groceries.swift:") == true })
    }

    @Test("leaves out processes that have no event left")
    func processes() throws {
        let result = try record(["/bin/sh", "-c", "\(Self.program) records 30000; \(Self.program) records 30000"])
        #expect(result.status == 0)
        let lines = try lines()
        let began = arguments(lines, of: "faultline.began")
        let kept = lines.count { $0["ph"] as? String == "X" }
        #expect(began.count == 1)
        #expect(try #require(began.first?["removed"] as? Int) + kept == 60_000)
        // The costs on this machine are an entry of the recording process.
        let processes = lines.filter { $0["name"] as? String != "faultline.calibration" }.compactMap {
            $0["pid"] as? Int
        }
        #expect(Set(processes).count == 1)
    }

    /// Waits until the trace has been a number of files: a new one takes its place each time that events are removed.
    private func awaitFiles(_ count: Int) {
        var (files, last) = (0, UInt64(0))
        while files < count {
            var status = stat()
            if stat(trace, &status) == 0, status.st_ino != last { (files, last) = (files + 1, UInt64(status.st_ino)) }
        }
    }

    @Test("leaves a file alone that takes the trace's place during the recording")
    func replaced() throws {
        let running = try RunningCommand(
            BuiltCommand.faultline,
            ["record", "--max-size", "1M", "-o", trace, "--quiet", "--", Self.program, "records", "1000000"])
        awaitFiles(3)
        let moved = directory.path("moved.json")
        try FileManager.default.moveItem(atPath: trace, toPath: moved)
        try "a letter\n".write(toFile: trace, atomically: false, encoding: .utf8)
        let result = running.finish()
        #expect(result.status == 0)
        #expect(try String(contentsOfFile: trace, encoding: .utf8) == "a letter\n")
        // The trace goes on where it is.
        let data = try Data(contentsOf: URL(fileURLWithPath: moved))
        #expect(try JSONSerialization.jsonObject(with: data) is [Any])
        #expect(
            result.errors.hasPrefix(
                "faultline: The trace \"\(trace)\" is longer than its maximum size, because it was moved during the recording; "
                    + "leave it where it is until the recording ends.\n"))
    }

    @Test("is whole after record was killed while it removed events", arguments: 0..<6)
    func killed(attempt: Int) throws {
        let program = "trap '' TERM; \(Self.program) records 1000000"
        let running = try RunningCommand(
            BuiltCommand.faultline, ["record", "--max-size", "1M", "-o", trace, "--", "/bin/sh", "-c", program])
        awaitFiles(3 + attempt)
        kill(running.identifier, SIGKILL)
        #expect(running.finish().wasKilled)
        // The program goes on, and has ended once its rings can be read to the end.
        var report = try BuiltCommand.run(["report", trace])
        while report.errors.contains("still") { report = try BuiltCommand.run(["report", trace]) }
        #expect(report.status == 0)
        #expect(report.errors.contains("the program ended before the trace was complete; the last "))
        let data = try Data(contentsOf: URL(fileURLWithPath: trace))
        #expect(try JSONSerialization.jsonObject(with: data) is [Any])
        #expect(try copies() == [])
    }

    /// The files that replace the trace, and do not have its name yet.
    private func copies() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.url.path).filter { $0.contains("shorter") }
    }

    @Test("can be completed by \"recover\" after it was copied")
    func copied() throws {
        let program = "trap '' TERM; \(Self.program) records 300000"
        let running = try RunningCommand(
            BuiltCommand.faultline, ["record", "--max-size", "1M", "-o", trace, "--", "/bin/sh", "-c", program])
        awaitFiles(4)
        let size = try attributes()[.size] as? Int
        while try attributes()[.size] as? Int == size {}
        kill(running.identifier, SIGKILL)
        #expect(running.finish().wasKilled)
        let copy = directory.path("copy.json")
        try Data(contentsOf: URL(fileURLWithPath: trace)).write(to: URL(fileURLWithPath: copy))
        try FileManager.default.removeItem(atPath: trace)
        #expect(try arguments(parsed(copy), of: "faultline.began").contains { $0["removed"] != nil })
        var recovered = try BuiltCommand.run(["recover", copy])
        while recovered.errors.contains("still") { recovered = try BuiltCommand.run(["recover", copy]) }
        #expect(recovered.status == 0)
        #expect(recovered.errors.hasSuffix(" events were added.\n"))
        #expect(try !arguments(parsed(copy), of: "faultline.ended").isEmpty)
    }

    private func attributes() throws -> [FileAttributeKey: Any] {
        try FileManager.default.attributesOfItem(atPath: trace)
    }

    /// The lines of a trace, whose end may be missing.
    private func parsed(_ path: String) throws -> [[String: Any]] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").compactMap { line in
            let text = line.hasSuffix(",") ? line.dropLast() : line
            return try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        }
    }

    @Test("keeps its mode, and can have the longest name")
    func mode() throws {
        let long = directory.path(String(repeating: "n", count: 255))
        #expect(FileManager.default.createFile(atPath: long, contents: nil, attributes: [.posixPermissions: 0o640]))
        let result = try BuiltCommand.run([
            "record", "--max-size", "1M", "-o", long, "--", Self.program, "records", "50000",
        ])
        #expect(result.status == 0)
        #expect(result.errors.contains("removed by --max-size"))
        let attributes = try FileManager.default.attributesOfItem(atPath: long)
        #expect(attributes[.posixPermissions] as? Int == 0o640)
    }

    @Test("is refused before the command runs if the trace has two names")
    func links() throws {
        #expect(FileManager.default.createFile(atPath: trace, contents: nil))
        try FileManager.default.linkItem(atPath: trace, toPath: directory.path("other.json"))
        let result = try record(["/bin/echo", "ran"])
        #expect(result.status == 2)
        #expect(
            result.errors
                == "faultline: The trace \"\(trace)\" cannot have a maximum size, because no shorter file can take its place "
                + "(it has several hard links); name another file with -o.\n")
        #expect(result.output == "")
        #expect(try copies() == [])
    }

    @Test("removes what a killed recording left beside it, and nothing else")
    func left() throws {
        let left = directory.path(".faultline-shorter-1-0")
        let foreign = directory.path(".faultline-shorter-notes")
        try "[\n".write(toFile: left, atomically: false, encoding: .utf8)
        try "a letter\n".write(toFile: foreign, atomically: false, encoding: .utf8)
        #expect(try record(["/bin/true"]).status == 0)
        #expect(try copies() == [".faultline-shorter-notes"])
    }

    @Test(
        "is refused with a sentence if it makes no sense",
        arguments: [
            (["--max-size", "10K"], "--max-size takes at least 1M."),
            (["--max-size", "much"], "The value 'much' is invalid for '--max-size <SIZE>'"),
            (["--max-size", "99999999999999999T"], "is invalid for '--max-size <SIZE>'"),
            (
                ["--max-size", "5MB", "--to", "lttng"],
                "--max-size limits timelines only. For LTTng, create a session with"
            ),
        ])
    func refused(options: [String], sentence: String) throws {
        let result = try BuiltCommand.run(["record", "-o", trace] + options + ["--", "/bin/echo", "ran"])
        #expect(result.status == 2)
        #expect(result.errors.contains(sentence))
        #expect(result.output == "")
        #expect(!FileManager.default.fileExists(atPath: trace))
    }
}
