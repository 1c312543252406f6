/// The flaws of the shopping list.
public struct GroceriesFlaws: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// The list is fetched in batches of 50, whatever the number of rows on the screen.
    public static let batchOfFifty = GroceriesFlaws(rawValue: 1)
    /// The photo is an attribute of the row that the list fetches.
    public static let photoInRow = GroceriesFlaws(rawValue: 2)
    /// Each row fires a fault for its location.
    public static let locationPerRow = GroceriesFlaws(rawValue: 4)

    /// A view of an item keeps the item's photo when it is closed.
    public static let photoKeptByView = GroceriesFlaws(rawValue: 8)

    public static let all: GroceriesFlaws = [.batchOfFifty, .photoInRow, .locationPerRow, .photoKeptByView]

    /// The flaws' names on the command line.
    public static let named: [(name: String, flaw: GroceriesFlaws)] = [
        ("batch", .batchOfFifty), ("photo", .photoInRow), ("location", .locationPerRow),
        ("views", .photoKeptByView),
    ]
}

/// The shopping list's size and shape.
public struct GroceriesForm: Sendable, Hashable {
    /// The number of items.
    public var items: Int
    /// The number of rows on a screen.
    public var visibleRows: Int
    public var flaws: GroceriesFlaws

    public init(items: Int, visibleRows: Int, flaws: GroceriesFlaws) {
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
