#include "preload.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

// Statuses that are counted up, in the order of `counters`.
static const int statuses[] = {
    SQLITE_STMTSTATUS_VM_STEP, SQLITE_STMTSTATUS_FULLSCAN_STEP, SQLITE_STMTSTATUS_SORT, SQLITE_STMTSTATUS_AUTOINDEX,
    SQLITE_STMTSTATUS_REPREPARE,
};
enum { VM_STEP, FULLSCAN_STEP, SORT, AUTOINDEX, REPREPARE, STATUSES };

size_t preload_write_object(char *json, size_t room, const char *opening, const char *text, size_t length) {
    size_t used = (size_t)(stpcpy(json, opening) - json);
    used += fl_json_string(json + used, room - used - 2, text, length);
    json[used++] = '}';
    return used;
}

// Interns an entry of `used` bytes about a statement with a text. Returns the number in the dictionary.
static uint32_t intern(fl_recorder *recorder, const char *json, size_t used, const char *text, size_t length) {
    return fl_intern(recorder, FL_DICTIONARY_STATEMENT, json, used, text, length < 255 ? length : 255);
}

uint32_t preload_intern_text(fl_recorder *recorder, const char *text, size_t length, char *json, size_t room) {
    return intern(recorder, json, preload_write_object(json, room, "{\"sql\":", text, length), text, length);
}

// The files whose paths stand beside their statements, as hashes. Each of them gives a text another entry in the dictionary,
// so that of a program with many files only the first ones do.
#define FILES 8
static _Atomic uint64_t named_files[FILES];
#define PATH_MAXIMUM 512

static bool is_named_file(uint64_t file) {
    for (size_t index = 0; index < FILES && file != 0; index++) {
        uint64_t held = 0;
        if (atomic_compare_exchange_strong(&named_files[index], &held, file) || held == file) { return true; }
    }
    return false;
}

// The most attached databases whose paths stand beside a statement.
#define ATTACHED 4

// Appends the names and paths of the databases that are attached to a connection. Returns the length.
static size_t write_attached(const preload_copy *copy, sqlite3 *connection, char *json, size_t room) {
    size_t used = 0;
    // The first two are the main and the temporary database.
    for (int index = 2; copy->db_name != NULL && index < 2 + ATTACHED; index++) {
        const char *name = copy->db_name(connection, index);
        if (name == NULL) { break; }
        const char *path = copy->db_filename(connection, name);
        size_t bytes = path == NULL ? 0 : strlen(path);
        // A character takes at most six bytes.
        if (bytes == 0 || bytes > PATH_MAXIMUM || used + 6 * (bytes + strlen(name)) + 32 > room) { continue; }
        used += (size_t)(stpcpy(json + used, used == 0 ? "\"attached\":{" : ",") - (json + used));
        used += fl_json_string(json + used, room - used, name, strlen(name));
        json[used++] = ':';
        used += fl_json_string(json + used, room - used, path, bytes);
    }
    return used == 0 ? 0 : used + (size_t)(stpcpy(json + used, "},") - (json + used));
}

// Begins an entry about a statement: with the path of its database file, if that is known, and of those attached to it.
// Returns the length.
static size_t begin_entry(
    const preload_copy *copy, const preload_statement *statement, const char *path, char *json, size_t room
) {
    size_t length = path == NULL ? 0 : strlen(path);
    if (length == 0 || length > PATH_MAXIMUM || !is_named_file(statement->file)) { return (size_t)(stpcpy(json, "{") - json); }
    size_t used = (size_t)(stpcpy(json, "{\"file\":") - json);
    used += fl_json_string(json + used, room - used, path, length);
    json[used++] = ',';
    // The rest is for the text.
    return used + write_attached(copy, (sqlite3 *)statement->connection, json + used, room - used - 2 * PRELOAD_TEXT_MAXIMUM);
}

// Interns a statement. Returns the number in the dictionary.
static uint32_t intern_statement(
    fl_recorder *recorder, const preload_copy *copy, const preload_statement *statement, const char *path,
    const char *text, size_t length, char *json, size_t room
) {
    size_t used = begin_entry(copy, statement, path, json, room);
    used += preload_write_object(json + used, room - used, "\"sql\":", text, length);
    return intern(recorder, json, used, text, length);
}

