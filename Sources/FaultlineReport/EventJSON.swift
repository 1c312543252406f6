public import FaultlineTrace

/// Events as JSON, one object a line, with names beside the numbers that stand for them.
///
///     {"process":7,"id":12,"kind":"fault","start":1200,"duration":900,…,"relationship":3,"relationshipName":"list",…}
public struct EventJSON: Sendable {
    let dictionary: TraceDictionary
    private var resolver: CallSiteResolver

    /// - Parameter dictionary: Of the process whose events are shown.
    public init(dictionary: TraceDictionary) {
        self.dictionary = dictionary
        resolver = CallSiteResolver(dictionary: dictionary)
    }

    /// The event's line, without a line feed.
    ///
    /// Every field of the event is in it.
    ///
    /// - Parameter stack: Whether to add the frames of the stack, without those of the recorder.
    public mutating func line(_ event: TraceEvent, stack: Bool = false) -> String {
        var members = members(event)
        if stack { members.append(("frames", .array(frames(event)))) }
        return JSONValue.object(members.map { (key: $0.0, value: $0.1) }).line
    }

    /// The event's fields, with names beside numbers and the places in the program.
    package mutating func members(_ event: TraceEvent) -> [(String, JSONValue)] {
        var members: [(String, JSONValue)] = [
            ("process", .unsigned(UInt64(event.process))), ("id", .unsigned(event.id)),
            ("kind", .string(event.kind.name)), ("parent", .unsigned(event.parent)), ("scope", .unsigned(event.scope)),
            ("start", .unsigned(event.start)),
            ("duration", event.untold.contains(.duration) ? .null : .unsigned(event.duration)),
            ("thread", .unsigned(UInt64(event.thread))), ("isMainThread", .bool(event.isMainThread)),
        ]
        if let name = dictionary.thread(event.thread)?.name { members.append(("threadName", .string(name))) }
        members += reference("context", event.context, dictionary.context(event.context)?.name)
        members += reference("site", event.site, nil)
        members += reference("stack", event.stack, nil)
        members.append(("runDelay", .unsigned(event.runDelay)))
        members.append(("overhead", .unsigned(UInt64(event.overhead))))
        let counted = ["rows", "inserted", "updated", "deleted"]
        members += EventFields(dictionary: dictionary).members(of: event.detail).map { name, value in
            (name, event.untold.contains(.rows) && counted.contains(name) ? .null : value)
        }
        if let site = resolver.place(of: event) { members.append(("callSite", SiteJSON.value(site))) }
        if let site = resolver.stackSite(of: event) { members.append(("stackSite", SiteJSON.value(site))) }
        return members
    }

    private func reference(_ key: String, _ id: DictionaryID, _ name: String?) -> [(String, JSONValue)] {
        EventFields.reference(key, id, name)
    }

    private func frames(_ event: TraceEvent) -> [JSONValue] {
        (dictionary.stack(event.stack).map { dictionary.frames(of: $0) } ?? []).map { frame in
            let locations = (frame.entry?.locations ?? []).map { location in
                JSONValue.object([
                    ("function", .string(location.function)), ("file", .string(location.file)),
                    ("line", .integer(Int64(location.line))),
                ])
            }
            return .object([
                ("address", .string(frame.address)), ("module", .optional(frame.entry?.module)),
                ("locations", .array(locations)),
            ])
        }
    }
}
