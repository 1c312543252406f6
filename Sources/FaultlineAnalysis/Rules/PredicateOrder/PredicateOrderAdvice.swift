internal import FaultlineTrace

/// The words of R07.
struct PredicateOrderAdvice {
    let fetch: FetchProfile
    let order: PredicateOrder
    let search: PredicateOrderRule.Search

    private var entity: String { fetch.key.shape.entity }

    private static func names(_ terms: [ShapeEntry.Term]) -> String {
        terms.map(\.keyPath).uniqued.joined(separator: ", ")
    }

    var title: String {
        "Compare \(Self.names(order.cheap)) before \(Self.names(order.searches)) in the predicate of \(entity)"
    }

    var fix: String {
        "SQLite asks the terms of an AND in their order, and a text costs many times what a number does: what is cheap and "
            + "leaves few rows comes first."
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

    var explanation: [String] {
        let counts = fetch.counts
        let compared = Phrase.decimal(search.compared, places: 0)
        let each = counts.executions == 1 ? "" : " each"
        let texts = "\(Phrase.count(counts.executions, "fetch", plural: "fetches")) compared \(compared) texts\(each)"
        guard let share = search.leftOver else {
            let passed =
                !search.isSingle
                ? " in several searches" : search.passed == 0 ? ", and none passed" : " for a limit's rows"
            return ["\(texts)\(passed): how many the other terms leave over is not known."]
        }
        let passed = Phrase.decimal(search.passed, places: 0)
        return [
            "\(texts), of which \(passed) passed; the other terms then left \(Phrase.percent(share)) of these over.",
            "The other way round some \(Phrase.decimal(search.compared * share, places: 0)) texts are to be compared.",
        ]
    }

    /// The words about two searches.
    struct Searches {
        let order: SearchOrder

        private var names: (first: String, second: String) { (order.first.keyPath, order.second.keyPath) }

        var title: String {
            "Search \(names.second) before \(names.first) in the predicate of \(order.fetch.key.shape.entity)"
        }

        var fix: String {
            "SQLite asks the terms of an AND in their order: what is quickly searched and leaves few rows comes first."
        }

        var code: [String] { [PredicateOrderAdvice.predicate([order.second, order.first])] }

        var explanation: [String] {
            let executions = order.fetch.counts.executions
            let each = executions == 1 ? "" : " each"
            let shares = order.shares
            let rows = Phrase.count(UInt64(order.scanned.rounded()), "row")
            var sentences = [
                "\(Phrase.count(executions, "fetch", plural: "fetches")) searched \(names.first) in \(rows)\(each), "
                    + "which left \(Phrase.percent(shares.first)) of them over; \(names.second) then left "
                    + "\(Phrase.percent(shares.second)) of these."
            ]
            if let (first, second) = order.lengths {
                sentences.append(
                    "The texts have \(Phrase.size(first)) and \(Phrase.size(second)) on average.")
            }
            return sentences
        }
    }
}
