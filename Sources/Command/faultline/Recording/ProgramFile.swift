import Foundation

/// A program's file, examined for obstacles to recording its SQLite calls.
struct ProgramFile {
    let path: String
    let contents: Data
    /// The commands that lead to the program: the one that was named, and the interpreters of scripts.
    private(set) var commands: [String] = []

    /// - Returns: `nil` if the file cannot be read.
    init?(path: String) {
        guard let contents = try? Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped) else {
            return nil
        }
        (self.path, self.contents) = (path, contents)
    }

    /// Finds the program of a command as a shell would, and that of a script's interpreter.
    ///
    /// - Returns: `nil` if there is no such file or it cannot be read.
    init?(command: String) {
        var candidate = command, commands: [String] = []
        // An interpreter can be a script itself, as a version manager's is, but not in a circle.
        for _ in 0..<4 {
            guard let path = Self.locate(candidate), let file = ProgramFile(path: path) else { return nil }
            commands.append(candidate)
            guard let interpreter = Self.interpreter(file.contents) else {
                self = file
                self.commands = commands
                return
            }
            candidate = interpreter
        }
        return nil
    }

    /// The path of a command's program, as a shell would find it.
    static func locate(_ command: String) -> String? {
        let directories = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let paths = command.contains("/") ? [command] : directories.map { "\($0)/\(command)" }
        return paths.first { path in
            var status = stat()
            return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
        }
    }

    /// The program that a script names in its first line; for `/usr/bin/env`, the one that `env` runs.
    private static func interpreter(_ contents: Data) -> String? {
        guard contents.starts(with: Array("#!".utf8)) else { return nil }
        let line = contents.dropFirst(2).prefix(256).prefix { $0 != UInt8(ascii: "\n") }
        let words = String(decoding: line, as: UTF8.self).split(separator: " ").map(String.init)
        guard let first = words.first else { return nil }
        guard first.hasSuffix("/env") else { return first }
        return words.dropFirst().first { !$0.hasPrefix("-") && !$0.contains("=") }
    }

    // MARK: - Obstacles

    /// Whether the program runs with more rights than its user's, so that the loader preloads nothing.
    var isPrivileged: Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        return status.st_mode & S_ISUID != 0 && status.st_uid != geteuid()
            || status.st_mode & S_ISGID != 0 && status.st_gid != getegid()
    }

    /// Whether the program is an ELF file that no loader loads, so that nothing can be preloaded.
    var isStatic: Bool {
        let segments = segments
        return !segments.isEmpty && !segments.contains { $0.type == 3 }
    }

    /// A part of an ELF file that is loaded, or describes how: of type `PT_LOAD` (1), `PT_DYNAMIC` (2) or `PT_INTERP` (3).
    struct Segment {
        var type, offset, address, size: UInt64
    }

    /// Whether it is a 64-bit little-endian ELF file, see elf(5).
    var isELF: Bool { contents.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]) }

    /// The program headers of an ELF file; empty for any other file.
    var segments: [Segment] {
        guard isELF, let table = number(at: 32, bytes: 8),
            let size = number(at: 54, bytes: 2), let count = number(at: 56, bytes: 2)
        else { return [] }
        return (0..<count).compactMap { index in
            let header = table &+ index &* size
            guard let type = number(at: header, bytes: 4), let offset = number(at: header &+ 8, bytes: 8),
                let address = number(at: header &+ 16, bytes: 8), let size = number(at: header &+ 32, bytes: 8)
            else { return nil }
            return Segment(type: type, offset: offset, address: address, size: size)
        }
    }

    func number(at offset: UInt64, bytes: Int) -> UInt64? {
        guard offset <= UInt64(contents.count), contents.count - Int(offset) >= bytes else { return nil }
        let start = contents.startIndex + Int(offset)
        return contents[start..<start + bytes].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The date of the SQLite version that the file contains without exporting its functions, such as `"2024-01-15"`; `nil`
    /// if it contains none.
    ///
    /// Calls of such a copy cannot be seen from outside.
    ///
    /// - Complexity: O(bytes of the file).
    var hiddenSQLite: Substring? {
        exportsSQLite || isExtension ? nil : ownSQLite
    }

    /// Whether it is an extension for SQLite, which uses the functions of the copy that loads it: it exports
    /// `sqlite3_…_init` (<https://sqlite.org/loadext.html>).
    private var isExtension: Bool {
        linkedNames.split(separator: 0).contains { name in
            name.starts(with: Data("sqlite3_".utf8)) && name.suffix(5) == Data("_init".utf8)
        }
    }

    /// Whether the file defines SQLite's functions for others, or calls those of a library.
    var exportsSQLite: Bool { linkedNames.firstRange(of: Data("\0sqlite3_step\0".utf8)) != nil }

    /// The entries that tell the loader how to link the file, see elf(5).
    var dynamicEntries: [(tag: UInt64, value: UInt64)] {
        guard let dynamic = segments.first(where: { $0.type == 2 }) else { return [] }
        var entries: [(tag: UInt64, value: UInt64)] = []
        for entry in 0..<dynamic.size / 16 {
            guard let tag = number(at: dynamic.offset &+ 16 * entry, bytes: 8), tag != 0,
                let value = number(at: dynamic.offset &+ 16 * entry &+ 8, bytes: 8)
            else { break }
            entries.append((tag, value))
        }
        return entries
    }

    /// The names that the loader links by, each with a zero before and after it: `DT_STRTAB`.
    var linkedNames: Data {
        let entries = dynamicEntries
        let start = entries.last { $0.tag == 5 }?.value ?? 0, size = entries.last { $0.tag == 10 }?.value ?? 0
        // The table is named by its address, and loaded with one of the segments.
        guard
            let segment = segments.first(where: { $0.type == 1 && start >= $0.address && start - $0.address < $0.size })
        else { return Data() }
        let offset = start - segment.address &+ segment.offset
        guard offset < UInt64(contents.count) else { return Data() }
        let first = contents.startIndex + Int(offset)
        return contents[first..<min(contents.endIndex, first + Int(min(size, UInt64(contents.count))))]
    }

    /// The date of the SQLite version that the file contains.
    ///
    /// Every build of SQLite has the identifier of its sources: the time of the check-in and its hash
    /// (<https://sqlite.org/c3ref/c_source_id.html>).
    var ownSQLite: Substring? {
        // "2024-01-15 17:01:13 " and at least 60 digits of a hash
        let pattern = Array("dddd-dd-dd dd:dd:dd ".utf8)
        return contents.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) -> Substring? in
            let length = pattern.count + 60
            guard bytes.count >= length else { return nil }
            var position = 0
            while position <= bytes.count - length {
                // The century is compared first, because it rules out nearly every place.
                guard bytes[position] == UInt8(ascii: "2"), bytes[position + 1] == UInt8(ascii: "0"),
                    bytes[position + 4] == UInt8(ascii: "-"), bytes[position + 10] == UInt8(ascii: " "),
                    pattern.indices.allSatisfy({ Self.fits(bytes[position + $0], pattern[$0]) }),
                    (pattern.count..<length).allSatisfy({ Self.isHexDigit(bytes[position + $0]) })
                else {
                    position += 1
                    continue
                }
                return String(decoding: bytes[position..<position + 10], as: UTF8.self)[...]
            }
            return nil
        }
    }

    private static func fits(_ byte: UInt8, _ pattern: UInt8) -> Bool {
        pattern == UInt8(ascii: "d") ? byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") : byte == pattern
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") || byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "f")
    }
}