// Interns a statement with the names of its columns, if there is room for them. Returns the number in the dictionary.
static uint32_t intern_with_columns(
    fl_recorder *recorder, const preload_copy *copy, preload_statement *statement, const char *path,
    const preload_names *names, const char *text, size_t length, char *json, size_t room
) {
    char expression[PRELOAD_TEXT_MAXIMUM];
    size_t used = begin_entry(copy, statement, path, json, room);
    used += (size_t)(stpcpy(json + used, "\"columns\":[") - (json + used));
    for (int column = 0; column < (int)statement->columns && column < PRELOAD_COLUMNS; column++) {
        const char *name = copy->column_name(statement->handle, column);
        size_t bytes = name == NULL ? 0 : strlen(name);
        // SQLite names a column without a name after its expression.
        if (name != NULL && !preload_is_plain_name(name, bytes)) {
            bytes = preload_normalize(name, bytes, names, expression);
            name = expression;
        }
        // The text takes at most twice its length, and so does a name.
        if (name == NULL || used + 2 * bytes + 2 * length + 64 > room) {
            return intern_statement(recorder, copy, statement, path, text, length, json, room);
        }
        if (column > 0) { json[used++] = ','; }
        used += fl_json_string(json + used, room - used, name, bytes);
    }
    used += preload_write_object(json + used, room - used, "],\"sql\":", text, length);
    return intern(recorder, json, used, text, length);
}

static bool has_type(const preload_statement *statement, const char *name) {
    return statement->type == (uint32_t)fl_enumeration_value(FL_ENUMERATION_STATEMENT_TYPE, name, strlen(name));
}

// Interns the statement's text, in the dictionary of this recorder.
static void describe(fl_recorder *recorder, const preload_copy *copy, preload_statement *statement, bool is_new) {
    const char *sql = copy->sql == NULL ? NULL : copy->sql(statement->handle);
    char text[PRELOAD_TEXT_MAXIMUM], json[2 * PRELOAD_TEXT_MAXIMUM + 4096];
    if (sql == NULL) { sql = ""; }
    // The recorder measures the cost of new entries itself, and reading the text is a part that each preparation has.
    uint64_t reading = fl_cost_begin(recorder);
    size_t raw = strlen(sql);
    preload_asking asking = {.copy = copy, .sql = sql, .length = raw};
    if (!copy->is_hidden && !preload_is_nested() && copy->db_handle != NULL) {
        asking.connection = copy->db_handle(statement->handle);
        asking.may_query = preload_may_ask(copy);
    }
    const preload_names names = {.has = preload_has_name, .context = &asking};
    size_t length = preload_normalize(sql, raw, &names, text);
    statement->is_confidential = preload_is_confidential(text, length);
    statement->literals = fl_mix_bytes(raw, sql, raw);
    statement->type = preload_type_of(text, length, statement->is_read_only);
    statement->changes_rows = has_type(statement, "write");
    statement->can_write = !statement->is_read_only || has_type(statement, "transaction");
    const char *path = preload_find_file(copy, statement);
    if (reading != 0) { fl_cost_end(recorder, reading); }
    bool has_columns = preload_observes_columns() && !copy->is_hidden && copy->column_count != NULL
        && copy->column_name != NULL;
    statement->columns = has_columns ? (uint32_t)copy->column_count(statement->handle) : 0;
    statement->text = statement->columns > 0
        ? intern_with_columns(recorder, copy, statement, path, &names, text, length, json, sizeof json)
        : intern_statement(recorder, copy, statement, path, text, length, json, sizeof json);
    statement->generation = preload_generation();
    bool is_query = length > 6 && (strncasecmp(text, "SELECT", 6) == 0 || strncasecmp(text, "WITH", 4) == 0);
    bool has_plan = is_query && statement->is_read_only && !preload_is_nested();
    // The connection of a hidden copy's statement is not asked.
    bool may_ask = is_new || copy->is_hidden;
    statement->plan = has_plan ? preload_plan(recorder, copy, statement->handle, statement->text, may_ask) : 0;
}

// The runs of a text that are recorded with their values: the first ones, and those whose number is a power of two. Many
// programs prepare a text for each run, so runs are counted by its number in the dictionary; a few texts share a count.
#define FEW_RUNS 16
#define COUNTS 4096
static _Atomic uint32_t run_counts[COUNTS];

// Interns the text of a statement with its values; 0 if that is not wanted or not possible.
__attribute__((noinline)) static uint32_t text_with_values(
    fl_recorder *recorder, const preload_copy *copy, preload_statement *statement
) {
    uint32_t run = atomic_fetch_add_explicit(&run_counts[statement->text % COUNTS], 1, memory_order_relaxed);
    if (run >= FEW_RUNS && (run & (run - 1)) != 0) { return 0; }
    // SQLite would write a long value into the text, too.
    if (atomic_load_explicit(&statement->has_unknown_values, memory_order_relaxed)) { return 0; }
    if (statement->is_confidential || statement->handle == NULL || copy->expanded_sql == NULL || copy->free == NULL) { return 0; }
    char *text = copy->expanded_sql(statement->handle);
    if (text == NULL) { return 0; }
    size_t length = strlen(text);
    uint32_t number = 0;
    if (length < PRELOAD_TEXT_MAXIMUM) {
        char json[2 * PRELOAD_TEXT_MAXIMUM + 16];
        size_t used = preload_write_object(json, sizeof json, "{\"name\":", text, length);
        number = fl_intern(recorder, FL_DICTIONARY_NAME, json, used, "", 0);
    }
    copy->free(text);
    return number;
}

