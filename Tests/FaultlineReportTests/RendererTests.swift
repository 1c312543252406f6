import FaultlineProfile
import FaultlineRules
import Testing

@testable import FaultlineReport

@Suite("Output formats")
struct RendererTests {
    @Test func `Names are unique, and text comes first`() {
        let names = Renderers.all.map(\.name)
        #expect(names.first == "text" && Set(names).count == names.count)
    }

    /// The outputs of the library's own documents.
    private static let outputs: [Output] = [
        .document(Analysis.self), .document(BudgetCheck.self), .document(ProfileDiff.self),
        .document(StoreInspection.self), .document(Verification.self), .document(CallTree.self),
        .document(EventTimeline.self), .events, .rows,
    ]

    @Test(arguments: outputs)
    func `Text and JSON print every output`(output: Output) {
        #expect(Renderers.all(for: output).map(\.name).prefix(2) == ["text", "json"])
    }

    @Test func `Markdown prints reports, checks and diffs`() {
        #expect(
            Self.outputs.map { MarkdownRenderer().canPrint($0) } == [true, true, true]
                + Array(repeating: false, count: 6))
    }

    @Test func `The help names the formats of a document`() {
        #expect(
            Renderers.help(for: .document(Analysis.self))
                == "text, json for programs, markdown for pull requests, sarif for code scanning, github for annotations "
                + "in GitHub Actions, gcc for editors, or html for a browser.")
        #expect(
            Renderers.help(for: .document(StoreInspection.self)) == "text, json for programs, or html for a browser.")
    }

    @Test func `The refusal of a format names the formats that can print the document`() {
        let markdown = MarkdownRenderer()
        #expect(
            Renderers.refusal(of: markdown, for: .document(Verification.self), by: "verify")
                == "\"verify\" cannot print markdown; it prints text, json and html.")
        #expect(
            Renderers.refusal(of: markdown, for: .document(CallTree.self), by: "tree")
                == "\"tree\" cannot print markdown; it prints text, json and folded.")
        #expect(Renderers.refusal(of: markdown, for: .document(Analysis.self), by: "report") == nil)
    }

    @Test func `A format that declares no document can print none`() {
        struct Silent: Renderer {
            let name = "silent"
            let purpose = ""
        }
        #expect(Self.outputs.allSatisfy { !Silent().canPrint($0) })
    }
}
