// Small programs that do not know Faultline, to be measured alone and while they are recorded.
//
//     BenchmarkPrograms points STORE | scan STORE | compute | maps
//
// Each prints the CPU time of its work in nanoseconds.

#include "programs.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu_time(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void check(int result, sqlite3 *connection) {
    if (result == SQLITE_OK) { return; }
    fprintf(stderr, "BenchmarkPrograms: %s\n", sqlite3_errmsg(connection));
    exit(1);
}

static const char columns[] = "SELECT Z_PK, Z_OPT, ZFIRSTNAME, ZLASTNAME, ZAGE, ZHEIGHT, ZSCORE, ZISACTIVE FROM ZPERSON";

static int64_t read_row(sqlite3_stmt *statement) {
    int64_t sum = sqlite3_column_int64(statement, 0) + sqlite3_column_int64(statement, 1);
    sum += sqlite3_column_text(statement, 2)[0] + sqlite3_column_text(statement, 3)[0];
    sum += sqlite3_column_int64(statement, 4) + (int64_t)sqlite3_column_double(statement, 5);
    return sum + sqlite3_column_int64(statement, 6) + sqlite3_column_int64(statement, 7);
}

// Looks up rows by key, in a transaction.
__attribute__((noinline)) static int64_t points(sqlite3 *connection) {
    sqlite3_stmt *statement;
    char sql[256];
    snprintf(sql, sizeof sql, "%s WHERE Z_PK = ?", columns);
    check(sqlite3_prepare_v2(connection, sql, -1, &statement, NULL), connection);
    int64_t sum = 0;
    for (int64_t round = 0; round < PROGRAM_POINTS; round++) {
        sqlite3_bind_int64(statement, 1, round * 7919 % PROGRAM_ROWS + 1);
        if (sqlite3_step(statement) == SQLITE_ROW) { sum += read_row(statement); }
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    return sum;
}

__attribute__((noinline)) static int64_t scan(sqlite3 *connection) {
    sqlite3_stmt *statement;
    check(sqlite3_prepare_v2(connection, columns, -1, &statement, NULL), connection);
    int64_t sum = 0;
    for (int round = 0; round < PROGRAM_SCANS; round++) {
        while (sqlite3_step(statement) == SQLITE_ROW) { sum += read_row(statement); }
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    return sum;
}

static int64_t query(const char *store, int64_t (*work)(sqlite3 *)) {
    sqlite3 *connection;
    check(sqlite3_open(store, &connection), connection);
    check(sqlite3_exec(connection, "PRAGMA cache_size = -64000; BEGIN", NULL, NULL, NULL), connection);
    // Warms SQLite's cache.
    int64_t sum = work(connection);
    double start = cpu_time(CLOCK_THREAD_CPUTIME_ID);
    sum += work(connection);
    printf("%.0f\n", cpu_time(CLOCK_THREAD_CPUTIME_ID) - start);
    check(sqlite3_exec(connection, "COMMIT", NULL, NULL, NULL), connection);
    sqlite3_close(connection);
    return sum;
}

__attribute__((noinline)) static void *compute(void *argument) {
    uint64_t state = (uintptr_t)argument;
    for (int64_t round = 0; round < PROGRAM_ROUNDS; round++) { state = state * 6364136223846793005u + (state >> 33); }
    return (void *)(uintptr_t)state;
}

static int64_t compute_in_threads(void) {
    pthread_t other;
    void *result;
    if (pthread_create(&other, NULL, compute, (void *)1) != 0) { exit(1); }
    uintptr_t sum = (uintptr_t)compute((void *)2);
    pthread_join(other, &result);
    printf("%.0f\n", cpu_time(CLOCK_PROCESS_CPUTIME_ID));
    return (int64_t)(sum + (uintptr_t)result);
}

static int64_t fill_maps(void) {
    int64_t sum = program_maps();
    printf("%.0f\n", cpu_time(CLOCK_PROCESS_CPUTIME_ID));
    return sum;
}

int main(int count, char **arguments) {
    const char *mode = count > 1 ? arguments[1] : "";
    int64_t sum;
    if (strcmp(mode, "points") == 0 && count > 2) {
        sum = query(arguments[2], points);
    } else if (strcmp(mode, "scan") == 0 && count > 2) {
        sum = query(arguments[2], scan);
    } else if (strcmp(mode, "compute") == 0) {
        sum = compute_in_threads();
    } else if (strcmp(mode, "maps") == 0) {
        sum = fill_maps();
    } else {
        fprintf(stderr, "BenchmarkPrograms: expected points, scan, compute or maps\n");
        return 2;
    }
    // The result is used, because the compiler would leave out the work otherwise.
    return sum == 0 ? 3 : 0;
}
