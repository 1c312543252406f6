import Benchmark
import CSQLitePeer
import FaultlineStore
import Foundation

#if Peers
    import GRDB
#endif

/// Fetches all people and reads every property of each, in the store and in its peers on the same file.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.wallClock, .peakMemoryResident], timeUnits: .microseconds, warmupIterations: 2, scalingFactor: .one,
        maxDuration: .seconds(3), maxIterations: 100_000)
    let people: People
    do {
        people = try People()
    } catch {
        fatalError("The benchmark's store could not be made: \(error)")
    }

    Benchmark("fetch 10,000 rows and read them: SQLite's C API") { benchmark in
        let connection = openRaw(people.url)
        defer { sqlite3_close(connection) }
        let statement = prepareRaw(connection)
        defer { sqlite3_finalize(statement) }
        benchmark.startMeasurement()
        blackHole(readRaw(statement))
        benchmark.stopMeasurement()
    }

    Benchmark("fetch 10,000 rows and read them: Faultline") { benchmark in
        let context = people.container.newBackgroundContext()
        let request = FetchRequest<Person>()
        try context.performAndWait {
            benchmark.startMeasurement()
            var sum = 0
            for person in try context.fetch(request) {
                sum &+= person[Person.firstName].utf8.count &+ person[Person.lastName].utf8.count
                sum &+= person[Person.age] &+ Int(person[Person.height] * 100) &+ person[Person.score]
                sum &+= person[Person.isActive] ? 1 : 0
            }
            blackHole(sum)
            benchmark.stopMeasurement()
        }
    }

    #if Peers
        Benchmark("fetch 10,000 rows and read them: GRDB record") { benchmark in
            let queue = try DatabaseQueue(path: people.url.path)
            try queue.read { database in
                benchmark.startMeasurement()
                var sum = 0
                for person in try PersonRecord.fetchAll(database) {
                    sum &+= person.firstName.utf8.count &+ person.lastName.utf8.count
                    sum &+= person.age &+ Int(person.height * 100) &+ person.score
                    sum &+= person.isActive ? 1 : 0
                }
                blackHole(sum)
                benchmark.stopMeasurement()
            }
        }
    #endif
}

// MARK: - SQLite's C API

private let columns = "ZFIRSTNAME, ZLASTNAME, ZAGE, ZHEIGHT, ZSCORE, ZISACTIVE"

private func openRaw(_ url: URL) -> OpaquePointer? {
    var connection: OpaquePointer?
    sqlite3_open_v2(url.path, &connection, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nil)
    return connection
}

private func prepareRaw(_ connection: OpaquePointer?) -> OpaquePointer? {
    var statement: OpaquePointer?
    sqlite3_prepare_v2(connection, "SELECT Z_PK, \(columns) FROM ZPERSON", -1, &statement, nil)
    return statement
}

private func readRaw(_ statement: OpaquePointer?) -> Int {
    var sum = 0
    while sqlite3_step(statement) == SQLITE_ROW {
        _ = sqlite3_column_text(statement, 1)
        _ = sqlite3_column_text(statement, 2)
        sum &+= Int(sqlite3_column_bytes(statement, 1)) &+ Int(sqlite3_column_bytes(statement, 2))
        sum &+= Int(sqlite3_column_int64(statement, 3)) &+ Int(sqlite3_column_double(statement, 4) * 100)
        sum &+= Int(sqlite3_column_int64(statement, 5)) &+ Int(sqlite3_column_int64(statement, 6))
    }
    return sum
}

// MARK: - GRDB

#if Peers
    private struct PersonRecord: FetchableRecord, TableRecord {
        static let databaseTableName = "ZPERSON"
        static var databaseSelection: [any SQLSelectable] {
            columns.split(separator: ", ").map { Column(String($0)) }
        }

        var firstName: String
        var lastName: String
        var age: Int
        var height: Double
        var score: Int
        var isActive: Bool

        init(row: Row) {
            firstName = row[0]
            lastName = row[1]
            age = row[2]
            height = row[3]
            score = row[4]
            isActive = row[5]
        }
    }
#endif
