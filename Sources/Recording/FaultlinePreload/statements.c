#include "preload.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

// Statements by their handles. A look-up scans one bucket and takes no lock; adding and removing take one, which costs
// little beside preparing a statement.
#define BUCKETS 8192
#define BUCKET_SLOTS 8

typedef struct bucket {
    _Alignas(64) _Atomic(sqlite3_stmt *) handles[BUCKET_SLOTS];
    preload_statement *statements[BUCKET_SLOTS];
} bucket;

static bucket buckets[BUCKETS];
// Records that can be used again, linked by the pointers that they begin with.
static void *unused;
static fl_lock lock = FL_LOCK_FREE;

static bucket *bucket_of(const sqlite3_stmt *handle) {
    // Handles are aligned, so the lowest bits say nothing.
    uint64_t hash = ((uintptr_t)handle >> 4) * 0x9E3779B97F4A7C15u;
    return &buckets[hash >> 51];
}

static preload_statement *allocate(void) {
    void *statement = unused;
    if (statement == NULL) { return malloc(sizeof(preload_statement)); }
    unused = *(void **)statement;
    return statement;
}

static void free_parts(preload_statement *statement) {
    free(statement->many);
    free(statement->label);
}

preload_statement *preload_add(sqlite3_stmt *handle) {
    bucket *bucket = bucket_of(handle);
    preload_statement *added = NULL;
    bool is_known = false;
    fl_take(&lock);
    for (size_t slot = 0; slot < BUCKET_SLOTS; slot++) {
        sqlite3_stmt *held = atomic_load_explicit(&bucket->handles[slot], memory_order_relaxed);
        // A handle that SQLite finalized unseen has come back.
        if (held == handle) { (added = bucket->statements[slot], is_known = true); }
    }
    for (size_t slot = 0; added == NULL && slot < BUCKET_SLOTS; slot++) {
        if (atomic_load_explicit(&bucket->handles[slot], memory_order_relaxed) != NULL) { continue; }
        added = bucket->statements[slot] = allocate();
        if (added != NULL) { atomic_store_explicit(&bucket->handles[slot], handle, memory_order_release); }
        break;
    }
    if (added != NULL) {
        if (is_known) { free_parts(added); }
        memset(added, 0, sizeof *added);
        added->handle = handle;
    }
    fl_give(&lock);
    return added;
}

preload_statement *preload_take(void) {
    fl_take(&lock);
    preload_statement *taken = allocate();
    fl_give(&lock);
    if (taken != NULL) { memset(taken, 0, sizeof *taken); }
    return taken;
}

// Under the lock.
static void release(preload_statement *statement) {
    free_parts(statement);
    *(void **)statement = unused;
    unused = statement;
}

void preload_give_back(preload_statement *statement) {
    fl_take(&lock);
    release(statement);
    fl_give(&lock);
}

void preload_lock_statements(void) { fl_take(&lock); }
void preload_unlock_statements(void) { fl_give(&lock); }

preload_statement *preload_find(sqlite3_stmt *handle) {
    if (handle == NULL) { return NULL; }
    bucket *bucket = bucket_of(handle);
    for (size_t slot = 0; slot < BUCKET_SLOTS; slot++) {
        if (atomic_load_explicit(&bucket->handles[slot], memory_order_acquire) == handle) {
            return bucket->statements[slot];
        }
    }
    return NULL;
}

// Under the lock. Whether the statement was in the table.
static bool detach(preload_statement *statement) {
    bucket *bucket = bucket_of(statement->handle);
    for (size_t slot = 0; slot < BUCKET_SLOTS; slot++) {
        if (atomic_load_explicit(&bucket->handles[slot], memory_order_relaxed) != statement->handle) { continue; }
        atomic_store_explicit(&bucket->handles[slot], NULL, memory_order_release);
        return true;
    }
    return false;
}

void preload_detach(preload_statement *statement) {
    fl_take(&lock);
    detach(statement);
    fl_give(&lock);
}

void preload_remove(preload_statement *statement) {
    fl_take(&lock);
    if (detach(statement)) { release(statement); }
    fl_give(&lock);
}
