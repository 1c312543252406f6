// Functions that the store needs and Swift cannot express.

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
    // The length of texts and blobs, in bytes.
    int32_t count;
    int64_t integer;
    double real;
    const void *_Nullable bytes;
} cstore_value;

// The element type of an array: `int64_t` or `cstore_value`.
typedef enum cstore_array_kind { CSTORE_INTEGERS, CSTORE_VALUES } cstore_array_kind;

// An array as a table: `SELECT * FROM _Z_intarray0` returns the values bound last.
typedef struct cstore_array cstore_array;

struct sqlite3;
struct sqlite3_stmt;

// Creates the table on a connection, under a name. Returns null, with SQLite's code in `result`, on failure. The
// connection frees it when it closes.
cstore_array *_Nullable cstore_array_create(
    struct sqlite3 *_Nonnull connection, const char *_Nonnull name, cstore_array_kind kind, int *_Nonnull result);

// Sets the contents of the table. Neither the values nor the bytes of texts and blobs are copied: they must stay valid
// until the statements that read them were reset.
void cstore_array_bind(cstore_array *_Nonnull array, const void *_Nullable values, int64_t count);

// MARK: - Migrations

// Returns the object of the module of migrations, which defines the function. It is weak because a program can do without.
__attribute__((weak)) const void *_Nonnull cstore_migrations(void);

// Returns the same, or null in a program without that module.
static inline const void *_Nullable cstore_linked_migrations(void) {
    return cstore_migrations ? cstore_migrations() : NULL;
}

// MARK: - Words that threads share

// Reads a word that other threads may write meanwhile, atomically. Declared pure to let compilers assume that it
// changes and releases nothing.
__attribute__((pure)) static inline uint64_t cstore_load_word(const uint64_t *_Nonnull word) {
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static inline void cstore_store_word(uint64_t *_Nonnull word, uint64_t value) {
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

// MARK: - Rows in memory

// The header of a row. Eight bytes for each column follow: integers and floating-point numbers themselves, and for
// texts and blobs the offset from the row's start in the lower half and the length in the upper half. After the
// columns come further words of `present` for columns beyond 64, then the texts and blobs.
typedef struct cstore_row {
    // `Z_PK` and `Z_OPT`.
    int64_t key;
    int64_t version;
    // The block of memory that contains the row.
    void *_Nonnull block;
    // The index of the row's entity in the model.
    int32_t entity;
    // The size of the whole row in bytes, a multiple of eight.
    uint32_t size;
    // 1 once another version of the row, or its deletion, is known. Other threads read it with cstore_load.
    uint32_t superseded;
    uint32_t columns;
    // A bit for each of the first 64 columns, set if the column has a value.
    uint64_t present;
} cstore_row;

// A column of a row: its index in a statement's result, and the form in which a row stores it.
typedef struct cstore_column {
    int32_t column;
    // CSTORE_INTEGER, CSTORE_REAL, CSTORE_TEXT or CSTORE_BLOB.
    int32_t storage;
} cstore_column;

// The row for objects without one: none of its columns has a value.
static inline void *_Nonnull cstore_no_row(void) {
    extern cstore_row cstore_empty_row;
    return &cstore_empty_row;
}

static inline uint64_t *_Nonnull cstore_row_slots(cstore_row *_Nonnull row) { return (uint64_t *)(row + 1); }

// The number of bytes before the first text or blob.
size_t cstore_row_fixed_size(uint32_t columns);

// Initializes a row's header. No column has a value; the caller sets the block and the size.
void cstore_row_begin(
    cstore_row *_Nonnull row, uint32_t columns, int32_t entity, int64_t key, int64_t version);

// Marks a column as having a value.
void cstore_row_mark(cstore_row *_Nonnull row, int32_t slot);

// Copies the current row of a statement, whose second and third columns are `Z_PK` and `Z_OPT`. Returns the number of
// bytes that the row needs; if they exceed `room`, the row is invalid and the call can be repeated with more. Use blob
// storage for a text if the database's encoding is UTF-8: the bytes are the same. Columns of the type CSTORE_NULL have
// no value.
size_t cstore_row_copy(
    struct sqlite3_stmt *_Nonnull statement, const cstore_column *_Nonnull columns, uint32_t count, int32_t entity,
    size_t fixed_size, cstore_row *_Nonnull row, size_t room);

// Binds a row's values to the parameters of a statement, starting at `first`; columns of the type CSTORE_NULL are
// skipped. Texts and blobs are not copied: the row must stay valid until the statement has run.
void cstore_row_bind(
    struct sqlite3_stmt *_Nonnull statement, int first, const cstore_column *_Nonnull columns, uint32_t count,
    cstore_row *_Nonnull row);

// MARK: - Whose queue a thread is on

// A thread-local pointer, initially null.
void *_Nullable cstore_thread_value(void);
void cstore_set_thread_value(void *_Nullable value);

// The kernel's number of this thread.
uint32_t cstore_thread_number(void);

// MARK: - Objects that may be going away

// The runtime's own "retain unless deinit has begun" (stdlib/public/runtime/HeapObject.cpp). Loading a weak reference
// does the same, but needs a side table that is allocated for each object.
void *_Nullable swift_tryRetain(void *_Nonnull object);

// MARK: - A lock that spins

// For critical sections of some nanoseconds; 0 is free. A long wait yields to other threads.
void cstore_wait_for_lock(uint32_t *_Nonnull lock);

static inline void cstore_lock(uint32_t *_Nonnull lock) {
    if (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) != 0) cstore_wait_for_lock(lock);
}
static inline void cstore_unlock(uint32_t *_Nonnull lock) { __atomic_store_n(lock, 0, __ATOMIC_RELEASE); }

// MARK: - Text

// Whether a text contains another.
int cstore_contains(
    const void *_Nonnull text, size_t length, const void *_Nonnull wanted, size_t wantedLength);

// MARK: - Files

// Renames a file or a folder. Fails, with `errno`, rather than replace another one.
int cstore_rename_to_new(const char *_Nonnull from, const char *_Nonnull to);

// MARK: - Flags in raw memory that two threads look at

static inline uint32_t cstore_load(const uint32_t *_Nonnull flag) { return __atomic_load_n(flag, __ATOMIC_ACQUIRE); }
static inline void cstore_store(uint32_t *_Nonnull flag, uint32_t value) {
    __atomic_store_n(flag, value, __ATOMIC_RELEASE);
}

#ifdef __cplusplus
}
#endif

#endif
