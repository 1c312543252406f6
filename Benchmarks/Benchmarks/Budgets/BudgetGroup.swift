/// Budgets that are measured together.
protocol BudgetGroup: SendableMetatype {
    /// The numbers of the budgets in the design.
    static var numbers: [String] { get }

    /// Measures those that are wanted.
    ///
    /// - Throws: An error if something that the measurement needs is missing, or if the work fails.
    static func measure(_ options: BudgetOptions, into table: inout BudgetTable) throws
}

/// The arguments of the command line.
struct BudgetOptions {
    var rounds = 31
    /// Whether a missed budget makes the command fail.
    var isCheck = false
    /// A trace that `faultline record --to lttng` wrote, for G20.
    var ctf: String?
    /// Millions of events, for G21 and G22.
    var millions = 10
    /// This program, built without instrumentation, for G2.
    var uninstrumented: String?
    /// The wanted numbers; empty for all.
    var wanted: Set<String> = []

    init(_ arguments: [String]) throws {
        var arguments = arguments[...]
        func value(of option: String) throws -> String {
            guard let value = arguments.popFirst() else { throw BudgetError("\(option) needs a value.") }
            return value
        }
        func number(of option: String, atLeast least: Int) throws -> Int {
            let text = try value(of: option)
            guard let number = Int(text), number >= least else {
                throw BudgetError("\(option) needs a number of at least \(least), not \"\(text)\".")
            }
            return number
        }
        while let argument = arguments.popFirst() {
            switch argument {
            case "--rounds": rounds = try number(of: argument, atLeast: 5)
            case "--check": isCheck = true
            case "--ctf": ctf = try value(of: argument)
            case "--events": millions = try number(of: argument, atLeast: 10)
            case "--uninstrumented": uninstrumented = try value(of: argument)
            case _ where argument.hasPrefix("-"): throw BudgetError("There is no option \(argument).")
            default: wanted.insert(argument)
            }
        }
    }

    func wants(_ numbers: String...) -> Bool { wants(numbers) }

    func wants(_ numbers: [String]) -> Bool { wanted.isEmpty || !wanted.isDisjoint(with: numbers) }
}

/// Why something could not be measured.
struct BudgetError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
