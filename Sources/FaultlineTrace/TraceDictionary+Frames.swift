extension TraceDictionary {
    /// A frame of a stack, with its functions and lines if they are known.
    public struct StackFrame: Sendable, Hashable {
        /// The address, as a hexadecimal number with `0x`.
        public var address: String
        /// The resolved address; `nil` if it was not resolved.
        public var entry: FrameEntry?
    }

    /// Returns the frames of a stack from the function that caused the event outwards, without those of the recorder.
    ///
    /// Recording an event calls the recorder, which walks the stack. In a debug build that adds a dozen frames that
    /// say nothing about the event.
    ///
    /// - Complexity: O(frames).
    public func frames(of stack: StackEntry) -> [StackFrame] {
        var frames = stack.frames.map { text in
            StackFrame(address: text, entry: UInt64(text.dropFirst(2), radix: 16).flatMap { frame(at: $0) })
        }
        var last: (frame: Int, location: Int)?
        search: for (position, frame) in frames.enumerated() {
            guard let entry = frame.entry, !entry.locations.isEmpty else { break }
            for (index, location) in entry.locations.enumerated() {
                switch entry.isOfPreloadedLibrary ? .recorder : Self.part(of: location) {
                case .recorder: last = (position, index)
                case .plumbing: break
                case .other: break search
                }
            }
        }
        guard let last else { return frames }
        frames.removeFirst(last.frame)
        // The recorder can be inlined into the function that caused the event.
        let kept = (frames[0].entry?.locations ?? []).dropFirst(last.location + 1)
        if kept.isEmpty { frames.removeFirst() } else { frames[0].entry?.locations = Array(kept) }
        return frames
    }

    private enum Part {
        case recorder
        /// Compiler-generated or standard-library code between two functions.
        case plumbing
        case other
    }

    private static func part(of location: FrameEntry.Location) -> Part {
        let name = FunctionName(symbol: location.symbol, words: location.function)
        if CodePart(name, file: location.file) == .recorder { return .recorder }
        switch name.module {
        case "Swift", "Synchronization": return .plumbing
        default: return name.isThunk || location.file == "<compiler-generated>" ? .plumbing : .other
        }
    }
}
