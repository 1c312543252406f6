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
    bool is_recorded;
    preload_statement run;
    preload_before before;
} call;

// `subject` is what the function works on; it can be empty. The name tells the frame from the program's.
static void preload_begin_call(
    call *call, const preload_copy *copy, sqlite3 *connection, const char *function, const char *subject, uintptr_t frame
) {
    int saved = errno;
    memset(call, 0, sizeof *call);
    fl_recorder *recorder = preload_recorder();
    call->is_recorded = recorder != NULL;
    if (recorder != NULL) {
        char text[512], json[2 * sizeof text + 16];
        int length = snprintf(text, sizeof text, "sqlite3_%s(%s)", function, subject);
        size_t named = length < 0 ? 0 : (size_t)length < sizeof text ? (size_t)length : sizeof text - 1;
        size_t used = (size_t)(stpcpy(json, "{\"sql\":") - json);
        used += fl_json_string(json + used, sizeof json - used - 2, text, named);
        json[used++] = '}';
        call->run.text = fl_intern(
            recorder, FL_DICTIONARY_STATEMENT, json, used, text, named < 255 ? named : 255);
        call->run.generation = preload_generation();
        call->run.type = (uint32_t)fl_enumeration_value(FL_ENUMERATION_STATEMENT_TYPE, "other", strlen("other"));
        call->run.is_read_only = true;
        call->run.connection = connection;
        preload_begin_run(copy, &call->run);
    }
    call->before = preload_enter(copy, call->is_recorded ? &call->run : NULL, frame);
    errno = saved;
}

static void preload_end_call(call *call, const preload_copy *copy, int result) {
    int saved = errno;
    preload_leave(call->before);
    if (call->is_recorded && call->run.is_running) {
        uint64_t now = preload_ticks();
        call->run.ticks = now - call->run.start;
        call->run.calls = call->run.measured = 1;
        preload_end_run(copy, &call->run, result, now);
    }
    errno = saved;
}

// Calls SQLite's function alone where SQLite itself calls, or jumps from a function that this library has called.
#define PASS(function, ...) \
    const preload_copy *copy = preload_copy_of(CALLER); \
    if (copy == NULL || copy->function == NULL) { return SQLITE_MISUSE; } \
    if (preload_is_own_call(copy, CALLER) || preload_is_own(CALLER)) { return copy->function(__VA_ARGS__); }

#define FRAME (uintptr_t)__builtin_frame_address(0)

// MARK: - Blobs

// The table and column of an open blob; empty if it is not known.
static const char *name_of(const preload_statement *blob) {
    return blob == NULL || blob->label == NULL ? "" : blob->label;
}

static preload_statement *blob_at(sqlite3_blob *handle) { return preload_find((sqlite3_stmt *)handle); }

EXPORT int sqlite3_blob_open(
    sqlite3 *connection, const char *database, const char *table, const char *column, sqlite3_int64 row, int flags,
    sqlite3_blob **out
) {
    PASS(blob_open, connection, database, table, column, row, flags, out)
    char *name = NULL;
    if (asprintf(&name, "%s.%s", table == NULL ? "" : table, column == NULL ? "" : column) < 0) { name = NULL; }
    call call;
    preload_begin_call(&call, copy, connection, "blob_open", name == NULL ? "" : name, FRAME);
    int result = copy->blob_open(connection, database, table, column, row, flags, out);
    call.run.rows = result == SQLITE_OK;
    preload_end_call(&call, copy, result);
    // Blobs are kept with the statements: no two of their handles are the same.
    preload_statement *blob =
        result == SQLITE_OK && call.is_recorded && out != NULL ? preload_add((sqlite3_stmt *)*out) : NULL;
    if (blob == NULL) {
        free(name);
    } else {
        (blob->label = name, blob->connection = connection);
    }
    return result;
}

#define DEFINE_BLOB(function, parameters, ...) \
    EXPORT int sqlite3_##function parameters { \
        PASS(function, __VA_ARGS__) \
        const preload_statement *known = blob_at(blob); \
        call call; \
        preload_begin_call(&call, copy, known == NULL ? NULL : (sqlite3 *)known->connection, #function, name_of(known), FRAME); \
        int result = copy->function(__VA_ARGS__); \
        preload_end_call(&call, copy, result); \
        return result; \
    }

DEFINE_BLOB(blob_reopen, (sqlite3_blob *blob, sqlite3_int64 row), blob, row)
DEFINE_BLOB(blob_read, (sqlite3_blob *blob, void *bytes, int count, int offset), blob, bytes, count, offset)
DEFINE_BLOB(blob_write, (sqlite3_blob *blob, const void *bytes, int count, int offset), blob, bytes, count, offset)

// Closing a blob that was written can end a transaction, and then waits for the disk.
EXPORT int sqlite3_blob_close(sqlite3_blob *blob) {
    PASS(blob_close, blob)
    preload_statement *known = blob_at(blob);
    call call;
    preload_begin_call(&call, copy, known == NULL ? NULL : (sqlite3 *)known->connection, "blob_close", name_of(known), FRAME);
    if (known != NULL) { preload_remove(known); }
    int result = copy->blob_close(blob);
    preload_end_call(&call, copy, result);
    return result;
}

// MARK: - Backups and checkpoints

EXPORT int sqlite3_backup_step(sqlite3_backup *backup, int pages) {
    PASS(backup_step, backup, pages)
    call call;
    preload_begin_call(&call, copy, NULL, "backup_step", "", FRAME);
    int result = copy->backup_step(backup, pages);
    preload_end_call(&call, copy, result);
    return result;
}

EXPORT int sqlite3_wal_checkpoint(sqlite3 *connection, const char *database) {
    PASS(wal_checkpoint, connection, database)
    call call;
    preload_begin_call(&call, copy, connection, "wal_checkpoint", "", FRAME);
    int result = copy->wal_checkpoint(connection, database);
    preload_end_call(&call, copy, result);
    return result;
}

EXPORT int sqlite3_wal_checkpoint_v2(sqlite3 *connection, const char *database, int mode, int *frames, int *done) {
    PASS(wal_checkpoint_v2, connection, database, mode, frames, done)
    call call;
    preload_begin_call(&call, copy, connection, "wal_checkpoint_v2", "", FRAME);
    int result = copy->wal_checkpoint_v2(connection, database, mode, frames, done);
    preload_end_call(&call, copy, result);
    return result;
}
