import FaultlineStore

/// Reads an attribute of realized objects, one after the other.
struct AccessBudgets: BudgetGroup {
    static let numbers = ["access"]

    static func measure(_ options: BudgetOptions, into table: inout BudgetTable) throws {
        table.add(try AccessBudgets().comparison().run(rounds: options.rounds))
    }

    /// Few enough for the first-level cache, so the work itself is measured.
    private static let count = 100
    private static let repetitions = 5_000
    private let store: PeopleStore

    init() throws {
        store = try PeopleStore(count: Self.count)
    }

    /// A program's own object, filled from rows read into arrays.
    private final class Plain {
        var values: [Int]

        init(_ values: PersonValues) {
            self.values = [values.age, values.score]
        }
    }

    func comparison() throws -> Comparison {
        let plain = PersonValues.list(Self.count).map(Plain.init)
        let context = store.container.newBackgroundContext()
        return Comparison(
            name: "read an Int", operations: Self.count * Self.repetitions,
            arms: [
                Arm("array index") {
                    cpuTime {
                        var sum = 0
                        for _ in 0..<Self.repetitions {
                            for object in plain { sum &+= object.values[0] }
                        }
                        blackHole(sum)
                    }
                },
                attribute("attribute", in: context) { people in
                    var sum = 0
                    for _ in 0..<Self.repetitions {
                        for person in people { sum &+= person.age }
                    }
                    return sum
                },
                attribute("attribute by its key", in: context) { people in
                    let age = Person.age
                    var sum = 0
                    for _ in 0..<Self.repetitions {
                        for person in people { sum &+= person[age] }
                    }
                    return sum
                },
            ],
            budgets: [
                Budget("access", "attribute", against: "array index", atMost: 2),
                Budget("access", "attribute by its key", against: "array index", atMost: 2),
            ])
    }

    private func attribute(
        _ name: String, in context: ManagedObjectContext, _ read: @escaping ([Person]) -> Int
    ) -> Arm {
        Arm(name) {
            try context.performAndWait {
                let people = Array(try context.fetch(FetchRequest<Person>()))
                for person in people { blackHole(person.sum) }
                return cpuTime { blackHole(read(people)) }
            }
        }
    }
}
