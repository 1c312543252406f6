import FaultlineReader
import FaultlineTrace
import Testing

/// A log of statements, as the reader reads it.
private struct StatementLogText {
    let reading: Reading
    private var dictionary = TraceDictionary()

    init(_ text: String, _ format: String) throws {
        let file = try TraceFile(text.utf8, name: "app.log")
        #expect(try TraceReader(path: file.path).format == format)
        reading = try file.read()
        for case .entry(_, let id, let entry) in reading.messages { dictionary.insert(entry, id: id) }
    }

    /// The statements with their types, durations and rows; unknown figures are `–`.
    var statements: [String] {
        reading.events.compactMap { event in
            guard case .sql(let statement) = event.detail else { return nil }
            let time = event.unrecorded.contains(.duration) ? "–" : "\(event.duration / 1000) µs"
            let rows = event.unrecorded.contains(.rows) ? "–" : "\(statement.rows)"
            return "\(statement.type) \(time) \(rows) \(dictionary.statement(statement.statement)?.sql ?? "?")"
        }
    }

    var starts: [UInt64] { reading.events.filter { $0.kind == .sql }.map(\.start) }

    /// Whether the values of each statement are those of the one before.
    var repeats: [Bool] {
        let values = reading.events.compactMap { event -> UInt64? in
            if case .sql(let statement) = event.detail { statement.parameters } else { nil }
        }
        return zip(values, values.dropFirst()).map { $0 == $1 && $0 != 0 }
    }

    /// The lines of the program, by statement.
    var sites: [String] {
        reading.events.compactMap { event in
            guard event.kind == .sql else { return nil }
            var resolver = CallSiteResolver(dictionary: dictionary)
            return resolver.callSite(of: event)?.description ?? "–"
        }
    }

    /// The scopes as they begin and end, and the statements within them.
    var scopes: [String] {
        var names: [EventID: String] = [:]
        return reading.events.compactMap { event in
            guard case .scope(let scope) = event.detail else {
                return names[event.scope].map { "in \($0)" } ?? "in none"
            }
            names[event.id] = dictionary.name(scope.name) ?? "?"
            return "\(scope.phase) \(names[event.id] ?? "?") \(scope.kind)"
        }
    }

    var gaps: Set<TraceGap.Kind> {
        Set(
            reading.messages.flatMap { message -> [TraceGap.Kind] in
                if case .began(let began) = message { began.gaps?.map(\.kind) ?? [] } else { [] }
            })
    }
}

@Suite("Logs of SQLAlchemy")
struct SQLAlchemyLogTests {
    private static func log(_ prefix: (_ level: String) -> String) -> String {
        [
            "BEGIN (implicit)", "SELECT album.id, album.title \nFROM album \nWHERE album.title = 'a\nb'",
            "[generated in 0.00013s] ()", "SELECT artist.id FROM artist WHERE artist.id IN (?, ?)",
            "[cached since 0.001417s ago] (4, 5)", "SELECT artist.id FROM artist WHERE artist.id IN (?, ?)",
            "[cached since 0.001682s ago] (4, 5)", "INSERT INTO artist (name) VALUES (?) RETURNING id",
            "[generated in 0.00013s (insertmanyvalues) 1/2 (ordered; batch not supported)] (\"it's [0] \\n x\",)",
            "COMMIT",
        ].map { prefix("INFO") + $0 + "\n" }.joined()
    }

    private static let statements = [
        "transaction – 0 BEGIN", "read – – SELECT album.id, album.title FROM album WHERE album.title = ?",
        "read – – SELECT artist.id FROM artist WHERE artist.id IN (…)",
        "read – – SELECT artist.id FROM artist WHERE artist.id IN (…)",
        "write – – INSERT INTO artist (name) VALUES (?) RETURNING id", "transaction – 0 COMMIT",
    ]

    @Test(
        "Statements are read behind any prefix, without SQLAlchemy's own times",
        arguments: [
            "2026-11-30 02:44:11,476 INFO sqlalchemy.engine.Engine ",
            "2026-11-30 02:44:11,476 INFO sqlalchemy.engine.Engine.catalog ", "INFO:sqlalchemy.engine.Engine:",
            "INFO  [sqlalchemy.engine.Engine] ", "2019-01-02 03:04:05,006 INFO sqlalchemy.engine.base.Engine ",
            "[12] sqlalchemy.engine.Engine - ",
        ])
    func prefixes(_ prefix: String) throws {
        let log = try StatementLogText(Self.log { _ in prefix }, "sqlAlchemy")
        #expect(log.statements == Self.statements)
        #expect(log.repeats == [false, false, true, false, false])
        #expect(log.gaps.contains(.durations) && log.gaps.contains(.rows) && !log.gaps.contains(.values))
        #expect(log.gaps.contains(.startTimes) == !prefix.contains(","))
    }

