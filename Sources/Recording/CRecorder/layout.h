// The layout of the mapped file, which the recording and the draining side share.
//
// The file is a header followed by segments, and only grows: a thread's first event adds a ring, and a full dictionary
// segment adds another. The space of a segment is reserved before it is mapped, since touching a page that a full disk
// cannot provide would kill the program (SIGBUS).

#ifndef FAULTLINE_LAYOUT_H
#define FAULTLINE_LAYOUT_H

#include "files.h"

#include <faultline_schema.h>
#include <stdatomic.h>
#include <stdbool.h>

#define FL_MAGIC "FLRINGS"
#define FL_LAYOUT_VERSION 11
#define FL_PAGE 4096
#define FL_SEGMENTS_MAXIMUM 512
#define FL_RINGS_MAXIMUM 256
// Rings shared by several threads, for threads that find no ring of their own.
#define FL_RINGS_SHARED 16
#define FL_RINGS_OWNED (FL_RINGS_MAXIMUM - FL_RINGS_SHARED)
#define FL_DICTIONARY_SEGMENT_BYTES (256u << 10)
#define FL_USES_PER_SEGMENT 128
// The maximum number of open summaries; further results get none, which is counted.
#define FL_USES_MAXIMUM 4096
#define FL_PROGRAM_BYTES 1024
#define FL_TRACE_PATH_BYTES 1024

// The version of the layout, which changes with that of the records.
static inline uint32_t fl_layout(void) { return fl_schema_layout() + FL_LAYOUT_VERSION; }

typedef enum fl_segment_kind { FL_SEGMENT_RING = 1, FL_SEGMENT_DICTIONARY, FL_SEGMENT_USES } fl_segment_kind;

typedef struct fl_segment {
    uint32_t kind;
    uint32_t ring;    // the ring's number
    uint64_t offset;  // in the file
    uint64_t size;
} fl_segment;

// The progress of a drainer. Two commits are written in turn, so that one is complete whenever the drainer is killed.
typedef struct fl_commit {
    fl_identity trace;       // its file
    uint64_t offset;         // bytes of the trace
    uint32_t segment;        // dictionary: the segment and the offset in it
    uint32_t place;
    uint64_t events;         // delivered so far
    uint64_t latest;         // end of the last of them, since the trace began
    uint64_t unwritten;      // lines that could not be written to the trace
    uint64_t is_ended;       // whether the trace has the process's last line
    uint64_t tails[FL_RINGS_MAXIMUM];
    uint64_t dropped[FL_RINGS_MAXIMUM];
} fl_commit;

typedef struct fl_file {
    char magic[8];
    uint32_t layout_version;         // of this file and of the records in it; see fl_layout
    uint32_t process;                // the process's own ID
    uint64_t process_namespace;      // the inode of the namespace of that ID; 0: not known
    uint64_t image;                  // distinguishes programs that ran under the same process ID
    uint64_t origin;
    uint64_t start;
    uint64_t closed;                 // the time; 0: not yet
    // Set when the process's first line is written: the trace's file, and the process's number in it.
    fl_identity trace;
    uint32_t number;
    double date;
    char program[FL_PROGRAM_BYTES];
    char trace_path[FL_TRACE_PATH_BYTES];  // path of that trace at the time; for messages, since it may have moved
    uint32_t is_observed;            // statements alone, recorded from outside the program
    _Atomic uint32_t is_closed;
    _Atomic uint32_t doorbell;
    _Atomic uint32_t segment_count;
    _Atomic uint32_t commit_count;   // the last commit is commits[commit_count & 1]
    _Atomic uint64_t entries_lost;
    _Atomic uint64_t uses_lost;
    _Atomic uint64_t events_lost;    // by threads that got no ring
    _Atomic uint32_t failure;        // the errno of the last failure to make a ring; 0: none
    fl_commit commits[2];
    fl_segment segments[FL_SEGMENTS_MAXIMUM];
} fl_file;

// MARK: - Row-cache hits

// The maximum number of open sums of a thread. Another one replaces one of the two that its key leads to.
#define FL_HITS_MAXIMUM 64

// An open sum of row-cache hits is in the mapped file, where it can still be read after the program was killed.
typedef struct fl_hits {
    _Atomic uint32_t is_open;
    uint32_t measured;       // the hits that were timed
    uint64_t measured_time;  // their time, in nanoseconds
    fl_header header;        // `duration` lasts to the latest hit
    fl_cache_hits fields;
} fl_hits;

// MARK: - Rings

// The owner of a shared ring, which one thread at a time writes under its lock.
#define FL_SHARED_RING UINT32_MAX

