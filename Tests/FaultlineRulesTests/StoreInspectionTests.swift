import FaultlineFindings
import FaultlineTrace
import Testing

@testable import FaultlineRules

@Suite("Store inspection")
struct StoreInspectionTests {
    private typealias Table = StoreFacts.Table
    private typealias Column = StoreFacts.Column

    private func column(_ name: String, mean: Double = 8, largest: UInt64? = nil, isInternal: Bool = false) -> Column {
        var column = Column(name: name)
        (column.meanSize, column.largestSize) = (mean, largest ?? UInt64(mean))
        column.isInternal = isInternal
        return column
    }

    private func table(_ columns: [Column], _ name: String = "item", rows: UInt64 = 1000) -> Table {
        var table = Table(name: name)
        (table.rows, table.sampled, table.columns) = (rows, rows, columns)
        return table
    }

    private func findings(_ tables: [Table], _ change: (inout StoreFacts) -> Void = { _ in }) -> [Finding] {
        var facts = StoreFacts(path: "/tmp/shop.sqlite")
        facts.tables = tables
        change(&facts)
        return StoreInspection(facts).findings
    }

    private func titles(_ tables: [Table], _ change: (inout StoreFacts) -> Void = { _ in }) -> [String] {
        findings(tables, change).map(\.title.text)
    }

    // MARK: - Values

