// A program that uses SQLite and knows nothing of Faultline. It prints what it counted itself.

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static sqlite3 *open_store(const char *path) {
    sqlite3 *store = NULL;
    if (sqlite3_open(path, &store) != SQLITE_OK) { exit(3); }
    return store;
}

static int count_row(void *rows, int columns, char **values, char **names) {
    (void)columns, (void)values, (void)names;
    ++*(int *)rows;
    return 0;
}

// Executes each argument, and prints the rows or the error.
static void execute(sqlite3 *store, int count, char **statements) {
    for (int index = 0; index < count; index++) {
        int rows = 0;
        char *problem = NULL;
        int result = sqlite3_exec(store, statements[index], count_row, &rows, &problem);
        printf("%d rows, result %d: %s\n", rows, result, problem == NULL ? "no problem" : problem);
        sqlite3_free(problem);
    }
}

__attribute__((noinline)) static int author_of(sqlite3 *store, int book) {
    sqlite3_stmt *statement = NULL;
    int rows = 0;
    sqlite3_prepare_v2(store, "SELECT name FROM author WHERE id = ?", -1, &statement, NULL);
    sqlite3_bind_int(statement, 1, book);
    while (sqlite3_step(statement) == SQLITE_ROW) { rows++; }  // N+1
    sqlite3_finalize(statement);
    return rows;
}

// Looks up the author of each book while it steps through the books.
static void list_books(sqlite3 *store) {
    sqlite3_stmt *books = NULL;
    int rows = 0;
    execute(store, 1, (char *[]){
        "CREATE TABLE author(id INTEGER PRIMARY KEY, name TEXT);"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)"
        "INSERT INTO author SELECT i, 'author ' || i FROM n"});
    sqlite3_prepare_v2(store, "SELECT id FROM author", -1, &books, NULL);
    while (sqlite3_step(books) == SQLITE_ROW) { rows += author_of(store, sqlite3_column_int(books, 0)); }
    sqlite3_finalize(books);
    printf("%d authors\n", rows);
}

static void *count_in_thread(void *unused) {
    (void)unused;
    sqlite3 *store = open_store(":memory:");
    sqlite3_stmt *statement = NULL;
    sqlite3_prepare_v2(store, "SELECT 1", -1, &statement, NULL);
    for (int run = 0; run < 1000; run++) {
        sqlite3_step(statement);
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    sqlite3_close(store);
    return NULL;
}

static void count_in_threads(void) {
    pthread_t threads[4];
    for (int index = 0; index < 4; index++) { pthread_create(&threads[index], NULL, count_in_thread, NULL); }
    for (int index = 0; index < 4; index++) { pthread_join(threads[index], NULL); }
}

// Runs SQL while a statement runs, as user functions may.
static void count_tables(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count, (void)values;
    sqlite3 *store = sqlite3_context_db_handle(context);
    int rows = 0;
    sqlite3_exec(store, "SELECT name FROM sqlite_master", count_row, &rows, NULL);
    sqlite3_result_int(context, rows);
}

static void call_function(sqlite3 *store) {
    sqlite3_create_function(store, "tables", 0, SQLITE_UTF8, NULL, count_tables, NULL, NULL);
    execute(store, 2, (char *[]){"CREATE TABLE t(a)", "SELECT tables()"});
}

static int print_authorization(
    void *unused, int action, const char *first, const char *second, const char *database, const char *trigger
) {
    (void)unused, (void)database, (void)trigger;
    printf("authorize %d %s %s\n", action, first == NULL ? "-" : first, second == NULL ? "-" : second);
    return SQLITE_OK;
}

static int print_statement(unsigned event, void *unused, void *statement, void *text) {
    (void)unused, (void)statement;
    if (event == SQLITE_TRACE_STMT) { printf("statement %s\n", (const char *)text); }
    return 0;
}

static int print_progress(void *calls) {
    ++*(int *)calls;
    return 0;
}

// Prints what the program's own hooks see.
static void set_hooks(sqlite3 *store) {
    int calls = 0;
    execute(store, 1, (char *[]){"CREATE TABLE t(a); INSERT INTO t VALUES (1), (2)"});
    sqlite3_set_authorizer(store, print_authorization, NULL);
    sqlite3_trace_v2(store, SQLITE_TRACE_STMT, print_statement, NULL);
    sqlite3_progress_handler(store, 1, print_progress, &calls);
    execute(store, 2, (char *[]){"SELECT a FROM t", "DELETE FROM t WHERE a = 1"});
    sqlite3_progress_handler(store, 0, NULL, NULL);
    printf("progress %d\n", calls);
}

// Prints the state of the connection around a statement's first step.
static void show_state(sqlite3 *store) {
    sqlite3_stmt *statement = NULL;
    execute(store, 2, (char *[]){"CREATE TABLE t(a UNIQUE)", "INSERT INTO t VALUES (1), (2)"});
    sqlite3_prepare_v2(store, "SELECT a FROM t", -1, &statement, NULL);
    printf("changes %d, total %d\n", sqlite3_changes(store), sqlite3_total_changes(store));
    sqlite3_bind_int(statement, 9, 1);  // fails
    printf("error %d, %s\n", sqlite3_errcode(store), sqlite3_errmsg(store));
    while (sqlite3_step(statement) == SQLITE_ROW) {
        printf("row %d, changes %d, error %d\n", sqlite3_column_int(statement, 0), sqlite3_changes(store), sqlite3_errcode(store));
    }
    printf("error %d, steps %d\n", sqlite3_errcode(store), sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_FULLSCAN_STEP, 1));
    sqlite3_finalize(statement);
    printf("last row %lld, open statements %d\n", (long long)sqlite3_last_insert_rowid(store), sqlite3_next_stmt(store, NULL) != NULL);
}

