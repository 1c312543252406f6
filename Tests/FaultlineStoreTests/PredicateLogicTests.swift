import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("A predicate is either true or false")
struct PredicateLogicTests {
    private func makeStore() throws -> TestStore {
        let store = try Household.makeStore()
        for name in ["abc", "Abc", "x", nil] {
            let person = Person(context: store.context)
            person.name = name
            person[Person.height] = name.map { Double($0.utf8.count) }
        }
        try store.context.save()
        return store
    }

    private func names(_ predicate: FetchPredicate, in store: TestStore) throws -> [String] {
        try store.context.fetch(FetchRequest<Person>(predicate: predicate, sortDescriptors: [.ascending("self")])).map {
            $0.name ?? "nil"
        }
    }

    private static let name = PropertyPath("name")
    private static let height = PropertyPath("height")
    static let predicates: [FetchPredicate] = [
        name == "abc", name != "abc", name < "b", name.beginsWith("a"), name.beginsWith("a", options: .caseInsensitive),
        name.endsWith("c"), name.contains("b"), name.like("a*"), name.matches("a.*"), name.isIn(["abc"]),
        name.isIn([String]()), name.between("a", and: "b"), name == nil, name != nil, height > 1, height.isIn([1.0]),
        name == "abc" && height > 1, name == "abc" || height > 5, PropertyPath("spouse.name") == "abc",
        PropertyPath("spouse.name").contains("a"),
        .comparison("name", .lessThan, "B", options: .caseInsensitive),
        .comparison("name", .equalTo, "ABC", options: .caseInsensitive), .value(true), .value(false),
    ]

    @Test("A negated predicate selects exactly the other objects, nil values included", arguments: predicates)
    func negation(_ predicate: FetchPredicate) throws {
        let store = try makeStore()
        let all = try names(.value(true), in: store)
        let selected = try names(predicate, in: store)
        #expect(try names(!predicate, in: store) == all.filter { !selected.contains($0) })
        #expect(try names(!(!predicate), in: store) == selected)
        #expect(
            try store.context.count(for: FetchRequest<Person>(predicate: !predicate)) == all.count - selected.count)
    }

    @Test("Objects of other entities or other stores never match")
    func foreignObjects() throws {
        let store = try makeStore()
        let club = Club(context: store.context)
        try store.context.save()
        let other = try makeStore()
        let same = try other.context.fetchObjectIDs(FetchRequest<Person>())
        let own = try store.context.fetchObjectIDs(FetchRequest<Person>(predicate: Self.name == "x"))
        let unsaved = Person(context: other.context).objectID
        for id in [club.objectID, same[0], unsaved] {
            #expect(try names(.comparison("self", is: id), in: store).isEmpty)
            #expect(try names(!.comparison("self", is: id), in: store).count == 4)
            #expect(try names(.isIn("self", objects: [id]), in: store).isEmpty)
            #expect(try names(.isIn("self", objects: own + [id]), in: store) == ["x"])
        }
        let married = try store.context.fetch(FetchRequest<Person>(predicate: Self.name == "x"))[0]
        married.spouse = married
        try store.context.save()
        let wrong = try #require(same.first { $0.uriRepresentation().path == own[0].uriRepresentation().path })
        #expect(try names(.comparison("spouse", is: wrong), in: store).isEmpty)
        #expect(try names(.isIn("spouse", objects: [wrong]), in: store).isEmpty)
        #expect(try names(.comparison("spouse", is: own[0]), in: store) == ["x"])
    }

    @Test("MATCHES tries every alternative against the whole text")
    func alternatives() throws {
        let store = try makeStore()
        #expect(try names(Self.name.matches("a|abc"), in: store) == ["abc"])
        #expect(try names(Self.name.matches("a|abc", options: .caseInsensitive), in: store) == ["abc", "Abc"])
        #expect(try names(Self.name.matches("ab|bc"), in: store) == [])
        #expect(try names(Self.name.matches("(?x) abc # the letters"), in: store) == ["abc"])
    }

    @Test("Predicates may have thousands of terms and hundreds of thousands of values")
    func longLists() throws {
        let store = try makeStore()
        let terms = (0..<3000).map { Self.name == "v\($0)" }
        #expect(try names(.or(terms + [Self.name == "abc"]), in: store) == ["abc"])
        #expect(try names(.and((0..<3000).map { Self.name != "v\($0)" } + [Self.name == "abc"]), in: store) == ["abc"])
        let chain = terms[..<1200].reduce(Self.name == "abc") { $0 || $1 }
        #expect(try names(chain, in: store) == ["abc"])
        #expect(try names((chain && Self.height > 1) || Self.name == "x", in: store) == ["abc", "x"])

        let values = (0..<260_000).map { "v\($0)" }
        #expect(try names(Self.name.isIn(values + ["abc", ""]), in: store) == ["abc"])
        #expect(try names(!Self.name.isIn(values + ["abc"]), in: store) == ["Abc", "x", "nil"])
        #expect(try names(Self.height.isIn((3..<260_000).map { Double($0) }), in: store) == ["abc", "Abc"])
        #expect(try names(Self.name.isIn(["x"]) && Self.height.isIn((1..<6000).map { Double($0) }), in: store) == ["x"])
    }
}
