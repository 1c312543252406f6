import CTraceSchema
import FaultlineTrace

/// What the processes of a CTF trace are called, and when they began.
///
/// A number can come to several programs one after the other: a program that becomes another one by `exec`, or a number
/// that the kernel gives again. Each has told where it began before anything else of it came. A session that was started
/// late is told again, as is every session of a program when another one starts.
struct ProcessNumbers {
    /// What tells a process apart from others of its number.
    private struct Beginning: Hashable {
        var number: UInt32
        var origin: UInt64
        var start: UInt64
        var date: Double
    }

    private var names: [Beginning: UInt32] = [:]
    private var taken: Set<UInt32> = []
    /// What a process is called, and the moment that its times are relative to.
    private struct Process {
        var name: UInt32
        var origin: UInt64
    }

    /// What a number stands for now.
    private var current: [UInt32: Process] = [:]
    /// What a number was asked for last, since events come in runs of one process.
    private var last: (number: UInt32, process: Process)?
    private var earliest: UInt64?
    /// The earliest of the moments that processes' times are relative to, in nanoseconds of `CLOCK_MONOTONIC`: the trace's
    /// start.
    var origin: UInt64 { earliest ?? 0 }

    /// Takes in where a process began.
    ///
    /// - Returns: What it is called, and whether that is new.
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

    /// Forgets which process a number stands for, before a trace is gone through again.
    mutating func rewind() { (current, last) = ([:], nil) }

    /// What the process of a number is called now, and how much later than the trace its own times begin, in nanoseconds.
    mutating func process(of number: UInt32) -> (name: UInt32, delay: UInt64) {
        if let last, last.number == number { return (last.process.name, last.process.origin &- origin) }
        let process = current[number] ?? Process(name: number, origin: origin)
        last = (number, process)
        return (process.name, process.origin &- origin)
    }
}
