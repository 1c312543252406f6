import Foundation
import Testing

/// Traces that `record` makes contain the cost of trips on the machine.
@Suite("A recorded trace")
struct CalibratedTraceTests {
    let directory: TemporaryDirectory
    let trace: String

    init() throws {
        directory = try TemporaryDirectory()
        trace = directory.path("trace.json")
        try FileManager.default.createDirectory(atPath: directory.path("temporary"), withIntermediateDirectories: true)
    }

    /// Records a program with few trips, and returns the basis of its report's estimates.
    private func basis(temporary: String) throws -> String {
        let recorded = try BuiltCommand.run(
            ["record", "--quiet", "-o", trace, "--", UnrulyProgram.path, "records", "3"],
            environment: ["TMPDIR": temporary])
        #expect(recorded.status == 0 && recorded.output == "done\n" && recorded.errors == "")
        return try ReportDocument(of: trace).costs.basis
    }

    @Test("has the cost of trips on the machine, and the measurement leaves nothing behind")
    func calibrated() throws {
        #expect(try basis(temporary: directory.path("temporary")) == "calibration")
        #expect(try UnrulyProgram.arguments(trace, "faultline.calibration").count == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path("temporary")) == [])
    }

    @Test("is complete without this cost if there is no space to measure it")
    func withoutRoom() throws {
        #expect(try basis(temporary: directory.path("nowhere")) == "assumed")
        #expect(try UnrulyProgram.fetches(trace) == 3)
        #expect(try UnrulyProgram.arguments(trace, "faultline.calibration").isEmpty)
    }

    @Test("is calibrated silently, whatever the program logs")
    func silent() throws {
        let result = try BuiltCommand.run(
            ["record", "--quiet", "-o", trace, "--", UnrulyProgram.path, "records", "3"],
            environment: ["TMPDIR": directory.path("temporary"), "FAULTLINE_SQLDEBUG": "1"])
        #expect(!result.errors.contains("ZONE") && !result.errors.contains("ZOTHER"))
    }
}
