/// Finds the lines of the program that caused events: the first frames of their stacks that belong to the program.
///
/// Frames of Faultline itself, of the Swift runtime and its libraries, of SQLite and the C library are left out, and
/// so are functions that the compiler made and accessors of the model's properties: what counts is who read the
/// property. Inlined calls are frames of their own.
///
/// One for each process of a trace. Each stack is looked at once.
public struct CallSiteResolver: Sendable {
    /// What the process's events refer to.
    public let dictionary: TraceDictionary
    private let propertyNames: Set<String>
    private var sitesByStack: [DictionaryID: [CallSite]] = [:]
    /// Stands in where a program has no symbols; made when the first such stack is met.
    private var addresses: AddressSites?

    /// A resolver for the events of the process with that dictionary, which must be complete.
    public init(dictionary: TraceDictionary) {
        self.dictionary = dictionary
        propertyNames = dictionary.propertyNames
    }

    /// The one place that reports, event lists, JSON and queries name for an event.
    ///
    /// A fault fires and a batch loads where an object is touched, which can be far from the fetch: their stack counts, and the
    /// site that the compiler knew, the fetch's, only without one. Every other event happened where it was asked for.
    ///
    /// - Complexity: O(1) once a stack was seen, O(frames) the first time.
    public mutating func place(of event: TraceEvent) -> CallSite? {
        switch event.kind {
        case .fault, .batch: stackSite(of: event) ?? callSite(of: event)
        default: callSite(of: event)
        }
    }

    /// Where the event's operation was asked for: the site that the compiler knew, if the API could take it; else the
    /// ``stackSite(of:)``.
    ///
    /// - Complexity: O(1) once a stack was seen, O(frames) the first time.
    public mutating func callSite(of event: TraceEvent) -> CallSite? {
        if let site = dictionary.site(event.site) { return CallSite(site) }
        return stackSite(of: event)
    }

    /// Where the event's work was triggered: the first frame of its stack that belongs to the program and whose line is
    /// known; without one, the first whose function is known.
    ///
    /// `nil`: the event has no stack, or nothing in it is the program's.
    ///
    /// What a macro expanded to counts only if nothing else does, since nobody can open that file. A fetch can be
    /// triggered far from where it was asked for: when its lazy result is first touched.
    ///
    /// - Complexity: O(1) once a stack was seen, O(frames) the first time.
    public mutating func stackSite(of event: TraceEvent) -> CallSite? {
        let sites = sites(of: event.stack)
        return sites.first { $0.line > 0 && !$0.isInMacro } ?? sites.first { $0.line > 0 } ?? sites.first
    }

    /// The program's frames on the event's stack, innermost first, at most `limit` of them.
    ///
    /// - Complexity: O(`limit`) once a stack was seen, O(frames) the first time.
    public mutating func callers(of event: TraceEvent, limit: Int = .max) -> [CallSite] {
        Array(sites(of: event.stack).prefix(limit))
    }

    // MARK: - Frames

    private mutating func sites(of stack: DictionaryID) -> [CallSite] {
        if let known = sitesByStack[stack] { return known }
        var sites: [CallSite] = []
        for address in dictionary.stack(stack)?.addresses ?? [] {
            guard let frame = dictionary.frame(at: address), !Self.isSystemLibrary(frame.module) else { continue }
            for location in frame.locations where isApplication(location) {
                let site = CallSite(location)
                if sites.last != site { sites.append(site) }
            }
        }
        if sites.isEmpty, let entry = dictionary.stack(stack) {
            let places = addresses ?? AddressSites(dictionary, isSystem: Self.isSystemLibrary)
            addresses = places
            if let site = places.site(of: entry) { sites = [site] }
        }
        sitesByStack[stack] = sites
        return sites
    }

    private func isApplication(_ location: FrameEntry.Location) -> Bool {
        // Code without a line in a file that has lines was made by the compiler.
        if location.file == "<compiler-generated>" || (location.line == 0 && !location.file.isEmpty) { return false }
        let name = FunctionName(symbol: location.symbol, words: location.function)
        if name.isThunk { return false }
        if let property = name.property, propertyNames.contains(property) { return false }
        if let module = name.module { return !Self.ownModules.contains(module) && !Self.systemModules.contains(module) }
        return !Self.systemPrefixes.contains { name.short.hasPrefix($0) } && !name.short.isEmpty
    }

    /// The parts of Faultline that run inside a program.
    ///
    /// `FaultlineWorkloads` is a program like others.
    private static let ownModules: Set<String> = [
        "FaultlineStore", "FaultlineRecorder", "FaultlineModel", "FaultlineTrace", "FaultlineEntities",
        "FaultlineTesting", "FaultlineBridges",
    ]

    /// Modules of the toolchain.
    ///
    /// They can be linked into the program, and are inlined into it.
    private static let systemModules: Set<String> = [
        "Swift", "_Concurrency", "_StringProcessing", "_RegexParser", "RegexBuilder", "Synchronization", "Observation",
        "Distributed", "Runtime", "Foundation", "FoundationEssentials", "FoundationInternationalization",
        "FoundationNetworking", "FoundationXML", "_FoundationCollections", "CoreFoundation", "Dispatch", "Glibc",
        "SwiftShims", "Testing", "XCTest", "__C", "__C_Synthesized",
    ]

    /// Functions in C and C++ of Faultline, the runtimes and SQLite, which can be linked into the program too.
    private static let systemPrefixes = [
        "fl_", "ftl_", "swift_", "_swift_", "swift::", "dispatch_", "_dispatch_", "sqlite3", "__libc_", "_start",
        "start_thread", "__clone", "clone3",
    ]

    /// Whether a module's file name is a library's that no program owns.
    private static func isSystemLibrary(_ name: String) -> Bool {
        systemLibraries.contains { name.hasPrefix($0) }
    }

    private static let systemLibraries = [
        "libswift", "libFoundation", "lib_Foundation", "libdispatch", "libBlocksRuntime", "libTesting", "libXCTest",
        "libsqlite3", "libc.so", "libc-", "libpthread", "libm.so", "libdl.so", "librt.so", "ld-linux", "libstdc++",
        "libgcc_s", "liblttng-ust", "libfaultline", "libFaultlinePreload", "linux-vdso", "[vdso]",
    ]
}
