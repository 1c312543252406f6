internal import CRecorder

extension Recorder {
    /// Runs a body in which code without frame pointers may call back, such as `DispatchQueue.sync`: the stacks of events below
    /// it go on to this function's callers.
    ///
    /// Two stores to memory of the thread's own.
    @inline(never)
    package static func anchoringStacks<Result>(_ body: () throws -> Result) rethrows -> Result {
        fl_push_anchor()
        defer { fl_pop_anchor() }
        return try body()
    }
}
