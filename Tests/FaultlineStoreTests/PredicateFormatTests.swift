import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("A predicate's format")
struct PredicateFormatTests {
    /// Formats, and the descriptions of the parsed predicates.
    static let formats: [(String, String)] = [
        ("price == 3", "price == 3"),
        ("price=3", "price == 3"),
        ("price => 3 and price =< 4.5", "price >= 3 AND price <= 4.5"),
        ("price <> -3", "price != -3"),
        ("name = 'milk'", #"name == "milk""#),
        (#"name == "say \"so\" \\ \u00e9\u0041 \ud83c\udfb5""#, #"name == "say \"so\" \\ éA 🎵""#),
        (#"name == 'it\'s\n'"#, #"name == "it's\n""#),
        ("0x1F < amount || amount < 0b101 || amount > 0o17", "31 < amount OR amount < 5 OR amount > 15"),
        ("price == 1e3", "price == 1000.0"),
        ("flag == YES AND other == false", "flag == 1 AND other == 0"),
        ("category == nil", "category == nil"),
        ("category != NULL", "category != nil"),
        ("NOT price > 1", "NOT price > 1"),
        ("! (price > 1 && amount < 2)", "NOT (price > 1 AND amount < 2)"),
        ("a == 1 AND b == 2 OR c == 3", "(a == 1 AND b == 2) OR c == 3"),
        ("a == 1 AND (b == 2 OR c == 3)", "a == 1 AND (b == 2 OR c == 3)"),
        ("((((a)) == (((1)))))", "a == 1"),
        ("TRUEPREDICATE", "TRUEPREDICATE"),
        ("falsepredicate or a == 1", "FALSEPREDICATE OR a == 1"),
        ("price BETWEEN {1, 2 + 3}", "price BETWEEN {1, 2 + 3}"),
        ("name IN {'a', \"b\"}", #"name IN {"a", "b"}"#),
        ("name IN ('a', 'b')", #"name IN {"a", "b"}"#),
        ("name in {}", "name IN {}"),
        ("name beginswith[cd] 'a'", #"name BEGINSWITH[cd] "a""#),
        ("name ENDSWITH[d] 'a'", #"name ENDSWITH[d] "a""#),
        ("name CONTAINS[c] 'a'", #"name CONTAINS[c] "a""#),
        ("name LIKE 'a*?'", #"name LIKE "a*?""#),
        ("name MATCHES[c] '[a-z]+'", #"name MATCHES[c] "[a-z]+""#),
        ("name BEGINSWITH[n] 'a'", #"name BEGINSWITH "a""#),
        ("ANY tags.label == 'x'", #"ANY tags.label == "x""#),
        ("some tags.label == 'x'", #"ANY tags.label == "x""#),
        ("ALL items.price > 3", "ALL items.price > 3"),
        ("NONE items.price > 3", "NONE items.price > 3"),
        ("NOT ANY items.price > 3", "NOT ANY items.price > 3"),
        ("items.@count > 2", "items.@count > 2"),
        ("items[SIZE] > 2", "items.@count > 2"),
        ("items.@sum.price >= category.items.@avg.price", "items.@sum.price >= category.items.@avg.price"),
        ("count(items) > 2", "count:(items) > 2"),
        ("max:(items.price) > avg(items.price)", "max:(items.price) > average:(items.price)"),
        ("SUBQUERY(items, $i, $i.price > 3).@count > 0", "SUBQUERY(items, $i, $i.price > 3).@count > 0"),
        (
            "ANY SUBQUERY(items, $i, $i.price > 3 AND $i.name != nil).name == 'x'",
            #"ANY SUBQUERY(items, $i, $i.price > 3 AND $i.name != nil).name == "x""#
        ),
        ("price * 2 + 1 > amount - (1 - 2)", "price * 2 + 1 > amount - (1 - 2)"),
        ("price * (2 + 1) > 2 ** 3 ** 2", "price * (2 + 1) > 2 ** 3 ** 2"),
        ("-price < -(-3)", "-price < 3"),
        ("(2 ** 3) ** 2 > -2 ** 2", "(2 ** 3) ** 2 > -2 ** 2"),
        ("a - (-b) == -(a + b) * (-c) ** -d", "a - -b == -(a + b) * (-c) ** -d"),
        ("(-2) ** 2 == 4 - -1 ** -2", "(-2) ** 2 == 4 - -1 ** -2"),
        ("modulus:by:(amount, 2) == 1", "amount % 2 == 1"),
        ("amount % 2 == 1", "amount % 2 == 1"),
        ("amount > -NO", "amount > 0"), ("amount > -YES", "amount > -1"),
        ("(amount + 1) % -(price * 2) == 1", "(amount + 1) % -(price * 2) == 1"),
        ("flags & 1 == 1", "flags & 1 == 1"),
        ("1 | 2 ^ 3 & 4 << 1 + 2 * 3 == a", "1 | 2 ^ 3 & 4 << 1 + 2 * 3 == a"),
        ("(1 | 2) ^ 3 & (4 << 1) + 2 == a", "(1 | 2) ^ 3 & (4 << 1) + 2 == a"),
        ("((a & b) | (c ^ d)) >> (1 - 2 - 3) == 1", "(a & b | c ^ d) >> 1 - 2 - 3 == 1"),
        ("a >> (b >> c) != a >> b >> c", "a >> (b >> c) != a >> b >> c"),
        ("~a & ~-b ** 2 == ~(a + 1) * 2", "~a & ~-b ** 2 == ~(a + 1) * 2"),
        ("(~a) ** 2 == ~~a", "(~a) ** 2 == ~~a"),
        ("bitwiseAnd:with:(a, onesComplement:(b)) == leftshift:by:(1, a)", "a & ~b == 1 << a"),
        ("a&b==c<<d", "a & b == c << d"),
        ("abs(price) < sqrt:(2)", "abs:(price) < sqrt:(2)"),
        ("uppercase(name) == FUNCTION(name, 'uppercaseString')", "uppercase:(name) == uppercase:(name)"),
        ("FUNCTION(amount, 'add:to:', 3) == 4", "amount + 3 == 4"),
        ("date > CAST(5, 'NSDate')", #"date > CAST(5.0, "NSDate")"#),
        ("date < now() - 86400", "date < now() - 86400"),
        ("CAST(date, 'NSNumber') > 5", #"CAST(date, "NSNumber") > 5"#),
        (
            "id == CAST('E621E1F8-C36C-495A-93FC-0C247A3E6E5F', 'NSUUID')",
            #"id == CAST("E621E1F8-C36C-495A-93FC-0C247A3E6E5F", "NSUUID")"#
        ),
        ("TERNARY(price > 3, name, 'x') == 'y'", #"TERNARY(price > 3, name, "x") == "y""#),
        ("SELF IN {1}", "self IN {1}"),
        ("SELF.name == $NAME", "name == $NAME"),
        ("$FETCH_SOURCE.alias == author", "$FETCH_SOURCE.alias == author"),
        (
            "#size == 3 AND items.size == 2 AND #matches.first == 1",
            "#size == 3 AND items.#size == 2 AND #matches.#first == 1"
        ),
        ("größe == 3", "größe == 3"),
        ("'ell' IN name", #""ell" IN name"#),
        ("items CONTAINS $x", "items CONTAINS $x"),
    ]

    @Test("is parsed, and its description parses to the same predicate", arguments: formats)
    func reading(_ format: String, _ description: String) throws {
        let predicate = try FetchPredicate(format: format)
        #expect(predicate.description == description)
        let again = try FetchPredicate(format: description)
        #expect(again.description == description)
        #expect(again.shape == predicate.shape)
    }

    @Test("gives the same predicate as one built in code")
    func equality() throws {
        let path = PropertyPath("price")
        #expect(try FetchPredicate(format: "price < %@", 3) == (path < 3))
        #expect(
            try FetchPredicate(format: "price < 3 AND name BEGINSWITH[c] 'a'")
                == (path < 3 && PropertyPath("name").beginsWith("a", options: .caseInsensitive)))
        #expect(try FetchPredicate(format: "price BETWEEN %@", 1.0...2.0) == path.between(1.0, and: 2.0))
        #expect(try FetchPredicate(format: "NOT name IN %@", ["a", "b"]) == !PropertyPath("name").isIn(["a", "b"]))
        #expect(
            try FetchPredicate(format: "price * 2 > 5")
                == .comparison(.keyPath("price") * .value(2), .greaterThan, .value(5)))
        #expect(
            try FetchPredicate(format: "SUBQUERY(items, $i, $i.price > 3).@count == 0")
                == .comparison(
                    .subquery(
                        "items", "i", .comparison(.variable("i", "price"), .greaterThan, .value(3)), keyPath: "@count"),
                    .equalTo, .value(0)))
    }

    @Test("takes arguments")
    func arguments() throws {
        let store = try TestStore()
        try store.fill(items: 1)
        let item = try store.context.fetch(FetchRequest<Item>())[0]
        let date = Date(timeIntervalSinceReferenceDate: 7)
        let predicate = try FetchPredicate(
            format:
                "%K == %@ AND %K.@count > %d AND b < %ld AND c < %lf AND d == %@ AND e == %@ AND f IN %@ AND SELF == %@",
            "a.name", "it's", "items", 3, Int64(4), 5.5, date, nil as String?, [1, 2], item)
        #expect(
            predicate.description
                == #"a.name == "it's" AND items.@count > 3 AND b < 4 AND c < 5.5 AND d == CAST(7.0, "NSDate") AND e == nil AND f IN {1, 2} AND self == \#(item.objectID)"#
        )
        #expect(try FetchPredicate(format: "name == '%@' AND a == 10 % 3").description.hasPrefix(#"name == "%@""#))
    }

    /// Formats that cannot be parsed, with the position of the error and the message.
    static let unreadable: [(String, Int, String)] = [
        ("", 1, "expected a value but found the end"),
        ("   ", 4, "expected a value but found the end"),
        ("price", 6, "expected a comparison after price but found the end"),
        ("price ==", 9, "expected a value but found the end"),
        ("price == 3 4", 12, "expected AND, OR or the end but found '4'"),
        ("price == 3 AND", 15, "expected a value but found the end"),
        ("(price == 3", 12, "expected ')' but found the end"),
        ("price == 3)", 11, "expected AND, OR or the end but found ')'"),
        ("(price == 3) + 1 > 2", 1, "expected a value but found a comparison"),
        ("price == (a == 3)", 10, "expected a value but found a comparison"),
        ("name == 'milk", 9, "expected ' at the end of the string that begins here"),
        (#"name == "\ud800""#, 10, "expected a character after '\\u' but found half of a surrogate pair"),
        (#"name == "\u12""#, 10, "expected four hexadecimal digits after '\\u'"),
        ("price == 12abc", 10, "expected a number or a name but found a mixture of both"),
        ("price == 1e999", 10, "expected a number that fits in 64 bits"),
        ("price == 0xFFFFFFFFFFFFFFFFF", 10, "expected a base-16 number of at most 64 bits after '0x'"),
        ("größe ? 3", 7, "expected a name, a value or an operator but found '?'"),
        ("a ~ 3 == 1", 3, "expected a comparison after a but found '~'"),
        ("price BETWEEN {1}", 15, "expected two values in the list of BETWEEN but found 1"),
        ("name CONTAINS[x] 'a'", 15, "expected 'c', 'd', 'cd' or 'n' after '[' but found 'x'"),
        (
            "name CONTAINS[l] 'a'", 15,
            "expected 'c', 'd', 'cd' or 'n' but found 'l': language-sensitive comparison is not supported"
        ),
        ("ANY tags.label", 15, "expected an operator for ANY but found the end"),
        ("AND price == 3", 1, "expected a value but found 'AND'"),
        ("1[FIRST] == 3", 3, "expected SIZE, the only index that fetches support, but found 'FIRST'"),
        ("price. == 3", 8, "expected the name of a property but found '=='"),
        ("3.name == 3", 2, "expected an operator but found '.' after a value"),
        ("median(items.price) > 3", 1, "expected a function that fetches support but found 'median'"),
        ("abs(1, 2) > 3", 1, "expected 1 argument for 'abs' but found 2"),
        ("sum(1) > 3", 1, "expected one key path in 'sum'"),
        ("{1, 2} UNION {3} == 4", 8, "expected a comparison after {1, 2} but found 'UNION'"),
        ("SUBQUERY(items, i, i.price > 3).@count > 0", 17, "expected a variable such as $item but found 'i'"),
        (
            "CAST(x, 'NSString') == 'a'", 9,
            #"expected "NSDate" or "NSNumber", the classes that fetches support but found "NSString""#
        ),
        ("price == %@", 10, "expected another argument for '%@' but found only 0"),
        ("price := 3", 7, "expected a comparison after price but found ':='"),
        ("$ == 3", 1, "expected a variable name after '$'"),
        ("# == 3", 1, "expected a name after '#'"),
        ("%y == 3", 1, "expected '%@', '%K', '%d' or '%f' but found '%y'"),
    ]

    @Test("that cannot be parsed throws an error with the position and the expected token", arguments: unreadable)
    func failures(_ format: String, _ position: Int, _ message: String) {
        let text = performing { _ = try FetchPredicate(format: format) }
        #expect(
            text
                == "The predicate format \"\(format)\" cannot be parsed: at character \(position), \(message); correct it."
        )
    }

    @Test(
        "with an index other than SIZE throws an error that says what to write instead",
        arguments: ["FIRST", "LAST", "0"])
    func indexes(_ index: String) {
        #expect(
            performing { _ = try FetchPredicate(format: "shelf.items[\(index)].price == 3") }
                == "The predicate format \"shelf.items[\(index)].price == 3\" cannot be parsed: at character 13, expected SIZE, the only index that fetches support, but found '\(index)'; compare all objects of 'items' with ANY, or keep their positions in an attribute and write SUBQUERY(shelf.items, $x, $x.position == 0 AND …).@count > 0."
        )
    }

    @Test("with a nested fetch throws an error that says what to write instead")
    func nestedFetch() {
        #expect(
            performing { _ = try FetchPredicate(format: "SELF IN FETCH(%@, nil, NO)", "x") }
                == "The predicate format \"SELF IN FETCH(%@, nil, NO)\" cannot be parsed: at character 9, expected a function that fetches support but found 'FETCH'; fetch the IDs with fetchObjectIDs first, and write IN %@ with them."
        )
    }

    @Test("with the wrong arguments throws an error that names the mismatch")
    func argumentFailures() throws {
        let wrong: [(String, [(any FetchPredicateArgument)?], Int, String)] = [
            ("a == %d", ["x"], 6, #"expected a number for '%d' but argument 1 is "x""#),
            ("%K == 1", [3], 1, "expected a key path for '%K' but argument 1 is 3"),
            ("a == %@", [1, 2], 8, "expected placeholders for 2 arguments but found 1"),
        ]
        for (format, arguments, position, message) in wrong {
            let text = performing { _ = try FetchPredicate(format: format, argumentArray: arguments) }
            #expect(
                text
                    == "The predicate format \"\(format)\" cannot be parsed: at character \(position), \(message); correct it."
            )
        }
        let error = #expect(throws: StoreError.self) { try FetchPredicate(format: "a ==") }
        #expect(error?.code == .predicateFormat)
    }

    @Test("that is long is quoted only around the error")
    func longFormat() {
        let format = (0..<100).map { "value\($0) == \($0)" }.joined(separator: " AND ") + " AND"
        let text = performing { _ = try FetchPredicate(format: format) }
        #expect(
            text.hasPrefix("The predicate format \"…")
                && text.contains("value99 == 99 AND\" cannot be parsed: at character"))
        #expect(text.count < 300)
    }

    @Test("may be long, but is limited in nesting depth")
    func depth() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "(", count: depth) + "a == 1" + String(repeating: ")", count: depth)
        }
        #expect(try FetchPredicate(format: nested(90)).description == "a == 1")
        #expect(
            performing { _ = try FetchPredicate(format: nested(100_000)) }.contains(
                "expected at most 200 levels of nesting"))
        let minus = performing {
            _ = try FetchPredicate(format: "a == " + String(repeating: "-", count: 100_000) + "1")
        }
        #expect(minus.contains("expected at most 200 levels of nesting"))
        let sum = performing { _ = try FetchPredicate(format: "a == 1" + String(repeating: " + 1", count: 100_000)) }
        #expect(sum.contains("expected at most 200 chained operators"))
        let signs = "a == " + String(repeating: "-", count: 80) + "b"
        #expect(try FetchPredicate(format: signs).description == signs)
        let long = (0..<20_000).map { "a == \($0)" }.joined(separator: " OR ")
        #expect(try FetchPredicate(format: long).terms.count == 32)
    }

    @Test("with variables is a template")
    func variables() throws {
        let template = try FetchPredicate(format: "name == $NAME AND ANY tags.label == $LABEL AND price > $LIMIT")
        #expect(template.variables == ["NAME", "LABEL", "LIMIT"])
        let some = try template.withSubstitutionVariables(["NAME": "milk", "LABEL": nil])
        #expect(some.description == #"name == "milk" AND ANY tags.label == nil AND price > $LIMIT"#)
        #expect(some.variables == ["LIMIT"])
        let hidden = try FetchPredicate(format: "SUBQUERY(items, $x, $x.name == $y).@count > $x")
            .withSubstitutionVariables(["x": 3, "y": "n"])
        #expect(hidden.description == #"SUBQUERY(items, $x, $x.name == "n").@count > 3"#)

        let store = try TestStore()
        try store.fill(items: 2)
        let item = try store.context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")]))[1]
        let source = try FetchPredicate(format: "name == $SOURCE.name AND category == $SOURCE.category")
        let bound = try source.withSubstitutionVariables(["SOURCE": item])
        #expect(try store.context.fetch(FetchRequest<Item>(predicate: bound)).map { $0 } == [item])
        #expect(
            performing { _ = try source.withSubstitutionVariables(["SOURCE": "text"]) }
                == "'$SOURCE.name' reads a property of '$SOURCE', which is not an object; pass an object for it.")
        #expect(
            performing {
                _ = try FetchPredicate(format: "name == $SOURCE.tags").withSubstitutionVariables(["SOURCE": item])
            } == "'tags' is not the key path of an attribute or a to-one relationship of Item; correct it.")
        #expect(
            performing { _ = try store.context.fetch(FetchRequest<Item>(predicate: template)) }
                == "Fetching Item: '$NAME' has no value; set one with withSubstitutionVariables before executing the request."
        )
    }
}
