import Foundation
import Testing

/// `faultline report --format html`; what the page does is tested in a browser.
@Suite("The command that writes a page") struct PageCommandTests {
    private static let trace = "Traces/groceries-flawed/trace.json"

    @Test("writes a page, and replaces an earlier one")
    func replaces() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("report.html")
        for _ in 1...2 {
            let result = try BuiltCommand.run(["report", Self.trace, "--format", "html", "-o", path])
            #expect(result.status == 0)
            #expect(result.output.isEmpty)
            #expect(result.errors == "faultline: the page is in \"\(path)\": open it in a browser.\n")
        }
        let page = try String(contentsOfFile: path, encoding: .utf8)
        #expect(page.hasPrefix("<!DOCTYPE html>\n<!-- A page of faultline. It needs no network. -->\n"))
        #expect(page.hasSuffix("</html>\n"))
    }

    @Test("does not replace another file unless it is told to")
    func refusesToReplace() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("thesis.html")
        try "<!DOCTYPE html>\n<p>Mine.".write(toFile: path, atomically: true, encoding: .utf8)
        let refused = try BuiltCommand.run(["report", Self.trace, "--format", "html", "-o", path])
        #expect(refused.status == 2)
        #expect(
            refused.errors
                == "faultline: Cannot write \"\(path)\": it exists and is not a page that Faultline wrote; name another "
                + "file with -o, or replace it with --force.\n")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "<!DOCTYPE html>\n<p>Mine.")
        let forced = try BuiltCommand.run(["report", Self.trace, "--format", "html", "-o", path, "--force"])
        #expect(forced.status == 0)
    }

    @Test("asks for a file")
    func asksForAFile() throws {
        let unnamed = try BuiltCommand.run(["report", Self.trace, "--format", "html"])
        #expect(unnamed.status == 2)
        #expect(unnamed.errors.contains("A page is written to a file: name it with -o page.html."))
        let none = try BuiltCommand.run(["report", Self.trace, "--format", "html", "-o", "x", "--max-events", "0"])
        #expect(none.errors.contains("--max-events must be between 1 and 10,000,000, not 0."))
    }

    @Test("has the format that the file's extension says, unless --format says another")
    func extensions() throws {
        let directory = try TemporaryDirectory()
        for (name, options, beginning) in [
            ("page.html", [], "<!DOCTYPE html>"), ("report.json", [], "{\n"), ("report.md", [], "## "),
            ("report.txt", [], "faultline: "), ("report", [], "faultline: "),
            ("report.html", ["--format", "json"], "{\n"), ("page", ["--format", "html"], "<!DOCTYPE html>"),
        ] {
            let path = directory.path(name)
            // An earlier output is replaced.
            for _ in 1...2 {
                let result = try BuiltCommand.run(["report", Self.trace, "-o", path] + options)
                #expect(result.status == 0 && result.output.isEmpty, "\(name) \(result.errors)")
                #expect(try String(contentsOfFile: path, encoding: .utf8).hasPrefix(beginning), "\(name)")
            }
        }
        let wrong = try BuiltCommand.run(["tree", Self.trace, "-o", directory.path("tree.md")])
        #expect(wrong.status == 2 && wrong.errors.contains("\"tree\" cannot print markdown; it prints "))
    }

    @Test("of every printing command goes to a file as to standard output")
    func everyCommand() throws {
        let directory = try TemporaryDirectory()
        for (number, arguments) in [
            ["events", Self.trace], ["tree", Self.trace], ["timeline", Self.trace], ["check", Self.trace],
            ["diff", Self.trace, Self.trace], ["query", Self.trace, "SELECT count(*) FROM fetch"],
        ].enumerated() {
            let path = directory.path("\(number).json")
            let printed = try BuiltCommand.run(arguments + ["--format", "json"])
            #expect(try BuiltCommand.run(arguments + ["-o", path]).status == printed.status)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == printed.output, "\(arguments)")
        }
    }

    @Test("checks the file before it reads the trace")
    func checksFirst() throws {
        let result = try BuiltCommand.run([
            "report", "no-such-trace", "--format", "html", "-o", "/no/such/folder/x.html",
        ])
        #expect(result.status == 2)
        #expect(result.errors.contains("there is no folder \"/no/such/folder\""))
    }
}
