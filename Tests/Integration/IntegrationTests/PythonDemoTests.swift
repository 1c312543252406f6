import Foundation
import TestFolders
import Testing

@Suite(
    "faultline demo python",
    .enabled(if: PythonPackages.has("django"), "needs python3-django: apt-get install python3-django"))
struct PythonDemoTests {
    @Test("finds the shop's five flaws at their lines, and nothing once they are repaired")
    func shop() throws {
        let directory = try TemporaryDirectory()
        let output = directory.path("demo")
        let result = try BuiltCommand.run(["demo", "python", "-o", output])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.hasPrefix("The flaws: books that look up their authors one by one"))
        #expect(result.output.contains("\nThe shop in Django without flaws: 20000 books, 500 authors\n"))
        #expect(result.output.contains("  round trips "))

        let script = URL(fileURLWithPath: output + "/flawed.py")
        let flawed = try ReportDocument(of: output + "/flawed.json").findings.filter { $0.severity != "note" }
        func line(_ text: String) throws -> Int { try SourceLine.find(text, in: script) }
        let found = Dictionary(flawed.map { ($0.change?.line ?? 0, $0) }) { first, _ in first }
        #expect(flawed.count == 5 && found.count == 5)
        #expect(found[try line("for book in books:")]?.code == [#"Book.objects.select_related("author")"#])
        #expect(
            found[try line("for author in authors:")]?.title
                == "Add prefetch_related for shop_book to the query of shop_author")
        #expect(
            found[try line("Book.objects.filter(isbn=")]?.code == ["CREATE INDEX shop_book_isbn ON shop_book(isbn)"])
        #expect(
            found[try line("            count = Book")]?.title
                == "Read shop_book once instead of 100 times, and keep the result")
        #expect(found[try line("visit.save()")]?.rule == "R28")
        let improved = try ReportDocument(of: output + "/improved.json").findings
        #expect(improved.filter { $0.severity != "note" }.isEmpty)
    }
}
