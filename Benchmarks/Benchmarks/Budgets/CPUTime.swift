import Foundation

/// Does work and returns the processor time that the thread took for it, in nanoseconds.
func cpuTime(_ work: () throws -> Void) rethrows -> Double {
    let start = threadTime()
    try work()
    return threadTime() - start
}

private func threadTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

/// Keeps a value from being optimised away.
@_optimize(none)
func blackHole<Value>(_ value: Value) {}
