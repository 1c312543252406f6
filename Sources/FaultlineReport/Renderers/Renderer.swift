package import FaultlineAnalysis

/// An output format: what it can print, and how.
///
/// A format is one conforming type and one line in ``Renderers/all``. Every command that prints offers the formats that
/// can print its document. A document that a format does not mention is one that it cannot print.
package protocol Renderer: Sendable {
    /// Prints a document.
    typealias Printer<Content> = (Content, Layout) -> String

    /// The format as `--format` has it: `"json"`.
    var name: String { get }
    /// What it is for, in words that follow the name: `"for programs"`; empty: the name says it.
    var purpose: String { get }

    /// Prints what a trace shows and what to change; `nil` by default, as for all documents: the format cannot.
    var report: Printer<Analysis>? { get }
    /// Prints whether a trace keeps within its budget.
    var check: Printer<BudgetCheck>? { get }
    /// Prints two profiles side by side.
    var diff: Printer<ProfileDiff>? { get }
    /// Prints what will be slow in a store at rest.
    var inspection: Printer<StoreInspection>? { get }
    /// Prints what trying advice has shown.
    var verification: Printer<Verification>? { get }
    /// Prints a document of another module, which knows its own text and JSON.
    var other: Printer<any SelfPrinting>? { get }
    /// Prints events line by line.
    var events: (any EventLines.Type)? { get }
    /// Prints the rows of a query.
    var rows: (any RowLines.Type)? { get }
}

extension Renderer {
    package var report: Printer<Analysis>? { nil }
    package var check: Printer<BudgetCheck>? { nil }
    package var diff: Printer<ProfileDiff>? { nil }
    package var inspection: Printer<StoreInspection>? { nil }
    package var verification: Printer<Verification>? { nil }
    package var other: Printer<any SelfPrinting>? { nil }
    package var events: (any EventLines.Type)? { nil }
    package var rows: (any RowLines.Type)? { nil }

    /// Whether the format has a way to print a document.
    package func canPrint(_ document: Document) -> Bool {
        switch document {
        case .report: report != nil
        case .check: check != nil
        case .diff: diff != nil
        case .inspection: inspection != nil
        case .verification: verification != nil
        case .other: other != nil
        case .events: events != nil
        case .rows: rows != nil
        }
    }
}
