import FaultlineTrace
import Foundation

extension SymbolResolver {
    /// Writes the frames that a finished trace's stacks lack beside them, so that it can be read without the programs
    /// that it was recorded from.
    ///
    /// To a timeline's end: what is in the file stays as it is, but for the closing bracket and, where the recorder was
    /// killed, a last line that breaks off; the new lines take their place, and the array is closed. For a CTF trace into
    /// a file of its own in the trace's directory, `.faultline-symbols.json`. If writing fails, all is as before. A second
    /// run adds nothing, or what could not be found the first time.
    ///
    /// The trace must be finished; a timeline that a recorder still writes to is refused.
    ///
    /// A line: `{"name":"faultline.frame","ph":"M","pid":4,"tid":0,"args":{"id":1,"entry":{"address":"0x5581",…}}}`
    ///
    /// - Returns: The number of frames that were added; 0 leaves all untouched. ``problems`` tells of modules
    ///   that gave no symbols when they were looked at for the first time.
    /// - Throws: ``ReaderError`` if the trace cannot be read or written, or is of a newer version; not for traces without
    ///   stacks.
    @discardableResult
    public func addFrames(to trace: TraceReader) throws -> Int {
        var processes = ProcessFrames()
        try trace.readNames { message in processes.take(message) }
        var lines: [String] = []
        for process in processes.order {
            let names = processes.names[process]!
            var id = names.lastFrame
            for frame in frames(for: names) where isNew(frame, names) && id < .max {
                id += 1
                lines.append(try line(for: frame, id: id, process: process))
            }
        }
        if lines.isEmpty { return 0 }
        if trace.pathOfSymbols != trace.path { try Self.begin(trace.pathOfSymbols) }
        try TimelineTail.append(lines, to: trace.pathOfSymbols)
        return lines.count
    }

    /// Makes an empty timeline where none is.
    private static func begin(_ path: String) throws(ReaderError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        if descriptor < 0 {
            if errno == EEXIST { return }
            throw .cannotAddSymbols(path, errno)
        }
        defer { close(descriptor) }
        if write(descriptor, "[\n", 2) != 2 { throw .cannotAddSymbols(path, errno) }
    }

    /// The frames that a process lacks, in the order of their addresses, so that the same trace gives the same lines.
    private func frames(for names: ProcessFrames.Names) -> [FrameEntry] {
        let addresses = names.dictionary.stacks.flatMap(\.addresses).sorted()
        let unseen = addresses.filter { names.dictionary.frame(at: $0) == nil }
        let nameless = addresses.filter { names.dictionary.frame(at: $0)?.locations.isEmpty == true }
        let found = frames(for: unseen, modules: names.dictionary.modules)
        // These were looked for before. They may be found here, but that they are not is no news.
        let told = problems.count
        defer { problems.removeSubrange(told...) }
        return (found + frames(for: nameless, modules: names.dictionary.modules)).sorted { $0.address < $1.address }
    }

    /// Whether a frame says more than what the timeline has.
    private func isNew(_ frame: FrameEntry, _ names: ProcessFrames.Names) -> Bool {
        if !frame.locations.isEmpty { return true }
        guard let address = UInt64(frame.address.dropFirst(2), radix: 16) else { return false }
        return !frame.module.isEmpty && names.dictionary.frame(at: address) == nil
    }

    private func line(for frame: FrameEntry, id: DictionaryID, process: UInt32) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let entry = String(decoding: try encoder.encode(frame), as: UTF8.self)
        return #"{"name":"faultline.frame","ph":"M","pid":\#(process),"tid":0,"args":{"id":\#(id),"entry":\#(entry)}}"#
    }
}

/// What a timeline's processes know of their stacks.
private struct ProcessFrames {
    struct Names {
        var dictionary = TraceDictionary()
        var lastFrame: DictionaryID = 0
    }

    var names: [UInt32: Names] = [:]
    var order: [UInt32] = []

    mutating func take(_ message: TraceMessage) {
        guard case .entry(let process, let id, let entry) = message else { return }
        switch entry {
        case .stack, .module, .frame: break
        default: return
        }
        if names[process] == nil { order.append(process) }
        names[process, default: Names()].dictionary.insert(entry, id: id)
        if case .frame = entry { names[process]!.lastFrame = max(names[process]!.lastFrame, id) }
    }
}
