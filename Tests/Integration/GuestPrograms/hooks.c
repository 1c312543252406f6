// Programs that SQLite calls back.

#define SQLITE_ENABLE_PREUPDATE_HOOK
#include "guest.h"

// Not every SQLite has it.
#pragma weak sqlite3_preupdate_hook

// MARK: - Hooks

static int allow(void *denied, int action, const char *one, const char *two, const char *three, const char *four) {
    events[action]++;
    return two != NULL && strcmp(two, "name") == 0 && denied != NULL ? *(int *)denied : SQLITE_OK;
}

KIND(authorizer) {
    sqlite3 *store = open_notes(10);
    print_rows(store, "SELECT count(*) FROM note");
    sqlite3_set_authorizer(store, allow, NULL);
    print_rows(store, "SELECT max(name) FROM note WHERE id > 5");
    print_events("allowed");
    static const int answers[] = {SQLITE_DENY, SQLITE_IGNORE, 99};
    for (size_t index = 0; index < 3; index++) {
        sqlite3_set_authorizer(store, allow, (void *)&answers[index]);
        print_rows(store, "SELECT id, name FROM note WHERE id < 3");
        print_events("answered");
    }
    sqlite3_set_authorizer(store, NULL, NULL);
    print_rows(store, "SELECT min(name) FROM note");
    print_events("none");
}

static int trace(unsigned event, void *context, void *subject, void *detail) {
    events[event]++;
    if (event == SQLITE_TRACE_STMT) { printf("%s; ", (const char *)detail); }
    return 0;
}
static void trace_old(void *unused, const char *text) { printf("old: %s; ", text); }
static void profile(void *unused, const char *text, sqlite3_uint64 time) { printf("profile: %s; ", text); }

KIND(traces) {
    sqlite3 *store = open_notes(10);
    sqlite3_trace_v2(store, 15, trace, NULL);
    sqlite3_stmt *rows = prepare(store, "SELECT name FROM note WHERE id < ?");
    sqlite3_bind_int(rows, 1, 4);
    while (sqlite3_step(rows) == SQLITE_ROW) {}
    sqlite3_finalize(rows);
    execute(store, "CREATE TRIGGER copy AFTER UPDATE ON note BEGIN INSERT INTO note(name) VALUES ('copied'); END");
    execute(store, "UPDATE note SET name = 'x' WHERE id = 2");
    print_events("\ntraced");
    sqlite3_trace(store, trace_old, NULL);
    sqlite3_profile(store, profile, NULL);
    print_rows(store, "SELECT count(*) FROM note WHERE name = 'copied'");
    sqlite3_trace_v2(store, 0, NULL, NULL);
    print_rows(store, "SELECT count(*) FROM note");
    sqlite3_trace_v2(store, SQLITE_TRACE_CLOSE, trace, NULL);
    sqlite3_close(store);
    print_events("closed");
}

static int count_progress(void *limit) { return ++events[1] == *(int *)limit; }

KIND(progress) {
    sqlite3 *store = open_notes(50);
    for (int limit = 0; limit < 40; limit += 3) {
        sqlite3_progress_handler(store, limit % 2 == 0 ? 1 : 20, count_progress, &limit);
        char sql[100];
        snprintf(sql, sizeof sql, "SELECT count(*), %d FROM note a, note b WHERE a.id = b.id", limit);
        print_rows(store, sql);
        print_events("progress");
    }
    sqlite3_progress_handler(store, 0, NULL, NULL);
    print_rows(store, "SELECT count(*) FROM note");
    print_events("none");
}

static int commit(void *is_refused) { return (events[1]++, *(bool *)is_refused); }
static void roll_back(void *unused) { events[2]++; }
static void update(void *unused, int kind, const char *database, const char *table, sqlite3_int64 row) {
    printf("%d %s.%s %lld; ", kind, database, table, (long long)row);
}
static void preupdate(void *unused, sqlite3 *store, int kind, const char *database, const char *table, sqlite3_int64 old,
    sqlite3_int64 new) {
    printf("before %d %s %lld %lld; ", kind, table, (long long)old, (long long)new);
}
static int log_written(void *unused, sqlite3 *store, const char *database, int pages) {
    printf("%s has %d pages; ", database, pages);
    return SQLITE_OK;
}

