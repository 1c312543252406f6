import Dispatch
import Synchronization

/// Lets a child use its parent while the thread on the parent's queue waits for the child.
///
///     parent.performAndWait {            // thread A
///         child.performAndWait { … }     // waits for thread B, whose work on the child fires a fault
///     }
///
/// The fault needs the parent, which A holds. While A waits, it does not use its queues, so it lends them to the thread
/// on the queue that it waits for: B borrows the parent and continues. Loans are passed on: if B in turn waits for a
/// thread on a grandchild, that thread can borrow the parent as well. No loan has to be returned, because the lender
/// continues only when the borrower has left the queue that the lender waits for.
///
/// Threads borrow only while a child reads or changes its parent. A block of the program never runs in the middle of
/// another.
final class QueueLoans: Sendable {
    static let shared = QueueLoans()

    /// How a thread was admitted to a context.
    enum Admission {
        /// It holds the context until it leaves.
        case turn
        /// Another thread holds the context and waits for this one.
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

    /// To be called before the first child is made; until then no thread lends.
    func begin() { hasChildren.store(true, ordering: .relaxed) }

    // MARK: - Lending

    /// Lends queues while the thread that holds them waits for another.
    ///
    /// - Returns: The loan, to be ended when the wait is over; `nil` if there is nothing to lend.
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

    /// Enters a context's gate, and waits until it is free or lent.
    ///
    /// - Parameters:
    ///   - held: The queues that the thread holds, which it lends while it waits.
    ///   - mayBorrow: Whether the thread may borrow the context.
    /// - Returns: The way the thread was admitted, and whether it waited.
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

    /// Runs a closure on the main queue and waits for it, or runs it on this thread if the main queue is lent.
    ///
    /// - Parameter work: Gets how it was admitted.
    func onMainQueue(holding held: Set<QueueKey>, _ work: @escaping (Admission) -> Void) {
        let waiter = QueueWaiter(.main, holding: held, mayBorrow: true)
        waiter.work = work
        if state.withLock({ $0.add(waiter) }) != nil { return waiter.run(.loan) }
        DispatchQueue.main.async { [self] in
            guard state.withLock({ $0.take(waiter) }) else { return }
            waiter.run(.turn)
            waiter.admit(.turn)
        }
        if waiter.wait() == .loan { waiter.run(.loan) }
    }
}

/// A thread that waits for a queue.
private final class QueueWaiter: @unchecked Sendable {
    // The lock of `QueueLoans` guards the variables until the waiter is admitted; after that only its thread uses them.
    // The thread waits while the main queue runs `work`.
    let wanted: QueueKey
    let held: Set<QueueKey>
    let mayBorrow: Bool
    /// The loan of the queues that it holds.
    var loan: Int?
    var work: ((QueueLoans.Admission) -> Void)?
    private var admission = QueueLoans.Admission.turn
    private let semaphore = DispatchSemaphore(value: 0)

    init(_ wanted: QueueKey, holding held: Set<QueueKey>, mayBorrow: Bool) {
        self.wanted = wanted
        self.held = held
        self.mayBorrow = mayBorrow
    }

    /// Runs the work once and releases it.
    ///
    /// The main queue retains the waiter beyond the wait, but the work must not outlive the caller, which does not let it
    /// escape.
    func run(_ admission: QueueLoans.Admission) {
        work?(admission)
        work = nil
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
        // Threads may already be waiting for these queues.
        for waiter in waiters where canBorrow(waiter) { admit(waiter, .loan) }
        return lastLoan
    }

    /// Adds a thread to those that wait, unless it can borrow what it wants.
    mutating func add(_ waiter: QueueWaiter) -> QueueLoans.Admission? {
        if canBorrow(waiter) { return .loan }
        waiters.append(waiter)
        if !waiter.held.isEmpty { waiter.loan = lend(waiter.held, whileWaitingFor: waiter.wanted) }
        return nil
    }

    /// Removes a thread from those that wait, and returns whether it was still waiting.
    mutating func take(_ waiter: QueueWaiter) -> Bool {
        guard let position = waiters.firstIndex(where: { $0 === waiter }) else { return false }
        waiters.remove(at: position)
        if let loan = waiter.loan { loans[loan] = nil }
        return true
    }

    mutating func admit(_ waiter: QueueWaiter, _ admission: QueueLoans.Admission) {
        if take(waiter) { waiter.admit(admission) }
    }

    /// Whether a thread that waits for a queue held by this one, directly or through others, lends what this one wants.
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
