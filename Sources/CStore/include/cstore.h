// The few things that the store cannot say in Swift.

#ifndef CSTORE_H
#define CSTORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// MARK: - Arrays as tables

typedef enum cstore_type { CSTORE_NULL, CSTORE_INTEGER, CSTORE_REAL, CSTORE_TEXT, CSTORE_BLOB } cstore_type;

typedef struct cstore_value {
    cstore_type type;
    // Of texts and blobs, in bytes.
    int32_t count;
    int64_t integer;
    double real;
    const void *_Nullable bytes;
} cstore_value;

// What an array holds: `int64_t` or `cstore_value`.
typedef enum cstore_array_kind { CSTORE_INTEGERS, CSTORE_VALUES } cstore_array_kind;

// A table-valued array: `SELECT * FROM _Z_intarray0` gives what was bound last.
typedef struct cstore_array cstore_array;

struct sqlite3;
struct sqlite3_stmt;

// Makes the table on a connection, under a name. Returns null, with SQLite's code in `result`, if it cannot.
// The connection frees it when it closes.
cstore_array *_Nullable cstore_array_create(
    struct sqlite3 *_Nonnull connection, const char *_Nonnull name, cstore_array_kind kind, int *_Nonnull result);

// Sets what the table holds, of the array's kind. Neither the values nor the bytes of texts and blobs are copied: they
// stay until the statements that read them were reset.
void cstore_array_bind(cstore_array *_Nonnull array, const void *_Nullable values, int64_t count);

// MARK: - Words that threads share

// A word that others may write meanwhile, as a whole. Pure, so that a compiler need not expect that it changes or releases
// anything.
__attribute__((pure)) static inline uint64_t cstore_load_word(const uint64_t *_Nonnull word) {
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static inline void cstore_store_word(uint64_t *_Nonnull word, uint64_t value) {
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

// MARK: - Rows in memory

// What stands at the start of a row, in front of eight bytes for each column: integers and floating-point numbers stand
// there themselves, texts and blobs as offset from the row's start and, above, length. Behind the columns come further
// words of `present` for those beyond 64, then texts and blobs.
typedef struct cstore_row {
    // `Z_PK` and `Z_OPT`.
    int64_t key;
    int64_t version;
    // The block of memory that the row lies in.
    void *_Nonnull block;
    // The place of the row's entity in the model.
    int32_t entity;
    // Bytes of the whole row, a multiple of eight.
    uint32_t size;
    // 1 once another version of the row, or its deletion, is known. Other threads look at it: cstore_load.
    uint32_t superseded;
    uint32_t columns;
    // Which of the first 64 columns have a value, one bit each.
    uint64_t present;
} cstore_row;

// A column of a row: where it stands in a statement's result, and what a row keeps of it.
typedef struct cstore_column {
    int32_t column;
    // CSTORE_INTEGER, CSTORE_REAL, CSTORE_TEXT or CSTORE_BLOB.
    int32_t storage;
} cstore_column;

// The row of an object that has none: no column of it has a value.
static inline void *_Nonnull cstore_no_row(void) {
    extern cstore_row cstore_empty_row;
    return &cstore_empty_row;
}

static inline uint64_t *_Nonnull cstore_row_slots(cstore_row *_Nonnull row) { return (uint64_t *)(row + 1); }

// Bytes in front of the first text or blob.
size_t cstore_row_fixed_size(uint32_t columns);

// Fills in a row's start. No column has a value; the block and the size are left to the caller.
void cstore_row_begin(
    cstore_row *_Nonnull row, uint32_t columns, int32_t entity, int64_t key, int64_t version);

// Notes that a column has a value.
void cstore_row_mark(cstore_row *_Nonnull row, int32_t slot);

// Copies the row that a statement stands on, whose second and third columns are `Z_PK` and `Z_OPT`. Returns the bytes
// that the row takes; if they are more than there is room for, the row is not there and the call can be repeated.
// A text is read as a blob where the database's encoding is UTF-8: its bytes are the same. Columns of the type CSTORE_NULL
// have no value.
size_t cstore_row_copy(
    struct sqlite3_stmt *_Nonnull statement, const cstore_column *_Nonnull columns, uint32_t count, int32_t entity,
    size_t fixed_size, cstore_row *_Nonnull row, size_t room);

// Binds a row's values to the parameters of a statement, from the first one on; columns of the type CSTORE_NULL are left
// as they are. Texts and blobs are not copied: the row stays until the statement ran.
void cstore_row_bind(
    struct sqlite3_stmt *_Nonnull statement, int first, const cstore_column *_Nonnull columns, uint32_t count,
    cstore_row *_Nonnull row);

// MARK: - Whose queue a thread is on

// A pointer that each thread has for itself, null at first.
void *_Nullable cstore_thread_value(void);
void cstore_set_thread_value(void *_Nullable value);

// The kernel's number of this thread.
uint32_t cstore_thread_number(void);

// MARK: - Objects that may be going away

// The runtime's own "retain unless deinit has begun" (stdlib/public/runtime/HeapObject.cpp). It is what a weak
// reference does when it is loaded, without the side table that a weak reference allocates for each object.
void *_Nullable swift_tryRetain(void *_Nonnull object);

// MARK: - A lock that spins

// For what takes some nanoseconds: 0 is free. Whoever waits long lets other threads run.
void cstore_wait_for_lock(uint32_t *_Nonnull lock);

static inline void cstore_lock(uint32_t *_Nonnull lock) {
    if (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) != 0) cstore_wait_for_lock(lock);
}
static inline void cstore_unlock(uint32_t *_Nonnull lock) { __atomic_store_n(lock, 0, __ATOMIC_RELEASE); }

// MARK: - Text

// Whether the bytes contain others.
int cstore_contains(
    const void *_Nonnull text, size_t length, const void *_Nonnull wanted, size_t wantedLength);

// MARK: - Flags in raw memory that two threads look at

static inline uint32_t cstore_load(const uint32_t *_Nonnull flag) { return __atomic_load_n(flag, __ATOMIC_ACQUIRE); }
static inline void cstore_store(uint32_t *_Nonnull flag, uint32_t value) {
    __atomic_store_n(flag, value, __ATOMIC_RELEASE);
}

#ifdef __cplusplus
}
#endif

#endif
