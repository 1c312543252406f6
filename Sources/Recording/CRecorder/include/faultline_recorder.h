// The path of events out of a program: per-thread rings and a dictionary in a mapped file, and the code that drains
// them.
//
// The recording side takes no lock and allocates nothing once a shape or stack is known. The draining side is a thread
// of the program, `faultline record` outside it, or any process that finds the file of a killed program. Both sides
// run this code. Nothing here ends the program: events that cannot be recorded are counted as lost.

#ifndef FAULTLINE_RECORDER_H
#define FAULTLINE_RECORDER_H

#include <faultline_schema.h>
#include <faultline_tracer.h>
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

// MARK: - Recording

typedef struct fl_recorder fl_recorder;
typedef struct fl_thread fl_thread;
typedef struct fl_use_summary fl_use_summary;

typedef struct fl_recorder_options {
    const char *rings;      // path of the mapped file, which must not exist; null: memory of this process only
    uint64_t origin;        // the trace's start, in nanoseconds of CLOCK_MONOTONIC; 0: now
    uint64_t ring_bytes;    // size of a thread's ring, rounded up to a power of two between a page and
                            // FL_RING_BYTES_MOST; 0: FL_RING_BYTES, and more
                            // for the first threads where there is room
    const fl_tracer *tracer;  // receives every event on the thread that did the work; null: none
    bool is_traced_only;      // nothing goes into rings
    bool is_observed;         // the program's calls of SQLite are recorded from outside: statements alone
    bool is_forked;           // created by a fork handler: other threads' locks may be held for ever, so that nothing is
                              // called that takes one; `rings` is an absolute path then
} fl_recorder_options;

// A thread's ring holds about ten thousand events. At a million events a second that is ten milliseconds.
#define FL_RING_BYTES (2u << 20)
// The minimum size of a ring, used when there is no room for more.
#define FL_RING_BYTES_LEAST (64u << 10)
#define FL_RING_BYTES_MOST (64u << 20)

// The parts of the names of files in a directory of rings: rings, the list of what a program had loaded, and the file in which
// processes say that they could not create rings.
#define FL_RINGS_PREFIX "faultline-"
#define FL_RINGS_SUFFIX ".rings"
#define FL_BOARD_NAME "board"
#define FL_MODULES_PREFIX "modules-"
// Stands in such a list before a module whose copy of SQLite has no symbols, and is recorded by its hooks.
#define FL_MODULE_MARK "+"

// The note in the files of programs and libraries that contain a recorder.
#define FL_MARK_NAME "Faultline"
#define FL_MARK_TYPE 1

struct dl_phdr_info;

// The value of a module's note, and its length in bytes. Null if it has no note of that name and type. Safe in a signal
// handler.
const void *fl_find_note(const struct dl_phdr_info *module, const char *name, uint32_t type, uint32_t *length);

// Creates the file in which processes say that they could not create rings. False with errno set.
bool fl_make_board(const char *directory);

// Maps that file, which the process may have no right to open later. It stays mapped.
void fl_open_board(const char *directory);

// Notes in that file that this process could not create its rings, and the errno of the failure.
void fl_refuse(const char *directory, int failure);

// The number of processes that have noted it, and the errno of the last failure.
uint32_t fl_refusals(const char *directory, int *failure);

// Lets a process that is about to give up its rights, and the programs that it will execute, go on using a directory of
// rings. `user` is the user that it will have.
void fl_admit(const char *directory, uid_t user);

// Mixes a word into a hash that is not secret.
static inline uint64_t fl_mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 29);
}

// Mixes bytes into a hash that is not secret.
static inline uint64_t fl_mix_bytes(uint64_t hash, const void *bytes, size_t length) {
    const char *place = (const char *)bytes;
    uint64_t word;
    for (; length >= sizeof word; place += sizeof word, length -= sizeof word) {
        memcpy(&word, place, sizeof word);
        hash = fl_mix(hash, word);
    }
    word = 0;
    memcpy(&word, place, length);
    return fl_mix(hash, word);
}

