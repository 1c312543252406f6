// Measures whether predictions hold.
//
//     Truth measure [--repeats N] [--only workload]…   records workloads, and measures each prediction with `verify`
//     Truth applications [--pairs N]                   compares the applications' forms with what is predicted
//     Truth growth                                      compares the growth of results with the projections in reports
//     Truth work <workload> <store> <rows> <share> warm|cold
//     Truth fill <store> <rows> <share>
//     Truth spin                                        keeps a core busy until its input ends

import FaultlineStore
import Foundation
import TruthKit

do {
    let arguments = Array(CommandLine.arguments.dropFirst())
    switch arguments.first {
    case "measure": exit(try measure(arguments) ? 0 : 1)
    case "applications": try Comparison.printAll(pairs: values(of: "--pairs", arguments).last.flatMap { Int($0) } ?? 5)
    case "growth": try Growth.printAll()
    case "fill" where arguments.count == 4: try TruthStore(arguments).fill()
    case "work" where arguments.count == 6:
        let store = try TruthStore(Array(arguments[1...]))
        let context = try store.open().newBackgroundContext()
        try context.performAndWait {
            try Workload(store: store, context: context).run(arguments[1], isWarm: arguments[5] == "warm")
        }
    case "spin": Load.spin()
    default:
        FileHandle.standardError.write(Data("Usage: Truth measure [--repeats N] [--only workload]…\n".utf8))
        exit(2)
    }
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}

/// The values of an option, one for each time that it is given.
func values(of option: String, _ arguments: [String]) -> [String] {
    arguments.indices.dropLast().filter { arguments[$0] == option }.map { arguments[$0 + 1] }
}

/// Measures all workloads, or those that are named, and prints what came of it.
///
/// - Returns: Whether every goal is met.
func measure(_ arguments: [String]) throws -> Bool {
    let only = values(of: "--only", arguments)
    var driver = Driver(repeats: values(of: "--repeats", arguments).last.flatMap { Int($0) } ?? 3)
    for setting in Setting.all where only.isEmpty || only.contains(setting.workload) {
        try driver.measure(setting)
    }
    let summary = Summary(driver.measurements)
    print(summary.text)
    return summary.meetsGoals
}
