import FaultlineTrace
import Testing
import TraceFixtures

@testable import FaultlineFindings
@testable import FaultlineProfile
@testable import FaultlineRules

@Suite("R27: a statement in a loop")
struct StatementLoopRuleTests {
    /// A program that lists books and looks up their authors.
    private struct Shop {
        var trace = TraceBuilder()
        private let listStack: DictionaryID
        private let lookUpStack: DictionaryID
        var list: String
        var lookUp: String

        static let list = "SELECT id, title, author_id FROM book ORDER BY title"
        static let lookUp = "SELECT name FROM author WHERE id = ?"

        init(
            list: String = Shop.list, lookUp: String = Shop.lookUp, library: String? = nil, function: String = "read",
            hasProgram: Bool = true
        ) {
            (self.list, self.lookUp) = (list, lookUp)
            listStack = trace.stack(10)
            guard let library else {
                lookUpStack = trace.stack(20)
                return
            }
            let frames = ["/venv/lib/python3.11/site-packages/\(library)", "/shop/views.py"].prefix(hasProgram ? 2 : 1)
                .enumerated().map { index, file in
                    FrameEntry(
                        address: "0x800000000000000\(index)", module: "Python",
                        locations: [.init(symbol: function, function: function, file: file, line: 31)])
                }
            for frame in frames { _ = trace.define(.frame(frame)) }
            lookUpStack = trace.define(.stack(StackEntry(frames: frames.map(\.address))))
        }

        /// Runs a statement that is defined.
        mutating func run(_ statement: DictionaryID) {
            var fields = TraceEvent.Statement()
            (fields.statement, fields.type, fields.rows) = (statement, .read, 1)
            trace.event(.sql(fields), duration: 2000, stack: lookUpStack)
            trace.now += 1000
        }

        @discardableResult
        mutating func run(
            _ sql: String, rows: UInt32 = 1, duration: UInt64 = 2000, pause: UInt64 = 1000, parent: EventID = 0,
            start: UInt64? = nil
        ) -> EventID {
            var statement = TraceEvent.Statement()
            statement.statement = trace.define(.statement(StatementEntry(sql: sql)))
            (statement.type, statement.rows) = (.read, rows)
            let now = trace.now
            if let start { trace.now = start }
            let id = trace.event(
                .sql(statement), duration: duration, parent: parent, stack: sql == list ? listStack : lookUpStack,
                advancing: start == nil)
            trace.now = max(trace.now, now) + pause
            return id
        }

        /// - Parameter writes: The statements that follow the look-ups in turn.
        mutating func lookUp(
            _ times: Int, rows: UInt32 = 1, pause: UInt64 = 1000, parent: EventID = 0, writing writes: [String] = []
        ) {
            let statement = trace.define(.statement(StatementEntry(sql: lookUp)))
            let writing = writes.map { trace.define(.statement(StatementEntry(sql: $0))) }
            for number in 0..<times {
                var fields = TraceEvent.Statement()
                (fields.statement, fields.type, fields.rows) = (statement, .read, rows)
                trace.event(.sql(fields), duration: 2000, parent: parent, stack: lookUpStack)
                trace.now += pause
                guard !writing.isEmpty else { continue }
                (fields.statement, fields.type, fields.rows) = (writing[number % writing.count], .write, 1)
                trace.event(.sql(fields), duration: 2000, parent: parent, stack: listStack)
                trace.now += pause
            }
        }

        var findings: [Finding] {
            Analysis(Profile(trace.closed()), rules: [StatementLoopRule()]).findings
        }
    }

