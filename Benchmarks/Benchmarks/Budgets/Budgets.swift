import CSQLitePeer
import Foundation

/// Measures the budgets of the recorder and the store, side by side with peers, and prints them as a table.
///
///     Budgets [--rounds 31] [--check] [--ctf TRACE] [--events 10] [--uninstrumented PATH] [G12 …]
///
/// The reports of G21 and G22 cover 10 million events unless `--events` states another number of millions; 100 million
/// take some minutes. G2 needs this program built without instrumentation, which `make bench` does. G20 needs a trace of
/// LTTng.
@main
struct Budgets {
    private static let groups: [any BudgetGroup.Type] = [
        SiteBudgets.self, EventBudgets.self, LTTngBudgets.self, FetchBudgets.self, AccessBudgets.self,
        FaultBudgets.self, SaveBudgets.self, RecordingBudgets.self, CTFBudgets.self, ReadingBudgets.self,
        ProgramBudgets.self, MigrationBudgets.self,
    ]

    static func main() {
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
            if arguments.first == "--work" { return try ChildWork.run(Array(arguments.dropFirst())) }
            try measure(try BudgetOptions(arguments))
        } catch {
            FileHandle.standardError.write(Data("Budgets: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func measure(_ options: BudgetOptions) throws {
        let unknown = options.wanted.subtracting(groups.flatMap { $0.numbers })
        guard unknown.isEmpty else {
            throw BudgetError("There is no budget \(unknown.sorted().joined(separator: ", ")).")
        }
        var table = BudgetTable()
        for group in groups where options.wants(group.numbers) { try group.measure(options, into: &table) }
        print("\(machine), \(options.rounds) rounds\n\n\(table.text)")
        if options.isCheck, table.missed > 0 { exit(1) }
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
