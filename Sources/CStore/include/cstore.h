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

// Makes the table on a connection, under a name. Returns null, with SQLite's code in `result`, if it cannot.
// The connection frees it when it closes.
cstore_array *_Nullable cstore_array_create(
    struct sqlite3 *_Nonnull connection, const char *_Nonnull name, cstore_array_kind kind, int *_Nonnull result);

// Sets what the table holds, of the array's kind. Neither the values nor the bytes of texts and blobs are copied: they
// stay until the statements that read them were reset.
void cstore_array_bind(cstore_array *_Nonnull array, const void *_Nullable values, int64_t count);

// MARK: - Whose queue a thread is on

// A pointer that each thread has for itself, null at first.
void *_Nullable cstore_thread_value(void);
void cstore_set_thread_value(void *_Nullable value);

// MARK: - Objects that may be going away

// The runtime's own "retain unless deinit has begun" (stdlib/public/runtime/HeapObject.cpp). It is what a weak
// reference does when it is loaded, without the side table that a weak reference allocates for each object.
void *_Nullable swift_tryRetain(void *_Nonnull object);

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
