import CRecorder
import FaultlineTrace
import Foundation
import TestFolders
import Testing

@testable import FaultlineRecorder

@Suite("A collector")
struct CollectorTests {
    let path: String

    init() throws {
        let directory = try TestFolder.make()
        path = directory.appendingPathComponent("trace.json").path
    }

    private func record(_ recorder: Recorder, events: Int) {
        for _ in 0..<events {
            guard let open = recorder.begin() else { return }
            recorder.end(open, TraceEvent.Fetch(), context: 0, site: 0)
        }
    }

    /// The note on a recorder that was not closed, because its process is this one.
    private let stillRuns = "1 process of the command is still running; the trace ends where the recording ended."

    private func named(_ file: String) -> TraceRecovery.NamedRings {
        TraceRecovery.NamedRings(file: file, process: 0, origin: 0)
    }

    /// Rings, named as a trace names those of the process that wrote them.
    private func identified(_ file: String) throws -> TraceRecovery.NamedRings {
        let drain = try #require(fl_drain_open(file, 0))
        defer { fl_drain_close(drain) }
        let process = fl_drain_process(drain)
        return TraceRecovery.NamedRings(
            file: file, process: process.process, origin: process.date - Double(process.start) / 1e9)
    }

    /// Leaves the rings of a process whose trace was not finished: 20 events are in the trace, and 10 only in the rings.
    ///
    /// - Returns: The rings' file, and the trace as a killed writer leaves it: without the closing bracket.
    private func leaveRings() throws -> (file: String, trace: Data) {
        let directory = (path as NSString).deletingLastPathComponent
        let recorder = try Recorder.writing(to: .rings(directory: directory))
        let name = try #require(
            FileManager.default.contentsOfDirectory(atPath: directory).first { $0.hasSuffix(".rings") })
        let file = directory + "/" + name
        let timeline = try #require(fl_timeline_open(path))
        let drain = try #require(fl_drain_open(file, 0))
        fl_timeline_begin_process(timeline, drain, file)
        record(recorder, events: 20)
        fl_timeline_drain(timeline, drain)
        record(recorder, events: 10)
        // A running process is not recovered, so this one closes its recording.
        recorder.close()
        fl_drain_close(drain)
        fl_timeline_finish(timeline, nil)
        fl_timeline_close(timeline)
        let bracket = "\n]\n"
        return (file, try Data(contentsOf: URL(fileURLWithPath: path)).dropLast(bracket.utf8.count) + Data(",\n".utf8))
    }

    private func count(_ category: String) throws -> Int {
        let lines = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: path)))
        return (lines as? [[String: Any]] ?? []).count { $0["cat"] as? String == category }
    }

    @Test("collects what recorders in its directory record, however they end, and removes their rings")
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
        #expect(outcome.processes == 2)
        #expect(outcome.notes == [stillRuns])
        #expect(try count("fetch") == 22)
        #expect(!FileManager.default.fileExists(atPath: collector.directory))
    }

    /// On a busy machine, a collector that got no CPU time lost 3.9 % of 72,000 events.
    @Test(
        "loses none of a burst of 72,000 events that it collects afterward",
        .enabled(if: ProcessInfo.processInfo.physicalMemory >= 4 << 30, "needs 4 GiB of memory"))
    func burst() throws {
        let collector = try TraceCollector(path: path)
        let recorder = try Recorder.writing(to: .rings(directory: collector.directory))
        for _ in 0..<72_000 {
            guard let open = recorder.begin() else { return }
            recorder.end(open, TraceEvent.Fault(), context: 0, site: 0)
        }
        #expect(collector.collect() == 72_000)
        recorder.close()
        let outcome = collector.finish()
        #expect(outcome.notes.isEmpty)
        #expect(try arguments("faultline.ended").compactMap { $0["lost"] as? Int } == [0])
    }

    private func arguments(_ name: String) throws -> [[String: Any]] {
        let lines = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: path)))
        return (lines as? [[String: Any]] ?? []).filter { $0["name"] as? String == name }
            .compactMap { $0["args"] as? [String: Any] }
    }

    @Test("releases a process as soon as the process has closed its recording")
    func letsGo() throws {
        let collector = try TraceCollector(path: path)
        let first = try Recorder.writing(to: .rings(directory: collector.directory))
        record(first, events: 3)
        collector.collect()
        #expect(RingDirectory.rings(in: collector.directory).count == 1)
        first.close()
        let closed = first.now()
        #expect(collector.collect() == 0)
        #expect(RingDirectory.rings(in: collector.directory).isEmpty)
        let second = try Recorder.writing(to: .rings(directory: collector.directory))
        record(second, events: 4)
        let outcome = collector.finish()
        #expect(outcome.processes == 2)
        #expect(outcome.notes == [stillRuns])
        let origin = try #require(UInt64(collector.environment["FAULTLINE_ORIGIN"]!))
        let ends = try arguments("faultline.ended").compactMap { $0["end"] as? UInt64 }
        #expect(ends.count == 2 && ends[0] <= closed - origin && ends[1] > closed - origin)
        // Two recordings of one process have different numbers, and every line has the number of its recording.
        let numbers = try arguments("faultline.began").compactMap { $0["process"] as? Int }
        #expect(numbers == [Int(getpid()), Int(getpid()) + 1 << 22])
        #expect(try arguments("faultline.ended").compactMap { $0["process"] as? Int } == numbers)
        let lines = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: path)))
        let fetches = (lines as? [[String: Any]] ?? []).filter { $0["cat"] as? String == "fetch" }
        #expect(numbers.map { number in fetches.count { $0["pid"] as? Int == number } } == [3, 4])
    }

    @Test("reports how many processes it could not record, and why")
    func refusals() throws {
        let collector = try TraceCollector(path: path)
        for failure in [ENOSPC, ENOSPC, EACCES] { RingDirectory.refuse(in: collector.directory, errno: failure) }
        try Data("no rings".utf8).write(to: URL(fileURLWithPath: "\(collector.directory)/faultline-1-2.rings"))
        let outcome = collector.finish()
        #expect(
            outcome.notes == [
                "3 processes could not be recorded: cannot create buffers in \"/dev/shm\" (Permission denied), because they "
                    + "had given up their rights; record them as the user that they become.",
                "1 process could not be recorded because the files in \"\(collector.directory)\" cannot be read "
                    + "(Invalid argument); record again as the user that the program runs as.",
            ])
        #expect(!FileManager.default.fileExists(atPath: collector.directory))
    }

    @Test("that died leaves a directory, which is removed with the last of its rings")
    func removesDirectory() throws {
        let claim = try #require(RingDirectory.make(in: ["/dev/shm"], writtenTo: path))
        let directory = claim.path
        RingDirectory.refuse(in: directory, errno: ENOSPC)
        let recorders = try (0..<2).map { _ in try Recorder.writing(to: .rings(directory: directory)) }
        let files = RingDirectory.rings(in: directory).map { "\(directory)/\($0)" }
        for recorder in recorders {
            record(recorder, events: 2)
            recorder.close()
        }
        #expect(try TraceRecovery.makeTrace(path, of: [files[0]]) == 2)
        #expect(FileManager.default.fileExists(atPath: directory))
        #expect(try TraceRecovery.makeTrace(path + "2", of: [files[1]]) == 2)
        #expect(!FileManager.default.fileExists(atPath: directory))
    }

    @Test("that died leaves rings that only the original trace can claim, not a copy or a truncated one")
    func copies() throws {
        let (file, whole) = try leaveRings()
        try whole.write(to: URL(fileURLWithPath: path))
        let copy = (path as NSString).deletingLastPathComponent + "/copy.json"
        for left in [whole, whole.prefix(300)] {
            try left.write(to: URL(fileURLWithPath: copy))
            let outcome = TraceRecovery.recover(copy, rings: [named(file)])
            let reason =
                "it is a copy, or was moved to another file system; \"faultline recover\" adds them if it is the right trace"
            #expect(outcome == .impossible(reason, events: 10))
            if left.count < 1000 {
                #expect(
                    TraceRecovery.recover(copy, rings: [try identified(file)], isAdopting: true)
                        == .impossible("the trace was cut short", events: 10))
            }
            #expect(try Data(contentsOf: URL(fileURLWithPath: copy)) == left)
            #expect(FileManager.default.fileExists(atPath: file))
        }
        #expect(TraceRecovery.recover(path, rings: [named(file)]) == .recovered(events: 10))
        #expect(try count("fetch") == 30)
    }

    /// Simulates a writer that was killed just after another file had taken the trace's name, and a copy of that file which has
    /// the inode of the file before.
    @Test("that died while it removed events leaves rings that complete a copy, even with the inode of the old file")
    func copyWithUsedInode() throws {
        let (file, whole) = try leaveRings()
        let copy = (path as NSString).deletingLastPathComponent + "/copy.json"
        try whole.write(to: URL(fileURLWithPath: copy))

        // The rings know the trace by its device and inode, at three places: as the trace, and in each of the last two commits,
        // where the length of the trace follows.
        var rings = try Data(contentsOf: URL(fileURLWithPath: file))
        let (trace, removed) = (try identity(path), try identity(copy))
        var place = rings.startIndex
        var places: [Range<Data.Index>] = []
        while places.count < 3, let found = rings.range(of: trace, in: place..<rings.endIndex) {
            places.append(found)
            place = found.upperBound
        }
        let length = bytes(UInt64(whole.count))
        let old = try #require(places.dropFirst().first { rings[$0.upperBound..<$0.upperBound + 8] != length })
        rings.replaceSubrange(places[0], with: removed)
        rings.replaceSubrange(old, with: removed)
        rings.replaceSubrange(old.upperBound..<old.upperBound + 8, with: bytes(1_000_000))
        try rings.write(to: URL(fileURLWithPath: file))

        #expect(
            TraceRecovery.recover(copy, rings: [try identified(file)], isAdopting: true) == .recovered(events: 10))
    }

    /// The device and the inode of a file, as rings name it.
    private func identity(_ path: String) throws -> Data {
        var status = stat()
        try #require(stat(path, &status) == 0)
        return bytes(UInt64(status.st_dev)) + bytes(UInt64(status.st_ino))
    }

    private func bytes(_ value: UInt64) -> Data { withUnsafeBytes(of: value) { Data($0) } }

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

    @Test("skips a directory without space, and reports it if there is no other")
    func noRoom() {
        #expect {
            _ = try TraceCollector(path: path, scratch: ["/proc"])
        } throws: { error in
            "\(error)" == "There is no space for a recording in \"/proc\" (No space left on device); "
                + "free some space there, or name another directory in FAULTLINE_RINGS."
        }
    }

    /// Simulates a killed writer: it drains without committing, or not at all.
    @Test("that died leaves rings that complete the trace, with no event lost or duplicated", arguments: 0..<3)
    func recovers(variant: Int) throws {
        let (file, written) = try leaveRings()
        // The writer dies before writing, after writing but before committing, or in the middle of a line.
        let half = Data("{\"name\":\"fetch\",\"cat\":\"fetch\",\"ph\":\"X\",\"ts\":1.000},\n{\"na".utf8)
        let left = variant == 0 ? written : variant == 1 ? written + half : written + half.prefix(9)
        try left.write(to: URL(fileURLWithPath: path))
        #expect(TraceRecovery.recover(path, rings: [named(file)]) == .recovered(events: 10))
        #expect(try count("fetch") == 30)
        #expect(!FileManager.default.fileExists(atPath: file))
        #expect(TraceRecovery.recover(path, rings: [named(file)]) == .nothing)
    }

    @Test("does not touch the trace of a running program")
    func stillRunning() throws {
        let recorder = try Recorder.writing(to: .timeline(path: path))
        record(recorder, events: 1)
        let rings = try FileManager.default.contentsOfDirectory(atPath: "/dev/shm")
            .filter { $0.hasPrefix("faultline-\(getpid())-") }.map { "/dev/shm/" + $0 }
        #expect(!rings.isEmpty)
        // The kernel lists later mappings first, and neighbours only one by one if they differ.
        let pages = (0..<2000).map { number in
            mmap(nil, 4096, number % 2 == 0 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        }
        defer { for page in pages { munmap(page, 4096) } }
        #expect(TraceRecovery.recover(path, rings: rings.map(named)) == .stillRunning)
        recorder.close()
        #expect(try count("fetch") == 1)
    }

    @Test("keeps the row-cache hits that a killed program had counted but not recorded")
    func openSums() throws {
        let directory = (path as NSString).deletingLastPathComponent
        let recorder = try Recorder.writing(to: .rings(directory: directory))
        let rings = try #require(RingDirectory.rings(in: directory).first)
        for number in 0..<50 {
            var hit = CacheHit(place: 1, origin: 7, bytes: 100, context: 0, started: number == 0 ? recorder.now() : 0)
            if !recorder.count(&hit) { recorder.open(hit, TraceEvent.CacheHits()) }
        }
        // Like a killed program, the recorder records no more once it is closed.
        recorder.close()
        _ = try TraceRecovery.makeTrace(path, of: [directory + "/" + rings])
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        let sum = try #require(lines.first { $0.contains(#""cat":"cacheHits""#) })
        #expect(sum.contains(#""hits":50,"filled":50,"bytes":5000"#), "\(sum)")
        #expect(try #require(sum.firstMatch(of: /"time":(\d+)/)?.output.1) != "0")
    }
}
