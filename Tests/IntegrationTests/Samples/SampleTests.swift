import ArgumentParser
import Foundation
import Testing

@testable import faultline

/// What a reader copies from the README or from an article works.
@Suite("The samples of the documentation")
struct SampleTests {
    /// The languages of samples that another test of this suite checks.
    private static let checked = ["json", "sh", "swift", "yaml"]

    /// Output, and lines of programs that are not shown in full.
    private static let quoted = ["c", "python", "text"]

    @Test("name a language", arguments: Article.all)
    func language(article: Article) {
        for sample in article.samples where !(Self.checked + Self.quoted).contains(sample.language) {
            Issue.record("\(article.path):\(sample.line): name the language of the sample, not \"\(sample.language)\"")
        }
    }

    // MARK: - Swift

    private static func articles(for compiler: SampleCompiler) -> [Article] {
        Article.all.filter { !$0.samples(in: "swift").isEmpty && compiler.fits(SampleProgram($0)) }
    }

    @Test("are each compiled by one compiler")
    func compilers() {
        let articles = [SampleCompiler.own, .benchmarks, .grdb].flatMap(Self.articles).map(\.path)
        #expect(articles.sorted() == Article.all.filter { !$0.samples(in: "swift").isEmpty }.map(\.path).sorted())
        #expect(articles.count > 20)
    }

    @Test("compile in Swift", arguments: articles(for: .own))
    func swift(article: Article) throws {
        let errors = try SampleCompiler.own.errors(of: SampleProgram(article))
        #expect(errors.isEmpty, "\(errors)")
    }

    @Test(
        "compile in Swift with GRDB",
        .enabled(if: SampleCompiler.grdb.isBuilt, "needs a build of grdb_playlists: make test"),
        arguments: articles(for: .grdb))
    func grdb(article: Article) throws {
        let errors = try SampleCompiler.grdb.errors(of: SampleProgram(article))
        #expect(errors.isEmpty, "\(errors)")
    }

    @Test(
        "compile in Swift with the framework of benchmarks",
        .enabled(if: SampleCompiler.benchmarks.isBuilt, "needs a build with the trait Benchmarks: make test"),
        arguments: articles(for: .benchmarks))
    func benchmarks(article: Article) throws {
        let errors = try SampleCompiler.benchmarks.errors(of: SampleProgram(article))
        #expect(errors.isEmpty, "\(errors)")
    }

    @Test("that do not compile are reported at their lines")
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

    // MARK: - Commands

    /// Returns why the parser of the command rejects the words, or `nil` if it accepts them.
    private static func refusal(of words: [String]) -> String? {
        do {
            try CommandName.check(words, of: FaultlineCommand.self)
            _ = try FaultlineCommand.parseAsRoot(words)
            return nil
        } catch {
            return FaultlineCommand.message(for: error)
        }
    }

    /// The commands in the samples of an article, for a shell or for a server that runs its lines.
    private static func commands(in article: Article) -> [ShellCommand] {
        article.samples(in: "sh", "yaml").flatMap { sample in
            let lines = sample.lines.map { $0.trimmingPrefix(/\s*-?\s*(run: )?/) }
            return ShellCommand.all(in: lines, line: sample.line)
        }
    }

    @Test("call faultline as it can be called", arguments: Article.all.filter { !commands(in: $0).isEmpty })
    func calls(article: Article) {
        for command in Self.commands(in: article) where command.words[0] == "faultline" {
            let refusal = Self.refusal(of: Array(command.words.dropFirst()))
            #expect(refusal == nil, "\(article.path):\(command.line)")
        }
    }

    @Test(
        "would be rejected with a wrong option, subcommand or value",
        arguments: ["report t.json --formt html", "reprot t.json", "check", "record --cpu=fast -- ./App", "report"])
    func rejectedCommand(words: String) {
        #expect(Self.refusal(of: words.split(separator: " ").map(String.init)) != nil)
    }

    @Test("are split into the words of their commands")
    func words() {
        let lines = """
            # A comment
            A=1 faultline query t.json 'SELECT "#" FROM a | b' > x.csv && faultline tree \\
                t.json | less   # another
            faultline record -- sqlite3 a.sqlite < report.sql
            """.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(
            ShellCommand.all(in: lines, line: 7) == [
                ShellCommand(words: ["faultline", "query", "t.json", "SELECT \"#\" FROM a | b"], line: 8),
                ShellCommand(words: ["faultline", "tree", "t.json"], line: 8),
                ShellCommand(words: ["less"], line: 9),
                ShellCommand(words: ["faultline", "record", "--", "sqlite3", "a.sqlite"], line: 10),
            ])
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
