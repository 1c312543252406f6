internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// The wording of R04's findings.
struct FetchLoopAdvice: LoopAdvice {
    let shape: ShapeEntry
    /// The term whose values differ, or `nil` if the values are unknown.
    let term: ShapeEntry.Term?
    /// The term whose values differ, or probably do if the values are unknown.
    let likelyTerm: ShapeEntry.Term?
    let evidence: LoopEvidence
    let api: StoreCode

    private var isSelf: Bool { term?.keyPath.uppercased() == "SELF" }

    /// Whether the rows of the joint fetch must be grouped by the values they were fetched for.
    ///
    /// A row belongs to several members of a to-many relationship.
    var groupsRowsByValue: Bool { term.map { !isSelf && !$0.comparesMembers } ?? false }

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
        guard let term = likelyTerm, let property = api.property(term.keyPath) else { return [] }
        let predicate = LoopTerms(shape, except: term, api).predicate
        guard shape.resultType == "objects" else {
            return predicate + [
                "request.propertiesToFetch.append(\"\(term.keyPath)\")",
                "let found = try context.fetchDictionaries(request)",
                "let groups = Dictionary(grouping: found) { $0[\"\(term.keyPath)\"] }",
            ]
        }
        let fetch = api.remark(on: term.keyPath) + predicate + ["let found = try context.fetch(request)"]
        guard groupsRowsByValue else { return fetch }
        let way = property.split(separator: ".").joined(separator: "?.")
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

/// The kind of data that a loop of fetches asks for, which determines the one fetch that replaces them.
enum FetchLoopKind: Sendable, Hashable {
    /// A number that the store computes over the rows of each value.
    enum Aggregate: Sendable, Hashable {
        /// The number of rows, from a count request or from the length of a result.
        case count
        /// A sum, a mean, a minimum or a maximum that the program computed from one property.
        case fold(property: String)
        /// The expressions of dictionary requests.
        case expressions([String])
    }

    /// Rows.
    ///
    /// One fetch with `IN` returns those of all values.
    case rows
    /// A number for each value.
    ///
    /// One fetch that groups the rows returns all of them.
    case groups(Aggregate)
    /// The first row of each value in an order, such as the newest.
    ///
    /// No single fetch returns them all.
    case first

    /// - Returns: `nil` if no single fetch can replace the loop, or another rule has the advice.
    init?(_ key: LoopEvidence.Key, _ fetch: FetchProfile?) {
        let shape = key.fetch.shape
        guard key.term != nil else {
            switch shape.resultType {
            case "objects" where fetch?.isForItsRows != false: self = .rows
            case "count" where !shape.isLimited: self = .groups(.count)
            default: return nil
            }
            return
        }
        switch shape.resultType {
        case "count" where !shape.isLimited: self = .groups(.count)
        case "dictionaries" where !shape.isLimited:
            guard let expressions = shape.expressions, shape.having == nil else { return nil }
            let areAggregates = expressions.allSatisfy { $0.contains(":(") }
            guard areAggregates || shape.groups == nil else { return nil }
            self = areAggregates ? .groups(.expressions(expressions)) : .rows
        case "objects":
            if shape.isLimited, !shape.sort.isEmpty {
                // No relationship leads to the first row of a range.
                guard case .list = LoopJoin(key.variedTerm) else { return nil }
                self = .first
            } else if !shape.isLimited, let aggregate = fetch.flatMap(Self.aggregate) {
                self = .groups(aggregate)
            } else {
                guard fetch?.isForItsRows != false else { return nil }
                self = .rows
            }
        default: return nil
        }
    }

    /// The number that nearly all results of a fetch were used for.
    private static func aggregate(of fetch: FetchProfile) -> Aggregate? {
        guard let (_, use) = fetch.mainUse else { return nil }
        let needs = use.needs.filter { $0.key != .nothing }
        let total = needs.values.reduce(0) { $0 &+ $1.executions } &+ use.openExecutions
        let isMost = { (count: UInt64) in count > 0 && Double(count) >= ResultDemand.share.value * Double(total) }
        if isMost((needs[.count]?.executions ?? 0) &+ (needs[.existence]?.executions ?? 0)) { return .count }
        for case (.fold(let property), let tally) in needs where isMost(tally.executions) {
            return .fold(property: property)
        }
        return nil
    }

