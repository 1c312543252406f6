/// A function of the values of one object.
///
/// The raw value is the function's name in Core Data's predicate format. If an argument has no value, neither has the
/// function.
public enum ScalarFunction: String, Sendable, Hashable, CaseIterable {
    /// `a + b`.
    case add = "add:to:"
    /// `a - b`.
    case subtract = "from:subtract:"
    /// `a * b`.
    case multiply = "multiply:by:"
    /// `a / b`; see ``FetchExpression//(_:_:)``.
    case divide = "divide:by:"
    /// The remainder of an integer division; other numbers are truncated first.
    case modulus = "modulus:by:"
    /// `a ** b`.
    case power = "raise:toPower:"
    /// `-a`.
    case negate = "negate:"
    case absoluteValue = "abs:"
    case squareRoot = "sqrt:"
    /// The logarithm to base 10.
    case logarithm = "log:"
    case naturalLogarithm = "ln:"
    case exponential = "exp:"
    case ceiling = "ceiling:"
    case floor = "floor:"
    /// The number rounded toward zero.
    case truncate = "trunc:"
    case bitwiseAnd = "bitwiseAnd:with:"
    case bitwiseOr = "bitwiseOr:with:"
    case bitwiseXor = "bitwiseXor:with:"
    case leftShift = "leftshift:by:"
    case rightShift = "rightshift:by:"
    case onesComplement = "onesComplement:"
    /// Text in uppercase, independent of the locale.
    case uppercase = "uppercase:"
    case lowercase = "lowercase:"
    /// Text as compared with `[cd]`; see ``TextOptions/fold(_:)``.
    case canonical = "canonical:"
    /// The length of text in UTF-16 code units, as in Foundation.
    case length = "length:"
    /// The time at which the request is executed.
    case now = "now"
    /// A number as a date, in seconds since 2001-01-01 00:00 UTC.
    case castToDate = "castToDate:"
    /// A date as seconds since 2001-01-01 00:00 UTC; a number is unchanged.
    case castToNumber = "castToNumber:"

    /// The number of arguments.
    var arity: Int {
        switch self {
        case .add, .subtract, .multiply, .divide, .modulus, .power, .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift,
            .rightShift:
            2
        case .now: 0
        default: 1
        }
    }

    /// The infix operator and its precedence.
    var sign: (text: String, strength: Int)? {
        switch self {
        case .add: ("+", 1)
        case .subtract: ("-", 1)
        case .multiply: ("*", 2)
        case .divide: ("/", 2)
        case .modulus: ("%", 2)
        case .power: ("**", 4)
        default: nil
        }
    }
}
