import Foundation
import Testing

@testable import FaultlineReport

@Suite("Excerpts of source files")
struct SourceExcerptTests {
    private let lines = (1...20).map { "line \($0)"[...] } + [""]

    @Test func `Places close to each other share an excerpt`() {
        let excerpts = SourceExcerpt.around([5: .change, 12: .seen, 20: .seen], in: lines, path: "A.swift")
        #expect(excerpts.map(\.first) == [2, 17])
        #expect(excerpts.map(\.lines.count) == [14, 4])
        #expect(excerpts.map { $0.marks.keys.sorted() } == [[5, 12], [20]])
    }

    @Test func `Lines that the file does not have are left out`() {
        #expect(SourceExcerpt.around([0: .change, -3: .seen, 22: .seen], in: lines, path: "A.swift").isEmpty)
        #expect(SourceExcerpt.around([1: .change], in: [""], path: "A.swift").map(\.lines) == [[""]])
    }

    @Test func `Long lines are cut, tabs become spaces, and control characters become visible`() {
        let source = ["\tif x {", String(repeating: "y", count: 200)[...], "\u{1B}[31m"]
        let excerpt = SourceExcerpt.around([2: .change], in: source, path: "A.swift")[0]
        let lines = excerpt.text(Ink(isColoured: false), 80)
        #expect(lines[0] == "  A.swift")
        #expect(lines[1] == "       1      if x {")
        #expect(lines[2].count == 80 && lines[2].hasPrefix("  →    2  yyy") && lines[2].hasSuffix("y…"))
        #expect(!lines[3].contains("\u{1B}"))
    }

    @Test func `Only sources in the folder are read, whatever a trace names`() throws {
        let place = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        let folder = place.appendingPathComponent("project")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: place) }
        func write(_ text: String, _ name: String) throws -> String {
            let file = place.appendingPathComponent(name)
            try text.write(to: file, atomically: true, encoding: .utf8)
            return file.path
        }
        let own = try write("one\r\ntwo\n", "project/Own.swift")
        let others = [
            try write("secret", "Other.swift"), try write("secret", "project/key.pem"),
            try write("secret", "project/Makefile"),
            try write("sec\0ret", "project/Binary.swift"), "/etc/shadow", "/etc/passwd", folder.path,
        ]
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/Link.swift", withDestinationPath: place.path + "/Other.swift")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/Shadow.swift", withDestinationPath: "/etc/passwd")
        let locator = SourceLocator(root: folder.path)
        let found = try #require(locator.lines(of: "Module/Own.swift", known: []))
        #expect(found.path == own && found.lines == ["one", "two", ""])
        #expect(locator.lines(of: own, known: [])?.lines == ["one", "two", ""])
        for path in others + ["Module/Link.swift", "Module/Shadow.swift", "../Other.swift", "x/../../Other.swift"] {
            #expect(locator.lines(of: path, known: [path]) == nil, "\(path)")
        }
        #expect(SourceLocator(root: "/no/such/folder").lines(of: own, known: []) == nil)
    }
}
