internal import FaultlineTrace

/// A transaction that a thread has begun, with BEGIN or with a savepoint outside any transaction.
///
/// "When SAVEPOINT is the outer-most savepoint and it is not within a BEGIN…COMMIT then the behavior is the same as BEGIN
/// DEFERRED TRANSACTION", and its RELEASE is a COMMIT (https://sqlite.org/lang_savepoint.html).
struct OpenTransaction: Sendable {
    private let begin: TraceEvent
    private(set) var writes: UInt64 = 0
    private(set) var rows: UInt64 = 0
    private var time: UInt64 = 0
    /// The time of that waiting for SQLite's lock, in nanoseconds.
    private var wait: UInt64 = 0
    /// The time of that waiting for the disk, in nanoseconds.
    private var syncTime: UInt64 = 0
    private var lastWrite: (event: TraceEvent, statement: DictionaryID)?
    /// The savepoints inside a transaction that a savepoint began, that one first; `nil` if BEGIN began it.
    private var savepoints: [Substring]?

    /// The most savepoints to remember; the innermost of deeper ones are released before the others.
    private static let mostSavepoints = 64

    init(begin: TraceEvent, savepoint: Substring? = nil) {
        self.begin = begin
        savepoints = savepoint.map { [$0] }
    }

    mutating func add(_ statement: TraceEvent.Statement, _ event: TraceEvent) {
        writes &+= 1
        rows &+= UInt64(statement.rows)
        time &+= event.duration
        wait &+= statement.wait
        syncTime &+= statement.syncTime
        lastWrite = (event, statement.statement)
    }

    mutating func observe(savepoint name: Substring) {
        guard let count = savepoints?.count, count < Self.mostSavepoints else { return }
        savepoints?.append(name)
    }

    /// Whether the release of a savepoint, which releases those inside it too, ends the transaction.
    mutating func isEnded(byReleaseOf name: Substring) -> Bool {
        guard let place = savepoints?.lastIndex(of: name) else { return false }
        savepoints?.removeSubrange(place...)
        return place == 0
    }

    /// Forgets the savepoints inside one that the transaction is rolled back to.
    mutating func observe(rollbackTo name: Substring) {
        guard let place = savepoints?.lastIndex(of: name) else { return }
        savepoints?.removeSubrange((place + 1)...)
    }

    /// The transaction as one operation at the line that wrote last, or `nil` if none did.
    func whole(
        endedBy end: TraceEvent.Statement, _ event: TraceEvent
    ) -> (event: TraceEvent, statement: DictionaryID)? {
        guard var whole = lastWrite else { return nil }
        whole.event.start = begin.start
        whole.event.duration = begin.duration &+ time &+ event.duration
        if case .sql(var last) = whole.event.detail {
            last.wait = begin.duration &- begin.timeWithoutLockWait &+ wait &+ end.wait
            last.syncTime = syncTime &+ end.syncTime
            whole.event.detail = .sql(last)
        }
        return whole
    }
}
