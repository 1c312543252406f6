package import FaultlineTrace

/// Prints the events of one process line by line, so a trace of any length takes no memory.
package protocol EventLines: SendableMetatype {
    /// Returns the line above all others, or `nil` if there is none.
    ///
    /// - Parameters:
    ///   - kinds: The kinds of the events that will be printed.
    ///   - stack: Whether the events' stacks will be printed.
    static func title(of kinds: Set<EventKind>, stack: Bool) -> String?

    /// Creates a printer.
    ///
    /// - Parameters:
    ///   - dictionary: The dictionary of the events' process.
    ///   - kinds: The kinds of the events that will be printed, as for the title.
    ///   - stack: Whether the events' stacks will be printed, as for the title.
    init(dictionary: TraceDictionary, kinds: Set<EventKind>, stack: Bool)

    /// Returns an event's lines, without line feeds.
    ///
    /// - Parameter stack: Whether to add the event's stack.
    mutating func lines(_ event: TraceEvent, stack: Bool) -> [String]
}

/// Prints lines for processes and losses between the events.
///
/// A format whose lines all have the same columns does not.
package protocol ProcessLines: EventLines {
    /// Returns the line for a process that began to record.
    static func line(_ began: ProcessBegan) -> String
    /// Returns the line for a process whose recording ended.
    static func line(_ ended: ProcessEnded) -> String
    /// Returns the line for a loss of events.
    static func line(_ lost: EventLoss) -> String
}

extension EventText: ProcessLines {
    package static func title(of kinds: Set<EventKind>, stack: Bool) -> String? { heading }

    package init(dictionary: TraceDictionary, kinds: Set<EventKind>, stack: Bool) { self.init(dictionary: dictionary) }
}

extension EventJSON: ProcessLines {
    package static func title(of kinds: Set<EventKind>, stack: Bool) -> String? { nil }

    package init(dictionary: TraceDictionary, kinds: Set<EventKind>, stack: Bool) { self.init(dictionary: dictionary) }

    package mutating func lines(_ event: TraceEvent, stack: Bool) -> [String] { [line(event, stack: stack)] }
}
