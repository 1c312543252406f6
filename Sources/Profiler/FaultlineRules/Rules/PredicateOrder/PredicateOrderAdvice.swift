internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// The wording of R07's findings.
struct PredicateOrderAdvice {
    let fetch: FetchProfile
    let order: PredicateOrder
    let search: PredicateOrderRule.Search

    private var entity: String { fetch.key.shape.entity }

    private static func names(_ terms: [ShapeEntry.Term]) -> Wording {
        .properties(terms.map(\.keyPath).uniqued)
    }

    var title: Wording {
        "Compare \(Self.names(order.cheap)) before \(Self.names(order.searches)) in the predicate of \(entity: entity)"
    }

    var fix: Wording {
        "SQLite evaluates the terms of an AND in order, and comparing a text costs many times as much as comparing a "
            + "number. Put cheap, selective terms first."
    }

    /// The predicate in the better order.
    var code: [String] { [Self.predicate(order.better)] }

    private static func predicate(_ terms: [ShapeEntry.Term]) -> String {
        terms.map { term in
            let operation = term.operation + (term.options.map { "[\($0)]" } ?? "")
            let text = "\(term.keyPath) \(operation) \(term.operand == "nil" ? "nil" : "?")"
            return term.isNegated == true ? "NOT (\(text))" : text
        }.joined(separator: " AND ")
    }

    var explanation: [Wording] {
        let counts = fetch.counts
        let compared: Wording = "\(decimal: search.compared, places: 0)"
        let each = counts.executions == 1 ? "" : " each"
        let texts: Wording = "\(count: counts.executions, "fetch", plural: "fetches") compared \(compared) texts\(each)"
        guard let share = search.leftOver else {
            let passed =
                !search.isSingle
                ? " in several searches" : search.passed == 0 ? ", and none passed" : " for the rows of a limit"
            return ["\(texts)\(passed): the selectivity of the other terms is unknown."]
        }
        return [
            "\(texts), of which \(decimal: search.passed, places: 0) passed; \(percent: share) of these also match "
                + "the other terms.",
            "In the other order, SQLite compares about \(decimal: search.compared * share, places: 0) texts.",
        ]
    }

    /// The wording of findings about two searches.
    struct Searches {
        let order: SearchOrder

        private var names: (first: String, second: String) { (order.first.keyPath, order.second.keyPath) }

        var title: Wording {
            "Search \(property: names.second) before \(property: names.first) in the predicate of \(entity: order.fetch.key.shape.entity)"
        }

        var fix: Wording {
            "SQLite evaluates the terms of an AND in order. Put the quicker, more selective search first."
        }

        var code: [String] { [PredicateOrderAdvice.predicate([order.second, order.first])] }

        var explanation: [Wording] {
            let executions = order.fetch.counts.executions
            let each = executions == 1 ? "" : " each"
            let shares = order.shares
            let rows: Wording = "\(rows: UInt64(order.scanned.rounded()))"
            var sentences: [Wording] = [
                "\(count: executions, "fetch", plural: "fetches") searched \(property: names.first) in "
                    + "\(rows)\(each), and \(percent: shares.first) of them matched; \(percent: shares.second) of "
                    + "these also matched in \(property: names.second)."
            ]
            if let (first, second) = order.lengths {
                sentences.append(
                    "The texts have an average size of \(size: first) and \(size: second).")
            }
            return sentences
        }
    }
}
