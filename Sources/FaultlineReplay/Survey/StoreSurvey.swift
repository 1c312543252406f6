public import FaultlineAnalysis
public import FaultlineModel
import Foundation

/// Gathers what a store is made of, without changing anything.
///
/// Of tables with twice ``sampleSize`` rows or more it looks at about so many, spread over the table.
public struct StoreSurvey {
    /// Rows of a table that are looked at, about.
    public static let sampleSize: UInt64 = 5000

    private let file: DatabaseFile
    private let names: StoreNames?
    /// Pages, unused bytes and jumps of tables and indexes; `nil`: SQLite was built without `dbstat`.
    private let sizes: [String: Sizes]?

    private struct Sizes {
        var bytes: UInt64
        var unused: UInt64
        var jumps: UInt64
    }

    /// Looks at a store.
    ///
    /// - Parameters:
    ///   - path: An SQLite file; what lies beside it, its write-ahead log, is taken into account.
    ///   - model: Names tables and columns as the program does; `nil`: the model that the store keeps, if it does.
    /// - Throws: ``ReplayError`` if it cannot be read or is none.
    public static func facts(path: String, model: ManagedObjectModel? = nil) throws(ReplayError) -> StoreFacts {
        try StoreSurvey(path: path, model: model).gather(path)
    }

    private init(path: String, model: ManagedObjectModel?) throws(ReplayError) {
        file = try DatabaseFile(path: path)
        // What a store says of itself is of use, and nothing else hangs on it.
        names = try StoreNames(file, model ?? (try? StoredModel.read(file))??.model)
        sizes = try? Self.sizes(file)
    }

    private func gather(_ path: String) throws(ReplayError) -> StoreFacts {
        var facts = StoreFacts(path: path)
        facts.size = StorePath.size(of: try StorePath.resolved(path))
        facts.pageSize = max(512, try file.number("PRAGMA page_size"))
        facts.pages = try file.number("PRAGMA page_count")
        facts.freePages = try file.number("PRAGMA freelist_count")
        facts.journalMode = try journalMode(path)
        facts.isCoreData = names?.isCoreData ?? false
        let tables = try file.rows(
            """
            SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name
            """)
        let virtual = tables.filter { $0[1].text.uppercased().hasPrefix("CREATE VIRTUAL") }.map { $0[0].text }
        facts.hasStatistics = try file.hasTable("sqlite_stat1")
        for row in tables {
            let name = row[0].text
            // What a virtual table keeps its data in is its own.
            let isOwn = !virtual.contains { name == $0 || name.hasPrefix($0 + "_") }
            guard isOwn, !(facts.isCoreData && StoreNames.isSystem(name)) else { continue }
            do {
                facts.tables.append(try table(name))
            } catch {
                guard !error.isDamage else { throw error }
                var table = StoreFacts.Table(name: name)
                table.problem = error.reason
                facts.tables.append(table)
            }
        }
        return facts
    }

    /// The mode that the file's header tells (bytes 18 and 19, https://www.sqlite.org/fileformat2.html#file_format_version_numbers).
    private func journalMode(_ path: String) throws(ReplayError) -> String {
        guard let handle = FileHandle(forReadingAtPath: path), let head = try? handle.read(upToCount: 20),
            head.count == 20
        else { return "" }
        return head[18] == 2 ? "wal" : "rollback"
    }

    // MARK: Tables

