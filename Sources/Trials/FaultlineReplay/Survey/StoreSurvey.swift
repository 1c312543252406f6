package import FaultlineFindings
package import FaultlineModel
package import FaultlineRules
internal import FaultlineStore
import FaultlineTrace
import Foundation

/// Gathers facts about a store without changing anything.
///
/// Of a table with at least twice ``sampleSize`` rows, it examines about ``sampleSize`` of them, spread over the table.
/// It examines fewer if the table has very many columns.
package struct StoreSurvey {
    /// The approximate number of rows of a table to examine.
    package static let sampleSize: UInt64 = 5000
    /// The approximate number of values of a table to examine, and the minimum number of rows.
    static let sampleValues: UInt64 = 1_000_000
    static let minimumRows: UInt64 = 500

    let file: DatabaseFile
    let names: StoreNames?
    /// The pages, unused bytes and jumps of tables and indexes, or `nil` if SQLite was built without `dbstat`.
    private let sizes: [String: Sizes]?

    struct Sizes {
        var bytes: UInt64
        var unused: UInt64
        var jumps: UInt64
    }

    /// Examines a store, and tries possible advice on a copy.
    ///
    /// - Parameters:
    ///   - path: An SQLite file. Its write-ahead log is taken into account.
    ///   - models: Versions of the store's model, which has the program's names of tables and columns. If empty, the
    ///     model that the store keeps, if any.
    ///   - statements: Statements of a program that uses the store, whose use of indexes is examined.
    ///   - findings: Findings about such statements.
    ///   - progress: Called with the title of each piece of advice before it is tried.
    /// - Throws: ``ReplayError`` if the file cannot be read or is not an SQLite file, or no model is the store's.
    package static func inspect(
        path: String, models: [ManagedObjectModel] = [], statements: RecordedStatements? = nil,
        findings: [Finding] = [], progress: (String) -> Void = { _ in }
    ) throws(ReplayError) -> StoreInspection {
        let store = try SurveyedStore(path: path)
        var facts = try StoreSurvey(store, models).gather(store)
        facts.use = try statements.map { (statements) throws(ReplayError) in
            try StatementUse(of: statements, on: store.file)
        }
        let trials = RestTrials(store, facts)
        return StoreInspection(facts, statements: findings) { advice in
            progress(advice.finding.title.text)
            return trials.outcome(of: advice.proposal)
        }
    }

    private init(_ store: SurveyedStore, _ models: [ManagedObjectModel]) throws(ReplayError) {
        file = store.file
        let kept = try? StoredModel.read(file)
        let model = models.isEmpty ? nil : try store.first(of: models, configuration: kept?.configuration)
        // The store's own model only provides names, so it may be missing.
        names = try StoreNames(file, model ?? kept?.model)
        sizes = try? Self.sizes(file)
    }

    private func gather(_ store: SurveyedStore) throws(ReplayError) -> StoreFacts {
        var facts = StoreFacts(path: store.name)
        facts.size = StorePath.size(of: store.path)
        facts.pageSize = max(512, try file.number("PRAGMA page_size"))
        facts.pages = try file.number("PRAGMA page_count")
        facts.freePages = try file.number("PRAGMA freelist_count")
        facts.journalMode = journalMode(store.path)
        facts.isCoreData = names?.isCoreData ?? false
        facts.isFaultline = try file.hasTable(PersistentStore.modelTable)
        let tables = try file.rows("SELECT name, sql FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        facts.hasStatistics = try file.hasTable("sqlite_stat1")
        var parts = StoreParts(names, virtualTables: tables.map { ($0[0].text, $0[1].text) })
        for row in tables {
            let name = row[0].text
            if let part = parts.part(ofTable: name) {
                // A virtual table has no rows of its own, and its module may be missing.
                let isVirtual = part.kind == .virtualTable && name == part.name
                let rows = isVirtual ? 0 : (try? file.number("SELECT count(*) FROM \(DatabaseFile.quoted(name))")) ?? 0
                parts.add(part, rows: rows, size: try size(ofTable: name))
                continue
            }
            do {
                facts.tables.append(try table(name))
            } catch {
                guard !error.isDamage else { throw error }
                var table = StoreFacts.Table(name: name)
                table.problem = error.reason
                facts.tables.append(table)
            }
        }
        parts.add(.init(.database, StoreParts.databaseName), rows: 0, size: sizes?["sqlite_schema"]?.bytes ?? 0)
        facts.others = try parts.all(file)
        return facts
    }

    /// The bytes of a table and its indexes.
    private func size(ofTable name: String) throws(ReplayError) -> UInt64 {
        guard let sizes else { return 0 }
        let quoted = name.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
        let indexes = try file.rows("SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = '\(quoted)'")
        return ([name] + indexes.map { $0[0].text }).reduce(0) { $0 + (sizes[$1]?.bytes ?? 0) }
    }

    /// The journal mode in the file's header (bytes 18 and 19,
    /// https://www.sqlite.org/fileformat2.html#file_format_version_numbers).
    private func journalMode(_ path: String) -> String {
        guard let handle = FileHandle(forReadingAtPath: path), let head = try? handle.read(upToCount: 20),
            head.count == 20
        else { return "" }
        return head[18] == 2 ? "wal" : "rollback"
    }

    // MARK: - Tables

    private func table(_ name: String) throws(ReplayError) -> StoreFacts.Table {
        var table = StoreFacts.Table(name: name)
        let quoted = DatabaseFile.quoted(name)
        table.entity = names?.entity(ofTable: name)
        table.rows = try file.number("SELECT count(*) FROM \(quoted)")
        if let sizes = sizes?[name] {
            (table.size, table.unused, table.jumps) = (sizes.bytes, sizes.unused, sizes.jumps)
        }
        // 1 is a hidden column of a virtual table. 2 and 3 are generated columns, of which only those with 3 are
        // stored.
        let columns = try file.rows("PRAGMA table_xinfo(\(quoted))").filter { $0[6].number != 1 }
        for row in columns {
            var column = StoreFacts.Column(name: row[1].text)
            column.isComputed = row[6].number == 2
            column.type = row[2].text
            column.property = names?.property(ofColumn: column.name, table: name)
            column.isInternal = row[5].number > 0 || names?.isInternal(column.name) ?? false
            table.columns.append(column)
        }
        let keys = columns.filter { $0[5].number > 0 }
        if keys.count == 1, keys[0][2].text.uppercased() == "INTEGER" { table.key = keys[0][1].text }
        table.indexes = try indexes(of: name)
        table.references = try references(of: name, table.columns.map(\.name))
        try sample(&table)
        return table
    }

    private func indexes(of table: String) throws(ReplayError) -> [StoreFacts.Index] {
        var indexes: [StoreFacts.Index] = []
        for row in try file.rows("PRAGMA index_list(\(DatabaseFile.quoted(table)))") {
            let name = row[1].text
            var columns: [String] = []
            var first: String?
            var hasExpressions = false
            let parts = try file.rows("PRAGMA index_xinfo(\(DatabaseFile.quoted(name)))")
            for column in parts where column[5].number == 1 {
                if case .null = column[2] {
                    hasExpressions = true
                } else if columns.isEmpty, column[4].text == "BINARY" {
                    first = column[2].text
                }
                let order = column[3].number == 1 ? " DESC" : ""
                let collation = column[4].text == "BINARY" ? "" : " COLLATE \(column[4].text)"
                columns.append(column[2].text + collation + order)
            }
            var index = StoreFacts.Index(name: name, columns: columns)
            index.isUnique = row[2].number == 1
            index.isConstraint = row[3].text != "c"
            index.belongsToStore = names?.belongsToStore(index: name, table: table) ?? false
            index.belongsToModel = names?.belongsToModel(index: name)
            (index.first, index.hasExpressions) = (first, hasExpressions)
            if row[4].number == 1 { index.isPartial = try !holdsAllValues(of: first, name) }
            index.size = sizes?[name]?.bytes ?? 0
            indexes.append(index)
        }
        return indexes.ordered(on: \.name)
    }

    /// Whether a partial index omits only the rows without a value in its first column, so it can seek every value.
    private func holdsAllValues(of column: String?, _ index: String) throws(ReplayError) -> Bool {
        let quoted = index.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
        guard let column,
            let sql = try file.rows("SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = '\(quoted)'").first?[
                0
            ]
            .text, let position = sql.range(of: "WHERE", options: [.caseInsensitive, .backwards])
        else { return false }
        return Self.plain(String(sql[position.upperBound...])) == Self.plain("\(column) IS NOT NULL")
    }

    /// A condition without quotes, in lowercase, with single spaces.
    private static func plain(_ text: String) -> String {
        text.filter { !"\"`[]()".contains($0) }.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            .lowercased()
    }

    /// The columns that refer to other tables, as declared or as known from a Core Data store's model.
    private func references(of table: String, _ columns: [String]) throws(ReplayError) -> [StoreFacts.Reference] {
        var found: [String: String] = [:]
        for row in try file.rows("PRAGMA foreign_key_list(\(DatabaseFile.quoted(table)))") where row[1].number == 0 {
            found[row[3].text] = row[2].text
        }
        for column in columns {
            if let target = names?.target(ofColumn: column, table: table) { found[column] = target }
        }
        return found.ordered(on: \.key).map { StoreFacts.Reference(column: $0.key, table: $0.value) }
    }

    // MARK: - Values

    /// Examines the values of a table's rows, or of a sample.
    private func sample(_ table: inout StoreFacts.Table) throws(ReplayError) {
        guard table.rows > 0, !table.columns.isEmpty else { return }
        let names = table.columns.map(\.name)
        let references = table.references.compactMap { names.firstIndex(of: $0.column) }
        let kind = self.names?.isCoreData == true ? names.firstIndex(of: "Z_ENT") : nil
        let isKey = Set(references + (kind.map { [$0] } ?? []))
        // The length of a blob is in the row's header, so large ones need not be read. A computed value takes no space.
        let selected = table.columns.indices.map { position in
            let column = DatabaseFile.quoted(names[position])
            if isKey.contains(position) { return column }
            return table.columns[position].isComputed
                ? "NULL" : "CASE typeof(\(column)) WHEN 'blob' THEN zeroblob(length(\(column))) ELSE \(column) END"
        }
        var sample = ColumnSample(columns: names.count, references: references, kind: kind)
        try file.each("SELECT \(selected.joined(separator: ", ")) FROM \(source(of: table))") { sample.add($0) }
        sample.fill(&table) { self.names?.entity(number: $0) ?? "" }
    }

    /// The rows to examine: all, or a sample chosen by a hash of their keys, because keys can be regular.
    private func source(of table: StoreFacts.Table) -> String {
        let quoted = DatabaseFile.quoted(table.name)
        let wanted = min(Self.sampleSize, max(Self.minimumRows, Self.sampleValues / UInt64(table.columns.count)))
        let step = table.rows / wanted
        guard step > 1 else { return quoted }
        guard (try? file.rows("SELECT rowid FROM \(quoted) LIMIT 1")) != nil else {
            return "(SELECT *, row_number() OVER () AS n FROM \(quoted)) WHERE n % \(step) = 0"
        }
        // Knuth's multiplicative hash ("The Art of Computer Programming", 6.4).
        return "\(quoted) WHERE ((rowid & 4294967295) * 2654435761 >> 12 & 1048575) % \(step) = 0"
    }

    // MARK: - Pages

    /// The sizes from SQLite's virtual table of pages (https://www.sqlite.org/dbstat.html).
    private static func sizes(_ file: DatabaseFile) throws(ReplayError) -> [String: Sizes] {
        var sizes: [String: Sizes] = [:]
        let totals = try file.rows("SELECT name, sum(pgsize), sum(unused) FROM dbstat GROUP BY name")
        for row in totals { sizes[row[0].text] = Sizes(bytes: row[1].number, unused: row[2].number, jumps: 0) }
        // Leaves in key order: a jump is a leaf that comes before its predecessor in the file. Overflow pages between
        // them do not count.
        let jumps = try file.rows(
            """
            SELECT name, sum(pageno < before) FROM (
                SELECT name, pageno, lag(pageno) OVER (PARTITION BY name ORDER BY path) AS before
                FROM dbstat WHERE pagetype = 'leaf')
            WHERE before IS NOT NULL GROUP BY name
            """)
        for row in jumps { sizes[row[0].text]?.jumps = row[1].number }
        return sizes
    }
}
