public import Foundation

/// Whether a string contains another, ignoring case and diacritics, in a Swift predicate.
public struct TextContains<Base: PredicateExpression, Other: PredicateExpression>: PredicateExpression
where Base.Output: StringProtocol, Other.Output: StringProtocol {
    let base: Base
    let other: Other

    /// Returns whether the text contains the other, compared as `localizedStandardContains` does.
    public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
        let options: TextOptions = [.caseInsensitive, .diacriticInsensitive]
        let other = try options.fold(String(other.evaluate(bindings)))
        return try options.fold(String(base.evaluate(bindings))).contains(other)
    }
}

extension TextContains: StandardPredicateExpression
where Base: StandardPredicateExpression, Other: StandardPredicateExpression {}

extension TextContains: Codable where Base: Codable, Other: Codable {}
extension TextContains: Sendable where Base: Sendable, Other: Sendable {}

// The function that #Predicate calls for the method, which Foundation lacks on Linux.
extension PredicateExpressions {
    /// Returns the expression of `localizedStandardContains`.
    public static func build_localizedStandardContains<Base, Other>(
        _ base: Base, _ other: Other
    ) -> TextContains<Base, Other> { TextContains(base: base, other: other) }
}

extension TextContains: TranslatableExpression {
    func term(in translation: PredicateTranslation) throws(StoreError) -> PredicateTerm {
        try .comparing(
            translation.term(base), .contains, translation.term(other), [.caseInsensitive, .diacriticInsensitive])
    }
}
