package import FaultlineTrace

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
    package func of(_ event: TraceEvent) -> UInt64 {
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

    /// The fields of a kind's events whose sum is the weight of those that have one.
    ///
    /// There are none if each event weighs 1. The duration counts as a field.
    ///
    /// - Returns: The names of the fields, or `nil` if events of the kind weigh nothing.
    package func fields(of kind: EventKind) -> [String]? {
        switch (self, kind) {
        case (.cpu, .cpu): ["weight"]
        case (.allocations, .allocation), (.live, .allocation), (.bytes, .fault): ["bytes"]
        case (.time, .cacheHits): ["time"]
        case (.time, _) where kind.isWork: ["duration"]
        case (.trips, .fault), (.trips, .sql): []
        case (.trips, .fetch), (.trips, .batch), (.trips, .save): ["trips"]
        case (.rows, .fetch), (.rows, .batch), (.rows, .sql): ["rows"]
        case (.rows, .fault): ["filled"]
        case (.bytes, .fetch), (.bytes, .batch): ["bytes", "prefetchedBytes"]
        default: nil
        }
    }

    /// Whether the events are samples of the program's work.
    package var isSampled: Bool { self == .cpu || self == .allocations || self == .live }
}
