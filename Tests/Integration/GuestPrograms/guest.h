// The declarations that the program's parts share. It knows nothing of Faultline, and prints nothing that depends on
// times, addresses or the numbers of processes.

#ifndef GUEST_H
#define GUEST_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

// A kind of behaviour, with the name of its function.
typedef struct kind {
    const char *name;
    void (*run)(void);
    const char *need;  // "root", or empty
    bool is_setting;   // the program uses SQLite after it; all settings together are a kind
    bool runs_again;   // in another image of itself
} kind;

void add_kind(kind new);

#define ADD(identifier, ...) \
    static void identifier(void); \
    __attribute__((constructor)) static void add_##identifier(void) { \
        add_kind((kind){.name = #identifier, .run = identifier, __VA_ARGS__}); \
    } \
    static void identifier(void)

#define KIND(identifier) ADD(identifier, .need = "")
#define KIND_FOR_ROOT(identifier) ADD(identifier, .need = "root")

// The actions of a program before it uses SQLite.
#define SETTING(identifier) ADD(identifier, .need = "", .is_setting = true)
#define SETTING_FOR_ROOT(identifier) ADD(identifier, .need = "root", .is_setting = true)

// The same before it uses SQLite in another image.
#define SETTING_OF_IMAGE(identifier) ADD(identifier, .need = "", .is_setting = true, .runs_again = true)

// The program's file, and the directory for what it writes.
extern const char *own_path, *directory;

// Ends the program with a sentence if what it takes for granted does not hold.
void require(bool holds, const char *what);

// A file in the directory. The text stays valid until the fourth call after this one.
const char *path_of(const char *name);

sqlite3 *open_store(const char *name);
sqlite3 *open_memory(void);

// A connection to memory with a table `note` of some rows: 1, 'a'; 2, 'b'; …
sqlite3 *open_notes(int rows);

sqlite3_stmt *prepare(sqlite3 *store, const char *sql);

// Prints the error, if there is one.
void execute(sqlite3 *store, const char *sql);

// The value of the first column of the first row.
sqlite3_int64 number(sqlite3 *store, const char *sql);

// How often each event was seen. Printing them forgets them.
extern int events[128];
void print_events(const char *what);

// Prints the rows, with an own statement.
void print_rows(sqlite3 *store, const char *sql);

// Prints all that a connection says of its last call.
void print_state(sqlite3 *store, const char *call, int result);

// Writes rows to a new table in a file, reads them in several ways, and prints what it got.
void use(void);

// Opens a connection, runs a statement and closes it, on little stack. False if something fails.
bool use_little(void);

// Runs a command with a terminal of its own, passes on what it shows, and returns how it ended.
int run_on_terminal(char **command);

// Prints how a child ended.
void print_end(const char *what, int status);

// Waits for a child, and prints how it ended.
void await(const char *what, pid_t child);

#endif
