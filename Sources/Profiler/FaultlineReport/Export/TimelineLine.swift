internal import CTraceSchema
internal import FaultlineDocuments
internal import FaultlineTrace

/// An event as lines of a timeline.
///
///     {"name":"fault Item","cat":"fault","ph":"X","ts":2491.000,"dur":12.000,"pid":7,"tid":7,"args":{"id":9,…}}
struct TimelineLine {
    /// How a viewer shows an event.
    enum Phase: String {
        /// A slice of its thread's track, nested in others.
        case slice = "X"
        /// A slice of a track of its own, because it overlaps others. The end has a line of its own.
        case async = "b"
        case scopeBegin = "B"
        case scopeEnd = "E"
        case instant = "i"
        /// Numbers that change.
        case counter = "C"
    }

    private let event: TraceEvent
    private let values: TraceEvent.Detail.Values
    /// The event's name in a viewer, such as `"fault Item"`.
    let title: String
    var phase: Phase

    init(_ event: TraceEvent, _ dictionary: TraceDictionary) {
        self.event = event
        let values = event.detail.values
        self.values = values
        switch event.detail {
        case .scope(let scope): phase = scope.phase == .begin ? .scopeBegin : .scopeEnd
        case .memory: phase = .counter
        default: phase = event.isOnThread ? .slice : .instant
        }
        let subject = event.titleValue.flatMap { EventFields(dictionary: dictionary).words($0.field, $0.value) } ?? ""
        let words = [event.kind == .scope && !subject.isEmpty ? "" : event.kind.name, String(subject.prefix(80))]
        title = words.filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// The name of a dictionary entry's line.
    static func name(of entry: DictionaryEntry) -> String {
        fl_dictionary_name(entry.kind.rawValue).map { String(cString: $0) } ?? ""
    }

    /// The lines, without line feeds.
    var texts: [String] { [line] + [endLine, flowLine].compactMap(\.self) }

    private var line: String {
        let isLater = phase == .instant || phase == .scopeEnd
        var text = head(isLater ? event.end : event.start, phase: letter)
        if phase == .slice || phase == .counter { text += ",\"dur\":\(Self.microseconds(event.duration))" }
        return text + "\(track),\"args\":{\(arguments.joined(separator: ","))}}"
    }

    private var letter: String {
        switch phase {
        case .scopeBegin: "b"
        case .scopeEnd: "e"
        default: phase.rawValue
        }
    }

    private var isAsync: Bool { ["b", "e"].contains(letter) }

    /// The line that ends an event with a track of its own.
    ///
    /// Without arguments, it is not an event for Faultline's reader.
    private var endLine: String? { phase == .async ? head(event.end, phase: "e") + track + "}" : nil }

    private func head(_ time: UInt64, phase letter: String) -> String {
        // A local ID belongs to its process. Perfetto shows others in a group "Global Legacy Events".
        let id = isAsync ? ",\"id2\":{\"local\":\"0x\(String(event.id, radix: 16))\"}" : ""
        let scope = phase == .instant ? ",\"s\":\"t\"" : ""
        return
            "{\"name\":\(JSONValue.string(title).line),\"cat\":\"\(event.kind.name)\",\"ph\":\"\(letter)\"\(id)\(scope)"
            + ",\"ts\":\(Self.microseconds(time))"
    }

    private var track: String { ",\"pid\":\(event.process),\"tid\":\(event.thread)" }

    /// Nanoseconds as microseconds with three decimals, which loses nothing.
    private static func microseconds(_ nanoseconds: UInt64) -> String {
        let rest = String(nanoseconds % 1000)
        return "\(nanoseconds / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }

    // MARK: - Arguments

    private var arguments: [String] {
        var arguments: [String] = []
        for (field, value) in zip(EventSchema.common, event.commonValues) where value != 0 {
            let isOutside =
                field.name == "start" || (field.name == "duration" && (phase == .slice || phase == .counter))
            if !isOutside { arguments.append("\"\(field.name)\":\(value)") }
        }
        if event.isMainThread { arguments.append("\"main\":true") }
        for (field, value) in values.fields {
            // Words are written even if their number is 0.
            if case .enumeration = field.meaning {} else if value == 0 { continue }
            arguments.append("\"\(field.name)\":\(Self.text(field, value))")
        }
        for (list, entries) in values.lists {
            let texts = entries.map { entry in
                "[\(zip(list.words, entry).map(Self.number).joined(separator: ","))]"
            }
            arguments.append("\"\(list.name)\":[\(texts.joined(separator: ","))]")
        }
        return arguments
    }

    private static func text(_ field: EventSchema.Field, _ value: UInt64) -> String {
        switch field.meaning {
        case .hash:
            let digits = String(value, radix: 16)
            return "\"\(String(repeating: "0", count: 16 - digits.count))\(digits)\""
        case .enumeration(let enumeration): return "\"\(EventSchema.word(value, of: enumeration) ?? "")\""
        case .flag: return value != 0 ? "true" : "false"
        default: return number(field, value)
        }
    }

    /// A number, within the range that a JSON number holds exactly.
    ///
    /// Hashes of a log's values have more bits.
    private static func number(_ field: EventSchema.Field, _ value: UInt64) -> String {
        field.meaning == .shortHash ? String(value & (fl_largest_number - 1)) : String(min(value, fl_largest_number))
    }

    // MARK: - Arrows

    /// An arrow from a fetch to the faults that it caused.
    ///
    /// It starts in the middle of the fetch and ends in the middle of each fault, since viewers round times and miss a
    /// slice at its edge. A slice with a track of its own cannot have one.
    private var flowLine: String? {
        guard phase == .slice else { return nil }
        let (step, id): (String, EventID) =
            switch event.detail {
            case .fetch(let fetch) where fetch.rows > 0: ("s", event.id)
            case .fault(let fault) where fault.source != .rowCache && fault.origin != 0: ("t", fault.origin)
            default: ("", 0)
            }
        guard !step.isEmpty else { return nil }
        let middle = Self.microseconds(event.start &+ event.duration / 2)
        return
            "{\"name\":\"origin\",\"cat\":\"flow\",\"ph\":\"\(step)\",\"id\":\(id),\"bp\":\"e\""
            + ",\"ts\":\(middle)\(track)}"
    }
}
