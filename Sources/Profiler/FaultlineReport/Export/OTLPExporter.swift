internal import CTraceSchema
internal import FaultlineDocuments
package import FaultlineTrace

/// Spans of OpenTelemetry, as its file exporter writes them: JSON lines, each a `TracesData` of one process.
///
/// A scope and each operation that takes time is a span. The work of an outermost scope is one trace, and so is a
/// process's work outside scopes. https://opentelemetry.io/docs/specs/otel/protocol/file-exporter
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

/// A process whose events become spans.
struct OTLPProcess {
    var began = ProcessBegan(process: 0)
    private var dictionary = TraceDictionary()
    private var resolver: CallSiteResolver?
    /// The scopes that have begun, with the outermost scope around each.
    private var roots: [EventID: EventID] = [:]
    private var open: [EventID: TraceEvent] = [:]
    /// The outermost scopes around fetches, for links to them.
    private var fetches: [EventID: EventID] = [:]
    private var end: UInt64 = 0
    private var summaries: [DictionaryID: String] = [:]

    mutating func insert(_ entry: DictionaryEntry, id: DictionaryID) {
        dictionary.insert(entry, id: id)
        resolver = nil
        if case .statement = entry { summaries[id] = nil }
    }

    /// Returns an event's span, or `nil` for an event that takes no time and for the beginning of a scope.
    mutating func span(of event: TraceEvent) -> JSONValue? {
        end = max(end, event.end)
        if case .scope(let scope) = event.detail {
            guard scope.phase == .end else {
                roots[event.id] = event.scope == 0 ? event.id : roots[event.scope] ?? event.scope
                open[event.id] = event
                return nil
            }
            return open.removeValue(forKey: event.id).map { begin in
                var begin = begin
                // A request's name is known only once the program's own code runs.
                begin.detail = event.detail
                return self.scope(begin, until: event.end)
            }
        }
        guard !event.kind.isInstant else { return nil }
        let root = roots[event.scope] ?? event.scope
        if event.kind == .fetch { fetches[event.id] = root }
        return operation(event, root: root)
    }

    /// Returns the spans of the scopes that have not ended.
    mutating func openScopes() -> [JSONValue] {
        defer { open = [:] }
        return open.values.ordered(on: \.id).map { scope($0, until: max(end, $0.start)) }
    }

    /// The attributes of the process.
    func attributes(_ number: UInt32) -> JSONValue {
        var attributes = OTLPAttributes()
        let name = began.program.split(separator: "/").last.map(String.init)
        // The name that the conventions ask for if there is none.
        attributes.add("service.name", name ?? "unknown_service")
        attributes.add("process.pid", UInt64(number))
        attributes.add("process.executable.path", began.program)
        return .array(attributes.values)
    }

    // MARK: - Spans

    private func scope(_ begin: TraceEvent, until end: UInt64) -> JSONValue {
        guard case .scope(let scope) = begin.detail else { return .null }
        var attributes = OTLPAttributes()
        attributes.add("faultline.kind", "scope")
        attributes.add("faultline.scopeKind", "\(scope.kind)")
        add(threadOf: begin, to: &attributes)
        var members = members(
            begin, name: dictionary.name(scope.name) ?? "scope", root: roots[begin.id] ?? begin.id, end: end)
        members.append(("attributes", .array(attributes.values)))
        return .object(members)
    }

    private mutating func operation(_ event: TraceEvent, root: EventID) -> JSONValue {
        let entity = event.detail.entities.first.flatMap { dictionary.entity($0)?.name }
        var name = [event.kind.name, entity].compactMap(\.self).joined(separator: " ")
        var attributes = OTLPAttributes()
        attributes.add("faultline.kind", event.kind.name)
        attributes.add("db.system.name", began.system ?? "sqlite")
        attributes.add("db.collection.name", entity)
        if case .sql(let statement) = event.detail, let sql = dictionary.statement(statement.statement)?.sql {
            // The conventions ask not to parse the name of an operation out of the text.
            let summary = self.summary(of: statement.statement, sql)
            if !summary.isEmpty { name = summary }
            attributes.add("db.query.summary", summary)
            attributes.add("db.query.text", sql)
        } else {
            attributes.add("db.operation.name", event.kind.name)
        }
        add(fieldsOf: event, to: &attributes)
        add(threadOf: event, to: &attributes)
        add(siteOf: event, to: &attributes)
        var members = members(event, name: name, root: root, end: event.end)
        members.append(("attributes", .array(attributes.values)))
        if case .fault(let fault) = event.detail, fault.origin != 0 {
            let link = identity(fault.origin, root: fetches[fault.origin] ?? root)
            members.append(("links", .array([.object(link)])))
        }
        let error = event.detail.values.fields.first { $0.field.name == "error" }?.value ?? 0
        if error != 0 {
            let message = JSONValue.string("SQLite's result code is \(error).")
            members.append(("status", .object([("code", .integer(2)), ("message", message)])))
        }
        return .object(members)
    }

