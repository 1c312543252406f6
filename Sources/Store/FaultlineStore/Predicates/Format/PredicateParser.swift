import FaultlineModel

/// Parses Core Data's predicate format in one pass without backtracking.
///
/// Time and recursion depth grow linearly with the input, up to a depth that fits on the stack.
struct PredicateParser {
    typealias Failure = PredicateLexer.Failure

    /// A parsed predicate or expression; parentheses can enclose either.
    enum Parsed {
        case predicate(FetchPredicate.Node)
        case expression(FetchExpression.Node)
    }

    private(set) var lexer: PredicateLexer
    /// The next token, not consumed yet.
    private(set) var token = PredicateToken.end
    /// Its offset in bytes.
    private(set) var position = 0
    private var depth = 0
    private let arguments: [FetchExpression.Node]
    private var used = 0

    /// The maximum nesting depth of parentheses and functions.
    static let deepest = 200

    init(_ format: String, arguments: [FetchExpression.Node]) throws(Failure) {
        lexer = PredicateLexer(format)
        self.arguments = arguments
        try advance()
    }

    /// Parses a whole predicate.
    mutating func parsePredicate() throws(Failure) -> FetchPredicate.Node {
        let parsed = try disjunction()
        let node = try predicate(parsed)
        guard token == .end else { throw expected("AND, OR or the end") }
        try checkArguments()
        return node
    }

    /// Parses a whole expression.
    mutating func parseExpression() throws(Failure) -> FetchExpression.Node {
        let parsed = try disjunction()
        let node = try expression(parsed, at: 0)
        guard token == .end else { throw expected("an operator or the end") }
        try checkArguments()
        return node
    }

    private func checkArguments() throws(Failure) {
        guard used == arguments.count else {
            throw Failure(
                position: position,
                message: "expected placeholders for \(Self.arguments(arguments.count)) but found \(used)")
        }
    }

    static func arguments(_ count: Int) -> String { count == 1 ? "1 argument" : "\(count) arguments" }

    // MARK: - Tokens

    mutating func advance() throws(Failure) {
        (token, position) = try lexer.next()
    }

    func expected(_ what: String) -> Failure {
        Failure(position: position, message: "expected \(what) but found \(token.text)")
    }

    mutating func take(_ sign: String) throws(Failure) {
        guard token == .sign(sign) else { throw expected("'\(sign)'") }
        try advance()
    }

    /// Consumes a token if it comes next.
    mutating func takes(_ wanted: PredicateToken) throws(Failure) -> Bool {
        guard token == wanted else { return false }
        try advance()
        return true
    }

    mutating func nested<R>(_ body: (inout PredicateParser) throws(Failure) -> R) throws(Failure) -> R {
        guard depth < Self.deepest else {
            throw Failure(position: position, message: "expected at most \(Self.deepest) levels of nesting")
        }
        depth += 1
        defer { depth -= 1 }
        return try body(&self)
    }

    mutating func argument(_ letter: Character) throws(Failure) -> FetchExpression.Node {
        guard used < arguments.count else {
            throw Failure(
                position: position,
                message: "expected another argument for '%\(letter)' but found only \(arguments.count)")
        }
        let node = arguments[used]
        used += 1
        switch letter {
        case "K":
            guard case .value(.string(let keyPath)) = node else {
                throw Failure(
                    position: position,
                    message: "expected a key path for '%K' but argument \(used) is \(node.text(values: true))")
            }
            return .path(FetchPath(keyPath))
        case "d", "f":
            guard case .value(let value) = node, value.type.domain == .number else {
                throw Failure(
                    position: position,
                    message: "expected a number for '%\(letter)' but argument \(used) is \(node.text(values: true))")
            }
            return node
        default: return node
        }
    }

    // MARK: - Predicates

    // Callers parse in a separate step first, because errors quote the token that follows.

    func predicate(_ parsed: Parsed) throws(Failure) -> FetchPredicate.Node {
        switch parsed {
        case .predicate(let node): return node
        case .expression(let node):
            throw expected("a comparison after \(node.text(values: true))")
        }
    }

    func expression(_ parsed: Parsed, at position: Int) throws(Failure) -> FetchExpression.Node {
        guard case .expression(let node) = parsed else {
            throw Failure(position: position, message: "expected a value but found a comparison")
        }
        return node
    }

    mutating func disjunction() throws(Failure) -> Parsed {
        let first = try conjunction()
        guard token == .word(.or) || token == .sign("||") else { return first }
        var nodes = [try predicate(first)]
        while token == .word(.or) || token == .sign("||") {
            try advance()
            let next = try conjunction()
            nodes.append(try predicate(next))
        }
        return .predicate(.or(nodes))
    }

    private mutating func conjunction() throws(Failure) -> Parsed {
        let first = try negation()
        guard token == .word(.and) || token == .sign("&&") else { return first }
        var nodes = [try predicate(first)]
        while token == .word(.and) || token == .sign("&&") {
            try advance()
            let next = try negation()
            nodes.append(try predicate(next))
        }
        return .predicate(.and(nodes))
    }

    private mutating func negation() throws(Failure) -> Parsed {
        guard token == .word(.not) || token == .sign("!") else { return try comparison() }
        try advance()
        return try nested { (parser) throws(Failure) -> Parsed in
            let parsed = try parser.negation()
            return .predicate(.not(try parser.predicate(parsed)))
        }
    }

