/// A place in the source from which the store was called.
///
/// The same place is known as `"Groceries/List.swift"` where the compiler named it (`#fileID`), and under an absolute
/// path where it comes from DWARF. Both are equal: what counts is the file's last component and the line. Within one
/// Swift module that is exact, since two files of a module cannot share a name. Functions do not count (DWARF names
/// a closure or a specialisation where `#function` names what surrounds it) unless there is no line.
public struct CallSite: Sendable, Codable, CustomStringConvertible {
    /// `"Groceries/List.swift"` or a path; empty: only the function is known.
    public var file: String
    /// The line; 0: not known.
    public var line: Int
    /// The function as `#function` would name it: `"showList(page:)"`.
    ///
    /// Of a closure, the function around it.
    public var function: String

    public init(file: String, line: Int, function: String = "") {
        self.file = file
        self.line = line
        self.function = function
    }

    /// A site that the compiler knew.
    public init(_ site: SiteEntry) {
        self.init(file: site.file, line: site.line, function: site.function)
    }

    /// A place that an address was resolved to.
    public init(_ location: FrameEntry.Location) {
        let name = FunctionName(symbol: location.symbol, words: location.function)
        self.init(file: location.file, line: location.line, function: name.short)
    }

    /// The file without its directories or module.
    public var fileName: Substring {
        // Every look-up by a call site comes here: a search for a byte is many times faster than one for a character.
        guard let slash = file.utf8.lastIndex(of: UInt8(ascii: "/")) else { return file[...] }
        return file[file.utf8.index(after: slash)...]
    }

    /// Whether it is an address in a program without symbols: `"App+0x1a2b"`.
    public var isAddress: Bool { file.isEmpty && line == 0 && function.contains("+0x") }

    /// Whether the line is one that a macro expanded to: its file was never on disk.
    var isInMacro: Bool { fileName.hasPrefix("@__swiftmacro_") }

    /// `"List.swift:42"`; without a file, the function.
    public var description: String {
        if file.isEmpty { return function }
        return line == 0 ? String(fileName) : "\(fileName):\(line)"
    }
}

extension CallSite: Hashable {
    public static func == (left: CallSite, right: CallSite) -> Bool {
        // Most are the same string, which is sooner compared than cut.
        left.line == right.line && (left.file == right.file || left.fileName == right.fileName)
            && (left.line != 0 || left.function == right.function)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(fileName)
        hasher.combine(line)
        if line == 0 { hasher.combine(function) }
    }
}
