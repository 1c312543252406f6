#define _GNU_SOURCE
#include "preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

// Copies of SQLite whose functions have no symbols, such as that of PyPI's apsw. If this library is loaded into one as an
// extension, the copy passes it the table of its functions. From then on it is called for each connection that is opened,
// and sets the connection's trace hook (https://sqlite.org/c3ref/trace_v2.html).
//
// The hook is called when a run begins, for each row, and when the run ends. It shows less than the functions do: neither
// preparations nor errors, and not when a later call of a run begins.

#define SQLITE_CORE 1
#include <sqlite3ext.h>

// The first version whose table has all the functions that are used here.
#define VERSION_MINIMUM 3028000

#define COPIES_MAXIMUM 8

static preload_copy *copies[COPIES_MAXIMUM];
static _Atomic uint32_t count;
static fl_lock lock = FL_LOCK_FREE;

// The statement that this thread steps.
static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
    preload_statement *statement;  // null: nothing, or the program between two rows
    preload_before before;
    uintptr_t frame;               // of the hook's call when the step began
} stepping;

// MARK: - Runs

static void begin_stepping(const preload_copy *copy, preload_statement *statement, uintptr_t frame) {
    stepping.statement = statement;
    stepping.before = preload_enter(copy, statement, 0);
    stepping.frame = frame;
}

static void end_stepping(const preload_statement *statement) {
    if (stepping.statement != statement) { return; }
    stepping.statement = NULL;
    preload_leave(stepping.before);
}

static uint32_t runs_of(const preload_copy *copy, sqlite3_stmt *handle) {
    return (uint32_t)copy->stmt_status(handle, SQLITE_STMTSTATUS_RUN, 0);
}

// The statement of a handle, which SQLite may have used for another one before: the hook does not show when a statement is
// finalized.
static preload_statement *current(const preload_copy *copy, sqlite3_stmt *handle) {
    preload_statement *statement = preload_find(handle);
    uint32_t runs = runs_of(copy, handle);
    if (statement != NULL && runs > statement->hidden.runs) {
        statement->hidden.runs = runs;
        return statement;
    }
    statement = preload_add(handle);
    if (statement == NULL) { return NULL; }
    statement->is_read_only = copy->stmt_readonly(handle) != 0;
    statement->preparations = 1;
    statement->hidden.runs = runs;
    return statement;
}

static uint32_t operations_of(const preload_copy *copy, sqlite3_stmt *handle) {
    return (uint32_t)copy->stmt_status(handle, SQLITE_STMTSTATUS_VM_STEP, 0);
}

// Whether SQLite runs the statement within the step of another one: the hook then gets its text as a comment.
static bool is_nested(const preload_copy *copy, sqlite3_stmt *handle, const char *text) {
    const char *sql = copy->sql(handle);
    return text != NULL && sql != NULL && strncmp(text, "-- ", 3) == 0 && strcmp(text + 3, sql) == 0;
}

// The values that are bound are known only as parts of the text with its values.
static void hash_bound_values(const preload_copy *copy, preload_statement *statement) {
    char *text = statement->is_read_only ? copy->expanded_sql(statement->handle) : NULL;
    atomic_store_explicit(&statement->has_unknown_values, text == NULL, memory_order_relaxed);
    if (text == NULL) { return; }
    size_t length = strlen(text);
    atomic_store_explicit(&statement->values, fl_mix_bytes(length, text, length), memory_order_relaxed);
    copy->free(text);
}

