import FaultlineModel
import Foundation

extension SQLGenerator {
    mutating func textComparison(
        _ left: SQLOperand, _ operation: FetchPredicate.Operator, _ node: FetchExpression.Node, _ options: TextOptions
    ) throws(StoreError) -> String {
        func check(_ side: SQLOperand) throws(StoreError) {
            guard side.attributeType?.domain == .text else {
                throw invalid(
                    "'\(side.text)' cannot be compared by \(operation.rawValue)\(options.suffix), which is for text.")
            }
        }
        try check(left)
        guard case .value(let value) = node else {
            if operation == .matches {
                throw invalid(
                    "'\(left.text)' is compared by MATCHES with '\(node.text(values: false))', but the pattern must be a constant."
                )
            }
            let right = try operand(node, comparedWith: left)
            try check(right)
            return textComparison(left, operation, right.sql, isOptional: right.isOptional, options)
        }
        guard let text = value.text else {
            throw invalid(
                "'\(left.text)' cannot be compared by \(operation.rawValue)\(options.suffix), which is for text.")
        }
        if options == .canonical, operation != .matches, let canonical = left.canonical {
            // The folded text is compared exactly, which lets SQLite use an index on it.
            var left = left
            left.sql = canonical
            return try textComparison(left, operation, .value(.string(options.fold(text))), [])
        }
        if operation == .beginsWith, options.isEmpty, left.property != nil {
            // Every string begins with the empty string.
            if text.isEmpty { return "\(left.sql) IS NOT NULL" }
            if let end = Self.successor(ofPrefix: text) {
                // A range, for which SQLite can use an index on the column.
                values.append(.text(text))
                values.append(.text(end))
                return "(\(left.sql) >= ? AND \(left.sql) < ?)"
            }
        }
        if operation == .matches, (try? NSRegularExpression(pattern: text)) == nil {
            throw invalid("\"\(text)\" is not a valid regular expression; correct it.")
        }
        values.append(.text(text))
        return textComparison(left, operation, "?", isOptional: false, options)
    }

    private func textComparison(
        _ left: SQLOperand, _ operation: FetchPredicate.Operator, _ right: String, isOptional: Bool,
        _ options: TextOptions
    ) -> String {
        switch operation {
        case .beginsWith: return Self.search(left.sql, right, options.union(.anchored))
        case .endsWith: return Self.search(left.sql, right, options.union([.anchored, .backwards]))
        case .contains: return Self.search(left.sql, right, options)
        case .isIn: return Self.search(right, left.sql, options)
        case .like: return " FaultlineStringLike(\(left.sql), \(right), \(options.rawValue))"
        case .matches: return " FaultlineStringMatch(\(left.sql), \(right), \(options.rawValue))"
        case .equalTo where options.isEmpty: return "\(left.sql) = \(right)"
        case .notEqualTo where options.isEmpty && !isOptional:
            return "(\(left.sql) <> \(right) OR \(left.sql) IS NULL)"
        case .lessThan where options.isEmpty, .lessThanOrEqualTo where options.isEmpty,
            .greaterThan where options.isEmpty, .greaterThanOrEqualTo where options.isEmpty:
            return "\(left.sql) \(operation.rawValue) \(right)"
        case .equalTo: return " FaultlineStringCompare(\(left.sql), \(right), \(options.rawValue)) = 0"
        case .notEqualTo:
            return " IFNULL(FaultlineStringCompare(\(left.sql), \(right), \(options.rawValue)), 1) <> 0"
        case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .between:
            return " FaultlineStringCompare(\(left.sql), \(right), \(options.rawValue)) \(operation.rawValue) 0"
        }
    }

    /// Calls Core Data's function that searches a text for another.
    static func search(_ text: String, _ wanted: String, _ options: TextOptions) -> String {
        " NSCoreDataStringSearch(\(text), \(wanted), \(options.rawValue), 0)"
    }

    /// The smallest string greater than every string with the prefix; `nil` if there is none.
    static func successor(ofPrefix prefix: String) -> String? {
        var scalars = Array(prefix.unicodeScalars)
        while let last = scalars.popLast() {
            // Skip the surrogates after U+D7FF, which are not valid scalars.
            let next = last.value == 0xd7ff ? 0xe000 : last.value + 1
            guard let scalar = Unicode.Scalar(next) else { continue }
            scalars.append(scalar)
            var text = String.UnicodeScalarView()
            text.append(contentsOf: scalars)
            return String(text)
        }
        return nil
    }
}

extension AttributeValue {
    /// The text of a string or a URI; `nil` for other constants.
    var text: String? {
        switch self {
        case .string(let text): text
        case .uri(let url): url.absoluteString
        default: nil
        }
    }
}
