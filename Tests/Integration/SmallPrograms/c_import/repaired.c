/* Imports measurements in one transaction, with one statement that stays prepared. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static void run(sqlite3 *database, const char *sql) {
    char *message = NULL;
    if (sqlite3_exec(database, sql, NULL, NULL, &message) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", sql, message);
        exit(1);
    }
}

static void insert(sqlite3_stmt *statement, int station, int day, double value) {
    sqlite3_bind_int(statement, 1, station);
    sqlite3_bind_int(statement, 2, day);
    sqlite3_bind_double(statement, 3, value);
    sqlite3_step(statement);
    sqlite3_reset(statement);
}

static int print_row(void *unused, int count, char **values, char **names) {
    (void)unused, (void)count, (void)names;
    printf("%s %s\n", values[0], values[1]);
    return 0;
}

int main(int argc, char **argv) {
    sqlite3 *database;
    if (argc < 2 || sqlite3_open(argv[1], &database) != SQLITE_OK) { return 1; }
    run(database, "CREATE TABLE measurement (station INTEGER, day INTEGER, value REAL)");
    sqlite3_stmt *statement;
    const char *sql = "INSERT INTO measurement (station, day, value) VALUES (?, ?, ?)";
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK) { return 1; }
    run(database, "BEGIN");
    for (int day = 0; day < 120; day++) {
        insert(statement, day % 4, day, day * 0.25);
    }
    run(database, "COMMIT");
    sqlite3_finalize(statement);
    sqlite3_exec(database, "SELECT count(*), sum(value) FROM measurement", print_row, NULL, NULL);
    sqlite3_close(database);
    return 0;
}
