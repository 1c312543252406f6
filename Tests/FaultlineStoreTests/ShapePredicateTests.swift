import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("A predicate can be rebuilt from its shape")
struct ShapePredicateTests {
    /// Predicates, and the values of their placeholders from left to right.
    private static let predicates: [(FetchPredicate, [any FetchPredicateArgument & Sendable])] = [
        (PropertyPath("name") == "Milk", ["Milk"]),
        (
            PropertyPath("price") > 3 && PropertyPath("name").contains("il", options: [.caseInsensitive]),
            [Int64(3), "il"]
        ),
        (!(PropertyPath("name").beginsWith("M")) || PropertyPath("category.name") == "Dairy", ["M", "Dairy"]),
        (.between("price", 1, 4), [Int64(1), Int64(4)]),
        (PropertyPath("name") != "?", ["?"]),
        (.isNil("category"), []),
    ]

    @Test(arguments: predicates.indices)
    func `A shape with its values gives the original predicate`(_ place: Int) throws {
        let (predicate, values) = Self.predicates[place]
        let shape = try #require(try ShapePredicate(predicate.shape))
        #expect(shape.positions.count == values.count)
        #expect(try shape.predicate(values).description == predicate.description)
    }

    @Test func `Placeholders record their key path, operator, list and negation`() throws {
        let shape = try #require(
            try ShapePredicate(
                "category.name IN {?} AND NOT name CONTAINS[cd] ? AND price BETWEEN {?, ?} AND self == ?"))
        #expect(shape.positions.map(\.names) == [["category", "name"], ["name"], ["price"], ["price"], []])
        #expect(shape.positions.map(\.operation) == [.isIn, .contains, .between, .between, .equalTo])
        #expect(shape.positions.map(\.isList) == [true, false, false, false, false])
        #expect(shape.positions.map(\.isNegated) == [false, true, false, false, false])
        let list = FetchExpression.list(["A"._predicateArgument, "B"._predicateArgument])
        #expect(
            try shape.predicate([list, "x", Int64(1), Int64(2), "y"]).description
                == #"category.name IN {"A", "B"} AND NOT name CONTAINS[cd] "x" AND price BETWEEN {1, 2} AND self == "y""#
        )
    }

    @Test(arguments: ["price * ? > ?", "SUBQUERY(tags, $x, $x.name == ?).@count > ?", "ALL tags.name == ?"])
    func `A shape with an ambiguous placeholder has no predicate`(_ text: String) throws {
        #expect(try ShapePredicate(text) == nil)
    }

    @Test func `Text that is not a predicate throws an error`() {
        #expect(throws: StoreError.self) { try ShapePredicate("name ==") }
    }

    @Test func `Reordering the terms of a conjunction reorders their values`() throws {
        let shape = try #require(try ShapePredicate("NOT name CONTAINS ? AND price > ? AND isBought == ?"))
        let other = try #require(shape.reordered([1, 2, 0]))
        #expect(
            try other.predicate(["x", Int64(3), true]).description
                == FetchPredicate(format: #"price > 3 AND isBought == TRUE AND NOT name CONTAINS "x""#).description)
        #expect(shape.reordered([0, 1]) == nil)
        #expect(shape.reordered([0, 0, 1]) == nil)
        #expect(try ShapePredicate("name == ? OR price > ?")?.reordered([1, 0]) == nil)
        #expect(try ShapePredicate("(name == ? OR price > ?) AND isBought == ?")?.reordered([1, 0]) == nil)
    }

    @Test func `An equality on a single value is joined into a list`() throws {
        let list = FetchExpression.list(["A"._predicateArgument, "B"._predicateArgument])
        for (text, joined) in [
            ("name == ?", #"name IN {"A", "B"}"#), ("name IN {?}", #"name IN {"A", "B"}"#),
            ("? == category.name AND price == nil", #"category.name IN {"A", "B"} AND price == nil"#),
        ] {
            let shape = try #require(try ShapePredicate(text)?.joined())
            #expect(shape.positions.map(\.isList) == [true] && shape.positions.map(\.operation) == [.isIn])
            #expect(try shape.predicate([list]).description == joined)
        }
    }

    @Test(arguments: [
        "name > ?", "name ==[c] ?", "NOT name == ?", "name == ? OR price == nil", "name == ? AND price > ?",
        "ANY tags.name == ?", "price == nil",
    ])
    func `Other comparisons are not joined into a list`(_ text: String) throws {
        #expect(try #require(try ShapePredicate(text)).joined() == nil)
    }

    @Test(arguments: TextOrder.allCases)
    func `Sort descriptors are parsed from their shapes`(_ order: TextOrder) {
        let word = order == .lexical ? "" : "\(order) "
        #expect(
            FetchSortDescriptor(shape: "category.name \(word)descending")
                == FetchSortDescriptor("category.name", ascending: false, order: order))
        #expect(FetchSortDescriptor(shape: "name \(word)") == nil)
        #expect(FetchSortDescriptor(shape: "") == nil)
    }
}
