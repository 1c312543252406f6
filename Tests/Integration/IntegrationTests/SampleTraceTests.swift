import Foundation
import ProjectFiles
import Testing

@Suite("The sample traces")
struct SampleTraceTests {
    private func text(_ story: String, _ file: String) throws -> String {
        try String(contentsOf: SampleTraces.folder.appendingPathComponent("\(story)/\(file)"), encoding: .utf8)
    }

    @Test("exist")
    func present() {
        #expect(SampleTraces.stories.count >= 5)
    }

    /// Returns the contents of a trace's files, by their paths.
    private func contents(_ trace: URL) throws -> [String: Data] {
        let below = FileManager.default.enumerator(atPath: trace.path)?.compactMap { $0 as? String } ?? []
        var contents: [String: Data] = [:]
        for name in [""] + below {
            let file = name.isEmpty ? trace : trace.appendingPathComponent(name)
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            if attributes[.type] as? FileAttributeType == .typeRegular { contents[name] = try Data(contentsOf: file) }
        }
        return contents
    }

    @Test("give exactly the reports next to them, and stay unchanged", arguments: SampleTraces.stories)
    func report(story: String) throws {
        let trace = try SampleTraces.trace(story)
        // A copy, because symbols that a report adds to a trace must not hide that something was missing.
        let copy = try TemporaryDirectory().url.appendingPathComponent(trace.lastPathComponent)
        try FileManager.default.copyItem(at: trace, to: copy)
        // The report ends with a command that names the trace.
        let result = try BuiltCommand.run(
            ["report", copy.lastPathComponent], directory: copy.deletingLastPathComponent())
        #expect(result.status == 0 && result.errors.isEmpty)
        #expect(result.output == (try text(story, "report.txt")))
        #expect(try contents(copy) == contents(trace))
        #expect(try text(story, "record.sh").contains("-o \(trace.lastPathComponent) -- "))
    }

    @Test("are shown completely with --all, with every finding and every hotspot", arguments: SampleTraces.timelines)
    func all(story: String) throws {
        let path = try SampleTraces.trace(story).path
        let result = try BuiltCommand.run(["report", "--all", path])
        #expect(result.status == 0)
        #expect(!result.output.contains("  Also\n") && !result.output.contains(" more)\n"))
        let document = try ReportDocument(of: path)
        let words = Set(result.output.split(whereSeparator: \.isWhitespace))
        for finding in document.findings {
            let code = finding.code.flatMap { $0.split(separator: " ") }
            #expect(code.allSatisfy { $0.count > 60 || words.contains($0) }, "\(finding.title)")
        }
    }

    @Test("contain no values of the rows", arguments: SampleTraces.stories)
    func values(story: String) throws {
        for (file, bytes) in try contents(SampleTraces.trace(story)) {
            for value in [
                "cupboard", "aisle 1", "Potatoes", "Shelf 7", "Book 1 of", "Iron Maiden", "Heavy Metal Classic",
            ] {
                #expect(bytes.range(of: Data(value.utf8)) == nil, "\(value) in \(file)")
            }
        }
    }

    @Test("match the README")
    func readme() throws {
        let readme = try String(contentsOf: BuiltCommand.package.appendingPathComponent("README.md"), encoding: .utf8)
        let begin = try #require(readme.range(of: "```text\n"))
        let end = try #require(readme.range(of: "```\n", range: begin.upperBound..<readme.endIndex))
        let shown = readme[begin.upperBound..<end.lowerBound]
        let report = try text("groceries-flawed", "report.txt")
        #expect(shown.count > 1000)
        for part in shown.components(separatedBy: "…\n") { #expect(report.contains(part), "\(part)") }
    }
}
