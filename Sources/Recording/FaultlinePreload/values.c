#include "preload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Hashes of the values that a program binds. They have no key, and never leave the program's memory, which has the values
// themselves. The trace gets a keyed hash of all values of a run.

// MARK: - Hashes

// Hashing a longer value would take too long.
#define VALUE_MAXIMUM 65536
// The hash of a value that was not read.
#define UNKNOWN UINT64_MAX

static uint64_t hash_value(int type, const void *bytes, size_t length) {
    if (bytes == NULL) { return 0; }
    if (length > VALUE_MAXIMUM) { return UNKNOWN; }
    return fl_mix_bytes(fl_mix((uint64_t)type, length), bytes, length);
}

static uint64_t hash_word(int type, uint64_t word) { return fl_mix(fl_mix((uint64_t)type, 1), word); }

static uint64_t hash_real(double value) {
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    return hash_word(SQLITE_FLOAT, word);
}

// A negative length stands for text up to its end.
static uint64_t hash_text(const char *text, int bytes) {
    return hash_value(SQLITE_TEXT, text, text == NULL ? 0 : bytes < 0 ? strlen(text) : (size_t)bytes);
}

static uint64_t hash_text16(const void *text, int bytes) {
    size_t length = bytes < 0 ? 0 : (size_t)bytes;
    if (text != NULL && bytes < 0) {
        uint16_t unit;
        while (memcpy(&unit, (const char *)text + length, sizeof unit), unit != 0) { length += sizeof unit; }
    }
    return hash_value(SQLITE_TEXT, text, length);
}

uint64_t preload_hash_values(const fl_recorder *recorder, const preload_statement *statement) {
    if (atomic_load_explicit(&statement->has_unknown_values, memory_order_relaxed)) { return 0; }
    const uint64_t both[2] = {
        statement->literals, atomic_load_explicit(&statement->values, memory_order_relaxed),
    };
    uint64_t hash = fl_keyed_hash(recorder, both, sizeof both);
    return hash == 0 ? 1 : hash;
}

// MARK: - Values of a statement

// The statement whose values the program changes; null if it needs no hash of them, which only reading statements have.
static preload_statement *changed(sqlite3_stmt *handle) {
    preload_statement *statement = preload_find(handle);
    return statement == NULL || statement->is_internal || !statement->is_read_only ? NULL : statement;
}

// The place of a parameter's hash; null if there is no memory for it.
static _Atomic uint64_t *place_of(const preload_copy *copy, preload_statement *statement, uint32_t index) {
    if (index < PRELOAD_FEW_VALUES) { return &statement->few[index]; }
    preload_values *many = atomic_load_explicit(&statement->many, memory_order_acquire);
    if (many == NULL) {
        int all = copy->bind_parameter_count == NULL ? 0 : copy->bind_parameter_count(statement->handle), saved = errno;
        uint32_t count = all < 0 ? 0 : (uint32_t)all;
        preload_values *added = calloc(1, sizeof *added + count * sizeof *added->hashes);
        errno = saved;
        if (added == NULL) { return NULL; }
        added->count = count;
        if (atomic_compare_exchange_strong(&statement->many, &many, added)) { many = added; } else { free(added); }
    }
    return index < many->count ? &many->hashes[index] : NULL;
}

static void keep(const preload_copy *copy, preload_statement *statement, int parameter, uint64_t hash) {
    if (parameter < 1) { return; }
    _Atomic uint64_t *place = place_of(copy, statement, (uint32_t)parameter - 1);
    if (place == NULL || hash == UNKNOWN) {
        atomic_store_explicit(&statement->has_unknown_values, true, memory_order_relaxed);
        return;
    }
    // A parameter that was never bound is NULL.
    if (hash != 0) { hash = fl_mix(hash, (uint64_t)parameter); }
    uint64_t before = atomic_load_explicit(place, memory_order_relaxed);
    uint64_t values = atomic_load_explicit(&statement->values, memory_order_relaxed);
    atomic_store_explicit(place, hash, memory_order_relaxed);
    atomic_store_explicit(&statement->values, values ^ before ^ hash, memory_order_relaxed);
}

static void forget(sqlite3_stmt *handle, bool is_known) {
    preload_statement *statement = changed(handle);
    if (statement == NULL) { return; }
    for (size_t index = 0; index < PRELOAD_FEW_VALUES; index++) {
        atomic_store_explicit(&statement->few[index], 0, memory_order_relaxed);
    }
    preload_values *many = atomic_load_explicit(&statement->many, memory_order_acquire);
    for (uint32_t index = 0; many != NULL && index < many->count; index++) {
        atomic_store_explicit(&many->hashes[index], 0, memory_order_relaxed);
    }
    atomic_store_explicit(&statement->values, 0, memory_order_relaxed);
    atomic_store_explicit(&statement->has_unknown_values, !is_known, memory_order_relaxed);
}

