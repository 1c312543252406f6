// The recording side's own state, which is not shared with the drainer.

#ifndef FAULTLINE_RECORDER_STATE_H
#define FAULTLINE_RECORDER_STATE_H

#include "faultline_recorder.h"
#include "files.h"
#include "layout.h"

#include <pthread.h>

#define FL_OPEN_EVENTS_MAXIMUM 32
#define FL_INTERNED_MAXIMUM (1u << 16)
#define FL_SITES_MAXIMUM (1u << 12)
#define FL_LABEL_BYTES 256
// One event in so many has its cost measured.
#define FL_SAMPLING 16

// The most that recording one event takes, in nanoseconds. A thread that took longer was taken off its CPU in between, which
// is no cost of recording.
#define FL_LONGEST_COST 10000

static inline uint64_t fl_plausible_cost(uint64_t nanoseconds) {
    return nanoseconds < FL_LONGEST_COST ? nanoseconds : FL_LONGEST_COST;
}
// Numbers that one record takes: the event's own and those of the events that are drawn from it.
#define FL_IDS_PER_RECORD 4

typedef struct fl_interned {
    _Atomic uint64_t hash;   // 0: free
    uint32_t id;
} fl_interned;

typedef struct fl_site {
    _Atomic(const char *) file;
    uint32_t line;
    uint32_t id;
} fl_site;

struct fl_recorder {
    fl_switch state;
    bool is_inherited;                     // this process is a child of the one that records
    uint32_t process;
    _Atomic uint32_t references;
    fl_file *file;
    fl_ring_file rings;
    uint64_t file_size;
    uint64_t ring_bytes;
    bool has_default_rings;                // no size was asked for: it follows the machine
    bool has_no_room;                      // for another ring; guarded by the lock
    _Atomic(fl_ring *) shared[FL_RINGS_SHARED];  // rings of several threads; null: not made yet
    uint32_t shared_count;                 // guarded by the lock
    uint64_t key[2];
    pthread_mutex_t lock;                  // segments, dictionary, rings changing hands
    void *segments[FL_SEGMENTS_MAXIMUM];
    fl_dictionary_segment *dictionary;     // the one that is written
    uint32_t next_entry;
    // Places for use summaries: those that are free form a stack of their numbers from 1 on, whose top stands beside a
    // count of its changes, so that a number that was taken and put back meanwhile is noticed.
    _Atomic uint64_t free_uses;
    _Atomic uint32_t next_use[FL_USES_MAXIMUM];
    fl_uses_segment *uses[FL_USES_MAXIMUM / FL_USES_PER_SEGMENT];
    uint32_t uses_segments;
    bool has_no_room_for_uses;
    const fl_tracer *tracer;               // null: none
    bool is_traced_only;                   // nothing goes into the rings
    uint32_t traced_as;                    // what the tracer's events call the process
    fl_timeline *timeline;                 // that a thread of this process writes; guarded by the list's lock
    uint64_t modules_seen;                 // dlpi_adds when the modules were last listed
    fl_interned *interned;
    fl_site *sites;
    fl_recorder *next;                     // every recorder of the process, for fork
    fl_recorder **previous;
};

struct fl_thread {
    fl_recorder *recorder;
    fl_ring *ring;
    uint32_t number;
    bool is_main;
    uint32_t depth;
    uint32_t countdown;                    // events until one is measured
    uint64_t pending_cost;                 // nanoseconds of first sights, added to the next event
    fl_run run;                            // as it was last read
    uintptr_t stack_low, stack_high;
    struct fl_traced *traced;              // where the recorder has a tracer
    fl_thread *next;                       // the same thread's state with another recorder
    uint64_t open[FL_OPEN_EVENTS_MAXIMUM];
};

// Whether this process is the one that the recorder was made in: a child that was forked shares the mapped file with
// its parent, and must not touch it.
bool fl_is_ours(const fl_recorder *recorder);

// SipHash of bytes.
uint64_t fl_hash(const uint64_t key[2], const void *bytes, size_t length);

// Says which timeline a thread of the process writes, so that a child can let go of it.
void fl_recorder_set_timeline(fl_recorder *recorder, fl_timeline *timeline);

// The part of the dictionary that is the process's, in a child.
void fl_dictionary_after_fork(void);

// This thread's state; null if it can have none.
fl_thread *fl_thread_current(fl_recorder *recorder);

// Adds a segment; null if there is no space. Under the recorder's lock.
void *fl_add_segment(fl_recorder *recorder, fl_segment_kind kind, uint32_t ring, uint64_t size);

// Adds an entry; 0 if there is no space. Takes the recorder's lock.
uint32_t fl_add_entry(
    fl_recorder *recorder, fl_dictionary_kind kind, const void *text, size_t text_length, const char *label,
    size_t label_length);

// The number of the calling thread's stack. Sets `truncated` if it is deeper than what is kept.
uint32_t fl_intern_stack(fl_recorder *recorder, fl_thread *thread, bool *truncated);

// Writes entries for modules that were loaded since the last time.
void fl_list_modules(fl_recorder *recorder);

// Puts a record into the thread's ring, or counts it as lost.
void fl_put(
    fl_thread *thread, fl_header *header, const void *fields, size_t field_bytes, const fl_ending *ending);

// Which file a timeline is written to.
fl_identity fl_timeline_identity(const fl_timeline *timeline);

// Notes in the mapped file which trace tells of its process, and what the process is called there.
void fl_drain_begin(fl_drain *drain, fl_identity trace, const char *path, uint32_t number);

// Notes that the trace has the process's last line; the next commit keeps it.
void fl_drain_end_process(fl_drain *drain);

// Counts lines of the process that the trace had no room for; the next commit keeps the count.
void fl_drain_count_unwritten(fl_drain *drain, uint64_t lines);

// Closes a timeline's descriptor in a child of its process, which would keep the lock otherwise.
void fl_timeline_let_go(fl_timeline *timeline);

// The length of as much of a text as `limit` bytes hold: without a part of a character at its end, if it fills them.
size_t fl_cut_text(const char *text, size_t length, size_t limit);

// The size of a ring by the machine's memory and by the room at a path, where no size was asked for; a null path: the rings
// lie in the process's own memory.
uint64_t fl_ring_bytes(const char *path, uint32_t number);

// Writes a JSON string, quotes included, into `out` of `room` bytes, cut to fit between two characters; returns its
// length. What is no UTF-8 becomes U+FFFD.
size_t fl_json_string(char *out, size_t room, const char *text, size_t length);

#endif