static void run(sqlite3_stmt *statement) {
    while (sqlite3_step(statement) == SQLITE_ROW) {}
    sqlite3_reset(statement);
}

static void bind_its_value(sqlite3_context *context, int count, sqlite3_value **values) {
    sqlite3_stmt *statement = sqlite3_user_data(context);
    (void)count;
    sqlite3_bind_value(statement, 1, values[0]);
}

// Runs a statement with many kinds of values.
static void bind_values(sqlite3 *store) {
    static char text[1000];
    static const unsigned short text16[] = {'1', 0};
    sqlite3_stmt *statement = NULL;
    sqlite3_prepare_v2(store, "SELECT ?1 WHERE ?10 IS NULL", -1, &statement, NULL);
    memset(text, 'x', sizeof text);
    for (int round = 0; round < 2; round++) {
        (sqlite3_bind_int(statement, 1, 1), run(statement));
        (sqlite3_bind_int64(statement, 1, 1), run(statement));
        (sqlite3_bind_text(statement, 1, "1", -1, SQLITE_STATIC), run(statement));
        (sqlite3_bind_text16(statement, 1, text16, -1, SQLITE_STATIC), run(statement));
        (sqlite3_bind_double(statement, 1, 1), run(statement));
        (sqlite3_bind_blob(statement, 1, "1", 1, SQLITE_STATIC), run(statement));
        (sqlite3_bind_zeroblob(statement, 1, 1), run(statement));
        (sqlite3_bind_int(statement, 1, 1), sqlite3_bind_int(statement, 10, 5), run(statement));
        (sqlite3_bind_null(statement, 10), run(statement));
        run(statement);
        (sqlite3_bind_text(statement, 1, text, sizeof text, SQLITE_TRANSIENT), run(statement));
        text[sizeof text / 2] = 'y';
        (sqlite3_bind_text(statement, 1, text, sizeof text, SQLITE_TRANSIENT), run(statement));
        text[sizeof text / 2] = 'x';
        (sqlite3_clear_bindings(statement), run(statement));
        sqlite3_create_function(store, "bind", 1, SQLITE_UTF8, statement, bind_its_value, NULL, NULL);
        execute(store, 1, (char *[]){"SELECT bind(1)"});
        run(statement);
        (sqlite3_clear_bindings(statement), run(statement));
    }
    sqlite3_finalize(statement);
}

// After SQLite's first sleep between its attempts to take a lock, the other transaction ends.
static sqlite3_vfs shown_sleep, *base;
static void (*first_sleep)(void);
static atomic_bool has_slept;
static int to_child[2];

static int sleep_once(sqlite3_vfs *vfs, int microseconds) {
    (void)vfs;
    int slept = base->xSleep(base, microseconds);
    if (!atomic_exchange(&has_slept, true) && first_sleep != NULL) { first_sleep(); }
    return slept;
}