KIND(hooks_of_changes) {
    sqlite3 *store = open_store("hooks.sqlite");
    bool is_refused = false;
    execute(store, "PRAGMA journal_mode = WAL; CREATE TABLE t(id INTEGER PRIMARY KEY, a)");
    sqlite3_commit_hook(store, commit, &is_refused);
    sqlite3_rollback_hook(store, roll_back, NULL);
    sqlite3_update_hook(store, update, NULL);
    sqlite3_wal_hook(store, log_written, NULL);
    if (sqlite3_preupdate_hook != NULL) { sqlite3_preupdate_hook(store, preupdate, NULL); }
    for (int round = 0; round < 2; round++) {
        is_refused = round == 1;
        execute(store, "INSERT INTO t(a) VALUES (1), (2); UPDATE t SET a = 3 WHERE a = 1; DELETE FROM t WHERE a = 2");
        print_rows(store, "SELECT count(*) FROM t WHERE a > 0");
        execute(store, "BEGIN; INSERT INTO t(a) VALUES (9); ROLLBACK");
        print_events("\ntransactions");
    }
    int frames = 0, done = 0;
    print_state(store, "checkpoint", sqlite3_wal_checkpoint_v2(store, NULL, SQLITE_CHECKPOINT_FULL, &frames, &done));
    printf("%d of %d\n", done, frames);
    sqlite3_wal_autocheckpoint(store, 1);
    execute(store, "INSERT INTO t(a) VALUES (1)");
    print_state(store, "again", sqlite3_wal_checkpoint(store, "main"));
    print_state(store, "unknown", sqlite3_wal_checkpoint(store, "other"));
    printf("close: %d\n", sqlite3_close(store));
}

static void log_message(void *unused, int code, const char *message) { printf("log: %d %s\n", code, message); }

// Configured before anything else, as it must be.
KIND(configuration) {
    printf("log: %d\n", sqlite3_config(SQLITE_CONFIG_LOG, log_message, NULL));
    printf("threads: %d\n", sqlite3_config(SQLITE_CONFIG_SERIALIZED));
    sqlite3 *store = open_notes(5);
    printf("too late: %d\n", sqlite3_config(SQLITE_CONFIG_MULTITHREAD));
    print_rows(store, "SELECT missing FROM note");
    print_rows(store, "SELECT abs(-9223372036854775807 - id) FROM note");
    sqlite3_limit(store, SQLITE_LIMIT_SQL_LENGTH, 36);
    print_rows(store, "SELECT count(*) FROM note WHERE id");
    sqlite3_limit(store, SQLITE_LIMIT_SQL_LENGTH, 1000);
    sqlite3_stmt *rows = prepare(store, "SELECT name FROM note");
    execute(store, "ALTER TABLE note RENAME TO other");
    print_state(store, "step", sqlite3_step(rows));
    print_state(store, "finalize", sqlite3_finalize(rows));
    rows = prepare(store, "SELECT 1 FROM other");
    printf("close: %d\n", sqlite3_close(store));
    printf("finalize: %d\n", sqlite3_finalize(rows));
    printf("close: %d\n", sqlite3_close(store));
    printf("shutdown: %d\n", sqlite3_shutdown());
    printf("config: %d\n", sqlite3_config(SQLITE_CONFIG_MULTITHREAD));
    use();
}

// MARK: - Functions