// Registers the recorder's fork handlers, which fl_recorder_create does as well. For callers whose own handlers take a lock
// that they hold while they create a recorder: handlers that are registered later lock earlier.
void fl_prepare_process(void);

// Lets a forked child pass events to the tracer of its parent's recorder. Called once the child holds no lock of the
// recorder or its caller, which the tracer's new threads can need.
void fl_trace_in_child(void);

// Creates a recorder that is switched off. Null with errno set if the file cannot be created or has no space.
fl_recorder *fl_recorder_create(const fl_recorder_options *options);

void fl_recorder_enable(fl_recorder *recorder);

// Stops the preloaded library that records this program from outside, if there is one: the program records itself, and
// with more detail.
void fl_stop_observer(void);

// Counts an event that its thread could not record.
void fl_count_lost_event(fl_recorder *recorder);

// Switches recording off for good, and marks the file as complete.
void fl_recorder_close(fl_recorder *recorder);

// Releases the recorder. Its memory is freed once the last thread that recorded with it has ended.
void fl_recorder_release(fl_recorder *recorder);

// The words that instrumentation checks.
typedef struct fl_switch {
    uint32_t on;
    uint32_t follows_tasks;  // whether scopes move between threads with their tasks
} fl_switch;

const fl_switch *fl_recorder_switch(const fl_recorder *recorder);

static inline bool fl_switch_is_on(const fl_switch *state) {
    return __atomic_load_n(&state->on, __ATOMIC_RELAXED) != 0;
}

static inline bool fl_switch_follows_tasks(const fl_switch *state) {
    return __atomic_load_n(&state->follows_tasks, __ATOMIC_RELAXED) != 0;
}


// An environment variable. Null if it is not set, or if the program runs with other rights than those of the user who
// started it (set-uid), because that user must not choose the files it writes.
const char *fl_environment(const char *name);

// Whether the user who started this program may control it: not if it runs with another user's rights.
bool fl_environment_is_trusted(void);

