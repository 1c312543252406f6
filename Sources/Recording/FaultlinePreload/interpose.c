#define _GNU_SOURCE
#include "originals.h"
#include "preload.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

// The functions of SQLite that a program calls. Each reaches the copy that its caller is linked to, and does what that
// copy does. What SQLite does inside itself is not the program's: its automatic reset after the last row, the
// statements of its full-text search, of VACUUM and of ALTER TABLE.

// MARK: - The statements of sqlite3_exec

// A call of sqlite3_exec or sqlite3_get_table, whose statements are the program's although SQLite prepares them. SQLite
// finalizes them by an internal function, so each ends when the next one is prepared, or with the call.
typedef struct execution {
    struct execution *outer;
    preload_statement *current;
    uint32_t depth;
} execution;

static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
    execution *execution;
    uint32_t depth;  // of calls that can run statements
    preload_statement *running;  // null: not within a step, or within one of a statement that is not recorded
    const preload_copy *copy;    // of that statement
    uintptr_t frame;  // of the innermost call that can run statements; 0 outside
} thread;

preload_statement *preload_running(const preload_copy **copy) {
    *copy = thread.copy;
    return thread.running;
}

uintptr_t preload_sqlite_frame(void) { return thread.frame; }

// A signal handler can run between any two of these steps, and call functions that ask for the running statement. It must
// not find one without its copy.
preload_before preload_enter(const preload_copy *copy, preload_statement *running, uintptr_t frame) {
    preload_before before = {thread.running, thread.copy, thread.frame};
    thread.copy = copy;
    atomic_signal_fence(memory_order_seq_cst);
    thread.running = running;
    thread.frame = frame;
    thread.depth++;
    return before;
}

void preload_leave(preload_before before) {
    thread.depth--;
    thread.running = before.running;
    atomic_signal_fence(memory_order_seq_cst);
    thread.copy = before.copy;
    thread.frame = before.frame;
}

static int step(const preload_copy *copy, sqlite3_stmt *handle, preload_statement *statement) {
    preload_before before = preload_enter(copy, statement, (uintptr_t)__builtin_frame_address(0));
    int result = copy->step(handle);
    preload_leave(before);
    return result;
}

// Ends the run of a statement that the program did not step to its end.
static void end_early(const preload_copy *copy, preload_statement *statement) {
    if (!statement->is_running) { return; }
    int saved = errno;
    preload_end_run(copy, statement, SQLITE_OK, preload_ticks());
    errno = saved;
}

static void end_statement(execution *execution) {
    preload_statement *statement = execution->current;
    execution->current = NULL;
    if (statement == NULL) { return; }
    // If a callback ended the execution, the run has not ended, but its handle is gone.
    end_early(NULL, statement);
    preload_remove(statement);
}

// The innermost execution of this thread. A callback can leave one by longjmp; it is then below the stack pointer.
static execution *current_execution(void) {
    if ((uintptr_t)thread.execution < (uintptr_t)__builtin_frame_address(0)) { thread.execution = NULL; }
    return thread.execution;
}

// Whether SQLite makes this call for its own purposes. Within a mixed module its calls cannot be distinguished from the program's by
// their addresses, but SQLite makes them only while it does what the program asked for.
bool preload_is_own_call(const preload_copy *copy, const void *caller) {
    return preload_is_inside(copy, caller) && (!copy->is_mixed || thread.depth > 0);
}

// MARK: - Preparing

