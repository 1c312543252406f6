// Programs that look closely at the state of their connections and statements.

#include "guest.h"

#include <uchar.h>

// Functions that SQLite does not always have.
#pragma weak sqlite3_unlock_notify

// MARK: - Results and errors

KIND(errors_after_each_call) {
    sqlite3 *store = open_notes(5);
    sqlite3_stmt *statement = NULL;
    sqlite3_stmt *insert = prepare(store, "INSERT INTO note VALUES (?, 'x')");
    sqlite3_stmt *older = prepare(store, "SELECT name FROM note WHERE id = ?");
    static const char *const texts[] = {
        "SELEC 1", "SELECT missing FROM note", "SELECT * FROM missing", "SELECT 1 +", "", "-- nothing",
        "SELECT abs(-9223372036854775808)",
        "SELECT json('{')", "SELECT 'a' LIKE 'b' ESCAPE 'cd'", "SELECT id FROM note WHERE name = 'a' ORDER BY id LIMIT 'x'",
        "WITH a AS (SELECT id FROM note) SELECT count(*) FROM a", "SELECT unknown(1)", "PRAGMA table_info(note)",
        "EXPLAIN SELECT 1",
        "SELECT (SELECT max(id) FROM note), name FROM note WHERE id > 3; SELECT 2",
    };
    for (size_t index = 0; index < sizeof texts / sizeof *texts; index++) {
        const char *tail = NULL;
        print_state(store, texts[index], sqlite3_prepare_v2(store, texts[index], -1, &statement, &tail));
        printf("tail: \"%s\"\n", tail == NULL ? "-" : tail);
        // The results of other calls must not be seen through the first step of a statement.
        sqlite3_bind_int(insert, 1, 1);
        print_state(store, "insert", sqlite3_step(insert));
        print_state(store, "step", statement == NULL ? 0 : sqlite3_step(statement));
        print_state(store, "reset of the insert", sqlite3_reset(insert));
        print_state(store, "bind", sqlite3_bind_int(older, 2, 1));
        print_state(store, "step of another", sqlite3_step(older));
        print_state(store, "step again", statement == NULL ? 0 : sqlite3_step(statement));
        print_state(store, "reset", sqlite3_reset(older));
        print_state(store, "finalize", sqlite3_finalize(statement));
        statement = NULL;
    }
    sqlite3_finalize(insert);
    sqlite3_finalize(older);
    print_state(store, "empty", sqlite3_prepare_v2(store, "SELECT 1", 0, &statement, NULL));
    print_state(store, "cut", sqlite3_prepare_v2(store, "SELECT 12", 8, &statement, NULL));
    print_state(store, "step", sqlite3_step(statement));
    printf("%d\n", sqlite3_column_int(statement, 0));
    printf("null: %d %d %d\n", sqlite3_step(NULL), sqlite3_reset(NULL), sqlite3_finalize(NULL));
    print_state(store, "close too early", sqlite3_close(store));
    printf("finalize: %d\n", sqlite3_finalize(statement));
    printf("close: %d\n", sqlite3_close(store));
}

