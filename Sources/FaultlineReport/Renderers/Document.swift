package import FaultlineDocuments
package import FaultlineProfile
package import FaultlineRules

/// The documents that commands print.
package enum Document: Sendable, CaseIterable {
    case report, check, diff, inspection, verification, tree, timeline, model, other, events, rows
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

/// A document that provides its own text and JSON.
package protocol SelfPrinting: JSONDocument, Sendable {
    /// Returns the text for a terminal, with a trailing line feed.
    func text(_ layout: Layout) -> String
}
