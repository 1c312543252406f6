import Foundation
import ProjectFiles
import Testing

/// The Swift files of a module, by their paths in its folder.
///
/// Modules lie in the folders of their wings.
private func swiftFiles(of module: String) throws -> [String: Data] {
    let wings = try FileManager.default.contentsOfDirectory(
        at: ProjectFolder.url.appendingPathComponent("Sources"), includingPropertiesForKeys: nil)
    let folder = try #require(
        wings.map { $0.appendingPathComponent(module) }.first { FileManager.default.fileExists(atPath: $0.path) })
    let paths = try #require(FileManager.default.enumerator(atPath: folder.path)).compactMap { $0 as? String }
        .filter { $0.hasSuffix(".swift") }
    return try Dictionary(
        uniqueKeysWithValues: paths.map { ($0, try Data(contentsOf: folder.appendingPathComponent($0))) })
}

/// The Swift files of a module, and which of them use types that others declare.
///
/// It goes by the names of types at top level, so a name that two files declare, and members, do not count.
private struct Module {
    /// The files that each file uses.
    private var uses: [String: Set<String>] = [:]

    init(_ name: String) throws {
        var words: [String: Set<String>] = [:]
        var owners: [String: [String]] = [:]
        for (path, text) in try swiftFiles(of: name) {
            var scanner = Scanner(Array(text))
            scanner.scan()
            words[path] = scanner.used
            for type in scanner.declared { owners[type, default: []].append(path) }
        }
        for (path, used) in words {
            uses[path] = Set(used.compactMap { owners[$0] }.filter { $0.count == 1 }.map { $0[0] }).subtracting([path])
        }
    }

    /// The largest set of files that refer to one another in a circle.
    ///
    /// Two files are in the same set if each is reached from the other.
    var largestKnot: [String] {
        let reached = Dictionary(uniqueKeysWithValues: uses.keys.map { ($0, self.reached(from: $0)) })
        let knots = uses.keys.map { file in
            (reached[file] ?? []).filter { reached[$0]?.contains(file) == true }.sorted()
        }
        return knots.max { $0.count < $1.count } ?? []
    }

    private func reached(from file: String) -> Set<String> {
        var (seen, next) = (Set<String>(), [file])
        while let file = next.popLast() {
            for other in uses[file] ?? [] where seen.insert(other).inserted { next.append(other) }
        }
        return seen
    }
}

/// Finds the names of types in a file, outside comments and strings.
private struct Scanner {
    private static let kinds: Set<String> = ["struct", "class", "enum", "protocol", "actor", "typealias"]

    private(set) var used: Set<String> = []
    private(set) var declared: Set<String> = []
    private let bytes: [UInt8]
    private var place = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func scan() {
        var (depth, line) = (0, [String]())
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "/") where follows("//"): skip(to: "\n")
            case UInt8(ascii: "/") where follows("/*"): skip(to: "*/")
            case UInt8(ascii: "\"") where follows("\"\"\""):
                place += 3
                skip(to: "\"\"\"")
            case UInt8(ascii: "\""): skipString()
            case UInt8(ascii: "{"), UInt8(ascii: "("):
                depth += 1
                place += 1
            case UInt8(ascii: "}"), UInt8(ascii: ")"):
                depth -= 1
                place += 1
            case UInt8(ascii: "\n"):
                line = []
                place += 1
            case let byte where Self.isWord(byte):
                let isMember = place > 0 && bytes[place - 1] == UInt8(ascii: ".")
                let word = word()
                if depth == 0, let kind = line.last, Self.kinds.contains(kind), !line.contains("private") {
                    declared.insert(word)
                } else if !isMember, word.first?.isUppercase == true {
                    used.insert(word)
                }
                line.append(word)
            default: place += 1
            }
        }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private func follows(_ text: StaticString) -> Bool {
        let end = place + text.utf8CodeUnitCount
        guard end <= bytes.count else { return false }
        return text.withUTF8Buffer { bytes[place..<end].elementsEqual($0) }
    }

    private mutating func skip(to end: StaticString) {
        while place < bytes.count, !follows(end) { place += 1 }
        place += end.utf8CodeUnitCount
    }

    private mutating func skipString() {
        place += 1
        while place < bytes.count, bytes[place] != UInt8(ascii: "\""), bytes[place] != UInt8(ascii: "\n") {
            place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        place += 1
    }

    private mutating func word() -> String {
        let start = place
        while place < bytes.count, Self.isWord(bytes[place]) { place += 1 }
        return String(decoding: bytes[start..<place], as: UTF8.self)
    }
}

@Suite("Folders are layers")
struct LayersTests {
    @Test(
        "No more files than these refer to one another in a circle",
        arguments: [
            ("FaultlineTrace", 1), ("FaultlineRecorder", 3), ("FaultlineReader", 6), ("FaultlineProfile", 6),
            ("FaultlineFindings", 4), ("FaultlineRules", 5), ("FaultlineDocuments", 1), ("FaultlineReport", 8),
            ("FaultlineReplay", 2),
            ("FaultlineModel", 2), ("FaultlineStore", 47), ("FaultlineMigration", 5), ("faultline", 4),
        ])
    func knots(module: String, most: Int) throws {
        let knot = try Module(module).largestKnot
        #expect(knot.count <= most, "\(knot.joined(separator: ", "))")
    }

    /// The modules from the lowest to the highest, by wing.
    private static let wings: [(name: String, modules: [String])] = [
        ("Trace", ["FaultlineTrace"]), ("Recording", ["FaultlineRecorder"]),
        ("Store", ["FaultlineDigest", "FaultlineModel", "FaultlineStore", "FaultlineMigration", "FaultlineEntities"]),
        (
            "Profiler",
            [
                "FaultlineReader", "FaultlineProfile", "FaultlineFindings", "FaultlineRules", "FaultlineDocuments",
                "FaultlineReport", "FaultlineQuery",
            ]
        ),
        ("Trials", ["FaultlineCounting", "FaultlineReplay"]), ("Command", ["FaultlineWorkloads", "faultline"]),
        ("Products", ["FaultlineTesting", "FaultlineBenchmark"]),
    ]

    @Test(
        "A module imports only lower ones, and the profiler nothing of the store but digests",
        arguments: wings.flatMap(\.modules))
    func imports(module: String) throws {
        let order = Self.wings.flatMap(\.modules)
        let place = try #require(order.firstIndex(of: module))
        let wing = try #require(Self.wings.first { $0.modules.contains(module) })
        let store = Set(Self.wings[2].modules).subtracting(["FaultlineDigest"])
        let files = try swiftFiles(of: module)
        #expect(!files.isEmpty)
        let folder = ProjectFolder.url.appendingPathComponent("Sources/\(wing.name)/\(module)")
        #expect(FileManager.default.fileExists(atPath: folder.path), "\(module) is not in the folder of its wing")
        for (path, data) in files {
            let text = String(decoding: data, as: UTF8.self)
            for line in text.split(separator: "\n") where line.contains("import Faultline") {
                guard let name = line.split(separator: " ").last.map(String.init),
                    let other = order.firstIndex(of: name)
                else { continue }
                #expect(other < place, "\(path) imports \(name)")
                #expect(wing.name != "Profiler" || !store.contains(name), "\(path) imports \(name)")
            }
        }
    }
}
