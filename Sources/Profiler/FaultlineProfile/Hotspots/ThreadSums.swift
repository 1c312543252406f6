package import FaultlineTrace

/// The work of each thread, summed up as a trace is read.
package struct ThreadSums: Sendable {
    /// The maximum number of threads with sums of their own.
    static let most = 1024

    private struct Thread: Hashable {
        var process: UInt32
        var number: UInt32
    }

    /// The work of a thread, by its kind.
    fileprivate struct Work {
        var operations = GroupedHotspots.Row("")
        var waits = GroupedHotspots.Row("")
        var statements = GroupedHotspots.Row("")
        /// The statements that are part of no operation.
        var loneStatements = GroupedHotspots.Row("")
        var isMain = false
    }

    private var threads: [Thread: Work] = [:]
    /// The work of threads beyond the maximum.
    private var others = Work()
    private var names: [Thread: String] = [:]

    package init() {}

    /// Adds a message of the trace.
    ///
    /// - Complexity: O(1) amortised.
    package mutating func add(_ message: TraceMessage) {
        switch message {
        case .entry(let process, _, .thread(let thread)):
            names[Thread(process: process, number: thread.thread)] = thread.name
        case .event(let event): add(event)
        default: break
        }
    }

    private mutating func add(_ event: TraceEvent) {
        guard event.kind.isWork, event.kind != .cacheMiss else { return }
        let thread = Thread(process: event.process, number: event.thread)
        if threads[thread] != nil || threads.count < Self.most {
            threads[thread, default: Work()].add(event)
        } else {
            others.add(event)
        }
    }

    /// The rows of the threads that did anything, in no order.
    var rows: [GroupedHotspots.Row] {
        let all = threads.values + [others]
        let hasOperations = all.contains { $0.operations.count > 0 }
        let isAlone = Set(threads.keys.map(\.process)).count < 2
        var rows = threads.map { thread, work in
            var row = work.row(hasOperations)
            let name = names[thread].flatMap { $0.isEmpty ? nil : " (\($0))" } ?? ""
            row.name = work.isMain ? "main thread" : "thread \(thread.number)\(name)"
            if !isAlone { row.name += " of process \(thread.process)" }
            return row
        }
        var rest = others.row(hasOperations)
        rest.name = "other threads"
        rows.append(rest)
        return rows.filter { $0.count > 0 }
    }
}

extension ThreadSums.Work {
    fileprivate mutating func add(_ event: TraceEvent) {
        if event.isMainThread { isMain = true }
        switch event.kind {
        case .sql:
            statements.add(event)
            if event.parent == 0 { loneStatements.add(event) }
        case .wait: waits.add(event)
        default: operations.add(event)
        }
    }

    /// The work as a row.
    ///
    /// - Parameter hasOperations: Whether the trace has operations, whose statements are then part of them.
    fileprivate func row(_ hasOperations: Bool) -> GroupedHotspots.Row {
        var row = hasOperations ? operations : statements
        if hasOperations { row.add(loneStatements) }
        row.add(waits)
        return row
    }
}

extension GroupedHotspots.Row {
    /// Adds an event.
    fileprivate mutating func add(_ event: TraceEvent) {
        if case .cacheHits(let hits) = event.detail {
            durations.record(sum: hits.time, of: hits.hits)
            (count, countedRows, total) = (count &+ hits.hits, countedRows &+ hits.filled, total &+ hits.time)
            return
        }
        count &+= 1
        if event.unrecorded.contains(.duration) {
            untimed &+= 1
        } else {
            durations.record(event.duration)
            total &+= event.duration
        }
        if event.unrecorded.contains(.rows) { uncounted &+= 1 }
        var counts = EventGroup.Counts()
        counts.add(event)
        countedRows &+= counts.rows
    }

    /// Adds the work of another row.
    fileprivate mutating func add(_ other: Self) {
        count &+= other.count
        durations.merge(other.durations)
        untimed &+= other.untimed
        uncounted &+= other.uncounted
        countedRows &+= other.countedRows
        total &+= other.total
    }
}
