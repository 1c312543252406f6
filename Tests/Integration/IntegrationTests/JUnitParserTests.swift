import Foundation
import ProjectFiles
import Testing

@Suite("JUnit's XML", .enabled(if: PyPI.has("junitparser"), PyPI.need("junitparser")))
struct JUnitParserTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// Prints each test as another tool reads it, and fails if the document's sums are not those of its tests.
    private static let reading = """
        import sys
        import junitparser
        document = junitparser.JUnitXml.fromfile(sys.argv[1])
        written = (document.tests, document.failures, document.errors)
        suites = [(suite.name, suite.tests, suite.failures, suite.skipped) for suite in document]
        for suite in document:
            for case in suite:
                results = [f"{type(result).__name__}: {result.message}" for result in case.result]
                print(" | ".join([suite.name, case.classname, case.name] + results))
        document.update_statistics()
        assert written == (document.tests, document.failures, document.errors)
        assert suites == [(suite.name, suite.tests, suite.failures, suite.skipped) for suite in document]
        """

    @Test("is read by another tool as it was meant")
    func parsed() throws {
        let trace = try SampleTraces.trace("groceries-flawed").path
        let (budget, output) = (directory.path("budget.json"), directory.path("check.xml"))
        try """
        {"total": {"trips": 58, "cacheMisses": 47}, "scopes": {"list": {"trips": 3}, "<&\\u0007\\">": {"rows": 9}},
         "findings": {"ignore": [{"finding": "R09|Item.photo||", "reason": "a < b"}]}}
        """.write(toFile: budget, atomically: true, encoding: .utf8)
        let check = try BuiltCommand.run(["check", trace, "--budget", budget, "--format", "junit"])
        #expect(check.status == 1 && check.errors.isEmpty)
        try check.output.write(toFile: output, atomically: true, encoding: .utf8)
        let result = try PyPI.run(Self.reading, [output])
        #expect(result.status == 0, "\(result.errors)")
        let lines = result.output.split(separator: "\n").map(String.init)
        try #require(lines.count == 8, "\(result.output)")
        let expected = """
            Trace | faultline.trace | The trace is complete
            Budget | faultline.budget | trips
            Budget | faultline.budget | cacheMisses | Failure: The whole trace exceeds its limit on cacheMisses: 52, at most 47.
            Budget of <&␇"> | faultline.budget.<&␇"> | rows, most per run | Failure: The limit of the scope "<&␇">" on rows, \
            most per run cannot be checked: not seen.
            Budget of list | faultline.budget.list | trips, most per run | Failure: The scope "list" exceeds its limit on \
            trips, most per run: 12, at most 3.
            Findings | faultline.R09 | R09 Move Item.photo into an entity of its own | Skipped: Suppressed: a < b
            """
        #expect(lines.prefix(6).joined(separator: "\n") == expected)
        #expect(lines[6].hasPrefix("Findings | faultline.R02 | R02 Set the batch size of Item to 15"))
    }
}