    @Test func `Inspection advises moving large values among others to a table of their own`() throws {
        let photo = column("photo", mean: 18_000, largest: 20_000)
        let found = findings([table([column("id", isInternal: true), column("name"), column("price"), photo])])
        #expect(found.map(\.title.text) == ["Move item.photo into a table of its own"])
        let finding = try #require(found.first)
        #expect(finding.rule == "R09" && finding.severity == .warning && finding.change?.description == "table item")
        #expect(
            finding.fix.text == "Move item.photo into a table of its own, which is read only where it is needed.")
        #expect(
            finding.explanation.map(\.text) == [
                "item.photo takes about 17.2 MiB of the table, everything else 15.6 KiB. In 1,000 rows, the average value has "
                    + "17.6 KiB, and 95 % have at most 19.5 KiB."
            ])
        // A table of photos with nothing else is not reported.
        #expect(titles([table([column("id", isInternal: true), column("item"), photo])]).isEmpty)
        #expect(titles([table([column("name"), column("price"), photo], rows: 99)]).isEmpty)
        // A few huge values fill a store as well.
        let huge = column("photo", mean: 2_000_000, largest: 2_100_000)
        #expect(
            titles([table([column("name"), column("price"), huge], rows: 12)]) == [
                "Move item.photo into a table of its own"
            ])
        #expect(titles([table([column("name"), column("price"), huge], rows: 2)]).isEmpty)
        let small = column("photo", mean: 9000, largest: 16_383)
        #expect(titles([table([column("name"), column("price"), small])]).isEmpty)
    }

    @Test func `Inspection advises moving a large column after the small ones`() throws {
        let text = column("text", mean: 9000, largest: 12_000)
        let found = findings([table([column("name"), text, column("price"), column("id", isInternal: true)])])
        #expect(found.map(\.title.text) == ["Put item.text after price"])
        #expect(
            found.first?.explanation.map(\.text) == [
                "To read price, SQLite follows about 2 pages of text in each of 1,000 rows."
            ])
        #expect(titles([table([column("name"), column("price"), text])]).isEmpty)
        #expect(titles([table([column("text", mean: 4095, largest: 8000), column("price")])]).isEmpty)
    }

    @Test func `An inheritance table whose columns are mostly empty is reported as sparse`() throws {
        func tree(columns: Int, kinds: Int, emptyShare: Double) -> [Table] {
            var sparse = (0..<columns).map { number in
                var column = column("z\(number)")
                (column.emptyShare, column.emptyKinds) = (emptyShare, ["A"])
                return column
            }
            sparse.append(column("znote"))
            var table = table(sparse, "ZMEDIA")
            table.kinds = Dictionary(uniqueKeysWithValues: (0..<kinds).map { ("Kind\($0)", UInt64(100 - $0)) })
            return [table]
        }
        let finding = try #require(findings(tree(columns: 10, kinds: 3, emptyShare: 0.61)).first)
        #expect(
            finding.rule == "R15"
                && finding.title.text == "Give the entities in ZMEDIA tables of their own: they share few properties")
        #expect(
            finding.explanation.map(\.text) == [
                "3 entities share the table: Kind0 (100), Kind1 (99), Kind2 (98). 10 columns are empty for some of them; 61 % of their values are NULL."
            ])
        #expect(titles(tree(columns: 9, kinds: 3, emptyShare: 0.9)).isEmpty)
        #expect(titles(tree(columns: 10, kinds: 2, emptyShare: 0.9)).isEmpty)
        #expect(titles(tree(columns: 10, kinds: 3, emptyShare: 0.59)).isEmpty)
    }

    // MARK: - Indexes

    private func indexed(_ indexes: [StoreFacts.Index], filled: UInt64 = 1000, rows: UInt64 = 1000) -> [Table] {
        var item = table([column("name"), column("shelf")], rows: rows)
        item.indexes = indexes
        var reference = StoreFacts.Reference(column: "shelf", table: "shelf")
        (reference.filled, reference.distinct) = (filled, min(filled, 20))
        item.references = [reference]
        return [item, table([column("label"), column("floor")], "shelf", rows: 20)]
    }

    @Test func `A reference without an index is reported`() {
        #expect(titles(indexed([])) == ["Index item by shelf"])
        #expect(findings(indexed([])).map(\.code) == [["CREATE INDEX item_shelf ON item (shelf);"]])
        var order = indexed([])
        order[0].name = "order"
        #expect(findings(order).map(\.code) == [["CREATE INDEX order_shelf ON \"order\" (shelf);"]])
        #expect(titles(indexed([.init(name: "i", columns: ["shelf", "name"])])).isEmpty)
        var descending = StoreFacts.Index(name: "i", columns: ["shelf DESC"])
        descending.first = "shelf"
        #expect(titles(indexed([descending])).isEmpty)
        var keyed = indexed([])
        keyed[0].key = "shelf"
        #expect(titles(keyed).isEmpty)
        #expect(titles(indexed([.init(name: "i", columns: ["name", "shelf"])])) == ["Index item by shelf"])
        var part = StoreFacts.Index(name: "i", columns: ["shelf"])
        part.isPartial = true
        #expect(titles(indexed([part])) == ["Index item by shelf"])
        #expect(titles(indexed([], filled: 0)).isEmpty)
        #expect(titles(indexed([], rows: 499)).isEmpty)
    }

    @Test func `An index whose columns are a prefix of another one's is reported`() {
        typealias Index = StoreFacts.Index
        let shelf = Index(name: "i0", columns: ["shelf"])
        func needless(_ indexes: Index...) -> [String] { titles(indexed([shelf] + indexes)) }
        #expect(
            needless(Index(name: "i1", columns: ["name"]), Index(name: "i2", columns: ["name", "shelf"])) == [
                "Drop the index i1"
            ])
        #expect(
            needless(Index(name: "i1", columns: ["name"]), Index(name: "i2", columns: ["name"])) == [
                "Drop the index i2"
            ])
        #expect(
            needless(
                Index(name: "i1", columns: ["name COLLATE NOCASE"]), Index(name: "i2", columns: ["name", "shelf"])
            ).isEmpty)
        var unique = Index(name: "i1", columns: ["name"])
        unique.isUnique = true
        #expect(needless(unique, Index(name: "i2", columns: ["name", "shelf"])).isEmpty)
        #expect(needless(unique, Index(name: "i2", columns: ["name"])) == ["Drop the index i2"])
    }

    @Test func `An index that no statement of a trace uses is reported, if it only serves queries`() throws {
        typealias Index = StoreFacts.Index
        var unique = Index(name: "unique", columns: ["name"]), partial = Index(name: "partial", columns: ["name"])
        (unique.isUnique, partial.isPartial) = (true, true)
        let indexes = [
            Index(name: "byShelf", columns: ["shelf"]), Index(name: "byName", columns: ["name", "price"]),
            Index(name: "byPrice", columns: ["price"]), unique, partial,
        ]
        func found(_ use: (inout StatementUse) -> Void) -> [Finding] {
            findings(indexed(indexes)) { facts in
                var statements = StatementUse()
                statements.statements = 7
                use(&statements)
                facts.use = statements
            }.filter { $0.ruleName == "Unused index" }
        }
        let unused = found { use in
            use.tables["item", default: .init()].reads = 120
            use.tables["item", default: .init()].writes = 1
            use.indexes = ["byName"]
        }
        // The index of a reference also serves the deletion of the rows that are referred to.
        #expect(unused.map(\.title.text) == ["Drop the index byPrice"])
        #expect(unused.first?.code == ["DROP INDEX byPrice;"])
        #expect(
            unused.first?.explanation.map(\.text) == [
                "None of the 7 statements in the trace uses it. The program read from item 120 times and wrote to it 1 time."
            ])
        // Nothing is known about a table that the statements do not use, or without a trace.
        #expect(found { $0.tables["shelf", default: .init()].reads = 1 }.isEmpty)
        #expect(findings(indexed(indexes)).filter { $0.ruleName == "Unused index" }.isEmpty)
    }

    // MARK: - Tables

    @Test func `Two small tables that belong together one to one are reported`() {
        func pair(rows: UInt64 = 1000, distinct: UInt64 = 1000, columns: Int = 3, size: UInt64 = 100) -> [String] {
            var item = table([column("name"), column("detail")])
            item.indexes = [.init(name: "i", columns: ["detail"])]
            var reference = StoreFacts.Reference(column: "detail", table: "detail")
            (reference.filled, reference.distinct) = (1000, distinct)
            item.references = [reference]
            let own = (0..<columns).map { column("c\($0)", mean: 50, largest: size) }
            return titles([item, table(own, "detail", rows: rows)])
        }
        #expect(pair() == ["Fold detail into item"])
        #expect(pair(rows: 1100) == ["Fold detail into item"])
        #expect(pair(rows: 1101).isEmpty)
        #expect(pair(distinct: 999).isEmpty)
        #expect(pair(columns: 4).isEmpty)
        #expect(pair(size: 2048).isEmpty)
    }

    @Test func `Inspection advises VACUUM for a file with much unused space`() throws {
        func file(free: UInt64 = 0, unused: UInt64 = 0, jumps: UInt64 = 0, size: UInt64 = 4 << 20) -> [Finding] {
            var item = table([column("name")])
            (item.size, item.unused, item.jumps) = (1_000_000, unused, jumps)
            return findings([item]) { ($0.size, $0.pages, $0.freePages) = (size, 1024, free) }
        }
        #expect(file(free: 205).map(\.title.text) == ["Vacuum the file"])
        #expect(file(free: 205).first?.change?.description == "shop.sqlite")
        #expect(file(free: 204).isEmpty)
        #expect(
            file(unused: 900_000).first?.explanation.map(\.text) == [
                "0.0 % of the pages are free, and 21 % of the file is empty space in the pages of tables."
            ])
        #expect(file(free: 150, unused: 300_000).count == 1 && file(unused: 300_000).isEmpty)
        // Pages out of order are no reason: their cost is unknown, and VACUUM leaves some.
        #expect(file(jumps: 1000).isEmpty)
        #expect(file(free: 1000, size: 1000).isEmpty)
    }

    @Test func `Inspection advises a larger page cache for tables that do not fit into it`() {
        func file(_ size: UInt64, photo: Double = 0) -> [[String]] {
            var item = table([column("name"), column("photo", mean: photo)])
            item.size = size
            return findings([item]).filter { $0.rule == "S02" }.map(\.code)
        }
        #expect(file(2_048_000).isEmpty)
        #expect(file(2_048_001) == [["PRAGMA cache_size = -4096;"]])
        #expect(file(50 << 20) == [["PRAGMA cache_size = -65536;"]])
        #expect(file(300 << 20).isEmpty)
        // Large values are not read with the rows.
        #expect(file(50 << 20, photo: 51_200).isEmpty)
    }

    @Test func `Faultline's own stores are reported only beyond their larger page cache`() {
        func file(_ size: UInt64) -> [[String]] {
            var item = table([column("name")])
            item.size = size
            return findings([item]) { $0.isFaultline = true }.filter { $0.rule == "S02" }.map(\.code)
        }
        #expect(file(32 << 20).isEmpty)
        #expect(file((32 << 20) + 1) == [["PRAGMA cache_size = -65536;"]])
    }

    @Test func `Persistent history is reported if it is a large part of the file`() throws {
        func file(_ size: UInt64, of whole: UInt64 = 10 << 20) -> [Finding] {
            findings([table([column("name")])]) { facts in
                var history = StoreFacts.Part(.history, "persistent history")
                (history.size, history.rows, history.seconds) = (size, 9000, 86_400 * 30)
                (facts.size, facts.isCoreData, facts.others) = (whole, true, [history])
            }
        }
        let finding = try #require(file(95 << 20, of: 100 << 20).first)
        #expect(finding.rule == "S03" && finding.severity == .warning)
        #expect(
            finding.explanation.map(\.text) == [
                "95 % of the file is persistent history: 95.0 MiB in 9,000 rows of 30 days."
            ])
        #expect(file(2 << 20).count == 1 && file((2 << 20) - 1).isEmpty)
        #expect(file(900 << 10, of: 1 << 20).isEmpty)
    }

    // MARK: - Trials

    @Test func `Advice that a trial refutes is withdrawn, and untried advice is not given`() {
        var facts = StoreFacts(path: "/tmp/shop.sqlite")
        facts.tables = indexed([.init(name: "i1", columns: ["name"]), .init(name: "i2", columns: ["name"])])
        func inspection(_ trial: (StoreProposal) -> StoreTrial?) -> StoreInspection {
            StoreInspection(facts) { trial($0.proposal) }
        }
        let proposals: [StoreProposal] = [
            .createIndex(table: "item", column: "shelf"), .dropIndex(table: "item", index: "i2"),
        ]
        var tried: [StoreProposal] = []
        let confirmed = inspection { proposal in
            tried.append(proposal)
            return StoreTrial(isConfirmed: true, "it is faster.", evidence: [Evidence("ratio", 0.5, .share)])
        }
        #expect(Set(tried) == Set(proposals) && confirmed.findings.count == 2 && confirmed.withdrawn.isEmpty)
        #expect(confirmed.findings.allSatisfy { $0.explanation.map(\.text).last == "Tried on a copy: it is faster." })
        #expect(confirmed.findings.allSatisfy { $0.evidence.last?.name == "ratio" })
        let refuted = inspection { StoreTrial(isConfirmed: $0 == proposals[0], "it is slower.") }
        #expect(refuted.findings.map(\.title.text) == ["Index item by shelf"])
        #expect(refuted.withdrawn.map(\.rule) == ["R06"])
        #expect(refuted.withdrawn.map(\.title.text) == ["Drop the index i2"])
        #expect(refuted.withdrawn.map(\.reason.text) == ["it is slower."])
        #expect(refuted.checks.first { $0.name == "Redundant index" }?.findings == 0)
        let untried = inspection { _ in nil }
        #expect(untried.findings.isEmpty && untried.withdrawn.isEmpty && untried.untried == 2)
    }

    @Test func `Indexes of Core Data stores are changed in the model, and the store's own are kept`() throws {
        func coreData(_ indexes: [StoreFacts.Index], property: String? = "shelf") -> [Finding] {
            var tables = indexed(indexes)
            tables[0].entity = "Item"
            tables[0].columns[1].property = property
            return findings(tables) { $0.isCoreData = true }
        }
        let missing = try #require(coreData([]).first)
        #expect(missing.title.text == "Index Item by shelf")
        #expect(missing.code == [#"FetchIndexDescription("byShelf", on: "shelf")"#])
        #expect(missing.fix.text == "Add a fetch index to Item in the model, and let the store migrate.")
        #expect(coreData([], property: nil).map(\.code) == [[]])
        let shelf = StoreFacts.Index(name: "Z_Item_byShelf", columns: ["shelf"])
        var own = StoreFacts.Index(name: "ITEM_SHELF_INDEX", columns: ["shelf"])
        own.belongsToStore = true
        let needless = coreData([own, shelf])
        #expect(needless.map(\.title.text) == ["Remove the index byShelf from the model"])
        #expect(needless.map(\.code) == [[]])
        #expect(needless[0].fix.text.hasSuffix("If the model has neither (check with --model), drop it with SQL."))
        var known = shelf
        known.belongsToModel = true
        #expect(
            coreData([own, known]).map(\.fix.text) == [
                "Remove the fetch index from Item in the model, and let the store migrate."
            ])
        known.belongsToModel = false
        let foreign = try #require(coreData([own, known]).first)
        #expect(foreign.title.text == "Drop the index Z_Item_byShelf" && foreign.code == ["DROP INDEX Z_Item_byShelf;"])
        #expect(foreign.fix.text.hasPrefix("The model does not have it, so no migration drops it. "))
        #expect(coreData([own, StoreFacts.Index(name: "Z_Item_both", columns: ["shelf", "name"])]).isEmpty)
    }

    @Test func `Inspection advises ANALYZE for many rows with several indexes and no statistics`() {
        var item = table([column("name"), column("shelf")], rows: 10_000)
        item.indexes = [.init(name: "i1", columns: ["name"]), .init(name: "i2", columns: ["shelf"])]
        #expect(titles([item]) == ["Run ANALYZE"])
        #expect(titles([item]) { $0.hasStatistics = true }.isEmpty)
        #expect(findings([item]).map(\.severity) == [.note])
    }
}
