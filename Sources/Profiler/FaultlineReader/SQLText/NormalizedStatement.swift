import FaultlineTrace

/// The normalized text of a statement: statements that differ only in their values have the same one.
///
///     SELECT "shop_book"."id" FROM "shop_book" WHERE "shop_book"."author_id" IN (…) LIMIT 21
///     INSERT INTO "shop_book" ("title", "author_id") VALUES (?, …), …
///
/// Numbers are removed except after LIMIT, and so are the names of savepoints. Lists of values are collapsed.
struct NormalizedStatement {
    private struct Piece: Equatable {
        enum Kind { case literal, list, word, name, mark }
        var kind: Kind
        var text: String
        /// The word in capitals, if it is short.
        var capitals = ""
        /// Whether white space precedes it.
        var isSpaced = false

        static func == (a: Piece, b: Piece) -> Bool { a.kind == b.kind && a.text == b.text }
        static let none = Piece(kind: .mark, text: "")
    }

    /// A complete group in parentheses.
    private struct Group {
        var pieces: Range<Int>
        /// The end of the group and of the ellipsis for equal groups after it.
        var end: Int
        var isRepeated = false
    }

    /// The maximum number of pieces of a text, and of bytes in a piece.
    private static let maximumPieces = 4096, maximumLength = 200

    private var pieces: [Piece] = []
    private var isCut = false
    /// The first pieces of the open groups.
    private var open: [Int] = []
    /// The last complete group at each depth.
    private var closed: [Int: Group] = [:]
    /// The end of the previous token.
    private var end: Int?
    private var verb = ""
    /// The verb after the common table expressions of WITH.
    private var mainVerb = ""

    init() {}

    /// The statement of a whole text.
    init(_ text: [UInt8]) {
        var lexer = SQLLexer()
        while let token = lexer.next(in: text, isWhole: true) { take(token, in: text) }
    }

    var isEmpty: Bool { verb.isEmpty }

    /// The statement's text.
    var sql: String {
        var text = ""
        var before = Piece.none
        for piece in pieces {
            let isTight = "([".contains(before.text) || [")", "]", ","].contains(piece.text)
            if !text.isEmpty, before.text == "," || piece.isSpaced && !isTight { text += " " }
            text += piece.text
            before = piece
        }
        return isCut ? text + " …" : text
    }

    /// The effect of the statement on the store.
    var type: TraceEvent.Statement.StatementType {
        switch mainVerb.isEmpty ? verb : mainVerb {
        case "SELECT", "WITH", "VALUES", "TABLE", "EXPLAIN", "SHOW", "DESCRIBE", "DESC", "FETCH": .read
        case "INSERT", "UPDATE", "DELETE", "REPLACE", "MERGE", "TRUNCATE", "COPY", "LOAD": .write
        case "BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE": .transaction
        default: .schema
        }
    }

    /// Adds a token of the statement.
    mutating func take(_ token: SQLLexer.Token, in bytes: [UInt8]) {
        if token.kind == .comment { return }
        let isSpaced = end != token.range.lowerBound
        end = token.range.upperBound
        if isCut { return }
        if pieces.count >= Self.maximumPieces { isCut = true }
        switch token.kind {
        case .text: takeLiteral(isSpaced)
        case .number where last.capitals == "LIMIT": add(.name, bytes[token.range], isSpaced)
        case .number:
            let isSigned = isSign(last) && beforeLast.kind == .mark && ![")", "]", ""].contains(beforeLast.text)
            takeLiteral(isSigned ? pieces.removeLast().isSpaced : isSpaced)
        case .word: takeWord(bytes[token.range], isSpaced)
        case .name: if !namesSavepoint { add(.name, bytes[token.range], isSpaced) }
        case .mark: takeMark(bytes[token.range], isSpaced)
        case .comment: break
        }
    }

    /// Begins a line, whose offsets do not continue those of the line before.
    mutating func beginLine() { end = nil }

    // MARK: - Tokens

    private var last: Piece { pieces.last ?? .none }
    private var beforeLast: Piece { pieces.count > 1 ? pieces[pieces.count - 2] : .none }