static void show_sleeps(void) {
    base = sqlite3_vfs_find(NULL);
    shown_sleep = *base;
    shown_sleep.zName = "shown";
    shown_sleep.xSleep = sleep_once;
    sqlite3_vfs_register(&shown_sleep, 1);
}

static void *insert_patiently(void *path) {
    sqlite3 *store = open_store(path);
    sqlite3_busy_timeout(store, 60000);
    execute(store, 1, (char *[]){"INSERT INTO t VALUES (2)"});
    sqlite3_close(store);
    return NULL;
}

// Waits for the lock of another thread, and then fails to get it without waiting.
static void wait_for_thread(char *path) {
    show_sleeps();
    sqlite3 *store = open_store(path), *impatient = open_store(path);
    pthread_t waiter;
    execute(store, 3, (char *[]){"CREATE TABLE t(a)", "BEGIN IMMEDIATE", "INSERT INTO t VALUES (1)"});
    pthread_create(&waiter, NULL, insert_patiently, path);
    while (!atomic_load(&has_slept)) { sched_yield(); }
    execute(impatient, 1, (char *[]){"INSERT INTO t VALUES (3)"});
    execute(store, 1, (char *[]){"COMMIT"});
    pthread_join(waiter, NULL);
    sqlite3_close(impatient);
    sqlite3_close(store);
}

static void end_child(void) { close(to_child[1]); }

// Waits for the lock of another process.
static void wait_for_process(char *path) {
    int from_child[2];
    char byte;
    if (pipe(to_child) != 0 || pipe(from_child) != 0) { exit(3); }
    pid_t child = fork();
    if (child == 0) {
        close(to_child[1]);
        sqlite3 *store = open_store(path);
        execute(store, 3, (char *[]){"CREATE TABLE t(a)", "BEGIN IMMEDIATE", "INSERT INTO t VALUES (1)"});
        if (write(from_child[1], "", 1) != 1 || read(to_child[0], &byte, 1) != 0) { _exit(3); }
        execute(store, 1, (char *[]){"COMMIT"});
        sqlite3_close(store);
        _exit(0);
    }
    show_sleeps();
    first_sleep = end_child;
    if (read(from_child[0], &byte, 1) != 1) { exit(3); }
    insert_patiently(path);
    waitpid(child, NULL, 0);
}

static void fork_child(void) {
    pid_t child = fork();
    sqlite3 *store = open_store(":memory:");
    execute(store, 1, (char *[]){child == 0 ? "SELECT 'child' AS c" : "SELECT 'parent' AS p"});
    sqlite3_close(store);
    fflush(stdout);
    if (child == 0) { _exit(0); }
    waitpid(child, NULL, 0);
}

__attribute__((noinline)) static int copy_part(sqlite3_blob *blob, char *bytes, int part) {
    return sqlite3_blob_read(blob, bytes, 1000, part * 1000);  // a part
}

// Reads and writes blobs, makes a backup and a checkpoint. Prints the results.
static void make_calls(sqlite3 *store) {
    sqlite3_blob *blob = NULL;
    char bytes[1000] = {0};
    sqlite3 *copy = open_store(":memory:");
    execute(store, 2, (char *[]){
        "PRAGMA journal_mode = WAL", "CREATE TABLE photo(id INTEGER PRIMARY KEY, data BLOB);"
        "INSERT INTO photo VALUES (1, randomblob(5000)), (2, randomblob(5000))"});
    printf("open %d\n", sqlite3_blob_open(store, "main", "photo", "data", 1, 1, &blob));
    for (int part = 0; part < 5; part++) { printf("read %d\n", copy_part(blob, bytes, part)); }
    printf("read beyond the end %d\n", sqlite3_blob_read(blob, bytes, 1000, 4500));
    printf("reopen %d\n", sqlite3_blob_reopen(blob, 2));
    printf("write %d\n", sqlite3_blob_write(blob, bytes, 1000, 0));
    printf("close %d\n", sqlite3_blob_close(blob));
    printf("no row %d\n", sqlite3_blob_open(store, "main", "photo", "data", 3, 0, &blob));
    sqlite3_backup *backup = sqlite3_backup_init(copy, "main", store, "main");
    printf("backup %d\n", sqlite3_backup_step(backup, -1));
    printf("finish %d\n", sqlite3_backup_finish(backup));
    execute(copy, 1, (char *[]){"SELECT * FROM photo"});
    printf("checkpoint %d\n", sqlite3_wal_checkpoint_v2(store, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL));
    printf("checkpoint %d\n", sqlite3_wal_checkpoint(store, NULL));
    sqlite3_close(copy);
}

