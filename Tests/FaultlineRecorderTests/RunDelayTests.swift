import FaultlineTrace
import Foundation
import Synchronization
import Testing

@testable import FaultlineRecorder

#if FAULTLINE_VISIBLE_LOCKS
    typealias Mutex = VisibleMutex
#endif

@Suite("Waiting for a CPU")
struct RunDelayTests {
    @Test("is recorded for a long event, but not for one that slept")
    func runDelay() throws {
        let recorder = Recorder.memory()
        let others = ProcessInfo.processInfo.activeProcessorCount
        let done = DispatchSemaphore(value: 0)
        // With one busy thread per core, this thread has to wait for its turn.
        for _ in 0..<others {
            Thread.detachNewThread { [done] in
                while !Self.hasEnded.withLock({ $0 }) {}
                done.signal()
            }
        }
        // A thread can sleep for a page that it needs; the delay of that event is not known.
        var attempts = 0
        var before = Self.switches()
        repeat {
            before = Self.switches()
            attempts += 1
            record(recorder) {
                while Self.switches().involuntary < before.involuntary + 3 {}
            }
        } while Self.switches().voluntary != before.voluntary
        record(recorder) {
            let before = Self.switches()
            while Self.switches().voluntary == before.voluntary { usleep(600) }
        }
        Self.hasEnded.withLock { $0 = true }
        for _ in 0..<others { done.wait() }
        let events = Array(recorder.events().dropFirst(attempts - 1))
        #expect(events.count == 2)
        #expect(events[0].runDelay > 0 && events[0].runDelay <= events[0].duration)
        #expect(events[0].ownDuration == events[0].duration - events[0].runDelay)
        #expect(events[1].runDelay == 0 && events[1].ownDuration == events[1].duration)
    }

    private static let hasEnded = Mutex(false)

    private func record(_ recorder: Recorder, _ body: () -> Void) {
        guard let open = recorder.begin() else { return }
        body()
        recorder.end(open, TraceEvent.Fetch(), context: 0, site: 0)
    }

    /// Returns how often the kernel preempted this thread, and how often the thread yielded.
    private static func switches() -> (involuntary: Int, voluntary: Int) {
        var usage = rusage()
        let thisThread: Int32 = 1  // RUSAGE_THREAD, a macro that Swift does not see
        getrusage(thisThread, &usage)
        return (usage.ru_nivcsw, usage.ru_nvcsw)
    }
}
