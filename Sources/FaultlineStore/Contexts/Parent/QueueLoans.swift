import Dispatch
import Synchronization

/// Lets a child use its parent while the thread that is on the parent's queue waits for the child.
///
///     parent.performAndWait {            // thread A
///         child.performAndWait { … }     // waits for thread B, whose work on the child fires a fault
///     }
///
/// The fault needs the parent, which A holds. While A waits, it uses nothing that it holds, so it lends all of that to
/// whoever is on the queue that it waits for; B takes the parent and goes on. Loans go on from waiter to waiter: with a
/// grandchild between the two, A lends to the child's thread, and that one to the grandchild's. A loan needs no return:
/// the lender goes on only once the borrower has left the queue that the lender waits for.
///
/// Only children borrow, for as long as they read or change their parent. The program's own blocks never run in the
/// middle of another.
final class QueueLoans: Sendable {
    static let shared = QueueLoans()

    /// How a thread comes to use a context.
    enum Admission {
        /// It holds the context until it leaves.
        case turn
        /// Somebody who waits for it holds the context.
        case loan
    }

    fileprivate struct Loan {
        var queues: Set<QueueKey>
        /// The queue that the lender waits for.
        var awaited: QueueKey
    }

    fileprivate struct State {
        var loans: [Int: Loan] = [:]
        var lastLoan = 0
        var waiters: [QueueWaiter] = []
    }

    private let state = Mutex(State())
    private let hasChildren = Atomic<Bool>(false)

    private init() {}

    /// To be called before there is the first child; until then nobody lends.
    func begin() { hasChildren.store(true, ordering: .relaxed) }

    // MARK: - Lending

    /// Lends queues while the thread that holds them waits for another.
    ///
    /// - Returns: the loan, which is to be ended once the wait is over; `nil`: nobody can want them.
    func lend(_ queues: @autoclosure () -> Set<QueueKey>, whileWaitingFor awaited: QueueKey) -> Int? {
        guard hasChildren.load(ordering: .relaxed) else { return nil }
        let queues = queues()
        guard !queues.isEmpty else { return nil }
        return state.withLock { $0.lend(queues, whileWaitingFor: awaited) }
    }

    func end(_ loan: Int?) {
        guard let loan else { return }
        state.withLock { _ = $0.loans.removeValue(forKey: loan) }
    }

    // MARK: - Entering

    /// Enters a context's gate, and waits for it if need be.
    ///
    /// - Parameters:
    ///   - held: the queues that the thread holds, which it lends while it waits.
    ///   - mayBorrow: whether a loan of the context will do.
    /// - Returns: how the thread came in, and whether it waited.
    func enter(
        _ gate: QueueGate, _ key: QueueKey, holding held: @autoclosure () -> Set<QueueKey>, mayBorrow: Bool
    ) -> (admission: Admission, hasWaited: Bool) {
        if gate.enterIfFree() { return (.turn, false) }
        let waiter = QueueWaiter(key, holding: held(), mayBorrow: mayBorrow)
        let admission: Admission? = state.withLock { state in
            if gate.enterOrAwait() { return .turn }
            return state.add(waiter)
        }
        if let admission { return (admission, false) }
        return (waiter.wait(), true)
    }

    func leave(_ gate: QueueGate, _ key: QueueKey) {
        if gate.leaveIfNotAwaited() { return }
        state.withLock { state in
            guard let next = state.waiters.first(where: { $0.wanted == key }) else { return gate.leave() }
            state.admit(next, .turn)
        }
    }

    /// Does work on the main queue and waits for it, or does it on this thread if the main queue is lent meanwhile.
    ///
    /// - Parameter work: gets how it came in.
    func onMainQueue(holding held: Set<QueueKey>, _ work: @escaping (Admission) -> Void) {
        let waiter = QueueWaiter(.main, holding: held, mayBorrow: true)
        waiter.work = work
        if state.withLock({ $0.add(waiter) }) != nil { return work(.loan) }
        DispatchQueue.main.async { [self] in
            guard state.withLock({ $0.take(waiter) }) else { return }
            waiter.work?(.turn)
            waiter.admit(.turn)
        }
        if waiter.wait() == .loan { work(.loan) }
    }
}

/// A thread that waits for a queue.
private final class QueueWaiter: @unchecked Sendable {
    // The lock of `QueueLoans` guards what is not constant until the waiter is admitted; then its thread alone uses it.
    // `work` is the thread's own, which waits while the main queue does it.
    let wanted: QueueKey
    let held: Set<QueueKey>
    let mayBorrow: Bool
    /// What it lends while it waits.
    var loan: Int?
    var work: ((QueueLoans.Admission) -> Void)?
    private var admission = QueueLoans.Admission.turn
    private let semaphore = DispatchSemaphore(value: 0)

    init(_ wanted: QueueKey, holding held: Set<QueueKey>, mayBorrow: Bool) {
        self.wanted = wanted
        self.held = held
        self.mayBorrow = mayBorrow
    }

    func admit(_ admission: QueueLoans.Admission) {
        self.admission = admission
        semaphore.signal()
    }

    func wait() -> QueueLoans.Admission {
        semaphore.wait()
        return admission
    }
}

extension QueueLoans.State {
    mutating func lend(_ queues: Set<QueueKey>, whileWaitingFor awaited: QueueKey) -> Int {
        lastLoan += 1
        loans[lastLoan] = QueueLoans.Loan(queues: queues, awaited: awaited)
        // Somebody may have waited for just that.
        for waiter in waiters where canBorrow(waiter) { admit(waiter, .loan) }
        return lastLoan
    }

    /// Lets a thread wait, unless what it wants is lent to it.
    mutating func add(_ waiter: QueueWaiter) -> QueueLoans.Admission? {
        if canBorrow(waiter) { return .loan }
        waiters.append(waiter)
        if !waiter.held.isEmpty { waiter.loan = lend(waiter.held, whileWaitingFor: waiter.wanted) }
        return nil
    }

    /// Takes out a thread that waits; whether it still waited.
    mutating func take(_ waiter: QueueWaiter) -> Bool {
        guard let place = waiters.firstIndex(where: { $0 === waiter }) else { return false }
        waiters.remove(at: place)
        if let loan = waiter.loan { loans[loan] = nil }
        return true
    }

    mutating func admit(_ waiter: QueueWaiter, _ admission: QueueLoans.Admission) {
        if take(waiter) { waiter.admit(admission) }
    }

    /// Whether what a thread wants is lent to it, by those who wait for what it holds, and those who wait for them.
    private func canBorrow(_ waiter: QueueWaiter) -> Bool {
        guard waiter.mayBorrow, !loans.isEmpty else { return false }
        var reached = waiter.held
        var isComplete = false
        while !isComplete {
            isComplete = true
            for (id, loan) in loans where id != waiter.loan && reached.contains(loan.awaited) {
                guard !loan.queues.isSubset(of: reached) else { continue }
                reached.formUnion(loan.queues)
                isComplete = false
            }
        }
        return reached.contains(waiter.wanted)
    }
}
