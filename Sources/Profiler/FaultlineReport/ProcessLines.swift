internal import FaultlineDocuments
internal import FaultlineFindings
package import FaultlineTrace

// Lines about processes and losses. Without them, an event that was not written would look like one that did not
// happen.

extension EventText {
    /// Returns the line for a process that began to record, without a line feed.
    package static func line(_ began: ProcessBegan) -> String {
        processLine(at: began.start, "process", "\(began.process) \(began.program)", "began")
    }

    /// Returns the line for a process whose recording ended.
    package static func line(_ ended: ProcessEnded) -> String {
        processLine(at: ended.end, "process", "\(ended.process)", ended.how)
    }

    /// Returns the line for a loss of events.
    package static func line(_ lost: EventLoss) -> String {
        columns(
            "", "", String(lost.thread), "lost", Phrase.count(lost.events, "event") + " of a full buffer", "", "", "–")
    }

    private static func processLine(at time: UInt64, _ kind: String, _ what: String, _ note: String) -> String {
        columns(seconds(time), "", "", kind, what, "", note, "–")
    }
}

extension EventJSON {
    /// Returns the line for a process that began to record, without a line feed: `"kind":"process","phase":"began"`.
    package static func line(_ began: ProcessBegan) -> String {
        JSONValue.object([
            ("process", .unsigned(UInt64(began.process))), ("kind", .string("process")), ("phase", .string("began")),
            ("start", .unsigned(began.start)), ("program", .string(began.program)), ("date", .number(began.date)),
            ("removed", .unsigned(began.removed ?? 0)),
        ]).line
    }

    /// Returns the line for a process whose recording ended: `"kind":"process","phase":"ended"`.
    package static func line(_ ended: ProcessEnded) -> String {
        JSONValue.object([
            ("process", .unsigned(UInt64(ended.process))), ("kind", .string("process")), ("phase", .string("ended")),
            ("start", .unsigned(ended.end)), ("events", .unsigned(ended.events)), ("lost", .unsigned(ended.lost)),
            ("unwritten", .unsigned(ended.unwritten)), ("entriesLost", .unsigned(ended.entriesLost)),
            ("usesLost", .unsigned(ended.usesLost)), ("writing", .unsigned(ended.writing)),
            ("isClosed", .bool(ended.isClosed)), ("isRunning", .bool(ended.isRunning ?? false)),
        ]).line
    }

    /// Returns the line for a loss of events: `"kind":"lost"`.
    package static func line(_ lost: EventLoss) -> String {
        JSONValue.object([
            ("process", .unsigned(UInt64(lost.process))), ("kind", .string("lost")),
            ("thread", .unsigned(UInt64(lost.thread))), ("events", .unsigned(lost.events)),
        ]).line
    }
}
