/// A function on a call path.
public struct CodeFunction: Sendable, Hashable {
    /// The name as `#function` has it, or the symbol of a C function; without symbols the name of its module.
    public var name: String
    /// The source file's path; empty if it is not known.
    public var file: String
    /// The file name of the program or library that contains it.
    public var module: String
    /// The part of the program that it belongs to.
    public var part: CodePart

    /// Creates a function.
    public init(name: String, file: String = "", module: String = "", part: CodePart = .program) {
        self.name = name
        self.file = file
        self.module = module
        self.part = part
    }
}

/// The call paths of a process's events.
///
/// A call path has the functions from the one that ran outwards. Inlined functions are functions of their own. Functions
/// that the compiler generated to forward a call are left out.
public struct CallPaths: Sendable {
    private let dictionary: TraceDictionary
    private let interpreted: InterpretedCode
    private var paths: [DictionaryID: Path] = [:]

    private struct Path {
        var frames: [Frame] = []
        var functions: [CodeFunction] = []
    }

    /// A function on a call path, with the line that was executed.
    public struct Frame: Sendable, Hashable {
        /// The function.
        public var function: CodeFunction
        /// The line; 0 if it is not known.
        public var line: Int

        /// Creates a frame.
        public init(function: CodeFunction, line: Int) {
            self.function = function
            self.line = line
        }
    }

    /// Creates the call paths of the process with that dictionary, which must be complete.
    public init(dictionary: TraceDictionary) {
        self.dictionary = dictionary
        interpreted = InterpretedCode(dictionary)
    }

    /// Returns the functions of a stack, innermost first.
    ///
    /// - Complexity: O(1) for a stack that was asked for before, O(frames) the first time.
    public mutating func functions(of stack: DictionaryID) -> [CodeFunction] { path(of: stack).functions }

    /// Returns the functions of a stack and their lines, innermost first.
    ///
    /// - Complexity: O(1) for a stack that was asked for before, O(frames) the first time.
    public mutating func frames(of stack: DictionaryID) -> [Frame] { path(of: stack).frames }

    private mutating func path(of stack: DictionaryID) -> Path {
        guard stack != 0 else { return Path() }
        if let known = paths[stack] { return known }
        let frames = (dictionary.stack(stack)?.addresses ?? []).flatMap { self.frames(at: $0) }
        let path = Path(frames: frames, functions: frames.map(\.function))
        paths[stack] = path
        return path
    }

    /// Returns the functions of an event's call path, innermost first.
    ///
    /// For a sample, the first one is the function that ran.
    public mutating func functions(of event: TraceEvent) -> [CodeFunction] {
        guard case .cpu(let sample) = event.detail else { return functions(of: event.stack) }
        return functions(of: sample.leaf) + functions(of: event.stack)
    }

    /// Returns the functions of an event's call path and their lines, innermost first.
    public mutating func frames(of event: TraceEvent) -> [Frame] {
        guard case .cpu(let sample) = event.detail else { return frames(of: event.stack) }
        return frames(of: sample.leaf) + frames(of: event.stack)
    }

    private func frames(at address: UInt64) -> [Frame] {
        let frame = dictionary.frame(at: address)
        guard let frame, !frame.locations.isEmpty else {
            return [Frame(function: Self.unnamed(address, in: frame?.module ?? ""), line: 0)]
        }
        return frame.locations.compactMap { location in
            let name = FunctionName(symbol: location.symbol, words: location.function)
            if name.isThunk || location.file == "<compiler-generated>" { return nil }
            let function = CodeFunction(
                name: name.short.isEmpty ? location.symbol : name.short, file: location.file, module: frame.module,
                part: frame.isInterpreted
                    ? (interpreted.isOwn(location) ? .program : .system) : CodePart(location, in: frame.module))
            return Frame(function: function, line: location.line)
        }
    }

    /// A function without symbols.
    ///
    /// Those of a library are not distinguished, because each of their instructions has an address of its own.
    private static func unnamed(_ address: UInt64, in module: String) -> CodeFunction {
        guard !module.isEmpty else { return CodeFunction(name: "0x" + String(address, radix: 16)) }
        return CodeFunction(name: module, module: module, part: CodePart(library: module) ?? .program)
    }
}

extension CodePart {
    /// The part that a call path's time belongs to: that of the innermost function that is not a system library's.
    ///
    /// Without one, it is the program's.
    public init(path functions: [CodeFunction]) {
        self = functions.first { $0.part != .system }?.part ?? .program
    }
}
