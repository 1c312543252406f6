// Programs that extend SQLite, and copy what it has.

#include "guest.h"

// MARK: - Virtual tables

typedef struct squares_cursor {
    sqlite3_vtab_cursor base;
    int row, last;
} squares_cursor;

static int connect(sqlite3 *store, void *unused, int count, const char *const *words, sqlite3_vtab **table,
    char **problem) {
    events[1]++;
    *table = calloc(1, sizeof **table);
    return sqlite3_declare_vtab(store, "CREATE TABLE x(number, square, last HIDDEN)");
}
static int disconnect(sqlite3_vtab *table) {
    events[2]++;
    free(table);
    return SQLITE_OK;
}
// SQLite may call this function any number of times (https://sqlite.org/vtab.html), so it does not count.
static int find_plan(sqlite3_vtab *table, sqlite3_index_info *info) {
    for (int index = 0; index < info->nConstraint; index++) {
        if (info->aConstraint[index].iColumn != 2 || !info->aConstraint[index].usable) { continue; }
        info->aConstraintUsage[index].argvIndex = 1;
        info->idxNum = 1;
    }
    info->estimatedCost = info->idxNum == 1 ? 10 : 1000;
    return SQLITE_OK;
}
static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **cursor) {
    events[4]++;
    *cursor = calloc(1, sizeof(squares_cursor));
    return SQLITE_OK;
}
static int close_cursor(sqlite3_vtab_cursor *cursor) {
    events[5]++;
    free(cursor);
    return SQLITE_OK;
}
static int filter(sqlite3_vtab_cursor *base, int plan, const char *name, int count, sqlite3_value **values) {
    squares_cursor *cursor = (squares_cursor *)base;
    events[6]++;
    cursor->row = 0;
    cursor->last = plan == 1 ? sqlite3_value_int(values[0]) : 5;
    return SQLITE_OK;
}
static int next(sqlite3_vtab_cursor *base) { return (events[7]++, ((squares_cursor *)base)->row++, SQLITE_OK); }
static int is_at_end(sqlite3_vtab_cursor *base) {
    const squares_cursor *cursor = (squares_cursor *)base;
    return cursor->row > cursor->last;
}
static int column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column) {
    int row = ((squares_cursor *)base)->row;
    events[8]++;
    sqlite3_result_int(context, column == 1 ? row * row : row);
    return SQLITE_OK;
}
static int row_number(sqlite3_vtab_cursor *base, sqlite3_int64 *row) {
    *row = ((squares_cursor *)base)->row;
    return SQLITE_OK;
}

static const sqlite3_module squares = {
    .iVersion = 1, .xCreate = connect, .xConnect = connect, .xDisconnect = disconnect, .xDestroy = disconnect,
    .xBestIndex = find_plan, .xOpen = open_cursor, .xClose = close_cursor, .xFilter = filter, .xNext = next,
    .xEof = is_at_end, .xColumn = column, .xRowid = row_number,
};

KIND(own_module) {
    sqlite3 *store = open_memory();
    sqlite3_create_module(store, "squares", &squares, NULL);
    execute(store, "CREATE VIRTUAL TABLE square USING squares");
    static const char *const texts[] = {
        "SELECT * FROM square", "SELECT max(square) FROM square WHERE last = 7",
        "SELECT a.square + b.number FROM square a, squares b WHERE b.last = a.number",
        "SELECT count(*) FROM square LIMIT 0", "EXPLAIN QUERY PLAN SELECT number FROM square WHERE last = 3",
    };
    for (size_t index = 0; index < sizeof texts / sizeof *texts; index++) {
        sqlite3_stmt *rows = prepare(store, texts[index]);
        int sum = 0;
        while (sqlite3_step(rows) == SQLITE_ROW) { sum += sqlite3_column_int(rows, 0); }
        printf("%d; ", sum);
        sqlite3_finalize(rows);
        print_events("called");
    }
    execute(store, "DROP TABLE square");
    sqlite3_close(store);
    print_events("dropped");
}