    private func isSign(_ piece: Piece) -> Bool { piece.text == "-" || piece.text == "+" }

    /// Whether the next token is the name of a savepoint; Django generates a new one each time.
    private var namesSavepoint: Bool {
        last.capitals == "SAVEPOINT" && ["SAVEPOINT", "RELEASE", "ROLLBACK"].contains(verb)
    }

    private mutating func takeWord(_ word: ArraySlice<UInt8>, _ isSpaced: Bool) {
        let capitals = word.count <= 12 ? String(decoding: word, as: UTF8.self).uppercased() : ""
        if namesSavepoint { return }
        if verb.isEmpty {
            verb = capitals.isEmpty ? "?" : capitals
        } else if verb == "WITH", mainVerb.isEmpty, open.isEmpty,
            ["SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE"].contains(capitals)
        {
            mainVerb = capitals
        }
        // A parameter of `executemany`, which logs the statement without its values.
        if capitals == "S", last.text == "%", !isSpaced {
            let isSpaced = pieces.removeLast().isSpaced
            return takeLiteral(isSpaced)
        }
        // The cast of a value: '2024-05-01'::date.
        if last.text == "::", beforeLast.kind == .literal || beforeLast.kind == .list {
            pieces.removeLast()
            return
        }
        if ["NULL", "TRUE", "FALSE"].contains(capitals), last.kind == .mark, ![")", ""].contains(last.text) {
            return takeLiteral(isSpaced)
        }
        add(.word, word, isSpaced)
        pieces[pieces.count - 1].capitals = capitals
    }

    private mutating func takeLiteral(_ isSpaced: Bool) {
        let isOfList =
            last.text == "(" && beforeLast.capitals == "IN" || last.text == "[" && beforeLast.capitals == "ARRAY"
        let list = Piece(kind: .list, text: "…", isSpaced: isSpaced)
        if isOfList {
            pieces.append(list)
        } else if last.text == ",", beforeLast.kind == .list {
            pieces.removeLast()
        } else if last.text == ",", beforeLast.kind == .literal {
            pieces.append(list)
        } else {
            pieces.append(Piece(kind: .literal, text: "?", isSpaced: isSpaced))
        }
    }

    private mutating func takeMark(_ mark: ArraySlice<UInt8>, _ isSpaced: Bool) {
        // A parameter; PostgreSQL has an operator of this name, between two values.
        if mark.first == UInt8(ascii: "?"), last.kind == .mark || last.kind == .list || !last.capitals.isEmpty {
            return takeLiteral(isSpaced)
        }
        if mark.first == UInt8(ascii: ":"), last.text == ":" {
            pieces[pieces.count - 1].text = "::"
            return
        }
        add(.mark, mark, isSpaced)
        if mark.first == UInt8(ascii: "(") {
            open.append(pieces.count - 1)
            closed[open.count + 1] = nil
        }
        if mark.first == UInt8(ascii: ")"), let start = open.popLast() { close(from: start) }
    }

    /// Ends a group, and collapses it if it equals the one before it: `(?, …), …`.
    private mutating func close(from start: Int) {
        let depth = open.count + 1
        if var before = closed[depth], before.end == start - 1, pieces[start - 1].text == ",",
            pieces[before.pieces] == pieces[start...]
        {
            pieces.removeSubrange((before.isRepeated ? start - 1 : start)...)
            if !before.isRepeated { pieces.append(Piece(kind: .mark, text: "…")) }
            (before.isRepeated, before.end) = (true, pieces.count)
            closed[depth] = before
        } else {
            closed[depth] = Group(pieces: start..<pieces.count, end: pieces.count)
        }
    }

    private mutating func add(_ kind: Piece.Kind, _ bytes: ArraySlice<UInt8>, _ isSpaced: Bool) {
        let isLong = bytes.count > Self.maximumLength
        let text = String(decoding: isLong ? bytes.prefix(Self.maximumLength) : bytes, as: UTF8.self)
        pieces.append(Piece(kind: kind, text: isLong ? text + "…" : text, isSpaced: isSpaced))
    }
}
