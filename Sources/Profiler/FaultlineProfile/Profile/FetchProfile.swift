package import FaultlineTrace

/// A profile of the fetches of one shape from one line: how they were loaded, and how their results were used.
package struct FetchProfile: Sendable {
    package struct Key: Sendable, Hashable {
        package var shape: ShapeEntry
        /// The line of the fetch, or `nil` if unknown.
        package var site: CallSite?
    }

    package internal(set) var key: Key
    /// The number of recordings that have such fetches.
    var recordings: UInt64 = 1
    /// The use of the results, by batch size.
    package internal(set) var uses: [UInt32: ResultUse] = [:]
    /// The values that were loaded and read, by entity name and property name.
    package internal(set) var properties: [String: [String: PropertyUse]] = [:]
    /// The counts of the fetches, except those in set-up scopes.
    package internal(set) var counts = FetchCounts()
    /// The lines at which objects were first read, with the number of objects.
    package internal(set) var readSites: [CallSite?: UInt64] = [:]
    /// The number of objects read first, by entity name.
    package var readEntities: [String: UInt64] = [:]
    /// The texts of the fetches' own statement, with SQLite's plans.
    package internal(set) var statements = StatementTable()
    /// The cost of prefetching, by key path.
    package internal(set) var prefetches: [String: PrefetchUse] = [:]
    /// A sample of the individual fetches.
    package internal(set) var sample = FetchSample()
    /// The durations of the fetches, except those that failed or are in set-up scopes.
    package var speeds = Speeds()
    /// A sample of the fetches with a limit, by the number of rows that their offset skips.
    package var pages = LoadSample()
    /// The growth of the results with the table, over several runs of the program.
    package internal(set) var growth = ResultGrowth()
    /// Whether one of the fetches loaded rows, without any known use of them, that may later have served objects of
    /// other fetches.
    package var hasServedOthers = false
    /// The number of times relationships fired on objects of these fetches, from the store or the row cache.
    package internal(set) var firedRelationships: [Edge: UInt64] = [:]

    /// The number of those that fired on objects that had not been in memory before.
    package var firstFirings: [Edge: UInt64] = [:]
    /// The number of to-many relationships whose members were read, by owner.
    package internal(set) var askedToMany: [Edge: UInt64] = [:]

    /// A relationship, by the name of its entity and its own name.
    package struct Edge: Sendable, Hashable {
        package var entity: String
        package var name: String

        package init(entity: String, name: String) { (self.entity, self.name) = (entity, name) }
    }

    init(_ key: Key) {
        self.key = key
    }

    /// The prefetching of a key path, or `nil` if no rows had to be read for it.
    package func readPrefetch(_ path: String) -> PrefetchUse? { prefetches[path].flatMap { $0.loads > 0 ? $0 : nil } }

    /// The total of a figure over all batch sizes.
    package func total(_ figure: KeyPath<ResultUse, UInt64>) -> UInt64 {
        uses.values.reduce(0) { $0 &+ $1[keyPath: figure] }
    }

    /// The use of the results with the most frequent batch size.
    ///
    /// A line with several sizes sets them on purpose.
    package var mainUse: (size: UInt64, use: ResultUse)? {
        uses.filter { $0.value.executions > 0 }
            .max { ($0.value.executions, $0.key) < ($1.value.executions, $1.key) }
            .map { (UInt64($0.key), $0.value) }
    }
}

