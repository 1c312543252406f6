internal import Foundation

extension MappingExpression {
    /// Parses the text of an expression; see ``MappingExpression``.
    ///
    /// - Throws: ``ModelError`` with the position of the first error.
    public init(format text: String) throws(ModelError) {
        var parser = MappingExpressionParser(text)
        self = try parser.parse()
    }
}

extension MappingExpression: ExpressibleByStringLiteral {
    /// Parses a literal; an invalid one is a programming error and ends the program.
    public init(stringLiteral text: String) {
        do throws(ModelError) {
            try self.init(format: text)
        } catch {
            preconditionFailure(error.message)
        }
    }
}

/// Parses the text of an expression from left to right.
private struct MappingExpressionParser {
    /// The maximum depth: deeper than any real expression, and far from exhausting the stack.
    private static let deepest = 100

    private let text: String
    private let characters: [Character]
    private var position = 0
    private var depth = 0

    init(_ text: String) {
        self.text = text
        characters = Array(text)
    }

    mutating func parse() throws(ModelError) -> MappingExpression {
        let expression = try expression()
        skipSpace()
        guard position == characters.count else { throw error("an operator or the end") }
        return expression
    }

    private mutating func expression() throws(ModelError) -> MappingExpression {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.deepest else { throw error("fewer nested parentheses") }
        var found = try primary()
        while take(".") { found = .keyPath(found, try keyPath()) }
        return found
    }

    private mutating func primary() throws(ModelError) -> MappingExpression {
        skipSpace()
        guard let next = peek else { throw error("a value") }
        switch next {
        case "$":
            position += 1
            let start = position
            guard let variable = MappingExpression.Variable(rawValue: word()) else {
                position = start
                throw error("one of \(MappingExpression.Variable.list)")
            }
            return .variable(variable)
        case "\"", "'": return .constant(.string(try quoted()))
        case "-", "0"..."9": return try number()
        default: return try named()
        }
    }

    private mutating func named() throws(ModelError) -> MappingExpression {
        let start = position
        switch word().uppercased() {
        case "FUNCTION":
            try expect("(")
            let receiver = try expression()
            try expect(",")
            skipSpace()
            let selector = try quoted()
            var arguments: [MappingExpression] = []
            while take(",") { arguments.append(try expression()) }
            try expect(")")
            return .function(receiver, selector: selector, arguments)
        case "CAST":
            try expect("(")
            let operand = try expression()
            try expect(",")
            skipSpace()
            let type = try quoted()
            try expect(")")
            return .cast(operand, type: type)
        case "FETCH":
            try expect("(")
            let request = try expression()
            try expect(",")
            let context = try expression()
            try expect(",")
            let countsOnly = try expression()
            try expect(")")
            guard case .constant(.boolean(let isCount)) = countsOnly else { throw error("YES or NO") }
            return .fetch(request, context: context, countsOnly: isCount)
        case "TRUE", "YES": return .constant(.boolean(true))
        case "FALSE", "NO": return .constant(.boolean(false))
        case "NIL", "NULL": return .constant(nil)
        default:
            position = start
            throw error("a variable, a constant, FUNCTION, CAST or FETCH")
        }
    }

    /// Reads a key path: names and operators such as `@distinctUnionOfSets`, with full stops between them.
    private mutating func keyPath() throws(ModelError) -> String {
        var parts: [String] = []
        repeat {
            skipSpace()
            let isOperator = take("@")
            let name = word()
            guard !name.isEmpty else { throw error("a name") }
            parts.append((isOperator ? "@" : "") + name)
        } while take(".")
        return parts.joined(separator: ".")
    }

    private mutating func number() throws(ModelError) -> MappingExpression {
        let start = position
        while let next = peek, next.isNumber || "+-.eE".contains(next) { position += 1 }
        let digits = String(characters[start..<position])
        if let integer = Int64(digits) { return .constant(.integer(integer)) }
        if let double = Double(digits) { return .constant(.double(double)) }
        position = start
        throw error("a number")
    }

    private mutating func quoted() throws(ModelError) -> String {
        guard let quote = peek, quote == "\"" || quote == "'" else { throw error("a text in quotes") }
        position += 1
        var found = ""
        while let next = peek, next != quote {
            position += 1
            if next == "\\", let escaped = peek {
                found.append(escaped)
                position += 1
            } else {
                found.append(next)
            }
        }
        guard take(quote) else { throw error("the quote that ends the text") }
        return found
    }

    // MARK: - Characters

    private var peek: Character? { position < characters.count ? characters[position] : nil }

    private mutating func skipSpace() {
        while let next = peek, next.isWhitespace { position += 1 }
    }

    private mutating func take(_ character: Character) -> Bool {
        let start = position
        skipSpace()
        if peek == character {
            position += 1
            return true
        }
        position = start
        return false
    }

    private mutating func expect(_ character: Character) throws(ModelError) {
        guard take(character) else {
            skipSpace()
            throw error("'\(character)'")
        }
    }

    private mutating func word() -> String {
        let start = position
        while let next = peek, next.isLetter || next.isNumber || next == "_" { position += 1 }
        return String(characters[start..<position])
    }

    private func error(_ expected: String) -> ModelError {
        let rest = String(characters[min(position, characters.count)...].prefix(20))
        return ModelError(
            .invalidExpression,
            "The expression '\(text)' of a mapping is invalid at \(rest.isEmpty ? "its end" : "'\(rest)'"), where \(expected) was expected; correct it."
        )
    }
}
