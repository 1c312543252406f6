// The recording side's own state, which it does not share with the drainer.

#ifndef FAULTLINE_RECORDER_STATE_H
#define FAULTLINE_RECORDER_STATE_H

#include "faultline_guest.h"
#include "faultline_recorder.h"
#include "files.h"
#include "layout.h"

#define FL_OPEN_EVENTS_MAXIMUM 32
#define FL_INTERNED_MAXIMUM (1u << 16)
#define FL_SITES_MAXIMUM (1u << 12)
#define FL_LABEL_BYTES 256
// Swift marks the frame pointer of an asynchronous function with this bit.
#define FL_ASYNC_FRAME ((uintptr_t)1 << 60)
// The sampling interval: the cost of one event in this many is measured.
#define FL_SAMPLING 16

// The maximum plausible cost of recording one event, in nanoseconds. A thread that took longer was preempted in
// between, which is not a cost of recording. In a debug build, describing an event takes some 20 µs.
#define FL_LONGEST_COST 50000

static inline uint64_t fl_plausible_cost(uint64_t nanoseconds) {
    return nanoseconds < FL_LONGEST_COST ? nanoseconds : FL_LONGEST_COST;
}
// The time since then, without that of reading the clock.
static inline uint64_t fl_net_cost(uint64_t began) {
    uint64_t time = fl_now() - began, clock = fl_clock_cost();
    return time > clock ? time - clock : 0;
}

// The event numbers that one record takes: its own and those of the events derived from it.
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
    bool is_inherited;                     // this process is a forked child of the one that records
    uint32_t process;
    _Atomic uint32_t references;
    fl_file *file;
    fl_ring_file rings;
    uint64_t file_size;
    uint64_t ring_bytes;
    bool has_default_rings;                // the machine determines the size, since no size was requested
    bool has_no_room;                      // for another ring; guarded by the lock
    _Atomic(fl_ring *) shared[FL_RINGS_SHARED];  // shared rings; null: not created yet
    uint32_t shared_count;                 // guarded by the lock
    uint64_t key[2];
    fl_lock lock;                          // guards segments, dictionary, and the owners of rings
    void *segments[FL_SEGMENTS_MAXIMUM];
    fl_dictionary_segment *dictionary;     // the segment being written
    uint32_t next_entry;
    uint32_t sampled_entries;              // those that signal handlers added
    // Slots for use summaries. Free ones form a stack of their numbers from 1, whose top is stored with a count of its
    // changes, to detect that a number was popped and pushed back meanwhile.
    _Atomic uint64_t free_uses;
    _Atomic uint32_t next_use[FL_USES_MAXIMUM];
    fl_uses_segment *uses[FL_USES_MAXIMUM / FL_USES_PER_SEGMENT];
    uint32_t uses_segments;
    bool has_no_room_for_uses;
    const fl_tracer *tracer;               // null: none
    bool is_traced_only;                   // nothing goes into the rings
    bool is_forked;                        // created while the process was being forked
    uint32_t traced_as;                    // the process's number in the tracer's events
    fl_timeline *timeline;                 // written by a thread of this process; guarded by the list's lock
    uint64_t modules_seen;                 // dlpi_adds when the modules were last listed
    fl_interned *interned;
    fl_site *sites;
    fl_recorder *next;                     // links all recorders of the process, for fork
    fl_recorder **previous;
};

// A thread's list of its states is read by signal handlers, which may interrupt it at any instruction.
struct fl_thread {
    fl_recorder *recorder;
    fl_ring *ring;
    uint32_t number;
    bool is_main;
    uint32_t depth;
    uint32_t countdown;                    // events until the next one that is measured
    uint32_t cost_countdown;               // pieces of work until the next one that is measured
    uint64_t pending_cost;                 // nanoseconds for new entries and other work, added to the next event
    fl_run run;                            // the last reading
    uint64_t clock;                        // the last known time, which an event or a mark has read
    fl_thread_scope scope;
    struct fl_hit_table *hits;             // null: no row-cache hits yet
    fl_stack_bounds stack;
    struct fl_traced *traced;              // null without a tracer
    fl_thread *next;                       // the same thread's state with another recorder
    uint64_t open[FL_OPEN_EVENTS_MAXIMUM];
};

// Whether this process created the recorder. A forked child shares the mapped file with its parent, and must not touch
// it.
bool fl_is_ours(const fl_recorder *recorder);

// SipHash of bytes.
uint64_t fl_hash(const uint64_t key[2], const void *bytes, size_t length);

// Registers the timeline that a thread of the process writes, which a forked child must release.
void fl_recorder_set_timeline(fl_recorder *recorder, fl_timeline *timeline);

// Resets the process's own part of the dictionary, in a child.
void fl_dictionary_after_fork(void);

// The states of this thread, for each recorder that it has used.
extern FL_THREAD_LOCAL fl_thread *fl_threads;

// This thread's state; null if it has none.
static inline fl_thread *fl_thread_known(const fl_recorder *recorder) {
    fl_thread *thread = fl_threads;
    while (thread != NULL && thread->recorder != recorder) { thread = thread->next; }
    return thread;
}

fl_thread *fl_thread_make(fl_recorder *recorder);

// This thread's state, which is made if there is none; null if it cannot have any.
static inline fl_thread *fl_thread_current(fl_recorder *recorder) {
    fl_thread *thread = fl_thread_known(recorder);
    return thread != NULL ? thread : fl_thread_make(recorder);
}