    @Test("At level debug, the rows are counted")
    func rows() throws {
        let prefix = "2026-11-30 02:44:11,476 INFO sqlalchemy.engine.Engine "
        let debug = "2026-11-30 02:44:11,476 DEBUG sqlalchemy.engine.Engine "
        let text = [
            prefix + "SELECT artist.id FROM artist", prefix + "[raw sql] ()", debug + "Col ('id',)", debug + "Row (1,)",
            debug + "Row (2,)", "other output", prefix + "SELECT 1", prefix + "[raw sql] ()", debug + "Col ('1',)",
        ].joined(separator: "\n")
        let log = try StatementLogText(text, "sqlAlchemy")
        #expect(log.statements == ["read – 2 SELECT artist.id FROM artist", "read – 0 SELECT ?"])
        #expect(!log.gaps.contains(.rows))
    }

    @Test("Statements before version 1.4 have parameters without a mark")
    func oldParameters() throws {
        let prefix = "2019-01-02 03:04:05,006 INFO sqlalchemy.engine.base.Engine "
        let lines = ["SELECT a.id \nFROM a", "()", "UPDATE a SET b=?", "(1, 'x')", "COMMIT"]
        let log = try StatementLogText(lines.map { prefix + $0 + "\n" }.joined(), "sqlAlchemy")
        #expect(
            log.statements == ["read – – SELECT a.id FROM a", "write – – UPDATE a SET b=?", "transaction – 0 COMMIT"])
    }

    @Test("Cut or hidden parameters are unknown")
    func unknownValues() throws {
        let prefix = "INFO:sqlalchemy.engine.Engine:"
        for values in [
            "[SQL parameters hidden due to hide_parameters=True]", "('aaa ... (5 characters truncated) ... b',)",
        ] {
            let lines = Array(repeating: [prefix + "SELECT a.id FROM a", prefix + "[raw sql] \(values)"], count: 2)
            let log = try StatementLogText(lines.joined().joined(separator: "\n"), "sqlAlchemy")
            #expect(log.repeats == [false], "\(values)")
        }
    }

    @Test("A statement begins at the time of its line, and the end of the log may be missing anywhere")
    func cut() throws {
        let lines = ["11,000", "11,250"].map {
            "2026-11-30 02:44:\($0) INFO sqlalchemy.engine.Engine SELECT a.id FROM a\n"
        }
        let text = lines[0] + "2026-11-30 02:44:11,001 INFO sqlalchemy.engine.Engine [raw sql] ()\n" + lines[1]
        let log = try StatementLogText(text, "sqlAlchemy")
        #expect(log.starts == [0, 250_000_000] && log.reading.summary.isTruncated)
        let whole = Self.log { _ in "INFO:sqlalchemy.engine.Engine:" }
        for length in stride(from: 60, to: whole.utf8.count, by: 7) {
            let file = try TraceFile(Array(whole.utf8.prefix(length)))
            if (try? TraceReader(path: file.path).format) == "sqlAlchemy" { _ = try file.read() }
        }
    }
}

@Suite("Logs of Rails")
struct RailsLogTests {
    private static let lines = [
        "Started GET \"/posts?token=secret\" for ::1 at 2026-10-30 18:05:37 +0530",
        "Processing by PostsController#index as HTML",
        "  Parameters: {\"title\"=>\"x (1.2ms)  SELECT 1\"}",
        "  Post Load (0.9ms)  SELECT \"posts\".* FROM \"posts\" ORDER BY \"posts\".\"id\" DESC LIMIT ?  [[\"LIMIT\", 20]]",
        "  ↳ app/views/posts/index.html.erb:3",
        "  ActsAsTaggableOn::Tag Load (12.0ms)  SELECT \"tags\".* FROM \"tags\" WHERE \"tags\".\"id\" = 7 LIMIT 1",
        "  ↳ app/models/post.rb:12:in 'Post#tag'",
        "  CACHE User Load (0.0ms)  SELECT \"users\".* FROM \"users\" WHERE \"users\".\"id\" = ?  [[\"id\", 3]]",
        "  Rendered posts/index.html.erb (Duration: 12.1ms | Allocations: 3000)",
        "Completed 200 OK in 19ms (Views: 14.2ms | ActiveRecord: 1.1ms)", "",
        "   (0.1ms)  begin transaction", "  TRANSACTION (3.1ms)  commit transaction",
        "  Comment Load (21.1ms)  SELECT \"comments\".* FROM \"comments\" INNER JOIN (", "  SELECT a", "  FROM b",
        ") AS d",
        "  ON \"comments\".id = d.a WHERE \"comments\".\"post_id\" = $1  [[\"post_id\", 3]]",
        "  Post Create (0.4ms)  INSERT INTO \"posts\" (\"title\") VALUES (?)  [[\"title\", \"it's",
        "x\"]]",
    ]

    private static let statements = [
        "read 900 µs – SELECT \"posts\".* FROM \"posts\" ORDER BY \"posts\".\"id\" DESC LIMIT ?",
        "read 12000 µs – SELECT \"tags\".* FROM \"tags\" WHERE \"tags\".\"id\" = ? LIMIT 1",
        "transaction 100 µs 0 begin transaction", "transaction 3100 µs 0 commit transaction",
        "read 21100 µs – SELECT \"comments\".* FROM \"comments\" INNER JOIN (SELECT a FROM b) AS d "
            + "ON \"comments\".id = d.a WHERE \"comments\".\"post_id\" = $1",
        "write 400 µs – INSERT INTO \"posts\" (\"title\") VALUES (?)",
    ]

