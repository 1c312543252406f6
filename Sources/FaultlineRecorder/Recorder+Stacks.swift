internal import CRecorder

extension Recorder {
    /// Runs a body in which code without frame pointers may call back, such as `DispatchQueue.sync`.
    ///
    /// The stacks of events below it continue with this function's callers. Costs two stores to thread-local memory.
    @inline(never)
    package static func anchoringStacks<Result>(_ body: () throws -> Result) rethrows -> Result {
        fl_push_anchor()
        defer { fl_pop_anchor() }
        return try body()
    }
}