/// A program's libraries, symbols and stacks, as its file describes them.
extension ProgramFile {
    // MARK: - Libraries

    /// The files of the libraries that the program needs, and those that these need, as far as they are found.
    ///
    /// The loader's cache is not read: libraries are looked for in the directories that the files name and in the usual ones.
    var libraries: [ProgramFile] {
        var found: [ProgramFile] = []
        var known: Set<String> = []
        var waiting = [self]
        while let file = waiting.popLast() {
            let directories = file.searchPath + Self.directories
            for name in file.neededNames where known.insert(name).inserted {
                let paths = directories.map { "\($0)/\(name)" }
                guard let path = paths.first(where: { access($0, R_OK) == 0 }), let library = ProgramFile(path: path)
                else { continue }
                found.append(library)
                waiting.append(library)
            }
        }
        return found
    }

    private static let directories: [String] = {
        let named = (ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"] ?? "").split(separator: ":").map(
            String.init)
        let triples = ["x86_64-linux-gnu", "aarch64-linux-gnu"]
        let usual = ["/usr/local/lib", "/lib64", "/usr/lib64", "/lib", "/usr/lib"]
        return named + triples.flatMap { ["/lib/\($0)", "/usr/lib/\($0)"] } + usual
    }()

    /// The runtime of a sanitizer that looks for leaks, such as `libasan.so.8`, if the file needs one.
    var leakDetector: String? { neededNames.first { $0.hasPrefix("libasan.so") || $0.hasPrefix("liblsan.so") } }

