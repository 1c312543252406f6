package import FaultlineTrace

/// Events as JSON, one object per line, with names next to the numbers that stand for them.
///
///     {"process":7,"kind":"fault","id":12,"start":1200,"duration":900,…,"relationship":3,"relationshipName":"list",…}
package struct EventJSON: Sendable {
    let dictionary: TraceDictionary
    private var resolver: CallSiteResolver

    /// - Parameter dictionary: The dictionary of the events' process.
    package init(dictionary: TraceDictionary) {
        self.dictionary = dictionary
        resolver = CallSiteResolver(dictionary: dictionary)
    }

    /// Returns the event's line, without a line feed.
    ///
    /// It has every field of the event.
    ///
    /// - Parameter stack: Whether to add the frames of the stack, without those of the recorder.
    package mutating func line(_ event: TraceEvent, stack: Bool = false) -> String {
        JSONValue.object(members(event, stack: stack).map { (key: $0.0, value: $0.1) }).line
    }

    /// The members of the event's line.
    package mutating func members(_ event: TraceEvent, stack: Bool) -> [(String, JSONValue)] {
        members(event) + (stack ? [("frames", .array(frames(event)))] : [])
    }

    /// The event's fields, with names next to numbers, and its places in the program.
    package mutating func members(_ event: TraceEvent) -> [(String, JSONValue)] {
        var members: [(String, JSONValue)] = [
            ("process", .unsigned(UInt64(event.process))), ("kind", .string(event.kind.name)),
        ]
        for (field, value) in zip(EventSchema.common, event.commonValues) {
            let isUnrecorded = field.name == "duration" && event.unrecorded.contains(.duration)
            members.append((field.name, isUnrecorded ? .null : .unsigned(value)))
        }
        if let name = dictionary.context(event.context)?.name { members.append(("contextName", .string(name))) }
        members.append(("thread", .unsigned(UInt64(event.thread))))
        members.append(("isMainThread", .bool(event.isMainThread)))
        if let name = dictionary.thread(event.thread)?.name { members.append(("threadName", .string(name))) }
        let counted = ["rows", "inserted", "updated", "deleted"]
        members += EventFields(dictionary: dictionary).members(of: event.detail).map { name, value in
            (name, event.unrecorded.contains(.rows) && counted.contains(name) ? .null : value)
        }
        if let site = resolver.reportedSite(of: event) { members.append(("callSite", site.json)) }
        if let site = resolver.stackSite(of: event) { members.append(("stackSite", site.json)) }
        return members
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
