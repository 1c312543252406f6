import Foundation

/// Runs work and returns the CPU time of the thread, in nanoseconds.
func cpuTime(_ work: () throws -> Void) rethrows -> Double {
    let start = threadTime()
    try work()
    return threadTime() - start
}

private func threadTime() -> Double { time(of: CLOCK_THREAD_CPUTIME_ID) }

/// The CPU time of all threads of this process, in nanoseconds.
func processTime() -> Double { time(of: CLOCK_PROCESS_CPUTIME_ID) }

private func time(of clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

/// Prevents a value from being optimised away.
@_optimize(none)
func blackHole<Value>(_ value: Value) {}

/// Runs a program to its end and returns its CPU time, in nanoseconds.
func childTime(_ arguments: [String]) throws -> Double {
    let before = timeOfChildren()
    let program = Process()
    program.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    program.arguments = arguments
    program.standardOutput = FileHandle.nullDevice
    try program.run()
    program.waitUntilExit()
    guard program.terminationStatus == 0 else { throw ChildFailure(command: arguments.joined(separator: " ")) }
    return timeOfChildren() - before
}

/// The failure of a program under measurement.
struct ChildFailure: Error, CustomStringConvertible {
    let command: String
    var description: String { "Could not measure \"\(command)\": it failed." }
}

private func timeOfChildren() -> Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
    let seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec
    return Double(seconds) * 1e9 + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e3
}
