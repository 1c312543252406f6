// The few things that the store cannot say in Swift.

#ifndef CSTORE_H
#define CSTORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// MARK: - Integer arrays as tables

// A table-valued array: `SELECT * FROM _Z_intarray0` gives the integers that were bound last.
typedef struct cstore_intarray cstore_intarray;

struct sqlite3;

// Makes the table on a connection, under a name. Returns null, with SQLite's code in `result`, if it cannot.
// The connection frees it when it closes.
cstore_intarray *_Nullable cstore_intarray_create(
    struct sqlite3 *_Nonnull connection, const char *_Nonnull name, int *_Nonnull result);

// Sets what the table holds. The integers are not copied: they stay until the statements that read them were reset.
void cstore_intarray_bind(cstore_intarray *_Nonnull array, const int64_t *_Nullable values, int64_t count);

// MARK: - Values as tables

typedef enum cstore_type { CSTORE_NULL, CSTORE_INTEGER, CSTORE_REAL, CSTORE_TEXT, CSTORE_BLOB } cstore_type;

typedef struct cstore_value {
    cstore_type type;
    // Of texts and blobs, in bytes.
    int32_t count;
    int64_t integer;
    double real;
    const void *_Nullable bytes;
} cstore_value;

// A table-valued array for values of any type, used as the one for integers. Bytes are not copied either.
typedef struct cstore_valuearray cstore_valuearray;

cstore_valuearray *_Nullable cstore_valuearray_create(
    struct sqlite3 *_Nonnull connection, const char *_Nonnull name, int *_Nonnull result);
void cstore_valuearray_bind(
    cstore_valuearray *_Nonnull array, const cstore_value *_Nullable values, int64_t count);

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
