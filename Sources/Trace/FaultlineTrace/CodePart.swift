/// The part of a program that a function belongs to.
public enum CodePart: String, Sendable, Hashable, CaseIterable {
    /// The application's own code, and the packages that it uses.
    case program
    /// Faultline's object store.
    case store
    /// SQLite.
    case sqlite
    /// Faultline's recorder.
    case recorder
    /// The Swift runtime, the C library and other libraries of the system, and the interpreter's own library.
    case system
}

extension CodePart {
    /// The part of a function in a program or library.
    ///
    /// - Parameter module: The file name of the program or library.
    init(_ location: FrameEntry.Location, in module: String) {
        if module.hasPrefix("libFaultlinePreload"), location.function.hasPrefix("sqlite3_") {
            // The program calls this function, and it calls SQLite's.
            self = .sqlite
        } else if let part = CodePart(library: module) {
            self = part
        } else {
            self.init(FunctionName(symbol: location.symbol, words: location.function), file: location.file)
        }
    }

    /// The part that all functions of a library belong to, or `nil` if it can contain several parts.
    init?(library name: String) {
        if name.hasPrefix("libsqlite3") {
            self = .sqlite
        } else if name.contains(".cpython-") || name.hasPrefix("libpython") || name.hasPrefix("python3") {
            // The interpreter and its extensions run for the Python functions that called them.
            self = .system
        } else if name.hasPrefix("libFaultlinePreload") {
            self = .recorder
        } else if Self.isSystemLibrary(name) {
            self = .system
        } else {
            return nil
        }
    }

    /// The part that a function belongs to, wherever it is linked to.
    init(_ name: FunctionName, file: String) {
        if let module = name.module {
            if Self.recorderModules.contains(module) {
                self = .recorder
            } else if Self.storeModules.contains(module) {
                self = .store
            } else {
                self = Self.systemModules.contains(module) ? .system : .program
            }
        } else if name.short.hasPrefix("fl_") || file.contains("/CRecorder/") {
            self = .recorder
        } else if name.short.hasPrefix("ftl_") {
            self = .store
        } else if name.short.hasPrefix("sqlite3") || file.hasSuffix("/sqlite3.c") {
            self = .sqlite
        } else {
            self = Self.systemPrefixes.contains { name.short.hasPrefix($0) } ? .system : .program
        }
    }

    /// The parts of Faultline that run inside a program.
    ///
    /// `FaultlineWorkloads` counts as the user's program.
    private static let storeModules: Set<String> = [
        "FaultlineStore", "FaultlineModel", "FaultlineEntities", "FaultlineTesting", "FaultlineBridges",
    ]
    private static let recorderModules: Set<String> = ["FaultlineRecorder", "FaultlineTrace"]

    /// Modules of the toolchain, which can be linked and inlined into the program.
    private static let systemModules: Set<String> = [
        "Swift", "_Concurrency", "_StringProcessing", "_RegexParser", "RegexBuilder", "Synchronization", "Observation",
        "Distributed", "Runtime", "Foundation", "FoundationEssentials", "FoundationInternationalization",
        "FoundationNetworking", "FoundationXML", "_FoundationCollections", "CoreFoundation", "Dispatch", "Glibc",
        "SwiftShims", "Testing", "XCTest", "__C", "__C_Synthesized",
    ]

    /// Prefixes of the C and C++ functions of the runtimes, which can be linked into the program too.
    private static let systemPrefixes = [
        "swift_", "_swift_", "swift::", "dispatch_", "_dispatch_", "__libc_", "_start", "start_thread", "__clone",
        "clone3",
    ]

    /// Whether a library's file name is that of a system library, of SQLite or of the recorder.
    static func isSystemLibrary(_ name: String) -> Bool {
        systemLibraries.contains { name.hasPrefix($0) }
    }

