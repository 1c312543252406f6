package import FaultlineTrace

/// Spans of OpenTelemetry, as its file exporter writes them: JSON lines, each a `TracesData` of one process.
///
/// A scope and each operation that takes time is a span. The work of an outermost scope is one trace, and so is what a
/// process did outside scopes. https://opentelemetry.io/docs/specs/otel/protocol/file-exporter
package struct OTLPExporter: TraceExporter {
    package static let name = "otlp"
    package static let purpose = "for OpenTelemetry"

    /// The maximum spans of a line.
    private static let limit = 1000

    private var processes: [UInt32: OTLPProcess] = [:]
    /// The spans that wait to be written, which belong to one process.
    private var spans: [JSONValue] = []
    private var process: UInt32 = 0

    package init(_ options: ExportOptions) {}

    package mutating func add(_ message: TraceMessage, to output: inout ExportBuffer) {
        switch message {
        case .began(let began): processes[began.process, default: OTLPProcess()].began = began
        case .entry(let process, let id, let entry):
            processes[process, default: OTLPProcess()].insert(entry, id: id)
        case .event(let event):
            guard let span = processes[event.process, default: OTLPProcess()].span(of: event) else { return }
            add(span, of: event.process, to: &output)
        case .lost, .ended: break
        }
    }

    package mutating func finish(_ output: inout ExportBuffer) {
        for number in processes.keys.sorted() {
            for span in processes[number]?.openScopes() ?? [] { add(span, of: number, to: &output) }
        }
        flush(&output)
    }

    private mutating func add(_ span: JSONValue, of process: UInt32, to output: inout ExportBuffer) {
        if process != self.process || spans.count >= Self.limit { flush(&output) }
        self.process = process
        spans.append(span)
    }

    private mutating func flush(_ output: inout ExportBuffer) {
        guard !spans.isEmpty else { return }
        let scope = JSONValue.object([("name", .string("faultline")), ("version", .string(Version.current))])
        let resource = JSONValue.object([
            ("resource", .object([("attributes", (processes[process] ?? OTLPProcess()).attributes(process))])),
            ("scopeSpans", .array([.object([("scope", scope), ("spans", .array(spans))])])),
        ])
        output.append(JSONValue.object([("resourceSpans", .array([resource]))]).line + "\n")
        spans = []
    }
}

/// The attributes of a span or a resource.
struct OTLPAttributes {
    private(set) var values: [JSONValue] = []

    mutating func add(_ key: String, _ text: String?) {
        if let text, !text.isEmpty { add(key, value: ("stringValue", .string(text))) }
    }

    mutating func add(_ key: String, _ flag: Bool) { add(key, value: ("boolValue", .bool(flag))) }

    /// Adds a number, as a text, because numbers of 64 bits are texts in the JSON of protocol buffers.
    mutating func add(_ key: String, _ number: UInt64) {
        add(key, value: ("intValue", .string(String(min(number, UInt64(Int64.max))))))
    }

    private mutating func add(_ key: String, value: (String, JSONValue)) {
        values.append(.object([("key", .string(key)), ("value", .object([value]))]))
    }
}