/// The counts of the fetches of one shape from one line.
package struct FetchCounts: Sendable, Hashable {
    package internal(set) var executions: UInt64 = 0
    /// The number of rows that matched.
    package internal(set) var rows: UInt64 = 0
    /// The time of the fetches without their batches, in nanoseconds.
    package internal(set) var time: UInt64 = 0
    /// The time of their batches, in nanoseconds.
    package internal(set) var batchTime: UInt64 = 0
    package internal(set) var mainThreadTime: UInt64 = 0
    /// The number of executions whose own statement is in the trace.
    ///
    /// Statements that prefetch do not count.
    package internal(set) var statements: UInt64 = 0
    /// The rows that these statements stepped over in full scans (`SQLITE_STMTSTATUS_FULLSCAN_STEP`).
    package internal(set) var fullScanSteps: UInt64 = 0
    /// The operations of SQLite's virtual machine in these statements.
    package internal(set) var virtualMachineSteps: UInt64 = 0
    /// The pages that SQLite had to read from the file for them (`SQLITE_DBSTATUS_CACHE_MISS`).
    package internal(set) var pageMisses: UInt64 = 0
    /// The number of sorts in these statements (`SQLITE_STMTSTATUS_SORT`), and of sorted rows.
    package internal(set) var sorts: UInt64 = 0
    package internal(set) var sortedRows: UInt64 = 0
    /// The number of texts that the store's functions compared in them, and of texts that matched.
    package internal(set) var textComparisons: UInt64 = 0
    package internal(set) var textMatches: UInt64 = 0
    /// The number of statements that had to be prepared, and the total time for it, in nanoseconds.
    package internal(set) var preparations: UInt64 = 0
    package internal(set) var prepareTime: UInt64 = 0
    /// The time the fetches waited for the store or a connection, in nanoseconds.
    package internal(set) var waitTime: UInt64 = 0
    /// The number of fetches with an offset, the rows that all offsets skip, and the largest offset.
    package internal(set) var offsetFetches: UInt64 = 0
    package internal(set) var skippedRows: UInt64 = 0
    package internal(set) var largestOffset: UInt64 = 0
    /// The number of fetches that compared objects with unsaved changes in memory, the number of these objects, and the
    /// time for it in nanoseconds.
    package internal(set) var pendingFetches: UInt64 = 0
    package internal(set) var pendingObjects: UInt64 = 0
    package internal(set) var pendingTime: UInt64 = 0
    /// The time SQLite spent running the fetches' own statements, in nanoseconds.
    ///
    /// It excludes waiting, preparing, prefetching and making objects.
    package internal(set) var stepTime: UInt64 = 0
    /// For fetches without a recorded step time, their duration minus the recorded parts, in nanoseconds.
    package internal(set) var unsplitTime: UInt64 = 0
    /// The number of fetches in each scope.
    package internal(set) var scopes: [ScopeSummary.Key: UInt64] = [:]

    package init() {}
}

extension FetchCounts {
    /// The mean number of rows that a fetch steps over in full scans, or 0 if the trace has no such statement.
    package var scannedRows: Double {
        guard statements > 0, fullScanSteps > 0 else { return 0 }
        // The counter does not include the first row of a scan.
        return Double(fullScanSteps) / Double(statements) + 1
    }

    /// The mean number of rows that match.
    package var foundRows: Double { Double(rows) / Double(max(1, executions)) }

    /// The time SQLite spent preparing a number of these fetches, in nanoseconds.
    ///
    /// Any replacement must be prepared too.
    package func prepareTime(of executions: UInt64) -> Double {
        Double(prepareTime) * Double(executions) / Double(max(1, self.executions))
    }

    /// The time SQLite spent running the fetches' own statements, without preparing them, in nanoseconds.
    ///
    /// An index or another predicate can change only this time. Profiles of earlier versions do not separate it from
    /// the rest.
    package var runTime: Double {
        let rest = max(0, Double(time) - Double(prepareTime))
        let known = Double(stepTime) + Double(unsplitTime)
        return known > 0 ? min(rest, known) : rest
    }

    /// The cost of a returned row as a multiple of a row that is stepped over.
    ///
    /// 6–8 were measured.
    private static let handedOut = 7.0

    /// The time SQLite spent stepping over rows in full scans that it did not return, in nanoseconds.
    package var scanTime: Double {
        guard scannedRows > 0 else { return 0 }
        return runTime * scannedRows / (scannedRows + Self.handedOut * foundRows)
    }

    /// Whether the trace has SQLite's step time for all fetches.
    package var isSplit: Bool { stepTime > 0 && unsplitTime == 0 }

    /// The mean ``runTime`` of a fetch.
    package var meanRunTime: Double { runTime / Double(max(1, executions)) }