KIND(old_preparation) {
    sqlite3 *store = open_notes(5);
    sqlite3_stmt *statement = NULL;
    print_state(store, "prepare", sqlite3_prepare(store,
        "SELECT name FROM note WHERE abs(id - 9223372036854775807 - 1) > 0", -1, &statement, NULL));
    execute(store, "CREATE TABLE later(a)");
    for (int step = 0; step < 3; step++) { print_state(store, "step", sqlite3_step(statement)); }
    print_state(store, "reset", sqlite3_reset(statement));
    print_state(store, "finalize", sqlite3_finalize(statement));
    static const char16_t text[] = u"SELECT name, id FROM note WHERE id > 2 ORDER BY name DESC; SELECT 2";
    const void *tail = NULL;
    print_state(store, "prepare16", sqlite3_prepare16(store, text, -1, &statement, &tail));
    printf("tail at %d\n", (int)((const char16_t *)tail - text));
    while (sqlite3_step(statement) == SQLITE_ROW) {
        printf("%c, ", *(const char16_t *)sqlite3_column_text16(statement, 0));
        printf("%d bytes, ", sqlite3_column_bytes16(statement, 0));
        printf("%s\n", sqlite3_column_text(statement, 0));
    }
    print_state(store, "finalize", sqlite3_finalize(statement));
    print_state(store, "prepare16_v2", sqlite3_prepare16_v2(store, u"SELECT x FROM note", -1, &statement, &tail));
    print_state(store, "prepare16_v3", sqlite3_prepare16_v3(store, u"SELECT 3 FROM note", -1, SQLITE_PREPARE_PERSISTENT,
        &statement, &tail));
    print_state(store, "step", sqlite3_step(statement));
    printf("sql: %s\n", sqlite3_sql(statement));
    printf("close: %d\n", sqlite3_close_v2(store));
    printf("step: %d\n", sqlite3_step(statement));
    printf("finalize: %d\n", sqlite3_finalize(statement));
}

KIND(columns_of_rows) {
    sqlite3 *store = open_memory();
    sqlite3_stmt *rows = prepare(store, "SELECT 1 AS a, 2.5, 'text', x'00ff', NULL, '12abc', 'ä' || char(8364) AS \"t\"");
    printf("before: %d columns, %d data, type %d\n", sqlite3_column_count(rows), sqlite3_data_count(rows),
        sqlite3_column_type(rows, 0));
    sqlite3_step(rows);
    for (int column = -1; column < 8; column++) {
        sqlite3_value *value = sqlite3_value_dup(sqlite3_column_value(rows, column));
        printf("%d: type %d, int %d, int64 %lld, double %g", column, sqlite3_column_type(rows, column),
            sqlite3_column_int(rows, column),
            (long long)sqlite3_column_int64(rows, column), sqlite3_column_double(rows, column));
        printf(", blob %d", sqlite3_column_blob(rows, column) == NULL);
        const unsigned char *text = sqlite3_column_text(rows, column);
        printf(", text %s", text == NULL ? "null" : (const char *)text);
        printf(", bytes %d, bytes16 %d, type %d", sqlite3_column_bytes(rows, column), sqlite3_column_bytes16(rows, column),
            sqlite3_column_type(rows, column));
        printf(", value %d, error %d, name %s\n", sqlite3_value_type(value), sqlite3_errcode(store),
            sqlite3_column_name(rows, column));
        sqlite3_value_free(value);
    }
    printf("end: %d, data %d, type %d\n", sqlite3_step(rows), sqlite3_data_count(rows), sqlite3_column_type(rows, 0));
    sqlite3_finalize(rows);
}

static int destroyed;
static void destroy(void *unused) { destroyed++; }

KIND(bound_values) {
    sqlite3 *store = open_notes(5);
    sqlite3_stmt *select = prepare(store, "SELECT ?1, :name, @other, length(?7), typeof(?8)");
    char changing[] = "abc";
    printf("%d parameters, %d, %s\n", sqlite3_bind_parameter_count(select), sqlite3_bind_parameter_index(select, ":name"),
        sqlite3_bind_parameter_name(select, 3));
    print_state(store, "bind 0", sqlite3_bind_int(select, 0, 1));
    print_state(store, "bind 9", sqlite3_bind_text(select, 9, changing, -1, destroy));
    printf("text: %d\n", sqlite3_bind_text(select, 1, changing, 3, destroy));
    printf("again: %d\n", sqlite3_bind_text64(select, 1, changing, 3, destroy, SQLITE_UTF8));
    print_state(store, "blob", sqlite3_bind_blob(select, 2, changing, 3, destroy));
    printf("%d destroyed\n", destroyed);
    printf("blob64: %d\n", sqlite3_bind_blob64(select, 3, changing, (sqlite3_uint64)1 << 40, destroy));
    printf("zeroblob: %d\n", sqlite3_bind_zeroblob64(select, 7, 1 << 20));
    printf("too big: %d\n", sqlite3_bind_zeroblob64(select, 8, (sqlite3_uint64)1 << 40));
    changing[0] = 'z';
    print_state(store, "step", sqlite3_step(select));
    printf("%s, %d bytes\n", sqlite3_column_text(select, 0), sqlite3_column_int(select, 3));
    print_state(store, "bind while running", sqlite3_bind_int(select, 1, 1));
    sqlite3_reset(select);
    char *expanded = sqlite3_expanded_sql(select);
    printf("%zu expanded\n", strlen(expanded));
    sqlite3_free(expanded);
    print_state(store, "pointer", sqlite3_bind_pointer(select, 1, changing, "type", destroy));
    print_state(store, "step", sqlite3_step(select));
    printf("type %d, %d destroyed\n", sqlite3_column_type(select, 0), destroyed);
    sqlite3_reset(select);
    print_state(store, "clear", sqlite3_clear_bindings(select));
    print_state(store, "step", sqlite3_step(select));
    printf("type %d, %d destroyed\n", sqlite3_column_type(select, 0), destroyed);
    print_state(store, "finalize", sqlite3_finalize(select));
    printf("%d destroyed\n", destroyed);
}

