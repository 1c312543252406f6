// How events leave a program: per-thread rings and a dictionary in a mapped file, and the code that drains them.
//
// One side records: it takes no lock and allocates nothing once a shape or stack was seen. The other side drains:
// a thread of the program, `faultline record` outside it, or whoever finds the file of a killed program. Both run
// this code. Nothing here ends the program: what cannot be recorded is counted as lost.

#ifndef FAULTLINE_RECORDER_H
#define FAULTLINE_RECORDER_H

#include "faultline_tracer.h"
#include <faultline_schema.h>
#include <stdbool.h>
#include <time.h>

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
    const fl_tracer *tracer;  // is handed everything on the thread that did it; null: nobody
    bool is_traced_only;      // nothing goes into rings
} fl_recorder_options;

// A thread's ring holds about ten thousand events, which at a million events a second is ten milliseconds.
#define FL_RING_BYTES (2u << 20)
// The smallest that is made where there is no room for more.
#define FL_RING_BYTES_LEAST (64u << 10)
#define FL_RING_BYTES_MOST (64u << 20)

// Makes a recorder that is switched off. Null with errno set if the file or its space cannot be had.
fl_recorder *fl_recorder_create(const fl_recorder_options *options);

void fl_recorder_enable(fl_recorder *recorder);

// Switches recording off for good and says in the file that nothing more will come.
void fl_recorder_close(fl_recorder *recorder);

// Gives the recorder back. Its memory goes when the last thread that recorded with it has gone.
void fl_recorder_release(fl_recorder *recorder);

// The one word that instrumentation looks at.
typedef struct fl_switch {
    uint32_t on;
} fl_switch;

const fl_switch *fl_recorder_switch(const fl_recorder *recorder);

static inline bool fl_switch_is_on(const fl_switch *state) {
    return __atomic_load_n(&state->on, __ATOMIC_RELAXED) != 0;
}

// A variable of the environment; null if it is not set, and in a program that runs with another user's rights than those
// of whoever started it (set-uid), who must not say which files it writes.
const char *fl_environment(const char *name);

// Whether whoever started this program may say what it does: not if it runs with another user's rights.
bool fl_environment_is_trusted(void);

// CLOCK_MONOTONIC in nanoseconds.
static inline uint64_t fl_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

// CPU time of this thread, in nanoseconds: what other threads and programs do meanwhile does not count.
static inline uint64_t fl_thread_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

// How long a thread had run at a time, and how often it had slept.
typedef struct fl_run {
    uint64_t at;     // nanoseconds of CLOCK_MONOTONIC
    uint64_t time;   // nanoseconds of CPU time
    uint64_t sleeps; // voluntary context switches
} fl_run;

// An event that has begun and not ended.
typedef struct fl_open {
    uint64_t id;
    uint64_t start;
    uint64_t parent;
    fl_run run;           // what the thread had run when that was last read
    uint32_t begin_cost;  // nanoseconds that fl_begin took, where it was measured
    uint32_t sampled;     // whether this event's cost is measured
} fl_open;

// Begins an event on this thread and makes it the parent of those that follow. False if nothing is recorded: then
// neither fl_end nor fl_cancel is called.
bool fl_begin(fl_recorder *recorder, fl_open *open);

// What fl_end adds to an event's own fields.
typedef struct fl_ending {
    uint64_t scope;
    uint32_t context;
    uint32_t site;
    const fl_sql *statement;            // the one statement that did the event's work, or null
    fl_statement_time statement_time;   // in nanoseconds of CLOCK_MONOTONIC
    const uint64_t *lists;
    uint32_t list_words;
    bool without_stack;
} fl_ending;

// Ends an event and records it. `fields` is the struct of that kind.
void fl_end(fl_recorder *recorder, const fl_open *open, fl_event_kind kind, const void *fields, const fl_ending *ending);

// Records an event that began at `start` and is over, within whatever is open on this thread.
void fl_record(fl_recorder *recorder, uint64_t start, fl_event_kind kind, const void *fields, const fl_ending *ending);

// Ends an event that is not recorded.
void fl_cancel(fl_recorder *recorder, const fl_open *open);

// Records one end of a scope. At its beginning `id` and `start` are filled in; at its end they are handed back.
void fl_scope_mark(
    fl_recorder *recorder, uint32_t name, uint32_t kind, uint32_t phase, uint64_t outer, uint64_t *id, uint64_t *start);

// MARK: - Dictionary