// MARK: - Binding

// The hash is taken before the call, which may free the value.
#define DEFINE_BIND(name, parameters, arguments, hash_of_value) \
    EXPORT int sqlite3_bind_##name parameters { \
        const preload_copy *copy = preload_copy_of(CALLER); \
        if (copy == NULL || copy->bind_##name == NULL) { return SQLITE_MISUSE; } \
        if (preload_has_task) { preload_find_awaiting(statement); } \
        preload_statement *known = changed(statement); \
        if (known == NULL) { return copy->bind_##name arguments; } \
        uint64_t hash = hash_of_value; \
        int result = copy->bind_##name arguments; \
        if (result == SQLITE_OK) { keep(copy, known, index, hash); } \
        return result; \
    }
#define BIND_BYTES(name, size, ...) \
    DEFINE_BIND(name, (sqlite3_stmt *statement, int index, const void *value, size bytes, void (*free)(void *)), \
        (statement, index, value, bytes, free), __VA_ARGS__)

DEFINE_BIND(
    double, (sqlite3_stmt *statement, int index, double value), (statement, index, value), hash_real(value))
DEFINE_BIND(
    int64, (sqlite3_stmt *statement, int index, sqlite3_int64 value), (statement, index, value),
    hash_word(SQLITE_INTEGER, (uint64_t)value))

// As SQLite does it; but its own call goes through the symbol, and would lead here again.
EXPORT int sqlite3_bind_int(sqlite3_stmt *statement, int index, int value) {
    const preload_copy *copy = preload_copy_of(CALLER);
    if (copy == NULL || copy->bind_int64 == NULL) { return SQLITE_MISUSE; }
    preload_statement *known = changed(statement);
    int result = copy->bind_int64(statement, index, value);
    if (known != NULL && result == SQLITE_OK) {
        keep(copy, known, index, hash_word(SQLITE_INTEGER, (uint64_t)(int64_t)value));
    }
    return result;
}

DEFINE_BIND(null, (sqlite3_stmt *statement, int index), (statement, index), 0)
DEFINE_BIND(
    zeroblob, (sqlite3_stmt *statement, int index, int bytes), (statement, index, bytes),
    hash_word(SQLITE_BLOB, (uint64_t)(int64_t)bytes))
DEFINE_BIND(
    zeroblob64, (sqlite3_stmt *statement, int index, sqlite3_uint64 bytes), (statement, index, bytes),
    hash_word(SQLITE_BLOB, bytes))
BIND_BYTES(blob, int, hash_value(SQLITE_BLOB, value, bytes < 0 ? 0 : (size_t)bytes))
BIND_BYTES(blob64, sqlite3_uint64, hash_value(SQLITE_BLOB, value, bytes))
BIND_BYTES(text16, int, hash_text16(value, bytes))
DEFINE_BIND(
    text, (sqlite3_stmt *statement, int index, const char *value, int bytes, void (*free)(void *)),
    (statement, index, value, bytes, free), hash_text(value, bytes))
DEFINE_BIND(
    text64,
    (sqlite3_stmt *statement, int index, const char *value, sqlite3_uint64 bytes, void (*free)(void *),
     unsigned char encoding),
    (statement, index, value, bytes, free, encoding), hash_value(SQLITE_TEXT, value, bytes))

// The values that these functions bind cannot be read without changing them.
#define DEFINE_UNKNOWN_BIND(name, parameters, arguments) \
    EXPORT int sqlite3_bind_##name parameters { \
        const preload_copy *copy = preload_copy_of(CALLER); \
        if (copy == NULL || copy->bind_##name == NULL) { return SQLITE_MISUSE; } \
        preload_statement *known = changed(statement); \
        if (known != NULL) { atomic_store_explicit(&known->has_unknown_values, true, memory_order_relaxed); } \
        return copy->bind_##name arguments; \
    }

DEFINE_UNKNOWN_BIND(
    value, (sqlite3_stmt *statement, int index, const sqlite3_value *value), (statement, index, value))
DEFINE_UNKNOWN_BIND(
    pointer, (sqlite3_stmt *statement, int index, void *value, const char *type, void (*free)(void *)),
    (statement, index, value, type, free))

EXPORT int sqlite3_clear_bindings(sqlite3_stmt *statement) {
    const preload_copy *copy = preload_copy_of(CALLER);
    if (copy == NULL || copy->clear_bindings == NULL) { return SQLITE_MISUSE; }
    forget(statement, true);
    return copy->clear_bindings(statement);
}

EXPORT int sqlite3_transfer_bindings(sqlite3_stmt *from, sqlite3_stmt *to) {
    const preload_copy *copy = preload_copy_of(CALLER);
    if (copy == NULL || copy->transfer_bindings == NULL) { return SQLITE_MISUSE; }
    forget(from, true);
    forget(to, false);
    return copy->transfer_bindings(from, to);
}
