import CSQLitePeer
import FaultlineStore

#if Peers
import GRDB
#endif

/// G13 and G14: faults on single objects.
struct FaultBudgets: BudgetGroup {
    static let numbers = ["G13", "G14"]

    static func measure(_ options: BudgetOptions, into table: inout BudgetTable) throws {
        if options.wants("G13") { table.add(try FaultBudgets().cached().run(rounds: options.rounds)) }
        if options.wants("G14") { table.add(try FaultBudgets().missing().run(rounds: options.rounds)) }
    }

    private static let count = 10_000
    private let store: PeopleStore

    init() throws {
        store = try PeopleStore(count: Self.count)
    }

    /// A program's own object, read once and looked up by key.
    private final class Kept {
        let age: Int
        let firstName: String

        init(_ values: PersonValues) {
            age = values.age
            firstName = values.firstName
        }
    }

    /// Reads one property of faults whose rows were fetched.
    func cached() -> Comparison {
        var objects: [Int64: Kept] = [:]
        for (place, values) in PersonValues.list(Self.count).enumerated() { objects[Int64(place + 1)] = Kept(values) }
        return Comparison(
            name: "fault from the row cache", operations: Self.count,
            arms: [
                Arm("Dictionary") { [objects] in
                    cpuTime {
                        var sum = 0
                        for key in 1...Int64(Self.count) { sum &+= objects[key]!.age }
                        blackHole(sum)
                    }
                },
                faults("Int", includesPropertyValues: true) { $0.age },
                faults("String", includesPropertyValues: true) { $0[Person.firstName].utf8.count },
                // The time to reach objects and rows outside the first-level cache, without faults.
                faults("Int, fired before", includesPropertyValues: true, areFired: true) { $0.age },
            ],
            budgets: [
                Budget("G13", "Int", against: "Dictionary", atMost: 0.5),
                Budget("G13", "String", against: "Dictionary", atMost: 1.5),
            ])
    }

    /// Reads one property of faults whose rows are only in the store.
    func missing() throws -> Comparison {
        let raw = RawConnection(store.url)
        let find = raw.prepare("SELECT \(PEER_COLUMNS) FROM ZPERSON t0 WHERE t0.Z_PK = ?")
        let keys = (1...Int64(Self.count)).map { $0 }
        var arms = [
            Arm("C") {
                raw.run("BEGIN")
                defer { raw.run("COMMIT") }
                return cpuTime { blackHole(peer_find(find, keys, Int64(keys.count))) }
            },
            faults("fault", includesPropertyValues: false) { $0.age },
        ]
        var budgets = [Budget("G14", "fault", against: "C", atMost: 1.6)]
        #if Peers
        let queue = try GRDBPeer.queue(store.url)
        arms.append(
            Arm("GRDB fetchOne") {
                try queue.read { database in
                    try cpuTime { () throws in
                        var sum = 0
                        for key in keys { sum &+= try GRDBPeer.find(key, database)?.age ?? 0 }
                        blackHole(sum)
                    }
                }
            })
        budgets.append(Budget("G14", "fault", against: "GRDB fetchOne", atMost: 0.45))
        #endif
        return Comparison(name: "fault from the store", operations: Self.count, arms: arms, budgets: budgets)
    }

    /// - Parameter areFired: Whether the faults fire before the measurement.
    private func faults(
        _ name: String, includesPropertyValues: Bool, areFired: Bool = false, _ read: @escaping (Person) -> Int
    ) -> Arm {
        Arm(name) { [store] in
            let context = store.container.newBackgroundContext()
            return try context.performAndWait {
                let request = FetchRequest<Person>(includesPropertyValues: includesPropertyValues)
                let people = Array(try context.fetch(request))
                if areFired {
                    for person in people { blackHole(read(person)) }
                }
                return cpuTime {
                    var sum = 0
                    for person in people { sum &+= read(person) }
                    blackHole(sum)
                }
            }
        }
    }
}
