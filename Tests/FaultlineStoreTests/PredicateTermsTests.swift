import FaultlineRecorder
import FaultlineStore
import FaultlineTrace
import Testing

@Suite("The terms of a predicate in a trace")
struct PredicateTermsTests {
    private static let name = PropertyPath("name")
    private static let price = PropertyPath("price")

    /// Describes a term in one line, such as `"name CONTAINS[cd] value"`.
    private static func line(_ term: ShapeEntry.Term) -> String {
        let options = term.options.map { "[\($0)]" } ?? ""
        return [
            "\(term.keyPath) \(term.operation)\(options) \(term.operand)", term.wildcards,
            term.isAlternative == true ? "alternative" : nil, term.isNegated == true ? "negated" : nil,
        ].compactMap(\.self).joined(separator: ", ")
    }

    static let predicates: [(FetchPredicate, [String])] = [
        (name == "milk", ["name == value"]),
        (name == nil, ["name == nil"]),
        // A name that is also a keyword of the format.
        (PropertyPath("size") == 1, ["size == value"]),
        (.comparison("shop.first", .lessThan, 1), ["shop.first < value"]),
        (name.contains("mil", options: [.caseInsensitive, .diacriticInsensitive]), ["name CONTAINS[cd] value"]),
        (name.beginsWith("mil", options: .diacriticInsensitive), ["name BEGINSWITH[d] value"]),
        (.comparison("name", .equalTo, "MILK", options: .caseInsensitive), ["name ==[c] value"]),
        (name.isIn(["milk", "bread"]), ["name IN value"]),
        (price.between(1.0, and: 2.0), ["price BETWEEN value"]),
        (name == "milk" && price > 1 && price < 2, ["name == value", "price > value", "price < value"]),
        (name == "milk" || price > 1, ["name == value, alternative", "price > value, alternative"]),
        (!(name == "milk"), ["name == value, negated"]),
        (!(!(name == "milk")), ["name == value"]),
        // If not both terms hold, either of them may be false.
        (
            !(name == "milk" && price > 1),
            ["name == value, alternative, negated", "price > value, alternative, negated"]
        ),
        (!(name == "milk" || price > 1), ["name == value, negated", "price > value, negated"]),
        (.value(true) && name == "milk", ["name == value"]),
        (.value(true), []),
    ]

    @Test("contain the property, the operator and whether a row must match", arguments: predicates)
    func terms(_ predicate: FetchPredicate, _ lines: [String]) {
        #expect(predicate.terms.map(Self.line) == lines)
    }

    @Test("distinguish objects from values")
    func objects() throws {
        let store = try TestStore()
        try store.fill(items: 1)
        let category = try store.context.fetchObjectIDs(FetchRequest<Category>())[0]
        #expect((PropertyPath("category") == category).terms.map(Self.line) == ["category == object"])
        #expect(FetchPredicate.isIn("self", objects: [category]).terms.map(Self.line) == ["self IN object"])
    }

    @Test(
        "contain the position of a pattern's wildcards, but not the pattern",
        arguments: [
            ("milk", "none"), ("mil*", "trailing"), ("mil**", "trailing"), ("*ilk", "leading"), ("?ilk", "leading"),
            ("m*k", "inner"), ("mil?", "inner"), ("m*l*", "inner"), (#"\*ilk"#, "none"), (#"\*il*"#, "trailing"),
            ("", "none"),
        ])
    func wildcards(_ pattern: String, _ wildcards: String) {
        #expect(Self.name.like(pattern).terms.map(Self.line) == ["name LIKE value, \(wildcards)"])
    }

    // MARK: - Values

    private func operands(_ predicates: FetchPredicate...) throws -> [[UInt64]] {
        let store = try TestStore(isRecording: true)
        for predicate in predicates { _ = try store.context.count(for: FetchRequest<Item>(predicate: predicate)) }
        return store.events.compactMap { if case .fetch(let fetch) = $0.detail { fetch.operands } else { nil } }
    }

    @Test("have one hash each, which depends only on the term's values")
    func hashes() throws {
        let found = try operands(
            Self.name == "milk" && Self.price.isIn([1.0, 2.0]), Self.name == "bread" && Self.price.isIn([1.0, 2.0]),
            Self.name == "milk" && Self.price.isIn([1.0, 3.0]), Self.name == "milk" && Self.price.isIn([1.0, 2.0]))
        try #require(found.count == 4)
        #expect(found.allSatisfy { $0.count == 2 })
        #expect(found[1][0] != found[0][0] && found[1][1] == found[0][1])
        #expect(found[2][0] == found[0][0] && found[2][1] != found[0][1])
        #expect(found[3] == found[0])
        #expect(found.joined().allSatisfy { $0 < 1 << 53 })
    }

    @Test("have hashes that differ between recordings")
    func keys() throws {
        let (first, second) = (try operands(Self.name == "milk"), try operands(Self.name == "milk"))
        #expect(first.count == 1 && first != second)
    }

    @Test("keep their values out of the trace")
    func privacy() throws {
        let store = try TestStore(isRecording: true)
        let predicates = [
            Self.name.like("*secret*"), Self.name.contains("secret"), Self.name.isIn(["secret"]), Self.name == "secret",
        ]
        for predicate in predicates { _ = try store.context.fetch(FetchRequest<Item>(predicate: predicate)) }
        let messages = store.recorder.messages()
        #expect(messages.count > 4)
        #expect(!messages.contains { "\($0)".contains("secret") })
    }

    @Test("share the last hash beyond thirty-two")
    func longPredicate() throws {
        func chain(_ count: Int, last: Double) -> FetchPredicate {
            .or((1..<count).map { Self.price == Double($0) } + [Self.price == last])
        }
        #expect(chain(40, last: 0).terms.count == 32)
        let found = try operands(chain(32, last: 0), chain(40, last: 0), chain(40, last: -1))
        #expect(found.map(\.count) == [32, 33, 33])
        #expect(found[1].prefix(32) == found[2].prefix(32) && found[1].last != found[2].last)
    }

    @Test("are found in a chain longer than the stack is deep")
    func deepPredicate() throws {
        var predicate = Self.price == 0.0
        for number in 1..<6000 { predicate = predicate || Self.price == Double(number) }
        #expect(predicate.terms.count == 32)
        #expect(try operands(predicate).map(\.count) == [33])
    }
}
