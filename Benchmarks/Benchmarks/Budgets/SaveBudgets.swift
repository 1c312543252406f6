import CSQLitePeer
import FaultlineRecorder
import FaultlineStore
import Foundation

#if Peers
import GRDB
#endif

/// G15 and G16: inserting and updating objects.
///
/// Every arm of G15 writes to its own store; all of them grow alike.
struct SaveBudgets: BudgetGroup {
    static let numbers = ["G15", "G16"]

    static func measure(_ options: BudgetOptions, into table: inout BudgetTable) throws {
        let budgets = SaveBudgets()
        if options.wants("G15") { table.add(try budgets.inserts().run(rounds: options.rounds)) }
        guard options.wants("G16") else { return }
        table.add(try budgets.updates().run(rounds: options.rounds))
        table.add("G16", "empty save", count: try budgets.statementsOfAnEmptySave(), atMost: 0, of: "statements")
    }

    private static let count = 10_000

    // MARK: - Bulk insert

    func inserts() throws -> Comparison {
        let values = PersonValues.list(Self.count)
        let ours = try PeopleStore(count: 0)
        var arms = [
            try rawArm(values),
            Arm("insert and save") {
                let context = ours.container.newBackgroundContext()
                return try context.performAndWait {
                    try cpuTime {
                        for value in values { Person(context: context).set(value) }
                        try context.save()
                    }
                }
            },
        ]
        var budgets = [Budget("G15", "insert and save", against: "C", atMost: 2.0)]
        #if Peers
        let theirs = try PeopleStore(count: 0)
        let queue = try GRDBPeer.queue(theirs.url)
        var last: Int64 = 0
        arms.append(
            Arm("GRDB record") {
                let first = last + 1
                last += Int64(Self.count)
                // The arm keeps the store alive.
                return try withExtendedLifetime(theirs) {
                    try queue.writeWithoutTransaction { database in
                        try cpuTime { try GRDBPeer.insert(values, firstKey: first, database) }
                    }
                }
            })
        budgets.append(Budget("G15", "insert and save", against: "GRDB record", atMost: 0.25))
        #endif
        return Comparison(name: "insert 10,000 rows", operations: Self.count, arms: arms, budgets: budgets)
    }

    private func rawArm(_ values: [PersonValues]) throws -> Arm {
        let store = try PeopleStore(count: 0)
        let raw = RawConnection(store.url)
        let insert = raw.prepare(
            "INSERT INTO ZPERSON(Z_PK, Z_ENT, Z_OPT, ZFIRSTNAME, ZLASTNAME, ZAGE, ZHEIGHT, ZSCORE, ZISACTIVE) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)"
        )
        let people = values.map { value in
            peer_person(
                first_name: strdup(value.firstName)!, last_name: strdup(value.lastName)!,
                first_name_length: Int32(value.firstName.utf8.count),
                last_name_length: Int32(value.lastName.utf8.count), age: Int64(value.age), height: value.height,
                score: Int64(value.score), is_active: value.isActive ? 1 : 0)
        }
        var last: Int64 = 0
        return Arm("C") {
            let first = last + 1
            last += Int64(people.count)
            return withExtendedLifetime(store) {
                cpuTime {
                    raw.run("BEGIN")
                    let result = peer_insert(insert, people, Int64(people.count), first)
                    precondition(result == SQLITE_OK, "SQLite cannot insert: \(result).")
                    raw.run("COMMIT")
                }
            }
        }
    }

    // MARK: - Few of many

    private static let saves = 20

    /// Changes and saves few and many objects of a context that holds few and many.
    func updates() throws -> Comparison {
        let store = try PeopleStore(count: 100_000, keepsRows: true)
        // No two arms change the same object, because the second change would not be saved.
        func arm(_ name: String, holding held: Int, changing changed: Range<Int>) throws -> Arm {
            let context = store.container.newBackgroundContext()
            let people = try Held(context, held)
            var round = 0
            return Arm(name) {
                try withExtendedLifetime(store) {
                    try context.performAndWait {
                        round += 1
                        return try cpuTime {
                            for save in 0..<Self.saves {
                                for place in changed {
                                    people.objects[place][Person.score] = round * Self.saves + save
                                }
                                try context.save()
                            }
                        }
                    }
                }
            }
        }
        return Comparison(
            name: "change and save", operations: Self.saves,
            arms: [
                try arm("1 of 1,000", holding: 1000, changing: 0..<1),
                try arm("1 of 100,000", holding: 100_000, changing: 1..<2),
                try arm("100 of 1,000", holding: 1000, changing: 100..<200),
                try arm("100 of 100,000", holding: 100_000, changing: 200..<300),
            ],
            budgets: [
                Budget("G16", "1 of 100,000", against: "1 of 1,000", atMost: 1.3),
                Budget("G16", "100 of 100,000", against: "100 of 1,000", atMost: 1.3),
            ])
    }

    /// Objects that a context holds.
    private final class Held: @unchecked Sendable {
        // Only used on the context's queue.
        let objects: [Person]

        init(_ context: ManagedObjectContext, _ count: Int) throws {
            objects = try context.performAndWait {
                Unchecked(Array(try context.fetch(FetchRequest<Person>(fetchLimit: count))))
            }.value
        }
    }

    private struct Unchecked<Value>: @unchecked Sendable {
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    /// Returns the number of statements that an empty save runs in a context with objects.
    func statementsOfAnEmptySave() throws -> Int {
        let recorder = Recorder.memory()
        let store = try PeopleStore(count: 100, recorder: recorder)
        let context = store.container.newBackgroundContext()
        return try context.performAndWait {
            let people = Array(try context.fetch(FetchRequest<Person>()))
            let before = recorder.events().count
            try context.save()
            return withExtendedLifetime(people) { recorder.events().count - before }
        }
    }
}
