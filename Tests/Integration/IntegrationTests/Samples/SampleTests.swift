import Foundation
import ProjectFiles
import Testing

/// Code that a reader copies from the README or from an article works.
@Suite("The samples of the documentation")
struct SampleTests {
    // MARK: - Swift

    private static func articles(for compiler: SampleCompiler) -> [Article] {
        Article.all.filter { !$0.samples(in: "swift").isEmpty && compiler.fits(SampleProgram($0)) }
    }

    @Test("are each compiled by one compiler")
    func compilers() {
        let articles = [SampleCompiler.own, .grdb].flatMap(Self.articles).map(\.path)
        #expect(articles.sorted() == Article.all.filter { !$0.samples(in: "swift").isEmpty }.map(\.path).sorted())
        #expect(articles.count > 20)
    }

    @Test(
        "compile in Swift", .enabled(if: SampleCompiler.own.isBuilt, SampleCompiler.need),
        arguments: articles(for: .own))
    func swift(article: Article) throws {
        let errors = try SampleCompiler.own.errors(of: SampleProgram(article))
        #expect(errors.isEmpty, "\(errors)")
    }

    @Test(
        "compile in Swift with GRDB",
        .enabled(if: SampleCompiler.grdb.isBuilt, "needs a build of grdb_playlists: make test-commands"),
        arguments: articles(for: .grdb))
    func grdb(article: Article) throws {
        let errors = try SampleCompiler.grdb.errors(of: SampleProgram(article))
        #expect(errors.isEmpty, "\(errors)")
    }

    @Test(
        "that do not compile are reported at their lines",
        .enabled(if: SampleCompiler.own.isBuilt, SampleCompiler.need))
    func rejected() throws {
        let text = """
            ```swift
            import FaultlineStore

            final class Item: ManagedObject {
                static let name = AttributeKey<Strin>("name")
            }
            let request = FetchRequest<Item>()
            ```

            ```swift
            request.fetchBatchSize = "20"
            ```
            """
        let errors = try SampleCompiler.own.errors(of: SampleProgram(Article(path: "Some.md", text: text)))
        #expect(errors.contains("Some.md:5:36: error: cannot find type 'Strin' in scope"), "\(errors)")
        #expect(errors.contains("Some.md:11:"), "\(errors)")
    }

    // MARK: - JSON

    @Test("are budgets or thresholds in JSON", arguments: Article.all.filter { !$0.samples(in: "json").isEmpty })
    func json(article: Article) throws {
        let directory = try TemporaryDirectory()
        let trace = BuiltCommand.package.appendingPathComponent("Traces/groceries-flawed/trace.json").path
        for sample in article.samples(in: "json") {
            let text = sample.lines.joined(separator: "\n")
            let place: Comment = "\(article.path):\(sample.line)"
            #expect(throws: Never.self, place) { try JSONSerialization.jsonObject(with: Data(text.utf8)) }
            try text.write(toFile: directory.path("sample.json"), atomically: true, encoding: .utf8)
            let results = try ["--budget", "--thresholds"].map { option in
                try BuiltCommand.run(["check", trace, option, directory.path("sample.json")])
            }
            // The trace may exceed a budget, which is no error of the sample.
            #expect(results.contains { $0.status < 2 }, "\(place): \(results.map(\.errors))")
        }
    }
}
