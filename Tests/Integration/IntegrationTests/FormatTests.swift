import Foundation
import Testing

@Suite("Asked for a format, the command")
struct FormatTests {
    private static func trace(_ story: String) -> String {
        BuiltCommand.package.appendingPathComponent("Traces/\(story)/trace.json").path
    }

    @Test("prints Markdown with complete tables and fences")
    func markdown() throws {
        let (flawed, improved) = (Self.trace("groceries-flawed"), Self.trace("groceries-improved"))
        let documents = try [
            ["report", flawed], ["report", flawed, "--all"], ["diff", flawed, improved], ["check", flawed],
        ].map { try BuiltCommand.run($0 + ["--format", "markdown"]) }
        #expect(documents.map(\.status) == [0, 0, 0, 1])
        for document in documents {
            #expect(document.errors.isEmpty && document.output.hasPrefix("## Faultline"))
            let lines = document.output.split(separator: "\n")
            #expect(lines.count { $0.hasPrefix("```") }.isMultiple(of: 2))
            #expect(lines.count { $0 == "</details>" } == lines.count { $0.hasPrefix("<details>") })
        }
        #expect(documents[0].output.contains("#### 1. Move `Item.photo` into an entity of its own\n"))
        #expect(documents[2].output.contains("| gone | warning | R09 Move `Item.photo` into an entity of its own |"))
        #expect(documents[3].output.contains("```text\nR09|Item.photo||\n```\n"))
    }

    @Test(
        "rejects one that it cannot print, before reading anything",
        arguments: [
            (["verify", "none.json", "--store", "none.sqlite"], "text, json and html"),
            (["inspect", "none.sqlite"], "text, json and html"), (["doctor"], "text and json"),
        ])
    func refusal(command: [String], formats: String) throws {
        let result = try BuiltCommand.run(command + ["--format", "markdown"])
        #expect(result.status == 2 && result.output.isEmpty)
        #expect(
            result.errors.hasPrefix("Error: \"\(command[0])\" cannot print markdown; it prints \(formats).\n"))
    }

    @Test(
        "rejects a document's format for events and rows",
        arguments: [["events", "none.json"], ["query", "none.json"]])
    func refusalOfLines(command: [String]) throws {
        let result = try BuiltCommand.run(command + ["--format", "sarif"])
        #expect(result.status == 2 && result.output.isEmpty)
        let refusal = "Error: \"\(command[0])\" cannot print sarif; it prints text, json and csv.\n"
        #expect(result.errors.hasPrefix(refusal))
    }

    @Test("lists each subcommand's formats in its help")
    func help() throws {
        let values = try ["report", "check", "diff", "verify", "inspect", "events", "query", "doctor", "tree"].map {
            name in
            let words = try BuiltCommand.run(["help", name]).output.split(whereSeparator: \.isWhitespace)
            return words.joined(separator: " ").firstMatch(of: /\(values: ([a-z, ]+); default: text\)/).map {
                String($0.1)
            }
        }
        let (all, some, lines) = ("text, json, markdown, sarif, github, gcc", "text, json", "text, json, csv")
        #expect(
            values == [
                all + ", html", all + ", junit", "text, json, markdown, html", some + ", html", some + ", html", lines,
                lines, some, "text, json, folded",
            ])
    }

    @Test("prints annotations for GitHub Actions, one command a line")
    func workflowCommands() throws {
        let flawed = Self.trace("groceries-flawed")
        let documents = try [["report", flawed], ["check", flawed]].map {
            try BuiltCommand.run($0 + ["--format", "github"])
        }
        #expect(documents.map(\.status) == [0, 1])
        for document in documents {
            #expect(document.errors.isEmpty)
            let lines = document.output.split(separator: "\n")
            #expect(
                lines.allSatisfy {
                    $0.prefixMatch(of: /::(error|warning|notice) ([a-z]+=[^:,]+,)*title=[^:,]+::./) != nil
                })
        }
        let place =
            "::warning file=FaultlineWorkloads/Groceries.swift,line=100,title=R02 Batch size::Set the batch size of "
        #expect(documents[0].output.contains("\n\(place)Item to 15 (now 50). "))
        #expect(documents[1].output.hasPrefix("::error title=Faultline check::Failed: 3 findings.\n"))
        #expect(documents[1].output.contains("%0ATo suppress it, add its name to the budget: R09|Item.photo||\n"))
    }

    @Test("prints the paths of the repository, if it knows the sources")
    func sources() throws {
        let (trace, folder) = (Self.trace("groceries-flawed"), BuiltCommand.package)
        let path = "Sources/Command/FaultlineWorkloads/Groceries/Groceries.swift"
        for sources in ["Sources", "./Sources/", ".", folder.appendingPathComponent("Sources").path] {
            let report = try BuiltCommand.run(
                ["report", trace, "--format", "github", "--sources", sources], directory: folder)
            #expect(
                report.output.contains("\n::warning file=\(path),line=100,title=R02 Batch size::"), "\(report.errors)")
        }
        for command in ["report", "check"] {
            let sarif = try BuiltCommand.run(
                [command, trace, "--format", "sarif", "--sources", "Sources"], directory: folder)
            #expect(sarif.output.contains("\"uri\": \"\(path)\""))
            #expect(!sarif.output.contains("\"uri\": \"FaultlineWorkloads/"))
        }
        let none = try BuiltCommand.run(["report", trace, "--sources", "/nowhere"])
        #expect(none.status == 2)
        #expect(none.errors == "faultline: There is no folder \"/nowhere\"; name the one with the sources.\n")
    }

    @Test("lists the known formats if it does not know one")
    func unknown() throws {
        let result = try BuiltCommand.run(["verify", "none.json", "--store", "x", "--format", "xml"])
        #expect(result.status == 2)
        #expect(result.errors.contains("Please provide one of 'text', 'json' or 'html'."))
    }
}
