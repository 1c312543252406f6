// A library to preload into programs that do not know Faultline.
//
// It interposes SQLite's functions by symbol and records each run of a statement. It uses nothing but the C library,
// prints nothing, and never changes what the program sees of SQLite.

#ifndef FAULTLINE_PRELOAD_H
#define FAULTLINE_PRELOAD_H

#include <faultline_columns.h>
#include <faultline_guest.h>
#include <faultline_recorder.h>
#include <faultline_sampler.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// MARK: - Functions in place of others

// Marks a function that the program calls instead of the one of the same name, together with the list of exports.
#define EXPORT __attribute__((visibility("default")))
// The code that called the function.
#define CALLER __builtin_return_address(0)

// MARK: - Copies of SQLite

// The functions of SQLite that the library calls or interposes, as X(name).
#define PRELOAD_FUNCTIONS(X) \
    X(backup_step) X(blob_close) X(blob_open) X(blob_read) X(blob_reopen) X(blob_write) X(wal_checkpoint) \
    X(wal_checkpoint_v2) X(bind_blob) X(bind_blob64) X(bind_double) X(bind_int64) X(bind_null) X(bind_parameter_count) \
    X(bind_pointer) X(bind_text) X(bind_text16) X(bind_text64) X(bind_value) X(bind_zeroblob) X(bind_zeroblob64) \
    X(changes) X(clear_bindings) X(close) X(column_count) X(column_int) X(column_name) X(column_text) X(db_filename) X(db_handle) X(exec) X(expanded_sql) \
    X(finalize) X(free) X(get_autocommit) X(get_table) X(open_v2) X(prepare) X(prepare_v2) X(prepare_v3) X(prepare16) \
    X(prepare16_v2) X(prepare16_v3) X(profile) X(reset) X(set_authorizer) X(sql) X(step) X(stmt_isexplain) \
    X(stmt_readonly) X(stmt_status) X(table_column_metadata) X(trace) X(trace_v2) X(transfer_bindings)

// One copy of SQLite in the process. A process can contain several, and each caller must reach its own.
typedef struct preload_copy {
#define X(name) __typeof__(&sqlite3_##name) name;
    PRELOAD_FUNCTIONS(X)
#undef X
    int (*config)(int, ...);  // null: of a hidden copy
    const char *(*db_name)(sqlite3 *, int);  // null: before SQLite 3.39
    faultline_column_functions columns;
    uintptr_t low, high;  // the addresses of its module
    bool is_mixed;        // the module contains callers of SQLite as well, such as Python's pysqlite3
    _Atomic bool has_runs;  // of a hidden copy: whether a run was recorded
    bool is_hidden;       // its functions have no symbols; it calls this library by hooks
} preload_copy;

// The addresses of a module whose code calls SQLite, and the copy that it is linked to; null: none.
typedef struct preload_caller {
    uintptr_t low, high;
    const preload_copy *copy;
} preload_caller;

static inline bool preload_is_of(const preload_caller *caller, const void *address) {
    return (uintptr_t)address - caller->low < caller->high - caller->low;
}

// The module from which this thread called last. Calls come in runs, and a module stays at its addresses while its code is
// running.
extern FL_THREAD_LOCAL preload_caller preload_last_caller;

const preload_copy *preload_find_copy(const void *address);

// The copy that the code at `address` is linked to; null if there is none.
static inline const preload_copy *preload_copy_of(const void *address) {
    return preload_is_of(&preload_last_caller, address) ? preload_last_caller.copy : preload_find_copy(address);
}

// Whether an address is in this library.
bool preload_is_own(const void *address);

// Held while the process forks.
void preload_lock_copies(void);
void preload_unlock_copies(void);
void preload_lock_hidden(void);
void preload_unlock_hidden(void);

// Whether an address is in the module of a hidden copy that calls this library, and whether a run of it was recorded.
bool preload_reaches(const void *address, bool *is_recorded);

// Reaches the hidden copies in Python's drivers from now on, and in the interpreter. Called when the program begins.
void preload_watch_drivers(void);

