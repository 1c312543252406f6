import Dispatch

/// The transaction that a burst of reading shares: a fetch and the faults after it.
///
/// Without one every look-up would lock and unlock the file, which costs several times the look-up itself.
extension StoreConnection {
    /// How long a read transaction outlives the last read, in milliseconds.
    static let idleMilliseconds = 5

    /// Begins the transaction that this read and those that follow share.
    ///
    /// Under the lock.
    func beginRead() throws(StoreError) {
        reads &+= 1
        guard !isPinned else { return }
        let now = (epoch: epoch.current, rows: rows.generation)
        if isReading {
            // A save of this process, or a refresh, is to be seen by what is read after it.
            if now == burst { return }
            endRead()
        }
        burst = now
        try session.run("BEGIN", doing: "Reading", isLogged: false)
        isReading = true
        scheduleCheck()
    }

    /// Begins a transaction that stays, so that everything is read as it is now.
    func pin() throws(StoreError) {
        try locked { () throws(StoreError) in
            try beginRead()
            // A transaction's state is that of its first look (https://www.sqlite.org/isolation.html).
            let statement = try sqlite.statement("SELECT Z_VERSION FROM Z_METADATA")
            log.statement(statement.sql)
            try session.readAsEvent(statement, doing: "Reading") { _ in }
            isPinned = true
        }
    }

    /// Ends it, so that the next read sees what others wrote.
    ///
    /// Under the lock.
    func endRead() {
        guard isReading, !isPinned else { return }
        isReading = false
        finishFaults()
        // Nothing was written, so there is nothing that could fail to be committed.
        _ = try? session.run("COMMIT", doing: "Reading", isLogged: false)
    }

    /// Lets go of the blocks that faults are filling.
    ///
    /// Under the lock.
    func finishFaults() {
        for reader in faultReaders { reader?.finishBurst() }
    }

    /// The state of the row cache when the burst began: what is read does not go there if it is older than that.
    ///
    /// Under the lock.
    var readGeneration: UInt64 { burst.rows }

    /// Ends the read transaction, if there is one and nobody uses it.
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
            // Whoever has the connection reads, or will end the burst by writing.
            if !isChecked { schedule(reference, reads) }
        }
    }
}
