/// What a search of one text takes, in nanoseconds: short titles took 150–300 ns.
enum TextSearchCost {
    static let usual = 300.0
    /// The range in which the cost of a single search lies.
    static let range = 100.0...3000.0
}
