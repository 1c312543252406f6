import FaultlineModel
import Foundation

extension FetchPredicate: CustomStringConvertible {
    /// The predicate in Core Data's predicate format, with its values.
    ///
    /// ``init(format:_:)`` reads it again, unless it names objects or binary data, for which the format has no words.
    public var description: String { node.text(values: true, isOutermost: true) }

    /// The predicate with `?` for its values: equal for predicates that differ in nothing else.
    package var shape: String { node.text(values: false, isOutermost: true) }
}

extension FetchExpression: CustomStringConvertible {
    /// The expression in Core Data's format, with its values: `sum:(milliseconds)`, `price * 2`.
    public var description: String { node.text(values: true) }
}

extension FetchPredicate.Node {
    /// A part of the text that is still to be written.
    private enum Piece {
        case node(FetchPredicate.Node, isOutermost: Bool)
        case text(String)
    }

    /// Written without recursion: a chain of terms may be longer than the stack is deep.
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

    /// Puts what a compound is written as on a stack, the last part first.
    private static func push(
        _ nodes: [FetchPredicate.Node], _ word: String, empty: String, _ isOutermost: Bool, on waiting: inout [Piece]
    ) {
        guard !nodes.isEmpty else { return waiting.append(.text(empty)) }
        if !isOutermost { waiting.append(.text(")")) }
        for (place, node) in nodes.enumerated().reversed() {
            waiting.append(.node(node, isOutermost: false))
            if place > 0 { waiting.append(.text(word)) }
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
        // The length of the list is a value too.
        if !values, operation == .isIn, case .list(let elements) = right, elements.allSatisfy(\.isConstant) {
            return "{?}"
        }
        return right.text(values: values)
    }
}

extension FetchExpression.Node {
    /// Whether it is the same for every object.
    var isConstant: Bool {
        switch self {
        case .value, .null, .object: true
        case .list(let elements): elements.allSatisfy(\.isConstant)
        case .path, .aggregate, .function, .conditional: false
        }
    }

    /// - Parameters:
    ///   - values: whether constants are told.
    ///   - strength: how tightly the operator binds whose operand this is.
    func text(values: Bool, inside strength: Int = 0) -> String {
        switch self {
        // That there is no value belongs to the shape: the statement is another one.
        case .null: return "nil"
        case .value(let value):
            let text = values ? Self.literal(value) : "?"
            return strength > 4 && text.hasPrefix("-") ? "(\(text))" : text
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
            // What stands on the right binds tighter, so that a - (b - c) keeps its parentheses; powers go from the
            // right.
            let (left, right) = self == .power ? (sign.strength + 1, sign.strength) : (sign.strength, sign.strength + 1)
            let text =
                "\(arguments[0].text(values: values, inside: left)) \(sign.text) \(arguments[1].text(values: values, inside: right))"
            return sign.strength < strength ? "(\(text))" : text
        }
        // Once for each argument: what is nested would be written twice as often at every depth.
        let list = { arguments.map { $0.text(values: values) }.joined(separator: ", ") }
        switch self {
        // As tight as a product: a base of a power keeps its parentheses.
        case .negate:
            let text = "-\(arguments[0].text(values: values, inside: 3))"
            return strength > 4 ? "(\(text))" : text
        case .castToDate: return "CAST(\(list()), \"NSDate\")"
        case .castToNumber: return "CAST(\(list()), \"NSNumber\")"
        default: return "\(rawValue)(\(list()))"
        }
    }
}