// `ticks` is the time that the preparation took.
static void prepared(const preload_copy *copy, int result, sqlite3_stmt **out, uint64_t ticks, const void *caller) {
    if (result != SQLITE_OK || out == NULL || *out == NULL) { return; }
    fl_recorder *recorder = preload_recorder();
    if (recorder == NULL) { return; }
    int saved = errno;
    execution *execution = current_execution();
    bool is_of_execution = preload_is_inside(copy, caller) && execution != NULL && execution->depth == thread.depth;
    if (is_of_execution) { end_statement(execution); }
    preload_statement *statement = preload_add(*out);
    if (statement != NULL) {
        statement->is_internal = !is_of_execution && preload_is_own_call(copy, caller);
        statement->is_read_only = copy->stmt_readonly == NULL || copy->stmt_readonly(*out) != 0;
        statement->preparations = 1;
        statement->preparing = ticks;
        if (is_of_execution) { execution->current = statement; }
        if (statement->is_read_only && !statement->is_internal) { preload_describe(recorder, copy, statement); }
    }
    errno = saved;
}

#define DEFINE_PREPARE(name, parameters, arguments) \
    EXPORT int sqlite3_##name parameters { \
        const preload_copy *copy = preload_copy_of(CALLER); \
        if (copy == NULL || copy->name == NULL) { return SQLITE_MISUSE; } \
        /* SQLite's first preparation runs statements of its own, which would start the recorder meanwhile. */ \
        preload_recorder(); \
        uint64_t start = preload_ticks(); \
        preload_before before = preload_enter(copy, NULL, (uintptr_t)__builtin_frame_address(0)); \
        int result = copy->name arguments; \
        preload_leave(before); \
        prepared(copy, result, statement, preload_ticks() - start, CALLER); \
        return result; \
    }
#define PREPARE(name, text) \
    DEFINE_PREPARE(name, \
        (sqlite3 *connection, const text *sql, int bytes, sqlite3_stmt **statement, const text **tail), \
        (connection, sql, bytes, statement, tail))
#define PREPARE_WITH_FLAGS(name, text) \
    DEFINE_PREPARE(name, \
        (sqlite3 *connection, const text *sql, int bytes, unsigned flags, sqlite3_stmt **statement, const text **tail), \
        (connection, sql, bytes, flags, statement, tail))

PREPARE(prepare, char)
PREPARE(prepare_v2, char)
PREPARE_WITH_FLAGS(prepare_v3, char)
PREPARE(prepare16, void)
PREPARE(prepare16_v2, void)
PREPARE_WITH_FLAGS(prepare16_v3, void)

// MARK: - Running

// The calls of a run that are measured: the first ones, and then one in sixteen.
static bool is_measured(uint32_t calls) { return calls < PRELOAD_FIRST_CALLS || (calls & 15) == 0; }

EXPORT int sqlite3_step(sqlite3_stmt *handle) {
    const preload_copy *copy = preload_copy_of(CALLER);
    if (copy == NULL) { return SQLITE_MISUSE; }
    preload_statement *statement = preload_find(handle);
    if (statement == NULL || statement->is_internal) {
        // SQLite may run it for a statement or a call of the program, which then waits and reads files.
        return step(copy, handle, thread.copy == copy ? thread.running : NULL);
    }
    int saved = errno;
    bool is_first = !statement->is_running;
    if (is_first) { preload_begin_run(copy, statement); }
    errno = saved;
    // Reading the clock is a good part of the cost, so the time at the beginning is read once, and so is that at the end.
    bool is_timed = is_measured(statement->calls);
    uint64_t before = !is_timed ? 0 : is_first ? statement->start : preload_ticks(), after = 0;
    int result = step(copy, handle, statement);
    if (is_timed) {
        after = preload_ticks();
        statement->ticks += after - before;
        statement->measured++;
    }
    if (++statement->calls == PRELOAD_FIRST_CALLS) {
        statement->first_steps = (uint32_t)copy->stmt_status(handle, SQLITE_STMTSTATUS_VM_STEP, 0);
    }
    if (result == SQLITE_ROW) {
        statement->rows++;
        return result;
    }
    if (statement->is_running) {
        saved = errno;
        preload_end_run(copy, statement, result, is_timed ? after : preload_ticks());
        errno = saved;
    }
    return result;
}

