import CBabeltrace
import CTraceSchema
import FaultlineTrace
import Foundation

/// Reads the CTF traces that LTTng wrote, through libbabeltrace2.
///
/// They are read twice, like every trace. LTTng writes the dictionary when a session starts, when an entry is new, and
/// at any time on `lttng regenerate statedump`, so names can follow the events that refer to them.
final class CTFReader {
    private let trace: CTFTrace
    private let decoder = JSONDecoder()
    private var summary = ReadingSummary()
    // Unchecked properties are accessed for every event, and no access runs code outside the reader.
    @exclusivity(unchecked)
    private var numbers = ProcessNumbers()
    /// The beginnings of the processes, with their starts in nanoseconds of `CLOCK_MONOTONIC`.
    private var begun: [ProcessBegan] = []
    /// Copies of the readable parts, if part of the traces is damaged.
    private(set) var salvage: CTFSalvage?
    /// The entries of each process that were delivered: they are repeated for each session that starts.
    private var entries: [UInt32: Set<UInt32>] = [:]
    private var ended: Set<UInt32> = []
    private var known: Set<UInt32> = []
    /// The process of the last event.
    @exclusivity(unchecked)
    private var last: UInt32?
    /// The events of that process since the last one of another.
    @exclusivity(unchecked)
    private var run: UInt64 = 0
    /// The events of each process up to its last run.
    private var delivered: [UInt32: UInt64] = [:]

    /// The path of the file that stores the frames of a trace's stacks, as lines of a timeline.
    ///
    /// LTTng's own files stay unchanged, and readers of CTF ignore files whose names begin with a full stop.
    static func symbols(of path: String) -> String { path + "/" + TraceReader.symbolsName }

    init(path: String) throws(ReaderError) {
        trace = try CTFTrace(path: path)
    }

    // MARK: - Names

    /// The first pass: the beginnings of processes, and the dictionary.
    func readNames(_ body: (TraceMessage) throws -> Void) throws {
        do {
            guard trace.hasSoundPackets else { throw ReaderError.damagedCTF(trace.path, "a packet is damaged") }
            // The object owns the links in its directories, and the streams are opened during the pass.
            if let names = try CTFNames(trace.directories, path: trace.path) {
                try withExtendedLifetime(names) { try passNames(names.directories, body) }
            } else {
                let streams = try CTFStreams(trace.directories, path: trace.path)
                try withExtendedLifetime(streams) { try passNames(streams.directories, body) }
            }
        } catch let damage as ReaderError where damage.code == .damaged {
            numbers.rewind()
            try passNames(salvaged(), body)
        }
        // Delivered once all are known, since the trace begins with the earliest.
        for var began in begun.sorted(by: { ($0.start, $0.process) < ($1.start, $1.process) }) {
            began.start -= numbers.origin
            observeProcess(began.process)
            try body(.began(began))
        }
        let symbols = Self.symbols(of: trace.path)
        if access(symbols, F_OK) == 0 { try TimelineReader(path: symbols).readNames(body) }
    }

    private func passNames(_ directories: [String], _ body: (TraceMessage) throws -> Void) throws {
        let messages = try CTFMessages(directories, namesOnly: true, path: trace.path)
        while true {
            let kind = messages.next()
            let message = messages.message
            switch kind {
            case .CTF_END: return
            case .CTF_FAILED: throw ReaderError.damagedCTF(trace.path, messages.text)
            case .CTF_BEGAN: try begin(messages)
            case .CTF_ENTRY, .CTF_STACK:
                let process = numbers.process(of: message.pointee.process).name
                guard entries[process, default: []].insert(message.pointee.id).inserted else { continue }
                do {
                    guard let entry = try decodeEntry(messages) else { continue }
                    summary.entries += 1
                    try body(.entry(process: process, id: message.pointee.id, entry))
                } catch let error as DecodingError {
                    summary.countMalformed(error.shortReason)
                }
            default: continue
            }
        }
    }

    /// Returns directories with copies of the readable parts of the traces.
    private func salvaged() throws(ReaderError) -> [String] {
        let salvage = try CTFSalvage(trace.directories, path: trace.path)
        summary.damagedStreams = salvage.losses
        self.salvage = salvage
        return salvage.directories
    }

    /// Records the beginning of a process.
    ///
    /// - Returns: The process that had the same ID before.
    @discardableResult
    private func begin(_ messages: CTFMessages) throws -> UInt32? {
        let message = messages.message.pointee
        if message.version > UInt32(FL_TRACE_VERSION) {
            throw ReaderError.newerVersion(trace.path, found: Int(message.version), known: Int(FL_TRACE_VERSION))
        }
        let before = numbers.known(message.process)
        let (name, isNew) = numbers.begin(
            message.process, origin: message.origin, start: message.start, date: message.date)
        let replaced = before == name ? nil : before
        guard isNew else { return replaced }
        // A session that was started late has no events from before.
        let start = max(message.origin + message.start, min(message.received, message.origin + fl_largest_number))
        begun.append(
            ProcessBegan(
                version: Int(message.version), process: name, program: messages.text, start: start,
                date: message.date + Double(start - message.origin - message.start) / 1e9,
                source: message.is_observed ? .sqlite : nil, gaps: message.is_observed ? TraceGap.ofStatements : nil))
        return replaced
    }