// `text` is the hook's, and `frame` the frame of its call.
static void begin(preload_copy *copy, sqlite3_stmt *handle, const char *text, uintptr_t frame) {
    preload_recorder();
    // The end of a step is not seen if the program replaces the hook meanwhile. A step within another one is deeper.
    if (stepping.statement != NULL && frame >= stepping.frame) { end_stepping(stepping.statement); }
    // Statements that SQLite runs inside the step of another one are its own.
    if (stepping.statement != NULL || is_nested(copy, handle, text)) { return; }
    preload_statement *statement = preload_find(handle);
    // A trigger, or a statement that SQLite prepared again because the schema had changed.
    if (statement != NULL && statement->is_running) { return; }
    statement = current(copy, handle);
    if (statement == NULL) { return; }
    // From now on SQLite's counters are those of this run.
    preload_count_run(copy, statement);
    hash_bound_values(copy, statement);
    preload_begin_run(copy, statement);
    if (!statement->is_running) { return; }
    statement->hidden.last = statement->start;
    statement->hidden.shortest = UINT64_MAX;
    statement->hidden.steps = operations_of(copy, handle);
    statement->hidden.fewest = UINT32_MAX;
    atomic_store_explicit(&copy->has_runs, true, memory_order_relaxed);
    begin_stepping(copy, statement, frame);
}

// The time since the last event of the run.
static uint64_t advance(preload_statement *statement) {
    uint64_t now = preload_ticks(), gap = now - statement->hidden.last;
    statement->hidden.last = now;
    return gap;
}

// From one row to the next, the program works on the first and SQLite looks for the second. The step of the shortest of
// these intervals takes no longer than that, so it stands for the others.
static void end_row(const preload_copy *copy, preload_statement *statement) {
    uint64_t gap = advance(statement);
    // SQLite counts the operations of a step when it ends, after this call.
    uint32_t steps = operations_of(copy, statement->handle), between = steps - statement->hidden.steps;
    if (statement->rows > 0 && between < statement->hidden.fewest) { statement->hidden.fewest = between; }
    statement->hidden.steps = steps;
    if (statement->rows == 0) {
        statement->ticks = gap;
    } else if (gap < statement->hidden.shortest) {
        statement->hidden.shortest = gap;
    }
    statement->rows++;
    end_stepping(statement);
}

static uint64_t least(uint64_t first, uint64_t second) { return first < second ? first : second; }

// If some steps take this many times as many operations as the one with the fewest, that one does not stand for them.
#define LONG_STEP 4

static bool has_long_steps(const preload_copy *copy, const preload_statement *statement) {
    uint32_t fewest = statement->hidden.fewest == 0 ? 1 : statement->hidden.fewest;
    uint32_t last = operations_of(copy, statement->handle) - statement->hidden.steps;
    // Without another interval, a row takes few operations more than none.
    if (statement->rows < 3) { return last > LONG_STEP * 16; }
    uint64_t all = (uint64_t)operations_of(copy, statement->handle) - statement->counters[0];
    return last > LONG_STEP * (uint64_t)fewest || all > LONG_STEP * (uint64_t)fewest * statement->rows;
}

static void end(const preload_copy *copy, preload_statement *statement) {
    uint64_t gap = advance(statement);
    if (statement->rows == 0) {
        statement->ticks = gap;
    } else if (has_long_steps(copy, statement)) {
        // The time of the program between the rows is counted, too.
        statement->ticks = statement->hidden.last - statement->start;
    } else {
        uint64_t row = least(statement->hidden.shortest, statement->ticks);
        statement->ticks += (statement->rows - 1) * row + least(gap, row);
    }
    statement->calls = statement->measured = 1;
    end_stepping(statement);
    preload_end_run(copy, statement, SQLITE_DONE, statement->hidden.last);
}

// A call of the trace hook.
typedef struct observation {
    unsigned type;
    preload_copy *copy;
    void *subject, *detail;
    uintptr_t frame;
} observation;

static void take_in(void *context) {
    const observation *seen = context;
    if (seen->type == SQLITE_TRACE_STMT) {
        begin(seen->copy, seen->subject, seen->detail, seen->frame);
        return;
    }
    preload_statement *statement = preload_find(seen->subject);
    if (statement == NULL || !statement->is_running) { return; }
    if (seen->type == SQLITE_TRACE_ROW) { end_row(seen->copy, statement); } else { end(seen->copy, statement); }
}

static int observe(unsigned type, void *context, void *subject, void *detail) {
    observation seen = {
        .type = type, .copy = context, .subject = subject, .detail = detail,
        .frame = (uintptr_t)__builtin_frame_address(0),
    };
    int saved = errno;
    if (!fl_with_room(take_in, &seen)) { preload_lose_event(); }
    errno = saved;
    return 0;
}