static void begin_run(const preload_copy *copy, preload_statement *statement) {
    static _Thread_local __attribute__((tls_model("initial-exec"))) uint32_t runs;
    fl_recorder *recorder = preload_recorder();
    if (recorder == NULL) { return; }
    // The recorder measures what new entries of the dictionary cost, so this is not part of a sample.
    if (statement->generation != preload_generation()) {
        int before = fl_shield();
        describe(recorder, copy, statement, false);
        fl_unshield(before);
    }
    bool is_sampled = ++runs % FL_COST_SAMPLING == 0;
    uint64_t begun = is_sampled ? preload_ticks() : 0;
    statement->start = 0;
    statement->is_running = true;
    statement->ticks = 0;
    statement->ending = 0;
    statement->is_counted = false;
    memset(statement->added, 0, sizeof statement->added);
    statement->calls = statement->measured = 0;
    statement->rows = 0;
    statement->columns_read = 0;
    statement->is_stack_truncated = false;
    statement->wait = (preload_wait){0};
    statement->io = (preload_io){0};
    statement->with_values = preload_keeps_values() ? text_with_values(recorder, copy, statement) : 0;
    if (statement->can_write) { preload_begin_writing(statement); }
    if (!preload_has_task || !preload_take_awaited(statement)) {
        statement->stack = preload_stack(recorder, statement->is_read_only, &statement->loop, &statement->is_stack_truncated);
    }
    statement->scope = preload_scope_of_thread();
    statement->start = preload_ticks();
    statement->cost = is_sampled ? statement->start - begun : 0;
}

// The program may have reset the counters meanwhile.
void preload_count_run(const preload_copy *copy, preload_statement *statement) {
    for (int index = 0; index < STATUSES; index++) {
        uint32_t now = (uint32_t)copy->stmt_status(statement->handle, statuses[index], 0);
        uint32_t before = statement->counters[index];
        statement->added[index] = now >= before ? now - before : now;
        statement->counters[index] = now;
    }
    statement->is_counted = true;
}

// The calls that were not measured are long if they take this many times as many operations as the first ones.
#define LONG_CALL 4

// Estimates the ticks of all calls from those that were measured: the first ones, and then one in sixteen. `operations` is
// SQLite's count for this run.
static uint64_t estimate(const preload_statement *statement, uint32_t operations) {
    uint32_t calls = statement->calls, measured = statement->measured;
    if (measured == 0 || measured >= calls) { return statement->ticks; }
    uint32_t before = statement->counters[VM_STEP] - operations, first = statement->first_steps - before;
    uint32_t others = operations - first;
    bool is_known = calls > PRELOAD_FIRST_CALLS && first > 0 && first <= operations;
    double mean = is_known ? (double)first / PRELOAD_FIRST_CALLS : 0;
    // Usually it is the last call that scans on and finds no further row. At the first calls' time for an operation, the
    // estimate is an upper bound; the caller limits it to the time since the run began.
    if (is_known && others > LONG_CALL * mean * (calls - PRELOAD_FIRST_CALLS)) {
        return (uint64_t)((double)statement->ticks * operations / first);
    }
    return (uint64_t)((double)statement->ticks * calls / measured);
}

// The time between its rows for which a statement counts as left open, in nanoseconds; and ticks that are less than that on any
// machine, which are compared first.
#define LONG_OPEN 1000000
#define FEW_TICKS 20000

// Records a run in the scope in which it began: another one may be open by now.
static uint64_t record(
    fl_recorder *recorder, const preload_statement *statement, const fl_sql *fields, const fl_measured *event
) {
    if (statement->scope == preload_scope_of_thread()) {
        preload_open.end = event->start + event->duration;
        return fl_record_measured(recorder, FL_EVENT_SQL, fields, event);
    }
    fl_thread_scope now = fl_enter_scope(recorder, (fl_thread_scope){.id = statement->scope});
    uint64_t id = fl_record_measured(recorder, FL_EVENT_SQL, fields, event);
    fl_enter_scope(recorder, now);
    return id;
}

