internal import FaultlineDocuments
internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineRules
internal import FaultlineTrace

/// The registry of output formats.
package enum Renderers {
    /// All formats, the default first.
    package static let all: [any Renderer] = [
        TextRenderer(), JSONRenderer(), CSVRenderer(), MarkdownRenderer(), SARIFRenderer(),
        GitHubRenderer(), JUnitRenderer(), FoldedRenderer(), HTMLRenderer(),
    ]

    /// The first bytes of every page for a browser, by which a file is known to be one.
    package static var pageBeginning: String { PageDocument.beginning }

    /// The formats that can print a document.
    package static func all(for document: Document) -> [any Renderer] { all.filter { $0.canPrint(document) } }

    /// Returns the help of a command's `--format`: the formats that can print its document, and their purposes.
    package static func help(for document: Document) -> String {
        let words = all(for: document).map { $0.purpose.isEmpty ? $0.name : "\($0.name) \($0.purpose)" }
        guard let last = words.last, words.count > 1 else { return words.joined() + "." }
        return words.dropLast().joined(separator: ", ") + ", or \(last)."
    }

    /// Returns the error if a command cannot print a format, or `nil` if it can.
    ///
    /// - Parameter command: The command's name.
    package static func refusal(of renderer: any Renderer, for document: Document, by command: String) -> String? {
        guard !renderer.canPrint(document) else { return nil }
        let names = all(for: document).map(\.name)
        let list = names.dropLast().joined(separator: ", ") + " and " + (names.last ?? "")
        return "\"\(command)\" cannot print \(renderer.name); it prints \(list)."
    }
}

/// Text for a terminal.
struct TextRenderer: Renderer {
    let name = "text"
    let purpose = ""

    var report: Printer<Analysis>? {
        Self.ending {
            TextReport($0, showsAll: $1.showsAll, grouped: $1.grouped)
                .render(width: $1.width, colour: $1.isColoured)
        }
    }
    var check: Printer<BudgetCheck>? { Self.ending { CheckText($0).render(width: $1.width, colour: $1.isColoured) } }
    var diff: Printer<ProfileDiff>? { Self.ending { DiffText($0).render(width: $1.width, colour: $1.isColoured) } }
    var inspection: Printer<StoreInspection>? {
        Self.ending { InspectionText($0).render(width: $1.width, colour: $1.isColoured) }
    }
    var verification: Printer<Verification>? {
        Self.ending { VerificationText($0).render(width: $1.width, colour: $1.isColoured) }
    }
    var tree: Printer<CallTree>? {
        Self.ending {
            CallTreeText(tree: $0, smallestShare: $1.smallestShare).render(width: $1.width, colour: $1.isColoured)
        }
    }
    var timeline: Printer<EventTimeline>? {
        Self.ending { TimelineText(timeline: $0).render(width: $1.width, colour: $1.isColoured) }
    }
    var other: Printer<any SelfPrinting>? { { $0.text($1) } }
    var events: (any EventLines.Type)? { EventText.self }
    var rows: (any RowLines.Type)? { RowsText.self }

    /// Returns a printer whose texts end with the next step.
    private static func ending<Content>(_ print: @escaping Printer<Content>) -> Printer<Content> {
        { content, layout in
            let text = print(content, layout)
            guard let next = layout.next else { return text }
            let ink = Ink(isColoured: layout.isColoured)
            return text + "\n" + ink.finished(ink(.dim, next.line)) + "\n"
        }
    }
}

/// JSON for programs: everything that the text shows, and more.
struct JSONRenderer: Renderer {
    let name = "json"
    let purpose = "for programs"

    var report: Printer<Analysis>? { { ReportJSON($0, grouped: $1.grouped).jsonText } }
    var check: Printer<BudgetCheck>? { { check, _ in check.jsonText } }
    var diff: Printer<ProfileDiff>? { { diff, _ in diff.jsonText } }
    var inspection: Printer<StoreInspection>? { { inspection, _ in inspection.jsonText } }
    var verification: Printer<Verification>? { { verification, _ in verification.jsonText } }
    var tree: Printer<CallTree>? { { tree, _ in tree.jsonText } }
    var timeline: Printer<EventTimeline>? { { timeline, _ in timeline.jsonText } }
    var other: Printer<any SelfPrinting>? { { document, _ in document.jsonText } }
    var events: (any EventLines.Type)? { EventJSON.self }
    var rows: (any RowLines.Type)? { RowsJSON.self }
}

/// Folded stacks, the input of flame graph tools: one line for each call path, with its weight.
///
///     main;outer;inner 30303030
///
/// The names are separated by semicolons (https://github.com/brendangregg/FlameGraph).
struct FoldedRenderer: Renderer {
    let name = "folded"
    let purpose = "for flame graph tools"

    var tree: Printer<CallTree>? {
        { tree, _ in
            var lines: [String] = []
            tree.forEachPath { path, weight in
                // A name with a separator in it would become two.
                let names = path.map { Phrase.printable($0.function.name).replacing(";", with: ":") }
                lines.append(names.joined(separator: ";") + " \(weight)\n")
            }
            return lines.joined()
        }
    }
}

/// A page for a browser, in one file.
struct HTMLRenderer: Renderer {
    let name = "html"
    let purpose = "for a browser"

    var page: PagePrinter? {
        { content, options in
            switch content {
            case .report(let events, let savings):
                let trace = PageData(events, options, savings)
                return PageDocument(kind: .report, title: Self.title(events.analysis.profile), traces: [trace]).render()
            case .diff(let diff, let before, let after):
                let traces = [before, after].map { PageData($0, options) }
                let title = "Changes of \(Self.title(after.analysis.profile))"
                return PageDocument(
                    kind: .diff, title: title, traces: traces, document: PageDiff.value(diff)
                ).render()
            case .inspection(let inspection):
                let title = Phrase.fileName(inspection.facts.path)
                return PageDocument(
                    kind: .inspection, title: title, document: PageInspection.value(inspection)
                ).render()
            case .model(let diagram):
                return PageDocument(kind: .model, title: diagram.title, document: PageModel.value(diagram)).render()
            }
        }
    }

    private static func title(_ profile: Profile) -> String {
        let programs = TextReport.programs(profile).joined(separator: ", ")
        return programs.isEmpty ? "trace" : programs
    }
}
