// Measures what "faultline diff" claims: that equal runs are the same, and that a change of 1.3 × is found.
//
//     DiffTruth [pairs]                 records programs over and over, and compares the runs
//     DiffTruth work <store> prepare|run <number>…
//     DiffTruth spin
//
// It runs the programs that were built beside it. The status is 1 if a goal is missed.

import Foundation
import TruthKit

let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case "spin": Load.spin()
case "work":
    try Documents(store: arguments[1], numbers: arguments.dropFirst(3).compactMap { Int($0) })
        .run(isPreparing: arguments[2] == "prepare")
default:
    let pairs = arguments.first.flatMap { Int($0) } ?? 200
    exit(try Truth(pairs: pairs).run() ? 0 : 1)
}
