internal import FaultlineTrace

/// The weight of the events of a call tree.
package enum CallTreeWeight: String, Sendable, CaseIterable {
    /// Sampled CPU time, in nanoseconds.
    case cpu
    /// Sampled allocations, in bytes.
    case allocations
    /// Sampled allocations that were not freed until the end, in bytes.
    case live
    /// The time of the store's operations, and of statements outside them, in nanoseconds.
    case time
    /// Round trips of the store's operations, and statements outside them that read rows.
    case trips
    /// Rows that fetches, batches, faults and statements outside them loaded.
    case rows
    /// Bytes of column values that fetches, batches and faults read.
    case bytes

    /// The weights that a tree shows if none is named, the most informative first.
    package static let usual: [CallTreeWeight] = [.cpu, .allocations, .time]

    /// All weights, the most informative first.
    package static let all: [CallTreeWeight] = usual + allCases.filter { !usual.contains($0) }

    /// Returns an event's weight; 0 if it has none.
    func of(_ event: TraceEvent) -> UInt64 {
        switch (self, event.detail) {
        case (.cpu, .cpu(let sample)): sample.weight
        case (.allocations, .allocation(let allocation)), (.live, .allocation(let allocation)):
            allocation.allocation == 0 ? allocation.bytes : 0
        case (.time, _) where event.parent == 0 && event.kind.isWork: event.threadTime ?? 0
        case (.trips, .sql): event.parent == 0 ? event.trips : 0
        case (.trips, _): event.trips
        case (.rows, .fetch(let fetch)): UInt64(fetch.rows)
        case (.rows, .batch(let batch)): UInt64(batch.rows)
        case (.rows, .fault(let fault)): fault.source == .rowCache ? 0 : UInt64(fault.filled)
        case (.rows, .sql(let statement)):
            event.parent == 0 && statement.type == .read ? UInt64(statement.rows) : 0
        case (.bytes, .fetch(let fetch)): fetch.bytes &+ fetch.prefetchedBytes
        case (.bytes, .batch(let batch)): batch.bytes &+ batch.prefetchedBytes
        case (.bytes, .fault(let fault)) where fault.source != .rowCache: fault.bytes
        default: 0
        }
    }

    /// Whether the events are samples of the program's work.
    package var isSampled: Bool { self == .cpu || self == .allocations || self == .live }
}
