/// Finds the lines of the program that caused events, from the frames of their stacks.
///
/// The call site is the innermost frame that belongs to the program. The resolver skips the frames of Faultline
/// itself, of the Swift runtime and its libraries, of SQLite and the C library, of packages that SwiftPM checked
/// out for the program, of Python's libraries and installed packages (unless the program is one), and of files that
/// the user counts among the libraries. It also skips functions that the compiler generated and accessors of the
/// model's properties, to find the code that read the property. Inlined calls are frames of their own.
///
/// Use one resolver for each process of a trace. It examines each stack once.
public struct CallSiteResolver: Sendable {
    /// The dictionary of the process's events.
    public let dictionary: TraceDictionary
    private let propertyNames: Set<String>
    private let packageModules: Set<String>
    private let interpreted: InterpretedCode
    private var sitesByStack: [DictionaryID: [CallSite]] = [:]
    /// The application's functions at addresses, which many stacks share.
    private var functionsByAddress: [UInt64: [FrameEntry.Location]] = [:]
    /// Call sites for a program without symbols; created at the first stack that needs them.
    private var addresses: AddressSites?

    /// Creates a resolver for the events of the process with that dictionary, which must be complete.
    public init(dictionary: TraceDictionary) {
        self.dictionary = dictionary
        propertyNames = dictionary.propertyNames
        packageModules = dictionary.checkedOutModules
        interpreted = InterpretedCode(dictionary)
    }

    /// Returns the one place that reports, event lists, JSON and queries name for an event.
    ///
    /// A fault fires and a batch loads where an object is touched, which can be far from the fetch. Their place is
    /// therefore taken from their stack. Without a stack it is the site that the compiler recorded, which is the
    /// fetch's. Every other event happened where the program asked for it.
    ///
    /// - Complexity: O(1) for a stack that was resolved before, O(frames) the first time.
    public mutating func reportedSite(of event: TraceEvent) -> CallSite? {
        switch event.kind {
        case .fault, .batch: stackSite(of: event) ?? callSite(of: event)
        default: callSite(of: event)
        }
    }

    /// Returns the call that asked for the event's operation.
    ///
    /// It is the site that the compiler recorded, if the API takes one, or else the ``stackSite(of:)``.
    ///
    /// - Complexity: O(1) for a stack that was resolved before, O(frames) the first time.
    public mutating func callSite(of event: TraceEvent) -> CallSite? {
        if let site = dictionary.site(event.site) { return CallSite(site) }
        return stackSite(of: event)
    }

    /// Returns the line that triggered the event's work, or `nil` if the event has no stack or no frame is the
    /// program's.
    ///
    /// It is the innermost frame of the stack that belongs to the program and has a line, or else the innermost one
    /// with a known function. A frame in a macro expansion counts only if no other has a line, since nobody can open
    /// its file. The trigger can be far from the call that asked for a fetch: a lazy result runs when it is first
    /// touched.
    ///
    /// - Complexity: O(1) for a stack that was resolved before, O(frames) the first time.
    public mutating func stackSite(of event: TraceEvent) -> CallSite? {
        let sites = sites(of: event.stack)
        return sites.first { $0.line > 0 && !$0.isInMacro } ?? sites.first { $0.line > 0 } ?? sites.first
    }

    /// Returns the program's frames on the event's stack, innermost first, at most `limit` of them.
    ///
    /// - Complexity: O(`limit`) for a stack that was resolved before, O(frames) the first time.
    public mutating func callers(of event: TraceEvent, limit: Int = .max) -> [CallSite] {
        Array(sites(of: event.stack).prefix(limit))
    }

    // MARK: - Frames

    private mutating func sites(of stack: DictionaryID) -> [CallSite] {
        if let known = sitesByStack[stack] { return known }
        var sites = interpretedSites(of: stack)
        if sites.isEmpty { sites = compiledSites(of: stack) }
        if sites.isEmpty, let entry = dictionary.stack(stack) {
            let positions = addresses ?? AddressSites(dictionary, isSystem: CodePart.isSystemLibrary)
            addresses = positions
            if let site = positions.site(of: entry) { sites = [site] }
        }
        sitesByStack[stack] = sites
        return sites
    }

    /// The application's functions on a stack, or those of its packages if there are no others.
    private mutating func compiledSites(of stack: DictionaryID) -> [CallSite] {
        var locations: [FrameEntry.Location] = []
        for address in dictionary.stack(stack)?.addresses ?? [] { locations += functions(at: address) }
        let application = locations.filter { !isOfPackage($0) }
        var sites: [CallSite] = []
        for location in application.isEmpty ? locations : application {
            let site = CallSite(location)
            if sites.last != site { sites.append(site) }
        }
        return sites
    }

    /// The application's functions at an address, several if they are inlined.
    private mutating func functions(at address: UInt64) -> [FrameEntry.Location] {
        if let known = functionsByAddress[address] { return known }
        guard let frame = dictionary.frame(at: address), !CodePart.isSystemLibrary(frame.module) else { return [] }
        let functions = frame.locations.filter(isApplication)
        functionsByAddress[address] = functions
        return functions
    }

    /// Whether a function belongs to a package that was checked out for the program, or to what the user calls a library.
    ///
    /// Functions that the compiler merged have no file.
    private func isOfPackage(_ location: FrameEntry.Location) -> Bool {
        if location.isInCheckedOutPackage || location.isInAddedLibrary { return true }
        guard location.file.isEmpty, !packageModules.isEmpty else { return false }
        let module = FunctionName(symbol: location.symbol, words: location.function).module
        return module.map { packageModules.contains($0) } ?? false
    }

    /// The application's functions in Python, Ruby or PHP on a stack, or the innermost one if all are a library's.
    ///
    /// If there are any, the stack's other functions are the interpreter's and its extensions'.
    private func interpretedSites(of stack: DictionaryID) -> [CallSite] {
        interpreted.functions(of: dictionary.stack(stack), in: dictionary).map { location in
            CallSite(file: location.file, line: location.line, function: location.function)
        }
    }

    private func isApplication(_ location: FrameEntry.Location) -> Bool {
        // In a file that has lines, code without one was generated by the compiler.
        if location.file == "<compiler-generated>" || (location.line == 0 && !location.file.isEmpty) { return false }
        let name = FunctionName(symbol: location.symbol, words: location.function)
        if name.isThunk || name.short.isEmpty { return false }
        if let property = name.property, propertyNames.contains(property) { return false }
        return CodePart(name, file: location.file) == .program
    }
}
