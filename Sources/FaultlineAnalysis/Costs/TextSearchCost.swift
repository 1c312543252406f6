/// The cost of searching one text, in nanoseconds.
///
/// 150–300 ns were measured for short titles.
enum TextSearchCost {
    static let usual = 300.0
    /// The range of the cost of a single search.
    static let range = 100.0...3000.0
}
