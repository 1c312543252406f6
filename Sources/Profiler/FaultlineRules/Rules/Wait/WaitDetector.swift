internal import FaultlineProfile
internal import FaultlineTrace

/// Detects waits for queues and locks, and the work their owners did during the wait.
struct WaitDetector: EvidenceDetector {
    static let name = "waits"
    static let kinds = EventKind.work
    static let wallTime: (any WritableKeyPath<WaitEvidence, UInt64> & Sendable)? = \WaitEvidence.wallTime
    private static let capacity = 1024

    /// The minimum share of a wait for a context's queue that its owner is in the store.
    private static let minimumHeldShare = 0.1

    var evidence: [WaitEvidence.Key: WaitEvidence] = [:]
    /// The recent work of each thread in the store.
    private var work = BoundedTable<UInt32, ThreadWork>(capacity: capacity)
    private var transactions = ThreadTransactions()

    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        if case .wait(let wait) = event.detail { return observe(wait, event, in: &context) }
        guard event.parent == 0, event.isOnThread else { return }
        if case .sql(let statement) = event.detail {
            transactions.observe(statement, event, in: &context)
        }
        let over = changeWork(of: event.thread, in: &context) { work, context in
            work.add(event) { context.callSite(of: event) }
            return work.takeWaits(until: event.end)
        }
        for wait in over { evaluate(wait, work.peek(event.thread), in: &context) }
    }

    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {
        // The waits whose owners did nothing more.
        for (_, work) in work.drain() { finish(work, in: &context) }
    }

    /// Adds a wait to the evidence once its owner's work is known.
    private mutating func observe(_ wait: TraceEvent.Wait, _ event: TraceEvent, in context: inout ProcessContext) {
        guard !context.isSetup(event.scope) else { return }
        let one = ThreadWork.Wait(
            wait: wait, site: context.callSite(of: event), scope: event.scope, start: event.start, end: event.end,
            isMainThread: event.isMainThread,
            isUpgrade: wait.error != 0 && wait.tries == 0 && transactions.hasOnlyRead(event.thread),
            hasAsked: transactions.hasAsked(event.thread),
            library: wait.error == 0 ? nil : context.library(on: event.stack))
        // A thread that waits for another connection of its own has done nothing else meanwhile.
        guard wait.ownerThread != 0, wait.ownerThread != event.thread, wait.ownerProcess == 0 else {
            return evaluate(one, nil, in: &context)
        }
        let oldest = changeWork(of: wait.ownerThread, in: &context) { work, _ in work.add(one) }
        if let oldest { evaluate(oldest, work.peek(wait.ownerThread), in: &context) }
    }

    private mutating func changeWork<Result>(
        of thread: UInt32, in context: inout ProcessContext,
        _ change: (inout ThreadWork, inout ProcessContext) -> Result
    ) -> Result {
        if let result = work.update(thread, { change(&$0, &context) }) { return result }
        var first = ThreadWork()
        let result = change(&first, &context)
        if let evicted = work.insert(first, for: thread) { finish(evicted.value, in: &context) }
        return result
    }

    private mutating func finish(_ work: ThreadWork, in context: inout ProcessContext) {
        var work = work
        let waits = work.takeWaits()
        for wait in waits { evaluate(wait, work, in: &context) }
    }

    private mutating func evaluate(_ one: ThreadWork.Wait, _ work: ThreadWork?, in context: inout ProcessContext) {
        let wait = one.wait
        let duration = one.end &- min(one.start, one.end)
        let held = work?.work(during: one)
        var time = duration
        if wait.resource == .contextQueue {
            time = min(duration, held?.time ?? 0)
            guard Double(time) >= Self.minimumHeldShare * Double(duration) else { return }
        }
        let owner = held?.most?.most
        // A transaction has the lock from its first write on, also while its thread does something else.
        let holder =
            work != nil && wait.resource == .sqlite && owner?.save == nil
            ? transactions.owner(wait.ownerThread, from: one.start, to: one.end) : nil
        let key = WaitEvidence.Key(
            resource: wait.resource, site: one.site, ownerKind: holder == nil ? owner?.kind : .sql,
            ownerSite: holder ?? owner?.site ?? context.callSite(of: wait.ownerSite))
        var found = WaitEvidence()
        found.durations.record(duration)
        found.time = time
        found.blockedTime = wait.isBlocking ? time : 0
        found.mainThreadTime = wait.isBlocking && one.isMainThread ? time : 0
        found.longest = time
        found.tries = UInt64(wait.tries)
        found.failures = wait.error == 0 ? 0 : 1
        found.upgrades = one.isUpgrade ? 1 : 0
        found.asked = one.hasAsked ? 1 : 0
        found.longestHold = work == nil ? 0 : transactions.longestHold(of: wait.ownerThread, until: one.end)
        found.libraries = one.library.map { [$0.rawValue] } ?? []
        found.foreign = wait.ownerProcess == 0 ? 0 : 1
        if let event = owner?.save, case .save(let save) = event.detail {
            (found.mostObjects, found.saveCommit) = (save.objects, save.commit)
            found.saveTime = event.duration &- min(event.duration, save.lockWait)
        }
        let surroundings = surroundings(
            of: context.unit(of: one.scope).id, for: key, outside: duration, in: &context)
        found.lossyWaits = surroundings.lossyOccurrences
        found.scopes = surroundings.scopes
        found.wallTime = surroundings.wallTime
        add(found, to: key)
        if wait.resource.isWriteLock, let most = held?.most?.most, let save = most.save {
            context.blockedSaves.append(
                BlockedSave(save: save, site: most.site, wait: one, isLossy: found.lossyWaits > 0))
        }
    }
}

