internal import FaultlineTrace

/// The words of R19.
struct SortAdvice {
    let fetch: FetchProfile
    /// Rows of one sort.
    let sorted: Double
    /// Whether a limit takes few of them.
    let isCut: Bool
    let profile: Profile

    private var shape: ShapeEntry { fetch.key.shape }

    private struct SortKey {
        var path: String
        /// How texts are compared, if not byte by byte: `"localized"`.
        var order: String?
        var isAscending: Bool
    }

    private var keys: [SortKey] {
        shape.sort.map { text in
            let words = text.split(separator: " ").map(String.init)
            let order = words.dropFirst().dropLast().joined(separator: " ")
            return SortKey(
                path: words.first ?? "", order: order.isEmpty ? nil : order, isAscending: words.last != "descending")
        }
    }

    /// Why no index can have the rows in that order; `nil`: one can.
    var obstacle: String? {
        for key in keys {
            if let order = key.order {
                return "An index has texts in the order of their bytes, and \(key.path) is compared in another one "
                    + "(\(order)): sort by a copy of it that is kept in that order, or fetch less."
            }
            if key.path.contains(".") {
                return "\(key.path) lies in another table, and an index is of one: keep a copy of it in "
                    + "\(shape.entity), or sort the objects."
            }
        }
        return nil
    }

    /// Properties that the predicate compares with one value each.
    private var fixed: [String] {
        (shape.terms ?? []).filter {
            $0.operation == "==" && $0.isAlternative != true && $0.isNegated != true && $0.options == nil
                && !$0.keyPath.contains(".") && $0.keyPath.uppercased() != "SELF"
                && profile.entity(shape.entity)?.properties.contains { [name = $0.keyPath] in $0.name == name } == true
        }.map(\.keyPath)
    }

    private var properties: String { keys.map(\.path).joined(separator: ", ") }

    var title: String {
        obstacle == nil
            ? "Index \(shape.entity) by \((fixed + keys.map(\.path)).joined(separator: ", ")), so that nothing is sorted"
            : "Do not have \(Phrase.count(UInt64(sorted), "row")) of \(shape.entity) sorted by \(properties) each time"
    }

    var fix: String {
        obstacle == nil
            ? "What is compared for equality comes first in the index, then the sort keys in their order. If the order does "
                + "not matter, leave the sort descriptors out."
            : "If the order does not matter, leave the sort descriptors out; if all rows are loaded anyway, sort the objects."
    }

    var code: [String] {
        guard obstacle == nil else { return [] }
        let name = "by" + (fixed + keys.map(\.path)).map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        // Equal directions can be read from either end.
        guard Set(keys.map(\.isAscending)).count > 1 else {
            let on = (fixed + keys.map(\.path)).map { "\"\($0)\"" }.joined(separator: ", ")
            return ["FetchIndexDescription(\"\(name)\", on: \(on))"]
        }
        let elements =
            fixed.map { ".init(\"\($0)\")" }
            + keys.map { ".init(\"\($0.path)\"\($0.isAscending ? "" : ", isAscending: false"))" }
        return ["FetchIndexDescription(\"\(name)\", elements: [\(elements.joined(separator: ", "))])"]
    }

    var explanation: [String] {
        let counts = fetch.counts
        let times = counts.sorts == 1 ? "" : "\(Phrase.count(counts.sorts)) times "
        let rows = Phrase.count(UInt64(sorted.rounded()), "row")
        let each = counts.sorts == 1 ? "" : ", on average"
        let taken =
            isCut
            ? " for the \(Phrase.count(counts.rows / max(1, counts.executions))) that the limit lets through" : ""
        return ["SQLite has \(times)sorted \(rows)\(taken)\(each): \(Phrase.duration(counts.time)) in all."]
    }
}
