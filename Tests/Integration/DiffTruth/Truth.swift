import Foundation

/// Records every program several times, idle and with all cores busy, and compares the runs in pairs.
struct Truth {
    /// Pairs of equal runs over all programs.
    let pairs: Int

    /// Pairs of equal runs with a change, at most; changes of 1.3 × that are found at least where operations take turns
    /// and the machine does nothing else.
    private static let (mostFalse, leastFound) = (0.01, 0.75)

    /// The conditions under which the two runs of a pair were recorded.
    enum Conditions: String, CaseIterable {
        case idle, busy, mixed
        /// Each side is the sum of several runs, idle or busy.
        case sums

        /// The change that is looked for.
        var factor: Double { self == .sums ? 1.5 : 1.3 }
    }

    /// The results of the pairs of a program.
    struct Score {
        var pairs = 0
        var times = 0
        var counts = 0
        var findings = 0
        var changed = 0
        var tried = 0
        var found = 0

        static func += (sum: inout Score, part: Score) {
            sum.pairs += part.pairs
            sum.times += part.times
            sum.counts += part.counts
            sum.findings += part.findings
            sum.changed += part.changed
            sum.tried += part.tried
            sum.found += part.found
        }
    }

    /// Prints a line for each program and load; false if a goal is missed.
    func run() throws -> Bool {
        let machine = try Machine()
        print(
            "Pairs of equal runs in which something changed, and how often a change of 1.3 × was found (1.5 × in sums)."
        )
        print("'real': the program did 1.3 times the work; 'scaled': the events of one operation were made longer.")
        let isQuiet = Machine.load < 0.5
        if !isQuiet { print("The machine is busy already: how often changes were found while idle is not judged.") }
        print(Self.line("program", "load", "pairs", "times", "counts", "findings", "found"))
        var (sums, turns) = ([Conditions: Score](), Score())
        let rounds = max(1, (pairs + Program.all.count * 4 - 1) / (Program.all.count * 4))
        let chosen = ProcessInfo.processInfo.environment["DIFF_TRUTH_PROGRAM"] ?? ""
        for program in Program.all where chosen.isEmpty || program.name.contains(chosen) {
            for (load, score) in try measure(program, rounds: rounds, on: machine) {
                sums[load, default: Score()] += score
                if program.takesTurns, load == .idle { turns += score }
            }
        }
        return report(sums, turns, isQuiet: isQuiet)
    }

    /// Compares two idle runs of each round, two busy ones, and one of each in both orders; then the sums of all runs in such
    /// pairs.
    private func measure(_ program: Program, rounds: Int, on machine: Machine) throws -> [(Conditions, Score)] {
        let traces = try Traces(of: program, runs: rounds * 2, on: machine)
        var scores: [Conditions: Score] = [:]
        for round in 0..<rounds {
            let (first, second) = (round * 2, round * 2 + 1)
            for (load, before, after) in [
                (Conditions.idle, traces.idle[first], traces.idle[second]),
                (.busy, traces.busy[first], traces.busy[second]),
                (.mixed, traces.idle[first], traces.busy[second]), (.mixed, traces.busy[first], traces.idle[second]),
            ] {
                scores[load, default: Score()] += try compare(before, after, program, load, round, on: machine)
            }
            if let changed = traces.changed.dropFirst(round).first {
                let found = try Comparison(traces.idle[first], changed, on: machine)
                scores[.idle, default: Score()].tried += 1
                if found.times.count == 1, found.times[0].hasPrefix("worse") {
                    scores[.idle, default: Score()].found += 1
                } else {
                    print("  real: \(found.times)")
                }
            }
        }
        let sums = try Sums(of: traces, on: machine)
        for (place, (before, after)) in sums.pairs.enumerated() {
            scores[.sums, default: Score()] += try compare(
                before, after, program, .sums, place, on: machine, scaling: sums.parts[after] ?? [])
        }
        let form = program.changed == nil ? "scaled" : "real and scaled"
        return Conditions.allCases.compactMap { load in
            guard let score = scores[load] else { return nil }
            print(
                Self.line(
                    program.name, load.rawValue, "\(score.pairs)", "\(score.times)", "\(score.counts)",
                    "\(score.findings)", "\(score.found) of \(score.tried) (\(form))"))
            return (load, score)
        }
    }

    /// - Parameter parts: The traces whose sum `after` is; empty: it is one trace.
    private func compare(
        _ before: String, _ after: String, _ program: Program, _ load: Conditions, _ round: Int, on machine: Machine,
        scaling parts: [String] = []
    ) throws -> Score {
        let equal = try Comparison(before, after, on: machine)
        var score = Score(pairs: 1)
        if !equal.times.isEmpty { score.times = 1 }
        if !equal.counts.isEmpty { score.counts = 1 }
        if !equal.findings.isEmpty { score.findings = 1 }
        let all = equal.times + equal.counts + equal.findings
        if !all.isEmpty {
            score.changed = 1
            print("  \(program.name), \(load), \(before) \(after): \(all.joined(separator: "; "))")
        }
        let traces = try (parts.isEmpty ? [after] : parts).map { try ScaledTrace($0) }
        guard let operations = traces.first?.operations, !operations.isEmpty else { return score }
        let operation = operations[round % operations.count]
        let scaled = try traces.enumerated().map { place, trace in
            let path = machine.path("scaled \(place).json")
            try trace.write(to: path, scaling: operation, by: load.factor)
            return path
        }
        let changed = parts.isEmpty ? scaled[0] : try Sums.sum(scaled, "scaled", on: machine)
        score.tried += 1
        if try Comparison(before, changed, on: machine).times.contains(where: { $0.hasPrefix("worse") }) {
            score.found += 1
        }
        return score
    }

    private func report(_ sums: [Conditions: Score], _ turns: Score, isQuiet: Bool) -> Bool {
        var all = Score()
        for load in Conditions.allCases { all += sums[load] ?? Score() }
        let isSilent = Double(all.changed) <= Double(all.pairs) * Self.mostFalse
        let isFound = Double(turns.found) >= Double(turns.tried) * Self.leastFound
        print(
            "\(all.changed) of \(all.pairs) pairs of equal runs had a change: \(isSilent ? "met" : "MISSED") "
                + "(\(all.times) of time, \(all.counts) of counts, \(all.findings) of findings)")
        for load in Conditions.allCases {
            let score = sums[load] ?? Score()
            print("\(load.rawValue): \(score.found) of \(score.tried) changes of \(load.factor) × were found")
        }
        let verdict = !isQuiet ? "not judged" : isFound ? "met" : "MISSED"
        print("\(turns.found) of \(turns.tried) were found where operations take turns, idle: \(verdict)")
        return isSilent && (isFound || !isQuiet)
    }

    private static func line(_ cells: String...) -> String {
        zip(cells, [30, 6, 7, 7, 7, 9, 0]).map { cell, width in
            cell.padding(toLength: max(width, cell.count), withPad: " ", startingAt: 0)
        }.joined()
    }
}
