import Foundation

extension PredicateExpressions.SequenceContains: TranslatableExpression {
    func term(in translation: PredicateTranslation) throws(StoreError) -> PredicateTerm {
        let element = try translation.term(element)
        switch try translation.term(sequence) {
        case .constant(let values): return try .comparing(element, .isIn, .constant(values))
        case .range(let lower, let upper, let includesUpper):
            return try .isBetween(element, lower, upper, includesUpper)
        default: throw PredicateTranslation.unsupported("'contains(_:)' on a value that is not a constant")
        }
    }
}

extension PredicateExpressions.SequenceContainsWhere: TranslatableExpression {
    func term(in translation: PredicateTranslation) throws(StoreError) -> PredicateTerm {
        switch try translation.term(sequence) {
        case .objects(let way, let filter):
            let (name, test) = try translation.test(test, variable.key, of: filter)
            // A single comparison needs no subquery.
            switch test {
            case .comparison(let path, let operation, let value, let options) where path.variable == name,
                .anyComparison(let path, let operation, let value, let options) where path.variable == name:
                guard filter == nil else { break }
                return .anyComparison(way.appending(path.keyPath), operation, value, options)
            default: break
            }
            let predicate = try test.predicate()
            let both = filter.map { $0.predicate && predicate } ?? predicate
            return .predicate(.comparison(way.count(of: name, both), .greaterThan, .value(0)), isStrict: true)
        case .constant(let values):
            return .one(try translation.tests(test, variable.key, of: values))
        default:
            throw PredicateTranslation.unsupported(
                "'contains(where:)' on a value that is neither a relationship nor a constant")
        }
    }
}

extension PredicateExpressions.SequenceAllSatisfy: TranslatableExpression {
    func term(in translation: PredicateTranslation) throws(StoreError) -> PredicateTerm {
        switch try translation.term(sequence) {
        case .objects(let way, let filter):
            let (name, test) = try translation.test(test, variable.key, of: filter)
            if filter == nil, case .comparison(let path, let operation, let value, let options) = test,
                path.variable == name
            {
                return .predicate(
                    .comparison(
                        way.appending(path.keyPath).expression, operation, value, options: options, modifier: .all),
                    isStrict: false)
            }
            let exception = !(try test.predicate())
            let both = filter.map { $0.predicate && exception } ?? exception
            return .predicate(.comparison(way.count(of: name, both), .equalTo, .value(0)), isStrict: false)
        case .constant(let values):
            return .all(try translation.tests(test, variable.key, of: values))
        default:
            throw PredicateTranslation.unsupported(
                "'allSatisfy(_:)' on a value that is neither a relationship nor a constant")
        }
    }
}

extension PredicateExpressions.Filter: TranslatableExpression {
    func term(in translation: PredicateTranslation) throws(StoreError) -> PredicateTerm {
        guard case .objects(let way, let outer) = try translation.term(sequence) else {
            throw PredicateTranslation.unsupported("'filter(_:)' on a value that is not a relationship")
        }
        let (name, test) = try translation.test(filter, variable.key, of: outer)
        let predicate = try test.predicate()
        return .objects(way, filter: (name, outer.map { $0.predicate && predicate } ?? predicate))
    }
}

extension PredicateTranslation {
    /// Translates a test of the objects of a relationship; returns it with the name of the object's variable.
    fileprivate func test(
        _ test: some PredicateExpression, _ variable: PredicateExpressions.VariableID,
        of filter: (variable: String, predicate: FetchPredicate)?
    ) throws(StoreError) -> (name: String, test: PredicateTerm) {
        let name = filter?.variable ?? nextVariable()
        return (name, try term(test, variable, is: .path(RootedPath(variable: name))))
    }

    /// Translates a test for each of several constants.
    fileprivate func tests(
        _ test: some PredicateExpression, _ variable: PredicateExpressions.VariableID, of values: Any
    ) throws(StoreError) -> [FetchPredicate] {
        guard let values = values as? any Sequence else {
            throw Self.unsupported("a value of the type '\(type(of: values))'")
        }
        var predicates: [FetchPredicate] = []
        for value in values {
            let element: Any = value
            predicates.append(try term(test, variable, is: .constant(of: element)).predicate())
        }
        return predicates
    }
}

