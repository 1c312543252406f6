package import FaultlineTrace

extension EventGroup {
    /// The counts of events.
    ///
    /// Counts that a kind does not have stay 0.
    package struct Counts: Sendable, Hashable {
        /// Rows that matched, were loaded, filled, returned or changed; for merges and refreshes, objects.
        package var rows: UInt64 = 0
        /// Rows that were prefetched.
        package var prefetchedRows: UInt64 = 0
        /// Bytes of column values that were read or written.
        package var bytes: UInt64 = 0
        /// Round trips to SQLite: statements that read rows and, in saves of the store, all statements.
        package var trips: UInt64 = 0
        package var cacheHits: UInt64 = 0
        package var cacheMisses: UInt64 = 0
        /// The time spent waiting for the store or a lock, in nanoseconds.
        package var wait: UInt64 = 0
        /// The time spent preparing statements, in nanoseconds.
        package var prepare: UInt64 = 0
        /// The time spent stepping through rows, in nanoseconds.
        package var step: UInt64 = 0
        /// The time spent making objects from rows, in nanoseconds.
        package var materialise: UInt64 = 0
        /// The time spent in COMMIT, in nanoseconds.
        package var commit: UInt64 = 0
        package var inserted: UInt64 = 0
        package var updated: UInt64 = 0
        package var deleted: UInt64 = 0
        package var conflicts: UInt64 = 0
        /// Objects that were set to the values they already had.
        ///
        /// Saves in set-up scopes do not count.
        package var unchanged: UInt64 = 0
        package var fullScanSteps: UInt64 = 0
        package var sorts: UInt64 = 0
        package var automaticIndexes: UInt64 = 0
        package var virtualMachineSteps: UInt64 = 0
        package var preparations: UInt64 = 0
        package var pageHits: UInt64 = 0
        package var pageMisses: UInt64 = 0
        /// The times that SQLite read from files, wrote to them, and waited for the disk.
        package var fileReads: UInt64 = 0
        package var fileWrites: UInt64 = 0
        package var syncs: UInt64 = 0
        /// The time spent waiting for the disk, in nanoseconds.
        package var syncTime: UInt64 = 0
        /// Statements that wrote to a write-ahead log.
        package var logged: UInt64 = 0
        /// Events that ended with an SQLite error.
        package var errors: UInt64 = 0

        package init() {}

        /// All counts with their names, in declaration order.
        package static var fields: [(name: String, path: any WritableKeyPath<Counts, UInt64> & Sendable)] {
            [
                ("rows", \.rows), ("prefetchedRows", \.prefetchedRows), ("bytes", \.bytes), ("trips", \.trips),
                ("cacheHits", \.cacheHits),
                ("cacheMisses", \.cacheMisses), ("wait", \.wait), ("prepare", \.prepare), ("step", \.step),
                ("materialise", \.materialise), ("commit", \.commit), ("inserted", \.inserted),
                ("updated", \.updated), ("deleted", \.deleted), ("conflicts", \.conflicts), ("unchanged", \.unchanged),
                ("fullScanSteps", \.fullScanSteps), ("sorts", \.sorts), ("automaticIndexes", \.automaticIndexes),
                ("virtualMachineSteps", \.virtualMachineSteps), ("preparations", \.preparations),
                ("pageHits", \.pageHits), ("pageMisses", \.pageMisses),
                ("fileReads", \.fileReads), ("fileWrites", \.fileWrites), ("syncs", \.syncs), ("syncTime", \.syncTime),
                ("logged", \.logged), ("errors", \.errors),
            ]
        }

        package mutating func merge(_ other: Counts) { mergeParts(other) }
    }
}

extension EventGroup.Counts: Summed, StartsEmpty {
    package static let parts = fields.map { SumPart<EventGroup.Counts>.sum($0.name, $0.path) }