    @Test("Statements, their lines of code and their requests are read; cached ones did not run")
    func whole() throws {
        let log = try StatementLogText(Self.lines.joined(separator: "\n") + "\n", "rails")
        #expect(log.statements == Self.statements)
        #expect(log.sites == ["index.html.erb:3", "post.rb:12", "–", "–", "–", "–"])
        #expect(
            log.scopes == [
                "begin PostsController#index request", "in PostsController#index", "in PostsController#index",
                "end PostsController#index request", "in none", "in none", "in none", "in none",
            ])
        #expect(!log.gaps.contains(.callSites) && log.gaps.contains(.startTimes) && !log.gaps.contains(.durations))
        let text = "\(log.reading.messages)"
        #expect(!text.contains("secret") && !text.contains("it's"))
    }

    @Test("Prefixes of a formatter, tags and colours are no part of a statement")
    func prefixes() throws {
        let line = "  User Load (0.9ms)  SELECT `users`.* FROM `users` WHERE `users`.`id` = 5 LIMIT 1"
        for text in [
            "D, [2023-07-28T19:30:05.292731 #331175] DEBUG -- : \(line)", "[2019-01-25 09:49:51 -0500] \(line)",
            "[9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d] \(line)",
            "  \u{1B}[1m\u{1B}[36mUser Load (0.9ms)\u{1B}[0m  \u{1B}[1m\u{1B}[34mSELECT `users`.* FROM `users` WHERE `users`.`id` = 5 "
                + "LIMIT 1\u{1B}[0m",
        ] {
            let log = try StatementLogText(text + "\n" + text + "\n", "rails")
            let statement = "read 900 µs – SELECT `users`.* FROM `users` WHERE `users`.`id` = ? LIMIT 1"
            #expect(log.statements == [statement, statement] && log.repeats == [true], "\(text)")
            let processes = log.reading.summary.processes
            #expect(processes == [text.hasPrefix("D") ? 331_175 : 1], "\(text)")
        }
    }

    @Test("Other output with times in milliseconds is not a log of Rails")
    func other() throws {
        for text in ["GET / 200 (1.2ms)\n", "step one (0.3ms)  SELECTION done\n", "x(0.3ms)  SELECT 1\n"] {
            let file = try TraceFile(text)
            #expect(throws: ReaderError.self, "\(text)") { try TraceReader(path: file.path) }
        }
    }
}

@Suite("Traces of GRDB")
struct GRDBLogTests {
    @Test(
        "Statements are read behind the usual words, and with none behind GRDB's own transactions",
        arguments: ["SQL> ", "SQL: ", "SQL > ", "2026-10-30 18:05:37.125 App[12:7] SQL> ", ""])
    func statements(_ prefix: String) throws {
        let statements = [
            "BEGIN DEFERRED TRANSACTION", "SELECT *\nFROM player\nWHERE teamId = ?", "PRAGMA query_only = 1",
            "INSERT INTO player (name) VALUES (?)", "COMMIT TRANSACTION",
        ]
        let text = statements.map { prefix + $0 + "\n" }.joined(separator: "other output\n")
        let log = try StatementLogText(text, "grdb")
        #expect(
            log.statements == [
                "transaction – 0 BEGIN DEFERRED TRANSACTION", "read – – SELECT * FROM player WHERE teamId = ?",
                "schema – – PRAGMA query_only = ?", "write – – INSERT INTO player (name) VALUES (?)",
                "transaction – 0 COMMIT TRANSACTION",
            ])
        #expect(log.gaps.contains(.durations) && log.gaps.contains(.values))
        #expect(log.reading.messages.contains { if case .began(let began) = $0 { began.system == nil } else { false } })
    }

    @Test("Profiles have durations in milliseconds, and expanded statements have values")
    func profile() throws {
        let text = """
            SQL> 0.012s SELECT * FROM player WHERE teamId = 1
            SQL> 0.000s SELECT * FROM player WHERE teamId = 2
            SQL> 0.001s SELECT * FROM player WHERE teamId = 2
            """
        let log = try StatementLogText(text, "grdb")
        let statement = { (time: Int) in "read \(time) µs – SELECT * FROM player WHERE teamId = ?" }
        #expect(log.statements == [statement(12_000), statement(0), statement(1000)])
        #expect(log.repeats == [false, true])
        #expect(log.gaps.contains(.shortDurations) && !log.gaps.contains(.durations) && !log.gaps.contains(.values))
    }

    @Test("A dump of a database, and prose with words of SQL, are none")
    func other() throws {
        for text in [
            "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nINSERT INTO a VALUES(1);\nCOMMIT;\n", "SELECT 1\n",
            "Learn SQL: an introduction\n", "SQL> quit\n",
        ] {
            let file = try TraceFile(text)
            #expect(throws: ReaderError.self, "\(text)") { try TraceReader(path: file.path) }
        }
    }
}
