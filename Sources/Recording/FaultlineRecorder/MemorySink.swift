internal import CRecorder
internal import CTraceSchema
internal import FaultlineTrace
internal import Foundation
internal import Synchronization

#if FAULTLINE_VISIBLE_LOCKS
typealias Mutex = VisibleMutex
#endif

/// Drains a recorder's rings and keeps their contents as messages.
// Only one thread at a time uses the C drain, under the lock.
final class MemorySink: @unchecked Sendable {
    private let drain: OpaquePointer
    private let kept: Mutex<[TraceMessage]>

    init?(_ recorder: OpaquePointer) {
        guard let drain = fl_drain_attach(recorder) else { return nil }
        self.drain = drain
        let process = fl_drain_process(drain)
        let began = ProcessBegan(
            process: process.process, program: String(cString: process.program), start: process.start,
            date: process.date)
        kept = Mutex([.began(began)])
    }

    deinit {
        fl_drain_close(drain)
    }

    /// Returns all messages up to now.
    func messages() -> [TraceMessage] {
        kept.withLock { messages in
            let collector = Collector(process: fl_drain_process(drain).process)
            var sink = fl_sink()
            sink.context = Unmanaged.passUnretained(collector).toOpaque()
            sink.entry = { context, kind, id, json, length, label, labelLength in
                let text = UnsafeRawBufferPointer(start: json, count: length)
                Collector.at(context).add(kind: kind, id: id, text: text, isTruncated: labelLength > 0)
            }
            sink.event = { context, event in
                guard let event, let known = TraceEvent(event) else { return }
                Collector.at(context).messages.append(.event(known))
            }
            sink.lost = { context, thread, events in
                let collector = Collector.at(context)
                collector.messages.append(
                    .lost(EventLoss(process: collector.process, thread: thread, events: events)))
            }
            fl_drain_run(drain, &sink)
            fl_drain_commit(drain, 0)
            messages += collector.messages
            return messages
        }
    }

    /// The messages of one run of the drain.
    private final class Collector {
        let process: UInt32
        var messages: [TraceMessage] = []

        init(process: UInt32) {
            self.process = process
        }

        static func at(_ context: UnsafeMutableRawPointer?) -> Collector {
            Unmanaged.fromOpaque(context!).takeUnretainedValue()
        }

        func add(kind: UInt32, id: UInt32, text: UnsafeRawBufferPointer, isTruncated: Bool) {
            guard let kind = fl_dictionary_kind(rawValue: kind) else { return }
            let entry: DictionaryEntry?
            if kind == .FL_DICTIONARY_STACK {
                let frames = (0..<(text.count / 8)).map {
                    "0x" + String(text.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self), radix: 16)
                }
                entry = .stack(StackEntry(frames: frames, isTruncated: isTruncated ? true : nil))
            } else {
                entry = try? DictionaryEntry(kind, from: EntryText(json: Data(text)))
            }
            if let entry { messages.append(.entry(process: process, id: id, entry)) }
        }
    }
}
