import Foundation
import Testing

@Suite(
    "With a full disk",
    .enabled(if: PrivateMounts.isAvailable, PrivateMounts.need)
)
struct FullDiskTests {
    let directory: TemporaryDirectory
    let disk: String
    let app: String
    let alone: BuiltCommand.Result

    init() throws {
        directory = try TemporaryDirectory()
        disk = directory.path("disk")
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        let form = "workload groceries --store \(directory.path("list.sqlite")) --items 100 --flaws all"
        app = "\(BuiltCommand.faultline) \(form)"
        let words = form.split(separator: " ").map(String.init)
        let prepared = try BuiltCommand.run(words + ["--prepare"])
        guard prepared.status == 0 else { throw CommandFailed(text: prepared.errors) }
        alone = try BuiltCommand.run(words)
    }

    /// Space for nothing, for the first lines, and for some of the events.
    static let sizes = [4 << 10, 64 << 10, 128 << 10]

    @Test(
        "a program that writes its own trace behaves as it does unrecorded, and reports the loss", arguments: sizes)
    func inProcess(size: Int) throws {
        let result = try PrivateMounts.run(
            "FAULTLINE_TRACE=timeline:\(disk)/trace.json \(app)", after: [PrivateMounts.disk(disk, bytes: size)])
        #expect(result.output == alone.output && !result.output.isEmpty)
        #expect(result.status == 0 && !result.wasKilled)
        let lines = result.errors.split(separator: "\n")
        #expect(lines.count == 1)
        let sentence = try #require(lines.first).split(separator: " ").map { Int($0) == nil ? String($0) : "N" }.joined(
            separator: " ")
        #expect(
            sentence == "faultline: The trace \"\(disk)/trace.json\" lacks N lines that could not be written "
                + "(No space left on device); free some space and record again.")
    }

    @Test("a recorded program behaves as it does unrecorded, and the report counts the missing data", arguments: sizes)
    func recorded(size: Int) throws {
        let result = try PrivateMounts.run(
            "\(BuiltCommand.faultline) record -o \(disk)/trace.json -- \(app)",
            after: [PrivateMounts.disk(disk, bytes: size)])
        #expect(result.output == alone.output)
        #expect(result.status == 0 && !result.wasKilled)
        #expect(result.errors.contains("lines that could not be written (No space left on device)"))
        #expect(
            result.errors.contains("The trace is empty") || result.errors.contains("counts and times are too low"))
    }

    @Test("a program whose rings find no shared memory behaves as it does unrecorded", arguments: [4 << 10, 1 << 20])
    func noSharedMemory(size: Int) throws {
        let trace = directory.path("trace.json")
        for command in [
            "FAULTLINE_TRACE=timeline:\(trace) \(app)", "\(BuiltCommand.faultline) record -o \(trace) -- \(app)",
        ] {
            let result = try PrivateMounts.run(command, after: [PrivateMounts.disk("/dev/shm", bytes: size)])
            #expect(result.output == alone.output)
            #expect(result.status == 0 && !result.wasKilled)
            // The rings use another directory, or a smaller size that is drained in time.
            let report = try ReportDocument(of: trace)
            #expect(report.totals.events["fetch"] == 1 && report.totals.eventCount > 400)
        }
    }

    @Test("a program that records to LTTng without shared memory behaves as it does unrecorded")
    func noSharedMemoryForLTTng() throws {
        let result = try PrivateMounts.run(
            "FAULTLINE_TRACE=lttng \(app)", after: [PrivateMounts.disk("/dev/shm", bytes: 4 << 10)])
        #expect(result.output == alone.output)
        #expect(result.status == 0 && !result.wasKilled)
        #expect(
            result.errors
                == "faultline: LTTng's library cannot be loaded (there is no room in /dev/shm); run \"faultline doctor\" to diagnose it.\n"
        )
    }
}
