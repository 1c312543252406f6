import Foundation

extension PredicateExpressions.Conjunction: TranslatableExpression {
    func term(in translation: PredicateTranslation) throws(StoreError) -> PredicateTerm {
        let left = try translation.term(lhs)
        let right = try translation.predicate(rhs)
        // Keeps one flat chain, as written.
        if case .all(let predicates) = left { return .all(predicates + [right]) }
        return .all([try left.predicate(), right])
    }
}

extension PredicateExpressions.Disjunction: TranslatableExpression {
    func term(in translation: PredicateTranslation) throws(StoreError) -> PredicateTerm {
        let left = try translation.term(lhs)
        let right = try translation.predicate(rhs)
        if case .one(let predicates) = left { return .one(predicates + [right]) }
        return .one([try left.predicate(), right])
    }
}

extension PredicateExpressions.Negation: TranslatableExpression {
    func term(in translation: PredicateTranslation) throws(StoreError) -> PredicateTerm {
        .predicate(!(try translation.predicate(wrapped)), isStrict: false)
    }
}

extension PredicateExpressions.Equal: TranslatableExpression {
    func term(in translation: PredicateTranslation) throws(StoreError) -> PredicateTerm {
        try .equating(
            translation.term(lhs), .equalTo, translation.term(rhs), areOptional: LHS.Output.self == Bool?.self)
    }
}

extension PredicateExpressions.NotEqual: TranslatableExpression {
    func term(in translation: PredicateTranslation) throws(StoreError) -> PredicateTerm {
        try .equating(
            translation.term(lhs), .notEqualTo, translation.term(rhs), areOptional: LHS.Output.self == Bool?.self)
    }
}

extension PredicateExpressions.Comparison: TranslatableExpression {
    func term(in translation: PredicateTranslation) throws(StoreError) -> PredicateTerm {
        let operation: FetchPredicate.Operator =
            switch op {
            case .lessThan: .lessThan
            case .lessThanOrEqual: .lessThanOrEqualTo
            case .greaterThan: .greaterThan
            case .greaterThanOrEqual: .greaterThanOrEqualTo
            @unknown default: throw PredicateTranslation.unsupported("the operator '\(op)'")
            }
        return try .comparing(translation.term(lhs), operation, translation.term(rhs))
    }
}

extension PredicateTerm {
    /// Whether the term is a condition.
    var isCondition: Bool {
        switch self {
        case .comparison, .anyComparison, .predicate, .all, .one: true
        default: false
        }
    }

    static func comparing(
        _ left: PredicateTerm, _ operation: FetchPredicate.Operator, _ right: PredicateTerm, _ options: TextOptions = []
    ) throws(StoreError) -> PredicateTerm {
        switch (left, right) {
        case (.path(let way), .constant), (.path(let way), .null):
            return .comparison(way, operation, try right.expression(), options)
        case (.optional(_, let ways), .null):
            return operation == .equalTo ? .one(ways.areMissing) : .all(ways.exist)
        case (.optional(let value, let ways), _):
            let predicate = FetchPredicate.comparison(value, operation, try right.expression(), options: options)
            return operation == .notEqualTo ? .one(ways.areMissing + [predicate]) : .all(ways.exist + [predicate])
        default:
            let predicate = FetchPredicate.comparison(
                try left.expression(), operation, try right.expression(), options: options)
            if case .null = right { return .predicate(predicate, isStrict: operation == .notEqualTo) }
            return .predicate(predicate, isStrict: operation != .notEqualTo)
        }
    }

    /// Compares two terms for equality or inequality, including conditions, which may be optional.
    static func equating(
        _ left: PredicateTerm, _ operation: FetchPredicate.Operator, _ right: PredicateTerm, areOptional: Bool
    ) throws(StoreError) -> PredicateTerm {
        switch (left, right) {
        case (.null, .path), (.constant, .path), (.null, .optional), (.constant, .optional):
            return try comparing(right, operation, left)
        case (_, .constant(let value as Bool)) where left.isCondition:
            guard value || !areOptional else {
                throw PredicateTranslation.unsupported("an optional condition compared with 'false'")
            }
            return value == (operation == .equalTo) ? left : .predicate(!(try left.predicate()), isStrict: false)
        case (_, .null) where left.isCondition, _ where left.isCondition && areOptional:
            throw PredicateTranslation.unsupported(
                "an optional condition compared with something other than 'true'")
        default: return try comparing(left, operation, right)
        }
    }
}

// MARK: - Arithmetic

extension PredicateExpressions.Arithmetic: TranslatableExpression {
    func term(in translation: PredicateTranslation) throws(StoreError) -> PredicateTerm {
        let (left, right) = (try translation.expression(lhs), try translation.expression(rhs))
        switch op {
        case .add: return .expression(left + right)
        case .subtract: return .expression(left - right)
        case .multiply: return .expression(left * right)
        @unknown default: throw PredicateTranslation.unsupported("the operator '\(op)'")
        }
    }
}

extension PredicateExpressions.FloatDivision: TranslatableExpression {
    func term(in translation: PredicateTranslation) throws(StoreError) -> PredicateTerm {
        .expression(try translation.expression(lhs) / translation.expression(rhs))
    }
}

extension PredicateExpressions.IntDivision: TranslatableExpression {
    func term(in translation: PredicateTranslation) throws(StoreError) -> PredicateTerm {
        .expression(try translation.expression(lhs) / translation.expression(rhs))
    }
}

extension PredicateExpressions.IntRemainder: TranslatableExpression {
    func term(in translation: PredicateTranslation) throws(StoreError) -> PredicateTerm {
        .expression(.function(.modulus, try translation.expression(lhs), try translation.expression(rhs)))
    }
}

extension PredicateExpressions.UnaryMinus: TranslatableExpression {
    func term(in translation: PredicateTranslation) throws(StoreError) -> PredicateTerm {
        let term = try translation.term(wrapped)
        if case .constant(let number as any SignedNumeric) = term { return .constant(number.negative) }
        return .expression(.function(.negate, try term.expression()))
    }
}

extension SignedNumeric {
    fileprivate var negative: Any { -self }
}