// Called before a library is opened, which may be a driver.
void preload_expect_driver(const char *path);

// Whether the code at an address is in the copy's module: a part of SQLite itself, unless the module is mixed.
static inline bool preload_is_inside(const preload_copy *copy, const void *address) {
    return (uintptr_t)address >= copy->low && (uintptr_t)address < copy->high;
}

// MARK: - The recorder

// The process's recorder; null if it does not record. The first call starts it. Keeps errno.
fl_recorder *preload_recorder(void);

// The directory of the process's rings; null if it does not record.
const char *preload_directory(void);

// Called before the process restricts its system calls. Work that is otherwise left for the end of the process is done now.
// Strict mode (`is_strict`) also forbids reading the clock, so recording ends.
void preload_confine(bool is_strict);

// Whether the clock may not be read any more.
extern __attribute__((visibility("hidden"))) bool preload_has_no_clock;

// Counts an event that could not be recorded.
void preload_lose_event(void);

// Completes the recording of a process that ends without running destructors. Safe in a signal handler.
void preload_end_process(void);

// Whether the user asked for the values of statements.
bool preload_keeps_values(void);

// Distinguishes the recorders of a process and its forked children, whose dictionaries differ.
extern _Atomic uint32_t preload_current_generation;
static inline uint32_t preload_generation(void) {
    return atomic_load_explicit(&preload_current_generation, memory_order_relaxed);
}

// A clock that costs less than CLOCK_MONOTONIC, in ticks.
static inline uint64_t preload_ticks(void) {
    if (__builtin_expect(preload_has_no_clock, 0)) { return 0; }
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return fl_now();
#endif
}

// The time of a reading of `preload_ticks` on this thread, in nanoseconds of CLOCK_MONOTONIC. `present` is the latest
// reading.
uint64_t preload_time(uint64_t ticks, uint64_t present);

// Converts a number of ticks to nanoseconds.
uint64_t preload_nanoseconds(uint64_t elapsed);

// MARK: - Statements

// The parameters of a statement whose values are kept in its record. Further ones take memory of their own.
#define PRELOAD_FEW_VALUES 8

// Hashes of the values of a statement's parameters after the first few.
typedef struct preload_values {
    uint32_t count;
    _Atomic uint64_t hashes[];
} preload_values;

// The wait of a run for SQLite's lock on a file.
typedef struct preload_wait {
    uint64_t start, end;     // in nanoseconds of CLOCK_MONOTONIC
    uint32_t tries;          // 0: it did not wait
    uint32_t owner_thread, owner_process;
} preload_wait;

// The reads and writes of a run, and its waits for the disk.
typedef struct preload_io {
    uint32_t reads, writes, syncs;
    uint64_t sync_time;      // in nanoseconds
    uint64_t page;           // the place of the page whose header was just written to a write-ahead log
    uint64_t log;            // the end of the last page that was written to it; 0: none
} preload_io;

// Where a statement was repeated: the number of the call of a function that has been active since it last ran, and the
// function's place on the stack.
typedef struct preload_loop {
    uint32_t activation, level;
} preload_loop;

// The functions that await a run on another thread: their stack, 0 if it was not found, and where they repeated the statement.
typedef struct preload_awaited {
    bool is_tried, is_truncated;
    uint32_t stack, generation;
    preload_loop loop;
} preload_awaited;

