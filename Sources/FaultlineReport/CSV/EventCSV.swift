internal import FaultlineTrace

/// Events as comma-separated values: one record for each event, with the fields of all selected kinds as columns.
///
///     process,kind,id,…,callSite,callFunction,stackSite,stackFunction
///
/// Columns have the names that `faultline events --format json` uses. A field that an event's kind does not have is empty,
/// and lists are JSON.
struct EventCSV: EventLines {
    private let columns: [String]
    private var events: EventJSON

    init(dictionary: TraceDictionary, kinds: Set<EventKind>, stack: Bool) {
        columns = Self.columns(of: kinds, stack: stack)
        events = EventJSON(dictionary: dictionary)
    }

    static func title(of kinds: Set<EventKind>, stack: Bool) -> String? {
        CSV.record(columns(of: kinds, stack: stack))
    }

    mutating func lines(_ event: TraceEvent, stack: Bool) -> [String] {
        var values: [String: String] = [:]
        for (key, value) in events.members(event, stack: stack) {
            switch (key, value) {
            case ("callSite", .object(let site)), ("stackSite", .object(let site)):
                let parts = Dictionary(uniqueKeysWithValues: site.map { ($0.key, $0.value.field) })
                values[key] = parts["text"]
                values[key == "callSite" ? "callFunction" : "stackFunction"] = parts["function"]
            default: values[key] = value.field
            }
        }
        // A line feed within a value begins a new line of the record.
        return CSV.record(columns.map { values[$0] ?? "" }).split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
    }

    private static func columns(of kinds: Set<EventKind>, stack: Bool) -> [String] {
        let common = ["process", "kind"] + EventSchema.common.map(\.name)
        var columns = common + ["contextName", "thread", "isMainThread", "threadName"]
        var known = Set(columns)
        for kind in EventKind.allCases where kinds.contains(kind) {
            let schema = EventSchema.of(kind)
            let fields = schema.fields.flatMap { [schema.key(of: $0), schema.wordsKey(of: $0)].compactMap(\.self) }
            columns += (fields + schema.lists.map(\.name)).filter { known.insert($0).inserted }
        }
        return columns + ["callSite", "callFunction", "stackSite", "stackFunction"] + (stack ? ["frames"] : [])
    }
}
