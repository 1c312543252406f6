extension FrameEntry {
    /// Whether the frame is a Python function's.
    ///
    /// Its address is a number that no code has.
    public var isPython: Bool { module == Self.python }

    /// The name that stands for the module of Python functions.
    static let python = "Python"
}

extension FrameEntry {
    /// Whether the code is that of the library that records programs from outside.
    var isOfPreloadedLibrary: Bool { module.hasPrefix("libFaultlinePreload") }
}

extension CallSite {
    /// Whether the line is in Python's standard library or in an installed package.
    package var isInPythonLibrary: Bool {
        file.hasSuffix(".py") && FrameEntry.Location.isPythonLibrary(file)
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

    /// Whether a Python function belongs to the standard library, to an installed package or to no file.
    var isInPythonLibrary: Bool { Self.isPythonLibrary(file) }

    /// Whether the user counts the file among the libraries.
    var isInAddedLibrary: Bool { LibraryPaths.contain(file) }

    fileprivate static func isPythonLibrary(_ file: String) -> Bool {
        packages.contains { file.contains($0) } || file.hasPrefix("<") || isStandardLibrary(file)
    }

    /// The directories that Python's installers put packages in.
    private static let packages = ["/site-packages/", "/dist-packages/"]

    /// Whether the file is in `lib/python3.N`.
    private static func isStandardLibrary(_ file: String) -> Bool {
        let parts = file.split(separator: "/")
        return zip(parts, parts.dropFirst()).contains { ($0 == "lib" || $0 == "lib64") && $1.hasPrefix("python3") }
    }
}