    /// Whether most fetches of a line run in a loop for a number of each value's rows.
    ///
    /// A count or an aggregate per value would only be the next thing to change.
    static func isGrouped(_ fetch: FetchProfile, _ profile: Profile) -> Bool {
        profile.loops.contains { loop in
            guard loop.key.fetch == fetch.key, case .groups = FetchLoopKind(loop.key, fetch) else { return false }
            return Significance.isAtLeastHalf(loop.evidence.executions, of: fetch.counts.executions)
        }
    }
}

/// The wording of R04's findings about counts and sums that are requested value by value.
struct GroupedFetchAdvice: LoopAdvice {
    let shape: ShapeEntry
    /// The term whose values differ; `nil` if it is unknown which.
    let term: ShapeEntry.Term?
    /// Whether the values are known.
    let hasValues: Bool
    let aggregate: FetchLoopKind.Aggregate
    let evidence: LoopEvidence
    let api: StoreCode

    private var isSelf: Bool { term?.keyPath.uppercased() == "SELF" }
    var groupsRowsByValue: Bool { false }
    private var compared: Wording {
        guard let term else { return "the property whose values differ" }
        return isSelf ? "the object ID" : "\(property: term.keyPath)"
    }
    var property: String { term.map { isSelf ? shape.entity : "\(shape.entity).\($0.keyPath)" } ?? shape.entity }

    private var isCount: Bool {
        switch aggregate {
        case .count: true
        case .fold: false
        case .expressions(let expressions): expressions.allSatisfy { $0.hasPrefix("count:") }
        }
    }

    var title: Wording {
        let all: Wording = term.map { isSelf ? "object IDs" : "values of \(property: $0.keyPath)" } ?? "values"
        return "\(isCount ? "Count" : "Aggregate") \(entity: shape.entity) for all \(all) at once, in one grouped fetch"
    }

    var fix: Wording {
        var sentences: [Wording] = [
            "Collect the values first, and fetch one dictionary for each of them, grouped by \(compared). A value "
                + "without rows has no dictionary: treat \(isCount ? "its count as 0" : "it as empty")."
        ]
        if let term, let others = LoopTerms(shape, except: term, api).text {
            sentences.append("Keep the predicate's other terms: \(code: others).")
        }
        if let term, term.operand == "object", !isSelf {
            sentences.append("In a dictionary, \(property: term.keyPath) is the URL of the object's ID.")
        }
        sentences.append("Dictionary fetches do not see unsaved changes.")
        return sentences.joined(separator: " ")
    }

    var code: [String] {
        guard let term, let keyPath = api.property(term.keyPath), term.operand != "expression" else { return [] }
        let predicate = LoopTerms(shape, except: term, api).predicate
        let remark = api.remark(on: term.keyPath)
        switch aggregate {
        case .expressions:
            let groups = (shape.groups ?? []) + [term.keyPath]
            return predicate + [
                "request.propertiesToFetch.append(\"\(term.keyPath)\")",
                "request.propertiesToGroupBy = [\(groups.map { "\"\($0)\"" }.joined(separator: ", "))]",
                "let groups = try context.fetchDictionaries(request)",
            ]
        case .count:
            return remark + api.grouped(shape.entity, by: keyPath, "count", "count", of: "self", predicate: predicate)
        case .fold(let property):
            return remark + api.grouped(shape.entity, by: keyPath, "sum", "sum", of: property, predicate: predicate)
        }
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
        let rows: Wording = isCount || isFetched ? "\(rows: evidence.rows), " : ""
        guard hasValues else {
            return [
                "\(requests) followed one another\(evidence.onOccasions): \(rows)\(duration: evidence.time) in all. The trace does not "
                    + "show their values: if they are the same, ask once and keep the number."
            ] + evidence.callers.sentences
        }
        let values = DistinctCount.words(evidence.values, over: evidence.occurrences, "value")
        return [
            "\(requests) followed one another\(evidence.onOccasions), for \(values) of "
                + "\(compared): \(rows)\(duration: evidence.time) in all."
        ] + evidence.callers.sentences
    }
}

/// The wording of R04's findings about the first row of each value in an order.
struct FirstRowAdvice {
    let shape: ShapeEntry
    /// The term whose values differ.
    let term: ShapeEntry.Term
    let evidence: LoopEvidence
    let fetch: FetchProfile?
    /// The fetched entity, or `nil` if unknown.
    let entity: EntityEntry?
    let api: StoreCode

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
        return api.grouped(
            shape.entity, by: term.keyPath, name, function, of: order.keyPath,
            predicate: LoopTerms(shape, except: term, api).predicate)
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
        return [
            "\(count: evidence.executions, "fetch", plural: "fetches") of one row followed one another\(evidence.onOccasions), "
                + "each for the \(rank) row of another \(property: term.keyPath): \(rows: evidence.rows), "
                + "\(duration: evidence.time) in all."
        ] + evidence.callers.sentences
    }
}
