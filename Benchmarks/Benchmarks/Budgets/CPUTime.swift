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

/// Prevents a value from being optimized away.
@_optimize(none)
func blackHole<Value>(_ value: Value) {}