    /// The mean number of texts that matched in a fetch, or `nil` if no texts were compared.
    package var meanTextMatches: Double? {
        statements > 0 && textComparisons > 0 ? Double(textMatches) / Double(statements) : nil
    }

    /// The mean time of a fetch without its batches, in nanoseconds.
    package var meanTime: Double { Double(time) / Double(max(1, executions)) }
}

/// The number of a property's values that were loaded and read.
package struct PropertyUse: Sendable, Hashable {
    package internal(set) var rowsLoaded: UInt64 = 0
    package internal(set) var rowsRead: UInt64 = 0
    /// The bytes of the loaded values.
    package internal(set) var bytes: UInt64 = 0
    /// The number of rows whose value has at least 16 KiB.
    package internal(set) var largeRows: UInt64 = 0

    package init() {}
}

extension FetchProfile: KeyedSum {
    package static let parts: [SumPart<FetchProfile>] = [
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
    package static let parts: [SumPart<FetchCounts>] = [
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
    package static let parts: [SumPart<PropertyUse>] = [
        .sum("rowsLoaded", \.rowsLoaded), .sum("rowsRead", \.rowsRead), .sum("bytes", \.bytes),
        .sum("largeRows", \.largeRows),
    ]
}

extension FetchProfile.Key: ProfileKey {
    package static var hasSpellings: Bool { true }
    package var sortText: String { shape.sortText + "\u{2}" + (site?.sortText ?? "") }
    package func stored(_ words: inout ProfileWords) -> StoredValue {
        .list([shape.stored(&words), site.stored(&words)])
    }

    package init(_ value: StoredValue, _ words: ProfileWords) throws {
        let parts = try value.list(of: 2)
        self.init(shape: try ShapeEntry(parts[0], words), site: try CallSite?(parts[1], words))
    }
}

extension FetchProfile.Edge: ProfileKey {
    package var sortText: String { entity + "\u{1}" + name }
    package func stored(_ words: inout ProfileWords) -> StoredValue { .list([.text(entity), .text(name)]) }

    package init(_ value: StoredValue, _ words: ProfileWords) throws {
        let parts = try value.list(of: 2)
        self.init(entity: try parts[0].text(), name: try parts[1].text())
    }
}

/// The cost of prefetching a key path with fetches and their batches.
package struct PrefetchUse: Sendable, Hashable {
    /// The number of fetches and batches for which rows had to be read.
    package internal(set) var loads: UInt64 = 0
    package internal(set) var trips: UInt64 = 0
    package internal(set) var rows: UInt64 = 0
    package internal(set) var bytes: UInt64 = 0
    /// The time of prefetching in those fetches and batches, and their total time, in nanoseconds.
    package internal(set) var time: UInt64 = 0
    package internal(set) var loadTime: UInt64 = 0
    /// The time of prefetching in fetches and batches whose rows the row cache already held, in nanoseconds.
    package internal(set) var cachedTime: UInt64 = 0

    package init() {}

    /// The time of prefetching, whether or not rows had to be read, in nanoseconds.
    package var totalTime: UInt64 { time &+ cachedTime }
}

extension PrefetchUse: Summed, StartsEmpty {
    package static let parts: [SumPart<PrefetchUse>] = [
        .sum("loads", \.loads), .sum("trips", \.trips), .sum("rows", \.rows), .sum("bytes", \.bytes),
        .sum("time", \.time), .sum("loadTime", \.loadTime), .sum("cachedTime", \.cachedTime),
    ]
}

/// The use of a to-one relationship's destination objects.
package struct DestinationUse: Sendable {
    /// The properties that the program read.
    package var properties: Set<String> = []
    /// 1 if some objects were used in ways the trace does not have, as when they were changed or also reached in other
    /// ways.
    package var unrecorded: UInt64 = 0

    package init() {}

    mutating func insert(_ entry: DestinationUseEntry) {
        if let property = entry.property { properties.insert(property) } else { unrecorded = 1 }
    }
}

extension DestinationUse: Summed, StartsEmpty {
    package static let parts: [SumPart<DestinationUse>] = [
        .union("properties", \.properties), .maximum("unrecorded", \.unrecorded),
    ]
}
