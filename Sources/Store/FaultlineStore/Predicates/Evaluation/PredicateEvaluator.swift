import FaultlineModel
import Foundation

/// Evaluates predicates for objects in memory, including unsaved changes.
///
/// The result is the one that SQL would return after a save: values are compared as SQLite compares their stored form.
/// Used by fetches that take unsaved changes into account, and by ``FetchedResultsController``. Key paths fire faults.
///
/// The predicate must have been translated to SQL before, which rejects invalid comparisons.
struct PredicateEvaluator {
    /// The value of `now()`.
    private let now: Date
    /// The variables of the enclosing subqueries with their objects, innermost last.
    private var variables: [(name: String, object: ManagedObject)] = []

    init(now: Date = Date()) {
        self.now = now
    }

    func holds(_ predicate: FetchPredicate.Node, for object: ManagedObject) -> Bool {
        switch predicate {
        case .constant(let value): return value
        case .not(let node): return !holds(node, for: object)
        case .and: return predicate.allTerms.allSatisfy { holds($0, for: object) }
        case .or: return predicate.allTerms.contains { holds($0, for: object) }
        case .comparison(let comparison): return holds(comparison, for: object)
        }
    }

    private func holds(_ comparison: FetchPredicate.Comparison, for object: ManagedObject) -> Bool {
        guard case .path(let path) = comparison.left, isCollection(path, for: object) else {
            return compare(value(comparison.left, for: object), comparison, for: object)
        }
        let elements = values(of: path, for: object)
        switch comparison.modifier {
        case .direct:
            // CONTAINS
            var inner = comparison
            inner.operation = .equalTo
            return elements.contains { compare($0, inner, for: object) }
        case .any: return elements.contains { compare($0, comparison, for: object) }
        case .none: return !elements.contains { compare($0, comparison, for: object) }
        case .all: return elements.allSatisfy { compare($0, comparison, for: object) }
        }
    }

    // MARK: - Comparisons

    private func compare(
        _ left: SQLValue, _ comparison: FetchPredicate.Comparison, for object: ManagedObject
    ) -> Bool {
        let operation = comparison.operation
        switch (operation, comparison.right) {
        case (.equalTo, .null): return left == .null
        case (.notEqualTo, .null): return left != .null
        case (.isIn, .list(let elements)):
            return elements.contains { element in
                isEqual(left, value(element, for: object, comparedWith: left), comparison.options)
            }
        case (.isIn, .path(let path)) where isCollection(path, for: object):
            return values(of: path, for: object).contains { isEqual($0, left, comparison.options) }
        case (.between, .list(let bounds)) where bounds.count == 2:
            let (lower, upper) = (value(bounds[0], for: object), value(bounds[1], for: object))
            guard left != .null, lower != .null, upper != .null else { return false }
            return left.order(lower) >= 0 && left.order(upper) <= 0
        default: break
        }
        return compare(left, operation, value(comparison.right, for: object, comparedWith: left), comparison.options)
    }

    /// Compares two values that are no lists.
    func compare(
        _ left: SQLValue, _ operation: FetchPredicate.Operator, _ right: SQLValue, _ options: TextOptions
    ) -> Bool {
        if operation.isText || operation == .isIn {
            guard case .text(let text) = left, case .text(let pattern) = right else { return false }
            return operation == .isIn ? isFound(text, in: pattern, options) : fits(text, operation, pattern, options)
        }
        if operation == .equalTo { return isEqual(left, right, options) }
        if operation == .notEqualTo { return !isEqual(left, right, options) }
        guard left != .null, right != .null else { return false }
        let order = order(left, right, options)
        switch operation {
        case .lessThan: return order < 0
        case .lessThanOrEqualTo: return order <= 0
        case .greaterThan: return order > 0
        case .greaterThanOrEqualTo: return order >= 0
        default: return false
        }
    }

    private func isEqual(_ left: SQLValue, _ right: SQLValue, _ options: TextOptions) -> Bool {
        left != .null && right != .null && order(left, right, options) == 0
    }

    private func order(_ left: SQLValue, _ right: SQLValue, _ options: TextOptions) -> Int {
        guard !options.isEmpty, case .text(var text) = left, case .text(let other) = right else {
            return left.order(right)
        }
        return Int(text.withUTF8 { TextPattern(other, options).order(of: $0) })
    }

    private func isFound(_ wanted: String, in text: String, _ options: TextOptions) -> Bool {
        var text = text
        return text.withUTF8 { TextPattern(wanted, options).isFound(in: $0) }
    }

