public import Foundation

extension FetchPredicate {
    /// Creates a fetch predicate from a Swift predicate about the objects of an entity's class.
    ///
    ///     try FetchPredicate(#Predicate<Item> { $0.price < 3 && $0.category?.name == "Fruit" })
    ///
    /// It generates the same SQL as the predicate `price < 3 AND category.name == "Fruit"`. Supported are:
    ///
    /// | in Swift | as a fetch predicate |
    /// | --- | --- |
    /// | `&&`, `\|\|`, `!` | `AND`, `OR`, `NOT` |
    /// | `==`, `!=`, `<`, `<=`, `>`, `>=` | the same |
    /// | `== nil`, `!= nil` | the same |
    /// | `$0.isListed` | `isListed == YES` |
    /// | `$0.category?.name`, `$0.category!.name` | `category.name` |
    /// | `$0.price ?? 0` | `TERNARY(price != nil, price, 0)` |
    /// | `$0.category?.name.contains("x") ?? false` | `category.name CONTAINS "x"` |
    /// | `a ? b : c` | `TERNARY(a, b, c)` |
    /// | `+`, `-`, `*`, `/`, `%` | the same; `modulus:by:` |
    /// | `$0.name.starts(with: "x")`, `$0.name.contains("x")` | `BEGINSWITH`, `CONTAINS` |
    /// | `$0.name.localizedStandardContains("x")` | `CONTAINS[cd]` |
    /// | `$0.name.isEmpty` | `name == ""` |
    /// | `list.contains($0.name)` | `IN` |
    /// | `(1...3).contains($0.price)`, `(1..<3)…`, `(1...)…` | `BETWEEN`; `>=` and `<` |
    /// | `$0.tags.contains { … }` | `ANY`; with several comparisons `SUBQUERY(…).@count > 0` |
    /// | `$0.tags.allSatisfy { … }` | `ALL`; with several comparisons `SUBQUERY(…).@count == 0` |
    /// | `$0.tags.count`, `$0.tags.isEmpty`, `$0.tags.filter { … }.count` | `@count` |
    /// | `$0.objectID == id`, `$0.category?.objectID == id` | `self == id`, `category == id` |
    /// | `ids.contains($0.objectID)` | `self IN ids` |
    /// | `list.contains { $0 == item.name }`, `list.allSatisfy { … }` | `OR`, `AND` |
    ///
    /// Refer to an object by its ID, because a predicate is sendable: `let id = category.objectID`.
    ///
    /// A comparison with a missing value is false, so its negation with `!` is true.
    ///
    /// - Complexity: O(*n*) in the number of its parts. Keep a predicate that is used often.
    /// - Throws: ``StoreError`` with the code ``StoreError/Code/invalidRequest`` if it contains anything else, which
    ///   the message names. Errors that the store detects later, such as comparing a number with text, are not thrown
    ///   here.
    public init<Object: Entity>(_ predicate: Predicate<Object>) throws(StoreError) {
        let translation = PredicateTranslation()
        self = try translation.term(
            predicate.expression, predicate.variable.key, is: .path(RootedPath())
        ).predicate()
    }
}

extension FetchRequest where Object: Entity {
    /// Creates a request for the objects of the class's entity that match a Swift predicate.
    ///
    ///     try context.fetch(FetchRequest<Item>(#Predicate { $0.price < 3 }, sortDescriptors: [.ascending("name")]))
    ///
    /// - Throws: The errors of ``FetchPredicate/init(_:)``.
    public init(
        _ predicate: Predicate<Object>, sortDescriptors: [FetchSortDescriptor] = [], fetchLimit: Int = 0,
        fetchBatchSize: Int = 0
    ) throws(StoreError) {
        self.init(
            predicate: try FetchPredicate(predicate), sortDescriptors: sortDescriptors, fetchLimit: fetchLimit,
            fetchBatchSize: fetchBatchSize)
    }
}
