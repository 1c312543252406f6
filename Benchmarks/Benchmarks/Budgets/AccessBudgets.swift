import FaultlineStore

/// Reading an attribute of an object that is there, by its key.
struct AccessBudgets {
    private static let count = 1_000
    private static let repetitions = 500
    private let store: PeopleStore

    init() throws {
        store = try PeopleStore(count: Self.count)
    }

    /// What a program keeps that reads rows into arrays.
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
                        for repetition in 0..<Self.repetitions {
                            for object in plain { sum &+= object.values[repetition & 1] }
                        }
                        blackHole(sum)
                    }
                },
                Arm("attribute") {
                    try context.performAndWait {
                        let people = Array(try context.fetch(FetchRequest<Person>()))
                        for person in people { blackHole(person.sum) }
                        return cpuTime {
                            var sum = 0
                            for _ in 0..<Self.repetitions {
                                for person in people { sum &+= person[Person.age] }
                            }
                            blackHole(sum)
                        }
                    }
                },
            ],
            budgets: [Budget("access", "attribute", against: "array index", atMost: 2)])
    }
}
