#include "preload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// SQLite's plans, asked for once for each text, on the program's own connection: only that one sees its temporary and
// attached tables and its functions. The question changes nothing that the program sees: it is asked of statements that
// read, right after their preparation, which has read the schema and cleared the connection's error. Later, the question
// could wait for the schema, and call the program's busy handler. A program with hooks of its own would see it.
//
// A hidden copy does not show whether the program has hooks. It is asked on a connection of its own, which sees neither
// temporary tables nor functions; but that takes no lock that the program waits for.

#define SQL_MAXIMUM 65536

// The plans of texts, or 0 if there is none, by the number of the text and the recorder's generation.
static preload_table known_plans;
static _Atomic bool has_hooks;

bool preload_may_ask(const preload_copy *copy) {
    return !copy->is_hidden && !atomic_load_explicit(&has_hooks, memory_order_relaxed);
}

void preload_note_hook(void) { atomic_store_explicit(&has_hooks, true, memory_order_relaxed); }

// Writes a plan as an entry of the dictionary. Returns its length, or 0 if there is none or no room for it.
static size_t describe(const preload_copy *copy, sqlite3_stmt *question, char *json, size_t room) {
    size_t used = (size_t)(stpcpy(json, "{\"rows\":[") - json), empty = used;
    while (copy->step(question) == SQLITE_ROW) {
        const char *detail = (const char *)copy->column_text(question, 3);
        if (detail == NULL || room - used < strlen(detail) * 6 + 128) { return 0; }
        if (used > empty) { json[used++] = ','; }
        used += (size_t)(stpcpy(json + used, "{\"detail\":") - (json + used));
        used += fl_json_string(json + used, room - used, detail, strlen(detail));
        used += (size_t)sprintf(
            json + used, ",\"id\":%d,\"parent\":%d}", copy->column_int(question, 0), copy->column_int(question, 1));
    }
    if (used == empty) { return 0; }
    return used + (size_t)(stpcpy(json + used, "]}") - (json + used));
}

static _Thread_local __attribute__((tls_model("initial-exec"))) bool is_asking;

bool preload_is_asking(void) { return is_asking; }

// A connection to the file of a statement's connection; null if it has none.
static sqlite3 *open_file(const preload_copy *copy, sqlite3_stmt *handle) {
    const char *path = copy->db_filename(copy->db_handle(handle), "main");
    sqlite3 *opened = NULL;
    if (path == NULL || *path == 0) { return NULL; }
    if (copy->open_v2(path, &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_PRIVATECACHE, NULL) == SQLITE_OK) { return opened; }
    copy->close(opened);
    return NULL;
}

static uint32_t ask(fl_recorder *recorder, const preload_copy *copy, sqlite3_stmt *handle) {
    static const char words[] = "EXPLAIN QUERY PLAN ";
    const char *sql = copy->sql(handle);
    size_t length = sql == NULL ? SQL_MAXIMUM : strlen(sql);
    if (length >= SQL_MAXIMUM || (copy->stmt_isexplain != NULL && copy->stmt_isexplain(handle) != 0)) { return 0; }
    char *text = malloc(sizeof words + length), json[16384];
    if (text == NULL) { return 0; }
    memcpy(text, words, sizeof words - 1);
    memcpy(text + sizeof words - 1, sql, length + 1);
    sqlite3_stmt *question = NULL;
    size_t used = 0;
    is_asking = true;
    sqlite3 *connection = copy->is_hidden ? open_file(copy, handle) : copy->db_handle(handle);
    if (connection != NULL && copy->prepare_v2(connection, text, -1, &question, NULL) == SQLITE_OK && question != NULL) {
        used = describe(copy, question, json, sizeof json);
    }
    if (question != NULL) { copy->finalize(question); }
    // A failed question leaves its error, and the preparation of nothing clears that.
    if (used == 0 && !copy->is_hidden) { copy->prepare_v2(connection, "", 0, &question, NULL); }
    if (copy->is_hidden && connection != NULL) { copy->close(connection); }
    is_asking = false;
    free(text);
    return used == 0 ? 0 : fl_intern(recorder, FL_DICTIONARY_PLAN, json, used, "", 0);
}

uint32_t preload_plan(
    fl_recorder *recorder, const preload_copy *copy, sqlite3_stmt *handle, uint32_t text, bool may_ask
) {
    if (copy->column_text == NULL || copy->column_int == NULL || copy->db_handle == NULL || copy->prepare_v2 == NULL) { return 0; }
    if (copy->sql == NULL || text == 0 || atomic_load_explicit(&has_hooks, memory_order_relaxed)) { return 0; }
    uint64_t key = (uint64_t)preload_generation() << 32 | text, plan;
    if (preload_look_up(&known_plans, key, &plan)) { return (uint32_t)plan; }
    if (!may_ask) { return 0; }
    // Two threads that ask at the same time get the same answer.
    plan = ask(recorder, copy, handle);
    preload_keep(&known_plans, key, plan);
    return (uint32_t)plan;
}
