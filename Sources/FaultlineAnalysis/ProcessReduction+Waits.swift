internal import FaultlineTrace

extension ProcessReduction {
    /// The share of a wait for a context's queue that its holder must be in the store for.
    static let leastHeldShare = 0.1

    /// Adds a wait to the evidence once it is known what its holder did.
    mutating func noteWait(_ wait: TraceEvent.Wait, _ event: TraceEvent, in tables: inout ProfileTables) {
        guard !isSetup(event.scope) else { return }
        let one = ThreadWork.Wait(
            wait: wait, site: callSite(of: event), scope: event.scope, start: event.start, end: event.end,
            isMainThread: event.isMainThread)
        guard wait.holderThread != 0, wait.holderProcess == 0 else { return judge(one, nil, in: &tables) }
        let oldest = changeWork(of: wait.holderThread, in: &tables) { $0.add(one) }
        if let oldest { judge(oldest, threadWork.peek(wait.holderThread), in: &tables) }
    }

    /// Remembers what a thread does in the store, which others may have waited for.
    mutating func noteWork(_ event: TraceEvent, in tables: inout ProfileTables) {
        guard event.parent == 0, event.isOnThread, event.kind != .wait else { return }
        let site = callSite(of: event)
        let over = changeWork(of: event.thread, in: &tables) { work in
            work.add(event, site: site)
            return work.takeWaits(until: event.end)
        }
        for wait in over { judge(wait, threadWork.peek(event.thread), in: &tables) }
    }

    private mutating func changeWork<Result>(
        of thread: UInt32, in tables: inout ProfileTables, _ change: (inout ThreadWork) -> Result
    ) -> Result {
        if let result = threadWork.update(thread, change) { return result }
        var work = ThreadWork()
        let result = change(&work)
        if let evicted = threadWork.insert(work, for: thread) { finish(evicted.value, into: &tables) }
        return result
    }

    /// Adds the waits whose holders did nothing more.
    mutating func finishWaits(into tables: inout ProfileTables) {
        for (_, work) in threadWork.drain() { finish(work, into: &tables) }
    }

    private mutating func finish(_ work: ThreadWork, into tables: inout ProfileTables) {
        var work = work
        let waits = work.takeWaits()
        for wait in waits { judge(wait, work, in: &tables) }
    }

    private mutating func judge(_ one: ThreadWork.Wait, _ work: ThreadWork?, in tables: inout ProfileTables) {
        let wait = one.wait
        let duration = one.end &- min(one.start, one.end)
        let held = work?.work(during: one)
        var time = duration
        if wait.resource == .contextQueue {
            time = min(duration, held?.time ?? 0)
            guard Double(time) >= Self.leastHeldShare * Double(duration) else { return }
        }
        let holder = held?.most?.most
        let key = WaitEvidence.Key(
            resource: wait.resource, site: one.site, holderKind: holder?.kind,
            holderSite: holder?.site ?? callSite(of: wait.holderSite))
        var evidence = WaitEvidence()
        evidence.durations.record(duration)
        evidence.time = time
        evidence.blockedTime = wait.isBlocking ? time : 0
        evidence.mainThreadTime = wait.isBlocking && one.isMainThread ? time : 0
        evidence.longest = time
        evidence.tries = UInt64(wait.tries)
        evidence.failures = wait.error == 0 ? 0 : 1
        evidence.foreign = wait.holderProcess == 0 ? 0 : 1
        if let event = holder?.save, case .save(let save) = event.detail {
            (evidence.mostObjects, evidence.saveCommit) = (save.objects, save.commit)
            evidence.saveTime = event.duration &- min(event.duration, save.lockWait)
        }
        let surroundings = surroundings(of: unit(of: one.scope).id, for: .waits(key), outside: duration)
        evidence.lossyWaits = surroundings.lossyOccurrences
        evidence.scopes = surroundings.scopes
        evidence.wallTime = surroundings.wallTime
        tables.waits[key, default: WaitEvidence()].merge(evidence)
        if wait.resource.isWriteLock, let most = held?.most {
            noteBlocking(most, one, isLossy: evidence.lossyWaits > 0, in: &tables)
        }
    }
}
