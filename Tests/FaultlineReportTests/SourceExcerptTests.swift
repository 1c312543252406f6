import Testing

@testable import FaultlineReport

@Suite("Excerpts of source files")
struct SourceExcerptTests {
    private let text = (1...20).map { "line \($0)" }.joined(separator: "\n") + "\n"

    @Test func `Places close to each other share an excerpt`() {
        let excerpts = SourceExcerpt.around([5: .change, 12: .seen, 20: .seen], in: text, path: "A.swift")
        #expect(excerpts.map(\.first) == [2, 17])
        #expect(excerpts.map(\.lines.count) == [14, 4])
        #expect(excerpts.map { $0.marks.keys.sorted() } == [[5, 12], [20]])
    }

    @Test func `Lines that the file does not have are left out`() {
        #expect(SourceExcerpt.around([0: .change, -3: .seen, 22: .seen], in: text, path: "A.swift").isEmpty)
        #expect(SourceExcerpt.around([1: .change], in: "", path: "A.swift").map(\.lines) == [[""]])
    }

    @Test func `Long lines are cut, tabs become spaces, and control characters become visible`() {
        let source = "\tif x {\n" + String(repeating: "y", count: 200) + "\n\u{1B}[31m"
        let excerpt = SourceExcerpt.around([2: .change], in: source, path: "A.swift")[0]
        let lines = excerpt.text(Ink(isColoured: false), 80)
        #expect(lines[0] == "  A.swift")
        #expect(lines[1] == "       1      if x {")
        #expect(lines[2].count == 80 && lines[2].hasPrefix("  →    2  yyy") && lines[2].hasSuffix("y…"))
        #expect(!lines[3].contains("\u{1B}"))
    }
}
