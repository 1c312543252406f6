import FaultlineReader
import FaultlineRecorder
import FaultlineTrace

/// Records events into rings and a timeline, like `faultline record`, and reads them back.
struct TimelineTrial: Examination {
    /// The directory for the timeline.
    let directory: String

    private static let subject = Subject(
        name: "trial run", why: "A recording with the default options works like this one.", isEssential: true)
    private static let events = 100

    var silence: Check {
        Self.subject.failed(
            "\(directory) does not respond", "Name another directory with --directory, and record with -o.")
    }

    func checks() -> [Check] {
        do {
            let read = try ScratchDirectory.with(in: directory) { try record(to: $0.file("trace.json")) }
            guard read == Self.events else {
                return [
                    Self.subject.failed(
                        "only \(read) of \(Self.events) events were read back",
                        "Record a program, and check the head of its report.")
                ]
            }
            return [Self.subject.ok("\(Self.events) events recorded, written to a timeline, read back")]
        } catch let failure as SystemError {
            return [
                Self.subject.failed(
                    "cannot create a file in \(directory) (\(failure))",
                    "Name another directory with --directory, and record with -o.")
            ]
        } catch {
            return [Self.subject.failed("no complete timeline was written in \(directory)", "\(error)")]
        }
    }

    /// Records events, and returns the number that were read back.
    private func record(to path: String) throws -> Int {
        let collector = try TraceCollector(path: path, scratch: Recording.directories(for: path))
        let recorder: Recorder
        do {
            recorder = try Recorder.writing(to: .rings(directory: collector.directory))
        } catch {
            collector.discard()
            throw error
        }
        for _ in 0..<Self.events {
            if let open = recorder.begin() { recorder.end(open, TraceEvent.Fetch(), context: 0, site: 0) }
        }
        recorder.close()
        if let note = collector.finish().notes.first { throw CommandFailure.tool(note) }
        var read = 0
        try TraceReader(path: path).read { message in
            if case .event = message { read += 1 }
        }
        return read
    }
}
