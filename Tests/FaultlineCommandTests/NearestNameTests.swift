import Testing

@testable import faultline

@Suite("The name that a mistyped word stands for")
struct NearestNameTests {
    @Test(
        arguments: [
            ("reprot", "report"), ("REPORT", "report"), ("vrify", "verify"), ("xplain", "explain"), ("tre", "tree"),
        ])
    func `is the most similar one, whatever its case`(word: String, name: String) {
        #expect(NearestName.of(word, in: ["tree", "report", "verify", "explain"]) == name)
    }

    @Test func `is none if no name is similar`() {
        #expect(NearestName.of("dance", in: ["tree", "report"]) == nil)
        #expect(NearestName.of("", in: ["a", "tree"]) == nil && NearestName.of("x", in: ["a", ""]) == nil)
        #expect(NearestName.of("tree", in: []) == nil)
    }

    @Test func `is the first of equally similar ones`() {
        #expect(NearestName.of("Itm", in: ["Item", "Itom"]) == "Item")
    }

    @Test func `is found quickly for a very long word`() {
        let long = String(repeating: "x", count: 1_000_000)
        #expect(NearestName.of(long, in: ["report", long]) == long)
    }
}