// A prepared statement of the program, and its current run.
typedef struct preload_statement {
    sqlite3_stmt *handle;    // null: the call of another function; or that of a blob
    char *label;             // the table and column of a blob
    bool is_internal;        // SQLite prepared it for its own purposes
    bool is_running;
    bool is_read_only;
    bool is_confidential;    // its values are never recorded
    uint32_t preparations;   // since the last run
    uint64_t preparing;      // ticks that they took
    uint32_t generation;     // the recorder whose dictionary has the text
    uint32_t text;           // the text's number there
    uint32_t type;           // the statement's effect
    bool changes_rows;       // whether SQLite counts the rows that it changes
    bool can_write;          // whether a run can take SQLite's write lock
    const sqlite3 *connection;
    uint64_t file;           // hash of the path of the connection's main file; 0: none
    uint32_t plan;           // the plan's number in the dictionary; 0: none
    uint32_t columns;        // of a row; 0: what the program reads of them is not recorded
    // The values, which stay bound when a run ends. Two threads may bind at a time; what they leave is then undefined, as
    // in SQLite, but valid.
    uint64_t literals;                 // hash of the text with its literals
    _Atomic uint64_t values;           // the hashes of all parameters, combined
    _Atomic bool has_unknown_values;
    _Atomic uint64_t few[PRELOAD_FEW_VALUES];
    _Atomic(preload_values *) many;
    // The counters at the end of the last run. They are never reset, because the program may read them.
    uint32_t counters[5];
    // The run.
    bool is_counted;         // whether `added` is known
    uint32_t added[5];       // to the counters
    uint64_t start;          // in ticks
    uint64_t ticks;          // time in the measured calls
    uint64_t ending;         // ticks of the call that ended it early
    uint64_t cost;           // ticks that recording took at the beginning, if that was measured
    uint32_t calls, measured;
    uint32_t first_steps;    // SQLite's counter of operations after the first FIRST_CALLS calls, which are measured
    uint32_t rows;
    preload_loop loop;
    uint64_t scope;          // in which it began; 0: none
    uint64_t columns_read;   // a bit for each of the first PRELOAD_COLUMNS columns
    uint32_t with_values;    // the number in the dictionary of the text with its values; 0: not recorded
    uint32_t stack;
    bool is_stack_truncated;
    preload_awaited awaited;
    preload_wait wait;
    preload_io io;
    // Of a hidden copy.
    struct {
        uint32_t runs;      // SQLite's counter of the statement's runs
        uint64_t last;      // the time of the latest event, in ticks
        uint64_t shortest;  // the least time between two rows, in ticks
        uint32_t steps;     // SQLite's counter of operations at the latest event
        uint32_t fewest;    // the fewest operations between two rows
    } hidden;
} preload_statement;

// The first calls of a run, which are all measured.
#define PRELOAD_FIRST_CALLS 4

// The columns of a row whose use is recorded.
#define PRELOAD_COLUMNS 63

// Whether the columns that the program reads are recorded.
bool preload_observes_columns(void);

// Adds a statement; null if there is no memory, or too many statements are open.
preload_statement *preload_add(sqlite3_stmt *handle);

// The statement of a handle; null if it is not known.
preload_statement *preload_find(sqlite3_stmt *handle);

void preload_remove(preload_statement *statement);

// Removes a statement from the table alone, because SQLite may use its handle again. Then it must be given back.
void preload_detach(preload_statement *statement);

// A record for the call of another function, until it is given back; null if there is no memory. It is not on the stack,
// because a callback can leave the call by longjmp: then it stays taken.
preload_statement *preload_take(void);
void preload_give_back(preload_statement *statement);

// Held while the process forks, so that the child finds the tables whole and their locks free.
void preload_lock_statements(void);
void preload_unlock_statements(void);

// Interns the text of a statement that was prepared just now, and asks for its plan.
void preload_describe(fl_recorder *recorder, const preload_copy *copy, preload_statement *statement);

// Begins a run of a statement that is not running.
void preload_begin_run(const preload_copy *copy, preload_statement *statement);

// Writes a JSON object with one text, and returns its length. `opening` is the object's beginning, up to the text.
size_t preload_write_object(char *json, size_t room, const char *opening, const char *text, size_t length);

// The number in the dictionary of a statement's text, or of the text that an event has instead of a statement. `json` is
// memory for the entry, of `room` bytes: at least twice the text's length and 16 more.
uint32_t preload_intern_text(fl_recorder *recorder, const char *text, size_t length, char *json, size_t room);

// Reads what a run has added to SQLite's counters, while there is a handle.
void preload_count_run(const preload_copy *copy, preload_statement *statement);

