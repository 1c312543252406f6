import Foundation
import Testing

/// A program in a package of its own, which uses only Faultline's public products.
enum OutsideProgram {
    private static let package = BuiltCommand.package.appendingPathComponent("Tests/OutsideProgram")

    /// The built program.
    static var path: String { programs + "/Library" }

    /// The folder of the built programs, or a sentence that says why there are none.
    ///
    /// They are built once, next to the other products.
    static let programs: String = {
        let scratch = BuiltCommand.programs.deletingLastPathComponent().appendingPathComponent("outside-program")
        let build = ["build", "--package-path", package.path, "--scratch-path", scratch.path]
        do {
            var built = try BuiltCommand.run(["swift"] + build, program: "/usr/bin/env")
            if built.status != 0, FileManager.default.fileExists(atPath: scratch.path) {
                // An earlier build's leftovers may not know files added since.
                try FileManager.default.removeItem(at: scratch)
                built = try BuiltCommand.run(["swift"] + build, program: "/usr/bin/env")
            }
            guard built.status == 0 else { return "does not build: \(built.output)\(built.errors)" }
        } catch {
            return "does not build: \(error)"
        }
        return scratch.appendingPathComponent("debug").path
    }()

    /// Returns the line of a program's source that contains a text.
    static func line(_ text: String, of program: String = "Library") throws -> Int {
        try SourceLine.find(text, in: package.appendingPathComponent("Sources/\(program)/main.swift"))
    }

    /// Records the program on a new store, and returns the trace.
    static func record() throws -> (trace: String, store: String, result: BuiltCommand.Result) {
        let directory = try TemporaryDirectory()
        let (trace, store) = (directory.path("trace.json"), directory.path("library.sqlite"))
        let result = try BuiltCommand.run(["record", "-o", trace, "--", OutsideProgram.path, store])
        return (trace, store, result)
    }
}

@Suite("A program of another package")
struct OutsideProgramTests {
    @Test("with relationships loaded in a loop gets a finding with the fetch to change and where it was seen")
    func diagnosis() throws {
        let recorded = try OutsideProgram.record()
        try #require(recorded.result.status == 0, "\(recorded.result.errors)")
        #expect(recorded.result.output.split(separator: "\n").count == 40)
        let report = try ReportDocument(of: recorded.trace)
        // Whether forty trips of a few microseconds cost more than a prefetch depends on the machine, so it may be a
        // note.
        #expect(report.findings.allSatisfy { $0.rule == "R01" || $0.severity == "note" })
        let finding = try #require(report.findings.first { $0.rule == "R01" })
        #expect(finding.severity != "error")
        #expect(finding.code == [#"request.relationshipKeyPathsForPrefetching = ["books"]"#])
        #expect(finding.change?.text == "main.swift:\(try OutsideProgram.line("reading.fetch("))")
        #expect(
            finding.seenAt.map(\.site?.text) == ["main.swift:\(try OutsideProgram.line("shelf[Shelf.books].reduce"))"])
        #expect(finding.evidence.first { $0.name == "trips" }?.value == 40)
        #expect(finding.saving.trips == 39)
        // Values in the rows stay out of the trace.
        let text = try String(contentsOfFile: recorded.trace, encoding: .utf8)
        #expect(!text.contains("Shelf 7") && !text.contains("Book 1"))
    }

    @Test("has its older store migrated, although it imports the store alone")
    func migration() throws {
        let recorded = try OutsideProgram.record()
        try #require(recorded.result.status == 0, "\(recorded.result.errors)")
        let newer = try BuiltCommand.run([recorded.store, "newer"], program: OutsideProgram.path)
        #expect(newer.output == "240 books without a year: true\n", "\(newer.errors)")
    }

    @Test("has more in its row cache than the copy of its store, so the cache is filled before measuring")
    func cachedRows() throws {
        let recorded = try OutsideProgram.record()
        try #require(recorded.result.status == 0, "\(recorded.result.errors)")
        let tried = try BuiltCommand.run(["verify", recorded.trace, "--store", recorded.store])
        #expect(tried.status == 0, "\(tried.errors)")
        #expect(
            tried.output.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains(
                "With an empty row cache, related objects take 280 trips here, but took 40 in the trace. So the times "
                    + "are those "
                    + "of a second run, whose row cache has the objects."), "\(tried.output)")
    }

    @Test("as the README shows it gets the finding that the README promises, at both lines")
    func quickStart() throws {
        let directory = try TemporaryDirectory()
        let trace = directory.path("before.json")
        let program = OutsideProgram.programs + "/QuickStart"
        // The first run fills the store.
        let filled = try BuiltCommand.run([], program: program, directory: directory.url)
        try #require(filled.status == 0, "\(filled.errors)")
        let recorded = try BuiltCommand.run(["record", "-o", trace, "--", program], directory: directory.url)
        #expect(recorded.output == filled.output && recorded.output.split(separator: "\n").count == 500)
        let finding = try #require(try ReportDocument(of: trace).findings.first { $0.rule == "R01" })
        #expect(finding.code == [#"request.relationshipKeyPathsForPrefetching = ["books"]"#])
        #expect(finding.saving.trips == 5499)
        let lines = try ["context.fetch(request)", "shelf[Shelf.books]"].map {
            "main.swift:\(try OutsideProgram.line($0, of: "QuickStart"))"
        }
        #expect(([finding.change] + finding.seenAt.map(\.site)).map(\.?.text) == lines)
    }
}