static void run_inside(sqlite3_context *context, int count, sqlite3_value **values) {
    sqlite3_stmt *inner = prepare(sqlite3_context_db_handle(context), "SELECT count(*) FROM note WHERE id <= ?");
    sqlite3_bind_value(inner, 1, values[0]);
    sqlite3_step(inner);
    sqlite3_result_value(context, sqlite3_column_value(inner, 0));
    sqlite3_finalize(inner);
}
static void fail(sqlite3_context *context, int count, sqlite3_value **values) {
    sqlite3_result_error(context, "failed on purpose", -1);
    sqlite3_result_error_code(context, SQLITE_CONSTRAINT);
}
static void keep(sqlite3_context *context, int count, sqlite3_value **values) {
    bool is_known = sqlite3_get_auxdata(context, 0) != NULL;
    if (!is_known) { sqlite3_set_auxdata(context, 0, sqlite3_malloc(8), sqlite3_free); }
    sqlite3_result_int(context, is_known);
}
static void add(sqlite3_context *context, int count, sqlite3_value **values) {
    *(int *)sqlite3_aggregate_context(context, sizeof(int)) += sqlite3_value_int(values[0]);
}
static void subtract(sqlite3_context *context, int count, sqlite3_value **values) {
    *(int *)sqlite3_aggregate_context(context, sizeof(int)) -= sqlite3_value_int(values[0]);
}
static void value(sqlite3_context *context) {
    sqlite3_result_int(context, *(int *)sqlite3_aggregate_context(context, sizeof(int)));
}
static void forget(void *what) { printf("%s forgotten; ", (const char *)what); }
static int compare(void *unused, int left, const void *one, int right, const void *other) {
    events[0]++;
    return -strncmp(one, other, (size_t)(left < right ? left : right));
}
static void offer(void *unused, sqlite3 *store, int encoding, const char *name) {
    printf("needed: %s; ", name);
    sqlite3_create_collation(store, name, SQLITE_UTF8, NULL, compare);
}

KIND(functions) {
    sqlite3 *store = open_notes(6);
    sqlite3_create_function_v2(store, "inside", 1, SQLITE_UTF8, "inside", run_inside, NULL, NULL, forget);
    sqlite3_create_function_v2(store, "fail", 0, SQLITE_UTF8, "fail", fail, NULL, NULL, forget);
    sqlite3_create_function(store, "keep", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, keep, NULL, NULL);
    sqlite3_create_window_function(store, "total", 1, SQLITE_UTF8, "total", add, value, value, subtract, forget);
    sqlite3_collation_needed(store, NULL, offer);
    print_rows(store, "SELECT id, inside(id), keep('same') FROM note WHERE inside(id) > 2");
    print_rows(store, "SELECT total(id) OVER (ORDER BY id ROWS 1 PRECEDING) FROM note");
    print_rows(store, "SELECT fail() FROM note");
    print_rows(store, "SELECT name FROM note ORDER BY name COLLATE backwards LIMIT 2");
    print_rows(store, "SELECT 2 FROM note WHERE name COLLATE other > 'c' LIMIT 1");
    print_events("compared");
    sqlite3_create_function(store, "inside", 1, SQLITE_UTF8, NULL, NULL, NULL, NULL);
    print_rows(store, "SELECT inside(id) FROM note");
    printf("close: %d\n", sqlite3_close(store));
}

static int interrupt_row(void *store, int count, char **values, char **names) {
    if (++events[0] == 3) { sqlite3_interrupt(store); }
    return events[0] == 20;
}

KIND(interrupts) {
    sqlite3 *store = open_notes(10);
    print_state(store, "interrupted", sqlite3_exec(store, "SELECT id FROM note", interrupt_row, store, NULL));
    print_events("rows");
    sqlite3_interrupt(store);
    print_rows(store, "SELECT count(*) FROM note WHERE id > 1");
    sqlite3_stmt *running = prepare(store, "SELECT id FROM note"), *new = prepare(store, "SELECT name FROM note");
    sqlite3_step(running);
    sqlite3_interrupt(store);
    print_state(store, "new", sqlite3_step(new));
    print_state(store, "running", sqlite3_step(running));
    print_state(store, "finalize", sqlite3_finalize(running));
    print_state(store, "again", sqlite3_step(new));
    sqlite3_finalize(new);
    events[0] = 10;
    char *message = NULL;
    print_state(store, "aborted", sqlite3_exec(store, "SELECT a.id FROM note a, note b", interrupt_row, store, &message));
    printf("%s\n", message);
    sqlite3_free(message);
    char **table = NULL;
    int rows = 0, columns = 0;
    print_state(store, "table", sqlite3_get_table(store,
        "SELECT * FROM note WHERE id < 3; SELECT id, name FROM note WHERE id > 8", &table, &rows, &columns, NULL));
    for (int cell = 0; cell < (rows + 1) * columns; cell++) { printf("%s ", table[cell]); }
    sqlite3_free_table(table);
    print_state(store, "bad table", sqlite3_get_table(store, "SELECT 1; SELECT a, b", &table, &rows, &columns, &message));
    printf("%d %d %s\n", rows, columns, message);
}
