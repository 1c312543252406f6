// The mapped file: what the recording side and the draining side agree on.
//
// The file is a header and segments, and it only grows: a thread's first event adds a ring, a full stretch of
// dictionary adds another. The space of a segment is reserved before it is mapped, since touching a page that a
// full disk cannot provide would kill the program (SIGBUS).

#ifndef FAULTLINE_LAYOUT_H
#define FAULTLINE_LAYOUT_H

#include "files.h"

#include <faultline_schema.h>
#include <stdatomic.h>
#include <stdbool.h>

#define FL_MAGIC "FLRINGS"
#define FL_LAYOUT_VERSION 5
#define FL_PAGE 4096
#define FL_SEGMENTS_MAXIMUM 512
#define FL_RINGS_MAXIMUM 256
// Rings that several threads write, for the threads that find no ring of their own.
#define FL_RINGS_SHARED 16
#define FL_RINGS_OWNED (FL_RINGS_MAXIMUM - FL_RINGS_SHARED)
#define FL_DICTIONARY_SEGMENT_BYTES (256u << 10)
#define FL_USES_PER_SEGMENT 128
// Summaries that can be open at a time; of further results none is made, and that is counted.
#define FL_USES_MAXIMUM 4096
#define FL_PROGRAM_BYTES 1024
#define FL_TRACE_PATH_BYTES 1024

typedef enum fl_segment_kind { FL_SEGMENT_RING = 1, FL_SEGMENT_DICTIONARY, FL_SEGMENT_USES } fl_segment_kind;

typedef struct fl_segment {
    uint32_t kind;
    uint32_t ring;    // the ring's number
    uint64_t offset;  // in the file
    uint64_t size;
} fl_segment;

// How far a drainer has come. Two of them are written in turn, so that one is whole whenever the drainer is killed.
typedef struct fl_commit {
    uint64_t offset;         // bytes of the trace
    uint32_t segment;        // dictionary: the segment and the place in it
    uint32_t place;
    uint64_t events;         // handed over so far
    uint64_t latest;         // when the last of them ended, since the trace began
    uint64_t unwritten;      // lines that the trace had no room for
    uint64_t is_ended;       // whether the trace has the process's last line
    uint64_t tails[FL_RINGS_MAXIMUM];
    uint64_t dropped[FL_RINGS_MAXIMUM];
} fl_commit;

typedef struct fl_file {
    char magic[8];
    uint32_t layout_version;
    uint32_t process;                // as the process itself is told
    uint64_t process_namespace;      // in which it is called so; 0: not known
    uint64_t image;                  // tells programs apart that come to one process number
    uint64_t origin;
    uint64_t start;
    uint64_t closed;                 // when; 0: not yet
    // Set when a trace begins to tell of the process: which file it is, and what the process is called there.
    fl_identity trace;
    uint32_t number;
    double date;
    char program[FL_PROGRAM_BYTES];
    char trace_path[FL_TRACE_PATH_BYTES];  // where that trace lay; for messages, since it may have moved
    _Atomic uint32_t is_closed;
    _Atomic uint32_t doorbell;
    _Atomic uint32_t segment_count;
    _Atomic uint32_t commit_count;   // the last commit is commits[commit_count & 1]
    _Atomic uint64_t entries_lost;
    _Atomic uint64_t uses_lost;
    _Atomic uint64_t events_lost;    // by threads that got no ring
    fl_commit commits[2];
    fl_segment segments[FL_SEGMENTS_MAXIMUM];
} fl_file;

// The owner of a ring that several threads write, one at a time under its lock.
#define FL_SHARED_RING UINT32_MAX

// The first bytes of a ring's segment. The writing thread owns `head`, the drainer `tail`; both only grow, and the
// place in the ring is the number modulo the capacity.
typedef struct fl_ring {
    _Alignas(64) _Atomic uint64_t head;
    _Atomic uint64_t next_id;
    _Atomic uint64_t dropped;        // events, not records
    _Atomic uint32_t owner;          // the thread that writes; 0: none, it may be taken; FL_SHARED_RING: several
    _Atomic uint32_t thread;         // the last that took it or, where several write, that lost an event
    _Atomic uint32_t lock;           // 1: one of several threads is writing
    uint32_t number;
    _Atomic uint64_t traced;         // events that were handed to a tracer
    _Alignas(64) _Atomic uint64_t tail;
    _Atomic uint64_t told;           // of `dropped`, how much the trace tells
    _Alignas(64) uint64_t capacity;
    _Alignas(64) char data[];
} fl_ring;

static inline bool fl_is_shared(const fl_ring *ring) {
    return atomic_load_explicit(&ring->owner, memory_order_relaxed) == FL_SHARED_RING;
}

// Adds to a counter of a ring's. Only rings of several threads need the lock of the memory bus for that.
static inline uint64_t fl_count(const fl_ring *ring, _Atomic uint64_t *counter, uint64_t amount) {
    if (fl_is_shared(ring)) { return atomic_fetch_add_explicit(counter, amount, memory_order_relaxed); }
    uint64_t before = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, before + amount, memory_order_relaxed);
    return before;
}

// The first bytes of a dictionary segment, and of an entry in it.
typedef struct fl_dictionary_segment {
    _Alignas(64) _Atomic uint64_t used;  // bytes of entries that are whole
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

// Debug builds have some forty frames of the recorder and the store in a stack.
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

// An open summary lies in the mapped file, so that it can still be read when the program was killed.
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
    // The window that is open: rows seen lie in a bitmap around its first row.
    struct {
        uint64_t scope;
        int32_t kind;
        uint32_t rows;
        uint32_t base;
        uint32_t is_open;
        uint64_t last_touch;
        uint64_t median_gap;
        uint64_t seen[16];
    } window;
} fl_use_slot;

typedef struct fl_uses_segment {
    fl_use_slot slots[FL_USES_PER_SEGMENT];
} fl_uses_segment;

// A moment of the clock, in nanoseconds since the trace began.
static inline uint64_t fl_since(uint64_t time, uint64_t origin) { return time < origin ? 0 : time - origin; }

// Turns a summary into an event with its lists.
void fl_use_describe(const fl_use_slot *use, uint64_t origin, fl_event *event);

#endif
