import CRecorder
import FaultlineTrace
import Foundation
import Testing

@testable import FaultlineRecorder

@Suite("A collector")
struct CollectorTests {
    let path: String

    init() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("faultline-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        path = directory.appendingPathComponent("trace.json").path
    }

    private func record(_ recorder: Recorder, events: Int) {
        for _ in 0..<events {
            guard let open = recorder.begin() else { return }
            recorder.end(open, TraceEvent.Fetch(), context: 0, site: 0)
        }
    }

    private func count(_ category: String) throws -> Int {
        let lines = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: path)))
        return (lines as? [[String: Any]] ?? []).count { $0["cat"] as? String == category }
    }

    @Test("takes in what recorders in its directory record, however they end, and leaves no rings")
    func collects() throws {
        let collector = try TraceCollector(path: path)
        let first = try Recorder.writing(to: .rings(directory: collector.directory))
        let second = try Recorder.writing(to: .rings(directory: collector.directory))
        record(first, events: 10)
        #expect(collector.collect() == 10)
        record(first, events: 5)
        record(second, events: 7)
        first.close()
        let outcome = collector.finish()
        #expect(outcome.processes == 2 && outcome.complaint == nil)
        #expect(try count("fetch") == 22)
        #expect(!FileManager.default.fileExists(atPath: collector.directory))
    }

    @Test("refuses a timeline that another process is writing")
    func refusesSecond() throws {
        let collector = try TraceCollector(path: path)
        defer { _ = collector.finish() }
        #expect {
            _ = try TraceCollector(path: path)
        } throws: { error in
            "\(error)" == "The trace \"\(path)\" is being written by another process; name another file with -o."
        }
    }

    @Test("passes over a directory without room, and says so if there is no other")
    func noRoom() {
        #expect {
            _ = try TraceCollector(path: path, scratch: ["/proc"])
        } throws: { error in
            "\(error)" == "There is no room for recording in \"/proc\" (No space left on device); "
                + "free some space there, or name another directory in FAULTLINE_RINGS."
        }
    }

    /// Stands in for a writer that was killed: it drains without committing, or not at all.
    @Test("that died leaves rings from which the trace is completed, no event lost and none twice", arguments: 0..<3)
    func recovers(variant: Int) throws {
        let directory = (path as NSString).deletingLastPathComponent
        let recorder = try Recorder.writing(to: .rings(directory: directory))
        let rings = try #require(
            FileManager.default.contentsOfDirectory(atPath: directory).first { $0.hasSuffix(".rings") })
        let file = directory + "/" + rings
        let timeline = try #require(fl_timeline_open(path, 0))
        let drain = try #require(fl_drain_open(file, 0))
        fl_timeline_begin_process(timeline, drain, file)
        record(recorder, events: 20)
        fl_timeline_drain(timeline, drain)
        record(recorder, events: 10)
        // The writer dies: before it wrote, after it wrote and before it committed, or in the middle of a line.
        fl_drain_close(drain)
        fl_timeline_close(timeline, nil)
        let bracket = "\n]\n"
        let written = try Data(contentsOf: URL(fileURLWithPath: path)).dropLast(bracket.utf8.count) + Data(",\n".utf8)
        let half = Data("{\"name\":\"fetch\",\"cat\":\"fetch\",\"ph\":\"X\",\"ts\":1.000},\n{\"na".utf8)
        let left = variant == 0 ? written : variant == 1 ? written + half : written + half.prefix(9)
        try left.write(to: URL(fileURLWithPath: path))
        // A process that runs is not recovered; this one says that it has closed its recording.
        recorder.close()
        #expect(TraceRecovery.recover(path, rings: [file]) == .recovered(events: 10))
        #expect(try count("fetch") == 30)
        #expect(!FileManager.default.fileExists(atPath: file))
        #expect(TraceRecovery.recover(path, rings: [file]) == .nothing)
    }

    @Test("does not touch the trace of a program that still runs")
    func stillRunning() throws {
        let recorder = try Recorder.writing(to: .timeline(path: path))
        record(recorder, events: 1)
        let rings = try FileManager.default.contentsOfDirectory(atPath: "/dev/shm")
            .filter { $0.hasPrefix("faultline-\(getpid())-") }.map { "/dev/shm/" + $0 }
        #expect(!rings.isEmpty)
        #expect(TraceRecovery.recover(path, rings: rings) == .stillRunning)
        recorder.close()
        #expect(try count("fetch") == 1)
    }
}
