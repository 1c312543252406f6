import Foundation
import Testing

@Suite("The documentation")
struct DocumentationTests {
    private static let generator = BuiltCommand.products.appendingPathComponent("ManualGenerator").path
    private static let catalog = BuiltCommand.package.appendingPathComponent("Sources/Command/faultline/faultline.docc")

    @Test("has articles about commands and rules that are up to date with \"make articles\"")
    func current() throws {
        let result = try BuiltCommand.run(
            ["--check", BuiltCommand.faultline, Self.catalog.path], program: Self.generator)
        #expect(
            result.status == 0 && result.output.isEmpty && result.errors.isEmpty,
            "run \"make articles\": \(result.output)\(result.errors)")
    }

    @Test("is written, found to be changed, and written again")
    func written() throws {
        let directory = try TemporaryDirectory()
        let write = ["--articles", BuiltCommand.faultline, directory.url.path]
        #expect(try BuiltCommand.run(write, program: Self.generator).status == 0)
        let rule = directory.path("Rules/R02.md")
        let text = try String(contentsOfFile: rule, encoding: .utf8)
        try text.replacing("screen", with: "window").write(toFile: rule, atomically: true, encoding: .utf8)
        try "".write(toFile: directory.path("Commands/faultline-gone.md"), atomically: true, encoding: .utf8)
        let check = try BuiltCommand.run(
            ["--check", BuiltCommand.faultline, directory.url.path], program: Self.generator)
        #expect(check.status == 1 && check.output == "Rules/R02.md\nCommands/faultline-gone.md\n")
        #expect(try BuiltCommand.run(write, program: Self.generator).output == check.output)
        #expect(try String(contentsOfFile: rule, encoding: .utf8) == text)
        #expect(!FileManager.default.fileExists(atPath: directory.path("Commands/faultline-gone.md")))
    }

    @Test("has a rule's page with the words of explain")
    func explained() throws {
        for rule in ["R02", "R27", "S03"] {
            let page = try BuiltCommand.run(["explain", rule], environment: ["COLUMNS": "100"]).output
            let article = try String(
                contentsOf: Self.catalog.appendingPathComponent("Rules/\(rule).md"), encoding: .utf8)
            #expect(Self.words(page) == Self.words(article))
        }
    }

    @Test(
        "becomes a site without a warning, in which every article can be reached",
        .enabled(if: SampleCompiler.own.isBuilt, SampleCompiler.need))
    func site() throws {
        let site = try TemporaryDirectory().url.appendingPathComponent("docs")
        let result = try BuiltCommand.run(
            [BuiltCommand.package.path + "/.build-traits/debug", site.path],
            program: BuiltCommand.package.appendingPathComponent("Documentation/site").path)
        #expect(
            result.output == "The site is in \(site.path): python3 -m http.server --directory \(site.path)\n")
        #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
        let pages = site.appendingPathComponent("data/documentation/faultline")
        for name in ["gettingstartedinabuild", "faultline-record", "r02", "cirecipes", "recordinganyprogram"] {
            #expect(FileManager.default.fileExists(atPath: pages.appendingPathComponent(name + ".json").path))
        }
        let api = site.appendingPathComponent("data/documentation/faultlinebenchmark/storebenchmark.json")
        #expect(FileManager.default.fileExists(atPath: api.path))
        // The table of contents has each article of the command's catalog, by the name of its file.
        let contents = try String(
            contentsOf: site.appendingPathComponent("index/index.json"), encoding: .utf8)
        let articles = try FileManager.default.subpathsOfDirectory(atPath: Self.catalog.path)
            .filter { $0.hasSuffix(".md") && $0 != "faultline.md" }
        #expect(articles.count > 60)
        for article in articles {
            let name = URL(fileURLWithPath: article).deletingPathExtension().lastPathComponent.lowercased()
            #expect(contents.contains("\\/documentation\\/faultline\\/\(name)\""), "\(article)")
        }
        let symbols = try Self.symbols(in: site.appendingPathComponent("data/documentation"))
        #expect(symbols.count > 1500)
        #expect(symbols.filter { !$0.value }.keys.sorted() == [], "document these symbols")
    }

    /// Whether each symbol of the site has a summary, by the path of its page.
    ///
    /// Modules are left out.
    private static func symbols(in pages: URL) throws -> [String: Bool] {
        struct Page: Decodable {
            struct Text: Decodable {}
            var kind: String
            var abstract: [Text]?
        }
        let files = try FileManager.default.subpathsOfDirectory(atPath: pages.path)
        var summaries: [String: Bool] = [:]
        for file in files where file.hasSuffix(".json") && file.contains("/") {
            let page = try JSONDecoder().decode(Page.self, from: Data(contentsOf: pages.appendingPathComponent(file)))
            if page.kind == "symbol" { summaries[file] = page.abstract?.isEmpty == false }
        }
        return summaries
    }

    @Test("replaces a site, but no other directory")
    func foreignDirectory() throws {
        let directory = try TemporaryDirectory().url
        let result = try BuiltCommand.run(
            [BuiltCommand.programs.path, directory.path],
            program: BuiltCommand.package.appendingPathComponent("Documentation/site").path)
        #expect(
            result.errors
                == "site: \(directory.path) exists and is not a site; remove it, or choose another directory.\n")
        #expect(result.status == 1)
    }

    /// The words of a page, without the marks of Markdown and of lists.
    private static func words(_ text: String) -> [Substring] {
        text.filter { !"#*\\`\"".contains($0) }.split(whereSeparator: \.isWhitespace).filter { $0 != "-" }
    }
}
