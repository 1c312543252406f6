import Foundation
import SharedData
import Testing

@Suite("The report of an export of Instruments")
struct XctraceReportTests {
    @Test(
        "reports the N+1, its callers, and the gaps of the export",
        .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func loop() throws {
        let export = try SharedData.url("xctrace-export/core-data-fetch.xml").path
        let result = try BuiltCommand.run(["report", export])
        #expect(result.status == 0 && result.errors == "")
        #expect(result.output.contains("It has no SQL (-com.apple.CoreData.SQLDebug 1 logs them)"))
        let report = try ReportDocument(of: export)
        let loops = report.findings.filter { $0.rule == "R04" && $0.severity != "note" }
        let sites = loops.compactMap { $0.change?.text }
        // The two callers that make nine of ten fetches.
        #expect(sites.count >= 2 && sites.prefix(2).allSatisfy { $0.hasPrefix("TestApp.debug.dylib+0x") })
        #expect(loops.first?.title == "Fetch the objects of Prompt at once, not one by one")
        #expect(report.findings.allSatisfy { $0.rule == "R04" })
        // A profile of the export gives the same report.
        let profile = try TemporaryDirectory().path("export.profile")
        #expect(try BuiltCommand.run(["profile", export, "-o", profile]).status == 0)
        #expect(try BuiltCommand.run(["report", profile]).withoutNextStep == result.withoutNextStep)
    }
}
