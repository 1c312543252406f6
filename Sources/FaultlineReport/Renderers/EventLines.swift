package import FaultlineTrace

/// Prints the events of one process, so that a trace of any length needs no room.
package protocol EventLines: SendableMetatype {
    /// The line above all others; `nil`: there is none.
    static var title: String? { get }

    /// Creates a printer.
    ///
    /// - Parameter dictionary: Of the process whose events are printed.
    init(dictionary: TraceDictionary)

    /// An event's lines, without line feeds.
    ///
    /// - Parameter stack: Whether to add the event's stack.
    mutating func lines(_ event: TraceEvent, stack: Bool) -> [String]

    /// The line of a process that began to record.
    static func line(_ began: ProcessBegan) -> String
    /// The line of a process whose recording ended.
    static func line(_ ended: ProcessEnded) -> String
    /// The line of a loss.
    static func line(_ lost: EventLoss) -> String
}

extension EventText: EventLines {
    package static var title: String? { heading }
}

extension EventJSON: EventLines {
    package static var title: String? { nil }

    package mutating func lines(_ event: TraceEvent, stack: Bool) -> [String] { [line(event, stack: stack)] }
}
