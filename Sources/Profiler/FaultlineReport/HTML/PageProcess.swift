internal import CTraceSchema
internal import FaultlineDocuments
internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// Turns what the events of one process refer to into numbers of a page's tables.
///
/// It remembers the numbers, because most events refer to the same few things.
struct PageProcess {
    /// The properties that distinguish an event from others of its kind, apart from its numbers.
    private struct Likeness: Hashable {
        var kind: EventKind
        var site: DictionaryID
        var stack: DictionaryID
        var references: [UInt64]
        /// Whether the event is preparation, on which no finding rests.
        var isSetup: Bool
    }

    /// The properties that like events have in common.
    struct Common {
        var site = 0
        var label = 0
        var findings: UInt64 = 0
    }

    private var dictionary = TraceDictionary()
    private var setupScopes = SetupScopes()
    private var resolver: CallSiteResolver?
    private var paths: CallPaths?
    private var commons: [Likeness: Common] = [:]
    private var pathNumbers: [UInt64: Int] = [:]
    private var words: [fl_dictionary_kind.RawValue: [UInt64: Int]] = [:]

    mutating func insert(_ entry: DictionaryEntry, id: DictionaryID) {
        dictionary.insert(entry, id: id)
        guard resolver != nil || paths != nil else { return }
        (resolver, paths, commons, pathNumbers, words) = (nil, nil, [:], [:], [:])
    }

    func threadName(_ thread: UInt32) -> String { dictionary.thread(thread)?.name ?? "" }

    /// The number of the event's call path.
    mutating func path(of event: TraceEvent, in tables: inout PageTables) -> Int {
        var leaf: DictionaryID = 0
        if case .cpu(let sample) = event.detail { leaf = sample.leaf }
        guard event.stack != 0 || leaf != 0 else { return 0 }
        let key = UInt64(event.stack) << 32 | UInt64(leaf)
        if let known = pathNumbers[key] { return known }
        var paths = self.paths.take() ?? CallPaths(dictionary: dictionary)
        defer { self.paths = paths }
        let number = tables.path(paths.frames(of: event))
        pathNumbers[key] = number
        return number
    }

    /// The line, the label and the findings of an event.
    mutating func common(
        of event: TraceEvent, _ values: TraceEvent.Detail.Values, _ findings: ArraySlice<Finding>,
        in tables: inout PageTables
    ) -> Common {
        setupScopes.observe(event)
        let likeness = Likeness(
            kind: event.kind, site: event.site, stack: event.stack,
            references: values.fields.compactMap { $0.field.meaning.distinguishes ? $0.value : nil },
            isSetup: setupScopes.contain(event))
        let isCached = values.lists.allSatisfy(\.entries.isEmpty)
        if isCached, let known = commons[likeness] { return known }
        var resolver = self.resolver.take() ?? CallSiteResolver(dictionary: dictionary)
        defer { self.resolver = resolver }
        let subject = EventGroup.Key.Subject(of: event, in: dictionary)
        let sites = [resolver.callSite(of: event), resolver.stackSite(of: event)]
        var common = Common(
            site: tables.site(resolver.reportedSite(of: event)),
            label: tables.strings.number(of: label(of: event, subject)))
        for (bit, finding) in findings.enumerated()
        where !likeness.isSetup && finding.basis.contains(event, at: sites, subject) {
            common.findings |= 1 << UInt64(bit)
        }
        if isCached { commons[likeness] = common }
        return common
    }

    /// The event's subject in a few words, without its numbers, which the page shows beside it.
    private func label(of event: TraceEvent, _ subject: EventGroup.Key.Subject) -> String {
        if subject != .unknown { return GroupText.subject(subject) }
        let entity = { (id: DictionaryID) in dictionary.entity(id)?.name ?? "?" }
        switch event.detail {
        case .release(let release): return entity(release.entity) + (release.fetch != 0 ? " result" : "")
        case .allocation(let allocation): return allocation.allocation == 0 ? "allocated" : "freed"
        case .memory: return "resident memory"
        case .cpu(let sample):
            let leaf = dictionary.stack(sample.leaf)?.addresses.first.flatMap { dictionary.frame(at: $0) }
            return leaf?.locations.first?.function ?? ""
        default:
            guard let (field, value) = event.titleValue else { return "" }
            return EventFields(dictionary: dictionary).words(field, value) ?? "?"
        }
    }

    /// The event's lists as JSON, or an empty text if it has none worth showing.
    func lists(of event: TraceEvent, _ values: TraceEvent.Detail.Values) -> String {
        let shown = values.lists.filter { list, entries in
            !entries.isEmpty && !list.words.allSatisfy { $0.meaning == .hash || $0.meaning == .shortHash }
        }
        if shown.isEmpty { return "" }
        let names = Set(shown.map(\.list.name))
        let members = EventFields(dictionary: dictionary).members(of: event.detail).filter { names.contains($0.0) }
        return JSONValue.object(members.map { (key: $0.0, value: $0.1) }).line
    }

    /// A field's value, with the number of a string in place of a reference to the dictionary.
    mutating func value(_ field: EventSchema.Field, _ value: UInt64, in tables: inout PageTables) -> UInt64 {
        guard case .reference(let kind) = field.meaning, value != 0 else { return value }
        if kind == .FL_DICTIONARY_STACK { return 0 }
        if let known = words[kind.rawValue]?[value] { return UInt64(known) }
        let number = tables.strings.number(of: text(field, kind, value))
        words[kind.rawValue, default: [:]][value] = number
        return UInt64(number)
    }

    mutating func context(_ id: DictionaryID, in tables: inout PageTables) -> Int {
        id == 0 ? 0 : tables.strings.number(of: dictionary.context(id)?.name ?? "")
    }

    private func text(_ field: EventSchema.Field, _ kind: fl_dictionary_kind, _ value: UInt64) -> String {
        let id = DictionaryID(truncatingIfNeeded: value)
        if kind == .FL_DICTIONARY_PLAN { return dictionary.plan(id).map(Self.plan) ?? "" }
        return EventFields(dictionary: dictionary).words(field, value) ?? ""
    }

    /// A plan with one step in a line, indented by its depth.
    private static func plan(_ plan: PlanEntry) -> String {
        var depths: [Int: Int] = [:]
        return plan.rows.map { row in
            let depth = depths[row.parent].map { $0 + 1 } ?? 0
            depths[row.id] = depth
            return String(repeating: "  ", count: depth) + row.detail
        }.joined(separator: "\n")
    }
}

extension EventSchema.Meaning {
    /// Whether the values of such a field distinguish the subjects of events.
    fileprivate var distinguishes: Bool {
        switch self {
        case .reference, .enumeration, .choice: true
        default: false
        }
    }
}
