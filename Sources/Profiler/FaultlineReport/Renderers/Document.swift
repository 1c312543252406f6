package import FaultlineDocuments
package import FaultlineProfile
package import FaultlineRules

/// A document that a command prints, as text and as JSON.
///
/// What another format can make of it is a protocol that refines this one, such as ``MarkdownDocument``, or one of the types that the
/// format itself names.
package protocol Document: SendableMetatype {
    /// Returns the text for a terminal, with a trailing line feed.
    func text(_ layout: Layout) -> String
    /// Returns the JSON, with a trailing line feed.
    func json(_ layout: Layout) -> String
}

extension JSONDocument where Self: Document {
    package func json(_ layout: Layout) -> String { jsonText }
}

/// A document that is also a page for a browser, together with the events or the diagram that ``PageContent`` adds to it.
package protocol PageDocumented: Document {}

/// The output of a command.
package enum Output: Sendable {
    case document(any Document.Type)
    /// Events, line by line.
    case events
    /// The rows of a query.
    case rows
}

/// The space for a document, and how much of it to show.
package struct Layout: Sendable {
    /// The preferred number of characters in a line.
    ///
    /// Formats that are not for a terminal ignore it.
    package var width = 100
    /// Whether the output is a terminal that shows colours.
    package var isColoured = false
    /// Whether a report shows every finding in full, and every hotspot.
    package var showsAll = false
    /// The smallest share of the whole, from 0 to 1, that a call path must have to be shown.
    package var smallestShare = 0.01
    /// The hotspots that a report shows in place of those by kind and line.
    package var grouped: GroupedHotspots?
    /// The step that a text ends with.
    package var next: NextStep?
    /// The paths of the repository, for formats whose readers look for them.
    package var paths: RepositoryPaths?

    package init(
        width: Int = 100, isColoured: Bool = false, showsAll: Bool = false, smallestShare: Double = 0.01,
        grouped: GroupedHotspots? = nil, next: NextStep? = nil, paths: RepositoryPaths? = nil
    ) {
        (self.width, self.isColoured, self.showsAll) = (width, isColoured, showsAll)
        (self.smallestShare, self.grouped, self.next, self.paths) = (smallestShare, grouped, next, paths)
    }
}

/// The subject of a page.
package enum PageContent {
    /// A trace with its events, and what trying its advice has measured.
    case report(PageEvents, MeasuredSavings)
    /// Two traces with their events.
    case diff(ProfileDiff, before: PageEvents, after: PageEvents)
    case inspection(StoreInspection)
    case model(ModelDiagram)
}

/// Settings of a page besides its content.
package struct PageOptions: Sendable {
    /// The folder in which the program's source is looked for if it is not where the trace says; `nil` for a page without
    /// source.
    package var sourceFolder: String?

    package init(sourceFolder: String?) {
        self.sourceFolder = sourceFolder
    }
}
