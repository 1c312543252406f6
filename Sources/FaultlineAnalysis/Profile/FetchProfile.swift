public import FaultlineTrace

/// What is known of the fetches of one shape from one line: how they were loaded and what was done with their results.
public struct FetchProfile: Sendable {
    public struct Key: Sendable, Hashable {
        public var shape: ShapeEntry
        /// Where the fetch stands in the program; `nil`: not known.
        public var site: CallSite?
    }

    public internal(set) var key: Key
    /// Use of the results, by the batch size in force.
    public internal(set) var uses: [UInt32: ResultUse] = [:]
    /// What was loaded and read of each property, by the entity's name and the property's.
    public internal(set) var properties: [String: [String: PropertyUse]] = [:]
    /// The fetches themselves, but for those that prepare something (in scopes of kind setup).
    public internal(set) var counts = FetchCounts()
    /// Where objects were first read, and how many.
    public internal(set) var readSites: [CallSite?: UInt64] = [:]
    /// Of which entities those were, by name.
    var readEntities: [String: UInt64] = [:]
    /// The texts of the fetches' own statement with SQLite's plans.
    public internal(set) var statements = StatementTable()
    /// What prefetching took, by key path.
    public internal(set) var prefetches: [String: PrefetchUse] = [:]
    /// A few of the fetches as they were.
    package internal(set) var sample = FetchSample()
    /// The fetches by how long they took, without those that failed or prepare something.
    var speeds = Speeds()
    /// Fetches with a limit, by the rows that their offset passes over.
    var pages = LoadSample()
    /// How their results grew with the table, from one run of the program to the next.
    public internal(set) var growth = ResultGrowth()
    /// Whether objects of others were served by rows of the kind that one of the fetches had loaded before for nothing that
    /// is known.
    var hasServedOthers = false
    /// How often relationships fired on objects of these fetches, whether the store or the row cache served them.
    package internal(set) var firedRelationships: [Edge: UInt64] = [:]

    /// Those among them of objects that had not been in memory before.
    var firstFirings: [Edge: UInt64] = [:]
    /// To-many relationships that were asked for their members, by owner.
    package internal(set) var askedToMany: [Edge: UInt64] = [:]

    /// A relationship by the name of its entity and its own.
    package struct Edge: Sendable, Hashable {
        package var entity: String
        package var name: String
    }

    init(_ key: Key) {
        self.key = key
    }

    /// The prefetching of a key path; `nil`: nothing had to be read for it.
    func readPrefetch(_ path: String) -> PrefetchUse? { prefetches[path].flatMap { $0.loads > 0 ? $0 : nil } }

    /// A figure of the results' use, whatever batch size was in force.
    package func total(_ figure: KeyPath<ResultUse, UInt64>) -> UInt64 {
        uses.values.reduce(0) { $0 &+ $1[keyPath: figure] }
    }

    /// The use of the results with the batch size that was in force most often: a line with several sets them on purpose.
    var mainUse: (size: UInt64, use: ResultUse)? {
        uses.filter { $0.value.executions > 0 }
            .max { ($0.value.executions, $0.key) < ($1.value.executions, $1.key) }
            .map { (UInt64($0.key), $0.value) }
    }
}

extension FetchProfile {
    /// What SQLite took to step over rows in full scans, without what it took for those that it handed out, in nanoseconds, and
    /// the range in which that lies.
    ///
    /// Two estimates, and the values between them: rows that are handed out take several times as long as those that are
    /// passed over, and they take what they were measured to take on the machine. Counts and identities have the first alone.
    func scanTime(_ machine: MachineCosts) -> StepCost {
        let time = counts.scanTime
        let loaded = total(\.loadedRows)
        guard counts.scannedRows > 0, key.shape.loadsRows, counts.batchTime == 0,
            let row = machine.handedOutRow(bytes: loaded > 0 ? Double(total(\.bytes)) / Double(loaded) : 0)
        else { return StepCost(usual: time, least: time, most: time) }
        let handedOut = min(row * Double(counts.rows), counts.runTime)
        let usual = counts.runTime - (handedOut * (counts.runTime - time)).squareRoot()
        return StepCost(
            usual: usual, least: min(time, counts.runTime - handedOut), most: max(time, counts.runTime - handedOut))
    }
}