// This thread's state; null if recording is off.
static inline fl_thread *fl_thread_recording(fl_recorder *recorder) {
    return fl_switch_is_on(&recorder->state) ? fl_thread_current(recorder) : NULL;
}

#define FL_THREAD_NAME_BYTES 16
#define FL_THREAD_ENTRY_BYTES 192

// Writes the calling thread's entry for the dictionary and its name; returns the entry's length. Safe in a signal handler.
size_t fl_describe_thread(uint32_t number, bool is_main, char *entry, char *name);

// Whether a frame's two words are in the thread's stack.
static inline bool fl_is_on_stack(const fl_stack_bounds *bounds, uintptr_t frame) {
    return frame >= bounds->low && frame + 2 * sizeof(uintptr_t) <= bounds->high && (frame & 7) == 0;
}

// The return addresses from a frame outwards, which may be an interrupted function's. Returns their number.
uint32_t fl_walk_from(const fl_stack_bounds *bounds, uintptr_t frame, uint64_t *frames, bool *truncated);

// The frame of the innermost anchor; 0 if there is none.
uintptr_t fl_last_anchor(void);

// The frame of the function that called the one with a frame.
static inline uintptr_t fl_caller_of(uintptr_t frame) { return *(const uintptr_t *)frame & ~FL_ASYNC_FRAME; }

// Adds a segment; null if there is no space. Under the recorder's lock.
void *fl_add_segment(fl_recorder *recorder, fl_segment_kind kind, uint32_t ring, uint64_t size);

// The number of an entry that was interned; 0 if there is none.
uint32_t fl_find_entry(fl_recorder *recorder, fl_dictionary_kind kind, const void *text, size_t length);

// Returns the number of the calling thread's stack. Sets `truncated` if it is deeper than the maximum.
uint32_t fl_intern_stack(
    fl_recorder *recorder, fl_thread *thread, const fl_interpreted *interpreted, bool *truncated);

// Writes entries for modules loaded since the last call.
void fl_list_modules(fl_recorder *recorder);

// Whether an address is one that a call returns to, in the code of a module. Safe in a signal handler.
bool fl_is_return_address(uint64_t address);

// Whether an address is one that a call of the function with an instruction returns to, as far as the call names it.
bool fl_returns_from(uint64_t address, uint64_t instruction);

// Writes the entry of the module that an address belongs to, in a signal handler.
void fl_list_module_of(fl_recorder *recorder, uint64_t address, bool *is_busy);

// Adds a ring that several threads write, under the recorder's lock. Null if there is no room.
fl_ring *fl_add_shared_ring(fl_recorder *recorder, uint64_t capacity);

// Adds the calling thread's stack to a record.
void fl_add_stack(fl_recorder *recorder, fl_thread *thread, fl_header *header);

// Reserves space for a record of `size` bytes; null if the ring is full. `head` is to be passed to fl_commit_record, which
// makes the record visible.
char *fl_reserve_record(fl_ring *ring, uint32_t size, uint64_t *head);
void fl_commit_record(fl_recorder *recorder, fl_ring *ring, uint64_t head, uint32_t size);

// Counts events of a thread that a ring had no room for.
void fl_count_dropped(fl_ring *ring, uint32_t thread, uint32_t events);

// Puts a record into the thread's ring, or counts it as lost.
void fl_put(
    fl_thread *thread, fl_header *header, const void *fields, size_t field_bytes, const fl_ending *ending);

// Records the open sums of row-cache hits of a thread. fl_put_nested_hits records only those within an event.
void fl_put_hits(fl_thread *thread);
void fl_put_nested_hits(fl_thread *thread, uint64_t event);

// Records the sums if the first of them is old.
void fl_put_old_hits(fl_thread *thread, uint64_t now);

// The event that is open on a thread; 0: none.
static inline uint64_t fl_open_event(const fl_thread *thread) {
    uint32_t depth = thread->depth < FL_OPEN_EVENTS_MAXIMUM ? thread->depth : FL_OPEN_EVENTS_MAXIMUM;
    return depth == 0 ? 0 : thread->open[depth - 1];
}

// Returns the number for a new event; those of the events derived from it follow.
static inline uint64_t fl_take_ids(fl_ring *ring) { return fl_count(ring, &ring->next_id, FL_IDS_PER_RECORD); }

// The identity of a timeline's file.
fl_identity fl_timeline_identity(const fl_timeline *timeline);

// Notes in the mapped file the trace that contains its process, and the process's number in it.
void fl_drain_begin(fl_drain *drain, fl_identity trace, const char *path, uint32_t number);

// Does what fl_drain_commit does, for another file than the one named by fl_drain_begin.
void fl_drain_commit_to(fl_drain *drain, fl_identity trace, uint64_t offset);

// Notes that the trace has the process's last line; the next commit stores that.
void fl_drain_end_process(fl_drain *drain);

// Counts lines of the process that could not be written to the trace; the next commit stores the count.
void fl_drain_count_unwritten(fl_drain *drain, uint64_t lines);

// Closes a timeline's descriptor in a forked child, which would otherwise keep the lock.
void fl_timeline_abandon(fl_timeline *timeline);

// The length of a text cut to `limit` bytes, without a partial character at its end.
size_t fl_cut_text(const char *text, size_t length, size_t limit);

// The default size of a ring, determined by the machine's memory and the free space at a path; a null path stands for
// rings in the process's own memory.
uint64_t fl_ring_bytes(const char *path, uint32_t number);

#endif
