// The interface between the library in front of SQLite's column functions and the one that records statements.

#ifndef FAULTLINE_COLUMNS_H
#define FAULTLINE_COLUMNS_H

#include <sqlite3.h>
#include <stddef.h>

// SQLite's functions that read a column of a row, as X(name, result, the result if there is none).
#define FAULTLINE_COLUMN_FUNCTIONS(X) \
    X(blob, const void *, NULL) X(bytes, int, 0) X(bytes16, int, 0) X(double, double, 0) X(int, int, 0) \
    X(int64, sqlite3_int64, 0) X(text, const unsigned char *, NULL) X(text16, const void *, NULL) \
    X(type, int, SQLITE_NULL) X(value, sqlite3_value *, NULL)

// Those of one copy of SQLite. A name can begin with a keyword of C, so the members have a prefix.
typedef struct faultline_column_functions {
#define X(name, result, none) result (*read_##name)(sqlite3_stmt *statement, int column);
    FAULTLINE_COLUMN_FUNCTIONS(X)
#undef X
} faultline_column_functions;

// Lets statements record which columns the program reads, from their next run on. The library that stands in front of
// SQLite's functions calls it when it is loaded.
void faultline_preload_observe_columns(void);

// Records that a program reads a column, and returns the functions of the copy of SQLite that the code at `caller` is
// linked to; null if there is none.
const faultline_column_functions *faultline_preload_read_column(
    const void *caller, sqlite3_stmt *statement, int column);

#endif
