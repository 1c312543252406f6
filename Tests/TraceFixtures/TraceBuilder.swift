package import FaultlineTrace

/// Builds a trace of one process, event by event, with a clock that is set by hand.
package struct TraceBuilder {
    package private(set) var messages: [TraceMessage] = []
    private var entries: [TraceMessage] = []
    private var nextEntry: DictionaryID = 1
    private var nextEvent: EventID = 1
    package let process: UInt32
    package var now: UInt64 = 1000
    package var scope: EventID = 0
    package var thread: UInt32
    package var isMainThread = false
    package var context: DictionaryID = 0

    package init(process: UInt32 = 7) {
        self.process = process
        thread = process
    }

    /// The trace: the beginning of the process, its dictionary and its events.
    package var trace: [TraceMessage] {
        [.began(ProcessBegan(process: process, program: "/usr/bin/groceries", start: 0))] + entries + messages
    }

    /// The dictionary of the events.
    package var dictionary: TraceDictionary {
        var dictionary = TraceDictionary()
        for case .entry(_, let id, let entry) in entries { dictionary.insert(entry, id: id) }
        return dictionary
    }

    /// The trace, with the end of a recording that was closed.
    package func closed(_ change: (inout ProcessEnded) -> Void = { _ in }) -> [TraceMessage] {
        var ended = ProcessEnded(process: process, end: now, events: UInt64(messages.count))
        change(&ended)
        return trace + [.ended(ended)]
    }

    package mutating func define(_ entry: DictionaryEntry) -> DictionaryID {
        let id = nextEntry
        nextEntry += 1
        entries.append(.entry(process: process, id: id, entry))
        return id
    }

    package mutating func entity(_ name: String, _ properties: [EntityEntry.Property] = []) -> DictionaryID {
        define(.entity(EntityEntry(name: name, properties: properties)))
    }

    package mutating func site(_ line: Int, _ function: String = "show()") -> DictionaryID {
        define(.site(SiteEntry(file: "Groceries/List.swift", line: line, function: function)))
    }

    /// Defines a stack whose innermost frame is a line of the program.
    package mutating func stack(_ line: Int, isTruncated: Bool? = nil) -> DictionaryID {
        let address = "0x" + String(4096 + line, radix: 16)
        let location = FrameEntry.Location(
            symbol: "s", function: "scroll()", file: "/src/Groceries/Scroll.swift", line: line)
        _ = define(.frame(FrameEntry(address: address, module: "groceries", locations: [location])))
        return define(.stack(StackEntry(frames: [address], isTruncated: isTruncated)))
    }

    package mutating func add(_ message: TraceMessage) { messages.append(message) }

    /// Adds an event that begins now and moves the clock to its end.
    @discardableResult
    package mutating func event(
        _ detail: TraceEvent.Detail, duration: UInt64 = 0, parent: EventID = 0, site: DictionaryID = 0,
        stack: DictionaryID = 0, runDelay: UInt64 = 0, advancing: Bool = true
    ) -> EventID {
        let id = nextEvent
        nextEvent += 1
        messages.append(
            .event(
                TraceEvent(
                    id: id, parent: parent, scope: scope, start: now, duration: duration, runDelay: runDelay,
                    thread: thread, isMainThread: isMainThread, process: process, context: context, site: site,
                    stack: stack, detail)))
        if advancing { now += duration }
        return id
    }

    /// Runs `body` within a scope.
    ///
    /// - Parameter stack: Where the scope is opened.
    package mutating func scoped(
        _ name: DictionaryID, _ kind: TraceEvent.Scope.Kind, pause: UInt64 = 0, stack: DictionaryID = 0,
        endingAs last: DictionaryID? = nil, _ body: (inout TraceBuilder) -> Void
    ) {
        let outer = scope
        let id = nextEvent
        nextEvent += 1
        append(scope: id, outer: outer, name, kind, .begin, stack)
        scope = id
        body(&self)
        scope = outer
        now += pause
        append(scope: id, outer: outer, last ?? name, kind, .end)
    }

    private mutating func append(
        scope id: EventID, outer: EventID, _ name: DictionaryID, _ kind: TraceEvent.Scope.Kind,
        _ phase: TraceEvent.Scope.Phase, _ stack: DictionaryID = 0
    ) {
        var fields = TraceEvent.Scope()
        fields.name = name
        fields.kind = kind
        fields.phase = phase
        messages.append(
            .event(
                TraceEvent(
                    id: id, scope: outer, start: now, thread: thread, process: process, stack: stack, .scope(fields))))
    }
}