// A clock's time in nanoseconds.
static inline uint64_t fl_clock_time(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

// CLOCK_MONOTONIC in nanoseconds.
static inline uint64_t fl_now(void) { return fl_clock_time(CLOCK_MONOTONIC); }

// CPU time of this thread, in nanoseconds; the work of other threads and programs does not count.
static inline uint64_t fl_thread_time(void) { return fl_clock_time(CLOCK_THREAD_CPUTIME_ID); }

// A reading of a thread's CPU time and number of sleeps.
typedef struct fl_run {
    uint64_t at;     // nanoseconds of CLOCK_MONOTONIC
    uint64_t time;   // nanoseconds of CPU time
    uint64_t sleeps; // voluntary context switches
} fl_run;

// The time that a thread was ready but did not run during an event, from readings before and after it. 0 if the thread
// slept between the readings, because its CPU time does not separate sleeping from waiting, and if a reading failed.
static inline uint64_t fl_run_delay(const fl_run *before, const fl_run *after, uint64_t start, uint64_t duration) {
    // An event recorded after its end began before the reading.
    bool is_unknown = before->sleeps == UINT64_MAX || before->time == UINT64_MAX || before->at > start;
    if (is_unknown || before->sleeps != after->sleeps || after->time < before->time) { return 0; }
    uint64_t wall = start + duration - before->at, ran = after->time - before->time;
    uint64_t waited = wall > ran ? wall - ran : 0;
    return waited < duration ? waited : duration;
}

// An event that has begun and not yet ended.
typedef struct fl_open {
    uint64_t id;
    uint64_t start;
    uint64_t parent;
    fl_run run;           // the thread's last reading
    uint32_t begin_cost;  // nanoseconds that fl_begin took, if measured
    uint32_t sampled;     // whether this event's cost is measured
} fl_open;

// Begins an event on this thread and makes it the parent of those that follow. If it returns false, recording is off;
// then do not call fl_end or fl_cancel.
bool fl_begin(fl_recorder *recorder, fl_open *open);

// The data that fl_end adds to an event's own fields.
typedef struct fl_ending {
    uint64_t scope;
    uint32_t context;
    uint32_t site;
    const fl_sql *statement;            // the single statement of the event, or null
    fl_statement_time statement_time;   // in nanoseconds of CLOCK_MONOTONIC
    const uint64_t *lists;
    uint32_t list_words;
    // If the event's cost is measured: the time when its description began, and the time that recording took before.
    uint64_t described;
    uint32_t cost;
    bool without_stack;
} fl_ending;

// Ends an event and records it. `fields` points to the struct of that kind.
void fl_end(fl_recorder *recorder, const fl_open *open, fl_event_kind kind, const void *fields, const fl_ending *ending);

// Records a finished event that began at `start`, as a child of the event that is open on this thread.
void fl_record(fl_recorder *recorder, uint64_t start, fl_event_kind kind, const void *fields, const fl_ending *ending);

// The number of events that one measured cost stands for.
#define FL_COST_SAMPLING 61

// An event that was measured by other means, with the number of its parent, or 0.
typedef struct fl_measured {
    uint64_t start;           // nanoseconds of CLOCK_MONOTONIC
    uint64_t duration;        // in nanoseconds
    uint64_t parent;
    uint64_t cost;            // of recording it, in nanoseconds, for one event in FL_COST_SAMPLING; 0 for the others
    uint32_t stack;           // from fl_stack; 0: none
    bool is_stack_truncated;
} fl_measured;

// Records an event that was measured by other means. Reads no clock. Returns its number, or 0.
uint64_t fl_record_measured(fl_recorder *recorder, fl_event_kind kind, const void *fields, const fl_measured *event);

// The running functions of an interpreted language, innermost first: numbers that frames of the dictionary have as their
// addresses.
typedef struct fl_interpreted {
    const uint64_t *frames;
    uint32_t count;
    uintptr_t low, high;  // the addresses of the interpreter's module
} fl_interpreted;

// Returns the number of the calling stack, for an event that ends elsewhere. Interpreted functions, if there are any,
// stand where the stack enters the interpreter. Sets `truncated` if the stack is deeper than the maximum. 0 if recording
// is off.
uint32_t fl_stack(fl_recorder *recorder, const fl_interpreted *interpreted, bool *truncated);

// Ends an event without recording it.
void fl_cancel(fl_recorder *recorder, const fl_open *open);

// Records the beginning or the end of a scope whose times, in nanoseconds of CLOCK_MONOTONIC, were measured by other means; at its
// beginning they are the same. `id` is the number that the beginning returned, and 0 there. 0 if nothing was recorded.
uint64_t fl_record_scope(
    fl_recorder *recorder, const fl_scope *fields, uint64_t id, uint64_t outer, uint64_t start, uint64_t end);

// Records the beginning or the end of a scope. The beginning sets `id` and `start`; pass them back at the end.
void fl_scope_mark(
    fl_recorder *recorder, uint32_t name, uint32_t kind, uint32_t phase, uint64_t outer, uint64_t *id, uint64_t *start);

// The innermost open scope of a thread, and the scope whose rows count as one window; 0: none.
typedef struct fl_thread_scope {
    uint64_t id;
    uint64_t window;
    int32_t window_kind;
} fl_thread_scope;

// Sets the scope that is open on this thread, for row-cache hits and use summaries, which do not look for it themselves.
// Returns the scope that was open. fl_leave_scope also records the sums of row-cache hits.
fl_thread_scope fl_enter_scope(fl_recorder *recorder, fl_thread_scope scope);
void fl_leave_scope(fl_recorder *recorder, fl_thread_scope outer);

// States that scopes move between threads from now on: fl_enter_scope is then called before each hit and each touch.
void fl_follow_tasks(fl_recorder *recorder);

// MARK: - The cost of recording

// The time that reading the clock takes, in nanoseconds.
uint64_t fl_clock_cost(void);

// Work that only recording needs, other than that of fl_begin and fl_end, is measured once in FL_COST_SAMPLING times on
// each thread. fl_cost_begin returns the time if it is to be measured this time; otherwise 0.
uint64_t fl_cost_begin(fl_recorder *recorder);

// Adds the cost of work that began at a time, and of the work that was not measured.
void fl_cost_end(fl_recorder *recorder, uint64_t began);

// Adds the cost of work that is always measured because it can be long: it grows with the rows of a result.
void fl_long_cost_end(fl_recorder *recorder, uint64_t began);

// MARK: - Row-cache hits

// The number of objects' hits of which one is timed.
#define FL_HIT_SAMPLING 64

// A fault that the row cache filled.
typedef struct fl_hit {
    uint64_t place;    // distinguishes the entities, relationships and kinds of faults
    uint64_t origin;
    uint64_t bytes;
    uint64_t started;  // the time when it fired, if it is timed; otherwise 0
    uint64_t ended;    // set by fl_hit_count, if it is timed
    uint32_t filled;
    uint32_t context;
    bool is_sample;    // whether its time stands for FL_HIT_SAMPLING hits
} fl_hit;

// Adds a hit to the sum of its thread, scope, place, origin and call stack. False if there is none yet: then open it
// with fl_hit_open. Two functions that call these must have the same caller, from which the stacks are compared.
bool fl_hit_count(fl_recorder *recorder, fl_hit *hit);

// Begins a sum with its first hit. `fields` holds what all of its hits share.
void fl_hit_open(fl_recorder *recorder, const fl_hit *hit, const fl_cache_hits *fields);

// MARK: - Dictionary

// Returns the number of an entry, and writes the entry the first time. `json` is the entry's value, for a
// stack its addresses, and `label` a short name for it. Returns 0, and counts the entry as lost, if the dictionary is full.
uint32_t fl_intern(
    fl_recorder *recorder, fl_dictionary_kind kind, const void *json, size_t json_length, const char *label,
    size_t label_length);

// Returns the number of a call site. `file` must live as long as the program; its address and the line are the key.
uint32_t fl_intern_site(
    fl_recorder *recorder, const char *file, size_t file_length, uint32_t line, const char *function,
    size_t function_length);

// Writes a JSON string, with quotes, into the `room` bytes at `out`, cut between two characters if necessary; returns
// its length. Invalid UTF-8 becomes U+FFFD.
size_t fl_json_string(char *out, size_t room, const char *text, size_t length);

// Marks the calling function as an anchor until it is unmarked on the same thread: stacks below it continue with its
// frame, whatever the code in between does with the frame pointer.
void fl_push_anchor(void);
void fl_pop_anchor(void);

// A keyed hash. The key is random for each recorder, and never written.
uint64_t fl_keyed_hash(const fl_recorder *recorder, const void *bytes, size_t length);

// MARK: - Use summaries

// Opens the summary of a fetch's result. Returns null, and counts the summary as lost, if there is no room. `about`
// contains the fetch, its entity and shape, the batch size and the number of rows.
fl_use_summary *fl_use_open(
    fl_recorder *recorder, const fl_use *about, uint64_t scope, uint32_t context, uint32_t site);

// Records access to a row, in the window of this thread's scope.
void fl_use_touch(fl_use_summary *summary, uint32_t row);

void fl_use_asked_for_count(fl_use_summary *summary);
void fl_use_asked_for_emptiness(fl_use_summary *summary);
void fl_use_asked_for_identities(fl_use_summary *summary);
// Records that a row's object was changed or deleted. Call it once for each row.
void fl_use_modified_row(fl_use_summary *summary);
void fl_use_loaded(fl_use_summary *summary, uint32_t rows, uint64_t bytes);
void fl_use_loaded_batch(fl_use_summary *summary);
void fl_use_loaded_property(
    fl_use_summary *summary, uint32_t property, uint32_t rows, uint64_t bytes, uint32_t large_rows);
void fl_use_read_property(fl_use_summary *summary, uint32_t property, uint32_t row);

// Records the summary and releases its slot.
void fl_use_close(fl_use_summary *summary);

// MARK: - Draining

typedef struct fl_drain fl_drain;
typedef struct fl_timeline fl_timeline;

// The description of a process in the file.
typedef struct fl_process {
    uint32_t process;    // its number in the trace: its own ID, or a larger number if another process had that
    uint32_t identifier; // its own process ID
    uint64_t space;      // the inode of its PID namespace; 0: not known
    uint64_t image;      // the same for all recorders of a process until it executes another program
    uint64_t start;      // nanoseconds since the trace began
    double date;         // seconds since 1970
    const char *program;
    const char *trace;   // the path of the trace that contains it; empty: none yet
    bool has_begun;      // whether a trace contains it
    bool is_observed;    // it was recorded from outside: statements alone
} fl_process;

// The counts of a drain.
typedef struct fl_totals {
    uint64_t events;
    uint64_t lost;         // including those without a ring
    uint64_t without_ring; // by threads that got no ring
    uint32_t failure;      // the errno of the last failure to make a ring; 0: none
    uint64_t entries_lost;
    uint64_t uses_lost;
    uint64_t unwritten;  // lines that the trace had no room for
} fl_totals;

// The receiver of drained data. Entries come before the events that refer to them, and events in the order in which
// they ended.
typedef struct fl_sink {
    void *context;
    void (*entry)(
        void *context, uint32_t kind, uint32_t id, const char *json, size_t json_length, const char *label,
        size_t label_length);
    void (*event)(void *context, const fl_event *event);
    void (*lost)(void *context, uint32_t thread, uint64_t events);
} fl_sink;

// Opens the mapped file of a recorder, which may be running or dead. Null with errno set; EINVAL if it is not a file
// of rings, EPROTO if another version of Faultline wrote it, EPERM if it belongs to another user, who could have put anything
// there. `origin` is the trace's start in nanoseconds of CLOCK_MONOTONIC; 0 takes the one in the file.
fl_drain *fl_drain_open(const char *rings, uint64_t origin);

// Drains a recorder of this process.
fl_drain *fl_drain_attach(fl_recorder *recorder);

fl_process fl_drain_process(const fl_drain *drain);

// Whether the recorder was closed. All its events can then be drained.
bool fl_drain_is_closed(const fl_drain *drain);

// Whether the trace has the process's last line; the file of rings can then be removed.
bool fl_drain_is_ended(const fl_drain *drain);

// Makes the next run deliver the whole dictionary again, for another trace than the one that has it.
void fl_drain_restart(fl_drain *drain);

// Whether this is the trace that contains the process.
bool fl_drain_belongs_to(const fl_drain *drain, const fl_timeline *timeline);

// Delivers the data recorded since the last run; returns the number of events.
uint64_t fl_drain_run(fl_drain *drain, const fl_sink *sink);

// Delivers use summaries and sums of row-cache hits that are still open, and returns their number. Call it only once the
// program has ended or closed its recorder.
uint64_t fl_drain_unfinished(fl_drain *drain, const fl_sink *sink);

// Frees the space of the delivered data, and notes in the file that a trace of `offset` bytes contains them.
void fl_drain_commit(fl_drain *drain, uint64_t offset);

// The number of events that are not yet delivered and committed. Delivers nothing.
uint64_t fl_drain_pending(fl_drain *drain);

// The length of the trace at the last commit that was for its file, or, for a copy of a trace, for the file that it was made
// of; 0 if there was no commit.
uint64_t fl_drain_committed_offset(const fl_drain *drain, const fl_timeline *timeline);

// Waits until a ring fills up or the time is over. Returns whether a ring has signalled since the last wait.
bool fl_drain_wait(fl_drain *drain, uint32_t milliseconds);

// Ends a wait.
void fl_drain_ring_doorbell(fl_drain *drain);

// Converts `end` from CLOCK_MONOTONIC to nanoseconds since the trace began. 0 stands for the time when the recorder
// was closed, or else when the last event ended.
uint64_t fl_drain_end(const fl_drain *drain, uint64_t end);

fl_totals fl_drain_totals(const fl_drain *drain);

void fl_drain_close(fl_drain *drain);

// MARK: - The timeline

// Creates a timeline in a new or empty file; a file with contents is left alone. Null with errno set: EWOULDBLOCK if
// another process is writing it, ENOTSUP if it is not a regular file, EEXIST if it has contents.
fl_timeline *fl_timeline_open(const char *path);

// Locks an existing timeline to continue it, without any change before fl_timeline_continue. Null with errno set, as for
// fl_timeline_open.
fl_timeline *fl_timeline_lock(const char *path);

// Sets the offset of the next line. Writing the first line truncates the file at that offset. Commits to the files of
// rings are suspended, so they keep all their contents until the caller removes them. False with ERANGE if the file is
// shorter.
bool fl_timeline_continue(fl_timeline *timeline, uint64_t offset);

// Closes a timeline without writing anything more. A file that was created for it and is still empty is removed.
void fl_timeline_discard(fl_timeline *timeline);

// Removes everything written since fl_timeline_continue, if that was called, and closes the timeline.
void fl_timeline_undo(fl_timeline *timeline);

// Writes the first line of a process, whose rings are in the named file, and commits. Processes can have the same ID,
// one after the other or at the same time in different PID namespaces; the trace gives each its own number.
void fl_timeline_begin_process(fl_timeline *timeline, fl_drain *drain, const char *rings);

// Drains a process into the timeline and commits; returns the number of events.
uint64_t fl_timeline_drain(fl_timeline *timeline, fl_drain *drain);

// Writes an event with the memory of a process, in bytes.
void fl_timeline_record_memory(fl_timeline *timeline, fl_drain *drain, uint64_t resident, uint64_t proportional);

// The way a process's recording ended.
typedef enum fl_process_end { FL_PROCESS_CLOSED, FL_PROCESS_KILLED, FL_PROCESS_RUNS_ON } fl_process_end;

// Drains the rest of a process and writes its last line. `end` is the time when it ended, in nanoseconds of
// CLOCK_MONOTONIC; 0 for the time when it was closed or else its last event ended. `writing` is the CPU time of
// writing the trace.
void fl_timeline_end_process(
    fl_timeline *timeline, fl_drain *drain, fl_process_end how, uint64_t end, uint64_t writing);

// Writes the closing bracket; the file stays open and locked. Returns the number of lines that could not be written,
// and in `error` the last errno (0 for none).
uint64_t fl_timeline_finish(fl_timeline *timeline, int *error);

// Closes a finished timeline.
void fl_timeline_close(fl_timeline *timeline);

// Notes in the mapped file of a process that the timeline contains its delivered data, and the timeline's current
// length. For processes that had nothing new while lines of others were written.
void fl_timeline_note(fl_timeline *timeline, fl_drain *drain);

// The length of the timeline so far, in bytes.
uint64_t fl_timeline_size(const fl_timeline *timeline);

// Removes files that killed processes left beside the timeline while they shortened one.
void fl_timeline_remove_copies(const fl_timeline *timeline);

// Prepares an empty timeline for fl_timeline_shorten: replaces its file once, the way that one does, so that a reason against
// it is known before anything is recorded. False with errno set if the file is as before: EMLINK if it has another name.
bool fl_timeline_limit(fl_timeline *timeline);

// Replaces the timeline's file with one that has only its last `bytes` bytes of events, and the names before them that
// these or the processes of the `count` drains need. Each process then begins where the events do, and the first one states
// how many were removed. Everything that the drains have delivered must be in the file. They go on meanwhile; `drained` is
// the number of events that they delivered. False with errno set if the file has kept its events: EINVAL if it is not longer.
bool fl_timeline_shorten(
    fl_timeline *timeline, uint64_t bytes, fl_drain *const *drains, uint32_t count, uint64_t *drained);

// Writes to a descriptor and ignores failures: bytes that it does not accept are dropped, without a signal. For
// messages on stderr, which may be closed, full, or a pipe without a reader.
void fl_write_quietly(int descriptor, const char *bytes, size_t length);

// MARK: - The thread that writes

typedef struct fl_writer fl_writer;

// Starts a thread that drains the recorder into a timeline. Null with errno set.
fl_writer *fl_writer_start(fl_recorder *recorder, const char *path, const char *rings);

// Closes the recorder, writes the rest and ends the thread. `unwritten` is the number of lines that could not be
// written. False if the program left no free descriptor for writing; recovery then finds the missing events in the
// rings.
bool fl_writer_stop(fl_writer *writer, uint64_t *unwritten, int *error);

#ifdef __cplusplus
}
#endif

#endif
