import FaultlineModel

extension FetchPredicate {
    /// Parses a predicate in Core Data's format.
    ///
    ///     try FetchPredicate(format: "price < %@ AND ANY tags.label IN[c] %@", 3, ["fresh", "sweet"])
    ///
    /// The format is that of `NSPredicate` ("Predicate Format String Syntax" in Apple's Predicate Programming Guide),
    /// as far as SQL can express it: comparisons with `[c]`, `[d]` and `[n]`; `BETWEEN`, `IN`, `BEGINSWITH`,
    /// `ENDSWITH`, `CONTAINS`, `LIKE`, `MATCHES`; `ANY`, `SOME`, `ALL`, `NONE`; `SUBQUERY`, `TERNARY`, `CAST`,
    /// `FUNCTION`; key paths with `@count`, `@sum`, `@min`, `@max` and `@avg`; arithmetic, `&`, `|`, `^`, `~`, `<<`,
    /// `>>` and the functions of ``ScalarFunction``; `$variables`. `%@` takes a value, an object or an array; `%K` takes a key path; `%d`, `%f`
    /// and their variants take a number. Quoted text is a string.
    ///
    /// Executing the request checks whether the properties exist.
    ///
    /// - Complexity: O(*n*).
    /// - Throws: ``StoreError`` with the code ``StoreError/Code/predicateFormat`` if the format cannot be parsed, with
    ///   the position of the error, or if it does not fit the number and types of the arguments.
    public init(format: String, _ arguments: (any FetchPredicateArgument)?...) throws(StoreError) {
        try self.init(format: format, argumentArray: arguments)
    }

    /// Parses a predicate in Core Data's format; see ``init(format:_:)``.
    public init(format: String, argumentArray: [(any FetchPredicateArgument)?]) throws(StoreError) {
        let arguments = argumentArray.map { $0?._predicateArgument.node ?? .null }
        do {
            var parser = try PredicateParser(format, arguments: arguments)
            self.init(try parser.parsePredicate())
        } catch {
            throw .predicateFormat("predicate", format, error)
        }
    }
}

extension FetchExpression {
    /// Parses an expression in Core Data's format: `"price * amount"`, `"items.@sum.price"`.
    ///
    /// - Throws: The errors of ``FetchPredicate/init(format:_:)``.
    public init(format: String, _ arguments: (any FetchPredicateArgument)?...) throws(StoreError) {
        do {
            var parser = try PredicateParser(format, arguments: arguments.map { $0?._predicateArgument.node ?? .null })
            self.init(try parser.parseExpression())
        } catch {
            throw .predicateFormat("expression", format, error)
        }
    }
}

extension StoreError {
    fileprivate static func predicateFormat(
        _ what: String, _ format: String, _ failure: PredicateLexer.Failure
    ) -> StoreError {
        let bytes = format.utf8
        let position = String(decoding: bytes.prefix(failure.position), as: UTF8.self).count + 1
        // Quote only the part of a long format around the error.
        let longest = 120
        let start = bytes.count > longest ? max(0, failure.position - longest / 2) : 0
        let end = bytes.count > longest ? min(bytes.count, start + longest) : bytes.count
        let shown = String(decoding: bytes.dropFirst(start).prefix(end - start), as: UTF8.self)
        let quoted = (start > 0 ? "…" : "") + shown + (end < bytes.count ? "…" : "")
        return StoreError(
            .predicateFormat,
            "The \(what) format \"\(quoted)\" cannot be parsed: at character \(position), \(failure.message); \(failure.remedy)."
        )
    }
}
