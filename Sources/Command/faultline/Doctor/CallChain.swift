import FaultlineRecorder
import FaultlineTrace

/// An event at the end of a chain of calls, with the stack that the recorder walked for it.
struct CallChain {
    /// The return addresses, innermost first.
    let stack: [UInt64]
    /// The programs and libraries loaded in this process.
    let modules: [ModuleEntry]
    /// The number of addresses that belong to the chain's own calls.
    let callsFound: Int

    /// The name of the file with the calls.
    static let file = "CallChain.swift"
    /// The number of nested calls.
    static let calls = 24

    init() {
        let recorder = Recorder.memory()
        var returns: [Int] = []
        Self.descend(Self.calls, &returns, recorder)
        var stack: [UInt64] = []
        var modules: [ModuleEntry] = []
        for message in recorder.messages() {
            if case .entry(_, _, .stack(let entry)) = message { stack = entry.addresses }
            if case .entry(_, _, .module(let entry)) = message { modules.append(entry) }
        }
        self.stack = stack
        self.modules = modules
        // The chain calls itself from one place, so that address repeats. The last call is at another place, where it
        // records.
        var times: [UInt64: Int] = [:]
        for address in stack { times[address, default: 0] += 1 }
        let repeated = times.values.max() ?? 0
        callsFound = repeated > 1 ? repeated + 1 : repeated
        recorder.close()
    }

    /// The work after the call prevents a tail call, which the optimizer would turn into a loop.
    @inline(never)
    private static func descend(_ calls: Int, _ returns: inout [Int], _ recorder: Recorder) {
        if calls > 1 {
            descend(calls - 1, &returns, recorder)
        } else if let open = recorder.begin() {
            recorder.end(open, TraceEvent.Fetch(), context: 0, site: 0)
        }
        returns.append(calls)
    }
}
