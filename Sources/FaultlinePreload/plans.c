#include "preload.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// SQLite's plans, asked for once for each text, on the program's own connection: only that one sees its temporary and
// attached tables and its functions. The question changes nothing that the program sees: it is asked of statements that
// read, before their first step, which sets the connection's error anew. A program with hooks of its own would see it.

#define PLANS 8192
#define PROBES 16
#define SQL_MAXIMUM 65536

// The plan of a text, by the text's number and the recorder's generation.
typedef struct known_plan {
    _Atomic uint64_t key;
    uint32_t plan;  // 0: none
} known_plan;

static known_plan known_plans[PLANS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool has_hooks;

void preload_lock_plans(void) { pthread_mutex_lock(&lock); }
void preload_unlock_plans(void) { pthread_mutex_unlock(&lock); }

void preload_note_hook(void) { atomic_store_explicit(&has_hooks, true, memory_order_relaxed); }

// The place of a text in the table, or a free one; null if there is neither.
static known_plan *find(uint64_t key) {
    uint64_t first = key * 0x9e3779b97f4a7c15u >> 51;
    for (uint64_t step = 0; step < PROBES; step++) {
        known_plan *known = &known_plans[(first + step) % PLANS];
        uint64_t held = atomic_load_explicit(&known->key, memory_order_acquire);
        if (held == key || held == 0) { return known; }
    }
    return NULL;
}

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
    if (copy->prepare_v2(copy->db_handle(handle), text, -1, &question, NULL) == SQLITE_OK && question != NULL) {
        used = describe(copy, question, json, sizeof json);
    }
    if (question != NULL) { copy->finalize(question); }
    free(text);
    return used == 0 ? 0 : fl_intern(recorder, FL_DICTIONARY_PLAN, json, used, "", 0);
}

uint32_t preload_plan(fl_recorder *recorder, const preload_copy *copy, sqlite3_stmt *handle, uint32_t text) {
    if (copy->column_text == NULL || copy->column_int == NULL || copy->db_handle == NULL || copy->prepare_v2 == NULL) { return 0; }
    if (copy->sql == NULL || text == 0 || atomic_load_explicit(&has_hooks, memory_order_relaxed)) { return 0; }
    uint64_t key = (uint64_t)preload_generation() << 32 | text;
    known_plan *known = find(key);
    if (known == NULL) { return 0; }
    if (atomic_load_explicit(&known->key, memory_order_acquire) == key) { return known->plan; }
    // Two threads that ask at the same time get the same answer.
    uint32_t plan = ask(recorder, copy, handle);
    pthread_mutex_lock(&lock);
    known = find(key);
    if (known != NULL && atomic_load_explicit(&known->key, memory_order_relaxed) == 0) {
        known->plan = plan;
        atomic_store_explicit(&known->key, key, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return plan;
}