static jmp_buf busy_place;

static int leave_busy(void *context, int tries) {
    (void)context, (void)tries;
    longjmp(busy_place, 1);
}

__attribute__((noinline)) static void try_checkpoint(sqlite3 *store) {
    if (setjmp(busy_place) == 0) { sqlite3_wal_checkpoint_v2(store, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL); }
}

// Closes the store, which writes and waits for the disk, over the part of the stack where the checkpoint was tried.
__attribute__((noinline)) static int close_over(sqlite3 *store) {
    unsigned char bytes[4096];
    int changed = 0;
    memset(bytes, 0x5a, sizeof bytes);
    __asm__ volatile("" ::"r"(bytes) : "memory");
    sqlite3_close_v2(store);
    __asm__ volatile("" ::"r"(bytes) : "memory");
    for (size_t index = 0; index < sizeof bytes; index++) { changed += bytes[index] != 0x5a; }
    return changed;
}

// A busy handler leaves a checkpoint by longjmp.
static void leave_checkpoint(const char *path) {
    sqlite3 *store = open_store(path), *reader = open_store(path);
    execute(store, 1, (char *[]){"PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES (randomblob(200000))"});
    execute(reader, 1, (char *[]){"BEGIN; SELECT count(*) FROM t"});
    execute(store, 1, (char *[]){"INSERT INTO t VALUES (randomblob(200000))"});
    sqlite3_busy_handler(store, leave_busy, NULL);
    try_checkpoint(store);
    execute(reader, 1, (char *[]){"COMMIT"});
    sqlite3_close(reader);
    printf("%d bytes changed\n", close_over(store));
}

// Ends statements before their end, which then commit.
static void end_early(sqlite3 *store) {
    sqlite3_stmt *insert = NULL;
    execute(store, 1, (char *[]){"CREATE TABLE t(a INTEGER PRIMARY KEY, b)"});
    sqlite3_prepare_v2(store, "INSERT INTO t VALUES (NULL, zeroblob(100000)) RETURNING a", -1, &insert, NULL);
    printf("step %d\n", sqlite3_step(insert));
    printf("reset %d\n", sqlite3_reset(insert));
    printf("step %d, %d\n", sqlite3_step(insert), sqlite3_column_int(insert, 0));
    printf("finalize %d\n", sqlite3_finalize(insert));
}

int main(int count, char **arguments) {
    if (count < 3) {
        fprintf(stderr, "usage: SQLiteProgram exec|books|calls|early|leave|threads|function|hooks|state|values|wait|foreign|fork STORE [SQL…]\n");
        return 2;
    }
    const char *mode = arguments[1];
    if (strcmp(mode, "wait") == 0) { return (wait_for_thread(arguments[2]), 0); }
    if (strcmp(mode, "leave") == 0) { return (leave_checkpoint(arguments[2]), 0); }
    if (strcmp(mode, "foreign") == 0) { return (wait_for_process(arguments[2]), 0); }
    sqlite3 *store = open_store(arguments[2]);
    if (strcmp(mode, "exec") == 0) { execute(store, count - 3, arguments + 3); }
    if (strcmp(mode, "books") == 0) { list_books(store); }
    if (strcmp(mode, "calls") == 0) { make_calls(store); }
    if (strcmp(mode, "early") == 0) { end_early(store); }
    if (strcmp(mode, "threads") == 0) { count_in_threads(); }
    if (strcmp(mode, "function") == 0) { call_function(store); }
    if (strcmp(mode, "hooks") == 0) { set_hooks(store); }
    if (strcmp(mode, "state") == 0) { show_state(store); }
    if (strcmp(mode, "values") == 0) { bind_values(store); }
    if (strcmp(mode, "fork") == 0) { fork_child(); }
    printf("changes %d, message: %s\n", sqlite3_changes(store), sqlite3_errmsg(store));
    return sqlite3_close(store);
}
