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
    /// The number without its sign.
    case absoluteValue = "abs:"
    /// The square root.
    case squareRoot = "sqrt:"
    /// The logarithm to base 10.
    case logarithm = "log:"
    /// The natural logarithm.
    case naturalLogarithm = "ln:"
    /// The power of e.
    case exponential = "exp:"
    /// The smallest integer that is not less than the number.
    case ceiling = "ceiling:"
    /// The largest integer that is not greater than the number.
    case floor = "floor:"
    /// The number rounded toward zero.
    case truncate = "trunc:"
    /// `a & b`, the bits that both integers have.
    case bitwiseAnd = "bitwiseAnd:with:"
    /// `a | b`, the bits that at least one of the integers has.
    case bitwiseOr = "bitwiseOr:with:"
    /// `a ^ b`, the bits that exactly one of the integers has.
    case bitwiseXor = "bitwiseXor:with:"
    /// `a << b`, the first integer, shifted left by as many bits as the second says.
    case leftShift = "leftshift:by:"
    /// `a >> b`, the first integer, shifted right by as many bits as the second says.
    case rightShift = "rightshift:by:"
    /// `~a`, the integer with all bits inverted.
    case onesComplement = "onesComplement:"
    /// Text in uppercase, independent of the locale.
    case uppercase = "uppercase:"
    /// Text in lowercase, independent of the locale.
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

    /// The infix operator and its precedence, which are C's, except for `**`.
    ///
    /// Prefix operators bind less tightly than a power, and more tightly than anything else.
    var sign: (text: String, strength: Int)? {
        switch self {
        case .bitwiseOr: ("|", 1)
        case .bitwiseXor: ("^", 2)
        case .bitwiseAnd: ("&", 3)
        case .leftShift: ("<<", 4)
        case .rightShift: (">>", 4)
        case .add: ("+", 5)
        case .subtract: ("-", 5)
        case .multiply: ("*", 6)
        case .divide: ("/", 6)
        case .modulus: ("%", 6)
        case .power: ("**", Self.powerStrength)
        default: nil
        }
    }

    /// The precedence of prefix operators.
    static let prefixStrength = 7
    static let powerStrength = 8
}
