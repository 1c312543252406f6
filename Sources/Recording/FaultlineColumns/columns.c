#define _GNU_SOURCE
#include <dlfcn.h>
#include <faultline_columns.h>

// Functions in place of those with which a program reads the columns of a row. They are a library of their own, because
// each call takes longer then.

#define EXPORT __attribute__((visibility("default")))
#define WEAK __attribute__((weak))

// The library that records statements is loaded after this one, unless the program has changed the list. It finds SQLite's
// functions there, and not these.
extern __typeof__(faultline_preload_observe_columns) faultline_preload_observe_columns WEAK;
extern __typeof__(faultline_preload_read_column) faultline_preload_read_column WEAK;

__attribute__((constructor)) static void join(void) {
    if (faultline_preload_observe_columns != NULL) { faultline_preload_observe_columns(); }
}

// SQLite's function alone.
#define ORIGINAL(name) \
    ((__typeof__(((faultline_column_functions *)NULL)->read_##name))dlsym(RTLD_NEXT, "sqlite3_column_" #name))

#define X(name, result, none) \
    EXPORT result sqlite3_column_##name(sqlite3_stmt *statement, int column) { \
        if (faultline_preload_read_column == NULL) { \
            return ORIGINAL(name) == NULL ? none : ORIGINAL(name)(statement, column); \
        } \
        const faultline_column_functions *functions = \
            faultline_preload_read_column(__builtin_return_address(0), statement, column); \
        return functions == NULL || functions->read_##name == NULL ? none : functions->read_##name(statement, column); \
    }

FAULTLINE_COLUMN_FUNCTIONS(X)