// The first bytes of a ring's segment. The writing thread owns `head`, the drainer owns `tail`. Both only grow; the
// offset in the ring is their value modulo the capacity.
typedef struct fl_ring {
    _Alignas(64) _Atomic uint64_t head;
    _Atomic uint64_t next_id;
    _Atomic uint64_t dropped;        // events, not records
    _Atomic uint32_t owner;          // the writing thread; 0: none, it may be taken; FL_SHARED_RING: several
    _Atomic uint32_t thread;         // the last owner or, in a shared ring, the last thread that lost an event
    _Atomic uint32_t lock;           // 1: a thread is writing to the shared ring
    uint32_t number;
    _Atomic uint64_t traced;         // events passed to a tracer
    _Alignas(64) _Atomic uint64_t tail;
    _Atomic uint64_t reported;           // the part of `dropped` that the trace reports
    _Alignas(64) uint64_t capacity;
    uint64_t hit_time;               // the owner's running mean time of an object's hit, in nanoseconds
    fl_hits hits[FL_HITS_MAXIMUM];   // only in a ring with an owner of its own
    _Alignas(64) char data[];
} fl_ring;

// The size of a ring's segment without its data.
#define FL_RING_HEADER_BYTES ((sizeof(fl_ring) + FL_PAGE - 1) & ~(uint64_t)(FL_PAGE - 1))

static inline bool fl_is_shared(const fl_ring *ring) {
    return atomic_load_explicit(&ring->owner, memory_order_relaxed) == FL_SHARED_RING;
}

// Adds to a counter of a ring. Only shared rings need an atomic addition.
static inline uint64_t fl_count(const fl_ring *ring, _Atomic uint64_t *counter, uint64_t amount) {
    if (fl_is_shared(ring)) { return atomic_fetch_add_explicit(counter, amount, memory_order_relaxed); }
    uint64_t before = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, before + amount, memory_order_relaxed);
    return before;
}

// The first bytes of a dictionary segment, and of an entry in it.
typedef struct fl_dictionary_segment {
    _Alignas(64) _Atomic uint64_t used;  // bytes of complete entries
    _Alignas(64) char data[];
} fl_dictionary_segment;

typedef struct fl_entry {
    uint32_t size;           // of the whole entry, a multiple of 8
    uint32_t id;
    uint16_t kind;
    uint16_t label_length;
    uint32_t text_length;    // JSON, or for a stack its addresses (8 bytes each)
    char bytes[];            // text, then label
} fl_entry;

// In debug builds, a stack contains about forty frames of the recorder and the store.
#define FL_STACK_FRAMES_MAXIMUM 128

// MARK: - Use summaries

#define FL_USE_RUNS 24
#define FL_USE_WINDOWS 24
#define FL_USE_PROPERTIES 63

typedef struct fl_use_property {
    uint32_t rows_read;
    uint32_t rows_loaded;
    uint64_t bytes;
    uint32_t large_rows;
    uint32_t is_used;
} fl_use_property;

// An open summary is in the mapped file, where it can still be read after the program was killed.
typedef struct fl_use_slot {
    _Atomic uint32_t is_open;
    uint32_t thread;
    uint64_t id;
    uint64_t opened;
    fl_use summary;
    uint64_t scope;
    uint32_t context;
    uint32_t site;
    struct { uint32_t first, rows; } runs[FL_USE_RUNS];
    struct { uint32_t kind, rows, times; } windows[FL_USE_WINDOWS];
    fl_use_property properties[FL_USE_PROPERTIES];
    // The open window; a bitmap around its first row marks the rows seen.
    struct {
        uint64_t scope;
        int32_t kind;
        uint32_t rows;
        uint32_t base;
        uint32_t is_open;
        uint64_t last_touch;
        uint64_t last_tick;   // of the coarse clock; 0: none
        uint64_t median_gap;
        uint64_t seen[16];
    } window;
} fl_use_slot;

typedef struct fl_uses_segment {
    fl_use_slot slots[FL_USES_PER_SEGMENT];
} fl_uses_segment;

// Converts a clock time to nanoseconds since the trace began.
static inline uint64_t fl_since(uint64_t time, uint64_t origin) { return time < origin ? 0 : time - origin; }

// Converts a summary to an event with its lists.
void fl_use_describe(const fl_use_slot *use, uint64_t origin, fl_event *event);

// The fields of a sum of hits, with the time of all hits. `hit_time` is the time of one if none was timed.
fl_cache_hits fl_hits_describe(const fl_hits *hits, uint64_t hit_time);

#endif
