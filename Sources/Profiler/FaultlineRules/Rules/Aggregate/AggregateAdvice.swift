internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// The wording of R05's findings.
struct AggregateAdvice {
    /// The question that the program answers from the rows.
    enum Question {
        case count, existence
        case fold(property: String)
        case preview(rows: UInt64)
    }

    let entity: String
    let question: Question
    let tally: ResultTally

    /// Returns `nil` if the store cannot compute what the results were for.
    init?(fetch: FetchProfile, demand: ResultDemand) {
        switch demand.kind {
        case .count: question = .count
        case .existence: question = .existence
        case .fold(let property): question = .fold(property: property)
        case .first(let rows, isCounted: true): question = .preview(rows: rows)
        case .first, .identities, .deletion, .update: return nil
        }
        entity = fetch.key.shape.entity
        tally = demand.tally
    }

    /// The request that replaces the fetch.
    var answer: Remedy.Answer {
        switch question {
        case .count: .count
        case .existence: .existence
        case .fold(let property): .fold(property: property)
        case .preview(let rows): .preview(rows: rows)
        }
    }

    /// A part of the finding's signature.
    var what: String {
        switch question {
        case .count: "count"
        case .existence: "existence"
        case .fold(let property): "fold(\(property))"
        case .preview: "preview"
        }
    }

    var title: Wording {
        switch question {
        case .count: "Count \(entity: entity) with a count request, not by fetching"
        case .existence: "Check with a limit of 1 whether any \(entity: entity) exists"
        case .fold(let property): "Aggregate \(property: "\(entity).\(property)") in the store, not over its objects"
        case .preview(let rows):
            "Count \(entity: entity) with a count request, and fetch the first \(count: rows, of: .rows) with a limit"
        }
    }

    var fix: Wording {
        switch question {
        case .count: "A count request returns one number, and no row."
        case .existence: "One object ID shows that there is a row; more of them add nothing."
        case .fold:
            "A sum, an average, a minimum or a maximum is one number, which an aggregate expression returns."
        case .preview: "A count request returns the number, and a limit the rows that are used."
        }
    }

    /// Advice for a program that needs the individual values.
    var alternatives: [Wording] {
        guard case .fold(let property) = question else { return [] }
        return [
            "If the program needs each value, as a chart does, fetch \(property: property) alone as dictionaries: "
                + "\(code: "request.propertiesToFetch = [\"\(property)\"]")."
        ]
    }

    var code: [String] {
        switch question {
        case .count: ["let count = try context.count(for: request)"]
        case .existence: ["request.fetchLimit = 1", "let isEmpty = try context.fetchObjectIDs(request).isEmpty"]
        case .fold(let property):
            [
                "let sum = ExpressionDescription(\"sum\", .function(.sum, \"\(property)\"))",
                "(request.resultType, request.propertiesToFetch) = (.dictionary, [sum])",
                "let found = try context.fetchDictionaries(request)[0][\"sum\"]",
            ]
        case .preview(let rows): ["let count = try context.count(for: request)", "request.fetchLimit = \(rows)"]
        }
    }

    var explanation: [Wording] {
        let what: Wording =
            tally.executions == 1
            ? "a result of \(rows: tally.rows)"
            : "\(count: tally.executions, "result") with \(rows: tally.rows) in all"
        switch question {
        case .count: return ["The program only counted \(what), and read no row."]
        case .existence:
            return ["The program only tested \(what) for being empty, and read no row."]
        case .fold(let property):
            return [
                "The program read \(what) in order, and of each row only \(property: property): enough for a sum, an "
                    + "average, a minimum or a maximum."
            ]
        case .preview(let first):
            return [
                "The program counted \(what). At most the first \(count: first, of: .rows) of each "
                    + "\(first == 1 ? "was" : "were") used, \(rows: tally.touchedRows) in all."
            ]
        }
    }
}