// MARK: - Copies

// The copy that has a function; null if it is not known.
static const preload_copy *copy_with(int (*step)(sqlite3_stmt *)) {
    uint32_t known = atomic_load_explicit(&count, memory_order_acquire);
    for (uint32_t index = 0; index < known; index++) {
        if (copies[index]->step == step) { return copies[index]; }
    }
    return NULL;
}

static int observe_connection(sqlite3 *connection, char **problem, const sqlite3_api_routines *functions) {
    (void)problem;
    const preload_copy *copy = copy_with(functions->step);
    if (copy == NULL || preload_is_asking()) { return SQLITE_OK; }
    copy->trace_v2(
        connection, SQLITE_TRACE_STMT | SQLITE_TRACE_ROW | SQLITE_TRACE_PROFILE, observe, (void *)copy);
    return SQLITE_OK;
}

// Whether calls of the function come through its symbol, and are recorded there.
static bool is_exported(int (*step)(sqlite3_stmt *), const struct dl_find_object *module) {
    const struct link_map *map = module->dlfo_link_map;
    void *handle = map == NULL || map->l_name[0] == 0 ? dlopen(NULL, RTLD_NOLOAD | RTLD_LAZY)
                                                      : dlopen(map->l_name, RTLD_NOLOAD | RTLD_LAZY);
    if (handle == NULL) { return false; }
    struct dl_find_object found;
    void *symbol = dlsym(handle, "sqlite3_step");
    // In the program's scope, this library's function comes first.
    if (symbol != NULL && preload_is_own(symbol)) { symbol = dlsym(RTLD_NEXT, "sqlite3_step"); }
    dlclose(handle);
    return symbol != NULL && _dl_find_object(symbol, &found) == 0 && found.dlfo_link_map == map;
}

// Adds a copy; false if it is not recorded in this way.
static bool add(const sqlite3_api_routines *functions) {
    struct dl_find_object module;
    if (functions->libversion_number() < VERSION_MINIMUM) { return false; }
    if (_dl_find_object((void *)functions->step, &module) != 0 || is_exported(functions->step, &module)) { return false; }
    fl_take(&lock);
    uint32_t known = atomic_load_explicit(&count, memory_order_relaxed);
    bool is_added = copy_with(functions->step) != NULL;
    preload_copy *copy = is_added || known == COPIES_MAXIMUM ? NULL : calloc(1, sizeof *copy);
    if (copy != NULL) {
#define X(name) copy->name = functions->name;
        PRELOAD_FUNCTIONS(X)
#undef X
        copy->low = (uintptr_t)module.dlfo_map_start;
        copy->high = (uintptr_t)module.dlfo_map_end;
        copy->is_hidden = true;
        copies[known] = copy;
        atomic_store_explicit(&count, known + 1, memory_order_release);
        is_added = true;
    }
    fl_give(&lock);
    preload_find_interpreter();
    return is_added;
}

void preload_lock_hidden(void) { fl_take(&lock); }
void preload_unlock_hidden(void) { fl_give(&lock); }

bool preload_reaches(const void *address, bool *is_recorded) {
    uint32_t known = atomic_load_explicit(&count, memory_order_acquire);
    for (uint32_t index = 0; index < known; index++) {
        if (!preload_is_inside(copies[index], address)) { continue; }
        *is_recorded = atomic_load_explicit(&copies[index]->has_runs, memory_order_relaxed);
        return true;
    }
    return false;
}

// SQLite calls this function when it loads the library: its name follows from the library's
// (https://sqlite.org/loadext.html).
EXPORT int sqlite3_faultlinepreload_init(sqlite3 *connection, char **problem, const sqlite3_api_routines *functions) {
    (void)connection, (void)problem;
    if (!add(functions)) { return SQLITE_OK; }
    functions->auto_extension((void (*)(void))(uintptr_t)observe_connection);
    return SQLITE_OK_LOAD_PERMANENTLY;
}
