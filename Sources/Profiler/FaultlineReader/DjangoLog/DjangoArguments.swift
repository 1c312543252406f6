/// The end of a record: the arguments as Python prints them, and the alias of the database.
///
///     ; args=(1, "it's; alias=x"); alias=default
///
/// Neither is kept. Older versions of Django do not print the alias.
struct DjangoArguments {
    /// The maximum number of lines; an object of the program can print several.
    private static let maximumLines = 100
    private static let alias = Array("; alias=".utf8)
    /// The beginning of the arguments, after the semicolon.
    static let beginning = Array(" args=".utf8)

    private var depth = 0
    private var lines = 0

    /// Whether a text contains the beginning of arguments and, if asked for, an alias after it.
    static func areIn(_ text: UnsafeRawBufferPointer, withAlias: Bool = false) -> Bool {
        var rest = text[...]
        var hasBeginning = false
        while let mark = rest.firstIndex(of: UInt8(ascii: ";")) {
            rest = rest[mark...]
            if hasBeginning, rest.starts(with: alias) { return true }
            rest = rest.dropFirst()
            hasBeginning = hasBeginning || rest.starts(with: beginning)
            if hasBeginning, !withAlias { return true }
        }
        return false
    }

    /// Reads a line; the first one begins with the arguments.
    mutating func take(_ line: Slice<UnsafeRawBufferPointer>) -> DjangoRecord.Progress {
        lines += 1
        var line = line
        while let byte = line.last, byte.isSpace { line.removeLast() }
        var position = line.startIndex
        while position < line.endIndex {
            switch line[position] {
            case UInt8(ascii: "'"), UInt8(ascii: "\""):
                guard let end = Self.endOfString(at: position, in: line) else { return .broken }
                position = end
                continue
            case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            case UInt8(ascii: ";") where depth == 0 && line[position...].starts(with: Self.alias):
                let name = line[(position + Self.alias.count)...]
                let isName = name.allSatisfy { SQLLexer.continuesWord($0) || "-.".utf8.contains($0) }
                return isName && !name.isEmpty ? .whole : .broken
            default: break
            }
            position += 1
        }
        if depth > 0 { return lines < Self.maximumLines ? .open : .broken }
        let isOld = line.last.map { ")]}".utf8.contains($0) } == true || line.elementsEqual("None".utf8)
        return depth == 0 && lines == 1 && isOld ? .whole : .broken
    }

    private static func endOfString(at start: Int, in line: Slice<UnsafeRawBufferPointer>) -> Int? {
        var position = start + 1
        while position < line.endIndex {
            if line[position] == line[start] { return position + 1 }
            position += line[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        return nil
    }
}
