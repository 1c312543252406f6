import Foundation
import ProjectFiles
import Testing

@Suite(
    "Spans of OpenTelemetry",
    .enabled(
        if: PyPI.has("google.protobuf", "opentelemetry.proto.trace.v1.trace_pb2"),
        PyPI.need("opentelemetry-proto and protobuf")))
struct OTLPTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// Reads spans with OpenTelemetry's own declarations, which reject unknown keys.
    ///
    /// Prints what does not hold: every parent exists, contains its children and is of the same trace, and links lead to
    /// spans.
    private static let reading = """
        import base64, collections, json, re, sys
        from google.protobuf import json_format
        from opentelemetry.proto.trace.v1 import trace_pb2
        spans = {}
        resources = set()
        for line in open(sys.argv[1]):
            data = json.loads(line)
            for resource in data["resourceSpans"]:
                for scope in resource["scopeSpans"]:
                    assert len(scope["spans"]) <= 1000
                    for span in scope["spans"]:
                        # OTLP writes these in hexadecimal digits, and JSON of protocol buffers in base64.
                        for part in [span] + span.get("links", []):
                            for key, length in (("traceId", 32), ("spanId", 16), ("parentSpanId", 16)):
                                if key in part:
                                    assert re.fullmatch("[0-9a-f]{%d}" % length, part[key]) and int(part[key], 16)
                                    part[key] = base64.b64encode(bytes.fromhex(part[key])).decode()
            for resource in json_format.ParseDict(data, trace_pb2.TracesData()).resource_spans:
                resources.add((resource.resource.attributes[0].key, resource.resource.attributes[0].value.string_value))
                for scope in resource.scope_spans:
                    for span in scope.spans:
                        assert span.span_id not in spans, span
                        spans[span.span_id] = span
        kinds = collections.Counter()
        links = 0
        texts = collections.Counter()
        for span in spans.values():
            attributes = {attribute.key: attribute.value for attribute in span.attributes}
            assert len(attributes) == len(span.attributes), span
            kinds[attributes["faultline.kind"].string_value] += 1
            texts["db.query.text" in attributes, span.kind] += 1
            if span.end_time_unix_nano < span.start_time_unix_nano or not span.start_time_unix_nano: print("time", span)
            if span.parent_span_id:
                parent = spans.get(span.parent_span_id)
                if parent is None or parent.trace_id != span.trace_id: print("no parent", span)
                elif parent.start_time_unix_nano > span.start_time_unix_nano or (
                    parent.end_time_unix_nano < span.end_time_unix_nano): print("outside", span, parent)
            for link in span.links:
                links += 1
                if link.span_id not in spans or spans[link.span_id].trace_id != link.trace_id: print("no link", span)
        print(sorted(resources))
        print(json.dumps(dict(sorted(kinds.items()))))
        print(links, sorted(texts))
        """

    private func spans(_ trace: String, _ options: [String] = []) throws -> [String] {
        let path = directory.path("spans.jsonl")
        let result = try BuiltCommand.run(["export", trace, "--to", "otlp", "-o", path] + options)
        try #require(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
        let read = try PyPI.run(Self.reading, [path])
        try #require(read.status == 0, "\(read.errors)")
        return read.output.split(separator: "\n").map(String.init)
    }

    private func count(_ trace: String, _ sql: String) throws -> [String] {
        let result = try BuiltCommand.run(["query", trace, sql, "--format", "csv"])
        try #require(result.status == 0, "\(result.errors)")
        return result.output.split(separator: "\n").dropFirst().map(String.init)
    }

    @Test("are complete, nested, and linked to their fetches", arguments: SampleTraces.stories)
    func complete(story: String) throws {
        let trace = try SampleTraces.trace(story).path
        let lines = try spans(trace)
        try #require(lines.count == 3, "\(lines)")
        let program = story == "n-plus-one" ? "Library" : "faultline"
        #expect(lines[0] == "[('service.name', '\(program)')]")
        let kinds = try count(
            trace,
            """
            SELECT '"' || kind || '": ' || CASE kind WHEN 'scope' THEN count(*) / 2 ELSE count(*) END FROM events
            WHERE kind NOT IN ('use', 'release', 'cpu', 'eviction', 'cacheHits', 'allocation', 'memory')
            GROUP BY kind ORDER BY kind
            """
        ).map { $0.replacingOccurrences(of: "\"\"", with: "\"").dropFirst().dropLast() }
        #expect(lines[1] == "{\(kinds.joined(separator: ", "))}")
        let links = try count(trace, "SELECT count(*) FROM fault WHERE origin != 0")
        // All statements have their text and are of kind CLIENT; nothing else is.
        let rest = kinds.count > 1 ? "[(False, 1), (True, 3)]" : "[(True, 3)]"
        #expect(lines[2] == "\(links[0]) \(rest)")
    }

    @Test("have the names and attributes of the semantic conventions")
    func attributes() throws {
        let trace = try SampleTraces.trace("groceries-flawed").path
        let path = directory.path("spans.jsonl")
        _ = try BuiltCommand.run(["export", trace, "--to", "otlp", "-o", path])
        let object = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: path)))
        let resource = try #require(((object as? [String: Any])?["resourceSpans"] as? [[String: Any]])?.first)
        let scope = try #require((resource["scopeSpans"] as? [[String: Any]])?.first)
        let spans = try #require(scope["spans"] as? [[String: Any]])
        func attributes(_ span: [String: Any]) -> [String: String] {
            ((span["attributes"] as? [[String: Any]]) ?? []).reduce(into: [:]) { texts, attribute in
                let value = (attribute["value"] as? [String: Any])?.values.first
                texts[attribute["key"] as? String ?? ""] = value.map { "\($0)" }
            }
        }
        let fetch = try #require(spans.first { $0["name"] as? String == "fetch Item" })
        let values = attributes(fetch)
        #expect(values["db.system.name"] == "sqlite" && values["db.collection.name"] == "Item")
        #expect(values["db.operation.name"] == "fetch" && values["db.response.returned_rows"] == "100")
        #expect(values["code.file.path"] == "FaultlineWorkloads/Groceries.swift" && values["code.line.number"] == "100")
        #expect(values["faultline.batchSize"] == "50" && values["thread.name"] == "faultline")
        #expect(fetch["kind"] as? Int == 1 && fetch["parentSpanId"] == nil)
        let statement = try #require(spans.first { $0["name"] as? String == "SELECT ZITEM" })
        #expect(attributes(statement)["db.query.summary"] == "SELECT ZITEM")
        #expect(attributes(statement)["db.operation.name"] == nil)
        #expect(attributes(statement)["db.query.text"]?.hasPrefix("SELECT ") == true && statement["kind"] as? Int == 3)
        let list = try #require(spans.first { $0["name"] as? String == "list" })
        #expect(attributes(list)["faultline.scopeKind"] == "screen")
    }
}
