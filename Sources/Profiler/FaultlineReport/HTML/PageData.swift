internal import CTraceSchema
internal import FaultlineDocuments
internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineRules
internal import FaultlineTrace

/// The data that a page's program reads: a description as JSON, and the events as columns of bytes.
struct PageData {
    let events: PageEvents
    private let sources: SourceExcerpts?
    private let savings: MeasuredSavings

    init(_ events: PageEvents, _ options: PageOptions, _ savings: MeasuredSavings = MeasuredSavings()) {
        self.events = events
        self.savings = savings
        sources = options.sourceFolder.map {
            SourceExcerpts(events.tables, findings: events.analysis.findings, folder: $0)
        }
    }

    /// The number of hotspots that a page lists.
    private static let hotspots = 500

    /// The events as columns; see ``PageColumns``.
    var columns: PageColumns {
        var columns = PageColumns()
        let rows = events.rows
        let places = RowPlaces(rows)
        func add(_ name: String, _ value: (PageRow) -> UInt64) { columns.add(name, rows.map(value)) }
        add("kind") { UInt64($0.kind.rawValue) }
        columns.add(ascending: "start", rows.map(\.start))
        add("duration", \.duration)
        add("runDelay", \.runDelay)
        add("thread") { UInt64($0.thread) }
        columns.add(rows: "parent", rows.map { places.row($0.parent, in: $0.process) }, from: Array(rows.indices))
        columns.add(rows: "scope", rows.map { places.row($0.scope, in: $0.process) }, from: Array(rows.indices))
        add("context") { UInt64($0.context) }
        add("site") { UInt64($0.site) }
        add("path") { UInt64($0.path) }
        add("label") { UInt64($0.label) }
        add("lists") { UInt64($0.lists) }
        add("flags", \.flags)
        add("weights", \.weights)
        add("findings", \.findings)
        for kind in EventKind.allCases { addFields(of: kind, places, to: &columns) }
        columns.add("callers", events.tables.callers)
        columns.add("frames", events.tables.stepFrames)
        for lane in events.omitted.lanes {
            columns.add("omitted \(lane.thread) \(lane.kind.rawValue)", events.omitted.times[lane] ?? [])
        }
        return columns
    }

    private func addFields(of kind: EventKind, _ places: RowPlaces, to columns: inout PageColumns) {
        let schema = EventSchema.of(kind)
        let values = events.fields[kind] ?? []
        guard !values.isEmpty else { return }
        let rows = events.rows.indices.filter { events.rows[$0].kind == kind }
        for (offset, field) in schema.fields.enumerated() {
            let name = "\(kind.name).\(field.name)"
            let numbers = rows.map { values[events.rows[$0].fields + offset] }
            switch field.meaning {
            case .event:
                let targets = zip(rows, numbers).map { places.row($1, in: events.rows[$0].process) }
                columns.add(rows: name, targets, from: rows)
            case .hash, .shortHash: columns.add(hashes: name, numbers)
            default: columns.add(name, numbers)
            }
        }
    }

    /// The description of the page's contents.
    var head: JSONValue {
        let (analysis, tables) = (events.analysis, events.tables)
        let span = PageEvents.span(of: analysis.profile)
        let findings = analysis.findings.map { PageFinding.value($0, measured: savings[$0]) }
        let code = code
        return .object([
            ("version", .integer(1)),
            ("program", .string(TextReport.programs(analysis.profile).joined(separator: ", "))),
            ("facts", .string(TextReport.facts(analysis.profile))),
            ("totals", .array(TextReport.totals(analysis).map { .string($0) })),
            ("time", Self.times(of: analysis)),
            ("limits", .array((analysis.quality?.explanation ?? []).map(PageFinding.pieces))),
            ("span", .array([.unsigned(span.lowerBound), .unsigned(span.upperBound)])),
            ("eventCount", .integer(Int64(events.count))),
            ("omitted", omitted),
            ("findings", .array(findings)),
            ("report", ReportJSON(analysis, groups: Self.hotspots).json),
            ("rules", PageFinding.rules(of: analysis.findings)),
            ("kinds", .array(EventKind.inTrackOrder.map(Self.kind))),
            ("weights", .array(CallTreeWeight.all.map(Self.weight))),
            ("programs", Self.programs(of: analysis.profile)),
            ("threads", .array(tables.threads.values.map(thread))),
            ("strings", .array(tables.strings.values.map { .string($0) })),
            ("sites", .array(tables.sites.values.map(Self.site))),
            ("functions", .array(code.functions)),
            ("frames", .array(code.frames)),
            ("sources", sources?.json ?? .null),
        ])
    }

