internal import FaultlineTrace

/// The wording of R04's findings about the first row of each value in an order.
struct FirstRowAdvice {
    let shape: ShapeEntry
    /// The term whose values differ.
    let term: ShapeEntry.Term
    let evidence: LoopEvidence
    let fetch: FetchProfile?
    /// The fetched entity, or `nil` if unknown.
    let entity: EntityEntry?

    var property: String { "\(shape.entity).\(term.keyPath)" }

    /// The entity of the object that the rows belong to, or `nil` if the term compares a value or a longer key path.
    private var owner: String? {
        entity?.property(term.keyPath).flatMap { $0.type == "toOne" ? $0.destination : nil }
    }

    /// The first sort key and its direction.
    private var order: (keyPath: String, isDescending: Bool) {
        let words = shape.sort.first?.split(separator: " ") ?? []
        return (words.first.map(String.init) ?? "self", words.dropFirst().first == "descending")
    }

    /// A word for the row that comes first.
    private var rank: String {
        if entity?.property(order.keyPath)?.type == "Date" { return order.isDescending ? "newest" : "oldest" }
        return order.isDescending ? "last" : "first"
    }

    private var name: String { rank + shape.entity }

    /// Whether the program reads only the first sort key of the rows.
    private var readsOrderOnly: Bool {
        guard let read = fetch?.properties[shape.entity]?.filter({ $0.value.rowsRead > 0 }), !read.isEmpty else {
            return false
        }
        return read.keys.allSatisfy { $0 == order.keyPath }
    }

    var title: Wording {
        let each: Wording = owner.map { "each \(entity: $0)" } ?? "each \(property: term.keyPath)"
        if readsOrderOnly {
            return
                "Fetch the \(order.isDescending ? "largest" : "smallest") \(property: order.keyPath) of \(entity: shape.entity) for \(each) at once, grouped"
        }
        guard owner != nil else {
            return "Keep the \(rank) \(entity: shape.entity) of \(each) instead of fetching it "
                + "each time"
        }
        return "Keep the \(rank) \(entity: shape.entity) of \(each) in a relationship, and prefetch it"
    }

    var fix: Wording {
        if readsOrderOnly {
            return "The program reads only \(property: order.keyPath) of the rows, which one grouped fetch can return."
        }
        guard let owner else {
            return
                "No single fetch finds the \(rank) row of every value, so keep track of it when rows are saved."
        }
        return
            "No single fetch finds the \(rank) row of every \(entity: owner). Set the relationship when a "
            + "\(entity: shape.entity) is created or deleted, and prefetch it with the fetch of \(entity: owner)."
    }

    var code: [String] {
        if readsOrderOnly { return grouped }
        guard let owner else { return [] }
        return [
            "// In the model: \(owner).\(name): to-one \(shape.entity)",
            "request.relationshipKeyPathsForPrefetching = [\"\(name)\"]",
        ]
    }

    private var grouped: [String] {
        let (function, name) = order.isDescending ? ("maximum", "largest") : ("minimum", "smallest")
        return [
            "let \(name) = ExpressionDescription(\"\(name)\", .function(.\(function), \"\(order.keyPath)\"))",
            "var request = FetchRequest<\(shape.entity)>()",
        ] + LoopTerms(shape, except: term).predicate + [
            "(request.resultType, request.propertiesToFetch) = (.dictionary, [\"\(term.keyPath)\", \(name)])",
            "request.propertiesToGroupBy = [\"\(term.keyPath)\"]",
            "let groups = try context.fetchDictionaries(request)",
        ]
    }

    var alternatives: [Wording] {
        var sentences: [Wording] = []
        if !readsOrderOnly {
            sentences.append(
                "Where each value has few rows, fetch them all with IN in this order, and keep the first of each.")
        }
        if fetch?.counts.sorts ?? 0 > 0 {
            sentences.append(
                "An index on \(property: term.keyPath) and \(property: order.keyPath) keeps each fetch from sorting all rows of its value."
            )
        }
        return sentences
    }

    var explanation: [Wording] {
        let occasions: Wording = evidence.occurrences > 1 ? " on \(count: evidence.occurrences) occasions" : ""
        return [
            "\(count: evidence.executions, "fetch", plural: "fetches") of one row followed one another\(occasions), "
                + "each for the \(rank) row of another \(property: term.keyPath): \(rows: evidence.rows), "
                + "\(duration: evidence.time) in all."
        ] + evidence.callers.sentences
    }
}
