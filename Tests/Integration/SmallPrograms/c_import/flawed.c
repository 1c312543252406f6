/* Imports measurements: each in a transaction of its own, with its values in the text of the statement. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static void run(sqlite3 *database, const char *sql) {
    char *message = NULL;
    if (sqlite3_exec(database, sql, NULL, NULL, &message) != SQLITE_OK) { /* finds R28 */
        fprintf(stderr, "%s: %s\n", sql, message);
        exit(1);
    }
}

static void insert(sqlite3 *database, int station, int day, double value) {
    char sql[200];
    snprintf(sql, sizeof sql, "INSERT INTO measurement (station, day, value) VALUES (%d, %d, %.2f)", station, day, value);
    run(database, "BEGIN");
    run(database, sql);
    run(database, "COMMIT");
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
    for (int day = 0; day < 120; day++) {
        insert(database, day % 4, day, day * 0.25);
    }
    sqlite3_exec(database, "SELECT count(*), sum(value) FROM measurement", print_row, NULL, NULL);
    sqlite3_close(database);
    return 0;
}