KIND(next_statements) {
    sqlite3 *store = open_notes(5);
    for (int index = 0; index < 4; index++) {
        char sql[64];
        snprintf(sql, sizeof sql, "SELECT %d + id FROM note n%d", index, index);
        sqlite3_stmt *statement = prepare(store, sql);
        for (int step = 0; step < index; step++) { sqlite3_step(statement); }
        if (index == 3) { sqlite3_finalize(statement); }
    }
    for (int round = 0; round < 2; round++) {
        for (sqlite3_stmt *each = sqlite3_next_stmt(store, NULL); each != NULL; each = sqlite3_next_stmt(store, each)) {
            printf("%s, busy %d, read-only %d, explain %d; ", sqlite3_sql(each), sqlite3_stmt_busy(each),
                sqlite3_stmt_readonly(each), sqlite3_stmt_isexplain(each));
            if (round == 1) { printf("step %d; ", sqlite3_step(each)); }
        }
        puts("");
    }
    print_rows(store, "SELECT sql, busy, run FROM sqlite_stmt ORDER BY sql");
    sqlite3_stmt *each;
    while ((each = sqlite3_next_stmt(store, NULL)) != NULL) { sqlite3_finalize(each); }
    printf("close: %d\n", sqlite3_close(store));
}

// MARK: - Counters

static void print_counters(sqlite3_stmt *statement, int reset) {
    for (int counter = SQLITE_STMTSTATUS_FULLSCAN_STEP; counter <= SQLITE_STMTSTATUS_RUN; counter++) {
        printf("%d ", sqlite3_stmt_status(statement, counter, reset));
    }
    puts("");
}

KIND(statement_counters) {
    sqlite3 *store = open_notes(50);
    sqlite3_stmt *sorted = prepare(store,
        "SELECT a.id FROM note a, note b WHERE a.name = b.name AND a.id > ? ORDER BY b.name, a.id");
    for (int run = 0; run < 4; run++) {
        sqlite3_bind_int(sorted, 1, run);
        for (int step = 0; step < 20 + 200 * run && sqlite3_step(sorted) == SQLITE_ROW; step++) {
            if (step == 10) { print_counters(sorted, run == 2); }
        }
        if (run == 1) { execute(store, "CREATE TABLE other(a)"); }
        print_counters(sorted, run == 1);
        sqlite3_reset(sorted);
        print_counters(sorted, 0);
    }
    sqlite3_finalize(sorted);
}

