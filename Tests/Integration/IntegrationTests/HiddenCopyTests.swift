import FaultlineTrace
import Foundation
import TestFolders
import Testing

@Suite(
    "A copy of SQLite without symbols is recorded once it has loaded the library as an extension",
    .enabled(if: CProgram.canBuild, "needs cc: apt-get install gcc"))
struct HiddenCopyTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// A program with SQLite linked into it, whose connections are opened after the library was loaded.
    private static let beginning = """
        #include <sqlite3.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <unistd.h>

        static sqlite3 *open_file(const char *path) {
            sqlite3 *connection;
            if (sqlite3_open(path, &connection) != SQLITE_OK) { exit(3); }
            return connection;
        }

        static void load(void) {
            sqlite3 *connection = open_file(":memory:");
            char *problem = NULL;
            sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL);
            if (getenv("LD_PRELOAD") != NULL
                && sqlite3_load_extension(connection, getenv("LD_PRELOAD"), NULL, &problem) != SQLITE_OK) {
                fprintf(stderr, "%s\\n", problem);
                exit(4);
            }
            sqlite3_close(connection);
        }

        static sqlite3_stmt *prepare(sqlite3 *connection, const char *sql) {
            sqlite3_stmt *statement;
            if (sqlite3_prepare_v2(connection, sql, -1, &statement, NULL) != SQLITE_OK) {
                fprintf(stderr, "%s\\n", sqlite3_errmsg(connection));
                exit(5);
            }
            return statement;
        }

        static void run(sqlite3 *connection, const char *sql) {
            if (sqlite3_exec(connection, sql, NULL, NULL, NULL) != SQLITE_OK) { exit(6); }
        }

        """

    private func record(_ body: String) throws -> ObservedRun {
        let program = try CProgram.build(
            Self.beginning + body, ["-O1", "-Wl,-Bstatic", "-lsqlite3", "-Wl,-Bdynamic", "-lm"], in: directory)
        let plain = try BuiltCommand.run([directory.path("plain.db")], program: program)
        let run = try ObservedRun([directory.path("books.db")], program: program)
        #expect(run.result.output == plain.output)
        #expect(run.result.status == 0 && plain.status == 0, "\(run.result.errors)")
        return run
    }

    @Test("Runs are counted with their rows, values, plans and counters, and what SQLite runs itself is not")
    func counts() throws {
        let run = try record(
            """
            static void nested(sqlite3_context *context, int count, sqlite3_value **values) {
                sqlite3_stmt *statement = prepare(sqlite3_context_db_handle(context), "SELECT max(id) FROM author");
                sqlite3_step(statement);
                sqlite3_result_int(context, sqlite3_column_int(statement, 0));
                sqlite3_finalize(statement);
            }

            int main(int count, char **words) {
                load();
                sqlite3 *connection = open_file(words[1]);
                run(connection, "CREATE TABLE author(id INTEGER PRIMARY KEY, name TEXT)");
                run(connection, "CREATE TABLE log(name TEXT)");
                run(connection, "CREATE TRIGGER added AFTER INSERT ON author BEGIN INSERT INTO log VALUES (new.name); END");
                run(connection, "BEGIN");
                sqlite3_stmt *insert = prepare(connection, "INSERT INTO author(name) VALUES (?)");
                for (int index = 0; index < 20; index++) {
                    sqlite3_bind_int(insert, 1, index);
                    sqlite3_step(insert);
                    sqlite3_reset(insert);
                }
                sqlite3_finalize(insert);
                run(connection, "COMMIT");
                run(connection, "UPDATE author SET name = 'x' WHERE id > 15");
                // The same value twice, then others, each in a statement of its own.
                for (int index = 0; index < 6; index++) {
                    sqlite3_stmt *one = prepare(connection, "SELECT name FROM author WHERE id = ?");
                    sqlite3_bind_int(one, 1, index < 2 ? 1 : index);
                    while (sqlite3_step(one) == SQLITE_ROW) {}
                    sqlite3_finalize(one);
                }
                // Left after three rows.
                sqlite3_stmt *all = prepare(connection, "SELECT id FROM author ORDER BY name");
                for (int row = 0; row < 3; row++) { sqlite3_step(all); }
                sqlite3_reset(all);
                sqlite3_finalize(all);
                sqlite3_create_function(connection, "nested", 0, SQLITE_UTF8, NULL, nested, NULL, NULL);
                run(connection, "SELECT nested() FROM author WHERE id < 5");
                // The schema changes under a prepared statement.
                sqlite3_stmt *kept = prepare(connection, "SELECT count(*) FROM log");
                run(connection, "CREATE INDEX log_name ON log(name)");
                sqlite3_step(kept);
                printf("%d %d\\n", sqlite3_column_int(kept, 0), sqlite3_total_changes(connection));
                sqlite3_finalize(kept);
                return sqlite3_close(connection);
            }
            """)
        func runs(_ text: String) -> [TraceEvent.Statement] {
            run.statements.filter { $0.text == text }.map(\.fields)
        }
        #expect(run.result.output == "20 45\n")
        #expect(runs("INSERT INTO author(name) VALUES (?)").map(\.rows) == Array(repeating: 1, count: 20))
        #expect(runs("INSERT INTO author(name) VALUES (?)").map(\.preparations) == [1] + Array(repeating: 0, count: 19))
        #expect(runs("UPDATE author SET name = ? WHERE id > ?").map(\.rows) == [5])
        let one = runs("SELECT name FROM author WHERE id = ?")
        #expect(one.map(\.rows) == Array(repeating: 1, count: 6))
        #expect(one.map(\.preparations) == Array(repeating: 1, count: 6))
        #expect(one[0].parameters == one[1].parameters && one[0].parameters != 0)
        #expect(Set(one.map(\.parameters)).count == 5)
        let plan = ["SEARCH author USING INTEGER PRIMARY KEY (rowid=?)"]
        #expect(run.plans(of: "SELECT name FROM author WHERE id = ?")[0] == plan)
        let sorted = runs("SELECT id FROM author ORDER BY name")
        #expect(sorted.map(\.rows) == [3] && sorted.map(\.sorts) == [1])
        #expect(run.plans(of: "SELECT id FROM author ORDER BY name")[0]?.last == "USE TEMP B-TREE FOR ORDER BY")
        #expect(runs("SELECT nested() FROM author WHERE id < ?").map(\.rows) == [4])
        #expect(run.count("SELECT max(id) FROM author") == 0)
        #expect(run.count("INSERT INTO log VALUES (new.name)") == 0)
        #expect(runs("SELECT count(*) FROM log").map(\.rows) == [1])
        // Four statements that change the schema, the transaction, and those above.
        #expect(run.statements.count == 4 + 2 + 20 + 1 + 6 + 1 + 1 + 1, "\(run.statements.map(\.text))")
    }

    @Test("The time that the program takes between two rows is not counted")
    func pauses() throws {
        let run = try record(
            """
            int main(int count, char **words) {
                load();
                sqlite3 *connection = open_file(words[1]);
                sqlite3_stmt *rows = prepare(
                    connection, "WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n WHERE x < 4) SELECT x FROM n");
                for (int row = 0; row < 4 && sqlite3_step(rows) == SQLITE_ROW; row++) { usleep(500000); }
                sqlite3_finalize(rows);
                return sqlite3_close(connection);
            }
            """)
        let statement = try #require(run.statements.first)
        #expect(statement.fields.rows == 4)
        #expect(statement.event.duration < 500_000_000)
    }

    @Test("Waits for a lock belong to the statement that waited")
    func waits() throws {
        let run = try record(
            """
            #include <pthread.h>

            static void *hold(void *connection) {
                usleep(300000);
                run(connection, "COMMIT");
                return NULL;
            }

            int main(int count, char **words) {
                load();
                sqlite3 *first = open_file(words[1]), *second = open_file(words[1]);
                run(first, "CREATE TABLE log(name TEXT)");
                sqlite3_busy_timeout(second, 20000);
                run(first, "BEGIN IMMEDIATE");
                pthread_t thread;
                pthread_create(&thread, NULL, hold, first);
                run(second, "INSERT INTO log VALUES ('a')");
                pthread_join(thread, NULL);
                sqlite3_close(second);
                return sqlite3_close(first);
            }
            """)
        let wait = try #require(run.waits.first)
        #expect(run.waits.count == 1 && wait.fields.tries > 0)
        let insert = try #require(run.statements.first { $0.text.hasPrefix("INSERT") })
        #expect(insert.fields.wait > 0 && insert.event.id == wait.event.parent)
    }
}