    private mutating func comparison() throws(Failure) -> Parsed {
        if try takes(.word(.truePredicate)) { return .predicate(.constant(true)) }
        if try takes(.word(.falsePredicate)) { return .predicate(.constant(false)) }
        let modifier = try self.modifier()
        let start = position
        let parsed = try arithmetic()
        guard let operation = operation() else {
            guard modifier == .direct else { throw expected("an operator for \(modifier.rawValue)") }
            return parsed
        }
        let left = try expression(parsed, at: start)
        try advance()
        let options = try self.options()
        let rightStart = position
        let right = try expression(try arithmetic(), at: rightStart)
        if operation == .between, case .list(let bounds) = right, bounds.count != 2 {
            throw Failure(
                position: rightStart, message: "expected two values in the list of BETWEEN but found \(bounds.count)")
        }
        return .predicate(
            .comparison(
                FetchPredicate.Comparison(
                    left: left, operation: operation, right: right, options: options, modifier: modifier)))
    }

    private mutating func modifier() throws(Failure) -> FetchPredicate.Modifier {
        if try takes(.word(.any)) { return .any }
        if try takes(.word(.some)) { return .any }
        if try takes(.word(.all)) { return .all }
        if try takes(.word(.none)) { return .none }
        return .direct
    }

    private func operation() -> FetchPredicate.Operator? {
        switch token {
        case .sign(let sign): FetchPredicate.Operator(rawValue: sign)
        case .word(let word): FetchPredicate.Operator(rawValue: word.rawValue)
        default: nil
        }
    }

    /// Parses `[cd]` and the like after an operator.
    private mutating func options() throws(Failure) -> TextOptions {
        guard try takes(.sign("[")) else { return [] }
        guard case .name(let letters) = token else { throw expected("'c', 'd', 'cd' or 'n' after '['") }
        var options: TextOptions = []
        for letter in letters.lowercased() {
            switch letter {
            case "c": options.insert(.caseInsensitive)
            case "d": options.insert(.diacriticInsensitive)
            // `[n]` declares the strings normalized, so they are compared as they are.
            case "n": break
            case "l":
                throw Failure(
                    position: position,
                    message:
                        "expected 'c', 'd', 'cd' or 'n' but found 'l': language-sensitive comparison is not supported")
            default: throw expected("'c', 'd', 'cd' or 'n' after '['")
            }
        }
        try advance()
        try take("]")
        return options
    }

    // MARK: - Arithmetic

    /// The infix operators except `**`, which is right-associative.
    private static let signs: [String: (function: ScalarFunction, strength: Int)] = {
        let signs = ScalarFunction.allCases.filter { $0 != .power }.compactMap { function in
            function.sign.map { ($0.text, (function, $0.strength)) }
        }
        return Dictionary(uniqueKeysWithValues: signs)
    }()

    /// Parses operands joined by infix operators.
    ///
    /// One call parses the operators of all strengths, which keeps the recursion shallow.
    ///
    /// - Parameter least: The strength of the weakest operator to parse.
    mutating func arithmetic(_ least: Int = 0) throws(Failure) -> Parsed {
        let start = position
        var left = try sign()
        var length = 0
        while case .sign(let sign) = token, let (function, strength) = Self.signs[sign], strength >= least {
            // The tree of such a chain is as deep as the chain is long.
            length += 1
            guard length <= Self.deepest else {
                throw Failure(position: position, message: "expected at most \(Self.deepest) chained operators")
            }
            try advance()
            let rightStart = position
            let right = try expression(try arithmetic(strength + 1), at: rightStart)
            left = .expression(.function(function, [try expression(left, at: start), right]))
        }
        return left
    }

    /// Parses a prefix sign; `-2 ** 2` is `-(2 ** 2)`.
    private mutating func sign() throws(Failure) -> Parsed {
        let start = position
        if try takes(.sign("+")) {
            return try nested { (parser) throws(Failure) in
                .expression(try parser.expression(try parser.sign(), at: start))
            }
        }
        if try takes(.sign("~")) {
            let node: FetchExpression.Node = try nested { (parser) throws(Failure) in
                try parser.expression(try parser.sign(), at: start)
            }
            return .expression(.function(.onesComplement, [node]))
        }
        guard try takes(.sign("-")) else { return try power() }
        let node: FetchExpression.Node = try nested { (parser) throws(Failure) in
            try parser.expression(try parser.sign(), at: start)
        }
        switch node {
        case .value(.integer(let value)) where value != .min: return .expression(.value(.integer(-value)))
        case .value(.boolean(let value)): return .expression(.value(.integer(value ? -1 : 0)))
        case .value(.double(let value)): return .expression(.value(.double(-value)))
        default: return .expression(.function(.negate, [node]))
        }
    }

    private mutating func power() throws(Failure) -> Parsed {
        let start = position
        let base = try nested { (parser) throws(Failure) in try parser.operand() }
        guard try takes(.sign("**")) else { return base }
        let rightStart = position
        // Right-associative: 2 ** 3 ** 2 is 2 ** 9.
        let exponent = try nested { (parser) throws(Failure) in try parser.sign() }
        return .expression(
            .function(.power, [try expression(base, at: start), try expression(exponent, at: rightStart)]))
    }
}