static void print_memory(sqlite3 *store) {
    int current = 0, highest = 0;
    static const int counters[] = {
        SQLITE_DBSTATUS_CACHE_USED, SQLITE_DBSTATUS_SCHEMA_USED, SQLITE_DBSTATUS_STMT_USED, SQLITE_DBSTATUS_CACHE_HIT,
        SQLITE_DBSTATUS_CACHE_MISS, SQLITE_DBSTATUS_CACHE_WRITE, SQLITE_DBSTATUS_CACHE_SPILL, SQLITE_DBSTATUS_DEFERRED_FKS,
    };
    for (size_t index = 0; index < sizeof counters / sizeof *counters; index++) {
        sqlite3_db_status(store, counters[index], &current, &highest, 0);
        printf("%d ", current);
    }
    sqlite3_int64 used = 0, most = 0;
    sqlite3_status64(SQLITE_STATUS_MALLOC_COUNT, &used, &most, 0);
    printf("and %lld in %lld\n", (long long)sqlite3_memory_used(), (long long)used);
}

KIND(connection_counters) {
    sqlite3 *store = open_store("counters.sqlite");
    execute(store, "CREATE TABLE note(id INTEGER PRIMARY KEY, name TEXT); INSERT INTO note VALUES (1, 'a'), (2, 'b')");
    print_memory(store);
    print_rows(store, "SELECT name FROM note WHERE id > 0");
    print_memory(store);
    sqlite3_stmt *rows = prepare(store, "SELECT max(name) FROM note GROUP BY id");
    print_memory(store);
    sqlite3_step(rows);
    print_memory(store);
    sqlite3_finalize(rows);
    execute(store, "UPDATE note SET name = 'c'");
    sqlite3_db_release_memory(store);
    print_memory(store);
    sqlite3_close(store);
    printf("%lld\n", (long long)sqlite3_memory_used());
}

KIND(changed_rows) {
    sqlite3 *store = open_notes(10);
    sqlite3_stmt *select = prepare(store, "SELECT changes(), total_changes(), last_insert_rowid()");
    sqlite3_stmt *update = prepare(store, "UPDATE note SET name = 'q' WHERE id > ?");
    for (int round = 0; round < 3; round++) {
        sqlite3_bind_int(update, 1, round * 3);
        sqlite3_step(update);
        print_state(store, "update", sqlite3_reset(update));
        sqlite3_step(select);
        printf("%d %d %d\n", sqlite3_column_int(select, 0), sqlite3_column_int(select, 1), sqlite3_column_int(select, 2));
        sqlite3_reset(select);
        char sql[80];
        snprintf(sql, sizeof sql, "SELECT count(*) FROM note WHERE id <> %d AND name = 'q' -- %d", round, round);
        print_rows(store, sql);
        sqlite3_stmt *other = prepare(store, "INSERT INTO note(name) VALUES ('new'), ('newer')");
        print_state(store, "prepared", 0);
        sqlite3_step(other);
        print_state(store, "inserted", sqlite3_finalize(other));
    }
    sqlite3_set_last_insert_rowid(store, 77);
    print_rows(store, "SELECT last_insert_rowid(), changes() FROM note LIMIT 1");
    print_state(store, "end", 0);
    sqlite3_finalize(select);
    sqlite3_finalize(update);
}

// MARK: - Limits and memory

KIND(limits_of_connection) {
    for (int limit = 0; limit <= SQLITE_LIMIT_WORKER_THREADS; limit++) {
        for (int value = 0; value < 30; value += limit == SQLITE_LIMIT_SQL_LENGTH ? 5 : 7) {
            sqlite3 *store = open_notes(5);
            int bound = limit == SQLITE_LIMIT_SQL_LENGTH ? 32 + value : limit == SQLITE_LIMIT_VDBE_OP ? 2 * value : value;
            sqlite3_limit(store, limit, bound);
            sqlite3_stmt *statement = NULL;
            int prepared = sqlite3_prepare_v2(store, "SELECT name, ?1 || '-' FROM note ORDER BY 1", -1, &statement, NULL);
            int result = sqlite3_step(statement);
            printf("%d: %d %d %d %s;", limit, prepared, result, sqlite3_errcode(store), sqlite3_errmsg(store));
            printf("%d %s;", sqlite3_finalize(statement), sqlite3_errmsg(store));
            sqlite3_close(store);
        }
        puts("");
    }
}

