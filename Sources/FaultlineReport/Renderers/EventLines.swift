package import FaultlineTrace

/// Prints the events of one process line by line, so a trace of any length takes no memory.
package protocol EventLines: SendableMetatype {
    /// The line above all others, or `nil` if there is none.
    static var title: String? { get }

    /// Creates a printer.
    ///
    /// - Parameter dictionary: The dictionary of the events' process.
    init(dictionary: TraceDictionary)

    /// Returns an event's lines, without line feeds.
    ///
    /// - Parameter stack: Whether to add the event's stack.
    mutating func lines(_ event: TraceEvent, stack: Bool) -> [String]

    /// Returns the line for a process that began to record.
    static func line(_ began: ProcessBegan) -> String
    /// Returns the line for a process whose recording ended.
    static func line(_ ended: ProcessEnded) -> String
    /// Returns the line for a loss of events.
    static func line(_ lost: EventLoss) -> String
}

extension EventText: EventLines {
    package static var title: String? { heading }
}

extension EventJSON: EventLines {
    package static var title: String? { nil }

    package mutating func lines(_ event: TraceEvent, stack: Bool) -> [String] { [line(event, stack: stack)] }
}
