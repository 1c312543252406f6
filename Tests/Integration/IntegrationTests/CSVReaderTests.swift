import Foundation
import ProjectFiles
import Testing

@Suite("Comma-separated values", .enabled(if: PythonPackages.has("csv, json"), "needs python3"))
struct CSVReaderTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// Prints each value of the JSON that another tool does not find in the CSV, and the number of records.
    private static let comparison = """
        import csv, json, sys
        with open(sys.argv[1], newline="") as file:
            header, *records = csv.reader(file)
        def text(value):
            if value is None: return ""
            if isinstance(value, str): return value
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        count = 0
        with open(sys.argv[2]) as file:
            for line in file:
                event = json.loads(line)
                if event["kind"] in ("process", "lost"): continue
                record = records[count]
                count += 1
                assert len(record) == len(header), record
                fields = dict(zip(header, record))
                for key, value in event.items():
                    if key in ("callSite", "stackSite"): value = value["text"]
                    if fields[key] != text(value): print(key, fields[key], value)
        assert count == len(records)
        print(count, len(header) == len(set(header)))
        """

    @Test("have the same values as JSON", arguments: ["groceries-flawed", "n-plus-one"])
    func events(story: String) throws {
        let trace = try SampleTraces.trace(story).path
        let files = try ["csv", "json"].map { format in
            let result = try BuiltCommand.run(["events", trace, "--format", format, "--stack"])
            #expect(result.status == 0 && result.errors.isEmpty)
            let path = directory.path("events." + format)
            try result.output.write(toFile: path, atomically: true, encoding: .utf8)
            return path
        }
        let result = try BuiltCommand.run(["-c", Self.comparison] + files, program: PythonPackages.python)
        let count = try BuiltCommand.run(["query", trace, "SELECT count(*) AS n FROM events", "--format", "csv"])
        let number = try #require(count.output.split(separator: "\n").last)
        #expect(count.output == "n\n\(number)\n" && (Int(number) ?? 0) > 500)
        #expect(result.output == "\(number) True\n", "\(result.output.prefix(2000))\(result.errors)")
    }

    @Test("have only the columns of the selected kinds, and the values of a query")
    func columns() throws {
        let trace = try SampleTraces.trace("groceries-flawed").path
        let scopes = try BuiltCommand.run(["events", trace, "--kind", "scope", "--format", "csv"])
        let header = try #require(scopes.output.split(separator: "\n").first)
        #expect(header.hasSuffix(",name,scopeName,scopeKind,phase,callSite,callFunction,stackSite,stackFunction"))
        let values = try BuiltCommand.run([
            "query", trace, #"SELECT 'a,"b"' AS "x,y", NULL AS n, char(10) || 'é' AS z, 1.5 AS r"#, "--format", "csv",
        ])
        #expect(values.output == "\"x,y\",n,z,r\n\"a,\"\"b\"\"\",,\"\né\",1.5\n")
        let none = try BuiltCommand.run(["query", trace, "SELECT 1 AS a WHERE 0", "--format", "csv"])
        #expect(none.status == 0 && none.output == "a\n")
    }
}