    @Test func `Look-ups for each row of a list are reported at the list's line`() throws {
        var shop = Shop()
        shop.run(shop.list, rows: 50)
        shop.lookUp(50)
        let finding = try #require(shop.findings.first)
        #expect(shop.findings.count == 1)
        #expect(finding.severity == .warning && finding.confidence == .high)
        #expect(finding.title.text == "Read author with one statement instead of 50")
        #expect(finding.change?.description == "Scroll.swift:10")
        #expect(finding.seenAt.map(\.site?.description) == ["Scroll.swift:20"])
        #expect(
            finding.explanation.map(\.text) == [
                "50 runs of SELECT name FROM author WHERE id = ?, one for each row of SELECT … FROM book ORDER BY title at "
                    + "Scroll.swift:10: 100 µs in SQLite, and 49.0 µs between them."
            ])
        #expect(
            finding.code == ["SELECT book.*, author.name FROM book JOIN author ON author.id = book.author_id …"])
        // Half of the time in SQLite, and 1 µs of the program's for each run.
        #expect(finding.saving.trips == 49 && finding.saving.time.median == 98_000)
        #expect(finding.saving.time.low == 49_000 && finding.saving.time.high == 147_000)
    }

    @Test func `A list that is open during the loop is its origin, although it ends later`() throws {
        var shop = Shop()
        let start = shop.trace.now
        shop.trace.now += 3000
        shop.lookUp(20)
        shop.run(shop.list, rows: 200, start: start)
        let finding = try #require(shop.findings.first)
        #expect(finding.change?.description == "Scroll.swift:10")
        #expect(
            finding.explanation.first?.text.contains(
                "20 runs of SELECT name FROM author WHERE id = ?, for 20 of the 200 rows of ") == true)
    }

    @Test func `A list with fewer rows than the loop has runs, or with far more, is not its origin`() throws {
        for rows in [49, 251] as [UInt32] {
            var shop = Shop()
            shop.run(shop.list, rows: rows)
            shop.lookUp(50)
            let finding = try #require(shop.findings.first)
            #expect(finding.change?.description == "Scroll.swift:20")
            #expect(finding.confidence.level == .medium)
            #expect(finding.code == ["SELECT id, name FROM author WHERE id IN (?, ?, …)"])
            #expect(finding.codeLanguage == "sql")
        }
    }

    @Test func `A pause splits a loop, and its list still counts once`() throws {
        var shop = Shop()
        shop.run(shop.list, rows: 50)
        shop.lookUp(25)
        shop.trace.now += 60_000_000
        shop.lookUp(25)
        #expect(
            shop.findings.first?.explanation.first?.text.contains(
                "50 runs of SELECT name FROM author WHERE id = ? in 2 loops of about 25, one for each row of") == true)
    }

    @Test func `Columns such as authorId name rows too`() throws {
        var shop = Shop(list: "SELECT id, authorId FROM book")
        shop.run(shop.list, rows: 50)
        shop.lookUp(50)
        #expect(
            shop.findings.first?.code
                == ["SELECT book.*, author.name FROM book JOIN author ON author.id = book.authorId"])
    }

    @Test func `SQLite's own tables are ignored, and a driver's line gets a reservation`() throws {
        var shop = Shop(lookUp: "SELECT name FROM sqlite_master WHERE type = ?")
        shop.lookUp(50)
        #expect(shop.findings.isEmpty)
        var driver = Shop(library: "aiosqlite/core.py", hasProgram: false)
        driver.lookUp(50)
        let finding = try #require(driver.findings.first)
        #expect(
            finding.reservations.map(\.text).suffix(1) == [
                """
                The line is in an installed package: no other code of the program was on the stack, as in an installed \
                command or in a thread of a library.
                """
            ])
    }

    @Test func `A statement without parameters need run only once`() throws {
        var shop = Shop(lookUp: "SELECT name FROM author ORDER BY name")
        shop.lookUp(12)
        let finding = try #require(shop.findings.first)
        #expect(finding.title.text == "Read author once instead of 12 times")
        #expect(finding.code.isEmpty && finding.confidence.level == .low)
        var constant = Shop(lookUp: "SELECT ?")
        constant.lookUp(12)
        #expect(constant.findings.isEmpty)
    }

    @Test(
        "Code is printed only if it returns the same rows",
        arguments: [
            (
                "SELECT sum(total) FROM orders WHERE customer = ?",
                ["SELECT customer, sum(total) FROM orders WHERE customer IN (?, ?, …) GROUP BY customer"]
            ),
            ("SELECT id FROM task WHERE owner = ? AND state = ?", []),
            ("SELECT DISTINCT title FROM task WHERE owner = ?", []),
            ("SELECT row_number() OVER (ORDER BY id) FROM task WHERE owner = ?", []),
            (
                #"SELECT "group" FROM "order" WHERE "key" = ?"#,
                [#"SELECT "key", "group" FROM "order" WHERE "key" IN (?, ?, …)"#]
            ),
            ("SELECT id FROM task WHERE id = ?", ["SELECT id FROM task WHERE id IN (?, ?, …)"]),
            ("SELECT * FROM task WHERE id = ?", ["SELECT * FROM task WHERE id IN (?, ?, …)"]),
            ("SELECT id FROM task WHERE owner = ? LIMIT ?", []),
            ("SELECT id FROM task WHERE created BETWEEN ? AND ?", []),
        ])
    func code(lookUp: String, code: [String]) throws {
        var shop = Shop(lookUp: lookUp)
        shop.lookUp(20)
        #expect(try #require(shop.findings.first).code == code)
    }

    @Test(
        "Pages, lists of keys and ranges are no loop",
        arguments: [
            "SELECT * FROM task ORDER BY id LIMIT ? OFFSET ?", "SELECT * FROM task WHERE id > ? ORDER BY id LIMIT ?",
            "SELECT * FROM task WHERE id IN (?, …)",
            "SELECT * FROM task WHERE id IN (…)", "SELECT * FROM task WHERE id BETWEEN ? AND ?",
        ])
    func parts(lookUp: String) {
        var shop = Shop(lookUp: lookUp)
        shop.lookUp(20, rows: 30)
        #expect(shop.findings.isEmpty)
    }

    @Test func `A look-up that is limited to one row is one, even with an offset`() throws {
        var shop = Shop(lookUp: "SELECT name FROM author WHERE id = ? LIMIT ? OFFSET ?")
        shop.lookUp(20)
        #expect(shop.findings.count == 1)
    }

    @Test func `A list that was read long before the loop is not its origin`() throws {
        var shop = Shop()
        shop.run(shop.list, rows: 50)
        shop.trace.now += 600_000_000
        shop.lookUp(50)
        #expect(shop.findings.first?.change?.description == "Scroll.swift:20")
    }

    @Test func `A joined table is not left out of the code`() throws {
        var shop = Shop(
            lookUp:
                "SELECT name, street.name FROM person JOIN street ON street.id = person.street_id WHERE person.id = ?")
        shop.lookUp(20)
        #expect(try #require(shop.findings.first).code.isEmpty)
    }

    @Test func `A loop that pauses keeps its list, although its own runs return several rows`() throws {
        for first in [1, 2, 3] {
            var shop = Shop()
            shop.run(shop.list, rows: 30)
            shop.lookUp(first, rows: 2)
            shop.trace.now += 30_000_000
            shop.lookUp(30 - first, rows: 2)
            let finding = try #require(shop.findings.first)
            #expect(finding.change?.description == "Scroll.swift:10")
            #expect(finding.explanation.first?.text.hasPrefix("\(30 - first) runs of ") == true)
        }
    }

    @Test func `Four runs, and runs with a pause in between, are no loop`() {
        var few = Shop()
        few.lookUp(4)
        #expect(few.findings.isEmpty)
        var apart = Shop()
        apart.lookUp(20, pause: 21_000_000)
        #expect(apart.findings.isEmpty)
        var busy = Shop()
        busy.lookUp(20, pause: 19_000_000)
        #expect(busy.findings.map(\.severity) == [.note])
    }

    @Test func `Runs of many rows, and the statements of fetches, are no loop`() {
        var large = Shop()
        large.lookUp(50, rows: 100)
        #expect(large.findings.isEmpty)
        var fetched = Shop()
        let fetch = fetched.trace.event(.fetch(TraceEvent.Fetch()), duration: 1000)
        fetched.lookUp(50, parent: fetch)
        #expect(fetched.findings.isEmpty)
    }

    @Test func `A loop that saves few runs and little time is a note`() throws {
        // All but one of the runs are saved. Each run takes 2 µs, with 1 µs between.
        for (runs, pause, severity) in [
            (20, 100_000, Severity.note), (21, 100_000, .warning), (21, 60_000_000, .warning),
        ] {
            var shop = Shop()
            shop.run(shop.list, rows: UInt32(runs))
            shop.lookUp(runs, pause: 1000)
            for number in 0..<3 { shop.run("SELECT a\(number) FROM t", pause: UInt64(pause)) }
            let finding = try #require(shop.findings.first)
            #expect(finding.evidence.first?.value == Double(runs))
            #expect(finding.severity == severity)
        }
    }

    @Test func `The inner one of two nested loops goes through the rows of all runs of the outer one`() throws {
        var shop = Shop(
            list: "SELECT id, name FROM author WHERE town_id = ?", lookUp: "SELECT body FROM book WHERE author_id = ?",
            library: "sqlalchemy/engine/default.py")
        shop.run("SELECT id FROM town", rows: 8)
        for _ in 0..<8 {
            shop.run(shop.list, rows: 10)
            shop.lookUp(10, pause: 100_000)
        }
        let finding = try #require(shop.findings.first { $0.title.text.contains("book") })
        #expect(finding.title.text == "Load book eagerly with the query of author")
        let loop = try #require(Profile(shop.trace.closed()).statementLoops.first { $0.key.sql == shop.lookUp })
        let advice = StatementLoopAdvice(loop.key, loop.evidence, among: Set(loop.evidence.origins.keys))
        #expect(
            advice.alternatives.first?.text
                == "The rows of author are loaded in a loop, too: append .selectinload(Author.books) to the option that loads them."
        )
    }

    @Test func `Values that are no rows of a statement make a loop a note, unless it surely saves time`() throws {
        for (pause, severity) in [(1000, Severity.note), (100_000, .warning)] {
            var shop = Shop()
            shop.lookUp(50, pause: UInt64(pause))
            #expect(shop.findings.map(\.severity) == [severity])
        }
    }

    @Test func `Values that arrive one by one make the finding a note`() throws {
        var shop = Shop()
        let name = shop.trace.define(.name(NameEntry(name: "request")))
        var trace = shop.trace
        trace.scoped(name, .request) { scoped in
            shop.trace = scoped
            shop.lookUp(50, pause: 20_000_000)
            scoped = shop.trace
        }
        shop.trace = trace
        let finding = try #require(shop.findings.first)
        #expect(finding.severity == .note)
        #expect(
            finding.reservations.last?.text.hasPrefix("Between the runs the program spends 19.6 ms elsewhere") == true)
    }

    @Test func `The rows of another statement do not arrive one by one, however long the program takes for each`()
        throws
    {
        var shop = Shop()
        shop.run(shop.list, rows: 50)
        shop.lookUp(50, pause: 9_000_000)
        let finding = try #require(shop.findings.first)
        #expect(finding.severity == .warning && finding.reservations.isEmpty)
    }

    @Test func `The time between runs counts although the list's statement ends after one of them`() throws {
        var shop = Shop()
        let start = shop.trace.now
        shop.trace.now += 3000
        let lookUp = shop.trace.define(.statement(StatementEntry(sql: shop.lookUp)))
        for number in 0..<20 {
            shop.run(lookUp)
            if number == 9 { shop.run(shop.list, rows: 20, duration: 80_000, start: start) }
        }
        // 1 µs of the program's for each run but that one.
        #expect(shop.findings.first?.saving.time.low.rounded() == 18_000)
    }

    /// A program that looks for a word before it writes it.
    private func words(_ writes: [String], library: String? = nil) -> Finding? {
        var shop = Shop(lookUp: "SELECT id FROM word WHERE text = ?", library: library)
        shop.lookUp(60, rows: 0, writing: writes)
        return shop.findings.first
    }

    @Test func `A look-up before each write becomes an upsert`() throws {
        let writes = ["INSERT INTO word(text, n) VALUES (?, …)", "UPDATE word SET n = n + ? WHERE id = ?"]
        let finding = try #require(words(writes))
        #expect(finding.title.text == "Write to word with an upsert, without looking for each row first")
        #expect(
            finding.code == ["INSERT INTO word(text, …) VALUES (?, …) ON CONFLICT(text) DO UPDATE SET … = excluded.…"])
        #expect(finding.explanation.last?.text == "A write to the same table followed 60 of them.")
        #expect(finding.remedy == nil)
        #expect(
            words(writes, library: "django/db/models/query.py")?.code == [
                "Word.objects.bulk_create(objects, update_conflicts=True, unique_fields=[\"text\"], update_fields=[…])"
            ])
    }

    @Test func `A program that inserts rows although it has found one gets no upsert`() {
        var shop = Shop(lookUp: "SELECT id FROM word WHERE text = ?")
        shop.lookUp(60, rows: 1, writing: ["INSERT INTO word(text, n) VALUES (?, …)"])
        #expect(shop.findings.first?.title.text == "Read word with one statement instead of 60")
    }

    @Test(
        "The row of a look-up before an update is named by all of its columns, and in the mapper's language",
        arguments: [
            (nil, "UPDATE word SET … = … + ? WHERE text = ? AND lang = ? RETURNING …"),
            ("django/db/models/query.py", #"Word.objects.filter(…).update(field=F("field") + …)"#),
            (
                "sqlalchemy/orm/query.py",
                "session.execute(update(Word).where(…).values(field=Word.field + …))"
            ),
            ("peewee.py", "Word.update(field=Word.field + …).where(…).execute()"),
        ] as [(String?, String)])
    func updates(library: String?, code: String) {
        var shop = Shop(lookUp: "SELECT id FROM word WHERE text = ? AND lang = ?", library: library)
        shop.lookUp(60, rows: 1, writing: ["UPDATE word SET n = ? WHERE id = ?"])
        #expect(shop.findings.first?.code == [code])
    }

    @Test func `A query that a mapper counts is unwrapped if it returns all of its rows`() {
        let plain = "SELECT count(*) FROM (SELECT a.id FROM a WHERE (a.b = ?)) AS q LIMIT ?"
        #expect(StatementText.unwrapped(plain) == "SELECT count(*) FROM a WHERE (a.b = ?)")
        for query in ["SELECT DISTINCT b FROM a", "SELECT b FROM a GROUP BY b", "SELECT b FROM a LIMIT ?"] {
            #expect(StatementText.unwrapped("SELECT count(*) FROM (\(query))") == nil)
        }
        #expect(StatementText.unwrapped("SELECT count(*) FROM a") == nil)
    }

    @Test func `The table that a statement writes is known unless it resolves conflicts`() {
        #expect(StatementText.written(by: "INSERT INTO main.t(a) VALUES (?)")?.table == "t")
        #expect(StatementText.written(by: "UPDATE t SET a = ? WHERE b = ? OR c = ?")?.isInsertion == false)
        for sql in [
            "INSERT OR IGNORE INTO t VALUES (?)", "INSERT INTO t VALUES (?) ON CONFLICT DO NOTHING", "DELETE FROM t",
            "UPDATE OR REPLACE t SET a = ?",
        ] {
            #expect(StatementText.written(by: sql) == nil)
        }
    }

    @Test func `A look-up before each update is part of the update, unless it is of another table`() {
        let update = words(["UPDATE word SET n = ? WHERE id = ?"])
        #expect(update?.title.text == "Change the rows of word without reading each one first")
        #expect(update?.code == ["UPDATE word SET … = … + ? WHERE text = ? RETURNING …"])
        let other = words(["INSERT INTO use(word_id) VALUES (?)"])
        #expect(other?.title.text == "Read word with one statement instead of 60")
    }

    @Test(
        "The advice speaks the mapper's language",
        arguments: [
            (
                "django/db/models/fields/related_descriptors.py",
                #"SELECT "shop_book"."id", "shop_book"."author_id" FROM "shop_book""#,
                #"SELECT "shop_author"."id", "shop_author"."name" FROM "shop_author" WHERE "shop_author"."id" = ? LIMIT ?"#,
                #"Add select_related("author") to the query of shop_book"#, #"Book.objects.select_related("author")"#
            ),
            (
                "django/db/models/query.py", #"SELECT "shop_author"."id" FROM "shop_author""#,
                #"SELECT "shop_book"."id" FROM "shop_book" WHERE "shop_book"."author_id" = ?"#,
                "Add prefetch_related for shop_book to the query of shop_author",
                #"Author.objects.prefetch_related("book_set")  # or its related_name"#
            ),
            (
                "sqlalchemy/orm/strategies.py", "SELECT book.id, book.author_id FROM book",
                "SELECT author.id AS author_id, author.name AS author_name FROM author WHERE author.id = ?",
                "Load author eagerly with the query of book", "select(Book).options(joinedload(Book.author))"
            ),
            (
                "django/db/models/query.py", #"SELECT "blog_post"."id" FROM "blog_post""#,
                #"SELECT "blog_tag"."id" FROM "blog_tag" INNER JOIN "blog_post_tags" ON ("blog_tag"."id" = "blog_post_tags"."tag_id") WHERE "blog_post_tags"."post_id" = ?"#,
                "Add prefetch_related for blog_tag to the query of blog_post",
                #"Post.objects.prefetch_related("tags")"#
            ),
            (
                "django/db/models/query.py", #"SELECT "shop_author"."id" FROM "shop_author""#,
                #"SELECT COUNT(*) AS "c" FROM "shop_book" WHERE "shop_book"."author_id" = ?"#,
                "Add annotate to the query of shop_author",
                #"Author.objects.annotate(Count("book"))  # or its related_name"#
            ),
            (
                "django/db/models/query.py", #"SELECT "shop_author"."id" FROM "shop_author" LIMIT ?"#,
                #"SELECT COUNT(*) AS "c" FROM "shop_book" WHERE "shop_book"."author_id" = ?"#,
                "Aggregate shop_book with one statement for the page of shop_author",
                #"counts = dict(Book.objects.filter(author__in=page).values_list("author").annotate(Count("pk")))"#
            ),
            (
                "django/db/models/query.py",
                #"SELECT "lib_book"."id" FROM "lib_book" ORDER BY "lib_book"."title" LIMIT ?"#,
                #"SELECT COUNT(*) AS "c" FROM "lib_book_tags" WHERE "lib_book_tags"."book_id" = ?"#,
                "Aggregate lib_book_tags with one statement for the page of lib_book",
                #"counts = dict(Book.tags.through.objects.filter(book__in=page).values_list("book").annotate(Count("pk")))"#
            ),
            (
                "django/db/models/query.py", #"SELECT "shop_vendor"."id" FROM "shop_vendor""#,
                #"SELECT ? AS "a" FROM "shop_product" WHERE "shop_product"."vendor_id" = ? LIMIT ?"#,
                "Ask for shop_product within the query of shop_vendor",
                #"Vendor.objects.annotate(found=Exists(Product.objects.filter(vendor=OuterRef("pk"))))"#
            ),
            (
                "django/db/models/query.py", #"SELECT "shop_vendor"."id" FROM "shop_vendor""#,
                #"SELECT "shop_product"."id" FROM "shop_product" WHERE "shop_product"."vendor_id" = ? ORDER BY "shop_product"."price" ASC LIMIT ?"#,
                "Ask for shop_product within the query of shop_vendor",
                #"first = Product.objects.filter(vendor=OuterRef("pk")).order_by(…)"# + "\n"
                    + #"Vendor.objects.annotate(first=Subquery(first.values("pk")[:1]))"#
            ),
            (
                "sqlalchemy/orm/query.py", "SELECT team.id, team.name FROM team",
                "SELECT count(*) AS count_1 FROM (SELECT player.id AS player_id FROM player WHERE player.team_id = ?) AS anon_1",
                "Aggregate player with one statement for all rows of team",
                "session.execute(select(Player.team_id, func.count()).where(Player.team_id.in_(…)).group_by(Player.team_id))"
            ),
            (
                "django/db/models/query.py", #"SELECT "auth_user"."id" FROM "auth_user""#,
                #"SELECT "app_profile"."id" FROM "app_profile" WHERE "app_profile"."user_id" = ? LIMIT ?"#,
                "Add select_related for app_profile to the query of auth_user",
                #"User.objects.select_related("profile")  # or its related_name"#
            ),
            (
                "django/db/models/query.py", #"SELECT "d"."id", "d"."author_id", "d"."editor_id" FROM "d""#,
                #"SELECT "person"."id" FROM "person" WHERE "person"."id" = ?"#,
                "Add select_related for person to the query of d",
                #"D.objects.select_related("author", "editor")  # the one that the loop reads"#
            ),
            (
                "sqlalchemy/orm/strategies.py", "SELECT customers.id FROM customers",
                "SELECT customers_orders.id FROM customers_orders WHERE customers_orders.customer_id = ?",
                "Load customers_orders eagerly with the query of customers",
                "select(Customer).options(selectinload(Customer.orders))"
            ),
            (
                "peewee.py", "SELECT id, author_id FROM book", "SELECT name FROM author WHERE id = ?",
                "Read author with one statement instead of 30",
                "SELECT book.*, author.name FROM book JOIN author ON author.id = book.author_id"
            ),
        ])
    func languages(library: String, list: String, lookUp: String, title: String, code: String) throws {
        var shop = Shop(list: list, lookUp: lookUp, library: library)
        shop.run(list, rows: 30)
        shop.lookUp(30)
        let finding = try #require(shop.findings.first)
        #expect(finding.title.text == title)
        #expect(finding.code.joined(separator: "\n") == code)
        let stored = try Profile(fileData: Profile(shop.trace.closed()).fileData())
        #expect(Analysis(stored, rules: [StatementLoopRule()]).findings == shop.findings)
    }

    @Test func `Objects that SQLAlchemy reads again after a commit need no eager loading`() throws {
        let lookUp = "SELECT author.id AS author_id, author.name AS author_name FROM author WHERE author.id = ?"
        var shop = Shop(lookUp: lookUp, library: "sqlalchemy/orm/state.py", function: "InstanceState._load_expired")
        shop.run(shop.list, rows: 30)
        shop.lookUp(30)
        let finding = try #require(shop.findings.first)
        #expect(finding.title.text == "Do not let each commit expire the objects of author")
        #expect(finding.code == ["Session(engine, expire_on_commit=False)"] && finding.codeLanguage == "python")
        #expect(finding.change?.description == "views.py:31" && finding.remedy == nil)
        #expect(
            finding.explanation.map(\.text) == [
                "30 runs of SELECT … FROM author WHERE id = ?: 60.0 µs in SQLite, and 29.0 µs between them."
            ])
        let stored = try Profile(fileData: Profile(shop.trace.closed()).fileData())
        #expect(Analysis(stored, rules: [StatementLoopRule()]).findings == shop.findings)
    }
}

