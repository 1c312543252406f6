import FaultlineFindings
import FaultlineModel
import FaultlineRecorder
import FaultlineRules
import FaultlineStore
import FaultlineTrace
import Foundation

/// Measures the basic steps of SQLite's and the store's work on this machine.
///
/// Machines differ by a factor of three, and not equally in all steps: memory may be slow where the processor is fast.
/// Scans are measured in CPU time, so other work on the machine makes little difference. The time of loaded rows is the
/// median of many.
struct StepCalibration {
    private(set) var steps: [CalibrationEntry.Step: Double] = [:]

    /// The number of scanned rows, large enough for the time to read the clock to matter little.
    private static let scannedRows = 2000
    /// The number of rows with a long value, and its bytes.
    ///
    /// Together they exceed the second-level caches of processors, as tables of stores usually do.
    private static let (longRows, longBytes) = (768, 3000)
    /// The number of rows of a fetch, and how often all rows are fetched.
    private static let (fetchedRows, rounds) = (64, 3)
    /// The number of times a scan is measured.
    private static let scans = 7

    /// - Throws: ``ReplayError``, or the store's error if there is no space in the folder.
    init(_ folder: ScratchFolder) throws {
        let filePath = folder.filePath(of: "steps.sqlite")
        try measureLoading(URL(fileURLWithPath: filePath))
        try measureScans(filePath)
    }

    /// Records the cost of a step, unless noise made the measured difference negative.
    private mutating func set(_ step: CalibrationEntry.Step, _ time: Double) {
        if time > 0 { steps[step] = time }
    }

    // MARK: - Loading

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

    /// The times of SQLite and the store for short rows, for long rows and for an object ID, in nanoseconds.
    ///
    /// The rows stay in the row cache, as those of programs do, so each is allocated anew.
    private static func rowTimes(
        _ url: URL, _ model: ManagedObjectModel
    ) throws -> (short: [Double], long: [Double], identities: [Double]) {
        let recorder = Recorder.memory()
        let context = try Calibration.open(url, model, recorder, cachesRows: true).newBackgroundContext()
        try context.performAndWait {
            for entity in ["Short", "Long"] {
                // This lets SQLite read the pages into its cache.
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

    // MARK: - Scans

    private mutating func measureScans(_ filePath: String) throws {
        let file = try DatabaseFile(copy: filePath, named: filePath)
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
        // Each row has a page of its own, and no page is cached.
        try file.run("PRAGMA cache_size = 4")
        set(.page, (try Self.time(sql, file) - inMemory) / Double(Self.longRows))
    }

    /// The time that a query takes, in nanoseconds.
    private static func time(_ sql: String, _ file: DatabaseFile) throws -> Double {
        let query = try PreparedQuery(sql, on: file)
        try query.run([])
        let times = try (0..<scans).map { _ in
            var timing = Timing(.thread)
            _ = try timing.step(weight: 1) { try query.run([]) }
            return timing.total
        }
        return Saving.Range.median(of: times).median
    }
}
