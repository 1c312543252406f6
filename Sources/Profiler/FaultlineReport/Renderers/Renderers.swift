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
        GitHubRenderer(), CompilerRenderer(), JUnitRenderer(), FoldedRenderer(), SwiftRenderer(), HTMLRenderer(),
    ]

    /// The first bytes of every page for a browser, by which a file is known to be one.
    package static var pageBeginning: String { PageDocument.beginning }

    /// The formats that can print an output.
    package static func all(for output: Output) -> [any Renderer] { all.filter { $0.canPrint(output) } }

    /// Returns the format that the extension of a file stands for, or `nil` if it stands for none.
    package static func named(byExtensionOf path: String) -> (any Renderer)? {
        let name = path.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: ".") else { return nil }
        let found = name[name.index(after: dot)...].lowercased()
        return all.first { $0.fileExtensions.contains(found) }
    }

    /// Returns the help of a command's `--format`: the formats that can print its output, and their purposes.
    package static func help(for output: Output) -> String {
        let words = all(for: output).map { $0.purpose.isEmpty ? $0.name : "\($0.name) \($0.purpose)" }
        guard let last = words.last, words.count > 1 else { return words.joined() + "." }
        return words.dropLast().joined(separator: ", ") + ", or \(last)."
    }

    /// Returns the error if a command cannot print a format, or `nil` if it can.
    ///
    /// - Parameter command: The command's name.
    package static func refusal(of renderer: any Renderer, for output: Output, by command: String) -> String? {
        guard !renderer.canPrint(output) else { return nil }
        let names = all(for: output).map(\.name)
        let list = names.dropLast().joined(separator: ", ") + " and " + (names.last ?? "")
        return "\"\(command)\" cannot print \(renderer.name); it prints \(list)."
    }
}

/// Text for a terminal.
struct TextRenderer: Renderer {
    let name = "text"
    let purpose = ""
    let fileExtensions = ["txt"]

    /// Prints texts that end with the next step.
    func printer(of document: any Document.Type) -> Printer? {
        { document, layout in
            let text = document.text(layout)
            guard let next = layout.next else { return text }
            let ink = Ink(isColoured: layout.isColoured)
            return text + "\n" + ink.finished(ink(.dim, next.line)) + "\n"
        }
    }

    var events: (any EventLines.Type)? { EventText.self }
    var rows: (any RowLines.Type)? { RowsText.self }
}

/// JSON for programs: everything that the text shows, and more.
struct JSONRenderer: Renderer {
    let name = "json"
    let purpose = "for programs"

    func printer(of document: any Document.Type) -> Printer? { { $0.json($1) } }

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

    func printer(of document: any Document.Type) -> Printer? {
        document is CallTree.Type ? { document, _ in (document as? CallTree).map(Self.text) ?? "" } : nil
    }

    static func text(_ tree: CallTree) -> String {
        var lines: [String] = []
        tree.forEachPath { path, weight in
            // A name with a separator in it would become two.
            let names = path.map { Phrase.printable($0.function.name).replacing(";", with: ":") }
            lines.append(names.joined(separator: ";") + " \(weight)\n")
        }
        return lines.joined()
    }
}

/// A document that describes classes.
package protocol SwiftPrinting {
    /// The source of the classes.
    var swiftSource: String { get }
}

/// Swift source for programs.
struct SwiftRenderer: Renderer {
    let name = "swift"
    let purpose = "with the classes of its entities"

    func printer(of document: any Document.Type) -> Printer? {
        guard document is any SwiftPrinting.Type else { return nil }
        return { document, _ in (document as? any SwiftPrinting)?.swiftSource ?? "" }
    }
}

/// A page for a browser, in one file.
struct HTMLRenderer: Renderer {
    let name = "html"
    let fileExtensions = ["html", "htm"]
    let purpose = "for a browser"

    var page: PagePrinter? {
        { content, options in
            switch content {
            case .report(let events, let savings):
                let trace = PageData(events, options, savings)
                return PageDocument(
                    kind: .report, title: Self.title(events.analysis.profile), traces: [trace],
                    scriptless: ScriptlessReport(analysis: events.analysis).element
                ).render()
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