@Suite("The text of a statement")
struct StatementTextTests {
    @Test(
        "has a table, selected columns and a compared column",
        arguments: [
            ("SELECT name FROM author WHERE id = ?", "author", ["name"], "id", "SELECT name FROM author WHERE id = ?"),
            (
                #"SELECT "a"."id", "a"."x y" FROM "a" WHERE ("a"."b" > ? AND "a"."c" = ?) LIMIT ?"#, "a",
                ["id", "x y"],
                "c", "SELECT … FROM a WHERE (b > ? AND c = ?) LIMIT ?"
            ),
            (
                "select b.id AS b_id, count(*) from main.b where ? = b.owner_id", "b", ["id"], "owner_id",
                "SELECT id AS b_id, count(*) from main.b where ? = owner_id"
            ),
            (
                "SELECT a FROM t WHERE b <= ? AND c || d = ?", "t", ["a"], nil,
                "SELECT a FROM t WHERE b <= ? AND c || d = ?"
            ),
            ("SELECT * FROM t WHERE a IN (…)", "t", [], nil, "SELECT * FROM t WHERE a IN (…)"),
            ("SELECT (SELECT x FROM y) FROM [my table]", "my table", [], nil, "SELECT (SELECT x FROM y) FROM my table"),
            ("SELECT ?", nil, [], nil, "SELECT ?"),
            ("INSERT INTO t VALUES (?)", nil, [], nil, "INSERT INTO t VALUES (?)"),
            ("SELECT a FROM", nil, ["a"], nil, "SELECT a FROM"), ("", nil, [], nil, ""),
        ] as [(String, String?, [String], String?, String)])
    func parts(sql: String, table: String?, columns: [String], compared: String?, summary: String) {
        let text = StatementText(sql)
        #expect(text.table == table)
        #expect(text.columns == columns)
        #expect(text.comparedColumn == compared)
        #expect(text.summary == summary)
    }
}