// The number of an entry, which is written at first sight. `json` is the entry's value, `label` a short name for
// it. 0 if the dictionary is full (and then it is counted).
uint32_t fl_intern(
    fl_recorder *recorder, fl_dictionary_kind kind, const char *json, size_t json_length, const char *label,
    size_t label_length);

// The number of a call site. `file` must live as long as the program; it and the line are the key.
uint32_t fl_intern_site(
    fl_recorder *recorder, const char *file, size_t file_length, uint32_t line, const char *function,
    size_t function_length);

// Marks the function that calls this as one whose frame every stack below it goes on to, whatever the code between makes of
// the frame pointer; until it is unmarked on the same thread.
void fl_push_anchor(void);
void fl_pop_anchor(void);

// A keyed hash; the key is random for each recorder and is never written.
uint64_t fl_keyed_hash(const fl_recorder *recorder, const void *bytes, size_t length);

// MARK: - Use summaries

// Opens the summary of a fetch's result. Null if there is no room (and then it is counted).
// `about` gives the fetch, its entity and shape, the batch size and the number of rows.
fl_use_summary *fl_use_open(
    fl_recorder *recorder, const fl_use *about, uint64_t scope, uint32_t context, uint32_t site);

// A row was taken out of the result, in the window of that scope (0 and -1: outside any scope).
void fl_use_touch(fl_use_summary *summary, uint32_t row, uint64_t window, int32_t window_kind);

void fl_use_asked_for_count(fl_use_summary *summary);
void fl_use_asked_for_emptiness(fl_use_summary *summary);
void fl_use_asked_for_identities(fl_use_summary *summary);
// A row's object was changed or deleted. Called once for each row.
void fl_use_modified_row(fl_use_summary *summary);
void fl_use_loaded(fl_use_summary *summary, uint32_t rows, uint64_t bytes);
void fl_use_loaded_batch(fl_use_summary *summary);
void fl_use_loaded_property(
    fl_use_summary *summary, uint32_t property, uint32_t rows, uint64_t bytes, uint32_t large_rows);
void fl_use_read_property(fl_use_summary *summary, uint32_t property, uint32_t row);

// Records the summary and gives its place back.
void fl_use_close(fl_use_summary *summary);

// MARK: - Draining

typedef struct fl_drain fl_drain;
typedef struct fl_timeline fl_timeline;

// What the file says of its process.
typedef struct fl_process {
    uint32_t process;    // what the trace calls it: its own number, or one above all those if another had that
    uint32_t identifier; // its own number
    uint64_t space;      // the number of the process namespace that it is from; 0: not known
    uint64_t image;      // the same for all recorders of a process until it runs another program
    uint64_t start;      // nanoseconds since the trace began
    double date;         // seconds since 1970
    const char *program;
    const char *trace;   // the path of the trace that tells of it; empty: none does yet
    bool has_begun;      // whether a trace tells of it
} fl_process;

// What was counted while draining.
typedef struct fl_totals {
    uint64_t events;
    uint64_t lost;
    uint64_t entries_lost;
    uint64_t uses_lost;
    uint64_t unwritten;  // lines that the trace had no room for
} fl_totals;

// Where what is drained goes. Entries come before the events that refer to them, events in the order in which
// they ended.
typedef struct fl_sink {
    void *context;
    void (*entry)(
        void *context, uint32_t kind, uint32_t id, const char *json, size_t json_length, const char *label,
        size_t label_length);
    void (*event)(void *context, const fl_event *event);
    void (*lost)(void *context, uint32_t thread, uint64_t events);
} fl_sink;

// Opens the mapped file of a recorder, living or dead. Null with errno set. EINVAL: not a file of rings. EPERM: it
// belongs to another user, who could have put anything there.
// `origin` is the trace's start in nanoseconds of CLOCK_MONOTONIC; 0: the one in the file.
fl_drain *fl_drain_open(const char *rings, uint64_t origin);

// Drains a recorder of this process.
fl_drain *fl_drain_attach(fl_recorder *recorder);

fl_process fl_drain_process(const fl_drain *drain);

// Whether the recorder was closed. What it had recorded before that can then be drained to the end.
bool fl_drain_is_closed(const fl_drain *drain);

// Whether the trace has the process's last line, and the file of rings could be removed.
bool fl_drain_is_ended(const fl_drain *drain);

// Hands over the whole dictionary again at the next run: for a trace other than the one that has it.
void fl_drain_retell(fl_drain *drain);

// Whether the trace that tells of the process is this one.
bool fl_drain_belongs_to(const fl_drain *drain, const fl_timeline *timeline);

// Hands over what has been recorded since the last time; returns the number of events.
uint64_t fl_drain_run(fl_drain *drain, const fl_sink *sink);