KIND(known_modules) {
    sqlite3 *store = open_store("modules.sqlite");
    if (sqlite3_compileoption_used("ENABLE_FTS5")) {
        execute(store, "CREATE VIRTUAL TABLE text USING fts5(body)");
        execute(store, "INSERT INTO text VALUES ('one two'), ('two three'), ('three four')");
        print_rows(store, "SELECT rowid, highlight(text, 0, '<', '>') FROM text WHERE text MATCH 'two' ORDER BY rowid");
        execute(store, "INSERT INTO text(text) VALUES ('optimize'); DELETE FROM text WHERE rowid = 1");
        print_rows(store, "SELECT count(*) FROM text('two OR four')");
        print_rows(store, "SELECT * FROM text('\"')");
        print_state(store, "text", 0);
    }
    if (sqlite3_compileoption_used("ENABLE_RTREE")) {
        execute(store, "CREATE VIRTUAL TABLE box USING rtree(id, x0, x1)");
        execute(store, "INSERT INTO box VALUES (1, 0, 5), (2, 4, 9), (3, 10, 11)");
        print_rows(store, "SELECT id, x0 FROM box WHERE x0 <= 5 AND x1 >= 5 ORDER BY id");
        execute(store, "UPDATE box SET x0 = 3 WHERE id = 2; INSERT INTO box VALUES (4, 5, 1)");
        print_state(store, "box", 0);
    }
    print_rows(store, "SELECT key, value FROM json_each('{\"a\":1,\"b\":[2,3]}')");
    print_rows(store, "SELECT name, type FROM pragma_table_info('box')");
    execute(store, "VACUUM; ANALYZE; REINDEX");
    print_rows(store, "PRAGMA integrity_check");
}

// MARK: - Files

static sqlite3_vfs *below;
static sqlite3_vfs counting;
static sqlite3_io_methods methods;
static const sqlite3_io_methods *original;
static int read_file(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    events[1]++;
    return original->xRead(file, bytes, count, offset);
}
static int write_file(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    events[2]++;
    return original->xWrite(file, bytes, count, offset);
}
static int sync_file(sqlite3_file *file, int flags) { return (events[3]++, original->xSync(file, flags)); }
static int lock_file(sqlite3_file *file, int level) { return (events[4]++, original->xLock(file, level)); }
static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out) {
    int result = below->xOpen(below, name, file, flags, out);
    events[5]++;
    if (result != SQLITE_OK || (flags & SQLITE_OPEN_MAIN_DB) == 0) { return result; }
    original = file->pMethods;
    methods = *original;
    methods.xRead = read_file;
    methods.xWrite = write_file;
    methods.xSync = sync_file;
    methods.xLock = lock_file;
    file->pMethods = &methods;
    return result;
}

KIND(own_file_system) {
    sqlite3 *store = NULL;
    below = sqlite3_vfs_find(NULL);
    counting = *below;
    counting.zName = "counting";
    counting.xOpen = open_file;
    sqlite3_vfs_register(&counting, 0);
    sqlite3_open_v2(path_of("files.sqlite"), &store, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "counting");
    execute(store, "CREATE TABLE t(a); INSERT INTO t VALUES (zeroblob(20000)), (1)");
    print_events("written");
    print_rows(store, "SELECT sum(length(a)) FROM t");
    print_rows(store, "SELECT min(length(a)) FROM t");
    print_events("read");
    execute(store, "PRAGMA cache_size = 1; VACUUM");
    print_events("vacuumed");
    sqlite3_stmt *unused = prepare(store, "SELECT max(length(a)) FROM t");
    print_events("prepared");
    sqlite3_step(unused);
    print_events("stepped");
    sqlite3_finalize(unused);
    sqlite3_close(store);
    print_events("closed");
}

// MARK: - Copies

