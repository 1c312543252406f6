import Foundation
import ProjectFiles
import SharedData
import Testing

@Suite("Faultline's JSON documents", .enabled(if: PyPI.has("jsonschema"), PyPI.need("jsonschema")))
struct JSONSchemaTests {
    /// Prints where documents depart from their schemas; the lines of a file of events are documents of their own.
    private static let validation = """
        import glob, json, os, sys
        from jsonschema import Draft202012Validator
        from referencing import Registry, Resource
        schemas = {}
        for path in glob.glob(sys.argv[1] + "/*.json"):
            with open(path) as file: schemas[os.path.basename(path)] = json.load(file)
        registry = Registry().with_resources([(name, Resource.from_contents(schemas[name])) for name in schemas])
        for name, schema in schemas.items():
            Draft202012Validator.check_schema(schema)
            assert schema["$id"] == name, name
        for argument in sys.argv[2:]:
            name, path = argument.split("=", 1)
            [schema] = [known for known in schemas if known.startswith(name + ".v")]
            validator = Draft202012Validator({"$ref": schema}, registry=registry)
            text = open(path).read()
            assert text
            for document in text.splitlines() if name == "events" else [text]:
                document = json.loads(document)
                if name == "events":
                    # One branch names the problem better than all of them.
                    kind = {"$ref": "events.v1.json#/$defs/" + document["kind"]}
                    assert {"$ref": kind["$ref"][len("events.v1.json"):]} in schemas["events.v1.json"]["oneOf"]
                    validator = Draft202012Validator(kind, registry=registry)
                for error in validator.iter_errors(document): print(name, error.json_path, error.message[:300])
        """

    private static let folder = BuiltCommand.package.appendingPathComponent("Schemas").path

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// Runs a command, and returns its output with the name of its schema, as the script takes it.
    private func document(_ name: String, _ arguments: [String]) throws -> String {
        let path = directory.path("\(UUID().uuidString).json")
        // "model-diff" is the document of "model diff".
        let command = name.split(separator: "-").map(String.init)
        let result = try BuiltCommand.run(command + arguments + ["--format", "json"])
        #expect([0, 1].contains(result.status) && !result.output.isEmpty, "\(result.errors)")
        try result.output.write(toFile: path, atomically: true, encoding: .utf8)
        return "\(name)=\(path)"
    }

    /// Writes the profile of a trace.
    private func profile(of trace: String) throws -> String {
        let path = directory.path("\(UUID().uuidString).profile")
        #expect(try BuiltCommand.run(["profile", trace, "-o", path]).status == 0)
        return "profile=\(path)"
    }

    private func documents(of trace: String) throws -> [String] {
        let budget = try budget(at: directory.path("budget.json"))
        let weights = ["cpu", "allocations", "live", "time", "trips", "rows", "bytes"]
        return try [
            document("report", [trace, "--all"]), document("check", [trace]),
            document("check", [trace, "--budget", budget]), document("check", [trace, "--baseline", trace]),
            document("diff", [trace, trace]), document("events", [trace]), document("timeline", [trace, "--threads"]),
            document("events", [trace, "--stack", "--kind", "fetch,batch,save,merge"]),
            document("tree", [trace, "--bottom-up", "--by", "scope"]), document("tree", [trace, "--from", "9000s"]),
            profile(of: trace),
        ] + ["entity", "thread", "scope", "site"].map { try document("report", [trace, "--by", $0]) }
            + weights.map { try document("tree", [trace, "--weight", $0, "--hide-system"]) }
    }

    /// Writes a budget with limits, suppressions and stale ones.
    private func budget(at path: String) throws -> String {
        try """
        {"total": {"trips": 58, "storeTime": "1 ns"}, "scopes": {"list": {"trips": 3, "time": "1 ms"}, "cart": {"rows": 9}},
         "findings": {"ignore": [{"finding": "R09|Item.photo||", "reason": "known", "expires": "2099-01-01"},
                                 {"finding": "R09|None||", "reason": "stale"}]}}
        """.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test("of every sample trace follow the published schemas", arguments: SampleTraces.stories)
    func samples(story: String) throws {
        try PyPI.expectNothing(from: Self.validation, [Self.folder] + documents(of: SampleTraces.trace(story).path))
    }

    @Test(
        "of logs and exports, which lack figures, follow them",
        .enabled(if: SharedData.exists, "\(SharedData.need)"),
        arguments: [
            "sqldebug-logs/level1-save.log", "sqldebug-logs/level2-large-fetch.log",
            "xctrace-export/core-data-fetch.xml",
        ])
    func logs(file: String) throws {
        try PyPI.expectNothing(from: Self.validation, [Self.folder] + documents(of: SharedData.url(file).path))
    }

    @Test("of a comparison, a sampled run, its inspection and its trials follow them")
    func others() throws {
        let (store, trace) = (directory.path("list.sqlite"), directory.path("trace.json"))
        let program = ["workload", "groceries", "--store", store, "--items", "300", "--flaws", "all"]
        try #require(try BuiltCommand.run(program + ["--prepare"]).status == 0)
        let sampling = ["record", "--cpu=1000", "--allocations", "--quiet", "-o", trace, "--", BuiltCommand.faultline]
        try #require(try BuiltCommand.run(sampling + program).status == 0)
        let pair = try ["groceries-flawed", "groceries-improved"].map { try SampleTraces.trace($0).path }
        let more = try [
            document("diff", pair), document("diff", pair.reversed()), document("inspect", [store]),
            document("inspect", [store, "--trace", trace]), document("verify", [trace, "--store", store]),
            document("doctor", []),
        ]
        try PyPI.expectNothing(from: Self.validation, [Self.folder] + documents(of: trace) + more)
    }

    @Test("of models follow them", .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func models() throws {
        let folder = "core-data-models/objcio/Migrations/Migrations/Moody.xcdatamodeld"
        let versions = try (2...6).map { try SharedData.url("\(folder)/Moody \($0).xcdatamodel").path }
        let documents = try zip(versions, versions.dropFirst()).map { try document("model-diff", [$0, $1]) }
        let store = try SharedData.url("core-data-stores/duckduckgo/Bookmarks_V1.sqlite").path
        let model = try SharedData.url("core-data-stores/duckduckgo/BookmarksModel.xcdatamodeld").path
        try PyPI.expectNothing(
            from: Self.validation,
            [Self.folder] + documents
                + versions.map { try document("model-show", [$0]) } + [
                    document("model-find", [store, model]),
                    document("migrate", [store, "--to", model, "--dry-run"]),
                    document("model-diff", versions.reversed().suffix(2)),
                ])
    }

    @Test("with a key that no schema has are recognized by the validation")
    func unknownKey() throws {
        let trace = try SampleTraces.trace("groceries-improved").path
        let arguments = try [document("check", [trace]), document("events", [trace, "--kind", "save,fetch"])]
        for argument in arguments {
            let path = String(argument.split(separator: "=")[1])
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let first = try #require(text.firstIndex(of: "{"))
            var changed = text
            changed.insert(contentsOf: "\"colour\": 1,", at: text.index(after: first))
            try changed.write(toFile: path, atomically: true, encoding: .utf8)
        }
        let result = try PyPI.run(Self.validation, [Self.folder] + arguments)
        #expect(
            result.output == """
                check $ Additional properties are not allowed ('colour' was unexpected)
                events $ Unevaluated properties are not allowed ('colour' was unexpected)

                """, "\(result.errors)")
    }
}
