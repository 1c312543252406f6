import FaultlineRecorder
import FaultlineStore
import Foundation
import RecorderLoops

/// Work that this program does in a process of its own: under another program, or in another environment.
enum ChildWork {
    /// Returns the command that does some work.
    static func command(_ work: String...) throws -> [String] {
        [try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"), "--work"] + work
    }

    static func run(_ arguments: [String]) throws {
        guard arguments.count == 2 else { throw BudgetError("--work needs a name and a value.") }
        let value = arguments[1]
        switch arguments[0] {
        case "empty": RecorderLoops(.off()).empty(try count(value))
        case "sites": RecorderLoops(.off()).sites(try count(value))
        case "fetches": try SiteBudgets.fetch(try count(value))
        case "record": try SiteBudgets.record(to: value)
        case "lttng": try LTTngBudgets.measureInSession(rounds: try count(value))
        case "migrate": try MigrationBudgets.migrate(value)
        case "read": blackHole(try CTFBudgets.read(value))
        case let work: throw BudgetError("There is no work \"\(work)\".")
        }
    }

    private static func count(_ text: String) throws -> Int {
        guard let count = Int(text) else { throw BudgetError("\"\(text)\" is not a number.") }
        return count
    }
}
