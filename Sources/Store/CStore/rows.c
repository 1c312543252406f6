#include "cstore.h"

#include <sqlite3.h>
#include <stddef.h>
#include <string.h>

cstore_row cstore_empty_row;

static inline uint64_t *presence(cstore_row *row, int32_t slot) {
    if (slot < 64) return &row->present;
    return (uint64_t *)cstore_row_slots(row) + row->columns + (slot >> 6) - 1;
}

size_t cstore_row_fixed_size(uint32_t columns) {
    size_t words = columns > 64 ? (columns - 1) / 64 : 0;
    return sizeof(cstore_row) + (columns + words) * sizeof(uint64_t);
}

void cstore_row_begin(cstore_row *row, uint32_t columns, int32_t entity, int64_t key, int64_t version) {
    row->key = key;
    row->version = version;
    row->entity = entity;
    row->superseded = 0;
    row->columns = columns;
    row->present = 0;
    if (columns > 64) memset((uint64_t *)cstore_row_slots(row) + columns, 0, (columns - 1) / 64 * sizeof(uint64_t));
}

void cstore_row_mark(cstore_row *row, int32_t slot) { *presence(row, slot) |= UINT64_C(1) << (slot & 63); }

// The values of a result row. SQLite calls them unprotected because another thread could step the statement, but the
// caller has exclusive use of the connection (https://www.sqlite.org/c3ref/column_blob.html).
typedef struct row_values {
    sqlite3_stmt *statement;
    char *first;
    // The distance between two values; 0 if each must be requested.
    ptrdiff_t distance;
} row_values;

// The values of a row are adjacent in registers of SQLite's virtual machine ("registers P1 through P1+P2-1 contain a
// single row of results", https://www.sqlite.org/opcode.html#ResultRow), so all can be found from the first. This
// interface does not guarantee that. The distance is therefore measured on every column once per process, and each
// row's last value is checked against it; if it does not match, each value is requested.
static row_values values_of(sqlite3_stmt *statement) {
    static ptrdiff_t known_distance;
    row_values values = {statement, (char *)sqlite3_column_value(statement, 0), 0};
    int last = sqlite3_column_count(statement) - 1;
    ptrdiff_t distance = __atomic_load_n(&known_distance, __ATOMIC_RELAXED);
    if (distance == 0) {
        distance = (char *)sqlite3_column_value(statement, 1) - values.first;
        for (int column = 2; column <= last; column++) {
            if ((char *)sqlite3_column_value(statement, column) != values.first + column * distance) return values;
        }
        __atomic_store_n(&known_distance, distance, __ATOMIC_RELAXED);
    }
    if ((char *)sqlite3_column_value(statement, last) == values.first + last * distance) values.distance = distance;
    return values;
}

static inline sqlite3_value *value_at(const row_values *values, int column) {
    if (values->distance == 0) return sqlite3_column_value(values->statement, column);
    return (sqlite3_value *)(values->first + column * values->distance);
}

size_t cstore_row_copy(
    sqlite3_stmt *statement, const cstore_column *columns, uint32_t count, int32_t entity, size_t fixed_size,
    cstore_row *row, size_t room) {
    size_t used = fixed_size;
    if (used > room) return used;
    row_values values = values_of(statement);
    cstore_row_begin(
        row, count, entity, sqlite3_value_int64(value_at(&values, 1)), sqlite3_value_int64(value_at(&values, 2)));
    uint64_t *slots = cstore_row_slots(row);
    for (uint32_t slot = 0; slot < count; slot++) {
        sqlite3_value *value = value_at(&values, columns[slot].column);
        uint64_t bits;
        // The type is checked only for values that could be NULL.
        switch (columns[slot].storage) {
        case CSTORE_NULL: continue;
        case CSTORE_INTEGER:
            bits = (uint64_t)sqlite3_value_int64(value);
            if (bits == 0 && sqlite3_value_type(value) == SQLITE_NULL) continue;
            break;
        case CSTORE_REAL: {
            double real = sqlite3_value_double(value);
            memcpy(&bits, &real, sizeof bits);
            if (bits == 0 && sqlite3_value_type(value) == SQLITE_NULL) continue;
            break;
        }
        default: {
            // SQLite returns a blob from its place in the page. It copies a text to append a null terminator, so a
            // text of a UTF-8 database is read as a blob.
            const void *bytes = columns[slot].storage == CSTORE_BLOB ? sqlite3_value_blob(value)
                                                                      : (const void *)sqlite3_value_text(value);
            size_t length = (size_t)sqlite3_value_bytes(value);
            if (length == 0 && sqlite3_value_type(value) == SQLITE_NULL) continue;
            bits = used | (uint64_t)length << 32;
            if (used + length <= room && bytes != NULL) memcpy((char *)row + used, bytes, length);
            used += length;
            break;
        }
        }
        slots[slot] = bits;
        *presence(row, (int32_t)slot) |= UINT64_C(1) << (slot & 63);
    }
    used = (used + 7) & ~(size_t)7;
    row->size = (uint32_t)used;
    return used;
}

void cstore_row_bind(
    sqlite3_stmt *statement, int first, const cstore_column *columns, uint32_t count, cstore_row *row) {
    uint64_t *slots = cstore_row_slots(row);
    for (uint32_t slot = 0; slot < count; slot++) {
        int place = first + (int)slot;
        if (columns[slot].storage == CSTORE_NULL) continue;
        if ((*presence(row, (int32_t)slot) >> (slot & 63) & 1) == 0) {
            sqlite3_bind_null(statement, place);
            continue;
        }
        const char *bytes = (const char *)row + (slots[slot] & 0xffffffff);
        int length = (int)(slots[slot] >> 32);
        switch (columns[slot].storage) {
        case CSTORE_INTEGER: sqlite3_bind_int64(statement, place, (int64_t)slots[slot]); break;
        case CSTORE_REAL: {
            double real;
            memcpy(&real, &slots[slot], sizeof real);
            sqlite3_bind_double(statement, place, real);
            break;
        }
        case CSTORE_TEXT: sqlite3_bind_text(statement, place, bytes, length, SQLITE_STATIC); break;
        default: sqlite3_bind_blob(statement, place, bytes, length, SQLITE_STATIC); break;
        }
    }
}