    private func members(
        _ event: TraceEvent, name: String, root: EventID, end: UInt64
    ) -> [(key: String, value: JSONValue)] {
        var members = identity(event.id, root: root)
        let parent = event.parent != 0 ? event.parent : event.scope
        if parent != 0 { members.append(("parentSpanId", .string(spanNumber(parent)))) }
        // SPAN_KIND_CLIENT for what the program asks of its database, and SPAN_KIND_INTERNAL for everything else.
        members += [
            ("name", .string(name)), ("kind", .integer(event.kind == .sql ? 3 : 1)),
            ("startTimeUnixNano", .string(time(event.start))), ("endTimeUnixNano", .string(time(end))),
        ]
        return members
    }

    // MARK: - Attributes

    private func add(fieldsOf event: TraceEvent, to attributes: inout OTLPAttributes) {
        let (schema, fields) = (EventSchema.of(event.kind), EventFields(dictionary: dictionary))
        for (field, value) in event.detail.values.fields {
            if field.name == "rows", !event.unrecorded.contains(.rows), returnsRows(event) {
                attributes.add("db.response.returned_rows", value)
                continue
            }
            let key = "faultline." + schema.key(of: field)
            switch field.meaning {
            // Statements have an attribute of their own.
            case .reference(.FL_DICTIONARY_STATEMENT), .event, .hash, .shortHash, .prefetchPath, .property: break
            case .reference:
                attributes.add("faultline." + (schema.wordsKey(of: field) ?? field.name), fields.words(field, value))
            case .enumeration, .choice: attributes.add(key, fields.words(field, value))
            case .flag: if value != 0 { attributes.add(key, true) }
            case .count, .bytes, .nanoseconds, .code: if value != 0 { attributes.add(key, value) }
            }
        }
    }

    /// Whether the rows of an event are those that it returned, and not those that it wrote or refreshed.
    private func returnsRows(_ event: TraceEvent) -> Bool {
        switch event.detail {
        case .fetch, .batch: true
        case .sql(let statement): statement.type == .read
        default: false
        }
    }

    /// A statement's `db.query.summary`.
    private mutating func summary(of statement: DictionaryID, _ sql: String) -> String {
        if let known = summaries[statement] { return known }
        let summary = QuerySummary.text(of: sql)
        summaries[statement] = summary
        return summary
    }

    private func add(threadOf event: TraceEvent, to attributes: inout OTLPAttributes) {
        attributes.add("thread.id", UInt64(event.thread))
        attributes.add("thread.name", dictionary.thread(event.thread)?.name ?? (event.isMainThread ? "main" : nil))
    }

    private mutating func add(siteOf event: TraceEvent, to attributes: inout OTLPAttributes) {
        var resolver = self.resolver.take() ?? CallSiteResolver(dictionary: dictionary)
        defer { self.resolver = resolver }
        guard let site = resolver.reportedSite(of: event) else { return }
        attributes.add("code.file.path", site.file)
        if site.line > 0 { attributes.add("code.line.number", UInt64(site.line)) }
        attributes.add("code.function.name", site.function)
    }

    // MARK: - Numbers

    /// The numbers of a span: that of its trace and its own.
    private func identity(_ event: EventID, root: EventID) -> [(key: String, value: JSONValue)] {
        let trace = Self.digits(StableHash.mix(recording ^ root)) + Self.digits(StableHash.mix(recording &+ root &+ 1))
        return [("traceId", .string(trace)), ("spanId", .string(spanNumber(event)))]
    }

    private func spanNumber(_ event: EventID) -> String { Self.digits(StableHash.mix(recording ^ ~event)) }

    /// A number that distinguishes the recording of this process from others.
    private var recording: UInt64 { StableHash.mix(began.date.bitPattern ^ UInt64(began.process)) }

    /// 16 hexadecimal digits, which must not all be 0.
    private static func digits(_ number: UInt64) -> String {
        let digits = String(max(number, 1), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// A time of the trace in nanoseconds since 1970, or since the trace began if its date is not known.
    private func time(_ time: UInt64) -> String {
        // A number of seconds since 1970 is exact to the microsecond.
        let date = began.date > 0 && began.date < 9e9 ? UInt64((began.date * 1e6).rounded()) * 1000 : 0
        return String(date &+ time &- (date == 0 ? 0 : min(began.start, date)))
    }
}
