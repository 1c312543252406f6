import Foundation

extension PredicateExpressions.Value: TranslatableExpression {
    func term(in translation: PredicateTranslation) throws(StoreError) -> PredicateTerm {
        switch value {
        case let range as any ConstantRange: try range.term()
        default: .constant(of: value)
        }
    }
}

extension PredicateExpressions.NilLiteral: TranslatableExpression {
    func term(in translation: PredicateTranslation) throws(StoreError) -> PredicateTerm { .null }
}

extension PredicateExpressions.Variable: TranslatableExpression {
    func term(in translation: PredicateTranslation) throws(StoreError) -> PredicateTerm {
        try translation.value(of: key)
    }
}

extension PredicateExpressions.KeyPath: TranslatableExpression {
    func term(in translation: PredicateTranslation) throws(StoreError) -> PredicateTerm {
        switch try translation.term(root) {
        case .path(let way): return try step(from: way)
        case .objects(let way, let filter): return try collectionTerm(of: way, filter)
        case .constant(let value):
            guard let root = value as? Root.Output else { break }
            return .constant(of: root[keyPath: keyPath])
        default: break
        }
        throw PredicateTranslation.unsupported(name)
    }

    /// Follows one step of a path to a property.
    private func step(from way: RootedPath) throws(StoreError) -> PredicateTerm {
        guard let entity = Root.Output.self as? any Entity.Type else {
            // Strings are compared by bytes, so emptiness means the same in Swift and in SQL; the length does not.
            if Root.Output.self == String.self, kind == .collectionIsEmpty {
                return .comparison(way, .equalTo, .value(""), [])
            }
            throw PredicateTranslation.unsupported(name)
        }
        if let name = entity.entityDeclaration.propertyNames[keyPath] {
            let next = way.appending(name)
            return Output.self is any ObjectCollection.Type ? .objects(next, filter: nil) : .path(next)
        }
        if entity.isObjectID(keyPath) { return .path(way) }
        throw PredicateTranslation.unsupported("\(name), which is not a property of the entity '\(entity.entityName)'")
    }

    /// The key path's name in messages; a key path to a computed property does not reveal the property's name.
    private var name: String {
        switch kind {
        case .collectionCount: "'count'"
        case .collectionIsEmpty: "'isEmpty'"
        case .collectionFirst: "'first'"
        case .bidirectionalCollectionLast: "'last'"
        default: "a key path from '\(Root.Output.self)' to '\(Output.self)'"
        }
    }

    private func collectionTerm(
        of way: RootedPath, _ filter: (variable: String, predicate: FetchPredicate)?
    ) throws(StoreError) -> PredicateTerm {
        // A filter turns a relationship into an array.
        let type = Root.Output.self as? any ObjectCollection.Type
        if kind == .collectionCount || keyPath == type?.countKeyPath {
            return .expression(Self.count(of: way, filter))
        }
        if kind == .collectionIsEmpty || keyPath == type?.isEmptyKeyPath {
            return .predicate(.comparison(Self.count(of: way, filter), .equalTo, .value(0)), isStrict: false)
        }
        throw PredicateTranslation.unsupported(name)
    }

    private static func count(
        of way: RootedPath, _ filter: (variable: String, predicate: FetchPredicate)?
    ) -> FetchExpression {
        guard let filter else { return way.appending("@count").expression }
        return way.count(of: filter.variable, filter.predicate)
    }
}

extension RootedPath {
    /// The number of objects at the end of the path for which a predicate holds.
    func count(of variable: String, _ predicate: FetchPredicate) -> FetchExpression {
        .subquery(expression, variable, predicate, keyPath: "@count")
    }
}

extension Entity {
    fileprivate static func isObjectID(_ keyPath: AnyKeyPath) -> Bool { keyPath == \Self.objectID }
}

/// The Swift type of a to-many relationship.
private protocol ObjectCollection {
    static var countKeyPath: AnyKeyPath { get }
    static var isEmptyKeyPath: AnyKeyPath { get }
}

extension ToMany: ObjectCollection {
    fileprivate static var countKeyPath: AnyKeyPath { \Self.count }
    fileprivate static var isEmptyKeyPath: AnyKeyPath { \Self.isEmpty }
}

extension OrderedToMany: ObjectCollection {
    fileprivate static var countKeyPath: AnyKeyPath { \Self.count }
    fileprivate static var isEmptyKeyPath: AnyKeyPath { \Self.isEmpty }
}

extension PredicateExpressions.OptionalFlatMap: TranslatableExpression {
    /// Applies the transform to the value at the end of a path; without a value, the result is nil.
    func term(in translation: PredicateTranslation) throws(StoreError) -> PredicateTerm {
        let wrapped = try translation.term(wrapped)
        if case .null = wrapped { return .null }
        let result = try translation.term(transform, variable.key, is: wrapped)
        guard case .path(let way) = wrapped else { return result }
        switch result {
        // If the path ends early, SQL yields NULL or false on its own.
        case .path, .objects, .null, .range, .anyComparison, .predicate(_, isStrict: true): return result
        case .comparison(_, let operation, let value, _) where operation != .notEqualTo && value != .null:
            return result
        case .comparison, .predicate, .one, .constant(_ as Bool):
            return .all([way].exist + [try result.predicate()])
        case .all(let predicates): return .all([way].exist + predicates)
        case .expression, .constant:
            return .optional(try result.expression(), along: [way])
        case .optional(let value, let ways): return .optional(value, along: [way] + ways)
        }
    }
}

extension PredicateExpressions.ForcedUnwrap: TranslatableExpression {
    func term(in translation: PredicateTranslation) throws(StoreError) -> PredicateTerm { try translation.term(inner) }
}

extension PredicateExpressions.NilCoalesce: TranslatableExpression {
    func term(in translation: PredicateTranslation) throws(StoreError) -> PredicateTerm {
        let left = try translation.term(lhs)
        let right = try translation.term(rhs)
        switch (left, right) {
        case (.null, _): return right
        case (.constant, _): return left
        // A condition with a missing value is already false.
        case (_, .constant(false as Bool)) where left.isCondition: return left
        case _ where left.isCondition:
            throw PredicateTranslation.unsupported("'??' after a condition with something other than 'false'")
        case (.optional(let value, let ways), _):
            return .expression(.conditional(.and(ways.exist), value, try right.expression()))
        default:
            let value = try left.expression()
            return .expression(
                .conditional(.comparison(value, .notEqualTo, .null), value, try right.expression()))
        }
    }
}

extension PredicateExpressions.Conditional: TranslatableExpression {
    func term(in translation: PredicateTranslation) throws(StoreError) -> PredicateTerm {
        .expression(
            .conditional(
                try translation.predicate(test), try translation.expression(trueBranch),
                try translation.expression(falseBranch)))
    }
}
