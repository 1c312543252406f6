internal import FaultlineTrace

/// The indexes of a table, from the plans that access it.
///
/// A table can have different indexes at different times, on different hosts or in different stores. Each set is kept,
/// up to ``capacity`` with the smallest hashes, so tables can be merged in any order.
package struct TableIndexes: Sendable {
    static let capacity = 16
    private static let uniqueMark = "UNIQUE "
    private static let descending = " DESC"

    /// The sets of indexes, each joined with semicolons.
    ///
    /// An index is its comma-separated columns, after a mark if it is unique.
    private(set) var states: Set<String> = []

    package init() {}

    mutating func insert(_ step: PlanEntry.Row) {
        let unique = Set(step.uniqueIndexes ?? [])
        let indexes = (step.indexes ?? []).map { unique.contains($0) ? Self.uniqueMark + $0 : $0 }
        states.insert(indexes.sorted().joined(separator: ";"))
        trim()
    }

    /// Whether the first column of an index is `column`.
    package func begins(with column: String) -> Bool {
        states.contains { state in
            state.split(separator: ";").contains { index in
                let columns = index.hasPrefix(Self.uniqueMark) ? index.dropFirst(Self.uniqueMark.count) : index
                return columns.prefix { $0 != "," && $0 != " " } == column
            }
        }
    }

    /// Whether an index has the rows with equal values of some columns in an order, read from either end.
    ///
    /// - Parameter order: Columns, with " DESC" after those that descend.
    package func hasRows(equalIn fixed: Set<String>, inOrder order: [String]) -> Bool {
        let isDescending = { (column: String) in column.hasSuffix(Self.descending) }
        let plain = { (column: String) in isDescending(column) ? String(column.dropLast(Self.descending.count)) : column
        }
        return !states.isEmpty
            && states.allSatisfy { state in
                state.split(separator: ";").contains { index in
                    let columns = index.dropFirst(index.hasPrefix(Self.uniqueMark) ? Self.uniqueMark.count : 0)
                        .split(separator: ",").map(String.init)
                    let (first, next) = (
                        columns.prefix(fixed.count), columns.dropFirst(fixed.count).prefix(order.count)
                    )
                    guard Set(first.map(plain)) == fixed, next.map(plain) == order.map(plain) else { return false }
                    return Set(zip(next, order).map { isDescending($0) == isDescending($1) }).count == 1
                }
            }
    }

    private mutating func trim() {
        guard states.count > Self.capacity else { return }
        states = Set(states.ordered { (StableHash.text($0), $0) < (StableHash.text($1), $1) }.prefix(Self.capacity))
    }

    /// Indexes whose columns are always the first columns of another index, which can replace them, in alphabetical
    /// order.
    ///
    /// - Complexity: O(*n* log *n*).
    package var needless: [(columns: [String], other: [String])] {
        var found: [[String]: [String]] = [:]
        var needed: Set<[String]> = []
        for state in states.sorted() {
            let indexes = state.split(separator: ";").map { index in
                let isUnique = index.hasPrefix(Self.uniqueMark)
                let columns = index.dropFirst(isUnique ? Self.uniqueMark.count : 0).split(separator: ",")
                return (columns: columns.map(String.init), isUnique: isUnique)
            }.ordered { $0.columns.lexicographicallyPrecedes($1.columns) }
            for (position, index) in indexes.enumerated() {
                // Indexes that begin with the same columns come next.
                let next = indexes[(position + 1)...].first { $0.columns != index.columns }?.columns
                if let next, !index.isUnique, next.starts(with: index.columns) {
                    found[index.columns] = next
                } else {
                    needed.insert(index.columns)
                }
            }
        }
        return found.filter { !needed.contains($0.key) }.map { ($0.key, $0.value) }
            .ordered { $0.columns.lexicographicallyPrecedes($1.columns) }
    }
}

extension TableIndexes: Mergeable, StartsEmpty {
    package mutating func merge(_ other: TableIndexes) {
        states.formUnion(other.states)
        trim()
    }

    package func stored(_ words: inout ProfileWords) -> StoredValue { .list(states.sorted().map { .text($0) }) }

    package mutating func restore(_ value: StoredValue, _ words: ProfileWords) throws {
        states = Set(try value.map { try $0.text() })
        trim()
    }
}
