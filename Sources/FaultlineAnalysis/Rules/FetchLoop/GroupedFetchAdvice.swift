internal import FaultlineTrace

/// The wording of R04's findings about counts and sums that are requested value by value.
struct GroupedFetchAdvice {
    let shape: ShapeEntry
    /// The term whose values differ.
    let term: ShapeEntry.Term
    let aggregate: FetchLoopKind.Aggregate
    let evidence: LoopEvidence

    private var isSelf: Bool { term.keyPath.uppercased() == "SELF" }
    private var compared: Wording { isSelf ? "the object ID" : "\(property: term.keyPath)" }
    var property: String { isSelf ? shape.entity : "\(shape.entity).\(term.keyPath)" }

    private var isCount: Bool {
        switch aggregate {
        case .count: true
        case .fold: false
        case .expressions(let expressions): expressions.allSatisfy { $0.hasPrefix("count:") }
        }
    }

    var title: Wording {
        "\(isCount ? "Count" : "Aggregate") \(entity: shape.entity) for all \(isSelf ? "object IDs" : "values of \(property: term.keyPath)" as Wording) "
            + "at once, in one grouped fetch"
    }

    var fix: Wording {
        var sentences: [Wording] = [
            "Collect the values first, and fetch one dictionary for each of them, grouped by \(compared). A value "
                + "without rows has no dictionary: treat \(isCount ? "its count as 0" : "it as empty")."
        ]
        if let others = LoopTerms(shape, except: term).text {
            sentences.append("Keep the predicate's other terms: \(code: others).")
        }
        if term.operand == "object", !isSelf {
            sentences.append("In a dictionary, \(property: term.keyPath) is the URL of the object's ID.")
        }
        sentences.append("Dictionary fetches do not see unsaved changes.")
        return sentences.joined(separator: " ")
    }

    var code: [String] {
        // Properties begin with a lowercase letter. This is an SQL column whose property is unknown.
        guard !term.keyPath.hasPrefix("Z"), term.operand != "expression" else { return [] }
        let predicate = LoopTerms(shape, except: term).predicate
        switch aggregate {
        case .expressions:
            let groups = (shape.groups ?? []) + [term.keyPath]
            return predicate + [
                "request.propertiesToFetch.append(\"\(term.keyPath)\")",
                "request.propertiesToGroupBy = [\(groups.map { "\"\($0)\"" }.joined(separator: ", "))]",
                "let groups = try context.fetchDictionaries(request)",
            ]
        case .count:
            return lines("count", "count", "self", predicate)
        case .fold(let property):
            return lines("sum", "sum", property, predicate)
        }
    }

    private func lines(_ name: String, _ function: String, _ property: String, _ predicate: [String]) -> [String] {
        [
            "let \(name) = ExpressionDescription(\"\(name)\", .function(.\(function), \"\(property)\"))",
            "var request = FetchRequest<\(shape.entity)>()",
        ] + predicate + [
            "(request.resultType, request.propertiesToFetch) = (.dictionary, [\"\(term.keyPath)\", \(name)])",
            "request.propertiesToGroupBy = [\"\(term.keyPath)\"]",
            "let groups = try context.fetchDictionaries(request)",
        ]
    }

    var explanation: [Wording] {
        let isFetched = shape.resultType == "objects"
        let requests: Wording =
            switch (aggregate, isFetched) {
            case (.count, true): "\(count: evidence.executions, "result") of which only the count was read"
            case (.fold(let property), true):
                "\(count: evidence.executions, "result") of which only \(property: property) was read"
            case (.count, false): "\(count: evidence.executions, "count request")"
            default: "\(count: evidence.executions, "dictionary request")"
            }
        let occasions: Wording =
            evidence.occurrences > 1 ? " on \(count: evidence.occurrences) occasions" : ""
        let rows: Wording = isCount || isFetched ? "\(rows: evidence.rows), " : ""
        let values = DistinctCount.words(evidence.values, over: evidence.occurrences, "value")
        return [
            "\(requests) followed one another\(occasions), for \(values) of "
                + "\(compared): \(rows)\(duration: evidence.time) in all."
        ] + evidence.callers.sentences
    }
}
