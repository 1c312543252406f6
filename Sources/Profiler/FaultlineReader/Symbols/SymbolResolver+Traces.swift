import FaultlineTrace
import Foundation

extension SymbolResolver {
    /// Resolves the addresses of a finished trace's stacks and stores the frames with it, which makes it readable
    /// without the recorded programs.
    ///
    /// The frames are added to the end of a timeline. Existing lines stay unchanged, except for the closing bracket
    /// and, if the recorder was killed, an incomplete last line; the new lines replace those, followed by a new
    /// bracket. For a CTF trace, the frames go into a separate file in the trace's directory,
    /// `.faultline-symbols.json`. If writing fails, the trace is as it was before. A second run adds only frames that
    /// could not be resolved the first time.
    ///
    /// The trace must be finished; a timeline that is still being written is refused.
    ///
    /// A line: `{"name":"faultline.frame","ph":"M","pid":4,"tid":0,"args":{"id":1,"entry":{"address":"0x5581",…}}}`
    ///
    /// - Returns: The number of frames that were added; if it is 0, nothing was written. ``problems`` lists modules
    ///   that had no symbols when they were first looked up.
    /// - Throws: ``ReaderError`` if the trace cannot be read or written, or if a newer version wrote it; not for
    ///   traces without stacks.
    @discardableResult
    package func addFrames(to trace: TraceReader) throws -> Int {
        try trace.begin().resolve(with: self, annotator: TraceAnnotator(trace))
    }

    /// The frames that the processes' stacks lack, in the order of their addresses, which makes the output
    /// reproducible.
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
        // A previous run already looked for these. Finding them now is progress, but missing them again is not worth
        // reporting.
        let known = problems.count
        defer { problems.removeSubrange(known...) }
        return (found + frames(for: nameless, modules: names.dictionary.modules)).sorted { $0.address < $1.address }
    }

    /// Whether a frame adds to the information that the timeline has.
    private func isNew(_ frame: FrameEntry, _ names: ProcessFrames.Names) -> Bool {
        if !frame.locations.isEmpty { return true }
        guard let address = UInt64(frame.address.dropFirst(2), radix: 16) else { return false }
        return !frame.module.isEmpty && names.dictionary.frame(at: address) == nil
    }
}

/// A frame of a process, with its number in the process's dictionary.
struct ResolvedFrame {
    var process: UInt32
    var id: DictionaryID
    var frame: FrameEntry
}

/// The stacks, modules and frames in the dictionaries of a trace's processes.
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
