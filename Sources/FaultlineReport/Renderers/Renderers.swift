/// The registry of output formats.
package enum Renderers {
    /// All formats, the default first.
    package static let all: [any Renderer] = [
        TextRenderer(), JSONRenderer(), NDJSONRenderer(), CSVRenderer(), MarkdownRenderer(), SARIFRenderer(),
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
