/// The words of a statement, and the parts that they make.
extension StatementText {
    struct Token {
        var text: String
        var isName = false
        var isQuoted = false
        /// The place in the statement.
        var range: Range<String.Index>

        func isKeyword(_ word: String) -> Bool { isName && !isQuoted && text.uppercased() == word }
    }

    static func tokens(of sql: String) -> [Token] {
        var tokens: [Token] = []
        var rest = sql[...]
        while let first = rest.first {
            let start = rest.startIndex
            if first.isWhitespace {
                rest = rest.dropFirst()
            } else if let end = closers[first] {
                var name = rest.dropFirst().prefix { $0 != end }
                rest = rest[name.endIndex...].dropFirst()
                // A doubled quote stands for one in the name.
                while rest.first == end, end != "]" {
                    let more = rest.dropFirst().prefix { $0 != end }
                    name += String(end) + more
                    rest = rest[more.endIndex...].dropFirst()
                }
                tokens.append(
                    Token(text: String(name), isName: true, isQuoted: true, range: start..<rest.startIndex))
            } else if first.isLetter || first == "_" {
                let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "$" }
                tokens.append(Token(text: String(name), isName: true, range: start..<name.endIndex))
                rest = rest[name.endIndex...]
            } else if first.isNumber {
                let number = rest.prefix { $0.isNumber || $0 == "." }
                tokens.append(Token(text: String(number), range: start..<number.endIndex))
                rest = rest[number.endIndex...]
            } else {
                // Signs such as "<=" and "||" are one token.
                let sign = operators.contains(first) ? rest.prefix { operators.contains($0) } : rest.prefix(1)
                tokens.append(Token(text: String(sign), range: start..<sign.endIndex))
                rest = rest[sign.endIndex...]
            }
        }
        return tokens
    }

    private static let operators: Set<Character> = ["<", ">", "=", "!", "|", "-"]
    private static let closers: [Character: Character] = ["\"": "\"", "`": "`", "[": "]"]

    /// How many parentheses are open around each token.
    static func depths(of tokens: [Token]) -> [Int] {
        var depth = 0
        return tokens.map { token in
            if token.text == "(" { depth += 1 }
            defer { if token.text == ")" { depth -= 1 } }
            return depth
        }
    }

    static func split(_ tokens: ArraySlice<Token>, _ depths: [Int]) -> [ArraySlice<Token>] {
        var parts: [ArraySlice<Token>] = []
        var start = tokens.startIndex
        for index in tokens.indices where depths[index] == 0 && tokens[index].text == "," {
            parts.append(tokens[start..<index])
            start = index + 1
        }
        return parts + [tokens[start...]]
    }

    /// The names of a path such as `main.author.id`, or `nil` if there is none at the position.
    static func name(at position: Int, in tokens: ArraySlice<Token>) -> [String]? {
        guard tokens.indices.contains(position), tokens[position].isName else { return nil }
        var names = [tokens[position].text]
        var next = position + 1
        while tokens.indices.contains(next + 1), tokens[next].text == ".", tokens[next + 1].isName {
            names.append(tokens[next + 1].text)
            next += 2
        }
        return names
    }

    /// The column of a selected item that is one, with or without an alias.
    static func column(_ item: ArraySlice<Token>) -> String? {
        guard let path = name(at: item.startIndex, in: item) else { return nil }
        let rest = item.dropFirst(2 * path.count - 1)
        return rest.isEmpty || rest.first?.isKeyword("AS") == true ? path.last : nil
    }

    /// The columns of `ORDER BY`; none if one of them is an expression, has a collation or an order of its own for `NULL`.
    static func sortedColumns(_ tokens: ArraySlice<Token>, _ depths: [Int]) -> [SortedColumn] {
        let items = split(tokens, depths).map { item -> SortedColumn? in
            guard let path = name(at: item.startIndex, in: item), let column = path.last else { return nil }
            let rest = item.dropFirst(2 * path.count - 1)
            guard rest.count <= 1 else { return nil }
            if rest.first?.isKeyword("DESC") == true { return SortedColumn(name: column, isDescending: true) }
            guard rest.isEmpty || rest.first?.isKeyword("ASC") == true else { return nil }
            return SortedColumn(name: column, isDescending: false)
        }
        return items.contains(nil) ? [] : items.compactMap { $0 }
    }

    /// The names that a selection gives to expressions, and not to columns of the same name.
    static func names(givenIn selection: ArraySlice<Token>) -> Set<String> {
        let given = selection.indices.dropFirst().filter { index in
            guard selection[index - 1].isKeyword("AS"), selection[index].isName else { return false }
            return index < selection.startIndex + 2 || selection[index - 2].text != selection[index].text
        }
        return Set(given.map { selection[$0].text.lowercased() })
    }

    /// The words before which a parenthesis opens no list of arguments.
    private static let keywords: Set<String> = [
        "WHERE", "IN", "AND", "OR", "NOT", "ON", "FROM", "JOIN", "VALUES", "LIKE", "EXISTS", "AS", "BY", "USING",
        "OVER",
    ]

    static func joined(_ words: [String]) -> String {
        var text = ""
        for (index, word) in words.enumerated() {
            // A parenthesis belongs to the name of the function before it.
            if word == "(", index > 0, !keywords.contains(words[index - 1].uppercased()),
                words[index - 1].last?.isLetter == true
            {
                text += word
                continue
            }
            let isClose =
                text.isEmpty || text.hasSuffix("(") || text.hasSuffix(".") || [")", ",", ".", ";"].contains(word)
            text += (isClose ? "" : " ") + word
        }
        return text
    }
}
