/// The flaws of the shopping list.
package struct GroceriesFlaws: OptionSet, Sendable, Hashable {
    package let rawValue: Int

    package init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// The list is fetched in batches of 50, whatever the number of rows on the screen.
    package static let batchOfFifty = GroceriesFlaws(rawValue: 1)
    /// The photo is an attribute of the row that the list fetches.
    package static let photoInRow = GroceriesFlaws(rawValue: 2)
    /// Each row fires a fault for its location.
    package static let locationPerRow = GroceriesFlaws(rawValue: 4)

    /// A view of an item keeps the item's photo when it is closed.
    package static let photoKeptByView = GroceriesFlaws(rawValue: 8)

    package static let all: GroceriesFlaws = [.batchOfFifty, .photoInRow, .locationPerRow, .photoKeptByView]

    /// The flaws' names on the command line.
    package static let named: [(name: String, flaw: GroceriesFlaws)] = [
        ("batch", .batchOfFifty), ("photo", .photoInRow), ("location", .locationPerRow),
        ("views", .photoKeptByView),
    ]
}

/// The shopping list's size and shape.
package struct GroceriesForm: Sendable, Hashable {
    /// The number of items.
    package var items: Int
    /// The number of rows on a screen.
    package var visibleRows: Int
    package var flaws: GroceriesFlaws

    package init(items: Int, visibleRows: Int, flaws: GroceriesFlaws) {
        self.items = items
        self.visibleRows = visibleRows
        self.flaws = flaws
    }

    /// One and a half screens, rounded up to a multiple of five; 50 with the flaw.
    var batchSize: Int {
        if flaws.contains(.batchOfFifty) { return 50 }
        return (visibleRows * 3 + 9) / 10 * 5
    }
}
