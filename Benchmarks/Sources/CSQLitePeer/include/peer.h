// The store's work, written by hand against SQLite's C interface: the arms that others are compared with.

#ifndef PEER_H
#define PEER_H

#include <sqlite3.h>
#include <stdint.h>

// A row of ZPERSON to insert.
typedef struct peer_person {
    const char *_Nonnull first_name;
    const char *_Nonnull last_name;
    int32_t first_name_length;
    int32_t last_name_length;
    int64_t age;
    double height;
    int64_t score;
    int64_t is_active;
} peer_person;

// The columns that `peer_scan` and `peer_find` read, in their order.
#define PEER_COLUMNS "0, t0.Z_PK, t0.Z_OPT, t0.ZFIRSTNAME, t0.ZLASTNAME, t0.ZAGE, t0.ZHEIGHT, t0.ZSCORE, t0.ZISACTIVE"

// Steps through all rows and reads every column. Returns a sum over what was read.
int64_t peer_scan(sqlite3_stmt *_Nonnull statement);

// Does the same and keeps every row in a piece of memory of its own until all were read, as objects are kept.
int64_t peer_keep(sqlite3_stmt *_Nonnull statement);

// Gives memory that nobody uses back to the system, so that what is in use can be measured.
void peer_trim_memory(void);

// Looks rows up by key, one by one, and reads every column of each.
int64_t peer_find(sqlite3_stmt *_Nonnull statement, const int64_t *_Nonnull keys, int64_t count);

// Inserts rows with a prepared statement of the parameters Z_PK, Z_ENT, Z_OPT and the columns above. Returns SQLite's
// code.
int peer_insert(
    sqlite3_stmt *_Nonnull statement, const peer_person *_Nonnull people, int64_t count, int64_t first_key);

#endif
