/// A function of the values of one object.
///
/// The raw value is the function's name in Core Data's predicate format. Where an argument has no value the function
/// has none, but for ``now``.
public enum ScalarFunction: String, Sendable, Hashable, CaseIterable {
    /// `a + b`.
    case add = "add:to:"
    /// `a - b`.
    case subtract = "from:subtract:"
    /// `a * b`.
    case multiply = "multiply:by:"
    /// `a / b`; see ``FetchExpression//(_:_:)``.
    case divide = "divide:by:"
    /// The remainder of the division of two integers; the fractions of others are cut off first.
    case modulus = "modulus:by:"
    /// `a ** b`.
    case power = "raise:toPower:"
    /// `-a`.
    case negate = "negate:"
    case absoluteValue = "abs:"
    case squareRoot = "sqrt:"
    /// To the base 10.
    case logarithm = "log:"
    case naturalLogarithm = "ln:"
    case exponential = "exp:"
    case ceiling = "ceiling:"
    case floor = "floor:"
    /// Without its fraction.
    case truncate = "trunc:"
    case bitwiseAnd = "bitwiseAnd:with:"
    case bitwiseOr = "bitwiseOr:with:"
    case bitwiseXor = "bitwiseXor:with:"
    case leftShift = "leftshift:by:"
    case rightShift = "rightshift:by:"
    case onesComplement = "onesComplement:"
    /// Of text, without regard to a language.
    case uppercase = "uppercase:"
    case lowercase = "lowercase:"
    /// Text as comparisons with `[cd]` see it; see ``TextOptions/fold(_:)``.
    case canonical = "canonical:"
    /// The length of text in UTF-16 code units, as Foundation counts.
    case length = "length:"
    /// The time at which the request is executed.
    case now = "now"
    /// A number as a date, in seconds since 2001-01-01 00:00 UTC.
    case castToDate = "castToDate:"
    /// A date, in seconds since 2001-01-01 00:00 UTC, or a number.
    case castToNumber = "castToNumber:"

    /// How many arguments the function takes.
    var arity: Int {
        switch self {
        case .add, .subtract, .multiply, .divide, .modulus, .power, .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift,
            .rightShift:
            2
        case .now: 0
        default: 1
        }
    }

    /// The sign between two arguments, and how tightly it binds.
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
