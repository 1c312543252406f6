#include "cstore.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

// The differences between a table of integers and one of values of any type.
typedef struct array_kind {
    const char *declaration;
    // When a statement is prepared, the array is not bound yet, so the planner gets a fixed estimate.
    int64_t rows;
    void (*give)(sqlite3_context *result, const void *values, int64_t place);
} array_kind;

struct cstore_array {
    const array_kind *kind;
    const void *values;
    int64_t count;
};

typedef struct array_table {
    sqlite3_vtab base;
    cstore_array *array;
} array_table;

typedef struct array_cursor {
    sqlite3_vtab_cursor base;
    int64_t place;
} array_cursor;

static void give_integer(sqlite3_context *result, const void *values, int64_t place) {
    sqlite3_result_int64(result, ((const int64_t *)values)[place]);
}

static void give_value(sqlite3_context *result, const void *values, int64_t place) {
    const cstore_value *value = &((const cstore_value *)values)[place];
    switch (value->type) {
    case CSTORE_NULL: sqlite3_result_null(result); break;
    case CSTORE_INTEGER: sqlite3_result_int64(result, value->integer); break;
    case CSTORE_REAL: sqlite3_result_double(result, value->real); break;
    case CSTORE_TEXT: sqlite3_result_text(result, value->bytes, value->count, SQLITE_STATIC); break;
    case CSTORE_BLOB: sqlite3_result_blob(result, value->bytes, value->count, SQLITE_STATIC); break;
    }
}

static const array_kind array_kinds[] = {
    // Few rows: the planner should make the array the outer loop and look up its members by key.
    [CSTORE_INTEGERS] = {"CREATE TABLE intarray(value INTEGER)", 20, give_integer},
    // The column has no type, so values are compared like bound parameters, by the affinity of the other side. This
    // table is used only for long lists.
    [CSTORE_VALUES] = {"CREATE TABLE valuearray(value)", 10000, give_value},
};

static int array_connect(
    sqlite3 *connection, void *context, int count, const char *const *arguments, sqlite3_vtab **table, char **message) {
    (void)count, (void)arguments, (void)message;
    cstore_array *array = context;
    int result = sqlite3_declare_vtab(connection, array->kind->declaration);
    if (result != SQLITE_OK) return result;
    array_table *made = sqlite3_malloc(sizeof(array_table));
    if (made == NULL) return SQLITE_NOMEM;
    memset(made, 0, sizeof *made);
    made->array = array;
    *table = &made->base;
    return SQLITE_OK;
}

static int array_disconnect(sqlite3_vtab *table) {
    sqlite3_free(table);
    return SQLITE_OK;
}

static int array_best_index(sqlite3_vtab *table, sqlite3_index_info *info) {
    info->estimatedRows = ((array_table *)table)->array->kind->rows;
    info->estimatedCost = (double)info->estimatedRows;
    return SQLITE_OK;
}

static int array_open(sqlite3_vtab *table, sqlite3_vtab_cursor **cursor) {
    (void)table;
    array_cursor *made = sqlite3_malloc(sizeof(array_cursor));
    if (made == NULL) return SQLITE_NOMEM;
    memset(made, 0, sizeof *made);
    *cursor = &made->base;
    return SQLITE_OK;
}

static int array_close(sqlite3_vtab_cursor *cursor) {
    sqlite3_free(cursor);
    return SQLITE_OK;
}

static int array_filter(
    sqlite3_vtab_cursor *cursor, int plan, const char *name, int count, sqlite3_value **arguments) {
    (void)plan, (void)name, (void)count, (void)arguments;
    ((array_cursor *)cursor)->place = 0;
    return SQLITE_OK;
}

static int array_next(sqlite3_vtab_cursor *cursor) {
    ((array_cursor *)cursor)->place += 1;
    return SQLITE_OK;
}

static int array_end(sqlite3_vtab_cursor *cursor) {
    return ((array_cursor *)cursor)->place >= ((array_table *)cursor->pVtab)->array->count;
}

static int array_column(sqlite3_vtab_cursor *cursor, sqlite3_context *result, int column) {
    (void)column;
    const cstore_array *array = ((array_table *)cursor->pVtab)->array;
    array->kind->give(result, array->values, ((array_cursor *)cursor)->place);
    return SQLITE_OK;
}

static int array_row_id(sqlite3_vtab_cursor *cursor, sqlite3_int64 *row) {
    *row = ((array_cursor *)cursor)->place;
    return SQLITE_OK;
}

// Without xCreate, the table exists under its module's name alone and leaves no trace in the file ("eponymous-only",
// https://www.sqlite.org/vtab.html#eponymous_only_virtual_tables).
static const sqlite3_module array_module = {
    .iVersion = 0,
    .xConnect = array_connect,
    .xBestIndex = array_best_index,
    .xDisconnect = array_disconnect,
    .xOpen = array_open,
    .xClose = array_close,
    .xFilter = array_filter,
    .xNext = array_next,
    .xEof = array_end,
    .xColumn = array_column,
    .xRowid = array_row_id,
};

cstore_array *cstore_array_create(sqlite3 *connection, const char *name, cstore_array_kind kind, int *result) {
    cstore_array *array = calloc(1, sizeof(cstore_array));
    if (array == NULL) {
        *result = SQLITE_NOMEM;
        return NULL;
    }
    array->kind = &array_kinds[kind];
    // On failure SQLite has already called `free`.
    *result = sqlite3_create_module_v2(connection, name, &array_module, array, free);
    return *result == SQLITE_OK ? array : NULL;
}

void cstore_array_bind(cstore_array *array, const void *values, int64_t count) {
    array->values = values;
    array->count = count;
}
