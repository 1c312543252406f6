import ArgumentParser
import Foundation
import ProjectFiles
import Testing

@testable import faultline

/// A reader can copy the commands of the README and of the articles.
@Suite("The commands in samples of the documentation")
struct SampleCommandTests {
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

    @Test("belong, in the README, to the program that the tests build and record")
    func quickStart() throws {
        let program = "Tests/OutsideProgram/Sources/QuickStart/main.swift"
        let text = try String(contentsOf: ProjectFolder.url.appendingPathComponent(program), encoding: .utf8)
        let readme = try #require(Article.all.first { $0.path == "README.md" })
        let samples = readme.samples(in: "swift").map { $0.lines.joined(separator: "\n") + "\n" }
        #expect(samples.contains(text), "README.md shows another program than \(program).")
    }

    @Test(
        "would be rejected with a wrong option, subcommand or value",
        arguments: ["report t.json --formt html", "reprot t.json", "check", "record --cpu=fast -- ./App", "events"])
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
}