    private func decodeEntry(_ messages: CTFMessages) throws -> DictionaryEntry? {
        let message = messages.message.pointee
        guard let kind = fl_dictionary_kind(rawValue: message.dictionary) else { return nil }
        if kind == .FL_DICTIONARY_STACK {
            let frames = messages.frames.map { "0x" + String($0, radix: 16) }
            return .stack(StackEntry(frames: frames, isTruncated: message.is_truncated != 0 ? true : nil))
        }
        return try DictionaryEntry(kind, from: EntryText(json: Data(messages.bytes), decoder: decoder))
    }

    // MARK: - Events

    /// The second pass: all other messages, and the counts.
    func readEvents(_ body: (TraceMessage) throws -> Void) throws -> ReadingSummary {
        try passEvents(body)
        // Packets left out of the copies would count twice: libbabeltrace2 reports them as lost.
        let leftOut = UInt64(summary.damagedStreams.reduce(0) { $0 + $1.packets })
        summary.lostPackets -= min(summary.lostPackets, leftOut)
        summary.unendedProcesses = summary.processes.filter { !ended.contains($0) }
        return summary
    }

    private func passEvents(_ body: (TraceMessage) throws -> Void) throws {
        numbers.rewind()
        let streams = salvage == nil ? try CTFStreams(trace.directories, path: trace.path) : nil
        defer { withExtendedLifetime(streams) {} }
        var messages = try open(streams?.directories ?? salvage?.directories ?? [])
        defer { summary.events = Int(delivered.values.reduce(run, +)) }
        while true {
            let kind = messages.next()
            let message = messages.message
            switch kind {
            case .CTF_END: return
            case .CTF_FAILED:
                guard salvage == nil else { throw ReaderError.damagedCTF(trace.path, messages.text) }
                messages = try open(salvaged(), after: messages)
            case .CTF_EVENT: try pass(message, body)
            case .CTF_BEGAN:
                guard let replaced = try begin(messages), ended.insert(replaced).inserted else { continue }
                try body(.ended(end(of: replaced, replacedBy: message.pointee)))
            case .CTF_ENDED:
                let end = end(message.pointee)
                guard ended.insert(end.process).inserted else { continue }
                try body(.ended(end))
            case .CTF_DISCARDED: try countLoss(message.pointee, body)
            case .CTF_FOREIGN: summary.foreignLines += 1
            case .CTF_MALFORMED: summary.countMalformed("a field of the event is missing, broken or too large")
            case .CTF_ENTRY, .CTF_STACK, .CTF_PASSED_OVER: continue
            }
        }
    }

    private func open(
        _ directories: [String], after before: CTFMessages? = nil
    ) throws(ReaderError) -> CTFMessages {
        try CTFMessages(directories, namesOnly: false, after: before, path: trace.path)
    }

    /// Delivers an event, unless its kind is unknown.
    private func pass(
        _ message: UnsafeMutablePointer<ctf_message>, _ body: (TraceMessage) throws -> Void
    ) throws {
        guard let kind = EventKind(rawValue: message.pointee.event.header.kind) else { return }
        let (name, delay) = numbers.process(of: message.pointee.event.process)
        if name != last { observeProcess(name) }
        run += 1
        message.pointee.event.process = name
        message.pointee.event.header.start += delay
        if kind == .use {
            if message.pointee.event.fields.use.firstUse > 0 { message.pointee.event.fields.use.firstUse += delay }
            if message.pointee.event.fields.use.lastUse > 0 { message.pointee.event.fields.use.lastUse += delay }
        }
        try withUnsafePointer(to: &message.pointee.event) { try body(TraceMessage(kind, $0)) }
    }

    private func end(_ message: ctf_message) -> ProcessEnded {
        let (name, delay) = numbers.process(of: message.process)
        return ProcessEnded(
            process: name, end: message.end + delay, events: message.events, lost: message.lost,
            entriesLost: message.entries_lost, usesLost: message.uses_lost)
    }

    /// The end of a program that replaced itself with another one, which it does not announce.
    ///
    /// Everything that it recorded is in the trace: LTTng's buffers outlive the program.
    private func end(of process: UInt32, replacedBy message: ctf_message) -> ProcessEnded {
        let events = delivered[process, default: 0] + (process == last ? run : 0)
        return ProcessEnded(process: process, end: message.origin + message.start - numbers.origin, events: events)
    }

    private func countLoss(_ message: ctf_message, _ body: (TraceMessage) throws -> Void) throws {
        if message.is_of_dictionary {
            summary.lostEntries += message.lost + message.lost_packets
            return
        }
        summary.lostPackets += message.lost_packets
        if message.lost > 0 { try body(.lost(EventLoss(process: 0, thread: 0, events: message.lost))) }
    }

    /// Adds a process to the summary, once.
    private func observeProcess(_ process: UInt32) {
        if let last { delivered[last, default: 0] += run }
        (last, run) = (process, 0)
        if known.insert(process).inserted { summary.processes.append(process) }
    }
}

/// The JSON value of an entry.
private struct EntryText: DictionaryEntryDecoder {
    let json: Data
    let decoder: JSONDecoder

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try decoder.decode(type, from: json)
    }
}

// MARK: - The format

/// Directories in the Common Trace Format 1.8, as LTTng writes them.
extension CTFReader: TraceSource {
    package static let name = "ctf"
    package static let capabilities: TraceCapabilities = [.symbols]

    package static func recognition(of file: TraceFile) throws(ReaderError) -> TraceRecognition {
        guard file.isDirectory else { return .no }
        _ = try CTFTrace(path: file.path)
        return .certain
    }

    package static func pathOfAdditions(to path: String) -> String { symbols(of: path) }
}
