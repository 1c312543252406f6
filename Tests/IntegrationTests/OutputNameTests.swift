import Foundation
import Testing

@Suite("An output file")
struct OutputNameTests {
    /// Foundation's `deletingLastPathComponent` traps for a name of one letter, and so did the command.
    @Test("may have a name of one letter")
    func oneLetter() throws {
        let directory = try TemporaryDirectory()
        let trace = try SampleTraceTests.trace("n-plus-one").path
        let result = try BuiltCommand.run(["profile", trace, "-o", "p"], directory: directory.url)
        #expect(result.status == 0 && !result.wasKilled && result.errors.isEmpty, "\(result.errors)")
        #expect(try BuiltCommand.run(["report", directory.path("p")]).status == 0)
        let root = try BuiltCommand.run(["profile", trace, "-o", "/no/such/p"])
        let reason = "there is no folder \"/no/such\"; make it, or name another file with -o."
        #expect(root.status == 2 && root.errors == "faultline: Cannot write \"/no/such/p\": \(reason)\n")
    }
}