static void end_run(const preload_copy *copy, preload_statement *statement, int result, uint64_t end) {
    statement->is_running = false;
    // Another thread may have begun the run meanwhile, or be about to, if both step the statement.
    if (statement->start == 0 || statement->start > end) { statement->start = end; }
    fl_recorder *recorder = preload_recorder();
    if (recorder == NULL || statement->generation != preload_generation()) { return; }
    // A call of another function has no counters and no values.
    bool is_statement = statement->handle != NULL;
    if (copy != NULL && is_statement && !statement->is_counted) { preload_count_run(copy, statement); }
    const uint32_t *run = statement->added;
    bool has_failed = result != SQLITE_OK && result != SQLITE_ROW && result != SQLITE_DONE;
    fl_sql fields = {
        .virtualMachineSteps = run[VM_STEP], .statement = statement->text, .plan = statement->plan,
        .values = statement->with_values, .type = statement->type,
        .rows = statement->rows, .fullScanSteps = run[FULLSCAN_STEP], .sorts = run[SORT],
        .automaticIndexes = run[AUTOINDEX], .preparations = statement->preparations + run[REPREPARE],
        .error = has_failed ? (uint32_t)result : 0, .fileReads = statement->io.reads, .fileWrites = statement->io.writes,
        .syncs = statement->io.syncs, .syncTime = statement->io.sync_time, .log = statement->io.log, .columns = statement->columns,
        .columnsRead = statement->columns_read, .activation = statement->loop.activation, .level = statement->loop.level,
    };
    statement->preparations = 0;
    statement->awaited = (preload_awaited){0};
    if (statement->is_read_only && is_statement) { fields.parameters = preload_hash_values(recorder, statement); }
    bool has_changes = statement->changes_rows && result == SQLITE_DONE && statement->rows == 0;
    if (has_changes && copy != NULL && copy->changes != NULL) {
        fields.rows = (uint32_t)copy->changes(copy->db_handle(statement->handle));
    }
    // The ticks become time before anything else, because that reads the clocks if the last reading is old.
    fl_measured event = {
        .start = preload_time(statement->start, end), .stack = statement->stack,
        .is_stack_truncated = statement->is_stack_truncated,
    };
    uint64_t spent = estimate(statement, run[VM_STEP]) + statement->ending;
    if (spent > end - statement->start) { spent = end - statement->start; }
    event.duration = preload_nanoseconds(spent);
    if (event.duration == 0) { event.duration = 1; }
    uint64_t passed = end - statement->start;
    if (statement->is_read_only && passed >= 2 * spent && passed - spent >= FEW_TICKS) {
        fields.open = preload_nanoseconds(passed - spent) >= LONG_OPEN ? preload_nanoseconds(passed) : 0;
    }
    if (statement->wait.tries > 0) { fields.wait = statement->wait.end - statement->wait.start; }
    fields.prepare = preload_nanoseconds(statement->preparing);
    statement->preparing = 0;
    if (statement->cost != 0) {
        event.cost = preload_nanoseconds(statement->cost + (preload_ticks() - end));
    }
    uint64_t id = record(recorder, statement, &fields, &event);
    preload_end_waits(recorder, statement, result, &event, id);
    if (statement->can_write) { preload_end_writing(copy, statement, has_failed); }
}

// MARK: - Room

typedef struct description {
    fl_recorder *recorder;
    const preload_copy *copy;
    preload_statement *statement;
} description;

static void describe_new(void *context) {
    const description *new = context;
    int before = fl_shield();
    describe(new->recorder, new->copy, new->statement, true);
    fl_unshield(before);
}

// Without room, the first run describes the statement.
void preload_describe(fl_recorder *recorder, const preload_copy *copy, preload_statement *statement) {
    description new = {recorder, copy, statement};
    fl_with_room(describe_new, &new);
}

typedef struct run_call {
    const preload_copy *copy;
    preload_statement *statement;
    int result;
    uint64_t end;
} run_call;

static void begin(void *context) {
    const run_call *call = context;
    begin_run(call->copy, call->statement);
}

static void end(void *context) {
    const run_call *call = context;
    end_run(call->copy, call->statement, call->result, call->end);
}

// Nearly all threads have room, and are spared a call by its address.
void preload_begin_run(const preload_copy *copy, preload_statement *statement) {
    if (fl_has_room()) { return begin_run(copy, statement); }
    run_call call = {.copy = copy, .statement = statement};
    if (!fl_make_room(begin, &call)) { preload_lose_event(); }
}

void preload_end_run(const preload_copy *copy, preload_statement *statement, int result, uint64_t end_time) {
    if (fl_has_room()) { return end_run(copy, statement, result, end_time); }
    run_call call = {.copy = copy, .statement = statement, .result = result, .end = end_time};
    if (fl_make_room(end, &call)) { return; }
    statement->is_running = false;
    preload_lose_event();
}
