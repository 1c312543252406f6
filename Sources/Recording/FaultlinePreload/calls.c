#define _GNU_SOURCE
#include "preload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Functions that read and write a database without a statement: blobs, backups and checkpoints. Each call is an event with
// the function's name as its text, and counts like the run of a statement: with its waits, files and stack.

// MARK: - Calls

typedef struct call {
    preload_statement *run;  // null: the call is not recorded
    preload_before before;
} call;

typedef struct opening {
    fl_recorder *recorder;
    const preload_copy *copy;
    const sqlite3 *connection;
    const char *function, *subject;
    preload_statement *run;
} opening;

static void begin_call(void *context) {
    const opening *opening = context;
    preload_statement *run = opening->run;
    char text[512], json[2 * sizeof text + 16];
    int length = snprintf(text, sizeof text, "sqlite3_%s(%s)", opening->function, opening->subject);
    size_t named = length < 0 ? 0 : (size_t)length < sizeof text ? (size_t)length : sizeof text - 1;
    run->text = preload_intern_text(opening->recorder, text, named, json, sizeof json);
    run->generation = preload_generation();
    run->type = (uint32_t)fl_enumeration_value(FL_ENUMERATION_STATEMENT_TYPE, "other", strlen("other"));
    run->is_read_only = true;
    run->connection = opening->connection;
    preload_begin_run(opening->copy, run);
}

// `subject` names the object that the function works on; it can be empty. The name distinguishes the frame from the program's.
static call preload_begin_call(
    const preload_copy *copy, const sqlite3 *connection, const char *function, const char *subject, uintptr_t frame
) {
    int saved = errno;
    fl_recorder *recorder = preload_recorder();
    preload_statement *run = recorder == NULL ? NULL : preload_take();
    if (run != NULL) {
        opening opening = {recorder, copy, connection, function, subject, run};
        if (!fl_with_room(begin_call, &opening)) { preload_lose_event(); }
    }
    call call = {.run = run, .before = preload_enter(copy, run, frame)};
    errno = saved;
    return call;
}

static void preload_end_call(call call, const preload_copy *copy, int result) {
    int saved = errno;
    preload_leave(call.before);
    if (call.run != NULL) {
        uint64_t now = preload_ticks();
        call.run->ticks = now - call.run->start;
        call.run->calls = call.run->measured = 1;
        if (call.run->is_running) { preload_end_run(copy, call.run, result, now); }
        preload_give_back(call.run);
    }
    errno = saved;
}

// Calls SQLite's function alone where SQLite itself calls, or jumps from a function that this library has called.
#define PASS(function, ...) \
    const preload_copy *copy = preload_copy_of(CALLER); \
    if (copy == NULL || copy->function == NULL) { return SQLITE_MISUSE; } \
    if (preload_is_own_call(copy, CALLER) || preload_is_own(CALLER)) { return copy->function(__VA_ARGS__); }

#define FRAME (uintptr_t)__builtin_frame_address(0)

#define DEFINE_CALL(function, connection, subject, parameters, ...) \
    EXPORT int sqlite3_##function parameters { \
        PASS(function, __VA_ARGS__) \
        call call = preload_begin_call(copy, connection, #function, subject, FRAME); \
        int result = copy->function(__VA_ARGS__); \
        preload_end_call(call, copy, result); \
        return result; \
    }

// MARK: - Blobs

// Blobs are kept with the statements: no two of their handles are the same.
static preload_statement *find_blob(sqlite3_blob *handle) { return preload_find((sqlite3_stmt *)handle); }

// The table and column of an open blob; empty if they are not known.
static const char *name_of(sqlite3_blob *handle) {
    const preload_statement *blob = find_blob(handle);
    return blob == NULL || blob->label == NULL ? "" : blob->label;
}

static const sqlite3 *connection_of(sqlite3_blob *handle) {
    const preload_statement *blob = find_blob(handle);
    return blob == NULL ? NULL : blob->connection;
}

EXPORT int sqlite3_blob_open(
    sqlite3 *connection, const char *database, const char *table, const char *column, sqlite3_int64 row, int flags,
    sqlite3_blob **out
) {
    PASS(blob_open, connection, database, table, column, row, flags, out)
    const char *first = table == NULL ? "" : table, *second = column == NULL ? "" : column;
    char *name = malloc(strlen(first) + strlen(second) + 2);
    if (name != NULL) { strcpy(stpcpy(stpcpy(name, first), "."), second); }
    call call = preload_begin_call(copy, connection, "blob_open", name == NULL ? "" : name, FRAME);
    int result = copy->blob_open(connection, database, table, column, row, flags, out);
    bool is_recorded = call.run != NULL;
    if (is_recorded) { call.run->rows = result == SQLITE_OK; }
    preload_end_call(call, copy, result);
    preload_statement *blob = result == SQLITE_OK && is_recorded && out != NULL ? preload_add((sqlite3_stmt *)*out) : NULL;
    if (blob == NULL) {
        free(name);
    } else {
        (blob->label = name, blob->connection = connection);
    }
    return result;
}

DEFINE_CALL(
    blob_reopen, connection_of(blob), name_of(blob), (sqlite3_blob *blob, sqlite3_int64 row), blob, row)
DEFINE_CALL(
    blob_read, connection_of(blob), name_of(blob), (sqlite3_blob *blob, void *bytes, int count, int offset), blob, bytes,
    count, offset)
DEFINE_CALL(
    blob_write, connection_of(blob), name_of(blob), (sqlite3_blob *blob, const void *bytes, int count, int offset), blob,
    bytes, count, offset)

// Closing a blob that was written can end a transaction, and then waits for the disk.
EXPORT int sqlite3_blob_close(sqlite3_blob *blob) {
    PASS(blob_close, blob)
    call call = preload_begin_call(copy, connection_of(blob), "blob_close", name_of(blob), FRAME);
    preload_statement *known = find_blob(blob);
    if (known != NULL) { preload_remove(known); }
    int result = copy->blob_close(blob);
    preload_end_call(call, copy, result);
    return result;
}

// MARK: - Backups and checkpoints

DEFINE_CALL(backup_step, NULL, "", (sqlite3_backup *backup, int pages), backup, pages)
DEFINE_CALL(wal_checkpoint, connection, "", (sqlite3 *connection, const char *database), connection, database)
DEFINE_CALL(
    wal_checkpoint_v2, connection, "",
    (sqlite3 *connection, const char *database, int mode, int *frames, int *done), connection, database, mode, frames, done)
