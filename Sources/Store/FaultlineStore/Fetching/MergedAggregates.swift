import FaultlineModel
import Foundation

/// Combines aggregate functions over the objects of several stores from each store's result.
struct MergedAggregates {
    /// The terms of the fetch in each store.
    let terms: FetchTerms
    private let expressions: [ExpressionDescription]

    /// Returns `nil` if the request has no aggregate functions over all objects.
    ///
    /// - Throws: ``StoreError`` if the result cannot be combined from the parts.
    init?(_ terms: FetchTerms, _ entity: EntitySchema, _ model: ModelSchema) throws(StoreError) {
        func refused(_ what: String) -> StoreError {
            StoreError(
                .invalidRequest,
                "Fetching \(terms.entityName): \(what) cannot be computed across several stores; set affectedStores to one store, and fetch from each in turn."
            )
        }
        guard terms.groups.isEmpty, terms.having == nil else { throw refused("groups") }
        guard terms.expressions.contains(where: { $0.expression.node.isAggregate }),
            !terms.computesPerObject(entity, model)
        else { return nil }
        var asked = terms
        for (position, description) in terms.expressions.enumerated() {
            guard case .aggregate(let function, _) = description.expression.node, function != .average else {
                // Each store rejects plain properties beside aggregate functions.
                guard description.expression.node.isAggregate else { continue }
                throw refused("'\(description.expression.node.text(values: false))'")
            }
            // The parts of a sum must not be rounded.
            if function == .sum { asked.expressions[position].resultType = nil }
        }
        self.terms = asked
        expressions = terms.expressions
    }

    /// Combines the parts.
    ///
    /// - Parameter parts: Each store's result: one dictionary.
    func merge(_ parts: [[[String: AttributeValue]]]) throws(StoreError) -> [String: AttributeValue] {
        var merged: [String: AttributeValue] = [:]
        for description in expressions {
            guard case .aggregate(let function, _) = description.expression.node else { continue }
            let values = parts.compactMap { $0.first?[description.name] }
            guard var result = values.first else { continue }
            for value in values.dropFirst() { result = try Self.combine(function, result, value, description) }
            merged[description.name] = function == .sum ? Self.convert(result, description.resultType) : result
        }
        return merged
    }

    private static func combine(
        _ function: FetchExpression.Function, _ left: AttributeValue, _ right: AttributeValue,
        _ description: ExpressionDescription
    ) throws(StoreError) -> AttributeValue {
        switch function {
        case .minimum: return SQLValue(left).order(SQLValue(right)) <= 0 ? left : right
        case .maximum: return SQLValue(left).order(SQLValue(right)) >= 0 ? left : right
        case .sum, .count, .average: break
        }
        switch (left, right) {
        case (.double(let left), .double(let right)): return .double(left + right)
        case (.decimal(let left), .decimal(let right)): return .decimal(left + right)
        case (.integer(let left), .integer(let right)):
            let (sum, isTooMuch) = left.addingReportingOverflow(right)
            if !isTooMuch { return .integer(sum) }
        default: break
        }
        throw StoreError(
            .invalidRequest,
            "Fetching '\(description.name)': the results of the stores cannot be added; remove its resultType."
        )
    }

    /// Converts a sum to the requested type, as reading a column of that type would.
    private static func convert(_ sum: AttributeValue, _ type: AttributeType?) -> AttributeValue {
        guard case .double(let value) = sum else { return sum }
        switch type {
        case .integer16, .integer32, .integer64:
            return .integer(Int64(exactly: value.rounded(.towardZero)) ?? (value > 0 ? .max : .min))
        case .boolean: return .boolean(value != 0)
        case .date: return .date(Date(timeIntervalSinceReferenceDate: value))
        case .decimal: return .decimal(Decimal(value))
        case .string: return .string(String(value))
        default: return sum
        }
    }
}
