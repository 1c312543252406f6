/// An expression from which a store computes a derived attribute, in Core Data's syntax.
///
/// It is `now()`; the name of an attribute, or a to-one relationship and an attribute of its destination
/// (`owner.name`), each also as `canonical:(…)`, `uppercase:(…)` or `lowercase:(…)`; `pages.@count`; or
/// `pages.@sum.number`.
package enum DerivationExpression: Sendable, Hashable {
    package enum Function: String, Sendable, Hashable, CaseIterable {
        /// The text without differences in case and diacritics, which a search with `[cd]` compares.
        case canonical
        case uppercase
        case lowercase
    }

    /// The time of the last save of the object.
    case now
    case value(relationship: String?, attribute: String, Function?)
    case count(relationship: String)
    case sum(relationship: String, attribute: String)

    /// Parses an expression.
    ///
    /// - Returns: `nil` if it has none of these forms.
    package init?(_ text: String) {
        var text = text[...].trimmingSpaces
        if text.filter({ $0 != " " }) == "now()" {
            self = .now
            return
        }
        var function: Function?
        for known in Function.allCases where text.hasPrefix("\(known.rawValue):(") && text.hasSuffix(")") {
            function = known
            text = text.dropFirst(known.rawValue.count + 2).dropLast().trimmingSpaces
        }
        let path = text.split(separator: ".", omittingEmptySubsequences: false).map { String($0) }
        switch (path.count, path.dropFirst().first) {
        case (2, "@count") where function == nil && Self.isName(path[0]): self = .count(relationship: path[0])
        case (3, "@sum") where function == nil && Self.isName(path[0]) && Self.isName(path[2]):
            self = .sum(relationship: path[0], attribute: path[2])
        case (1, _) where Self.isName(path[0]): self = .value(relationship: nil, attribute: path[0], function)
        case (2, _) where path.allSatisfy(Self.isName):
            self = .value(relationship: path[0], attribute: path[1], function)
        default: return nil
        }
    }

    private static func isName(_ text: String) -> Bool {
        guard let first = text.first, first.isLetter || first == "_" else { return false }
        return text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    }
}

extension Substring {
    fileprivate var trimmingSpaces: Substring {
        var text = drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return text
    }
}
