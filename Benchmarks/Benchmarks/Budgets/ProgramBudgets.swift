import Foundation

/// G24 to G27: programs that do not know Faultline, recorded and not recorded.
///
/// Each sample is a run of its own. The program prints the CPU time of its work, so neither its start nor the process that
/// writes the trace counts.
struct ProgramBudgets: BudgetGroup {
    static let numbers = ["G24", "G25", "G26", "G27"]

    static func measure(_ options: BudgetOptions, into table: inout BudgetTable) throws {
        let budgets = try ProgramBudgets()
        for work in budgets.works where options.wants(work.number) {
            if let missing = work.missing {
                table.note("\(work.number), \(work.name) was not measured: it needs \(missing)")
                continue
            }
            table.add(try budgets.comparison(work).run(rounds: options.rounds))
        }
    }

    private let people: PeopleStore
    private let folder: ScratchFolder
    /// The command, which `make build` builds beside the libraries that it preloads.
    private static let command = package.appendingPathComponent(".build/release/faultline").path
    private static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private init() throws {
        guard FileManager.default.isExecutableFile(atPath: Self.command) else {
            throw BudgetError("There is no \(Self.command); run make build.")
        }
        people = try PeopleStore(count: 10_000)
        // Rows in the write-ahead log take longer to find.
        RawConnection(people.url).run("PRAGMA wal_checkpoint(TRUNCATE)")
        folder = try ScratchFolder()
    }

    private struct Work {
        let number: String
        let name: String
        /// The number of operations that a run measures.
        let operations: Int
        let limit: Double
        let command: [String]
        /// The options of `record`.
        var options: [String] = []
        /// The package to install if it is missing.
        var missing: String?
    }

    private var works: [Work] {
        let own = (try? ChildWork.command())?.first ?? ""
        let programs = URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent("BenchmarkPrograms")
        let scripts = Self.package.appendingPathComponent("Benchmarks/Programs")
        let python = ["/usr/bin/python3", scripts.appendingPathComponent("programs.py").path]
        let page = ["/usr/bin/python3", scripts.appendingPathComponent("page.py").path]
        let hasDjango = (try? Child.run(["/usr/bin/python3", "-c", "import django"])) != nil
        let django = hasDjango ? nil : "python3-django"
        let store = people.url.path
        return [
            Work(
                number: "G24", name: "a point query in C", operations: 200_000, limit: 1.10,
                command: [programs.path, "points", store]),
            Work(
                number: "G24", name: "a point query in Python", operations: 100_000, limit: 1.06,
                command: python + ["points", store]),
            Work(
                number: "G24", name: "a Django page of 101 queries", operations: 40, limit: 1.03, command: page,
                missing: django),
            Work(
                number: "G25", name: "a row of a scan in C", operations: 500_000, limit: 1.05,
                command: [programs.path, "scan", store]),
            Work(
                number: "G26", name: "a computing C program of two threads", operations: 1, limit: 1.01,
                command: [programs.path, "compute"], options: ["--cpu"]),
            Work(
                number: "G26", name: "a computing Python program", operations: 1, limit: 1.01,
                command: python + ["compute"], options: ["--cpu"]),
            Work(
                number: "G27", name: "maps and strings in C++", operations: 1, limit: 1.08,
                command: [programs.path, "maps"], options: ["--allocations"]),
            Work(
                number: "G27", name: "dictionaries and lists in Python", operations: 1, limit: 1.03,
                command: python + ["allocate"], options: ["--allocations"]),
        ]
    }

    private func comparison(_ work: Work) -> Comparison {
        Comparison(
            name: work.name, operations: work.operations,
            arms: [
                Arm("not recorded") { try Child.printedTime(work.command) },
                Arm("recorded") {
                    let trace = folder.path("\(UUID().uuidString).json")
                    defer { try? FileManager.default.removeItem(atPath: trace) }
                    return try Child.printedTime(
                        [Self.command, "record", "--quiet"] + work.options + ["-o", trace, "--"] + work.command)
                },
            ],
            budgets: [Budget(work.number, "recorded", against: "not recorded", atMost: work.limit)])
    }
}
