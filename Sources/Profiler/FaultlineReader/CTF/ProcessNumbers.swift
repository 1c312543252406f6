import CTraceSchema
import FaultlineTrace

/// Assigns unique numbers to the processes of a CTF trace, and records when they began.
///
/// Several programs can have the same process ID one after the other: a program replaces itself with `exec`, or the
/// kernel reuses the ID. Each announces its beginning before any of its other messages. The announcement is repeated
/// for a session that was started late, and in every session of a program when another one starts.
struct ProcessNumbers {
    /// Identifies a process among those with the same ID.
    private struct Beginning: Hashable {
        var number: UInt32
        var origin: UInt64
        var start: UInt64
        var date: Double
    }

    private var names: [Beginning: UInt32] = [:]
    private var taken: Set<UInt32> = []
    /// A process's unique number, and the time its timestamps are relative to.
    private struct Process {
        var name: UInt32
        var origin: UInt64
    }

    /// The process that an ID currently stands for.
    private var current: [UInt32: Process] = [:]
    /// The last look-up, since events come in runs of one process.
    private var last: (number: UInt32, process: Process)?
    private var earliest: UInt64?
    /// The trace's start: the earliest time that a process's timestamps are relative to, in nanoseconds of
    /// `CLOCK_MONOTONIC`.
    var origin: UInt64 { earliest ?? 0 }

    /// Records the beginning of a process.
    ///
    /// - Returns: The process's unique number, and whether it is new.
    mutating func begin(_ number: UInt32, origin: UInt64, start: UInt64, date: Double) -> (name: UInt32, isNew: Bool) {
        let beginning = Beginning(number: number, origin: origin, start: start, date: date)
        earliest = min(earliest ?? origin, origin)
        if let known = names[beginning] {
            enter(Process(name: known, origin: origin), for: number)
            return (known, false)
        }
        var name = number
        while taken.contains(name), name <= .max - FL_PROCESS_NUMBERS { name += FL_PROCESS_NUMBERS }
        names[beginning] = name
        taken.insert(name)
        enter(Process(name: name, origin: origin), for: number)
        return (name, true)
    }

    private mutating func enter(_ process: Process, for number: UInt32) {
        current[number] = process
        last = nil
    }

    /// The unique number of the process that an ID stands for so far; `nil` before its beginning.
    func known(_ number: UInt32) -> UInt32? { current[number]?.name }

    /// Forgets which process an ID stands for, before a trace is read again.
    mutating func rewind() { (current, last) = ([:], nil) }

    /// Returns the unique number of the process with an ID, and how much later than the trace its clock starts, in
    /// nanoseconds.
    mutating func process(of number: UInt32) -> (name: UInt32, delay: UInt64) {
        if let last, last.number == number { return (last.process.name, last.process.origin &- origin) }
        let process = current[number] ?? Process(name: number, origin: origin)
        last = (number, process)
        return (process.name, process.origin &- origin)
    }
}
