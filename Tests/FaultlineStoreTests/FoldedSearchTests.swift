import FaultlineModel
import FaultlineStore
import FaultlineTrace
import Foundation
import Testing

@Suite("Case- and diacritic-insensitive searches use an attribute derived for them")
struct FoldedSearchTests {
    private final class City: ManagedObject {
        static let name = AttributeKey<String?>("name")
        static let plain = AttributeKey<String?>("plain")
        static let mayor = ToOneKey<City>("twin")
    }

    private func makeStore() throws -> TestStore {
        try TestStore(
            [
                EntityDescription(
                    "City",
                    attributes: [
                        AttributeDescription("name", .string), AttributeDescription("plain", .string),
                        AttributeDescription("folded", .string, derivationExpression: "canonical:(name)"),
                    ],
                    relationships: [RelationshipDescription("twin", to: "City", inverse: "twin")],
                    indexes: [FetchIndexDescription("byFolded", on: "folded")])
            ], classes: [City.self], isRecording: true)
    }

    private func fill(_ store: TestStore, _ names: [String?]) throws {
        for name in names {
            let city = City(context: store.context)
            (city[City.name], city[City.plain]) = (name, name)
        }
        try store.context.save()
        store.context.reset()
    }

    private func find(_ store: TestStore, _ format: String, _ arguments: any FetchPredicateArgument...) throws
        -> [String?]
    {
        var predicate = try FetchPredicate(format: format)
        predicate = try predicate.withSubstitutionVariables(
            Dictionary(uniqueKeysWithValues: arguments.enumerated().map { ("V\($0.offset)", $0.element) }))
        return try store.context.fetch(FetchRequest<City>(predicate: predicate)).map { $0[City.name] }.sorted {
            ($0 ?? "") < ($1 ?? "")
        }
    }

    /// Returns the condition of the last statement that has one, without insignificant spaces.
    private func condition(_ store: TestStore) -> String? {
        store.statements().last { $0.contains("WHERE") }?.split(separator: "WHERE").last.map {
            $0.split(separator: " ").joined(separator: " ").replacing("( ", with: "(")
        }
    }

    @Test(
        "Each comparison reads the derived attribute where its options allow",
        arguments: [
            ("name BEGINSWITH[cd] 'ÁG'", "(t0.ZFOLDED >= ? AND t0.ZFOLDED < ?)", ["Águas"]),
            ("folded BEGINSWITH[cd] 'ÁG'", "(t0.ZFOLDED >= ? AND t0.ZFOLDED < ?)", ["Águas"]),
            ("name ==[cd] 'AGUAS'", "t0.ZFOLDED = ?", ["Águas"]),
            ("name !=[cd] 'AGUAS'", "(t0.ZFOLDED <> ? OR t0.ZFOLDED IS NULL)", [nil, "Berlin", "Ulm"]),
            ("name >=[cd] 'BERLÍN'", "t0.ZFOLDED >= ?", ["Berlin", "Ulm"]),
            ("name IN[cd] {'ULM', 'berlin'}", "(t0.ZFOLDED = ? OR t0.ZFOLDED = ?)", ["Berlin", "Ulm"]),
            ("name CONTAINS[cd] 'ULM'", "NSCoreDataStringSearch(t0.ZFOLDED, ?, 0, 0)", ["Ulm"]),
            ("name ENDSWITH[cd] 'IN'", "NSCoreDataStringSearch(t0.ZFOLDED, ?, 12, 0)", ["Berlin"]),
            ("name LIKE[cd] '?GU*'", "FaultlineStringLike(t0.ZFOLDED, ?, 0)", ["Águas"]),
            ("name MATCHES[cd] 'b.*n'", "FaultlineStringMatch(t0.ZNAME, ?, 129)", ["Berlin"]),
            ("name BEGINSWITH[c] 'u'", "NSCoreDataStringSearch(t0.ZNAME, ?, 9, 0)", ["Ulm"]),
            ("plain BEGINSWITH[cd] 'u'", "NSCoreDataStringSearch(t0.ZPLAIN, ?, 137, 0)", ["Ulm"]),
        ] as [(String, String, [String?])])
    func statements(format: String, sql: String, names: [String?]) throws {
        let store = try makeStore()
        try fill(store, ["Águas", "Berlin", "Ulm", nil])
        #expect(try find(store, format) == names)
        #expect(condition(store) == sql)
    }

    @Test("A search on a derived attribute uses its index")
    func plan() throws {
        let store = try makeStore()
        try fill(store, ["Águas", "Berlin", "Ulm"])
        _ = try find(store, "name BEGINSWITH[cd] 'b'")
        guard case .fetch(let fetch)? = store.events.last(where: { $0.kind == .fetch })?.detail else {
            Issue.record("no fetch")
            return
        }
        #expect(store.dictionary.shape(fetch.shape)?.terms?.map(\.isFolded) == [true])
        let statement = try #require(
            store.events.compactMap { event -> TraceEvent.Statement? in
                if case .sql(let statement) = event.detail, statement.type == .read { statement } else { nil }
            }.last)
        #expect(statement.fullScanSteps == 0)
    }

    @Test("Searches over a relationship use the derived attribute and include unsaved changes")
    func relationship() throws {
        let store = try makeStore()
        try fill(store, ["Águas", "Berlin"])
        let cities = try store.context.fetch(FetchRequest<City>(sortDescriptors: [.ascending("folded")]))
        cities[0][City.mayor] = cities[1]
        try store.context.save()
        #expect(try find(store, "twin.name BEGINSWITH[cd] 'BER'") == ["Águas"])
        #expect(condition(store) == "(t1.ZFOLDED >= ? AND t1.ZFOLDED < ?)")
        cities[0][City.name] = "Bergen"
        #expect(try find(store, "name BEGINSWITH[cd] 'BER'") == ["Bergen", "Berlin"])
    }

    @Test("Searches return the same results with and without a derived attribute", arguments: 0..<8)
    func randomTexts(seed: Int) throws {
        var random = RandomNumbers(seed: UInt64(seed))
        let letters = [
            "a", "A", "á", "Á", "a\u{301}", "ß", "ss", "SS", "İ", "i", "ı", "Ω", "ω", "é", "ñ", "n", "*", "?", "\\",
            "'", " ", "ﬁ", "Å", "東",
        ]
        func text() -> String { (0..<random.number(5)).map { _ in random.one(letters) }.joined() }
        let store = try makeStore()
        try fill(store, (0..<60).map { $0 % 10 == 0 ? nil : text() })
        for operation in ["BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "==", "!=", "<", "<=", ">", ">="] {
            for _ in 0..<12 {
                let wanted = text()
                #expect(
                    try find(store, "name \(operation)[cd] $V0", wanted)
                        == find(store, "plain \(operation)[cd] $V0", wanted), "\(operation) \(wanted.debugDescription)")
            }
        }
    }

    @Test("A store written by Core Data is excluded, because Core Data folds text differently")
    func foreign() throws {
        let entities = [
            EntityDescription(
                "City",
                attributes: [
                    AttributeDescription("name", .string),
                    AttributeDescription("folded", .string, derivationExpression: "canonical:(name)"),
                ])
        ]
        func columns(_ numbers: [String: Int64]) -> [String?]? {
            ModelSchema(entities, numbers: numbers).entity(named: "City")?.properties.map(\.canonicalColumn)
        }
        #expect(columns([:]) == ["ZFOLDED", "ZFOLDED"])
        #expect(columns(["City": 1]) == [nil, nil])
    }
}
