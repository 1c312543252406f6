/// Which of its flaws the shopping list has.
public struct GroceriesFlaws: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// The list is fetched in batches of 50, however many rows the screen shows.
    public static let batchOfFifty = GroceriesFlaws(rawValue: 1)
    /// The photo is an attribute of the row that the list fetches.
    public static let photoInRow = GroceriesFlaws(rawValue: 2)
    /// Each row looks up its location by itself.
    public static let locationPerRow = GroceriesFlaws(rawValue: 4)

    /// A view of an item keeps the item's photo when it is closed.
    public static let photoKeptByView = GroceriesFlaws(rawValue: 8)

    public static let all: GroceriesFlaws = [.batchOfFifty, .photoInRow, .locationPerRow, .photoKeptByView]

    /// The names by which the command line knows them.
    public static let named: [(name: String, flaw: GroceriesFlaws)] = [
        ("batch", .batchOfFifty), ("photo", .photoInRow), ("location", .locationPerRow),
        ("views", .photoKeptByView),
    ]
}

/// The shopping list's size and shape.
public struct GroceriesForm: Sendable, Hashable {
    /// How many items there are.
    public var items: Int
    /// How many rows a screen shows.
    public var visibleRows: Int
    public var flaws: GroceriesFlaws

    public init(items: Int, visibleRows: Int, flaws: GroceriesFlaws) {
        self.items = items
        self.visibleRows = visibleRows
        self.flaws = flaws
    }

    /// One and a half screens, in fives; or what the flaw says.
    var batchSize: Int {
        if flaws.contains(.batchOfFifty) { return 50 }
        return (visibleRows * 3 + 9) / 10 * 5
    }
}