    private func table(_ name: String) throws(ReplayError) -> StoreFacts.Table {
        var table = StoreFacts.Table(name: name)
        let quoted = Self.quoted(name)
        table.entity = names?.entity(ofTable: name)
        table.rows = try file.number("SELECT count(*) FROM \(quoted)")
        if let sizes = sizes?[name] {
            (table.size, table.unused, table.jumps) = (sizes.bytes, sizes.unused, sizes.jumps)
        }
        // Columns, hidden ones of generated values left out.
        let columns = try file.rows("PRAGMA table_xinfo(\(quoted))").filter { $0[6].number == 0 }
        for row in columns {
            var column = StoreFacts.Column(name: row[1].text)
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
        for row in try file.rows("PRAGMA index_list(\(Self.quoted(table)))") {
            let name = row[1].text
            var columns: [String] = []
            var first: String?
            var hasExpressions = false
            for column in try file.rows("PRAGMA index_xinfo(\(Self.quoted(name)))") where column[5].number == 1 {
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
            (index.first, index.hasExpressions) = (first, hasExpressions)
            if row[4].number == 1 { index.isPartial = try !holdsAllValues(of: first, name) }
            index.size = sizes?[name]?.bytes ?? 0
            indexes.append(index)
        }
        return indexes.sorted { $0.name < $1.name }
    }

    /// Whether a partial index leaves out the rows without a value in its first column and no others, so that it finds
    /// every value.
    private func holdsAllValues(of column: String?, _ index: String) throws(ReplayError) -> Bool {
        let quoted = index.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
        guard let column,
            let sql = try file.rows("SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = '\(quoted)'").first?[
                0
            ]
            .text, let place = sql.range(of: "WHERE", options: [.caseInsensitive, .backwards])
        else { return false }
        return Self.plain(String(sql[place.upperBound...])) == Self.plain("\(column) IS NOT NULL")
    }

    /// A condition without quotes and in small letters, with one space between words.
    private static func plain(_ text: String) -> String {
        text.filter { !"\"`[]()".contains($0) }.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            .lowercased()
    }

    /// Columns that lead to other tables: by declaration, or by the model of a store of Core Data's.
    private func references(of table: String, _ columns: [String]) throws(ReplayError) -> [StoreFacts.Reference] {
        var found: [String: String] = [:]
        for row in try file.rows("PRAGMA foreign_key_list(\(Self.quoted(table)))") where row[1].number == 0 {
            found[row[3].text] = row[2].text
        }
        for column in columns {
            if let target = names?.target(ofColumn: column, table: table) { found[column] = target }
        }
        return found.sorted { $0.key < $1.key }.map { StoreFacts.Reference(column: $0.key, table: $0.value) }
    }

    // MARK: Values

    /// Looks at the values of a table's rows, or of some of them.
    ///
    /// What is looked at is gathered in a table of the connection's own: for each column its size, and the keys that lead
    /// elsewhere.
    private func sample(_ table: inout StoreFacts.Table) throws(ReplayError) {
        guard table.rows > 0, !table.columns.isEmpty else { return }
        let references = table.references.map(\.column)
        let hasKinds = names?.isCoreData == true && table.columns.contains { $0.name == "Z_ENT" }
        // A cast gives the bytes of a text, and the length of a blob is its own. SQLite takes 2,000 columns.
        let sizes = table.columns.indices.map { place in
            "length(CAST(\(Self.quoted(table.columns[place].name)) AS BLOB)) AS s\(place)"
        }
        let keys = references.indices.map { "\(Self.quoted(references[$0])) AS r\($0)" }
        let selected = Array((sizes + keys + (hasKinds ? ["Z_ENT AS kind"] : [])).prefix(2000))
        try file.run("DROP TABLE IF EXISTS temp.sample")
        try file.run(
            "CREATE TEMP TABLE sample AS SELECT \(selected.joined(separator: ", ")) FROM \(source(of: table))")
        table.sampled = try file.number("SELECT count(*) FROM temp.sample")
        guard table.sampled > 0 else { return }
        for place in table.columns.indices where place < selected.count {
            let size = "s\(place)"
            let sums = try file.rows("SELECT count(\(size)), sum(\(size)), sum(\(size) >= 16384) FROM temp.sample")[0]
            let filled = sums[0].number
            table.columns[place].emptyShare = 1 - Double(filled) / Double(table.sampled)
            table.columns[place].meanSize = sums[1].real / Double(table.sampled)
            table.columns[place].largeShare = filled == 0 ? 0 : sums[2].real / Double(filled)
            table.columns[place].largestSize = try file.number(
                "SELECT \(size) FROM temp.sample WHERE \(size) IS NOT NULL ORDER BY 1 LIMIT 1 "
                    + "OFFSET \(filled == 0 ? 0 : (filled - 1) * 95 / 100)")
        }
        for place in table.references.indices where sizes.count + place < selected.count {
            let counts = try file.rows("SELECT count(r\(place)), count(DISTINCT r\(place)) FROM temp.sample")[0]
            (table.references[place].filled, table.references[place].distinct) = (counts[0].number, counts[1].number)
        }
        if hasKinds, selected.last == "Z_ENT AS kind" { try countKinds(&table) }
    }

    /// The rows that are looked at: all, or some that are chosen by a hash of their keys, since keys can be regular.
    private func source(of table: StoreFacts.Table) -> String {
        let quoted = Self.quoted(table.name)
        let step = table.rows / Self.sampleSize
        guard step > 1 else { return quoted }
        guard (try? file.rows("SELECT rowid FROM \(quoted) LIMIT 1")) != nil else {
            return "(SELECT *, row_number() OVER () AS n FROM \(quoted)) WHERE n % \(step) = 0"
        }
        // Knuth's multiplicative hash ("The Art of Computer Programming", 6.4).
        return "\(quoted) WHERE ((rowid & 4294967295) * 2654435761 >> 12 & 1048575) % \(step) = 0"
    }

    /// Counts the entities in a table of Core Data's, and finds the columns that some of them never fill.
    private func countKinds(_ table: inout StoreFacts.Table) throws(ReplayError) {
        guard let names else { return }
        let counts = try file.rows("SELECT kind, count(*) FROM temp.sample GROUP BY 1 ORDER BY 1")
        guard counts.count > 1 else { return }
        for row in counts { table.kinds[names.entity(number: row[0].number), default: 0] += row[1].number }
        for place in table.columns.indices where !table.columns[place].isInternal {
            let empty = try file.rows("SELECT kind FROM temp.sample GROUP BY 1 HAVING count(s\(place)) = 0")
            table.columns[place].emptyKinds = Set(empty.map { names.entity(number: $0[0].number) })
        }
    }

    // MARK: Pages

    /// Sizes by SQLite's own table of pages (https://www.sqlite.org/dbstat.html).
    private static func sizes(_ file: DatabaseFile) throws(ReplayError) -> [String: Sizes] {
        var sizes: [String: Sizes] = [:]
        let totals = try file.rows("SELECT name, sum(pgsize), sum(unused) FROM dbstat GROUP BY name")
        for row in totals { sizes[row[0].text] = Sizes(bytes: row[1].number, unused: row[2].number, jumps: 0) }
        // Leaves in the order of their keys: each lies behind the one before, with its overflow pages between, or it does not.
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

    static func quoted(_ name: String) -> String {
        "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