    /// Adds the counts of an event.
    package mutating func add(_ event: TraceEvent) {
        trips &+= event.trips
        switch event.detail {
        case .fetch(let fetch): add(fetch)
        case .batch(let batch):
            rows &+= UInt64(batch.rows)
            prefetchedRows &+= UInt64(batch.prefetchedRows)
            bytes &+= batch.bytes &+ batch.prefetchedBytes
            wait &+= batch.wait
            prepare &+= batch.prepare
            step &+= batch.step
            cacheHits &+= UInt64(batch.cacheHits)
            errors &+= batch.error == 0 ? 0 : 1
        case .fault(let fault):
            rows &+= UInt64(fault.filled)
            bytes &+= fault.bytes
            cacheHits &+= fault.source == .rowCache ? 1 : 0
            wait &+= fault.wait
            prepare &+= fault.prepare
            step &+= fault.step
            errors &+= fault.error == 0 ? 0 : 1
        case .cacheMiss: cacheMisses &+= 1
        case .save(let save): add(save)
        case .sql(let statement): add(statement)
        case .merge(let merge):
            rows &+= UInt64(merge.refreshed)
            inserted &+= UInt64(merge.inserted)
            updated &+= UInt64(merge.updated)
            deleted &+= UInt64(merge.deleted)
            conflicts &+= UInt64(merge.conflicts)
        case .refresh(let refresh): rows &+= UInt64(refresh.objects)
        case .wait(let waited):
            wait &+= event.duration
            errors &+= waited.error == 0 ? 0 : 1
        case .migration(let migration):
            rows &+= migration.rows
            errors &+= migration.error == 0 ? 0 : 1
        default: if event.kind.isWork, event.kind != .cacheHits { add(fieldsOf: event) }
        }
    }

    /// Adds the fields of a kind that needs no sums of its own: those that have the name of a count.
    private mutating func add(fieldsOf event: TraceEvent) {
        for (field, value) in event.detail.values.fields {
            if field.name == "error" { errors &+= value == 0 ? 0 : 1 }
            if let path = Self.paths[field.name] { self[keyPath: path] &+= value }
        }
    }

    private static let paths = Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.path) })

    private mutating func add(_ fetch: TraceEvent.Fetch) {
        rows &+= UInt64(fetch.rows)
        prefetchedRows &+= UInt64(fetch.prefetchedRows)
        bytes &+= fetch.bytes &+ fetch.prefetchedBytes
        cacheHits &+= UInt64(fetch.cacheHits)
        cacheMisses &+= UInt64(fetch.cacheMisses)
        wait &+= fetch.wait
        prepare &+= fetch.prepare
        step &+= fetch.step
        materialise &+= fetch.materialise
        errors &+= fetch.error == 0 ? 0 : 1
    }

    private mutating func add(_ save: TraceEvent.Save) {
        rows &+= save.objects
        bytes &+= save.bytes
        wait &+= save.lockWait
        commit &+= save.commit
        inserted &+= UInt64(save.inserted)
        updated &+= UInt64(save.updated)
        deleted &+= UInt64(save.deleted)
        conflicts &+= UInt64(save.conflicts)
        unchanged &+= UInt64(save.unchanged)
        errors &+= save.error == 0 ? 0 : 1
    }

    private mutating func add(_ statement: TraceEvent.Statement) {
        rows &+= UInt64(statement.rows)
        fullScanSteps &+= UInt64(statement.fullScanSteps)
        sorts &+= UInt64(statement.sorts)
        automaticIndexes &+= UInt64(statement.automaticIndexes)
        virtualMachineSteps &+= statement.virtualMachineSteps
        preparations &+= UInt64(statement.preparations)
        prepare &+= statement.prepare
        pageHits &+= UInt64(statement.pageHits)
        pageMisses &+= UInt64(statement.pageMisses)
        fileReads &+= UInt64(statement.fileReads)
        fileWrites &+= UInt64(statement.fileWrites)
        syncs &+= UInt64(statement.syncs)
        syncTime &+= statement.syncTime
        logged &+= statement.log > 0 ? 1 : 0
        errors &+= statement.error == 0 ? 0 : 1
    }
}
