import FaultlineProfile
import Foundation

/// An expression of a statement that an index can have in the place of a column.
struct IndexableExpression {
    /// The name of the column that stands for it.
    var name: String
    /// The expression, without the name of its table.
    var sql: String
    /// The tables that have all of its columns, by their positions in the schema.
    var tables: [Int]
}

/// A statement in which columns of their own stand for the expressions that an index can have.
///
/// SQLite's planner then treats them as columns: it reports which of them it could search or sort by.
struct ListeningText {
    private(set) var text = ""
    private(set) var expressions: [IndexableExpression] = []
    /// The collations that the statement names.
    private(set) var collations: [String] = []
    /// Whether the statement forces or forbids an index.
    private(set) var forcesIndex = false
    /// The parts of ``text`` that stand for parts of the statement.
    private var replaced: [(placeholder: String, original: String)] = []

    private let schema: AdvisedSchema
    private let functions: Set<String>
    private let tokens: [StatementText.Token]

    /// - Parameter functions: The functions that an index can have, in lowercase.
    init(_ sql: String, _ schema: AdvisedSchema, functions: Set<String>) {
        (self.schema, self.functions) = (schema, functions)
        tokens = StatementText.tokens(of: sql)
        let depths = StatementText.depths(of: tokens)
        var rest = sql.startIndex
        var index = 0
        func replace(_ end: Int, by words: String) {
            text += sql[rest..<tokens[index].range.lowerBound] + words
            rest = tokens[end - 1].range.upperBound
            index = end
        }
        while index < tokens.count {
            let next = index + 1 < tokens.count ? tokens[index + 1] : nil
            if tokens[index].isKeyword("COLLATE"), let next { collations.append(next.text.uppercased()) }
            if tokens[index].isKeyword("INDEXED"), next?.isKeyword("BY") == true, index + 2 < tokens.count {
                forcesIndex = true
                replace(index + 3, by: " ")
            } else if tokens[index].isKeyword("NOT"), next?.isKeyword("INDEXED") == true {
                forcesIndex = true
                replace(index + 2, by: " ")
            } else if depths[index] == 0,
                tokens[index].isKeyword("RETURNING")
                    || tokens[index].isKeyword("ON") && next?.isKeyword("CONFLICT") == true
            {
                // Virtual tables have neither, and no index serves them.
                text += sql[rest..<tokens[index].range.lowerBound]
                rest = sql.endIndex
                break
            } else if let end = end(ofExpressionAt: index), let found = expression(index..<end, in: sql) {
                replace(end, by: found)
            } else {
                index += 1
            }
        }
        text += sql[rest...]
        collations = Set(collations).sorted()
    }

    /// A text made of ``text``, with the statement's own expressions again.
    func restoring(_ text: String) -> String {
        replaced.reduce(text) { $0.replacingOccurrences(of: $1.placeholder, with: $1.original, options: .literal) }
    }

    /// The end of a call, a `CAST`, or a chain of `->` and `->>`.
    private func end(ofExpressionAt start: Int) -> Int? {
        guard tokens[start].isName, start + 1 < tokens.count else { return nil }
        if start > 0, tokens[start - 1].text == "." { return nil }
        let word = tokens[start].text.lowercased()
        if tokens[start + 1].text == "(", word == "cast" || functions.contains(word) {
            var depth = 0
            for index in (start + 1)..<tokens.count {
                if tokens[index].text == "(" { depth += 1 }
                if tokens[index].text == ")" { depth -= 1 }
                if depth == 0 { return index + 1 }
            }
            return nil
        }
        guard let path = StatementText.name(at: start, in: tokens[...]) else { return nil }
        var end = start + 2 * path.count - 1
        let first = end
        while end + 1 < tokens.count, ["->", "->>"].contains(tokens[end].text), tokens[end + 1].isValue { end += 2 }
        return end > first ? end : nil
    }

    /// The column that stands for an expression, if that has columns of one table and literals only.
    private mutating func expression(_ range: Range<Int>, in sql: String) -> String? {
        var qualifier: String?
        var text = ""
        var columns: [String] = []
        var index = range.lowerBound
        var last = tokens[index].range.lowerBound
        while index < range.upperBound {
            let token = tokens[index]
            let next = index + 1 < range.upperBound ? tokens[index + 1].text : nil
            text += sql[last..<token.range.lowerBound]
            last = token.range.upperBound
            if token.isParameter || token.isKeyword("SELECT") || token.isKeyword("OVER") || token.isKeyword("FILTER") {
                return nil
            }
            if token.isName, next == "(" {
                let word = token.text.lowercased()
                guard word == "cast" || functions.contains(word) else { return nil }
                text += sql[token.range]
            } else if token.isName, next == "." {
                guard qualifier == nil || qualifier?.lowercased() == token.text.lowercased() else { return nil }
                qualifier = token.text
                index += 1
                last = tokens[index].range.upperBound
            } else {
                if token.isName, token.isQuoted || !Self.words.contains(token.text.uppercased()) {
                    columns.append(token.text)
                }
                text += sql[token.range]
            }
            index += 1
        }
        // A word that is a column of no table is a type, as in CAST.
        let known = columns.filter { name in schema.tables.contains { $0.column(name) != nil } }
        let tables = schema.tables.indices.filter { table in
            !schema.tables[table].isVirtual && known.allSatisfy { schema.tables[table].column($0) != nil }
        }
        guard !known.isEmpty, !tables.isEmpty else { return nil }
        let name: String
        if let same = expressions.first(where: { $0.sql == text }) {
            name = same.name
        } else {
            name = "~e\(expressions.count + 1)"
            expressions.append(IndexableExpression(name: name, sql: text, tables: tables))
        }
        let placeholder = (qualifier.map { DatabaseFile.quoted($0) + "." } ?? "") + DatabaseFile.quoted(name)
        let original = String(
            sql[tokens[range.lowerBound].range.lowerBound..<tokens[range.upperBound - 1].range.upperBound])
        // Longer placeholders come first: one can be the end of another.
        if !replaced.contains(where: { $0.placeholder == placeholder }) {
            replaced.append((placeholder, original))
            replaced.sort { $0.placeholder.count > $1.placeholder.count }
        }
        return placeholder
    }

    /// Words of expressions that name no column.
    private static let words: Set<String> = [
        "AS", "NULL", "CASE", "WHEN", "THEN", "ELSE", "END", "AND", "OR", "NOT", "IS",
    ]
}
