import Foundation

/// What a program's file says about its libraries, its symbols and its stacks.
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
