import Foundation
import TestFolders
import Testing

/// A program in `SmallPrograms` that does not know Faultline.
struct SmallProgram: CustomTestStringConvertible {
    enum Form: String {
        case flawed, repaired
    }

    /// A finding that a report must have.
    struct Expectation: Hashable, Comparable {
        var rule: String
        /// The line, such as `people.py:32`; `nil` if the program has no lines.
        var place: String?

        static func < (one: Expectation, other: Expectation) -> Bool {
            (one.rule, one.place ?? "") < (other.rule, other.place ?? "")
        }
    }

    private static let folder = BuiltCommand.package.appendingPathComponent("Tests/Integration/SmallPrograms")
    let name: String
    var testDescription: String { name }
    private var url: URL { Self.folder.appendingPathComponent(name) }

    static let all: [SmallProgram] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { !$0.contains(".") }.sorted().map { SmallProgram(name: $0) }
    }()

    static let needs =
        "needs gcc, sqlite3, python3-django, -sqlalchemy, -peewee and a build of grdb_playlists: make test-commands"

    static var canRun: Bool {
        let builds = Form.flawed.rawValue
        return CProgram.canBuild && ["django", "sqlalchemy", "peewee"].allSatisfy(PythonPackages.has)
            && FileManager.default.isExecutableFile(atPath: "/usr/bin/sqlite3")
            && FileManager.default.isExecutableFile(
                atPath: folder.appendingPathComponent("grdb_playlists/.build/debug/\(builds)").path)
    }

    /// The findings that the comments of the flawed form ask for.
    func expectations() throws -> [Expectation] {
        let files = FileManager.default.enumerator(at: url, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL }
        let sources = (files ?? []).filter {
            ["py", "c", "sh", "swift"].contains($0.pathExtension) && !$0.path.contains("repaired")
                && !$0.path.contains("/.build/")
        }
        var found: [Expectation] = []
        for source in sources {
            let lines = try String(contentsOf: source, encoding: .utf8).split(
                separator: "\n", omittingEmptySubsequences: false)
            for (index, line) in lines.enumerated() {
                guard let mark = line.firstMatch(of: /finds((?: R\d\d)+)/) else { continue }
                let place = source.pathExtension == "sh" ? nil : "\(source.lastPathComponent):\(index + 1)"
                found += mark.1.split(separator: " ").map { Expectation(rule: String($0), place: place) }
            }
        }
        return found.sorted()
    }

    /// The command that runs a form.
    private func command(_ form: Form, in directory: TemporaryDirectory) throws -> [String] {
        let source = { (type: String) in url.appendingPathComponent("\(form.rawValue).\(type)").path }
        if FileManager.default.fileExists(atPath: source("py")) { return [PythonPackages.python, source("py")] }
        if FileManager.default.fileExists(atPath: source("sh")) { return ["/bin/sh", source("sh")] }
        guard FileManager.default.fileExists(atPath: source("c")) else {
            return [url.appendingPathComponent(".build/debug/\(form.rawValue)").path]
        }
        let program = directory.path("program")
        let built = try BuiltCommand.run(
            ["-g", "-O1", "-fno-omit-frame-pointer", "-o", program, source("c"), "-lsqlite3"], program: "/usr/bin/cc")
        try #require(built.status == 0, "\(built.errors)")
        return [program]
    }

    /// A recorded run of a form.
    struct Run {
        var output: String
        var findings: [ReportDocument.Finding]
        var trace: String
        var store: String
    }

    func record(_ form: Form) throws -> Run {
        let directory = try TemporaryDirectory()
        let (trace, store) = (directory.path("trace.json"), directory.path("store.sqlite"))
        let words = try command(form, in: directory) + [store]
        let result = try BuiltCommand.run(
            ["record", "--quiet", "-o", trace, "--"] + words, environment: ["PYTHONDONTWRITEBYTECODE": "1"])
        try #require(result.status == 0, "\(result.errors)")
        return Run(
            output: result.output, findings: try ReportDocument(of: trace).findings, trace: trace, store: store)
    }
}

@Suite("A small program that does not know Faultline", .serialized, .timeLimit(.minutes(10)))
struct SmallProgramTests {
    @Test(
        "has the right findings at its flawed lines, and none once it is repaired",
        .enabled(if: SmallProgram.canRun, Comment(rawValue: SmallProgram.needs)), arguments: SmallProgram.all)
    func findings(program: SmallProgram) throws {
        let flawed = try program.record(.flawed)
        let expected = try program.expectations()
        let hasLines = expected.allSatisfy { $0.place != nil }
        let found = flawed.findings.filter { $0.severity != "note" }.map {
            SmallProgram.Expectation(rule: $0.rule, place: hasLines ? $0.change?.text : nil)
        }
        #expect(!expected.isEmpty)
        #expect(found.sorted() == expected)
        let repaired = try program.record(.repaired)
        #expect(repaired.findings.filter { $0.severity != "note" }.map(\.title) == [])
        #expect(!flawed.output.isEmpty && flawed.output == repaired.output)
    }

    @Test(
        "is reported at the callers of a wrapper that counts as a library",
        .enabled(if: SmallProgram.canRun, Comment(rawValue: SmallProgram.needs)))
    func library() throws {
        let run = try #require(SmallProgram.all.first { $0.name == "python_directory" }).record(.flawed)
        let lines = { (options: [String]) in
            let result = try BuiltCommand.run(["report", run.trace, "--format", "json"] + options)
            let findings = try JSONDecoder().decode(ReportDocument.self, from: Data(result.output.utf8)).findings
            return findings.filter { $0.rule == "R06" }.compactMap { $0.change?.text }.sorted()
        }
        #expect(try lines([]) == ["people.py:27", "people.py:32", "people.py:39"])
        let callers = ["flawed.py:8", "flawed.py:9", "flawed.py:10"].sorted()
        #expect(try lines(["--library", "people.py"]) == callers)
        #expect(try lines(["--library", "SmallPrograms/python_directory/people.py"]) == callers)
        #expect(try lines(["--library", "eople.py"]) == ["people.py:27", "people.py:32", "people.py:39"])
        // If everything is a library's, the innermost line is the best one.
        #expect(try lines(["--library", "python_directory"]) == ["people.py:27", "people.py:32", "people.py:39"])
        let refused = try BuiltCommand.run(["report", run.trace, "--library", "/"])
        #expect(refused.status == 64 || refused.status == 2)
        #expect(refused.errors.contains("--library takes a file or a directory of the program, such as src/db."))
    }

    @Test func `There are thirty-two`() {
        #expect(SmallProgram.all.count == 32)
    }
}
