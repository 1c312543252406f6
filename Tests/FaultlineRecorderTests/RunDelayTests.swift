import CRecorder
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
    @Test("is the time that the thread neither ran nor slept, at most the event's duration")
    func waiting() {
        // The readings are 1,000 ns before the event and 200 ns after it.
        let before = fl_run(at: 9_000, time: 500, sleeps: 7)
        func delay(ran: UInt64, from before: fl_run = before, sleeps: UInt64 = 7) -> UInt64 {
            withUnsafePointer(to: before) { before in
                var after = fl_run(at: 60_200, time: 500 + ran, sleeps: sleeps)
                return fl_run_delay(before, &after, 10_000, 50_000)
            }
        }
        #expect(delay(ran: 21_000) == 30_000)
        #expect(delay(ran: 500) == 50_000)
        #expect(delay(ran: 51_200) == 0)
    }

    @Test("is unknown if the thread slept, if a reading failed, and if the event began before the first reading")
    func unknown() {
        let readings: [(before: fl_run, after: fl_run)] = [
            (fl_run(at: 9_000, time: 500, sleeps: 7), fl_run(at: 60_200, time: 900, sleeps: 8)),
            (fl_run(at: 9_000, time: 500, sleeps: .max), fl_run(at: 60_200, time: 900, sleeps: .max)),
            (fl_run(at: 9_000, time: .max, sleeps: 7), fl_run(at: 60_200, time: .max, sleeps: 7)),
            (fl_run(at: 9_000, time: 500, sleeps: 7), fl_run(at: 60_200, time: 400, sleeps: 7)),
            (fl_run(at: 10_001, time: 500, sleeps: 7), fl_run(at: 60_200, time: 900, sleeps: 7)),
        ]
        for reading in readings {
            var (before, after) = reading
            #expect(fl_run_delay(&before, &after, 10_000, 50_000) == 0)
        }
    }

    @Test("is recorded for a long event, but not for one that slept")
    func recorded() throws {
        let recorder = Recorder.memory()
        let done = DispatchSemaphore(value: 0)
        // With one busy thread per core, the recording thread has to wait for its turn.
        let others = ProcessInfo.processInfo.activeProcessorCount
        for _ in 0..<others {
            Thread.detachNewThread { [done] in
                while !Self.hasEnded.withLock({ $0 }) {}
                done.signal()
            }
        }
        // A new thread has no earlier reading. It may sleep for a page that it needs, so the sleeps are counted within
        // the event and around it.
        Thread.detachNewThread { [done] in
            let around = Self.switches()
            Self.record(recorder) {
                let within = Self.switches()
                while Self.switches().involuntary < within.involuntary + 3 {}
                Self.sleeps.withLock { $0.within = Self.switches().voluntary - within.voluntary }
            }
            Self.sleeps.withLock { $0.around = Self.switches().voluntary - around.voluntary }
            Self.record(recorder) {
                let before = Self.switches()
                while Self.switches().voluntary == before.voluntary { usleep(600) }
            }
            done.signal()
        }
        done.wait()
        Self.hasEnded.withLock { $0 = true }
        for _ in 0..<others { done.wait() }
        let events = recorder.events()
        try #require(events.count == 2)
        let sleeps = Self.sleeps.withLock { $0 }
        if sleeps.around == 0 { #expect(events[0].runDelay > 0) }
        if sleeps.within > 0 { #expect(events[0].runDelay == 0) }
        #expect(events[0].runDelay <= events[0].duration)
        #expect(events[0].ownDuration == events[0].duration - events[0].runDelay)
        #expect(events[1].runDelay == 0 && events[1].ownDuration == events[1].duration)
    }

    private static let hasEnded = Mutex(false)
    private static let sleeps = Mutex((within: 0, around: 0))

    private static func record(_ recorder: Recorder, _ body: () -> Void) {
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
