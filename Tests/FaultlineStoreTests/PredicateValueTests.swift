import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("Serialized values of predicates")
struct PredicateValueTests {
    private static let every: [PredicateValue] = [
        .value(.integer(.min)), .value(.decimal(Decimal(string: "12345678901234567890.5")!)), .value(.double(0.1)),
        .value(.double(3)), .value(.double(-.infinity)), .value(.string("A \"quoted\" line\nand ☂")),
        .value(.boolean(true)), .value(.boolean(false)), .value(.integer(1)),
        .value(.date(Date(timeIntervalSinceReferenceDate: 1.25))), .value(.binary(Data([0, 255]))),
        .value(.uuid(UUID(uuidString: "01234567-89AB-CDEF-0123-456789ABCDEF")!)),
        .value(.uri(URL(string: "https://example.org/a?b=c")!)), .object(URL(string: "x-coredata://store/Item/p1")!),
        .list([.value(.integer(1)), .value(.string("x"))]), .list([]),
    ]

    @Test func `Values round-trip through text`() throws {
        let text = try #require(PredicateValue.text(Self.every))
        #expect(PredicateValue.values(text) == Self.every)
        #expect(
            PredicateValue.text([.value(.string("Milk")), .value(.integer(3))]) == #"[{"string":"Milk"},{"integer":3}]"#
        )
    }

    @Test(arguments: [
        "", "3", "{}", "[3]", "[{}]", #"[{"string":3}]"#, #"[{"text":"x"}]"#, #"[{"uuid":"x"}]"#, #"[{"list":3}]"#,
        #"[{"list":[{"list":[{"list":[{"list":[{"list":[]}]}]}]}]}]"#,
    ])
    func `Text that is not a serialized value gives nil`(_ text: String) {
        #expect(PredicateValue.values(text) == nil)
    }

    @Test func `The values match the placeholders of the predicate's shape`() throws {
        let predicate = try FetchPredicate(
            format:
                "name BEGINSWITH %@ AND NOT category.name IN %@ AND price BETWEEN {%@, %@} AND 3 < price AND isBought == nil",
            "M", ["A", "B"], 1, 2.5)
        let values = try #require(predicate.values)
        #expect(
            values == [
                .value(.string("M")), .list([.value(.string("A")), .value(.string("B"))]), .value(.integer(1)),
                .value(.double(2.5)), .value(.integer(3)),
            ])
        let shape = try #require(try ShapePredicate(predicate.shape))
        #expect(shape.positions.count == values.count)
    }

    @Test func `Values inside expressions are not recorded`() throws {
        #expect(try FetchPredicate(format: "price * 2 > 3").values == nil)
        #expect(try FetchPredicate(format: "SUBQUERY(tags, $x, $x.name == 'a').@count > 3").values == nil)
        #expect(try FetchPredicate(format: "category == nil").values == [])
    }
}