// MARK: - Text

extension PredicateExpressions.CollectionContainsCollection: TranslatableExpression {
    func term(in translation: PredicateTranslation) throws(StoreError) -> PredicateTerm {
        guard Base.Output.self is any StringProtocol.Type else {
            throw PredicateTranslation.unsupported("'contains(_:)' with a collection other than a string")
        }
        return try .comparing(translation.term(base), .contains, translation.term(other))
    }
}

extension PredicateExpressions.SequenceStartsWith: TranslatableExpression {
    func term(in translation: PredicateTranslation) throws(StoreError) -> PredicateTerm {
        guard Base.Output.self is any StringProtocol.Type else {
            throw PredicateTranslation.unsupported("'starts(with:)' on a collection other than a string")
        }
        return try .comparing(translation.term(base), .beginsWith, translation.term(prefix))
    }
}

// MARK: - Ranges

extension PredicateExpressions.Range: TranslatableExpression {
    func term(in translation: PredicateTranslation) throws(StoreError) -> PredicateTerm {
        .range(
            lower: try translation.expression(lower), upper: try translation.expression(upper), includesUpper: false)
    }
}

extension PredicateExpressions.ClosedRange: TranslatableExpression {
    func term(in translation: PredicateTranslation) throws(StoreError) -> PredicateTerm {
        .range(lower: try translation.expression(lower), upper: try translation.expression(upper), includesUpper: true)
    }
}

extension PredicateExpressions.RangeExpressionContains: TranslatableExpression {
    func term(in translation: PredicateTranslation) throws(StoreError) -> PredicateTerm {
        guard case .range(let lower, let upper, let includesUpper) = try translation.term(range) else {
            throw PredicateTranslation.unsupported(
                "'contains(_:)' on a range of the type '\(RangeExpression.Output.self)'")
        }
        return try .isBetween(translation.term(element), lower, upper, includesUpper)
    }
}

extension PredicateTerm {
    static func isBetween(
        _ element: PredicateTerm, _ lower: FetchExpression?, _ upper: FetchExpression?, _ includesUpper: Bool
    ) throws(StoreError) -> PredicateTerm {
        let element = try element.expression()
        if let lower, let upper, includesUpper {
            return .predicate(.comparison(element, .between, .list([lower, upper])), isStrict: true)
        }
        var ends: [FetchPredicate] = []
        if let lower { ends.append(.comparison(element, .greaterThanOrEqualTo, lower)) }
        if let upper {
            ends.append(.comparison(element, includesUpper ? .lessThanOrEqualTo : .lessThan, upper))
        }
        return .all(ends)
    }
}

/// A range that the program passed in.
protocol ConstantRange {
    func term() throws(StoreError) -> PredicateTerm
}

extension ConstantRange {
    fileprivate func range(_ lower: Any?, _ upper: Any?, includesUpper: Bool) throws(StoreError) -> PredicateTerm {
        .range(
            lower: try lower.map { value throws(StoreError) in try PredicateTerm.expression(of: value) },
            upper: try upper.map { value throws(StoreError) in try PredicateTerm.expression(of: value) },
            includesUpper: includesUpper)
    }
}

extension Range: ConstantRange {
    func term() throws(StoreError) -> PredicateTerm { try range(lowerBound, upperBound, includesUpper: false) }
}

extension ClosedRange: ConstantRange {
    func term() throws(StoreError) -> PredicateTerm { try range(lowerBound, upperBound, includesUpper: true) }
}

extension PartialRangeFrom: ConstantRange {
    func term() throws(StoreError) -> PredicateTerm { try range(lowerBound, nil, includesUpper: false) }
}

extension PartialRangeUpTo: ConstantRange {
    func term() throws(StoreError) -> PredicateTerm { try range(nil, upperBound, includesUpper: false) }
}

extension PartialRangeThrough: ConstantRange {
    func term() throws(StoreError) -> PredicateTerm { try range(nil, upperBound, includesUpper: true) }
}