// Ends the run of a statement that may write and was not stepped to its end. SQLite may then commit, and wait for the disk.
static int end_by(
    int (*function)(sqlite3_stmt *), const preload_copy *copy, sqlite3_stmt *handle, preload_statement *statement
) {
    uint64_t start = preload_ticks();
    preload_before before = preload_enter(copy, statement, (uintptr_t)__builtin_frame_address(0));
    int result = function(handle);
    preload_leave(before);
    int saved = errno;
    uint64_t end = preload_ticks();
    statement->ending = end - start;
    if (statement->is_running) { preload_end_run(copy, statement, result, end); }
    errno = saved;
    return result;
}

// Python's driver asks for the names of a result's columns, and for an open transaction before it begins or ends one, under
// Python's lock.

EXPORT int sqlite3_get_autocommit(sqlite3 *connection) {
    const preload_copy *copy = preload_copy_of(CALLER);
    if (copy == NULL || copy->get_autocommit == NULL) { return 1; }
    if (__builtin_expect(preload_has_task, 0)) { preload_expect_awaited(); }
    return copy->get_autocommit(connection);
}

static __attribute__((noinline)) const char *name_column(sqlite3_stmt *handle, int column, const void *caller) {
    const preload_copy *copy = preload_copy_of(caller);
    if (copy == NULL || copy->column_name == NULL) { return NULL; }
    if (preload_has_task) { preload_find_awaiting(handle); }
    return copy->column_name(handle, column);
}

// It is called for each column of each result, so that the usual case must be short.
EXPORT const char *sqlite3_column_name(sqlite3_stmt *handle, int column) {
    const preload_copy *copy = preload_is_of(&preload_last_caller, CALLER) ? preload_last_caller.copy : NULL;
    bool is_usual = copy != NULL && copy->column_name != NULL && !preload_has_task;
    return __builtin_expect(is_usual, 1) ? copy->column_name(handle, column) : name_column(handle, column, CALLER);
}

EXPORT int sqlite3_reset(sqlite3_stmt *handle) {
    const preload_copy *copy = preload_copy_of(CALLER);
    if (copy == NULL) { return SQLITE_MISUSE; }
    preload_statement *statement = preload_is_own_call(copy, CALLER) ? NULL : preload_find(handle);
    if (statement == NULL) { return copy->reset(handle); }
    // Values that were bound for a run that did not begin are no sign of the next one's.
    statement->awaited.is_tried = false;
    if (statement->is_running && statement->can_write) { return end_by(copy->reset, copy, handle, statement); }
    end_early(copy, statement);
    return copy->reset(handle);
}

EXPORT int sqlite3_finalize(sqlite3_stmt *handle) {
    const preload_copy *copy = preload_copy_of(CALLER);
    if (copy == NULL) { return SQLITE_MISUSE; }
    preload_statement *statement = preload_find(handle);
    if (statement == NULL) { return copy->finalize(handle); }
    if (statement->is_running && statement->can_write) {
        preload_count_run(copy, statement);
        preload_detach(statement);
        int result = end_by(copy->finalize, copy, handle, statement);
        preload_give_back(statement);
        return result;
    }
    end_early(copy, statement);
    preload_remove(statement);
    return copy->finalize(handle);
}

// MARK: - Running several statements

static void begin_execution(execution *execution) {
    execution->outer = current_execution();
    execution->current = NULL;
    // SQLite prepares the statements in calls that are one level deeper.
    execution->depth = thread.depth;
    thread.execution = execution;
}

static void end_execution(execution *execution) {
    end_statement(execution);
    thread.execution = execution->outer;
}

