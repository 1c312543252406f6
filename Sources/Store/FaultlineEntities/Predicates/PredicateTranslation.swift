import Foundation

/// Translates the expression tree of a Swift predicate to a fetch predicate.
final class PredicateTranslation {
    private var variables: [PredicateExpressions.VariableID: PredicateTerm] = [:]
    private var subqueries = 0

    /// Translates a part of the tree.
    ///
    /// - Throws: ``StoreError`` if a fetch predicate has no equivalent.
    func term(_ expression: some PredicateExpression) throws(StoreError) -> PredicateTerm {
        guard let known = expression as? any TranslatableExpression else {
            throw Self.unsupported("'\(Self.name(of: expression))'")
        }
        return try known.term(in: self)
    }

    /// Translates a part of the tree with a value for a variable.
    func term(
        _ expression: some PredicateExpression, _ variable: PredicateExpressions.VariableID, is value: PredicateTerm
    ) throws(StoreError) -> PredicateTerm {
        variables[variable] = value
        return try term(expression)
    }

    func value(of variable: PredicateExpressions.VariableID) throws(StoreError) -> PredicateTerm {
        guard let term = variables[variable] else { throw Self.unsupported("a variable of another predicate") }
        return term
    }

    /// Returns a name for the variable of another subquery.
    func nextVariable() -> String {
        subqueries += 1
        return subqueries == 1 ? "object" : "object\(subqueries)"
    }

    func predicate(_ expression: some PredicateExpression) throws(StoreError) -> FetchPredicate {
        try term(expression).predicate()
    }

    func expression(_ expression: some PredicateExpression) throws(StoreError) -> FetchExpression {
        try term(expression).expression()
    }

    // MARK: - Errors

    static func unsupported(_ what: String) -> StoreError {
        StoreError(
            .invalidRequest,
            "A #Predicate cannot be translated to SQL because it contains \(what); express it differently, or filter the fetched objects."
        )
    }

    /// The Swift name of an operator that is not supported.
    private static func name(of expression: some PredicateExpression) -> String {
        let type = String(describing: type(of: expression))
        let name = String(type.prefix { $0 != "<" })
        return [
            "SequenceMaximum": "max()", "SequenceMinimum": "min()", "TypeCheck": "is", "ConditionalCast": "as?",
            "ForceCast": "as!", "CollectionIndexSubscript": "[index]", "CollectionRangeSubscript": "[range]",
            "DictionaryKeySubscript": "[key]", "DictionaryKeyDefaultValueSubscript": "[key, default:]",
            "StringContainsRegex": "contains(regex)", "PredicateEvaluate": "evaluate()",
            "ExpressionEvaluate": "evaluate()",
        ][name] ?? name
    }
}

/// An expression of a Swift predicate that can be translated to a fetch predicate.
protocol TranslatableExpression {
    func term(in translation: PredicateTranslation) throws(StoreError) -> PredicateTerm
}

extension PredicateTerm {
    /// The term as a condition.
    func predicate() throws(StoreError) -> FetchPredicate {
        switch self {
        case .comparison(let way, let operation, let value, let options):
            .comparison(way.expression, operation, value, options: options)
        case .anyComparison(let way, let operation, let value, let options):
            .comparison(way.expression, operation, value, options: options, modifier: .any)
        case .predicate(let predicate, _): predicate
        case .all(let predicates): .and(predicates)
        case .one(let predicates): .or(predicates)
        case .constant(let value as Bool): .value(value)
        case .path, .expression: .comparison(try expression(), .equalTo, .value(true))
        case .constant, .null, .objects, .optional, .range:
            throw PredicateTranslation.unsupported("a condition that is not a Boolean")
        }
    }

    /// The term as an expression with a value.
    func expression() throws(StoreError) -> FetchExpression {
        switch self {
        case .path(let way): return way.expression
        case .expression(let expression): return expression
        case .null: return .null
        case .constant(let value): return try Self.expression(of: value)
        case .comparison, .anyComparison, .predicate, .all, .one:
            return .conditional(try predicate(), .value(true), .value(false))
        case .objects(let way, _):
            throw PredicateTranslation.unsupported("the objects of '\(way.keyPath)' as a value")
        case .optional:
            throw PredicateTranslation.unsupported("an optional value that is neither compared nor replaced by '??'")
        case .range: throw PredicateTranslation.unsupported("a range as a value")
        }
    }

    /// Converts a value that the program passed in to a constant.
    static func expression(of value: Any) throws(StoreError) -> FetchExpression {
        switch value {
        case let id as ManagedObjectID: return .object(id)
        case let scalar as any AttributeScalar: return .value(scalar.attributeValue)
        case let value as any RawRepresentable: return try expression(of: value.rawValue)
        case let number as any BinaryInteger:
            guard let number = Int64(exactly: number) else {
                throw PredicateTranslation.unsupported("the number \(number), which no attribute can hold")
            }
            return .value(number)
        case let values as any Sequence:
            var list: [FetchExpression] = []
            for value in values {
                let element: Any = value
                list.append(try expression(of: element))
            }
            return .list(list)
        default:
            throw PredicateTranslation.unsupported("a value of the type '\(Swift.type(of: value))'")
        }
    }

    /// Creates a constant from a value that the program passed in, which may be an optional.
    static func constant(of value: Any) -> PredicateTerm {
        guard let optional = value as? any OptionalConstant else { return .constant(value) }
        return optional.content.map { constant(of: $0) } ?? .null
    }
}

private protocol OptionalConstant {
    var content: Any? { get }
}

extension Optional: OptionalConstant {
    fileprivate var content: Any? { self }
}
