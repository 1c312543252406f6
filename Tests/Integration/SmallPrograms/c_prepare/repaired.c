/* Sends letters: reads the addresses of all receivers with one statement. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void run(sqlite3 *database, const char *sql) {
    char *message = NULL;
    if (sqlite3_exec(database, sql, NULL, NULL, &message) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", sql, message);
        exit(1);
    }
}

static void create(sqlite3 *database) {
    run(database, "BEGIN");
    run(database, "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL)");
    run(database, "CREATE TABLE street (person_id INTEGER PRIMARY KEY, name TEXT NOT NULL, house INTEGER NOT NULL)");
    run(database,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)"
        " INSERT INTO person SELECT i, 'Person ' || i, 'City ' || (i % 30) FROM n");
    run(database, "INSERT INTO street SELECT id, 'Street ' || (id % 70), id % 90 + 1 FROM person");
    run(database, "COMMIT");
}

/* Returns the length of the addresses of all persons. */
static size_t addresses(sqlite3 *database) {
    sqlite3_stmt *statement;
    const char *sql =
        "SELECT person.name, street.name, street.house, person.city FROM person"
        " JOIN street ON street.person_id = person.id";
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK) { exit(1); }
    size_t length = 0;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        char text[200];
        snprintf(
            text, sizeof text, "%s, %s %d, %s", sqlite3_column_text(statement, 0), sqlite3_column_text(statement, 1),
            sqlite3_column_int(statement, 2), sqlite3_column_text(statement, 3));
        length += strlen(text);
    }
    sqlite3_finalize(statement);
    return length;
}

int main(int argc, char **argv) {
    sqlite3 *database;
    if (argc < 2 || sqlite3_open(argv[1], &database) != SQLITE_OK) { return 1; }
    create(database);
    printf("%zu\n", addresses(database));
    sqlite3_close(database);
    return 0;
}
