import FaultlineModel
import Foundation

/// Parsing of values, key paths and functions.
extension PredicateParser {
    mutating func operand() throws(Failure) -> Parsed {
        let start = position
        let parsed = try bareOperand()
        guard case .expression(let node) = parsed else { return parsed }
        return .expression(try followed(node, at: start))
    }

    private mutating func bareOperand() throws(Failure) -> Parsed {
        let start = position
        switch token {
        case .integer(let value): return try constant(.value(.integer(value)))
        case .real(let value): return try constant(.value(.double(value)))
        case .text(let text): return try constant(.value(.string(text)))
        case .variable(let name):
            try advance()
            return .expression(.path(FetchPath(root: .variable(name), keyPath: "")))
        case .argument(let letter):
            let node = try argument(letter)
            return try constant(node)
        case .name(let name):
            try advance()
            if token == .sign("(") || token == .sign(":") { return .expression(try call(name, at: start)) }
            return .expression(.path(FetchPath(root: .object, keyPath: name)))
        case .word(let word): return try operand(word)
        case .sign("("): return try parenthesized()
        case .sign("{"):
            try advance()
            return .expression(.list(try list(until: "}")))
        default: throw expected("a value")
        }
    }

    private mutating func constant(_ node: FetchExpression.Node) throws(Failure) -> Parsed {
        try advance()
        return .expression(node)
    }

    private mutating func operand(_ word: PredicateWord) throws(Failure) -> Parsed {
        switch word {
        case .null, .nilWord: return try constant(.null)
        case .trueWord, .yes: return try constant(.value(.boolean(true)))
        case .falseWord, .no: return try constant(.value(.boolean(false)))
        case .itself: return try constant(.path(FetchPath("self")))
        case .cast: return .expression(try cast())
        case .function: return .expression(try functionCall())
        case .subquery: return .expression(try subquery())
        case .ternary: return .expression(try ternary())
        case .union, .intersect, .minus:
            throw Failure(
                position: position, message: "expected a value but found \(word.rawValue), which fetches do not support"
            )
        default: throw expected("a value")
        }
    }

    private mutating func parenthesized() throws(Failure) -> Parsed {
        try advance()
        return try nested { (parser) throws(Failure) in
            let start = parser.position
            let parsed = try parser.disjunction()
            if parser.token == .sign(",") {
                let first = try parser.expression(parsed, at: start)
                try parser.advance()
                return .expression(.list([first] + (try parser.list(until: ")"))))
            }
            try parser.take(")")
            return parsed
        }
    }

    private mutating func list(until end: String) throws(Failure) -> [FetchExpression.Node] {
        var elements: [FetchExpression.Node] = []
        if try takes(.sign(end)) { return elements }
        while true {
            elements.append(try element())
            guard try takes(.sign(",")) else { break }
        }
        guard token == .sign(end) else { throw expected("',' or '\(end)'") }
        try advance()
        return elements
    }

    private mutating func element() throws(Failure) -> FetchExpression.Node {
        let start = position
        return try nested { (parser) throws(Failure) in try parser.expression(try parser.arithmetic(), at: start) }
    }

    // MARK: - Key paths

    /// Parses what follows a value: more names of a key path, or an index.
    private mutating func followed(
        _ node: FetchExpression.Node, at start: Int
    ) throws(Failure) -> FetchExpression.Node {
        var node = node
        while true {
            if token == .sign("[") {
                try advance()
                guard token == .word(.size), case .path(var path) = node else { throw unsupportedIndex(of: node) }
                try advance()
                try take("]")
                path.names.append("@count")
                node = .path(path)
            } else if token == .sign(".") {
                guard case .path(var path) = node else {
                    throw Failure(position: position, message: "expected an operator but found '.' after a value")
                }
                try advance()
                path.names.append(try name())
                node = .path(path)
            } else {
                return node
            }
        }
    }

    /// The error for an index other than SIZE, such as FIRST or a number, which Core Data's SQLite store refuses as well.
    private func unsupportedIndex(of node: FetchExpression.Node) -> Failure {
        var failure = expected("SIZE, the only index that fetches support,")
        guard case .path(let path) = node, let name = path.names.last else { return failure }
        let collection = path.text(values: false)
        failure.remedy =
            "compare all objects of '\(name)' with ANY, or keep their positions in an attribute and write SUBQUERY(\(collection), $x, $x.position == 0 AND …).@count > 0"
        return failure
    }

    /// Parses a name in a key path; after a dot, reserved words are names too.
    private mutating func name() throws(Failure) -> String {
        switch token {
        case .name(let name):
            try advance()
            return name
        case .word(let word):
            let name = lexer.source(from: position, count: word.rawValue.utf8.count)
            try advance()
            return name
        default: throw expected("the name of a property")
        }
    }

    // MARK: - Functions

