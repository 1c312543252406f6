import FaultlineFindings
import FaultlineRecorder
import Foundation

/// Checks the clock that stamps events: its source, and the cost to read it.
struct ClockCheck: Examination {
    private static let subject = Subject(
        name: "clock", why: "An event reads it twice; a slow one makes short events look long.")

    /// The nanoseconds from which a read must be a system call.
    private static let slow = 150.0
    private static let slowSources: Set<String> = ["acpi_pm", "hpet", "jiffies", "pit", "refined-jiffies"]
    private static let folder = "/sys/devices/system/clocksource/clocksource0/"

    var silence: Check { Self.subject.failed("CLOCK_MONOTONIC \(Doctor.silence)", "") }

    func checks() -> [Check] {
        var resolution = timespec()
        guard clock_getres(CLOCK_MONOTONIC, &resolution) == 0 else {
            return [
                Self.subject.failed(
                    "cannot read CLOCK_MONOTONIC (\(SystemError(code: errno)))",
                    "Allow clock_gettime, if a sandbox forbids it.")
            ]
        }
        let tick = Double(resolution.tv_sec) * 1e9 + Double(resolution.tv_nsec)
        let cost = Self.cost()
        let source = Self.word("current_clocksource").first ?? "source unknown"
        let found = "\(source), \(Phrase.duration(cost)) per read"
        if cost >= Self.slow || Self.slowSources.contains(source) {
            let better = Self.word("available_clocksource").filter { !Self.slowSources.contains($0) && $0 != source }
            guard let better = better.first else {
                return [
                    Self.subject.warning(found, "This machine has no faster clock: rely on counts rather than times.")
                ]
            }
            return [
                Self.subject.warning(
                    found, "Change it, as root.", command: "echo \(better) >\(Self.folder)current_clocksource")
            ]
        }
        // Such a resolution comes from the timer interrupt. Otherwise it is 1 ns.
        guard tick < 1000 else {
            return [
                Self.subject.warning(
                    "\(found), in ticks of \(Phrase.duration(tick))",
                    "Enable high-resolution timers: boot without highres=off and nohz=off.")
            ]
        }
        return [Self.subject.ok(found)]
    }

    /// The nanoseconds that a read takes: the minimum of several rounds, which has the fewest interruptions.
    private static func cost() -> Double {
        let reads = 2000
        let recorder = Recorder.off()
        return (0..<8).map { _ in
            let start = recorder.now()
            for _ in 1..<reads { _ = recorder.now() }
            return Double(recorder.now() - start) / Double(reads)
        }.min() ?? 0
    }

    private static func word(_ file: String) -> [String] {
        let text = (try? String(contentsOfFile: folder + file, encoding: .utf8)) ?? ""
        return text.split(whereSeparator: \.isWhitespace).map(String.init)
    }
}
