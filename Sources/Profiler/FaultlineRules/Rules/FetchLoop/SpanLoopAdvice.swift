internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// The wording of a finding about a loop of fetches.
protocol LoopAdvice {
    var title: Wording { get }
    var fix: Wording { get }
    var code: [String] { get }
    var explanation: [Wording] { get }
    /// The compared property, which tells the findings about one line apart.
    var property: String { get }
    /// Whether the program must group the rows of the joint fetch itself.
    var groupsRowsByValue: Bool { get }
}

/// The way in which one fetch can replace the fetches of a loop.
enum LoopJoin: Sendable, Hashable {
    /// `IN` compares with all values at once.
    case list
    /// The ranges of one property are parts of one range.
    case range
    /// A subquery is asked with other values each time.
    case subquery

    init(_ term: ShapeEntry.Term?) {
        switch term {
        case let term? where term.isBound: self = .range
        case let term? where term.isSubquery: self = .subquery
        default: self = .list
        }
    }
}

/// The bounds of a range among the terms of a shape.
struct TermRange: Sendable, Hashable {
    /// The indexes of the terms; equal for `BETWEEN`.
    var lower: Int
    var upper: Int

    /// A bit for each of the terms.
    var bits: UInt64 { 1 << UInt64(lower & 63) | 1 << UInt64(upper & 63) }

    /// Returns the only range of a shape, or `nil` if there is none, or more than one.
    init?(_ shape: ShapeEntry) {
        let bounds = (shape.terms ?? []).enumerated().filter { $0.element.isBound }
        guard let first = bounds.first, bounds.allSatisfy({ $0.element.keyPath == first.element.keyPath }) else {
            return nil
        }
        let isBetween = first.element.operation == "BETWEEN"
        let isPair = bounds.count == 2 && bounds[0].element.isLowerBound != bounds[1].element.isLowerBound
        guard isBetween ? bounds.count == 1 : isPair else { return nil }
        let lower = bounds.first { $0.element.isLowerBound } ?? first
        (self.lower, upper) = (lower.offset, (bounds.first { $0.offset != lower.offset } ?? lower).offset)
    }
}

extension ShapeEntry.Term {
    /// Whether it compares a property with a bound, or with both.
    var isBound: Bool {
        isAlternative != true && isNegated != true && options == nil && operand == "value"
            && [">", ">=", "<", "<=", "BETWEEN"].contains(operation) && !isSubquery
    }

    var isLowerBound: Bool { operation.hasPrefix(">") }

    /// Whether it compares the number of a relationship's members that meet a condition.
    var isSubquery: Bool { keyPath.hasPrefix("SUBQUERY(") }

    /// The relationship whose members a subquery tests, or `nil` if it is none.
    var subqueryMembers: String? {
        guard isSubquery, let comma = keyPath.firstIndex(of: ",") else { return nil }
        return String(keyPath[keyPath.index(keyPath.startIndex, offsetBy: 9)..<comma])
    }
}

/// The wording of R04's findings about fetches for one range of a property after the other, such as the weeks of a chart.
struct RangeLoopAdvice: LoopAdvice {
    let shape: ShapeEntry
    /// A bound of the range.
    let term: ShapeEntry.Term
    let evidence: LoopEvidence
    let api: StoreCode
    /// Whether the bounds are dates.
    let isDate: Bool
    /// The number that the store computes for each range, or `nil` if the program uses the rows.
    let aggregate: FetchLoopKind.Aggregate?

    var property: String { "\(shape.entity).\(term.keyPath)" }
    var groupsRowsByValue: Bool { true }

    var title: Wording {
        switch aggregate {
        case nil: "Fetch \(entity: shape.entity) once for all ranges of \(property: term.keyPath)"
        case .count:
            "Count \(entity: shape.entity) once for all ranges of \(property: term.keyPath), in one grouped fetch"
        default:
            "Aggregate \(entity: shape.entity) once for all ranges of \(property: term.keyPath), in one grouped fetch"
        }
    }

