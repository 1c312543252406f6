/// An output format: the documents it can print, and how.
///
/// A format is a conforming type and a line in ``Renderers/all``. Every command that prints offers the formats that can
/// print its output.
package protocol Renderer: Sendable {
    /// Prints a document.
    typealias Printer = (any Document, Layout) -> String

    /// Prints a page.
    typealias PagePrinter = (PageContent, PageOptions) -> String

    /// The value of `--format`, such as `"json"`.
    var name: String { get }
    /// The purpose, in words that follow the name, such as `"for programs"`, or empty if the name suffices.
    var purpose: String { get }

    /// The extensions of files that have the format unless `--format` says otherwise. Default: the name.
    var fileExtensions: [String] { get }

    /// Returns the printer of documents of a type, or `nil`, the default, if the format cannot print them.
    func printer(of document: any Document.Type) -> Printer?
    /// Prints a document to a file of its own, with the events of the traces that it is about.
    ///
    /// Default: `nil`, the format cannot. One that can prints each ``PageDocumented``, to a file and not to a terminal.
    var page: PagePrinter? { get }
    /// Prints events line by line.
    var events: (any EventLines.Type)? { get }
    /// Prints the rows of a query.
    var rows: (any RowLines.Type)? { get }
}

extension Renderer {
    package var fileExtensions: [String] { [name] }
    package func printer(of document: any Document.Type) -> Printer? { nil }
    package var page: PagePrinter? { nil }
    package var events: (any EventLines.Type)? { nil }
    package var rows: (any RowLines.Type)? { nil }

    /// Whether the format can print an output.
    package func canPrint(_ output: Output) -> Bool {
        switch output {
        case .document(let type): printer(of: type) != nil || page != nil && type is any PageDocumented.Type
        case .events: events != nil
        case .rows: rows != nil
        }
    }
}
