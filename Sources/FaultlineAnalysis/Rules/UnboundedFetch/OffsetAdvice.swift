internal import FaultlineTrace

/// The wording of R14's findings about offsets.
struct OffsetAdvice {
    let fetch: FetchProfile
    /// The measured time of a row that an offset skips, in nanoseconds, or `nil` if the trace does not have it.
    let step: Double?

    private var shape: ShapeEntry { fetch.key.shape }

    /// The key paths of the sort keys, with their direction.
    private var keys: [(keyPath: String, isAscending: Bool)] {
        shape.sort.map { text in
            let words = text.split(separator: " ")
            return (words.first.map(String.init) ?? "", words.dropFirst().first != "descending")
        }
    }

    var title: Wording {
        "Continue each page of \(entity: shape.entity) after the last row of the previous page, not by offset"
    }

    var fix: Wording {
        guard let first = keys.first else {
            return
                "Sort by a unique, indexed attribute, remember its value in the last row of a page, and fetch the "
                + "rows after it."
        }
        var sentences: [Wording] = [
            "Remember the last row of a page, and fetch the rows after it: with an index on "
                + "\(property: first.keyPath), SQLite seeks them directly."
        ]
        if keys.count == 1 {
            sentences.append(
                "Rows that share a value of \(property: first.keyPath) need a second sort key that is unique, and a condition on both."
            )
        }
        return sentences.joined(separator: " ")
    }

    var code: [String] {
        guard let first = keys.first, !first.keyPath.hasPrefix("Z"), keys.count <= 2 else { return [] }
        let rest = shape.predicate.isEmpty ? "" : " && predicate"
        let compare = { (key: (keyPath: String, isAscending: Bool), orEqual: Bool) in
            "PropertyPath(\"\(key.keyPath)\") \(key.isAscending ? ">" : "<")\(orEqual ? "=" : "") last.\(Self.value(key.keyPath))"
        }
        guard keys.count == 2 else {
            return ["request.predicate = \(compare(first, false))\(rest)", "request.fetchOffset = 0"]
        }
        return [
            "request.predicate = \(compare(first, true))",
            "    && (\(compare(first, false)) || \(compare(keys[1], false)))\(rest)", "request.fetchOffset = 0",
        ]
    }

    private static func value(_ keyPath: String) -> String {
        keyPath.split(separator: ".").joined(separator: "?.")
    }

    var explanation: [Wording] {
        let counts = fetch.counts
        var sentences: [Wording] = [
            "\(count: counts.offsetFetches, "fetch", plural: "fetches") skipped "
                + "\(rows: counts.skippedRows) with offsets of up to \(count: counts.largestOffset, of: .rows), to "
                + "return \(rows: counts.rows): \(duration: counts.time) in all."
        ]
        let each: Wording = step.map { ", \(duration: $0) measured for each" } ?? ""
        sentences.append(
            "SQLite steps over all rows before the offset\(each), so a page takes longer the further back it is.")
        return sentences
    }

    var alternatives: [Wording] {
        var sentences: [Wording] = ["To jump to a page, remember the sort keys at which pages begin."]
        if fetch.counts.sorts > 0, let first = keys.first {
            sentences.append(
                "Without an index on \(property: first.keyPath), SQLite sorts the rows for each page, wherever the "
                    + "page begins."
            )
        }
        return sentences
    }
}
