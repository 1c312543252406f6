// SQLite for Swift, and wrappers for calls that Swift cannot make itself.

#ifndef CSQLITE_SHIM_H
#define CSQLITE_SHIM_H

#include <sqlite3.h>

// SQLITE_STATIC and SQLITE_TRANSIENT are casts, which Swift does not import.

static inline int csqlite_bind_text(sqlite3_stmt *statement, int index, const char *bytes, int length) {
    return sqlite3_bind_text(statement, index, bytes, length, SQLITE_TRANSIENT);
}

static inline int csqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int length) {
    return sqlite3_bind_blob(statement, index, bytes, length, SQLITE_TRANSIENT);
}

// For bytes that stay valid until the statement is reset.
static inline int csqlite_bind_text_static(sqlite3_stmt *statement, int index, const char *bytes, int length) {
    return sqlite3_bind_text(statement, index, bytes, length, SQLITE_STATIC);
}

static inline int csqlite_bind_blob_static(sqlite3_stmt *statement, int index, const void *bytes, int length) {
    return sqlite3_bind_blob(statement, index, bytes, length, SQLITE_STATIC);
}

static inline void csqlite_result_text(sqlite3_context *context, const char *bytes, int length) {
    sqlite3_result_text(context, bytes ? bytes : "", length, SQLITE_TRANSIENT);
}

static inline void csqlite_result_blob(sqlite3_context *context, const void *bytes, int length) {
    sqlite3_result_blob(context, bytes ? bytes : "", length, SQLITE_TRANSIENT);
}

// 0 before SQLite 3.38, which has no way to ask.
static inline int csqlite_vtab_in(sqlite3_index_info *info, int constraint) {
#if SQLITE_VERSION_NUMBER >= 3038000
    return sqlite3_vtab_in(info, constraint, -1);
#else
    return 0;
#endif
}

// Shows the plans of triggers and of foreign keys' actions in those of statements. Swift cannot call a variadic function.
static inline void csqlite_explain_triggers(sqlite3 *connection) {
    sqlite3_db_config(connection, SQLITE_DBCONFIG_TRIGGER_EQP, 1, (int *)0);
}

// While it is on, VACUUM makes the database empty, whatever is in it and whoever else has it open
// (https://www.sqlite.org/c3ref/c_dbconfig_defensive.html#sqlitedbconfigresetdatabase).
static inline int csqlite_reset_on_vacuum(sqlite3 *connection, int is_on) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_RESET_DATABASE, is_on, (int *)0);
}

#endif
