import FaultlineAnalysis
import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import FaultlineTrace
import Foundation

/// Measures the basic steps of SQLite's work and the store's on this machine.
///
/// Machines differ in them by a factor of three, and not in all of them alike: memory may be slow where the processor is
/// fast. Of scans it takes the CPU time, so that other work on the machine makes little difference; of rows that are loaded the
/// median of many.
struct StepCalibration {
    private(set) var steps: [CalibrationEntry.Step: Double] = [:]

    /// Rows that are scanned; so many that the clock's reading matters little.
    private static let scannedRows = 2000
    /// Rows with a long value, and its bytes: together more than the second-level caches of processors hold, as tables of
    /// stores usually are.
    private static let (longRows, longBytes) = (768, 3000)
    /// Rows of a fetch, and how often all are fetched.
    private static let (fetchedRows, rounds) = (64, 3)
    /// How often a scan is measured.
    private static let scans = 7

    /// - Throws: ``ReplayError`` or what the store throws if there is no room in the folder.
    init(_ folder: ScratchFolder) throws {
        let place = folder.place(of: "steps.sqlite")
        try measureLoading(URL(fileURLWithPath: place))
        try measureScans(place)
    }

    /// Keeps what a step was measured to take; a difference that the noise makes negative tells nothing.
    private mutating func set(_ step: CalibrationEntry.Step, _ time: Double) {
        if time > 0 { steps[step] = time }
    }

    // MARK: Loading

    private mutating func measureLoading(_ url: URL) throws {
        let long = Calibration.attributes + [AttributeDescription("payload", .binary)]
        let byNumber = [FetchIndexDescription("byNumber", on: "number")]
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Short", attributes: Calibration.attributes, indexes: byNumber),
            EntityDescription("Long", attributes: long, indexes: byNumber),
        ])
        try Self.fill(try Calibration.open(url, model, .off()))
        let times = try (0..<Self.rounds).map { _ in try Self.rowTimes(url, model) }
        let row = Saving.Range.median(of: times.flatMap(\.short)).median
        set(.loadedRow, row)
        set(.loadedByte, (Saving.Range.median(of: times.flatMap(\.long)).median - row) / Double(Self.longBytes))
        set(.identity, Saving.Range.median(of: times.flatMap(\.identities)).median)
    }

    /// What SQLite and the store take for short rows, for long ones and for an object ID, in nanoseconds.
    ///
    /// Rows stay in the row cache, as those of programs do, so that each finds a place of its own in memory.
    private static func rowTimes(
        _ url: URL, _ model: ManagedObjectModel
    ) throws -> (short: [Double], long: [Double], identities: [Double]) {
        let recorder = Recorder.memory()
        let context = try Calibration.open(url, model, recorder, cachesRows: true).newBackgroundContext()
        try context.performAndWait {
            for entity in ["Short", "Long"] {
                // So that SQLite has the pages.
                _ = try context.count(
                    for: FetchRequest<ManagedObject>(entityName: entity, predicate: PropertyPath("amount") < 0))
            }
            for first in stride(from: 0, to: longRows, by: fetchedRows) {
                for entity in ["Short", "Long"] {
                    let numbers = PropertyPath("number") >= first && PropertyPath("number") < first + fetchedRows
                    _ = try context.fetch(FetchRequest<ManagedObject>(entityName: entity, predicate: numbers))
                }
            }
            for _ in 0..<5 { _ = try context.fetchObjectIDs(FetchRequest<ManagedObject>(entityName: "Short")) }
        }
        var times: (short: [Double], long: [Double], identities: [Double]) = ([], [], [])
        for event in recorder.events() {
            guard case .fetch(let fetch) = event.detail, fetch.rows > 1 else { continue }
            let rows = Double(fetch.rows)
            if fetch.rows == longRows {
                times.identities.append(Double(event.duration) / rows)
            } else if fetch.bytes > UInt64(fetchedRows * longBytes) {
                times.long.append(Double(fetch.step) / rows)
            } else {
                times.short.append(Double(fetch.step) / rows)
            }
        }
        return times
    }

    private static func fill(_ container: PersistentContainer) throws {
        let context = container.newBackgroundContext()
        try context.performAndWait {
            for number in 0..<longRows {
                for entity in ["Short", "Long"] {
                    let row = context.insertNewObject(forEntityName: entity)
                    Calibration.fill(row, number)
                    if entity == "Long" { row.setValue(Data(count: longBytes), forKey: "payload") }
                }
            }
            try context.save()
        }
    }

    // MARK: Scans

    private mutating func measureScans(_ place: String) throws {
        let file = try DatabaseFile(copy: place, named: place)
        try file.run("CREATE TABLE scanned (id INTEGER PRIMARY KEY, kind INTEGER, a INTEGER, b INTEGER, name TEXT)")
        try file.run(
            "INSERT INTO scanned WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number "
                + "WHERE n < \(Self.scannedRows)) "
                + "SELECT n, 1, n, n * 7919 % 1000, 'A name of some length, ' || n FROM number")
        let rows = Double(Self.scannedRows)
        let passed = try Self.time("SELECT count(*) FROM scanned WHERE b = -1", file) / rows
        func beside(_ sql: String) throws -> Double { try Self.time(sql, file) / rows - passed }
        set(.passedRow, passed)
        set(.comparison, try beside("SELECT count(*) FROM scanned WHERE a > 0 AND b = -1"))
        set(.countedRow, try beside("SELECT count(*) FROM scanned WHERE b >= 0"))
        set(.summedRow, try beside("SELECT sum(a) FROM scanned WHERE b >= 0"))
        set(.sortedRow, try beside("SELECT * FROM scanned ORDER BY b LIMIT 20"))
        try file.run("PRAGMA cache_size = \(2 * Self.longRows)")
        let sql = "SELECT count(*) FROM ZLONG WHERE ZAMOUNT = -1"
        let inMemory = try Self.time(sql, file)
        let bytes = Double(Self.longRows * Self.longBytes)
        set(.passedByte, (inMemory - passed * Double(Self.longRows)) / bytes)
        // Each row has a page of its own, and no page is kept.
        try file.run("PRAGMA cache_size = 4")
        set(.page, (try Self.time(sql, file) - inMemory) / Double(Self.longRows))
    }

    /// The time that a query takes, in nanoseconds.
    private static func time(_ sql: String, _ file: DatabaseFile) throws -> Double {
        let query = try PreparedQuery(sql, on: file)
        try query.run([])
        let times = try (0..<scans).map { _ in
            var timing = Timing(.thread)
            try timing.step(weight: 1) { try query.run([]) }
            return timing.total
        }
        return Saving.Range.median(of: times).median
    }
}
