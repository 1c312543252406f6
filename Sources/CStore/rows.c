#include "cstore.h"

#include <sqlite3.h>
#include <string.h>

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

size_t cstore_row_copy(
    sqlite3_stmt *statement, const cstore_column *columns, uint32_t count, int32_t entity, size_t fixed_size,
    cstore_row *row, size_t room) {
    size_t used = fixed_size;
    if (used > room) return used;
    cstore_row_begin(row, count, entity, sqlite3_column_int64(statement, 1), sqlite3_column_int64(statement, 2));
    uint64_t *slots = cstore_row_slots(row);
    for (uint32_t slot = 0; slot < count; slot++) {
        // One look-up of the column. SQLite calls the value unprotected because another thread could step the statement;
        // whoever calls this has the connection for himself (https://www.sqlite.org/c3ref/column_blob.html).
        sqlite3_value *value = sqlite3_column_value(statement, columns[slot].column);
        uint64_t bits;
        // Only what could be NULL is asked whether it is.
        switch (columns[slot].storage) {
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
            // As a blob, a text of a UTF-8 database is read where it stands in the page; as a text SQLite copies it, to
            // end it with a zero.
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
        cstore_row_mark(row, (int32_t)slot);
    }
    used = (used + 7) & ~(size_t)7;
    row->size = (uint32_t)used;
    return used;
}