extension Profile {
    /// Waits for queues and locks.
    var waits: [(key: WaitEvidence.Key, evidence: WaitEvidence)] {
        evidence(of: WaitDetector.self)
    }
}

/// Waits of one line for a resource that another line owned.
///
/// A wait for a context's queue counts only while the queue's owner was in the store. Other work on a queue may take as
/// long as it likes.
struct WaitEvidence: Sendable {
    struct Key: Sendable, Hashable {
        var resource: TraceEvent.Wait.Resource
        /// The line of the program that waited, or `nil` if the trace does not have it.
        var site: CallSite?
        /// The kind of work that the owner's thread did for most of the wait, or `nil` if the trace has none.
        var ownerKind: EventKind?
        /// The line that caused this work, or else the unit of work it belongs to.
        var ownerSite: CallSite?
    }

    /// The durations of all waits, including those that do not count, in nanoseconds.
    var durations = Distribution()
    /// The part of the waits that counts, in nanoseconds.
    var time: UInt64 = 0
    /// The part of ``time`` that blocked a thread, and the main thread, in nanoseconds.
    var blockedTime: UInt64 = 0
    var mainThreadTime: UInt64 = 0
    /// The longest wait that counts, in nanoseconds.
    var longest: UInt64 = 0
    /// The number of retries for SQLite's lock.
    var tries: UInt64 = 0
    /// The number of waits that were given up.
    var failures: UInt64 = 0
    /// The number of waits that were given up at once because the transaction had read before it wrote.
    var upgrades: UInt64 = 0
    /// The number of waits of transactions that asked for SQLite's lock when they began.
    var asked: UInt64 = 0
    /// The longest time for which a transaction of the owner's thread had SQLite's lock, in nanoseconds; 0 if it is not known.
    var longestHold: UInt64 = 0
    /// The libraries that ran the waiting statements for the program, as names of ``StatementLibrary``.
    var libraries: Set<String> = []
    /// The number of waits for another process.
    var foreign: UInt64 = 0
    /// The most objects of a save that was waited for, or 0 if none was.
    var mostObjects: UInt64 = 0
    /// The time that these saves spent in COMMIT, and their total time, in nanoseconds.
    var saveCommit: UInt64 = 0
    var saveTime: UInt64 = 0
    /// The number of waits in scopes in which events were lost.
    var lossyWaits: UInt64 = 0
    var scopes: [ScopeSummary.Key: UInt64] = [:]
    /// The wall time of the scopes, or without scopes of the waits, in nanoseconds.
    var wallTime: UInt64 = 0

    /// Whether all waits failed at once.
    var isImpatient: Bool { tries == 0 && failures == durations.count }
}

extension WaitEvidence.Key {
    var sortText: String {
        ["\(resource)", site?.sortText ?? "", ownerKind?.name ?? "", ownerSite?.sortText ?? ""]
            .joined(separator: "\u{2}")
    }
}

extension WaitEvidence: Summed, StartsEmpty {
    static let parts: [SumPart<WaitEvidence>] = [
        .sum("time", \.time), .sum("blockedTime", \.blockedTime), .sum("mainThreadTime", \.mainThreadTime),
        .sum("tries", \.tries), .sum("failures", \.failures), .sum("foreign", \.foreign),
        .sum("upgrades", \.upgrades), .union("libraries", \.libraries), .sum("asked", \.asked),
        .maximum("longestHold", \.longestHold), .sum("lossyWaits", \.lossyWaits), .sum("wallTime", \.wallTime),
        .maximum("longest", \.longest),
        .maximum("mostObjects", \.mostObjects), .sum("saveCommit", \.saveCommit), .sum("saveTime", \.saveTime),
        .part("durations", \.durations), .part("scopes", \.scopes),
    ]
}

extension WaitEvidence.Key: ProfileKey {
    static var hasSpellings: Bool { true }

    func stored(_ words: inout ProfileWords) -> StoredValue {
        .list([
            resource.stored(&words), site.stored(&words), ownerKind.stored(&words), ownerSite.stored(&words),
        ])
    }

    init(_ value: StoredValue, _ words: ProfileWords) throws {
        let parts = try value.list(of: 4)
        self.init(
            resource: try TraceEvent.Wait.Resource(parts[0], words), site: try CallSite?(parts[1], words),
            ownerKind: try EventKind?(parts[2], words), ownerSite: try CallSite?(parts[3], words))
    }
}