// Ends the run of a statement that is running, and records it. `result` is SQLite's result code, SQLITE_OK if the program
// ended it; `end` is the time in ticks. `copy` is null if the handle is gone.
void preload_end_run(const preload_copy *copy, preload_statement *statement, int result, uint64_t end);

// The statement that this thread steps, and its copy of SQLite; null if there is none.
preload_statement *preload_running(const preload_copy **copy);

// The statement that a thread was running before a call of SQLite.
typedef struct preload_before {
    preload_statement *running;
    const preload_copy *copy;
    uintptr_t frame;
} preload_before;

// Called before and after SQLite's part of a call that can run statements. `frame` is the frame of the function that the
// program called.
preload_before preload_enter(const preload_copy *copy, preload_statement *running, uintptr_t frame);
void preload_leave(preload_before before);

// Whether SQLite calls a function for its own purposes, and not the program.
bool preload_is_own_call(const preload_copy *copy, const void *caller);

// MARK: - Waits

// Stores the statement's connection and its file. Returns the file's path; null if it has none.
const char *preload_find_file(const preload_copy *copy, preload_statement *statement);

// Called before and after a run that can write.
void preload_begin_writing(const preload_statement *statement);
void preload_end_writing(const preload_copy *copy, const preload_statement *statement, bool has_failed);

// Records the wait of a run that has just been recorded as the event `id`, if it waited, or failed because it did not.
void preload_end_waits(
    fl_recorder *recorder, preload_statement *statement, int result, const fl_measured *event, uint64_t id);

// MARK: - Values

// The keyed hash of the statement's values; 0 if some of them are not known.
uint64_t preload_hash_values(const fl_recorder *recorder, const preload_statement *statement);

// MARK: - Tables

#define PRELOAD_SLOTS 65536

typedef struct preload_slot {
    _Atomic uint64_t key;
    uint64_t value;
} preload_slot;

// Values by keys that are not 0. A look-up takes no lock; what does not fit is not kept. The memory is allocated with the
// first value.
typedef struct preload_table {
    _Atomic(preload_slot *) slots;
} preload_table;

bool preload_look_up(const preload_table *table, uint64_t key, uint64_t *value);
void preload_keep(preload_table *table, uint64_t key, uint64_t value);

// For a signal handler: keeps a value unless the table is locked or has no memory yet, which preload_allocate gives it.
void preload_try_keep(preload_table *table, uint64_t key, uint64_t value);
void preload_allocate(preload_table *table);

// Held while the process forks.
void preload_lock_tables(void);
void preload_unlock_tables(void);

// MARK: - Plans

// The number of SQLite's plan for a statement that reads. `text` is the number of its text. SQLite is asked for a plan that
// is not known yet if `may_ask`, right after the statement was prepared. 0 if there is none.
uint32_t preload_plan(
    fl_recorder *recorder, const preload_copy *copy, sqlite3_stmt *handle, uint32_t text, bool may_ask);

// Whether this thread is asking for a plan.
bool preload_is_asking(void);

// Whether questions may be asked on the connections of a copy: the program has set no hook that would see them.
bool preload_may_ask(const preload_copy *copy);

// Called when the program sets a hook that would see the question for a plan, which is not asked from then on.
void preload_note_hook(void);

// Whether this thread is inside a call of SQLite, as in a function that SQLite calls.
bool preload_is_nested(void);

// MARK: - Stacks

// Looks for an interpreter of Python, PHP or Ruby in the process, unless one was found. Called when a module is seen for the first time.
void preload_find_interpreter(void);

// The number of the calling thread's stack, with the functions of Python, PHP or Ruby in place of the interpreter's own. 0 if it
// says nothing about the program, because the version of Python is not known. Sets where the statement was repeated.
uint32_t preload_stack(fl_recorder *recorder, bool is_query, preload_loop *loop, bool *truncated);

// Whether the thread runs statements for tasks of a Python program's event loop, which may be that of another thread.
extern FL_THREAD_LOCAL bool preload_has_task;

// Looks for the task of a statement's next run, or its present one, once for each, and for the functions that await it on
// another thread. Called where the driver may hold Python's lock.
void preload_find_awaiting(sqlite3_stmt *handle);