    /// The names of the libraries that the file itself needs: `DT_NEEDED`.
    private var neededNames: [String] { names(tag: 1) }

    /// The directories in which the file looks for its libraries: `DT_RUNPATH` and `DT_RPATH`.
    private var searchPath: [String] {
        let own = (path as NSString).deletingLastPathComponent
        return (names(tag: 29) + names(tag: 15)).flatMap { $0.split(separator: ":") }.map {
            String($0).replacing("$ORIGIN", with: own).replacing("${ORIGIN}", with: own)
        }
    }

    private func names(tag: UInt64) -> [String] {
        let names = linkedNames
        return dynamicEntries.filter { $0.tag == tag && $0.value < UInt64(names.count) }.map { entry in
            let name = names[(names.startIndex + Int(entry.value))...].prefix { $0 != 0 }
            return String(decoding: name, as: UTF8.self)
        }
    }

    // MARK: - Symbols

    /// A part of an ELF file as linkers and debuggers see it.
    private struct Section {
        var name, type, address, offset, size: UInt64
    }

    private var sections: [Section] {
        guard isELF, let table = number(at: 40, bytes: 8),
            let size = number(at: 58, bytes: 2), let count = number(at: 60, bytes: 2)
        else { return [] }
        return (0..<count).compactMap { index in
            let header = table &+ index &* size
            guard let name = number(at: header, bytes: 4), let type = number(at: header &+ 4, bytes: 4),
                let address = number(at: header &+ 16, bytes: 8), let offset = number(at: header &+ 24, bytes: 8),
                let length = number(at: header &+ 32, bytes: 8)
            else { return nil }
            return Section(name: name, type: type, address: address, offset: offset, size: length)
        }
    }

    /// Whether the file has the line numbers of its code, as DWARF.
    var hasLines: Bool { hasSection(".debug_line") }

    /// Whether the file has the names of its own functions, and not only of those that it exports.
    var hasFunctionNames: Bool { sections.contains { $0.type == 2 } }

    private func hasSection(_ name: String) -> Bool {
        let sections = sections
        guard let index = number(at: 62, bytes: 2), index < sections.count else { return false }
        let names = sections[Int(index)]
        return sections.contains { section in
            let bytes = (0...UInt64(name.utf8.count)).map { number(at: names.offset &+ section.name &+ $0, bytes: 1) }
            return bytes == name.utf8.map { UInt64($0) } + [0]
        }
    }

    // MARK: - Frame pointers

    /// How many of the program's functions call others through a frame pointer, of those that are long enough to need one.
    ///
    /// Known from the first instructions of the functions that the file names, on x86-64: `push %rbp; mov %rsp, %rbp`.
    ///
    /// - Returns: `nil` if the file names no functions, or is for another processor.
    var framePointers: (with: Int, of: Int)? {
        guard number(at: 18, bytes: 2) == 62, let table = sections.first(where: { $0.type == 2 }) else { return nil }
        let code = sections.filter { $0.type == 1 }
        var (with, all) = (0, 0)
        for entry in 0..<min(table.size / 24, Self.mostFunctions) {
            let symbol = table.offset &+ 24 * entry
            guard let kind = number(at: symbol &+ 4, bytes: 1), kind & 0xF == 2,
                let address = number(at: symbol &+ 8, bytes: 8), let size = number(at: symbol &+ 16, bytes: 8),
                size >= Self.longFunction,
                let section = code.first(where: { address >= $0.address && address - $0.address < $0.size })
            else { continue }
            all += 1
            let start = address - section.address &+ section.offset
            let bytes = (0..<Self.prologue).compactMap { number(at: start &+ $0, bytes: 1) }
            let isWith = (0..<max(0, bytes.count - 3)).contains { position in
                bytes[position] == 0x55 && bytes[(position + 1)...].starts(with: [0x48, 0x89, 0xE5])
            }
            if isWith { with += 1 }
        }
        return all == 0 ? nil : (with, all)
    }

    private static let mostFunctions: UInt64 = 20_000
    /// The bytes of a function that is worth looking at: shorter ones often call nothing.
    private static let longFunction: UInt64 = 64
    /// The bytes in which a function sets up its frame.
    private static let prologue: UInt64 = 24
}

extension FileManager {
    /// Returns the path of this program's file, whatever name it was started by.
    func pathOfThisProgram() throws -> String {
        try destinationOfSymbolicLink(atPath: "/proc/self/exe")
    }
}
