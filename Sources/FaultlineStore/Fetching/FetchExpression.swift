/// What the store works out over the objects that a request selects.
///
///     let length = FetchExpression.function(.sum, "milliseconds")
public struct FetchExpression: Sendable, Hashable {
    /// A function over the values of an attribute; objects without a value count for nothing.
    ///
    /// The raw value is the function's name in Core Data.
    public enum Function: String, Sendable, Hashable, CaseIterable {
        /// Of numbers, as a floating-point number; 0 of none. Sums of integers are exact up to 2⁵³.
        case sum = "sum:"
        /// Of numbers, as a floating-point number; no value of none.
        case average = "average:"
        /// Of numbers, dates or text, in the attribute's type; no value of none. Text is compared by its code points.
        case minimum = "min:"
        /// As ``minimum``, from the other end.
        case maximum = "max:"
        /// How many objects have a value, whatever its type.
        case count = "count:"
    }

    let function: Function
    let keyPath: String

    /// A function over an attribute, or over one at the end of to-one relationships.
    public static func function(_ function: Function, _ keyPath: String) -> FetchExpression {
        FetchExpression(function: function, keyPath: keyPath)
    }
}

extension FetchExpression: CustomStringConvertible {
    /// The expression in Core Data's format: `sum:(milliseconds)`.
    public var description: String { "\(function.rawValue)(\(keyPath))" }
}