/// Fetches of one shape from one line, counted.
public struct FetchCounts: Sendable, Hashable {
    public internal(set) var executions: UInt64 = 0
    /// Rows that matched.
    public internal(set) var rows: UInt64 = 0
    /// Time of the fetches without their batches, in nanoseconds.
    public internal(set) var time: UInt64 = 0
    /// Time of their batches, in nanoseconds.
    public internal(set) var batchTime: UInt64 = 0
    public internal(set) var mainThreadTime: UInt64 = 0
    /// Executions whose own statement the trace has; those of prefetching do not count.
    public internal(set) var statements: UInt64 = 0
    /// Rows that those statements went through in full scans (`SQLITE_STMTSTATUS_FULLSCAN_STEP`).
    public internal(set) var fullScanSteps: UInt64 = 0
    /// Operations of SQLite's virtual machine in them.
    public internal(set) var virtualMachineSteps: UInt64 = 0
    /// Pages that SQLite had to read from the file for them (`SQLITE_DBSTATUS_CACHE_MISS`).
    public internal(set) var pageMisses: UInt64 = 0
    /// Sorts that SQLite made for them (`SQLITE_STMTSTATUS_SORT`), and rows that were sorted.
    public internal(set) var sorts: UInt64 = 0
    public internal(set) var sortedRows: UInt64 = 0
    /// Texts that the store's functions compared in them, and those among them that were found, fitted or were equal.
    public internal(set) var textComparisons: UInt64 = 0
    public internal(set) var textMatches: UInt64 = 0
    /// Statements that had to be prepared, and what that took for all of them, in nanoseconds.
    public internal(set) var preparations: UInt64 = 0
    public internal(set) var prepareTime: UInt64 = 0
    /// Time that the fetches waited for the store or a connection, in nanoseconds.
    public internal(set) var waitTime: UInt64 = 0
    /// Fetches with an offset, rows that the offsets pass over, and the largest of them.
    public internal(set) var offsetFetches: UInt64 = 0
    public internal(set) var skippedRows: UInt64 = 0
    public internal(set) var largestOffset: UInt64 = 0
    /// Fetches that compared objects with unsaved changes in memory, how many objects in all, and what that took, in
    /// nanoseconds.
    public internal(set) var pendingFetches: UInt64 = 0
    public internal(set) var pendingObjects: UInt64 = 0
    public internal(set) var pendingTime: UInt64 = 0
    /// What SQLite took to run the fetches' own statements, in nanoseconds, without waiting, preparing, prefetching and
    /// making objects.
    public internal(set) var stepTime: UInt64 = 0
    /// The same for fetches without a recorded step time: their duration minus the recorded parts, in nanoseconds.
    public internal(set) var unsplitTime: UInt64 = 0
    /// Scopes in which the fetches happened, and how often.
    public internal(set) var scopes: [ScopeSummary.Key: UInt64] = [:]
}

extension FetchCounts {
    /// Rows that a fetch goes through in full scans, on average; 0 where the trace has none of the statements.
    var scannedRows: Double {
        guard statements > 0, fullScanSteps > 0 else { return 0 }
        // The first row of a scan takes no step.
        return Double(fullScanSteps) / Double(statements) + 1
    }

    /// Rows that a fetch finds, on average.
    var foundRows: Double { Double(rows) / Double(max(1, executions)) }

    /// What it took to have SQLite read the statements' texts, for so many of the fetches, in nanoseconds: whatever is
    /// asked instead has to be read as well.
    func prepareTime(of executions: UInt64) -> Double {
        Double(prepareTime) * Double(executions) / Double(max(1, self.executions))
    }

