import FaultlineTrace
import Testing

@Suite("Advice for a line")
struct FetchAdviceTests {
    @Test func `A line and a change are parsed and printed`() throws {
        let advice = try FetchAdvice("List.swift:42  batch=15   ids")
        #expect(advice == FetchAdvice(file: "List.swift", line: 42, change: try FetchChange("batch=15 ids")))
        #expect(advice.description == "List.swift:42 batch=15 ids")
        #expect(try FetchAdvice("App/My:List.swift:7 limit=1").file == "App/My:List.swift")
    }

    @Test(arguments: [
        ("", "does not begin with a line such as List.swift:42"),
        ("List.swift", "does not begin with a line such as List.swift:42"),
        ("List.swift: batch=1", "does not begin with a line such as List.swift:42"),
        ("List.swift:0 batch=1", "does not begin with a line such as List.swift:42"),
        (":42 batch=1", "does not begin with a line such as List.swift:42"),
        ("List.swift:x batch=1", "does not begin with a line such as List.swift:42"),
        ("List.swift:42", "contains no change, such as batch=15 or prefetch=location"),
        ("List.swift:42 size=1", #"has "size=1", which is not one of batch=, limit=, prefetch=, properties= or ids"#),
    ])
    func `Invalid advice throws an error that names the problem`(_ text: String, _ problem: String) {
        #expect { try FetchAdvice(text) } throws: { ($0 as? FetchChange.Problem)?.description == problem }
    }

    @Test func `Advice applies to its line in that file, in any directory`() throws {
        let advice = try FetchAdvice("List.swift:42 ids")
        #expect(advice.isFor("App/List.swift", line: 42) && advice.isFor("List.swift", line: 42))
        #expect(advice.isFor("/home/me/App/Sources/List.swift", line: 42))
        #expect(!advice.isFor("App/List.swift", line: 43) && !advice.isFor("App/MyList.swift", line: 42))
        let other = try FetchAdvice("App/List.swift:42 ids")
        #expect(other.isFor("App/List.swift", line: 42) && !other.isFor("Kit/List.swift", line: 42))
    }
}
