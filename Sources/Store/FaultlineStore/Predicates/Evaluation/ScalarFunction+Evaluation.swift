import FaultlineModel
import Foundation

extension ScalarFunction {
    /// Evaluates the function as SQLite does.
    ///
    /// - Parameters:
    ///   - isReal: Whether integers among the arguments are decimals, which are not divided as integers.
    ///   - now: The value of ``now``.
    func value(_ arguments: [SQLValue], isReal: Bool, now: Date) -> SQLValue {
        if self == .now { return SQLValue(.date(now)) }
        guard !arguments.contains(.null) else { return .null }
        switch (self, arguments[0], arguments.count > 1 ? arguments[1] : .null) {
        case (.add, .integer(let left), .integer(let right)):
            return Self.integer(left.addingReportingOverflow(right)) ?? real(arguments)
        case (.subtract, .integer(let left), .integer(let right)):
            return Self.integer(left.subtractingReportingOverflow(right)) ?? real(arguments)
        case (.multiply, .integer(let left), .integer(let right)):
            return Self.integer(left.multipliedReportingOverflow(by: right)) ?? real(arguments)
        case (.divide, .integer(let left), .integer(let right)) where !isReal:
            if right == 0 { return .null }
            return Self.integer(left.dividedReportingOverflow(by: right)) ?? real(arguments)
        case (.modulus, .integer(let left), .integer(let right)):
            return Self.remainder(left, right).map { .integer($0) } ?? .null
        case (.modulus, let left, let right):
            return Self.remainder(left.truncated, right.truncated).map { .real(Double($0)) } ?? .null
        case (.negate, .integer(let value), _):
            return Self.integer((0 as Int64).subtractingReportingOverflow(value)) ?? real(arguments)
        case (.absoluteValue, .integer(let value), _) where value != .min: return .integer(abs(value))
        case (.ceiling, .integer, _), (.floor, .integer, _), (.truncate, .integer, _): return arguments[0]
        case (.bitwiseAnd, .integer(let left), .integer(let right)): return .integer(left & right)
        case (.bitwiseOr, .integer(let left), .integer(let right)): return .integer(left | right)
        case (.bitwiseXor, .integer(let left), .integer(let right)): return .integer(left ^ right)
        case (.leftShift, .integer(let left), .integer(let right)): return .integer(left << right)
        case (.rightShift, .integer(let left), .integer(let right)): return .integer(left >> right)
        case (.onesComplement, .integer(let value), _): return .integer(~value)
        case (.uppercase, .text(let text), _): return .text(text.uppercased())
        case (.lowercase, .text(let text), _): return .text(text.lowercased())
        case (.canonical, .text(let text), _): return .text(TextOptions.canonical.fold(text))
        case (.length, .text(let text), _): return .integer(Int64(text.utf16.count))
        case (.castToDate, let value, _), (.castToNumber, let value, _): return value
        default: return real(arguments)
        }
    }

    private static func integer(_ result: (partialValue: Int64, overflow: Bool)) -> SQLValue? {
        result.overflow ? nil : .integer(result.partialValue)
    }

    private static func remainder(_ left: Int64, _ right: Int64) -> Int64? {
        right == 0 ? nil : right == -1 ? 0 : left % right
    }

    /// Evaluates the function in floating point; NaN becomes no value.
    private func real(_ arguments: [SQLValue]) -> SQLValue {
        // SQLite's mathematical functions return NULL for blobs, which hold the digits of long decimals.
        let isMathematical: Bool =
            switch self {
            case .power, .squareRoot, .logarithm, .naturalLogarithm, .exponential, .ceiling, .floor, .truncate: true
            default: false
            }
        var numbers: [Double] = []
        for argument in arguments {
            if isMathematical, case .blob = argument { return .null }
            guard let number = argument.number else { return .null }
            numbers.append(number)
        }
        let result: Double
        switch self {
        case .add: result = numbers[0] + numbers[1]
        case .subtract: result = numbers[0] - numbers[1]
        case .multiply: result = numbers[0] * numbers[1]
        case .divide:
            guard numbers[1] != 0 else { return .null }
            result = numbers[0] / numbers[1]
        case .negate: result = 0 - numbers[0]
        case .absoluteValue: result = abs(numbers[0])
        case .power: result = pow(numbers[0], numbers[1])
        case .squareRoot: result = numbers[0].squareRoot()
        case .logarithm, .naturalLogarithm:
            guard numbers[0] > 0 else { return .null }
            result = self == .logarithm ? log10(numbers[0]) : log(numbers[0])
        case .exponential: result = exp(numbers[0])
        case .ceiling: result = numbers[0].rounded(.up)
        case .floor: result = numbers[0].rounded(.down)
        case .truncate: result = numbers[0].rounded(.towardZero)
        default: return .null
        }
        return result.isNaN ? .null : .real(result)
    }
}

extension SQLValue {
    /// The value as an integer, truncated toward zero.
    fileprivate var truncated: Int64 {
        switch self {
        case .integer(let value): return value
        default:
            let number = number ?? 0
            return number >= 0x1p63 ? .max : number < -0x1p63 ? .min : Int64(number)
        }
    }
}
