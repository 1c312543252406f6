import FaultlineReader
import FaultlineTrace
import Testing

@Suite("The fetch that a fault in a log is attributed to")
struct FaultOriginTests {
    private func fetch(_ entity: String, _ columns: String, rows: Int) -> [String] {
        let list = columns.isEmpty ? "" : ", t0.Z_OPT, \(columns)"
        return [
            "sql: SELECT 0, t0.Z_PK\(list) FROM Z\(entity) t0",
            "annotation: sql connection fetch time: 0.0001s",
            "annotation: total fetch execution time: 0.0002s for \(rows) rows.",
        ]
    }

    private func faults(_ entity: String, _ keys: some Sequence<Int>) -> [String] {
        keys.flatMap { key in
            [
                "sql: SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZNAME FROM Z\(entity.uppercased()) t0 WHERE  t0.Z_PK = ? ",
                "annotation: sql connection fetch time: 0.0001s",
                "annotation: total fetch execution time: 0.0002s for 1 rows.",
                "annotation: fault fulfilled from database for : 0xd0 <x-coredata://A/\(entity)/p\(key)>",
            ]
        }
    }

    private func toMany(_ owner: String, _ name: String, _ table: String, _ keys: some Sequence<Int>, rows: Int)
        -> [String]
    {
        keys.flatMap { key in
            [
                "sql: SELECT 0, t0.Z_PK FROM Z\(table) t0 WHERE  t0.Z\(owner.uppercased()) = ? ",
                "annotation: sql connection fetch time: 0.0001s",
                "annotation: total fetch execution time: 0.0002s for \(rows) rows.",
                "annotation: to-many relationship fault \"\(name)\" for objectID 0xa7 <x-coredata://A/\(owner)/p\(key)> "
                    + "fulfilled from database.  Got \(rows) rows",
            ]
        }
    }

    @Test("It has a column named after the objects' entity, even if other fetches followed")
    func column() throws {
        let books = fetch("BOOK", "t0.ZTITLE, t0.ZAUTHOR", rows: 100)
        let tags = fetch("TAG", "t0.ZLABEL, t0.ZCOLOR", rows: 500)
        #expect(try LogText(lines: books + tags + faults("Author", 1...100)).origins == ["Book": 100])
        #expect(try LogText(lines: tags + books + faults("Author", 1...100)).origins == ["Book": 100])
    }

    @Test("It has as many rows as there are objects, if no column decides")
    func rows() throws {
        let books = fetch("BOOK", "t0.ZTITLE, t0.ZWRITER", rows: 100)
        let tags = fetch("TAG", "t0.ZLABEL", rows: 12)
        #expect(try LogText(lines: books + tags + faults("Person", 1...100)).origins == ["Book": 100])
        // The latest fetch has enough rows for these objects.
        #expect(try LogText(lines: books + tags + faults("Person", 1...12)).origins == ["Tag": 12])
        // An object that goes to the store again counts once.
        #expect(try LogText(lines: books + tags + faults("Person", (1...12).map { $0 % 6 })).origins == ["Tag": 12])
    }

    @Test("There is none if no fetch returned enough objects")
    func none() throws {
        let tags = fetch("TAG", "t0.ZLABEL", rows: 12)
        #expect(try LogText(lines: tags + faults("Person", 1...100)).origins == ["none": 100])
        #expect(try LogText(lines: faults("Person", 1...5)).origins == ["none": 5])
        // A later fetch cannot be the origin.
        #expect(try LogText(lines: faults("Person", 1...5) + tags).origins == ["none": 5])
    }

    @Test("Its rows are the keys of the objects, or the objects themselves")
    func ownRows() throws {
        let keys = fetch("BOOK", "", rows: 40)
        let lists = fetch("LIST", "t0.ZTITLE", rows: 50)
        #expect(try LogText(lines: keys + lists + faults("Book", 1...40)).origins == ["Book": 40])
        let whole = fetch("BOOK", "t0.ZTITLE", rows: 40)
        #expect(try LogText(lines: whole + lists + faults("Book", 1...40)).origins == ["Book": 40])
        // The column of the list is more likely than rows that the row cache lost.
        let tables = fetch("LIST", "t0.ZBOOK", rows: 50)
        #expect(try LogText(lines: whole + tables + faults("Book", 1...40)).origins == ["List": 40])
    }

    @Test("Several fetches of one table share the objects if none has all of them")
    func shared() throws {
        let books = fetch("BOOK", "t0.ZTITLE, t0.ZAUTHOR", rows: 10)
        #expect(try LogText(lines: books + books + books + faults("Author", 1...30)).faultsOfFetches == [10, 10, 10])
        // Each fetch gets the faults before the next fetch.
        let walked = books + faults("Author", 1...10) + books + faults("Author", 1...10)
        #expect(try LogText(lines: walked).faultsOfFetches == [10, 10])
    }

    @Test("A fetch of one row in a loop gets its own object")
    func loop() throws {
        let book = fetch("BOOK", "t0.ZTITLE, t0.ZAUTHOR", rows: 1)
        let log = (1...5).flatMap { book + faults("Author", [$0]) }
        #expect(try LogText(lines: log).faultsOfFetches == [1, 1, 1, 1, 1])
    }

    @Test("Members of a to-many relationship are attributed to the fetch of their owners")
    func members() throws {
        let books = fetch("BOOK", "t0.ZTITLE", rows: 10)
        let shelves = fetch("SHELF", "t0.ZLABEL", rows: 40)
        let walk = (1...10).flatMap { book in
            toMany("Book", "pages", "PAGE", [book], rows: 3) + faults("Page", book * 10..<book * 10 + 3)
        }
        #expect(try LogText(lines: books + shelves + walk).origins == ["Book": 40])
        #expect(
            try LogText(lines: books + shelves + toMany("Shelf", "books", "BOOK", 1...40, rows: 1)).origins == [
                "Shelf": 40
            ])
    }

    @Test("Batches of a fetch share its columns")
    func batches() throws {
        let list = fetch("BOOK", "", rows: 40)
        let batches = (0..<2).flatMap { _ in
            [
                "sql: SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZTITLE, t0.ZAUTHOR FROM ZBOOK t0 WHERE  t0.Z_PK IN (SELECT * FROM "
                    + "_Z_intarray0)   LIMIT 20",
                "annotation: total fetch execution time: 0.0004s for 20 rows.",
            ]
        }
        let tags = fetch("TAG", "t0.ZLABEL", rows: 500)
        #expect(try LogText(lines: list + batches + tags + faults("Author", 1...40)).origins == ["Book": 40])
    }

    @Test("It is on the same thread, or on another one if that thread has no fetch")
    func threads() throws {
        let mark = { (thread: String, lines: [String]) in
            lines.map { "|2014-07-30 11:45:15.647 App[5:\(thread)] CoreData: \($0)" }
        }
        let books = fetch("BOOK", "t0.ZTITLE, t0.ZAUTHOR", rows: 50)
        let both = mark("a1", books) + mark("b2", books) + mark("a1", faults("Author", 1...50))
        #expect(try LogText(lines: both).faultsOfFetches == [50, 0])
        let other = mark("a1", books) + mark("b2", faults("Author", 1...50))
        #expect(try LogText(lines: other).faultsOfFetches == [50])
    }
}
