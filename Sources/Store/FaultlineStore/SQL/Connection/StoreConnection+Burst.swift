import Dispatch

/// The transaction shared by a burst of reads: a fetch and the faults after it.
///
/// Without it, every lookup would lock and unlock the file, which takes several times as long as the lookup.
extension StoreConnection {
    /// The time until an idle read transaction ends, in milliseconds.
    ///
    /// Tests that count transactions set it to much more, because reads on a busy machine can be that far apart.
    @TaskLocal static var idleMilliseconds = 5

    /// Begins the transaction that this read and the following ones share.
    ///
    /// Called under the lock.
    func beginRead() throws(StoreError) {
        reads &+= 1
        guard !isPinned else { return }
        let now = (epoch: epoch.current, rows: rows.generation)
        if bulk != .none {
            // The transaction of the saves serves the reads, too.
            if now != burst { finishFaults() }
            burst = now
            return
        }
        if isReading {
            // After a save of this process or a refresh, reads must see the new state.
            if now == burst { return }
            endRead()
        }
        burst = now
        try session.run("BEGIN", doing: "Reading", isLogged: false)
        isReading = true
        scheduleCheck()
    }

    /// Begins a transaction that stays open, so that all reads see the current state.
    func pin() throws(StoreError) {
        try locked { () throws(StoreError) in
            try beginRead()
            // A transaction's snapshot is taken at its first read (https://www.sqlite.org/isolation.html).
            let statement = try sqlite.statement("SELECT Z_VERSION FROM Z_METADATA")
            log.statement(statement.sql)
            try session.readAsEvent(statement, doing: "Reading") { _ in }
            isPinned = true
        }
    }

    /// Ends the transaction, which makes the next read see what others wrote.
    ///
    /// Called under the lock.
    package func endRead() {
        if bulk != .none { return finishFaults() }
        guard isReading, !isPinned else { return }
        isReading = false
        finishFaults()
        // Nothing was written, so the commit has nothing to fail on.
        _ = try? session.run("COMMIT", doing: "Reading", isLogged: false)
    }

    /// Releases the blocks that faults are filling.
    ///
    /// Called under the lock.
    func finishFaults() {
        for reader in faultReaders { reader?.finishBurst() }
    }

    /// The generation of the row cache when the burst began; older rows do not enter the cache.
    ///
    /// Called under the lock.
    var readGeneration: UInt64 { burst.rows }

    /// Ends the read transaction, unless the connection is in use.
    func finishIfFree() {
        _ = ifFree { endRead() }
    }

    private func scheduleCheck() {
        guard !isCheckScheduled else { return }
        isCheckScheduled = true
        Self.schedule(reference, reads)
    }

    private static func schedule(_ reference: ConnectionReference, _ reads: UInt64) {
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .milliseconds(idleMilliseconds)) {
            guard let connection = reference.connection() else { return }
            let isChecked = connection.ifFree {
                connection.isCheckScheduled = false
                guard connection.isReading else { return }
                if connection.reads == reads { connection.endRead() } else { connection.scheduleCheck() }
            }
            // The connection is in use: it is being read, or a write will end the burst.
            if !isChecked { schedule(reference, reads) }
        }
    }
}
