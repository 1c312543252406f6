internal import FaultlineTrace

/// The indexes of a table, as the plans that go to it tell them.
struct TableIndexes: Sendable {
    /// Each as its columns with commas between.
    var all: Set<String> = []
    /// Those whose values are unique, which do more than find rows.
    var unique: Set<String> = []

    mutating func insert(_ step: PlanEntry.Row) {
        all.formUnion(step.indexes ?? [])
        unique.formUnion(step.uniqueIndexes ?? [])
    }

    /// Indexes whose columns are the first of another one's, which finds all that they find; in alphabetical order.
    var needless: [(columns: [String], other: [String])] {
        let lists = all.sorted().map { $0.split(separator: ",").map(String.init) }
        return lists.compactMap { columns in
            guard !unique.contains(columns.joined(separator: ",")) else { return nil }
            let other = lists.first { $0.count > columns.count && Array($0.prefix(columns.count)) == columns }
            return other.map { (columns, $0) }
        }
    }
}

extension TableIndexes: Summed, StartsEmpty {
    static let parts: [SumPart<TableIndexes>] = [.union("all", \.all), .union("unique", \.unique)]
}
