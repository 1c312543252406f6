/// What commands print.
package enum Document: Sendable, CaseIterable {
    case report, check, diff, inspection, verification, other, events, rows
}

/// How much room a document has, and how much it shows.
package struct Layout: Sendable {
    /// Characters that a line should have; formats that are not made for a terminal ignore it.
    package var width = 100
    /// Whether a terminal shows colours.
    package var isColoured = false
    /// Whether a report shows every finding in full, and every hotspot.
    package var showsAll = false

    package init(width: Int = 100, isColoured: Bool = false, showsAll: Bool = false) {
        (self.width, self.isColoured, self.showsAll) = (width, isColoured, showsAll)
    }
}

/// A document that knows its own text and JSON.
package protocol SelfPrinting: Sendable {
    /// The text for a terminal, with a line feed at its end.
    func text(_ layout: Layout) -> String
    /// The JSON, with a line feed at its end.
    var json: String { get }
}