EXPORT int sqlite3_exec(
    sqlite3 *connection, const char *sql, int (*row)(void *, int, char **, char **), void *context, char **message
) {
    const preload_copy *copy = preload_copy_of(CALLER);
    if (copy == NULL || copy->exec == NULL) { return SQLITE_MISUSE; }
    if (preload_is_own_call(copy, CALLER)) { return copy->exec(connection, sql, row, context, message); }
    execution execution;
    begin_execution(&execution);
    // SQLite steps from within this call, and is usually built without frame pointers: stacks go on from here.
    fl_push_anchor();
    int result = copy->exec(connection, sql, row, context, message);
    fl_pop_anchor();
    end_execution(&execution);
    return result;
}

EXPORT int sqlite3_get_table(
    sqlite3 *connection, const char *sql, char ***table, int *rows, int *columns, char **message
) {
    const preload_copy *copy = preload_copy_of(CALLER);
    if (copy == NULL || copy->get_table == NULL) { return SQLITE_MISUSE; }
    execution execution;
    begin_execution(&execution);
    fl_push_anchor();
    int result = copy->get_table(connection, sql, table, rows, columns, message);
    fl_pop_anchor();
    end_execution(&execution);
    return result;
}

// MARK: - Hooks of the program

bool preload_is_nested(void) { return thread.depth > 0; }

#define DEFINE_HOOK(result, name, parameters, arguments, failure) \
    EXPORT result sqlite3_##name parameters { \
        const preload_copy *copy = preload_copy_of(CALLER); \
        if (copy == NULL || copy->name == NULL) { return failure; } \
        preload_note_hook(); \
        return copy->name arguments; \
    }

DEFINE_HOOK(
    int, set_authorizer,
    (sqlite3 *connection, int (*allow)(void *, int, const char *, const char *, const char *, const char *), void *context),
    (connection, allow, context), SQLITE_MISUSE)
DEFINE_HOOK(
    void *, trace, (sqlite3 *connection, void (*trace)(void *, const char *), void *context), (connection, trace, context),
    NULL)
DEFINE_HOOK(
    int, trace_v2,
    (sqlite3 *connection, unsigned events, int (*trace)(unsigned, void *, void *, void *), void *context),
    (connection, events, trace, context), SQLITE_MISUSE)
DEFINE_HOOK(
    void *, profile,
    (sqlite3 *connection, void (*profile)(void *, const char *, sqlite3_uint64), void *context),
    (connection, profile, context), NULL)

// The program's function for messages of SQLite.
typedef struct message_log {
    void (*write)(void *, int, const char *);
    void *context;
} message_log;

// SQLite also logs what it notices while it plans a statement, such as an automatic index.
static void pass_message(void *context, int code, const char *message) {
    const message_log *log = context;
    if (!preload_is_asking()) { log->write(log->context, code, message); }
}

// The options have up to three values, which are integers and pointers. Registers pass them, so reading more of them than
// there are is harmless.
EXPORT int sqlite3_config(int option, ...) {
    const preload_copy *copy = preload_copy_of(CALLER);
    if (copy == NULL || copy->config == NULL) { return SQLITE_MISUSE; }
    va_list values;
    va_start(values, option);
    void *first = va_arg(values, void *), *second = va_arg(values, void *), *third = va_arg(values, void *);
    va_end(values);
    // SQLite keeps it for as long as it likes.
    message_log *log = option == SQLITE_CONFIG_LOG && first != NULL ? malloc(sizeof *log) : NULL;
    if (log == NULL) { return copy->config(option, first, second, third); }
    *log = (message_log){.write = (__typeof__(log->write))first, .context = second};
    int result = copy->config(option, pass_message, log);
    if (result != SQLITE_OK) { free(log); }
    return result;
}

// MARK: - Loading

// PHP loads its extensions with RTLD_DEEPBIND, so they would find SQLite's functions before this library's. The call
// must be a tail call, because the loader looks up the RUNPATH of the module that it returns to.
EXPORT void *dlopen(const char *path, int flags) {
    if ((flags & RTLD_NOLOAD) == 0) { preload_expect_driver(path); }
    __attribute__((musttail)) return ORIGINAL(dlopen)(path, flags & ~RTLD_DEEPBIND);
}
