/// A place in the source from which the store was called.
///
/// The compiler names a place `"Groceries/List.swift"` (`#fileID`), and DWARF names the same place by an absolute
/// path. The two compare equal, because equality uses only the file's last component and the line. Within one Swift
/// module that is exact, since two files of a module cannot share a name. Functions are compared only if there is no
/// line: DWARF names a closure or a specialisation where `#function` names the function around it.
public struct CallSite: Sendable, Codable, CustomStringConvertible {
    /// `"Groceries/List.swift"` or a path; empty if only the function is known.
    public var file: String
    /// The line; 0 if it is not known.
    public var line: Int
    /// The function as `#function` would name it: `"showList(page:)"`.
    ///
    /// For a closure, the function around it.
    public var function: String

    /// Creates a call site.
    public init(file: String, line: Int, function: String = "") {
        self.file = file
        self.line = line
        self.function = function
    }

    /// Creates the site that the compiler recorded.
    public init(_ site: SiteEntry) {
        self.init(file: site.file, line: site.line, function: site.function)
    }

    /// Creates the site that an address was resolved to.
    public init(_ location: FrameEntry.Location) {
        let name = FunctionName(symbol: location.symbol, words: location.function)
        self.init(file: location.file, line: location.line, function: name.short)
    }

    /// The file without its directories or module.
    public var fileName: Substring {
        // Every look-up by call site comes here, and searching for a byte is many times faster than for a character.
        guard let slash = file.utf8.lastIndex(of: UInt8(ascii: "/")) else { return file[...] }
        return file[file.utf8.index(after: slash)...]
    }

    /// Whether the site is an address in a program without symbols: `"App+0x1a2b"`.
    public var isAddress: Bool { file.isEmpty && line == 0 && function.contains("+0x") }

    /// Whether the line is in a macro expansion, whose file was never on disk.
    var isInMacro: Bool { fileName.hasPrefix("@__swiftmacro_") }

    /// `"List.swift:42"`; without a file, the function.
    public var description: String {
        if file.isEmpty { return function }
        return line == 0 ? String(fileName) : "\(fileName):\(line)"
    }
}

extension CallSite: Hashable {
    /// Compares lines and file names without their directories, and the functions of sites without a line.
    public static func == (left: CallSite, right: CallSite) -> Bool {
        // Most are the same string, and comparing is cheaper than cutting off the directories.
        left.line == right.line && (left.file == right.file || left.fileName == right.fileName)
            && (left.line != 0 || left.function == right.function)
    }

    /// Feeds the parts that `==` compares to a hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(fileName)
        hasher.combine(line)
        if line == 0 { hasher.combine(function) }
    }
}