KIND(limits_of_memory) {
    sqlite3 *store = open_notes(200);
    sqlite3_int64 used = sqlite3_memory_used();
    for (int step = 0; step < 40; step++) {
        sqlite3_stmt *statement = NULL;
        char sql[120];
        snprintf(sql, sizeof sql, "SELECT a.name, count(*) FROM note a JOIN note b USING (name) GROUP BY a.name HAVING %d",
            step);
        sqlite3_hard_heap_limit64(used + step * 6000);
        int prepared = sqlite3_prepare_v2(store, sql, -1, &statement, NULL), rows = 0, result;
        while ((result = sqlite3_step(statement)) == SQLITE_ROW) { rows++; }
        printf("%d %d %d %s\n", prepared, rows, result, sqlite3_errmsg(store));
        printf("%d\n", sqlite3_finalize(statement));
    }
    sqlite3_hard_heap_limit64(0);
    sqlite3_soft_heap_limit64(used);
    print_rows(store, "SELECT count(*) FROM note a JOIN note b USING (name)");
    printf("%d left\n", sqlite3_memory_used() <= used);
}

// MARK: - Several connections

static int busy_calls, busy_limit;
static int count_busy(void *unused, int times) { return ++busy_calls < busy_limit; }

KIND(busy_connections) {
    sqlite3 *writer = open_store("busy.sqlite"), *other = open_store("busy.sqlite");
    execute(writer, "CREATE TABLE t(a); INSERT INTO t VALUES (1)");
    print_rows(other, "SELECT * FROM t");
    sqlite3_busy_handler(other, count_busy, NULL);
    busy_limit = 4;
    execute(writer, "BEGIN EXCLUSIVE");
    print_state(other, "write", sqlite3_exec(other, "INSERT INTO t VALUES (2)", NULL, NULL, NULL));
    print_state(other, "read", sqlite3_exec(other, "SELECT max(a) FROM t", NULL, NULL, NULL));
    sqlite3_stmt *read = NULL;
    print_state(other, "prepare", sqlite3_prepare_v2(other, "SELECT min(a) FROM t", -1, &read, NULL));
    print_state(other, "step", sqlite3_step(read));
    print_state(other, "reset", sqlite3_reset(read));
    printf("%d calls\n", busy_calls);
    execute(writer, "INSERT INTO t VALUES (5); COMMIT");
    printf("step: %d\n", sqlite3_step(read));
    printf("%d\n", sqlite3_column_int(read, 0));
    print_state(writer, "blocked", sqlite3_exec(writer, "INSERT INTO t VALUES (3); DROP TABLE t", NULL, NULL, NULL));
    sqlite3_finalize(read);
    sqlite3_busy_timeout(other, 10);
    execute(writer, "BEGIN IMMEDIATE");
    print_state(other, "timeout", sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL));
    execute(writer, "ROLLBACK");
    printf("%d calls\n", busy_calls);
    printf("close: %d %d\n", sqlite3_close(writer), sqlite3_close(other));
}

// The connection has forgotten its schema, and cannot read it again at once.
KIND(busy_schema) {
    sqlite3 *writer = open_store("busy.sqlite"), *other = open_store("busy.sqlite");
    execute(writer, "CREATE TABLE t(a); INSERT INTO t VALUES (1)");
    sqlite3_busy_handler(other, count_busy, NULL);
    sqlite3_stmt *read = prepare(other, "SELECT max(a) FROM t"), *later = prepare(other, "SELECT a FROM t WHERE a > 0");
    for (int round = 0; round < 3; round++) {
        execute(other, "BEGIN; CREATE TABLE u(a); ROLLBACK");
        busy_calls = 0;
        busy_limit = round;
        execute(writer, "BEGIN EXCLUSIVE");
        print_state(other, "step", sqlite3_step(round == 2 ? later : read));
        print_state(other, "reset", sqlite3_reset(round == 2 ? later : read));
        printf("%d calls\n", busy_calls);
        execute(writer, "COMMIT");
    }
    print_state(other, "step", sqlite3_step(later));
    printf("reprepared %d\n", sqlite3_stmt_status(later, SQLITE_STMTSTATUS_REPREPARE, 0));
    sqlite3_reset(later);
    execute(writer, "CREATE TABLE v(a)");
    sqlite3_stmt *new = prepare(other, "SELECT count(*) FROM t");
    print_state(other, "step", sqlite3_step(new));
    printf("reprepared %d\n", sqlite3_stmt_status(new, SQLITE_STMTSTATUS_REPREPARE, 0));
}