    private static let systemLibraries = [
        "libswift", "libFoundation", "lib_Foundation", "libdispatch", "libBlocksRuntime", "libTesting", "libXCTest",
        "libsqlite3", "libc.so", "libc-", "libpthread", "libm.so", "libdl.so", "librt.so", "ld-linux", "libstdc++",
        "libgcc_s", "liblttng-ust", "libfaultline", "libFaultlinePreload", "libFaultlineHeap", "libFaultlineColumns",
        "linux-vdso", "[vdso]",
    ]
}

extension FrameEntry {
    /// Whether the frame is a Python function's.
    ///
    /// Its address is a number that no code has.
    public var isPython: Bool { module == Self.python }

    /// Whether the frame is that of a function in Python, Ruby or PHP.
    ///
    /// Its address is a number that no code has.
    var isInterpreted: Bool { isPython || module == "Ruby" || module == "PHP" }

    /// The name that stands for the module of Python functions.
    static let python = "Python"
}

extension FrameEntry {
    /// Whether the code is that of the library that records programs from outside.
    var isOfPreloadedLibrary: Bool { module.hasPrefix("libFaultlinePreload") }
}

extension CallSite {
    /// Whether the line is in an interpreter's standard library or in an installed package.
    package var isInInstalledPackage: Bool {
        [".py", ".rb", ".php"].contains { file.hasSuffix($0) } && FrameEntry.Location.isLibrary(file)
    }
}

extension FrameEntry.Location {
    /// Whether the code is that of a package that SwiftPM or Xcode checked out for the program, such as GRDB.
    var isInCheckedOutPackage: Bool {
        guard file.contains("/checkouts/") else { return false }
        let parts = file.split(separator: "/")
        return zip(parts, parts.dropFirst()).contains { directory, name in
            name == "checkouts" && (directory.hasPrefix(".build") || directory == "SourcePackages")
        }
    }

    /// Whether a function in Python, Ruby or PHP belongs to the standard library, to an installed package or to no file.
    var isInInterpretedLibrary: Bool { Self.isLibrary(file) }

    /// Whether the user counts the file among the libraries.
    var isInAddedLibrary: Bool { LibraryPaths.contain(file) }

    /// Whether a Python function belongs to the standard library.
    var isInStandardLibrary: Bool { file.hasPrefix("<") || (package == nil && Self.isStandardLibrary(file)) }

    /// The installed package or module that a Python function belongs to, or `nil` if it is in none.
    var package: String? {
        guard let folder = Self.packages.lazy.compactMap({ file.firstRange(of: $0) }).first else { return nil }
        let path = file[folder.upperBound...]
        return String(path.prefix { $0 != "/" && $0 != "." })
    }

    fileprivate static func isLibrary(_ file: String) -> Bool {
        if file.hasSuffix(".php") { return file.contains("/vendor/") }
        if file.hasSuffix(".rb") { return file.contains("/gems/") || file.contains("/lib/ruby/") }
        return packages.contains { file.contains($0) } || file.hasPrefix("<") || isStandardLibrary(file)
    }

    /// The directories that Python's installers put packages in.
    private static let packages = ["/site-packages/", "/dist-packages/"]

    /// Whether the file is in `lib/python3.N`.
    private static func isStandardLibrary(_ file: String) -> Bool {
        let parts = file.split(separator: "/")
        return zip(parts, parts.dropFirst()).contains { ($0 == "lib" || $0 == "lib64") && $1.hasPrefix("python3") }
    }
}

/// The files that the user counts among a program's libraries, besides those that are recognized as such.
///
/// The call site of an event is never in them, unless no other function of the program is on its stack.
package enum LibraryPaths {
    /// Files or directories, as complete components of their paths: `src/db`, or `run.c`.
    @TaskLocal package static var added: [String] = []

    /// Whether a file is one of them, or lies in one of the directories.
    static func contain(_ file: String) -> Bool {
        let added = added
        guard !added.isEmpty, !file.isEmpty else { return false }
        let path = "/" + file
        return added.contains { one in
            let name = one.drop { $0 == "/" }
            return path.hasSuffix("/" + name) || path.contains("/" + name + "/")
        }
    }
}
