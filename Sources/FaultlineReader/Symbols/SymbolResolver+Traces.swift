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
        try trace.begin().resolve(with: self, annotator: TraceAnnotator(trace))
    }

    /// The frames that the stacks of processes lack, in the order of their addresses, so that the same trace gives the
    /// same lines.
    func missingFrames(of processes: ProcessFrames) -> [ResolvedFrame] {
        var missing: [ResolvedFrame] = []
        for process in processes.order {
            let names = processes.names[process]!
            var id = names.lastFrame
            for frame in frames(for: names) where isNew(frame, names) && id < .max {
                id += 1
                missing.append(ResolvedFrame(process: process, id: id, frame: frame))
            }
        }
        return missing
    }

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
}

/// A frame of a process, and the number that its dictionary gives it.
struct ResolvedFrame {
    var process: UInt32
    var id: DictionaryID
    var frame: FrameEntry
}

/// What a trace's processes know of their stacks.
struct ProcessFrames {
    struct Names {
        var dictionary = TraceDictionary()
        var lastFrame: DictionaryID = 0
    }

    private(set) var names: [UInt32: Names] = [:]
    private(set) var order: [UInt32] = []

    mutating func take(_ entry: DictionaryEntry, id: DictionaryID, of process: UInt32) {
        switch entry {
        case .stack, .module, .frame: break
        default: return
        }
        if names[process] == nil { order.append(process) }
        names[process, default: Names()].dictionary.insert(entry, id: id)
        if case .frame = entry { names[process]!.lastFrame = max(names[process]!.lastFrame, id) }
    }
}