    /// Parses a function call by name: `sum(items.price)`, `modulus:by:(a, b)`.
    private mutating func call(_ first: String, at start: Int) throws(Failure) -> FetchExpression.Node {
        var selector = first
        while try takes(.sign(":")) {
            selector += ":"
            if case .name(let name) = token {
                selector += name
                try advance()
            }
        }
        try take("(")
        return try function(selector, try list(until: ")"), at: start)
    }

    /// Parses `FUNCTION(argument, 'name', …)`.
    private mutating func functionCall() throws(Failure) -> FetchExpression.Node {
        try advance()
        try take("(")
        let first = try element()
        try take(",")
        let start = position
        guard case .text(let selector) = token else { throw expected("the name of a function in quotes") }
        try advance()
        var arguments = [first]
        while try takes(.sign(",")) { arguments.append(try element()) }
        try take(")")
        return try function(Self.methods[selector] ?? selector, arguments, at: start)
    }

    /// Methods of Foundation classes that exist as functions in SQL.
    private static let methods = [
        "uppercaseString": "uppercase:", "lowercaseString": "lowercase:", "length": "length:",
        "absoluteValue": "abs:", "abs": "abs:",
    ]

    private func function(
        _ selector: String, _ arguments: [FetchExpression.Node], at start: Int
    ) throws(Failure) -> FetchExpression.Node {
        let name = selector.hasSuffix(":") || selector == "now" ? selector : selector + ":"
        if let function = FetchExpression.Function(rawValue: name == "avg:" ? "average:" : name) {
            guard arguments.count == 1, !arguments[0].isConstant else {
                throw Failure(position: start, message: "expected one key path in '\(selector)'")
            }
            return .aggregate(function, arguments[0])
        }
        if name == "noindex:", arguments.count == 1 { return arguments[0] }
        guard let function = ScalarFunction(rawValue: name) else {
            var failure = Failure(
                position: start, message: "expected a function that fetches support but found '\(selector)'")
            if selector.uppercased() == "FETCH" {
                failure.remedy = "fetch the IDs with fetchObjectIDs first, and write IN %@ with them"
            }
            throw failure
        }
        guard arguments.count == function.arity else {
            throw Failure(
                position: start,
                message: "expected \(Self.arguments(function.arity)) for '\(selector)' but found \(arguments.count)")
        }
        return .function(function, arguments)
    }

    /// Parses `CAST(value, "NSDate")`.
    private mutating func cast() throws(Failure) -> FetchExpression.Node {
        try advance()
        try take("(")
        let value = try element()
        try take(",")
        guard case .text(let type) = token else { throw expected("the name of a class in quotes") }
        switch (type, value) {
        case ("NSDate", .value(let value)) where value.type.domain == .number:
            return try closed(.value(.date(Date(timeIntervalSinceReferenceDate: Double(value) ?? 0))))
        case ("NSDate", _): return try closed(.function(.castToDate, [value]))
        case ("NSUUID", .value(.string(let text))):
            guard let uuid = UUID(uuidString: text) else { throw expected("a UUID before \"NSUUID\"") }
            return try closed(.value(.uuid(uuid)))
        case ("NSDecimalNumber", .value(.string(let text))):
            guard let number = Decimal(string: text) else { throw expected("a number before \"NSDecimalNumber\"") }
            return try closed(.value(.decimal(number)))
        case ("NSNumber", _), ("NSDecimalNumber", _): return try closed(.function(.castToNumber, [value]))
        default: throw expected("\"NSDate\" or \"NSNumber\", the classes that fetches support")
        }
    }

    private mutating func closed(_ node: FetchExpression.Node) throws(Failure) -> FetchExpression.Node {
        try advance()
        try take(")")
        return node
    }

    /// Parses `SUBQUERY(items, $item, $item.price > 3)`.
    private mutating func subquery() throws(Failure) -> FetchExpression.Node {
        try advance()
        try take("(")
        let start = position
        guard case .path(let collection) = try element() else {
            throw Failure(position: start, message: "expected the key path of a to-many relationship in SUBQUERY")
        }
        try take(",")
        guard case .variable(let variable) = token else { throw expected("a variable such as $item") }
        try advance()
        try take(",")
        let predicate = try nested { (parser) throws(Failure) -> FetchPredicate.Node in
            let parsed = try parser.disjunction()
            return try parser.predicate(parsed)
        }
        try take(")")
        return .path(FetchPath(root: .subquery(collection, variable: variable, predicate), keyPath: ""))
    }

    /// Parses `TERNARY(predicate, a, b)`.
    private mutating func ternary() throws(Failure) -> FetchExpression.Node {
        try advance()
        try take("(")
        let predicate = try nested { (parser) throws(Failure) -> FetchPredicate.Node in
            let parsed = try parser.disjunction()
            return try parser.predicate(parsed)
        }
        try take(",")
        let first = try element()
        try take(",")
        let second = try element()
        try take(")")
        return .conditional(predicate, first, second)
    }
}