    private func fits(
        _ text: String, _ operation: FetchPredicate.Operator, _ pattern: String, _ options: TextOptions
    ) -> Bool {
        switch operation {
        case .beginsWith: isFound(pattern, in: text, options.union(.anchored))
        case .endsWith: isFound(pattern, in: text, options.union([.anchored, .backwards]))
        case .contains: isFound(pattern, in: text, options)
        case .like: TextPattern(pattern, options).fitsWildcards(text)
        default: TextPattern(pattern, options, isExpression: true).fitsExpression(text) ?? false
        }
    }

    // MARK: - Expressions

    /// Returns the value of an expression.
    ///
    /// - Parameter other: The value it is compared with.
    private func value(
        _ node: FetchExpression.Node, for object: ManagedObject, comparedWith other: SQLValue
    ) -> SQLValue {
        // A string that is compared with a UUID is parsed as one.
        if case .blob = other, case .value(.string(let text)) = node, let uuid = UUID(uuidString: text) {
            return SQLValue(.uuid(uuid))
        }
        return value(node, for: object)
    }

    /// The value of an expression.
    func value(_ node: FetchExpression.Node, for object: ManagedObject) -> SQLValue {
        switch node {
        case .value(let value): return SQLValue(value)
        case .null, .list: return .null
        case .object(let id):
            return id.store === object.runtime.store.identity ? Self.reference(id.key, id.entity) : .integer(.min)
        case .path(let path):
            if let (collection, name, names) = path.collectionOperator,
                let function = FetchPath.CollectionOperator(rawValue: name)?.function
            {
                var whole = collection
                whole.names += names
                return Self.aggregate(function, values(of: whole, for: object))
            }
            return values(of: path, for: object).first ?? .null
        case .aggregate(let function, .path(let path)):
            return Self.aggregate(function, values(of: path, for: object))
        case .aggregate: return .null
        case .function(let function, let arguments):
            return function.value(
                arguments.map { value($0, for: object) }, isReal: arguments.contains { isDecimal($0, for: object) },
                now: now)
        case .conditional(let predicate, let first, let second):
            return value(holds(predicate, for: object) ? first : second, for: object)
        }
    }

    /// Identifies an object within its store; keys are unique per inheritance tree.
    private static func reference(_ key: Int64, _ entity: EntitySchema) -> SQLValue {
        .integer(key &* 65536 &+ Int64(entity.root))
    }

    private static func reference(_ object: ManagedObject) -> SQLValue {
        reference(object.key, object.runtime.schema)
    }

    /// Aggregates values as SQLite does, ignoring missing ones.
    private static func aggregate(_ function: FetchExpression.Function, _ values: [SQLValue]) -> SQLValue {
        let values = values.filter { $0 != .null }
        let sum = { values.reduce(0) { $0 + ($1.number ?? 0) } }
        switch function {
        case .count: return .integer(Int64(values.count))
        case .sum: return .real(sum())
        case .average: return values.isEmpty ? .null : .real(sum() / Double(values.count))
        case .minimum: return values.min { $0.order($1) < 0 } ?? .null
        case .maximum: return values.max { $0.order($1) < 0 } ?? .null
        }
    }

    /// Whether an expression's values are decimals, regardless of how the store represents them.
    private func isDecimal(_ node: FetchExpression.Node, for object: ManagedObject) -> Bool {
        switch node {
        case .value(.decimal): return true
        case .value, .null, .object, .list: return false
        case .path(let path):
            guard path.collectionOperator?.operator != FetchPath.CollectionOperator.count.rawValue else { return false }
            return lastProperty(of: path, for: object)?.attributeType == .decimal
        case .aggregate(let function, let node): return function != .count && isDecimal(node, for: object)
        case .function(let function, let arguments):
            switch function {
            case .add, .subtract, .multiply, .divide, .modulus, .negate, .absoluteValue, .ceiling, .floor, .truncate,
                .castToNumber:
                return arguments.contains { isDecimal($0, for: object) }
            default: return false
            }
        case .conditional(_, let first, let second):
            return isDecimal(first, for: object) || isDecimal(second, for: object)
        }
    }

    // MARK: - Paths

    private func start(of path: FetchPath, for object: ManagedObject) -> [ManagedObject] {
        switch path.root {
        case .object: return [object]
        case .variable(let name): return variables.last { $0.name == name }.map { [$0.object] } ?? []
        case .subquery(let collection, let variable, let predicate):
            return objects(of: collection, for: object).filter { member in
                var inner = self
                inner.variables.append((variable, member))
                return inner.holds(predicate, for: object)
            }
        }
    }

