import CSQLitePeer
import Foundation

/// Measures the budgets of the store against SQLite's C interface and GRDB, and prints them as a table.
///
///     Budgets [--rounds 31] [--check] [--ctf TRACE] [--events 10] [G12 …]
///
/// The reports of G21 and G22 cover 10 million events unless `--events` states another number of millions; 100 million
/// take some minutes.
@main
struct Budgets {
    static func main() {
        do {
            try run()
        } catch {
            FileHandle.standardError.write(Data("Budgets: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run() throws {
        var rounds = 31
        var isCheck = false
        var ctf: String?
        var millions = 10
        var wanted: [String] = []
        var arguments = CommandLine.arguments.dropFirst()
        while let argument = arguments.popFirst() {
            switch argument {
            case "--rounds": rounds = arguments.popFirst().flatMap { Int($0) }.map { max($0, 5) } ?? rounds
            case "--check": isCheck = true
            case "--ctf": ctf = arguments.popFirst()
            case "--events": millions = arguments.popFirst().flatMap { Int($0) }.map { max($0, 10) } ?? millions
            case "--read":
                // Runs the work that G20 measures, as a separate program.
                guard let trace = arguments.popFirst() else { exit(2) }
                blackHole(try CTFBudgets.read(trace))
                return
            default: wanted.append(argument)
            }
        }
        func isWanted(_ numbers: String...) -> Bool { wanted.isEmpty || !Set(numbers).isDisjoint(with: wanted) }

        var table = BudgetTable()
        if isWanted("G10", "G11", "G12") { table.add(try FetchBudgets().comparison().run(rounds: rounds)) }
        if isWanted("access") { table.add(try AccessBudgets().comparison().run(rounds: rounds)) }
        if isWanted("G13") { table.add(try FaultBudgets().cached().run(rounds: rounds)) }
        if isWanted("G14") { table.add(try FaultBudgets().missing().run(rounds: rounds)) }
        if isWanted("G15") { table.add(try SaveBudgets().inserts().run(rounds: rounds)) }
        if isWanted("G16") {
            table.add(try SaveBudgets().updates().run(rounds: rounds))
            table.add(
                "G16", "empty save", count: try SaveBudgets().statementsOfAnEmptySave(), atMost: 0, of: "statements")
        }
        if isWanted("G17") {
            let budgets = try RecordingBudgets()
            for comparison in budgets.comparisons() {
                let outcome = try comparison.run(rounds: rounds)
                table.add(outcome)
                let share = budgets.reportedShare(outcome)
                table.add(
                    "G17", "\(comparison.name): reported cost, deviation from the measured one",
                    count: abs(share - 100),
                    atMost: 20, of: "% (\(share) %)")
            }
            let hits = try budgets.hits().run(rounds: rounds)
            table.add(hits)
            let added = hits.nanoseconds("counted") - hits.nanoseconds("not recorded")
            table.add("G17", "counting a row-cache hit", count: Int(added.rounded()), atMost: 12, of: "ns")
        }
        if let ctf, isWanted("G20") { table.add(try CTFBudgets(trace: ctf).reading().run(rounds: rounds)) }
        try read(isWanted, rounds, millions, &table)
        print("\(machine), \(rounds) rounds\n\n\(table.text)")
        if isCheck, table.missed > 0 { exit(1) }
    }

    /// Measures reading and reporting a trace.
    private static func read(
        _ isWanted: (String...) -> Bool, _ rounds: Int, _ millions: Int, _ table: inout BudgetTable
    ) throws {
        let budgets = ReadingBudgets()
        if isWanted("G19") { table.add(try budgets.reading().run(rounds: rounds)) }
        if isWanted("G21", "G22") {
            let report = { (millions: Int) in try budgets.report(events: millions * 1_000_000) }
            // The first report fills the caches that all of them use.
            _ = try report(1)
            let (small, large) = (try report(1), try report(millions))
            let tenth = millions == 10 ? small : try report(millions / 10)
            let kibibytes = { (bytes: Int) in max(0, bytes / 1024) }
            table.add(
                "G21", "memory of a report: \(millions) million events more than 1 million",
                count: kibibytes(large.memory - small.memory), atMost: 4096, of: "KiB")
            table.add(
                "G21", "memory of a report: \(millions) million events", count: kibibytes(large.memory), atMost: 65_536,
                of: "KiB")
            table.add(
                "G22", "report time per event: \(millions) million events vs. \(millions / 10) million",
                count: Int((large.time / tenth.time * 100).rounded()), atMost: 110, of: "%")
            let times =
                "\(Int(tenth.time)) ns with \(millions / 10) million, \(Int(large.time)) ns with \(millions) million"
            table.note("report time per event: \(times)")
        }
        if isWanted("G23") {
            table.add(
                "G23", "a percentile of a million values, worst error", count: budgets.worstPercentile(), atMost: 10,
                of: "‰")
        }
    }

    /// The machine and the SQLite version of the measurement.
    private static var machine: String {
        let information = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        let model = information.split(separator: "\n").first { $0.hasPrefix("model name") }?
            .split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) }
        return
            "\(model ?? "unknown processor"), \(ProcessInfo.processInfo.processorCount) cores, SQLite \(String(cString: sqlite3_libversion()))"
    }
}