    /// The kinds of the store's work with their times, and the time that they are shares of: the recorded one, unless threads worked
    /// at the same time.
    private static func times(of analysis: Analysis) -> JSONValue {
        let (parts, totals) = (StoreTimeText(analysis: analysis).times, analysis.profile.totals)
        let isShare = totals.storeTime <= analysis.profile.wallTime
        return .object([
            ("whole", .unsigned(max(1, isShare ? analysis.profile.wallTime : totals.storeTime))),
            (
                "parts",
                .array(
                    parts.map { part in
                        .object([
                            ("name", .string(part.name)), ("kind", .string(part.kind.name)),
                            ("time", .unsigned(part.time)),
                        ])
                    })
            ),
        ])
    }

    private var omitted: JSONValue {
        guard events.omitted.count > 0 else { return .null }
        return .object([
            ("count", .unsigned(events.omitted.count)), ("longest", .unsigned(events.omitted.longest)),
            ("bins", .integer(Int64(OmittedEvents.bins))),
            (
                "kinds",
                .sorted(
                    Dictionary(uniqueKeysWithValues: events.omitted.counts.map { ($0.key.name, .unsigned($0.value)) }))
            ),
        ])
    }

    // MARK: - Tables

    /// The name of each process's program, by the process's number.
    private static func programs(of profile: Profile) -> JSONValue {
        let names = profile.processes.map { (String($0.process), JSONValue.string(Phrase.fileName($0.program))) }
        return .sorted(Dictionary(names, uniquingKeysWith: { first, _ in first }))
    }

    private static func kind(_ kind: EventKind) -> JSONValue {
        let (schema, shown) = (EventSchema.of(kind), kind.presentation)
        return .object([
            ("number", .integer(Int64(kind.rawValue))), ("name", .string(kind.name)),
            ("summary", .string(schema.summary)), ("isWork", .bool(kind.isWork)), ("track", .string(shown.track)),
            ("style", .string(shown.style)), ("colour", .string(shown.colour)), ("weight", .optional(shown.weight)),
            ("fields", .array(schema.fields.map(field))),
        ])
    }

    private static func weight(_ weight: CallTreeWeight) -> JSONValue {
        let terms = EventKind.allCases.compactMap { kind in
            weight.fields(of: kind).map { (kind.name, JSONValue.array($0.map { .string($0) })) }
        }
        return .object([
            ("name", .string(weight.rawValue)), ("title", .string(weight.title)),
            ("isSampled", .bool(weight.isSampled)), ("fields", .object(terms)),
        ])
    }

    private static func field(_ field: EventSchema.Field) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("name", .string(field.name)), ("unit", .string(unit(field.meaning))), ("summary", .string(field.summary)),
        ]
        switch field.meaning {
        case .enumeration(let enumeration):
            members.append(("words", .array(EventSchema.words(of: enumeration).map { .string($0) })))
        case .choice(let enumeration):
            members.append(("words", .array(([""] + EventSchema.words(of: enumeration)).map { .string($0) })))
        default: break
        }
        return .object(members.map { (key: $0.0, value: $0.1) })
    }

    /// The page's word for the meaning of a field's number.
    private static func unit(_ meaning: EventSchema.Meaning) -> String {
        switch meaning {
        case .count: "count"
        case .bytes: "bytes"
        case .nanoseconds: "ns"
        case .event: "event"
        case .flag: "flag"
        case .hash, .shortHash: "hash"
        case .reference(.FL_DICTIONARY_STATEMENT): "sql"
        case .reference(.FL_DICTIONARY_PLAN): "plan"
        case .reference: "text"
        case .enumeration, .choice: "word"
        case .code, .prefetchPath, .property: "number"
        }
    }

    private func thread(_ thread: PageTables.Thread) -> JSONValue {
        .object([
            ("process", .unsigned(UInt64(thread.process))), ("thread", .unsigned(UInt64(thread.thread))),
            ("isMain", .bool(events.tables.mainThreads.contains(thread))), ("name", .string(events.threadName(thread))),
        ])
    }

    private static func site(_ site: PageTables.Site) -> JSONValue {
        .array([.string(site.file), .integer(Int64(site.line)), .string(site.function), .string(site.text)])
    }

    private static func function(_ function: CodeFunction) -> JSONValue {
        .array([
            .string(function.name), .string(function.file), .string(function.module), .string(function.part.rawValue),
        ])
    }

    /// Each frame as the number of its function and its line, and the functions.
    private var code: (frames: [JSONValue], functions: [JSONValue]) {
        var functions = Interned(CodeFunction(name: ""))
        let frames = events.tables.frames.values.map { frame -> JSONValue in
            .array([.integer(Int64(functions.number(of: frame.function))), .integer(Int64(frame.line))])
        }
        return (frames, functions.values.map(Self.function))
    }
}

/// The positions of events among a page's rows.
private struct RowPlaces {
    private var rows: [UInt32: [EventID: Int]] = [:]

    init(_ rows: [PageRow]) {
        for (index, row) in rows.enumerated() { self.rows[row.process, default: [:]][row.id] = index }
    }

    func row(_ id: EventID, in process: UInt32) -> Int? { id == 0 ? nil : rows[process]?[id] }
}
