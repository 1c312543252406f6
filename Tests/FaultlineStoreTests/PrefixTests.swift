import FaultlineModel
import FaultlineStore
import FaultlineTrace
import Foundation
import Testing

@Suite("BEGINSWITH without options searches a range of an index")
struct PrefixTests {
    /// Texts at the edges of Unicode.
    static let texts: [String] = {
        let edges = [
            "", " ", "\0", "\0\0", "a", "A", "aa", "ab", "a\u{301}", "\u{e1}", "z", "~", "\u{7f}", "\u{80}", "\u{7ff}",
            "\u{800}", "\u{d7ff}", "\u{e000}", "\u{fffd}", "\u{ffff}", "\u{10000}", "\u{10ffff}",
            "\u{10ffff}\u{10ffff}", "🎵", "👩‍👩‍👧", "e\u{0}x", "日本", "ａ",
        ]
        return edges + edges.flatMap { edge in ["b", "\u{d7ff}", "\u{10ffff}", "\0"].map { edge + $0 } }
    }()

    private static func isPrefix(_ prefix: String, of text: String) -> Bool {
        text.unicodeScalars.starts(with: prefix.unicodeScalars)
    }

    private func makeStore(isRecording: Bool = false) throws -> TestStore {
        let store = try TestStore(isRecording: isRecording)
        for (place, text) in Self.texts.enumerated() {
            let category = Category(context: store.context)
            category.name = text
            let item = Item(context: store.context)
            item.name = text
            item.amount = place
            item.category = category
        }
        // A category without a name.
        Category(context: store.context).setValue(nil, forKey: "name")
        try store.context.save()
        return store
    }

    @Test("BEGINSWITH finds what comparing every text finds, with and without an index")
    func sameAsInMemory() throws {
        let store = try makeStore()
        for prefix in Self.texts + ["nothing begins so", "\u{10ffff}\u{10ffff}\u{10ffff}"] {
            let expected = Self.texts.indices.filter { Self.isPrefix(prefix, of: Self.texts[$0]) }
            for keyPath in ["name", "category.name"] {
                let found = try store.context.fetch(
                    FetchRequest<Item>(
                        predicate: PropertyPath(keyPath).beginsWith(prefix), sortDescriptors: [.ascending("amount")]))
                #expect(found.map(\.amount) == expected, "\(prefix.debugDescription) in \(keyPath)")
            }
            let nameless = try store.context.count(
                for: FetchRequest<Category>(predicate: !PropertyPath("name").beginsWith(prefix)))
            #expect(nameless == Self.texts.count + 1 - expected.count, "\(prefix.debugDescription)")
        }
    }

    static let plans: [(prefix: String, plan: String)] = [
        ("a", "SEARCH t0 USING INDEX Z_Item_byName (ZNAME>? AND ZNAME<?)"),
        ("Löwe 🦁", "SEARCH t0 USING INDEX Z_Item_byName (ZNAME>? AND ZNAME<?)"),
        ("\u{d7ff}", "SEARCH t0 USING INDEX Z_Item_byName (ZNAME>? AND ZNAME<?)"),
        ("x\u{10ffff}", "SEARCH t0 USING INDEX Z_Item_byName (ZNAME>? AND ZNAME<?)"),
        // No text sorts after those with this prefix.
        ("\u{10ffff}", "SCAN t0"),
        // Every text.
        ("", "SCAN t0"),
    ]

    /// Returns SQLite's plan for the last read statement, which a COMMIT may follow on a busy machine.
    private func lastPlan(_ store: TestStore) throws -> [String] {
        let reads = store.events.compactMap { event -> TraceEvent.Statement? in
            guard case .sql(let statement) = event.detail, statement.type == .read else { return nil }
            return statement
        }
        let statement = try #require(reads.last)
        return try #require(store.dictionary.plan(statement.plan)).rows.map(\.detail)
    }

    @Test("SQLite's plan searches the index unless the range is open", arguments: plans)
    func plan(_ prefix: String, _ plan: String) throws {
        let store = try makeStore(isRecording: true)
        _ = try store.context.fetch(FetchRequest<Item>(predicate: PropertyPath("name").beginsWith(prefix)))
        #expect(try lastPlan(store) == [plan])
    }

    @Test("The index search also serves sorting by the same attribute")
    func sorted() throws {
        let store = try makeStore(isRecording: true)
        let found = try store.context.fetch(
            FetchRequest<Item>(
                predicate: PropertyPath("name").beginsWith("a"), sortDescriptors: [.ascending("name")], fetchLimit: 3))
        #expect(try lastPlan(store) == ["SEARCH t0 USING INDEX Z_Item_byName (ZNAME>? AND ZNAME<?)"])
        #expect(found.map(\.name) == ["a", "a\0", "aa"])
    }

    /// Typed texts and the options of their searches.
    static let searches: [(String, TextOptions)] = [
        ("AGUAS", [.caseInsensitive, .diacriticInsensitive]), ("águas", [.caseInsensitive, .diacriticInsensitive]),
        ("a\u{301}g", [.caseInsensitive, .diacriticInsensitive]), ("Ág", .caseInsensitive), ("ag", .caseInsensitive),
        ("Agua", .diacriticInsensitive), ("", [.caseInsensitive, .diacriticInsensitive]), ("Ag", []),
        ("STRASSE", [.caseInsensitive, .diacriticInsensitive]), ("ﬁ", .caseInsensitive), ("İ", .caseInsensitive),
    ]

    @Test("A search in folded copies finds what a search with options finds in the originals", arguments: searches)
    func folded(_ typed: String, _ options: TextOptions) throws {
        let store = try TestStore()
        let titles = [
            "Águas de Março", "águas", "AGUAS", "A\u{301}guas", "agora", "Straße", "strasse", "ﬁn", "Fin", "İstanbul",
            "istanbul", "",
        ]
        for title in titles {
            let item = Item(context: store.context)
            item.name = title
            let folded = Category(context: store.context)
            folded.name = options.fold(title)
            item.category = folded
        }
        try store.context.save()
        func names(_ predicate: FetchPredicate) throws -> [String] {
            try store.context.fetch(FetchRequest<Item>(predicate: predicate)).map(\.name).sorted()
        }
        let direct = try names(PropertyPath("name").beginsWith(typed, options: options))
        #expect(try names(PropertyPath("category.name").beginsWith(options.fold(typed))) == direct)
        #expect(
            try names(PropertyPath("name").contains(typed, options: options))
                == names(PropertyPath("category.name").contains(options.fold(typed))))
        #expect(!direct.isEmpty || typed == "ag" || typed == "Ag")
    }
}
