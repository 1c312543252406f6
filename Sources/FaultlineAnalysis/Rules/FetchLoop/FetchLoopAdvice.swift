internal import FaultlineTrace

/// The wording of R04's findings.
struct FetchLoopAdvice {
    let shape: ShapeEntry
    /// The term whose values differ, or `nil` if the values are unknown.
    let term: ShapeEntry.Term?
    let evidence: LoopEvidence

    private var isSelf: Bool { term?.keyPath.uppercased() == "SELF" }

    /// Whether the rows of the joint fetch must be grouped by the values they were fetched for.
    var groupsRowsByValue: Bool { term != nil && !isSelf }

    /// The compared property, such as `Track.album`, or the entity if the object itself is compared.
    var property: String { term.map { isSelf ? shape.entity : "\(shape.entity).\($0.keyPath)" } ?? shape.entity }

    /// The compared property as text.
    private var compared: Wording { isSelf ? "the object ID" : "\(property: term?.keyPath ?? "")" }

    var title: Wording {
        guard let term else {
            return "Fetch the objects of \(entity: shape.entity) at once, not one by one"
        }
        return
            "Fetch \(entity: shape.entity) for all \(isSelf ? "object IDs" : "values of \(property: term.keyPath)" as Wording) at once, with IN"
    }

    var fix: Wording {
        guard term != nil else {
            return "If the loop follows a relationship, prefetch it with the fetch of the objects that the loop "
                + "visits (\(code: "relationshipKeyPathsForPrefetching")). Otherwise collect the values first and "
                + "fetch once with IN."
        }
        return
            "Collect the values first, fetch once with IN, and group the results by \(compared). To find or create, "
            + "fetch the existing objects before the loop."
    }

    var code: [String] {
        // Properties begin with a lowercase letter. This is an SQL column whose property is unknown.
        guard let term, !term.keyPath.hasPrefix("Z") else { return [] }
        let predicate = LoopTerms(shape, except: term).predicate
        guard shape.resultType == "objects" else {
            return predicate + [
                "request.propertiesToFetch.append(\"\(term.keyPath)\")",
                "let found = try context.fetchDictionaries(request)",
                "let groups = Dictionary(grouping: found) { $0[\"\(term.keyPath)\"] }",
            ]
        }
        let fetch = predicate + ["let found = try context.fetch(request)"]
        guard !isSelf else { return fetch }
        let way = term.keyPath.split(separator: ".").joined(separator: "?.")
        return fetch + ["let groups = Dictionary(grouping: found) { $0.\(way) }"]
    }

    var explanation: [Wording] {
        let fetches: Wording = "\(count: evidence.executions, "fetch", plural: "fetches")"
        let per = evidence.executions / max(1, evidence.occurrences)
        let occasions: Wording =
            evidence.occurrences == 1
            ? "" : ", about \(count: per) on each of \(count: evidence.occurrences) occasions"
        let times: Wording = occasions.isEmpty ? "" : occasions + ","
        guard term != nil else {
            return [
                "\(fetches) of \(entity: shape.entity) followed one another\(occasions): \(rows: evidence.rows), "
                    + "\(duration: evidence.time) in all. The trace does not show their values, but so many fetches "
                    + "of so few rows are an N+1."
            ] + evidence.callers.sentences
        }
        let values = DistinctCount.words(evidence.values, over: evidence.occurrences, "value")
        return [
            "\(fetches) followed one another\(times) for \(values) of \(compared): "
                + "\(rows: evidence.rows), \(duration: evidence.time) in all."
        ] + (shape.isLimited ? ["Each is limited to one row; IN loads all rows of a value."] : [])
            + evidence.callers.sentences
    }
}
