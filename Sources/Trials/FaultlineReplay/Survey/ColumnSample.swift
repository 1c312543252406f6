import CSQLite
import FaultlineRules

/// A sample of a table's values, column by column, gathered in one pass.
struct ColumnSample {
    /// The sizes of one column's values.
    struct Sizes {
        /// The bytes of each value that is not NULL.
        var filled: [UInt32] = []
        /// The entities whose rows have a value.
        var kinds: Set<Int64> = []
    }

    /// The minimum bytes of a large value.
    static let large: UInt32 = 16 << 10

    private(set) var columns: [Sizes]
    private(set) var rows: UInt64 = 0
    /// The number of occurrences of each value, by column that refers to another table.
    private(set) var references: [[Int64: UInt64]]
    /// The number of rows of each entity.
    private(set) var kinds: [Int64: UInt64] = [:]

    private let referenceColumns: [Int32]
    private let kindColumn: Int32?

    /// - Parameters:
    ///   - references: The indexes of columns that refer to other tables.
    ///   - kind: The index of the column with the row's entity, or `nil` if the table has none.
    init(columns: Int, references: [Int], kind: Int?) {
        self.columns = Array(repeating: Sizes(), count: columns)
        self.references = Array(repeating: [:], count: references.count)
        referenceColumns = references.map(Int32.init)
        kindColumn = kind.map(Int32.init)
    }

    /// Adds the current row of a statement.
    mutating func add(_ row: OpaquePointer) {
        rows += 1
        let kind = kindColumn.map { sqlite3_column_int64(row, $0) }
        if let kind { kinds[kind, default: 0] += 1 }
        for position in columns.indices {
            guard let size = Self.size(row, Int32(position)) else { continue }
            columns[position].filled.append(size)
            if let kind { columns[position].kinds.insert(kind) }
        }
        for (position, column) in referenceColumns.enumerated() {
            switch sqlite3_column_type(row, column) {
            case SQLITE_NULL: break
            case SQLITE_INTEGER: references[position][sqlite3_column_int64(row, column), default: 0] += 1
            default:
                let bytes = UnsafeRawBufferPointer(
                    start: sqlite3_column_blob(row, column), count: Int(sqlite3_column_bytes(row, column)))
                // Keys of other types are distinguished by a hash (FNV-1a).
                let hash = bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
                references[position][Int64(bitPattern: hash), default: 0] += 1
            }
        }
    }

    /// The bytes that a value takes in its row, or `nil` for NULL.
    ///
    /// See https://www.sqlite.org/fileformat2.html#record_format.
    private static func size(_ row: OpaquePointer, _ column: Int32) -> UInt32? {
        switch sqlite3_column_type(row, column) {
        case SQLITE_NULL: return nil
        case SQLITE_INTEGER:
            let value = sqlite3_column_int64(row, column)
            if value == 0 || value == 1 { return 0 }
            let bits = Int64.bitWidth - (value < 0 ? ~value : value).leadingZeroBitCount + 1
            return bits <= 32 ? UInt32((bits + 7) / 8) : bits <= 48 ? 6 : 8
        case SQLITE_FLOAT: return 8
        default: return UInt32(clamping: sqlite3_column_bytes(row, column))
        }
    }

    /// Writes the results to the facts of the table.
    func fill(_ table: inout StoreFacts.Table, named kindName: (UInt64) -> String) {
        table.sampled = rows
        guard rows > 0 else { return }
        for position in columns.indices where !table.columns[position].isComputed {
            let filled = columns[position].filled.sorted()
            let total = filled.reduce(0.0) { $0 + Double($1) }
            table.columns[position].emptyShare = 1 - Double(filled.count) / Double(rows)
            table.columns[position].meanSize = total / Double(rows)
            guard !filled.isEmpty else { continue }
            table.columns[position].largeShare =
                Double(filled.count { $0 >= Self.large }) / Double(filled.count)
            table.columns[position].largestSize = UInt64(filled[(filled.count - 1) * 95 / 100])
        }
        for (position, values) in references.enumerated() {
            table.references[position].filled = values.values.reduce(0, +)
            table.references[position].distinct = UInt64(values.count)
        }
        guard kinds.count > 1 else { return }
        for (kind, count) in kinds { table.kinds[kindName(UInt64(clamping: kind)), default: 0] += count }
        for position in columns.indices where !table.columns[position].isInternal {
            let empty = kinds.keys.filter { !columns[position].kinds.contains($0) }
            table.columns[position].emptyKinds = Set(empty.map { kindName(UInt64(clamping: $0)) })
        }
    }
}
