import Foundation
import TestFolders
import Testing

/// A program full of secrets, none of which may reach anything that Faultline writes.
@Suite("Secrets of a program")
struct SecretsTests {
    /// Runs statements with secrets, and prints how many there were.
    ///
    /// They are numbered from 0, and each has the form `Secret12x`.
    ///
    /// `values` are secrets of literals, which `--values` records; `keys` are never recorded.
    private static let program = #"""
        import itertools, sqlite3, sys
        numbers = itertools.count()
        connection = sqlite3.connect(":memory:", isolation_level=None)
        def secret(): return f"Secret{next(numbers)}x"
        def run(template, *bound):
            while "@" in template: template = template.replace("@", secret(), 1)
            while "%" in template: template = template.replace("%", secret().encode().hex(), 1)
            try: connection.execute(template, bound).fetchall()
            except sqlite3.Error: pass
        def values():
            run('create table "person"("id" integer primary key, name text default "@", city text default \'@\', check(name <> "@"))')
            run('create view "people" as select name as "called", city from person where city <> "@"')
            run('create index "by city" on person(city) where name <> "@"')
            run('create trigger audit after insert on person begin select "@", new."name", \'@\'; end')
            run('create virtual table words using fts5(body, tokenize="@")')
            run('alter table person add column "extra" text default "@"')
            literals = ["'@'", "'it''s @'", '"@"', "x'%'", "X'%'", "'@' || '@'", '("@")', "cast('@' as text)", "upper(\"@\")",
                        "'@' collate nocase", "case '@' when '@' then '@' else '@' end", "/* @ */ '@' -- @\n", "'@\n@'", "'é@'"]
            for literal in literals:
                for form in ["select {}", "select name from person where name = {}", "select count(*), name = {} from person",
                             "insert into person(name, city) values({}, {})", "update person set city = {} where name = {}",
                             "delete from person where city in ({}, 'a', {})", "select name from person order by city = {} limit 3"]:
                    run(form.replace("{}", literal))
            for text in ['select "called" from "people" where "city" is not distinct from "@"', 'select "person"."name" from "person" where "id" = "@"',
                         'with "w" as (select "@" as "t") select "t" from "w"', 'select json_extract(\'{"a": "@"}\', "$.@")',
                         'select * from person where name like "%@" escape "!"', 'vacuum into "/nowhere/@"', 'select name from person where "@"',
                         'explain query plan select "@" from person', 'replace into "person" values(7, "@", "@", "@")', "select raise(abort, '@')",
                         "select '@", 'select "@', "selec '@'", "values('@'), ('@')", "select 1 where '@' glob '@*'", "pragma user_version = '@'"]:
                run(text)
            run("select ?", secret()); run("select name from person where city = :c", secret())
            run("insert into person(name) values(?)", secret())
        def keys():
            for name in ["key", "rekey", "hexkey", "hexrekey", "textkey", "textrekey", "main.key", "temp.rekey", '"key"', "[hexkey]", "`key`",
                         "cipher_salt", "cipher_migrate", "activate_extensions", "password", "kdf_key"]:
                for argument in ["= '@'", '= "@"', "= @", "('@')", '("@")', "(@)", "= \"x'%'\"", "= x'%'", "=-@", "=\"@\"/* @ */"]:
                    run(f"pragma {name} {argument}")
            for text in ["attach '@' as a key '@'", 'attach database "@" as b key "@"', "attach @ as c key @", "attach ('@' || \"@\") as d key x'%'",
                         "attach 'file:@?key=@&hexkey=%' as e", 'attach database lower("@") as "f" key ("@" || @)', "explain pragma key = '@'",
                         "ATTACH/**/'@'/**/AS g KEY/**/'@'", 'EXPLAIN ATTACH "@" AS h KEY "@"']:
                run(text)
        for part in sys.argv[1:]: globals()[part]()
        print(next(numbers))
        """#

    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try Self.program.write(toFile: directory.path("app.py"), atomically: true, encoding: .utf8)
    }

    /// Records the program, and returns the number of its secrets.
    private func record(_ parts: [String], _ options: [String]) throws -> Int {
        let result = try BuiltCommand.run(
            ["record", "-o", "trace.json"] + options + ["--", "/usr/bin/python3", "app.py"] + parts,
            directory: directory.url)
        try #require(result.status == 0, "\(result.errors)")
        try result.errors.write(toFile: directory.path("printed-by-record"), atomically: true, encoding: .utf8)
        return try #require(Int(result.output.trimmingCharacters(in: .newlines)))
    }

    /// Writes everything that Faultline can make of a trace.
    private func writeAll() throws {
        let commands = [
            "report trace.json --all", "report trace.json --format json", "report trace.json --format markdown",
            "report trace.json --format sarif", "report trace.json --format github", "report trace.json --by site",
            "report trace.json --format html -o page.html --no-source", "events trace.json --width 2000",
            "events trace.json --format json", "events trace.json --format csv", "tree trace.json --weight rows",
            "timeline trace.json", "profile trace.json -o run.profile", "merge run.profile run.profile -o sum.profile",
            "report sum.profile --format json", "export trace.json --to timeline -o copy.json",
            "export trace.json --to otlp -o spans.json", "export trace.json --to speedscope -o run.speedscope.json",
            "export trace.json --to folded --weight rows -o rows.txt", "export trace.json --to pprof -o run.pb",
            "diff trace.json copy.json", "diff trace.json copy.json --format json", "check trace.json",
            "explain trace.json 1", "query trace.json --format\u{A0}csv SELECT\u{A0}*\u{A0}FROM\u{A0}sql",
            "query trace.json --format\u{A0}json SELECT\u{A0}*\u{A0}FROM\u{A0}statement",
        ]
        for (number, command) in commands.enumerated() {
            let words = command.split(separator: " ").map { $0.replacingOccurrences(of: "\u{A0}", with: " ") }
            let printed = try BuiltCommand.run(words, directory: directory.url)
            try (printed.output + printed.errors).write(
                toFile: directory.path("printed-\(number)"), atomically: true, encoding: .utf8)
        }
    }

    /// The secrets in the files of the directory, other than the program's, as text or as hexadecimal digits.
    private func found() throws -> [String] {
        let secret = Array("Secret".utf8)
        let hexadecimal = secret.map { String($0, radix: 16) }.joined()
        let texts = [Data(secret), Data(hexadecimal.utf8), Data(hexadecimal.uppercased().utf8)]
        return try FileManager.default.subpathsOfDirectory(atPath: directory.url.path).filter { $0 != "app.py" }.flatMap
        {
            path -> [String] in
            guard let data = FileManager.default.contents(atPath: directory.path(path)) else { return [] }
            return texts.compactMap { text in
                data.range(of: text).map {
                    "\(path): \(String(decoding: data[$0.lowerBound...].prefix(60), as: UTF8.self))"
                }
            }
        }
    }

    @Test("reach nothing that is written", arguments: [[], ["--columns"], ["--cpu", "--allocations", "--each-fault"]])
    func nothing(options: [String]) throws {
        #expect(try record(["values", "keys"], options) >= 400)
        try writeAll()
        #expect(try found() == [])
    }

    @Test("that are keys of encrypted databases reach nothing, even if values are recorded")
    func keys() throws {
        #expect(try record(["keys"], ["--values", "--columns"]) >= 150)
        try writeAll()
        #expect(try found() == [])
    }

    @Test("reach nothing that LTTng writes", .enabled(if: LTTngSandbox.isAvailable, LTTngSandbox.need))
    func tracing() throws {
        let result = try LTTngSandbox.run(
            """
            start_daemon
            "$FAULTLINE" record --to lttng -o trace -- /usr/bin/python3 app.py values keys >count
            """, directory: directory)
        #expect(result.status == 0, "\(result.errors)")
        #expect(try found() == [])
    }

    @Test("are recorded with --values, if they are no keys")
    func withValues() throws {
        _ = try record(["values"], ["--values"])
        #expect(try !found().isEmpty)
    }
}
