import Testing

@testable import FaultlineReport

@Suite("Output formats")
struct RendererTests {
    @Test func `Names are unique, and text comes first`() {
        let names = Renderers.all.map(\.name)
        #expect(names.first == "text" && Set(names).count == names.count)
    }

    @Test(arguments: Document.allCases)
    func `Text and JSON print every document`(document: Document) {
        #expect(Renderers.all(for: document).map(\.name).prefix(2) == ["text", "json"])
    }

    @Test func `Markdown prints reports, checks and diffs`() {
        let documents = Document.allCases.filter { MarkdownRenderer().canPrint($0) }
        #expect(documents == [.report, .check, .diff])
    }

    @Test func `The help names the formats of a document`() {
        #expect(
            Renderers.help(for: .report)
                == "text, json for programs, markdown for pull requests, sarif for code scanning, github for annotations "
                + "in GitHub Actions, or html for a browser.")
        #expect(Renderers.help(for: .inspection) == "text, json for programs, or html for a browser.")
    }

    @Test func `The refusal of a format names the formats that can print the document`() {
        let markdown = MarkdownRenderer()
        #expect(
            Renderers.refusal(of: markdown, for: .verification, by: "verify")
                == "\"verify\" cannot print markdown; it prints text, json and html.")
        #expect(
            Renderers.refusal(of: markdown, for: .tree, by: "tree")
                == "\"tree\" cannot print markdown; it prints text, json and folded.")
        #expect(Renderers.refusal(of: markdown, for: .report, by: "report") == nil)
    }

    @Test func `A format that declares no document can print none`() {
        struct Silent: Renderer {
            let name = "silent"
            let purpose = ""
        }
        #expect(Document.allCases.allSatisfy { !Silent().canPrint($0) })
    }
}
