import FaultlineModel
import Foundation

/// A predicate over the transactions or changes of a history, evaluated in memory.
struct HistoryPredicate {
    private let node: FetchPredicate.Node

    /// - Parameter keys: The keys that the predicate may use.
    /// - Throws: ``StoreError`` if it uses another key, or something that only objects have.
    init(_ predicate: FetchPredicate, keys: [String]) throws(StoreError) {
        node = predicate.node
        try Self.check(node, keys)
    }

    private static func check(_ node: FetchPredicate.Node, _ keys: [String]) throws(StoreError) {
        switch node {
        case .constant: break
        case .not(let node): try check(node, keys)
        case .and(let nodes), .or(let nodes): for node in nodes { try check(node, keys) }
        case .comparison(let comparison):
            guard case .path(let path) = comparison.left, comparison.modifier == .direct, comparison.right.isConstant
            else {
                throw StoreError(
                    .invalidRequest,
                    "Fetching history: '\(FetchPredicate(node))' does not compare a key with a constant; write the key on the left and a value on the right."
                )
            }
            guard keys.contains(path.text(values: true)) else {
                throw StoreError(
                    .invalidRequest,
                    "Fetching history: there is no key '\(path.text(values: true))'; use \(keys.dropLast().joined(separator: ", ")) or \(keys.last ?? "")."
                )
            }
        }
    }

    /// Whether it holds for something with these values.
    func holds(_ values: (String) -> SQLValue) -> Bool { Self.holds(node, values) }

    private static func holds(_ node: FetchPredicate.Node, _ values: (String) -> SQLValue) -> Bool {
        switch node {
        case .constant(let value): return value
        case .not(let node): return !holds(node, values)
        case .and(let nodes): return nodes.allSatisfy { holds($0, values) }
        case .or(let nodes): return nodes.contains { holds($0, values) }
        case .comparison(let comparison):
            guard case .path(let path) = comparison.left else { return false }
            let left = values(path.text(values: true))
            let evaluator = PredicateEvaluator()
            switch (comparison.operation, comparison.right) {
            case (.isIn, .list(let elements)):
                return elements.contains {
                    evaluator.compare(left, .equalTo, constant($0), comparison.options)
                }
            case (.between, .list(let bounds)) where bounds.count == 2:
                return evaluator.compare(left, .greaterThanOrEqualTo, constant(bounds[0]), [])
                    && evaluator.compare(left, .lessThanOrEqualTo, constant(bounds[1]), [])
            case (.equalTo, .null): return left == .null
            case (.notEqualTo, .null): return left != .null
            default:
                return evaluator.compare(left, comparison.operation, constant(comparison.right), comparison.options)
            }
        }
    }

    private static func constant(_ node: FetchExpression.Node) -> SQLValue {
        switch node {
        case .value(let value): SQLValue(value)
        case .object(let id): .text(id.text)
        default: .null
        }
    }
}

extension PersistentHistoryTransaction {
    static let keys = ["author", "contextName", "bundleID", "processID", "timestamp", "transactionNumber"]

    func value(_ key: String) -> SQLValue {
        switch key {
        case "author": author.map { .text($0) } ?? .null
        case "contextName": contextName.map { .text($0) } ?? .null
        case "bundleID": .text(bundleID)
        case "processID": .text(processID)
        case "timestamp": .real(timestamp.timeIntervalSinceReferenceDate)
        case "transactionNumber": .integer(transactionNumber)
        default: .null
        }
    }
}

extension PersistentHistoryChange {
    static let keys = ["changeID", "changeType", "changedObjectID", "changedEntity"]

    func value(_ key: String) -> SQLValue {
        switch key {
        case "changeID": .integer(changeID)
        case "changeType": .integer(Int64(changeType.rawValue))
        case "changedObjectID": .text(changedObjectID.text)
        case "changedEntity": .text(changedObjectID.entityName)
        default: .null
        }
    }
}
