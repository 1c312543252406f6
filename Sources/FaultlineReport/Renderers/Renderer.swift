package import FaultlineProfile
package import FaultlineRules

/// An output format: the documents it can print, and how.
///
/// A format is a conforming type and a line in ``Renderers/all``. Every command that prints offers the formats that can
/// print its document. A format cannot print the documents that it does not implement.
package protocol Renderer: Sendable {
    /// Prints a document.
    typealias Printer<Content> = (Content, Layout) -> String

    /// Prints a page.
    typealias PagePrinter = (PageContent, PageOptions) -> String

    /// The value of `--format`, such as `"json"`.
    var name: String { get }
    /// The purpose, in words that follow the name, such as `"for programs"`, or empty if the name suffices.
    var purpose: String { get }

    /// Prints the analysis of a trace.
    ///
    /// `nil`, the default for all documents, means that the format cannot.
    var report: Printer<Analysis>? { get }
    /// Prints a document to a file of its own, with the events of the traces that it is about.
    ///
    /// A format that can do this is written to a file, and not to a terminal.
    var page: PagePrinter? { get }
    /// Prints the check of a trace against a budget.
    var check: Printer<BudgetCheck>? { get }
    /// Prints the comparison of two profiles.
    var diff: Printer<ProfileDiff>? { get }
    /// Prints the inspection of a store at rest.
    var inspection: Printer<StoreInspection>? { get }
    /// Prints the results of trying advice.
    var verification: Printer<Verification>? { get }
    /// Prints a call tree.
    var tree: Printer<CallTree>? { get }
    /// Prints a timeline.
    var timeline: Printer<EventTimeline>? { get }
    /// Prints a document of another module, which provides its own text and JSON.
    var other: Printer<any SelfPrinting>? { get }
    /// Prints events line by line.
    var events: (any EventLines.Type)? { get }
    /// Prints the rows of a query.
    var rows: (any RowLines.Type)? { get }
}

extension Renderer {
    package var report: Printer<Analysis>? { nil }
    package var page: PagePrinter? { nil }
    package var check: Printer<BudgetCheck>? { nil }
    package var diff: Printer<ProfileDiff>? { nil }
    package var inspection: Printer<StoreInspection>? { nil }
    package var verification: Printer<Verification>? { nil }
    package var tree: Printer<CallTree>? { nil }
    package var timeline: Printer<EventTimeline>? { nil }
    package var other: Printer<any SelfPrinting>? { nil }
    package var events: (any EventLines.Type)? { nil }
    package var rows: (any RowLines.Type)? { nil }

    /// Whether the format can print a document.
    package func canPrint(_ document: Document) -> Bool {
        switch document {
        case .report: report != nil || page != nil
        case .check: check != nil
        case .diff: diff != nil || page != nil
        case .inspection: inspection != nil || page != nil
        case .verification: verification != nil || page != nil
        case .tree: tree != nil
        case .timeline: timeline != nil
        case .model: other != nil || page != nil
        case .other: other != nil
        case .events: events != nil
        case .rows: rows != nil
        }
    }
}
