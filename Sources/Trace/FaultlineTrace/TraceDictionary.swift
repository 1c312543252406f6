/// The entries that the events of one process refer to by number.
///
/// Looking up 0 or a number that was never written returns `nil`: an entry can be lost, and the report continues
/// without it.
public struct TraceDictionary: Sendable {
    private var entries: [DictionaryID: DictionaryEntry] = [:]
    private var framesByAddress: [UInt64: FrameEntry] = [:]
    private var threadsByNumber: [UInt32: ThreadEntry] = [:]
    /// The programs and libraries that were mapped, in the order of their entries.
    public private(set) var modules: [ModuleEntry] = []

    /// Creates an empty dictionary.
    public init() {}

    /// Adds an entry.
    ///
    /// A later entry with the same number replaces the earlier one.
    public mutating func insert(_ entry: DictionaryEntry, id: DictionaryID) {
        switch entry {
        case .frame(let frame):
            if let address = UInt64(frame.address.dropFirst(2), radix: 16) { framesByAddress[address] = frame }
        case .thread(let thread): threadsByNumber[thread.thread] = thread
        case .module(let module): modules.append(module)
        case .destinationUse, .calibration: break
        default: entries[id] = entry
        }
    }

    /// Returns the entity with an ID; `nil` if the trace does not have it.
    public func entity(_ id: DictionaryID) -> EntityEntry? {
        guard case .entity(let entry)? = entries[id] else { return nil }
        return entry
    }

    /// Returns the shape with an ID; `nil` if the trace does not have it.
    public func shape(_ id: DictionaryID) -> ShapeEntry? {
        guard case .shape(let entry)? = entries[id] else { return nil }
        return entry
    }

    /// Returns the statement with an ID; `nil` if the trace does not have it.
    public func statement(_ id: DictionaryID) -> StatementEntry? {
        guard case .statement(let entry)? = entries[id] else { return nil }
        return entry
    }

    /// Returns the plan with an ID; `nil` if the trace does not have it.
    public func plan(_ id: DictionaryID) -> PlanEntry? {
        guard case .plan(let entry)? = entries[id] else { return nil }
        return entry
    }

    /// Returns the call site with an ID; `nil` if the trace does not have it.
    public func site(_ id: DictionaryID) -> SiteEntry? {
        guard case .site(let entry)? = entries[id] else { return nil }
        return entry
    }

    /// Returns the stack with an ID; `nil` if the trace does not have it.
    public func stack(_ id: DictionaryID) -> StackEntry? {
        guard case .stack(let entry)? = entries[id] else { return nil }
        return entry
    }

    /// Returns the name with an ID; `nil` if the trace does not have it.
    public func name(_ id: DictionaryID) -> String? {
        guard case .name(let entry)? = entries[id] else { return nil }
        return entry.name
    }

    /// Returns the context with an ID; `nil` if the trace does not have it.
    public func context(_ id: DictionaryID) -> ContextEntry? {
        guard case .context(let entry)? = entries[id] else { return nil }
        return entry
    }

    /// Returns the thread with a number; `nil` if the trace does not have it.
    public func thread(_ number: UInt32) -> ThreadEntry? {
        threadsByNumber[number]
    }

    /// Returns the functions and lines at an address, if its symbols were resolved.
    public func frame(at address: UInt64) -> FrameEntry? {
        framesByAddress[address]
    }

    /// Every stack, for resolving their addresses.
    public var stacks: [StackEntry] {
        entries.values.compactMap {
            guard case .stack(let entry) = $0 else { return nil }
            return entry
        }
    }

    /// Whether the process ran functions in Python, Ruby or PHP that have names.
    var hasInterpretedFunctions: Bool { framesByAddress.values.contains(where: \.isInterpreted) }

    /// The Swift modules of packages that were checked out for the program, as far as functions with lines show them.
    var checkedOutModules: Set<String> {
        let locations = framesByAddress.values.lazy.flatMap(\.locations).filter(\.isInCheckedOutPackage)
        return Set(locations.compactMap { FunctionName(symbol: $0.symbol, words: $0.function).module })
    }

    /// The names of all properties of all entities.
    public var propertyNames: Set<String> {
        var names: Set<String> = []
        for case .entity(let entity) in entries.values { names.formUnion(entity.properties.map(\.name)) }
        return names
    }
}

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

/// The number of a dictionary entry in the process that wrote it; 0 if there is none.
public typealias DictionaryID = UInt32

/// The number of an event in the process that recorded it; 0 if there is none.
public typealias EventID = UInt64