// Hands over use summaries that are still open. Only when the program has ended or was closed. Returns how many.
uint64_t fl_drain_open_uses(fl_drain *drain, const fl_sink *sink);

// Frees the space of what was handed over, and notes in the file that a trace of `offset` bytes holds it.
void fl_drain_commit(fl_drain *drain, uint64_t offset);

// The number of events that have not been handed over and committed. Hands nothing over.
uint64_t fl_drain_pending(fl_drain *drain);

// The length of trace that the last commit stands for; 0: none.
uint64_t fl_drain_committed_offset(const fl_drain *drain);

// Waits until a ring fills up or the time is over. Returns whether a ring has called since the last wait.
bool fl_drain_wait(fl_drain *drain, uint32_t milliseconds);

// Ends a wait.
void fl_drain_ring_doorbell(fl_drain *drain);

// The moment `end` (of CLOCK_MONOTONIC; 0: when the recorder was closed or else the last event ended), in nanoseconds
// since the trace began.
uint64_t fl_drain_end(const fl_drain *drain, uint64_t end);

fl_totals fl_drain_totals(const fl_drain *drain);

void fl_drain_close(fl_drain *drain);

// MARK: - The timeline

// A timeline that is written to a file from its beginning. The file is new or empty; one with bytes in it is left alone.
// Null with errno set; EWOULDBLOCK: another process is writing it; ENOTSUP: it is no regular file; EEXIST: it has bytes.
fl_timeline *fl_timeline_open(const char *path);

// Locks a timeline that is there, to go on with it: nothing is changed before fl_timeline_go_on. Null with errno set, as
// for fl_timeline_open.
fl_timeline *fl_timeline_lock(const char *path);

// Sets the offset of the next line. The first line that is written removes everything behind the offset. Nothing is noted
// in the files of rings, which keep all they hold until the caller removes them. False with ERANGE if the file is shorter.
bool fl_timeline_go_on(fl_timeline *timeline, uint64_t offset);

// Closes a timeline without writing anything more. A file that was not there before and has nothing in it goes.
void fl_timeline_discard(fl_timeline *timeline);

// Takes off everything that was written since fl_timeline_go_on, if that was called, and closes the timeline.
void fl_timeline_undo(fl_timeline *timeline);

// Writes the first line of a process, whose rings are the file of that name, and commits. Programs may come to the same
// process number one after the other, or side by side in namespaces of their own: each is told apart in the trace.
void fl_timeline_begin_process(fl_timeline *timeline, fl_drain *drain, const char *rings);

// Drains a process into the timeline and commits; returns the number of events.
uint64_t fl_timeline_drain(fl_timeline *timeline, fl_drain *drain);

// How a process stopped being recorded.
typedef enum fl_process_end { FL_PROCESS_CLOSED, FL_PROCESS_KILLED, FL_PROCESS_RUNS_ON } fl_process_end;

// Drains what is left of a process and writes its last line. `end` is when it ended, in nanoseconds of
// CLOCK_MONOTONIC; 0: when it was closed or else its last event ended. `writing` is the CPU time of writing the trace.
void fl_timeline_end_process(
    fl_timeline *timeline, fl_drain *drain, fl_process_end how, uint64_t end, uint64_t writing);

// Writes the closing bracket; the file stays open and locked. Returns the number of lines that could not be written, and
// in `error` the last error's number (0: none).
uint64_t fl_timeline_finish(fl_timeline *timeline, int *error);

// Closes a finished timeline.
void fl_timeline_close(fl_timeline *timeline);

// Notes in the mapped file of a process that the timeline holds what was handed over, and how long the timeline is now.
// For processes that had nothing new while lines of others were written.
void fl_timeline_note(fl_timeline *timeline, fl_drain *drain);

// Writes to a descriptor whatever becomes of it: what it does not take is dropped, and no signal comes of that. For
// sentences on stderr, which may be closed, full, or a pipe that nobody reads.
void fl_write_quietly(int descriptor, const char *bytes, size_t length);

// MARK: - The thread that writes

typedef struct fl_writer fl_writer;

// Starts a thread that drains the recorder into a timeline. Null with errno set.
fl_writer *fl_writer_start(fl_recorder *recorder, const char *path, const char *rings);

// Closes the recorder, writes the rest, ends the thread; `unwritten` is the number of lines that could not be written.
// False if the program left no descriptor to write with: what the trace lacks is in the rings, where recovery finds it.
bool fl_writer_stop(fl_writer *writer, uint64_t *unwritten, int *error);

#ifdef __cplusplus
}
#endif

#endif