static void note_unlock(void **arguments, int count) { printf("%d unlocked\n", count); }

KIND(shared_cache) {
    sqlite3 *writer = NULL, *other = NULL;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_SHAREDCACHE | SQLITE_OPEN_URI;
    sqlite3_open_v2("file:one?mode=memory&cache=shared", &writer, flags, NULL);
    sqlite3_open_v2("file:one?mode=memory&cache=shared", &other, flags, NULL);
    execute(writer, "CREATE TABLE t(a); INSERT INTO t VALUES (1)");
    print_rows(other, "SELECT * FROM t");
    sqlite3_stmt *read = prepare(other, "SELECT max(a) FROM t"), *again = prepare(other, "SELECT min(a) FROM t");
    execute(writer, "BEGIN; INSERT INTO t VALUES (2)");
    print_state(other, "step", sqlite3_step(read));
    print_state(other, "reset", sqlite3_reset(read));
    if (sqlite3_unlock_notify != NULL) { print_state(other, "notify", sqlite3_unlock_notify(other, note_unlock, NULL)); }
    execute(writer, "COMMIT");
    print_state(other, "step", sqlite3_step(read));
    printf("%d\n", sqlite3_column_int(read, 0));
    print_state(writer, "write", sqlite3_exec(writer, "INSERT INTO t VALUES (3)", NULL, NULL, NULL));
    sqlite3_reset(read);
    execute(writer, "BEGIN; CREATE TABLE u(a)");
    print_state(other, "step", sqlite3_step(again));
    print_state(other, "reset", sqlite3_reset(again));
    if (sqlite3_unlock_notify != NULL) { print_state(other, "notify", sqlite3_unlock_notify(other, note_unlock, NULL)); }
    print_state(other, "uncommitted", sqlite3_exec(other, "PRAGMA read_uncommitted = 1; SELECT count(*) FROM t", NULL,
        NULL, NULL));
    execute(writer, "ROLLBACK");
    print_state(other, "step", sqlite3_step(again));
    printf("%d\n", sqlite3_column_int(again, 0));
    sqlite3_finalize(again);
    sqlite3_finalize(read);
    printf("close: %d %d\n", sqlite3_close(writer), sqlite3_close(other));
}

KIND(attached_databases) {
    sqlite3 *store = open_store("first.sqlite");
    char sql[1200];
    snprintf(sql, sizeof sql, "CREATE TABLE t(a); ATTACH '%s' AS second; CREATE TABLE second.t(a); CREATE TEMP TABLE t(a)",
        path_of("second.sqlite"));
    execute(store, sql);
    execute(store, "INSERT INTO main.t VALUES (1); INSERT INTO second.t VALUES (2), (3); INSERT INTO temp.t VALUES (4)");
    print_rows(store, "SELECT (SELECT sum(a) FROM main.t), (SELECT sum(a) FROM second.t), (SELECT sum(a) FROM t)");
    sqlite3_stmt *open = prepare(store, "SELECT a FROM second.t ORDER BY a");
    sqlite3_stmt *unused = prepare(store, "SELECT max(a) FROM second.t");
    sqlite3_step(open);
    print_state(store, "detach", sqlite3_exec(store, "DETACH second", NULL, NULL, NULL));
    sqlite3_reset(open);
    print_state(store, "detach", sqlite3_exec(store, "DETACH second", NULL, NULL, NULL));
    print_state(store, "step", sqlite3_step(unused));
    print_state(store, "reset", sqlite3_reset(unused));
    const char *file = sqlite3_db_filename(store, "main");
    printf("read-only: %d, file: %d\n", sqlite3_db_readonly(store, "main"), strcmp(file, path_of("first.sqlite")));
}