    /// The objects at the end of a path.
    private func objects(of path: FetchPath, for object: ManagedObject) -> [ManagedObject] {
        follow(path.names[...], from: start(of: path, for: object))
    }

    private func follow(_ names: ArraySlice<String>, from objects: [ManagedObject]) -> [ManagedObject] {
        var objects = objects
        for name in names {
            objects = objects.flatMap { object -> [ManagedObject] in
                guard let property = object.runtime.schema.property(name) else { return [] }
                if property.isToMany { return Array(object.members(property.index)) }
                return object.toOne(property.index).map { [$0] } ?? []
            }
        }
        return objects
    }

    /// The values at the end of a path, one for each object that the path reaches.
    private func values(of path: FetchPath, for object: ManagedObject) -> [SQLValue] {
        let objects = start(of: path, for: object)
        guard let last = path.names.last else { return objects.map(Self.reference) }
        let owners = follow(path.names.dropLast(), from: objects)
        return owners.flatMap { owner -> [SQLValue] in
            guard let property = owner.runtime.schema.property(last) else { return [Self.reference(owner)] }
            switch property.kind {
            case .attribute: return [owner.evaluatedValue(property.index).map { SQLValue($0) } ?? .null]
            case .toOne: return [owner.toOne(property.index).map(Self.reference) ?? .null]
            case .toMany, .manyToMany: return owner.members(property.index).map(Self.reference)
            }
        }
    }

    private func isCollection(_ path: FetchPath, for object: ManagedObject) -> Bool {
        switch path.root {
        case .object: path.isCollection(from: object.runtime.schema, object.runtime.model)
        case .variable(let name):
            variables.last { $0.name == name }.map {
                path.isCollection(from: $0.object.runtime.schema, $0.object.runtime.model)
            } ?? false
        case .subquery: path.collectionOperator == nil
        }
    }

    private func lastProperty(of path: FetchPath, for object: ManagedObject) -> PropertySchema? {
        let model = object.runtime.model
        var entity: EntitySchema
        var names = path.names
        switch path.root {
        case .object: entity = object.runtime.schema
        case .variable(let name):
            guard let known = variables.last(where: { $0.name == name }) else { return nil }
            entity = known.object.runtime.schema
        case .subquery(let collection, _, _):
            guard let property = lastProperty(of: collection, for: object), property.isRelationship else { return nil }
            entity = model.entities[property.destination]
        }
        names.removeAll { $0.hasPrefix("@") }
        var found: PropertySchema?
        for name in names {
            found = entity.property(name)
            guard let found, found.isRelationship else { break }
            entity = model.entities[found.destination]
        }
        return found
    }

    /// Returns the value at the end of a key path as a constant.
    ///
    /// - Throws: ``StoreError`` if the entity has no such property, or if the path goes through a to-many relationship.
    func constant(_ names: [String], of object: ManagedObject) throws(StoreError) -> FetchExpression.Node {
        var current: ManagedObject? = object
        var entity = object.runtime.schema
        let model = object.runtime.model
        for (position, name) in names.enumerated() {
            guard let property = entity.property(name), !property.isToMany,
                property.isRelationship || position == names.count - 1
            else {
                throw StoreError(
                    .invalidRequest,
                    "'\(names.joined(separator: "."))' is not the key path of an attribute or a to-one relationship of \(object.entityName); correct it."
                )
            }
            guard property.isRelationship else {
                return current?.evaluatedValue(property.index).map { .value($0) } ?? .null
            }
            current = current?.toOne(property.index)
            entity = current?.runtime.schema ?? model.entities[property.destination]
        }
        return current.map { .object($0.objectID) } ?? .null
    }
}

extension FetchPath {
    /// Whether the path, from an entity, goes through a to-many relationship and has no collection operator.
    func isCollection(from entity: EntitySchema, _ model: ModelSchema) -> Bool {
        guard collectionOperator == nil else { return false }
        var entity = entity
        for name in names {
            guard let property = entity.property(name), property.isRelationship else { return false }
            if property.isToMany { return true }
            entity = model.entities[property.destination]
        }
        return false
    }
}

extension ManagedObject {
    /// An attribute's value for a predicate or a sort key; reading it does not count as a use.
    final func evaluatedValue(_ index: Int) -> AttributeValue? {
        if flags.contains(.isFault), !flags.contains(.isDetached) { _ = managedObjectContext.fire(self) }
        switch pending?[index] ?? .unchanged {
        case .value(let value): return value
        case .null, .object: return nil
        case .unchanged: return storedValue(index)
        }
    }
}
