internal import FaultlineDocuments
package import FaultlineTrace
internal import Foundation

/// A timeline in Chrome's JSON Trace Event format, in the form that the recorder writes (`CRecorder/timeline.c`).
///
/// Viewers show a track for each thread, and Faultline reads the file as the trace that it was made from.
/// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
package struct TimelineExporter: TraceExporter {
    package static let name = "timeline"
    package static let purpose = "for Perfetto and chrome://tracing"

    private struct Track: Hashable {
        var process: UInt32
        var thread: UInt32
    }

    private var isBegun = false
    private var dictionaries: [UInt32: TraceDictionary] = [:]
    private var namedTracks: Set<Track> = []
    private var nesting: [Track: TrackNesting] = [:]

    package init(_ options: ExportOptions) {}

    package mutating func add(_ message: TraceMessage, to output: inout ExportBuffer) {
        switch message {
        case .began(var began):
            // The program's events are in the messages that follow, so no reader needs to look for its rings.
            began.rings = ""
            write("began", process: began.process, began, to: &output)
            writeName(
                began.shownName, kind: "process_name", Track(process: began.process, thread: 0), to: &output)
        case .entry(let process, let id, let entry):
            add(entry, id: id, process: process, to: &output)
        case .event(let event): add(event, to: &output)
        case .lost(let loss): write("lost", process: loss.process, thread: loss.thread, loss, to: &output)
        case .ended(let ended): write("ended", process: ended.process, ended, to: &output)
        }
    }

    package mutating func finish(_ output: inout ExportBuffer) {
        output.append(isBegun ? "\n]\n" : "[\n]\n")
    }

    // MARK: - Metadata

    private mutating func add(
        _ entry: DictionaryEntry, id: DictionaryID, process: UInt32, to output: inout ExportBuffer
    ) {
        dictionaries[process, default: TraceDictionary()].insert(entry, id: id)
        guard let json = try? entry.json() else { return }
        let value = String(decoding: json, as: UTF8.self)
        write(
            "{\"name\":\"faultline.\(TimelineLine.name(of: entry))\",\"ph\":\"M\",\"pid\":\(process),\"tid\":0,"
                + "\"args\":{\"id\":\(id),\"entry\":\(value)}}", to: &output)
        guard case .thread(let thread) = entry else { return }
        let track = Track(process: process, thread: thread.thread)
        if namedTracks.insert(track).inserted {
            writeName(thread.shownName, kind: "thread_name", track, to: &output)
        }
    }

    private mutating func write(
        _ name: String, process: UInt32, thread: UInt32 = 0, _ value: some Encodable, to output: inout ExportBuffer
    ) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let json = try? encoder.encode(value) else { return }
        write(
            "{\"name\":\"faultline.\(name)\",\"ph\":\"M\",\"pid\":\(process),\"tid\":\(thread),\"args\":"
                + String(decoding: json, as: UTF8.self) + "}", to: &output)
    }

    private mutating func writeName(_ name: String, kind: String, _ track: Track, to output: inout ExportBuffer) {
        write(
            "{\"name\":\"\(kind)\",\"ph\":\"M\",\"pid\":\(track.process),\"tid\":\(track.thread),\"args\":{\"name\":"
                + JSONValue.string(name).line + "}}", to: &output)
    }

    // MARK: - Events

    private mutating func add(_ event: TraceEvent, to output: inout ExportBuffer) {
        let track = Track(process: event.process, thread: event.thread)
        if namedTracks.insert(track).inserted {
            let name = ThreadEntry.shownName(of: event.thread, isMain: event.isMainThread)
            writeName(name, kind: "thread_name", track, to: &output)
        }
        var line = TimelineLine(event, dictionaries[event.process] ?? TraceDictionary())
        if line.phase == .slice {
            let isNested = nesting[track, default: TrackNesting()].add(event.start, event.end)
            if !isNested { line.phase = .async }
        }
        for text in line.texts { write(text, to: &output) }
    }

    private mutating func write(_ line: String, to output: inout ExportBuffer) {
        output.append(isBegun ? ",\n" : "[\n")
        output.append(line)
        isBegun = true
    }
}

extension ProcessBegan {
    /// The name of the process in a viewer.
    var shownName: String { program.split(separator: "/").last.map(String.init) ?? "process \(process)" }
}

extension ThreadEntry {
    /// The name of the thread in a viewer.
    var shownName: String { name.isEmpty ? Self.shownName(of: thread, isMain: isMain) : name }

    /// The name in a viewer of a thread that has none.
    static func shownName(of thread: UInt32, isMain: Bool) -> String { isMain ? "main thread" : "thread \(thread)" }
}
