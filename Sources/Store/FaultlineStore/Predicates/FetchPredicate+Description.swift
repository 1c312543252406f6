import FaultlineModel
import Foundation

extension FetchPredicate: CustomStringConvertible {
    /// The predicate in Core Data's predicate format, with its values.
    ///
    /// ``init(format:_:)`` parses it, unless it contains objects or binary data, which the format cannot express.
    public var description: String { node.text(values: true, isOutermost: true) }

    /// The predicate with `?` for its values: equal for predicates that differ only in their values.
    package var shape: String { node.text(values: false, isOutermost: true) }
}

extension FetchExpression: CustomStringConvertible {
    /// The expression in Core Data's format, with its values: `sum:(milliseconds)`, `price * 2`.
    public var description: String { node.text(values: true) }
}

extension FetchPredicate.Node {
    /// A part of the text that remains to be written.
    private enum Piece {
        case node(FetchPredicate.Node, isOutermost: Bool)
        case text(String)
    }

    /// Formats without recursion, because a chain of terms can be deeper than the stack.
    func text(values: Bool, isOutermost: Bool) -> String {
        var text = ""
        var waiting: [Piece] = [.node(self, isOutermost: isOutermost)]
        while let piece = waiting.popLast() {
            switch piece {
            case .text(let part): text += part
            case .node(.and(let nodes), let isOutermost):
                Self.push(nodes, " AND ", empty: "TRUEPREDICATE", isOutermost, on: &waiting)
            case .node(.or(let nodes), let isOutermost):
                Self.push(nodes, " OR ", empty: "FALSEPREDICATE", isOutermost, on: &waiting)
            case .node(.not(let node), _):
                text += "NOT "
                waiting.append(.node(node, isOutermost: false))
            case .node(.comparison(let comparison), _): text += comparison.text(values: values)
            case .node(.constant(let value), _): text += value ? "TRUEPREDICATE" : "FALSEPREDICATE"
            }
        }
        return text
    }

    /// Pushes the parts of a compound's text on a stack, the last part first.
    private static func push(
        _ nodes: [FetchPredicate.Node], _ word: String, empty: String, _ isOutermost: Bool, on waiting: inout [Piece]
    ) {
        guard !nodes.isEmpty else { return waiting.append(.text(empty)) }
        if !isOutermost { waiting.append(.text(")")) }
        for (position, node) in nodes.enumerated().reversed() {
            waiting.append(.node(node, isOutermost: false))
            if position > 0 { waiting.append(.text(word)) }
        }
        if !isOutermost { waiting.append(.text("(")) }
    }
}

extension FetchPredicate.Comparison {
    func text(values: Bool) -> String {
        let prefix = modifier == .direct ? "" : modifier.rawValue + " "
        return
            "\(prefix)\(left.text(values: values)) \(operation.rawValue)\(options.suffix) \(rightText(values: values))"
    }

    private func rightText(values: Bool) -> String {
        // The shape omits the length of a list too.
        if !values, operation == .isIn, case .list(let elements) = right, elements.allSatisfy(\.isConstant) {
            return "{?}"
        }
        return right.text(values: values)
    }
}

extension FetchExpression.Node {
    /// Whether the value is the same for every object.
    var isConstant: Bool {
        switch self {
        case .value, .null, .object: true
        case .list(let elements): elements.allSatisfy(\.isConstant)
        case .path, .aggregate, .function, .conditional: false
        }
    }

    /// Formats the expression.
    ///
    /// - Parameters:
    ///   - values: Whether to include constants.
    ///   - strength: The precedence of the operator whose operand this is.
    func text(values: Bool, inside strength: Int = 0) -> String {
        switch self {
        // `nil` is part of the shape, because it changes the statement.
        case .null: return "nil"
        case .value(let value):
            let text = values ? Self.literal(value) : "?"
            return strength > ScalarFunction.powerStrength && text.hasPrefix("-") ? "(\(text))" : text
        case .object(let id): return values ? id.description : "?"
        case .list(let elements):
            return "{" + elements.map { $0.text(values: values) }.joined(separator: ", ") + "}"
        case .path(let path): return path.text(values: values)
        case .aggregate(let function, let node): return "\(function.rawValue)(\(node.text(values: values)))"
        case .function(let function, let arguments): return function.text(arguments, values: values, inside: strength)
        case .conditional(let predicate, let first, let second):
            let condition = predicate.text(values: values, isOutermost: true)
            return "TERNARY(\(condition), \(first.text(values: values)), \(second.text(values: values)))"
        }
    }

    private static func literal(_ value: AttributeValue) -> String {
        switch value {
        case .string(let text): PredicateWord.quoted(text)
        case .uri(let url): PredicateWord.quoted(url.absoluteString)
        case .uuid(let uuid): "CAST(\"\(uuid.uuidString)\", \"NSUUID\")"
        default: value.description
        }
    }
}

extension ScalarFunction {
    fileprivate func text(_ arguments: [FetchExpression.Node], values: Bool, inside strength: Int) -> String {
        if let sign, arguments.count == 2 {
            // The right operand needs a higher precedence, so a - (b - c) keeps its parentheses; powers are
            // right-associative.
            let (left, right) = self == .power ? (sign.strength + 1, sign.strength) : (sign.strength, sign.strength + 1)
            let text =
                "\(arguments[0].text(values: values, inside: left)) \(sign.text) \(arguments[1].text(values: values, inside: right))"
            return sign.strength < strength ? "(\(text))" : text
        }
        // Evaluated at most once: formatting nested arguments twice would double the work at every level.
        let list = { arguments.map { $0.text(values: values) }.joined(separator: ", ") }
        switch self {
        // The base of a power keeps its parentheses.
        case .negate, .onesComplement:
            let operand = arguments[0].text(values: values, inside: Self.prefixStrength)
            let text = (self == .negate ? "-" : "~") + operand
            return strength > Self.powerStrength ? "(\(text))" : text
        case .castToDate: return "CAST(\(list()), \"NSDate\")"
        case .castToNumber: return "CAST(\(list()), \"NSNumber\")"
        default: return "\(rawValue)(\(list()))"
        }
    }
}