// The same for the next statement that the thread runs.
void preload_expect_awaited(void);

// Gives a run the stack of the functions that await it, if they were found.
bool preload_take_awaited(preload_statement *statement);

typedef struct preload_open_scopes {
    uint32_t count, generation;
    uint64_t innermost;  // its number; 0 if there is none
    uint64_t end;        // of the last statement in the innermost one, until which they last, in nanoseconds
} preload_open_scopes;

// The thread's.
extern FL_THREAD_LOCAL preload_open_scopes preload_open;

// The number of the thread's innermost scope; 0 if there is none.
static inline uint64_t preload_scope_of_thread(void) {
    return preload_open.generation == preload_generation() ? preload_open.innermost : 0;
}

// Ends the scopes of the calling thread, and of the tasks that it runs.
void preload_end_scopes(void);

// Called before the recorder is, so that a thread's scopes end before its recording.
void preload_prepare_activations(void);

// Held while the process forks.
void preload_lock_python(void);
void preload_unlock_python(void);

// MARK: - Sampling

// Starts to sample the process, if the environment asks for it and the program does not record itself. Called when the
// program begins.
void preload_start_sampling(void);

// The same in a forked child, if its parent was sampled. It is called by the fork handler, and takes no lock that another
// thread of the parent could have held.
void preload_start_sampling_in_child(void);

// The interrupted thread's Python functions, as fl_sampler_guide wants them.
uint32_t preload_sample_python(
    fl_recorder *recorder, uint64_t *frames, uint32_t room, fl_interpreted *interpreter, bool *truncated, bool *is_busy);

// Allocates the memory that preload_sample_python needs.
void preload_prepare_python_samples(void);

// The frame of this thread's innermost call of SQLite; 0 if it is in none. SQLite is usually built without frame pointers.
uintptr_t preload_sqlite_frame(void);

// MARK: - Text

// The longest text that is kept of a statement.
#define PRELOAD_TEXT_MAXIMUM 8192

// Tells whether a word is the name of a table or a column.
typedef struct preload_names {
    bool (*has)(void *context, const char *word, size_t length);
    void *context;
} preload_names;

// Writes SQL without literals, parameters and comments, with lists of values collapsed, so that statements which differ
// only in their values have the same text. A word in double quotation marks is a literal unless it must be a name or is one
// of `known`, which can be null. Returns the length, at most PRELOAD_TEXT_MAXIMUM.
size_t preload_normalize(const char *sql, size_t length, const preload_names *known, char *out);
// Whether a text in single quotation marks is a path into JSON of names in letters, or, if it can be, such a name alone.
bool preload_is_json_path(const char *literal, size_t length, bool can_be_name);
// Whether a text in single quotation marks is a format of strftime without other words.
bool preload_is_date_format(const char *literal, size_t length);

// A hash of a word, equal for upper and lower case. Never 0.
uint64_t preload_hash_word(const char *text, size_t length);

// Whether a text is a word alone, as most names of columns are.
bool preload_is_plain_name(const char *text, size_t length);

// Whether the values of a normalized statement are never recorded, because they can be the key of an encrypted database.
bool preload_is_confidential(const char *text, size_t length);

// Calls a function with each word of a statement that can be the name of a table, until it returns false.
void preload_each_table(
    const char *sql, size_t length, bool (*take)(void *context, const char *word, size_t length), void *context);

// A connection that is asked for names.
typedef struct preload_asking {
    const preload_copy *copy;
    sqlite3 *connection;  // null: it must not be asked
    bool may_query;       // whether a statement may be run for it
    const char *sql;      // the statement with the names
    size_t length;
} preload_asking;

// Whether a word is a name. The context is a preload_asking.
bool preload_has_name(void *context, const char *word, size_t length);

// The effect of a normalized statement, as a number of the enumeration FL_ENUMERATION_STATEMENT_TYPE.
uint32_t preload_type_of(const char *text, size_t length, bool is_read_only);

#endif