    /// What SQLite took to run the fetches' own statements, without reading their texts, in nanoseconds: all that an index
    /// or another predicate can change.
    ///
    /// Profiles of earlier versions do not tell it apart from the rest.
    var runTime: Double {
        let rest = max(0, Double(time) - Double(prepareTime))
        let known = Double(stepTime) + Double(unsplitTime)
        return known > 0 ? min(rest, known) : rest
    }

    /// What a row takes that SQLite hands out, beside one that it steps over: 6–8 times as long was measured.
    private static let handedOut = 7.0

    /// What SQLite took to step over rows in full scans, without what it took for those that it handed out, in nanoseconds.
    var scanTime: Double {
        guard scannedRows > 0 else { return 0 }
        return runTime * scannedRows / (scannedRows + Self.handedOut * foundRows)
    }

    /// Whether the trace tells of all fetches what SQLite took.
    var isSplit: Bool { stepTime > 0 && unsplitTime == 0 }

    /// The same for one fetch, on average.
    var meanRunTime: Double { runTime / Double(max(1, executions)) }

    /// Texts that fitted in a fetch, on average; `nil`: none were compared.
    package var meanTextMatches: Double? {
        statements > 0 && textComparisons > 0 ? Double(textMatches) / Double(statements) : nil
    }

    /// What a fetch takes without its batches, on average, in nanoseconds.
    var meanTime: Double { Double(time) / Double(max(1, executions)) }
}

/// What was loaded and read of one property.
public struct PropertyUse: Sendable, Hashable {
    public internal(set) var rowsLoaded: UInt64 = 0
    public internal(set) var rowsRead: UInt64 = 0
    /// Bytes of its values that were loaded.
    public internal(set) var bytes: UInt64 = 0
    /// Rows in which its value has at least 16 KiB.
    public internal(set) var largeRows: UInt64 = 0
}

extension FetchProfile: KeyedSum {
    static let parts: [SumPart<FetchProfile>] = [
        .part("uses", \.uses), .part("properties", \.properties), .part("counts", \.counts),
        .part("readSites", \.readSites), .part("readEntities", \.readEntities),
        .part("firedRelationships", \.firedRelationships),
        .part("firstFirings", \.firstFirings), .part("askedToMany", \.askedToMany), .part("statements", \.statements),
        .part("prefetches", \.prefetches), .part("sample", \.sample), .part("speeds", \.speeds),
        .part("pages", \.pages), .part("growth", \.growth),
        .any("hasServedOthers", \.hasServedOthers),
    ]
}

extension FetchCounts: Summed, StartsEmpty {
    static let parts: [SumPart<FetchCounts>] = [
        .sum("executions", \.executions), .sum("rows", \.rows), .sum("time", \.time),
        .sum("batchTime", \.batchTime),
        .sum("mainThreadTime", \.mainThreadTime), .sum("statements", \.statements),
        .sum("fullScanSteps", \.fullScanSteps), .sum("virtualMachineSteps", \.virtualMachineSteps),
        .sum("pageMisses", \.pageMisses), .sum("sorts", \.sorts), .sum("sortedRows", \.sortedRows),
        .sum("textComparisons", \.textComparisons),
        .sum("textMatches", \.textMatches),
        .sum("preparations", \.preparations),
        .sum("prepareTime", \.prepareTime), .sum("waitTime", \.waitTime), .sum("offsetFetches", \.offsetFetches),
        .sum("skippedRows", \.skippedRows), .maximum("largestOffset", \.largestOffset),
        .sum("pendingFetches", \.pendingFetches), .sum("pendingObjects", \.pendingObjects),
        .sum("pendingTime", \.pendingTime), .sum("stepTime", \.stepTime), .sum("unsplitTime", \.unsplitTime),
        .part("scopes", \.scopes),
    ]
}

extension PropertyUse: Summed, StartsEmpty {
    static let parts: [SumPart<PropertyUse>] = [
        .sum("rowsLoaded", \.rowsLoaded), .sum("rowsRead", \.rowsRead), .sum("bytes", \.bytes),
        .sum("largeRows", \.largeRows),
    ]
}
