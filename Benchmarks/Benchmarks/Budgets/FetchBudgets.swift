import CSQLitePeer
import FaultlineStore

#if Peers
import GRDB
#endif

/// G10 to G12: fetching all rows of a table.
struct FetchBudgets: BudgetGroup {
    static let numbers = ["G10", "G11", "G12"]

    static func measure(_ options: BudgetOptions, into table: inout BudgetTable) throws {
        table.add(try FetchBudgets().comparison().run(rounds: options.rounds))
    }

    private static let count = 10_000
    private let store: PeopleStore
    private let raw: RawConnection
    private let scan: OpaquePointer

    init() throws {
        store = try PeopleStore(count: Self.count)
        raw = RawConnection(store.url)
        scan = raw.prepare("SELECT \(PEER_COLUMNS) FROM ZPERSON t0")
    }

    func comparison() throws -> Comparison {
        var arms = [
            Arm("C") { cpuTime { blackHole(peer_scan(scan)) } },
            // The minimum cost of creating any objects: a copy of each row in its own block of memory.
            Arm("C, kept") { cpuTime { blackHole(peer_keep(scan)) } },
            arm("row cache") { blackHole($0.endIndex) },
            arm("faults") {
                var last: Person?
                for person in $0 { last = person }
                blackHole(last)
            },
            arm("everything") {
                var sum = 0
                for person in $0 { sum &+= person.sum }
                blackHole(sum)
            },
        ]
        var budgets = [
            Budget("G10", "row cache", against: "C", atMost: 1.25),
            Budget("G11", "faults", against: "C", atMost: 1.5),
            Budget("G12", "everything", against: "C", atMost: 2.0),
        ]
        #if Peers
        let queue = try GRDBPeer.queue(store.url)
        arms.append(
            Arm("GRDB record") {
                try queue.read { database in
                    try cpuTime { blackHole(GRDBPeer.sum(try PersonRecord.fetchAll(database))) }
                }
            })
        arms.append(
            Arm("GRDB Codable") {
                try queue.read { database in
                    try cpuTime { blackHole(GRDBPeer.sum(try CodablePerson.fetchAll(database))) }
                }
            })
        budgets.append(Budget("G12", "everything", against: "GRDB record", atMost: 1.0))
        budgets.append(Budget("G12", "everything", against: "GRDB Codable", atMost: 0.3))
        #endif
        return Comparison(
            name: "fetch 10,000 rows", operations: Self.count, arms: arms, budgets: budgets)
    }

    /// Fetches and releases everything, as GRDB's arms do; the row cache is empty before.
    private func arm(_ name: String, _ use: @escaping (FetchResults<Person>) -> Void) -> Arm {
        Arm(name) { [store] in
            let context = store.container.newBackgroundContext()
            return try context.performAndWait {
                try cpuTime { use(try context.fetch(FetchRequest<Person>())) }
            }
        }
    }
}
