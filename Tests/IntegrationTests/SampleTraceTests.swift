import Foundation
import Testing

@Suite("The sample traces")
struct SampleTraceTests {
    private static let folder = BuiltCommand.package.appendingPathComponent("Traces")

    static let stories: [String] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0 != "record" }.sorted()
    }()

    private func text(_ story: String, _ file: String) throws -> String {
        try String(contentsOf: Self.folder.appendingPathComponent("\(story)/\(file)"), encoding: .utf8)
    }

    @Test("are there")
    func present() {
        #expect(Self.stories.count >= 3)
    }

    @Test("give the reports beside them, to the byte, and stay as they are", arguments: stories)
    func report(story: String) throws {
        let before = try text(story, "trace.json")
        // A copy: what a report adds to a trace must not hide that something was missing.
        let copy = try TemporaryDirectory().path("trace.json")
        try before.write(toFile: copy, atomically: true, encoding: .utf8)
        let result = try BuiltCommand.run(["report", copy])
        #expect(result.status == 0 && result.errors.isEmpty)
        #expect(result.output == (try text(story, "report.txt")))
        #expect(try String(contentsOfFile: copy, encoding: .utf8) == before)
        #expect(try text(story, "record.sh").contains("faultline record -o trace.json -- "))
    }

    @Test("hold nothing of what stands in the rows", arguments: stories)
    func values(story: String) throws {
        let trace = try text(story, "trace.json")
        for value in ["cupboard", "aisle 1", "Potatoes", "Shelf 7", "Book 1 of"] { #expect(!trace.contains(value)) }
    }

    @Test("are what the README shows")
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