    var fix: Wording {
        guard let aggregate else {
            return "Fetch once from the lowest bound to the highest, and group the rows by range."
        }
        let missing: Wording = aggregate == .count ? "its count as 0" : "it as empty"
        return
            "If the ranges are equally wide, group one dictionary fetch by an expression that numbers them. Otherwise "
            + "fetch \(property: term.keyPath) of all rows as dictionaries, and add them up by range. A range without rows "
            + "has no dictionary: treat \(missing). Dictionary fetches do not see unsaved changes."
    }

    var code: [String] {
        guard let keyPath = api.property(term.keyPath) else { return [] }
        let predicate = LoopTerms(shape, except: term, api).predicate
        guard let aggregate else {
            return api.remark(on: term.keyPath) + predicate + [
                shape.resultType == "objects"
                    ? "let found = try context.fetch(request)" : "let found = try context.fetchDictionaries(request)"
            ]
        }
        // Core Data cannot group by an expression.
        guard !api.usesCoreData, let (name, function) = expression(of: aggregate) else { return [] }
        let first = isDate ? "lowest.timeIntervalSinceReferenceDate" : "lowest"
        return function + [
            "let first: FetchExpression = .value(\(first))",
            "let place: FetchExpression = (.function(.castToNumber, .keyPath(\"\(keyPath)\")) - first) / .value(width)",
            "let range = ExpressionDescription(\"range\", .function(.floor, place))", api.request(shape.entity),
        ] + predicate + [
            "(request.resultType, request.propertiesToFetch) = (.dictionary, [range, \(name)])",
            "request.propertiesToGroupBy = [\"range\"]", "let groups = try context.fetchDictionaries(request)",
        ]
    }

    private func expression(of aggregate: FetchLoopKind.Aggregate) -> (name: String, lines: [String])? {
        switch aggregate {
        case .count:
            ("count", ["let count = ExpressionDescription(\"count\", .function(.count, \"self\"))"])
        case .fold(let property):
            ("sum", ["let sum = ExpressionDescription(\"sum\", .function(.sum, \"\(property)\"))"])
        case .expressions: nil
        }
    }

    var explanation: [Wording] {
        let values = DistinctCount.words(evidence.values, over: evidence.occurrences, "range")
        return [
            "\(count: evidence.executions, "fetch", plural: "fetches") followed one another\(evidence.onOccasions), for \(values) of "
                + "\(property: term.keyPath): \(rows: evidence.rows), \(duration: evidence.time) in all."
        ] + (adjoin ? ["Each range begins where another ends."] : []) + evidence.callers.sentences
    }

    /// Whether nearly all ranges begin where the one before ends, or end where it begins.
    var adjoin: Bool { Double(evidence.adjoining) >= 0.9 * Double(evidence.executions &- evidence.occurrences) }
}

/// The wording of R04's findings about fetches with a subquery whose values differ.
struct SubqueryLoopAdvice: LoopAdvice {
    let shape: ShapeEntry
    let term: ShapeEntry.Term
    let evidence: LoopEvidence

    private var members: String { term.subqueryMembers ?? "" }

    var property: String { "\(shape.entity).\(term.keyPath)" }
    var groupsRowsByValue: Bool { true }

    var title: Wording { "Fetch the \(property: members) of \(entity: shape.entity) for all values at once, with IN" }

    var fix: Wording {
        "Collect the values first. Fetch the entity of \(property: members) with the conditions of the subquery and IN for "
            + "the values, and group its rows by value and by \(entity: shape.entity)."
    }

    var code: [String] { [] }

    var explanation: [Wording] {
        let values = DistinctCount.words(evidence.values, over: evidence.occurrences, "value")
        return [
            "\(count: evidence.executions, "fetch", plural: "fetches") followed one another\(evidence.onOccasions), for \(values) of a "
                + "SUBQUERY over \(property: members), which each of them computes for its rows one by one: "
                + "\(duration: evidence.time) in all."
        ] + evidence.callers.sentences
    }
}