KIND(backups) {
    sqlite3 *source = open_notes(3000), *target = open_store("backup.sqlite");
    sqlite3_backup *backup = sqlite3_backup_init(target, "main", source, "main");
    for (int step = 0, result = SQLITE_OK; result == SQLITE_OK && step < 100; step++) {
        result = sqlite3_backup_step(backup, 3);
        printf("%d %d of %d; ", result, sqlite3_backup_remaining(backup), sqlite3_backup_pagecount(backup));
        if (step == 1) { execute(source, "INSERT INTO note(name) VALUES ('new')"); }
        if (step == 2) { print_state(target, "target", sqlite3_exec(target, "SELECT 1 FROM note", NULL, NULL, NULL)); }
    }
    print_state(target, "finish", sqlite3_backup_finish(backup));
    print_rows(target, "SELECT count(*) FROM note");
    printf("same: %d\n", sqlite3_backup_init(source, "main", source, "main") == NULL);
    print_state(source, "source", 0);
    sqlite3_int64 size = 0;
    unsigned char *bytes = sqlite3_serialize(target, "main", &size, 0);
    sqlite3 *copy = open_memory();
    print_state(copy, "deserialize", sqlite3_deserialize(copy, "main", bytes, size, size,
        SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY));
    print_rows(copy, "SELECT max(id) FROM note");
    print_state(copy, "read-only", sqlite3_exec(copy, "DELETE FROM note", NULL, NULL, NULL));
    printf("%lld bytes\n", (long long)size);
    printf("close: %d\n", sqlite3_close(copy));
}

KIND(blobs) {
    sqlite3 *store = open_memory();
    sqlite3_blob *blob = NULL, *other = NULL;
    unsigned char bytes[8] = {0};
    execute(store, "CREATE TABLE t(id INTEGER PRIMARY KEY, a)");
    execute(store, "INSERT INTO t VALUES (1, x'0102030405'), (2, zeroblob(9)), (3, 7)");
    print_state(store, "open", sqlite3_blob_open(store, "main", "t", "a", 1, 1, &blob));
    print_state(store, "read", sqlite3_blob_read(blob, bytes, 4, 1));
    printf("%d %d, %d bytes\n", bytes[0], bytes[3], sqlite3_blob_bytes(blob));
    print_state(store, "beyond", sqlite3_blob_read(blob, bytes, 4, 2));
    print_state(store, "write", sqlite3_blob_write(blob, "xy", 2, 0));
    print_state(store, "reopen", sqlite3_blob_reopen(blob, 2));
    print_state(store, "number", sqlite3_blob_reopen(blob, 3));
    print_state(store, "after it", sqlite3_blob_read(blob, bytes, 1, 0));
    print_state(store, "close", sqlite3_blob_close(blob));
    print_state(store, "missing", sqlite3_blob_open(store, "main", "t", "b", 1, 0, &other));
    printf("%d\n", other == NULL);
    print_state(store, "open", sqlite3_blob_open(store, "main", "t", "a", 2, 0, &blob));
    execute(store, "UPDATE t SET a = 'changed' WHERE id = 2");
    print_state(store, "expired", sqlite3_blob_read(blob, bytes, 1, 0));
    printf("close: %d\n", sqlite3_close(store));
    printf("close: %d\n", sqlite3_blob_close(blob));
    print_rows(store, "SELECT id, hex(a) FROM t");
    printf("close: %d\n", sqlite3_close(store));
    printf("none: %d\n", sqlite3_blob_close(NULL));
}

static void fail(sqlite3_context *context, int count, sqlite3_value **values) {
    sqlite3_result_error(context, "failed on purpose", -1);
}

static int extend(sqlite3 *store, char **problem, const struct sqlite3_api_routines *functions) {
    events[9]++;
    return sqlite3_create_function(store, "extended", 0, SQLITE_UTF8, NULL, fail, NULL, NULL);
}

KIND(extensions) {
    char *problem = NULL;
    printf("auto: %d\n", sqlite3_auto_extension((void (*)(void))extend));
    sqlite3 *store = open_notes(3);
    print_rows(store, "SELECT extended() FROM note");
    print_events("extended");
    print_state(store, "load", sqlite3_load_extension(store, "/nowhere", NULL, &problem));
    printf("%s\n", problem);
    sqlite3_free(problem);
    sqlite3_enable_load_extension(store, 1);
    print_state(store, "load", sqlite3_load_extension(store, "/nowhere", NULL, &problem));
    printf("cancel: %d\n", sqlite3_cancel_auto_extension((void (*)(void))extend));
    printf("again: %d\n", sqlite3_cancel_auto_extension((void (*)(void))extend));
    sqlite3_close(open_notes(3));
    print_events("extended");
}
