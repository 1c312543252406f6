// The recording side's own state, which is not shared with the drainer.

#ifndef FAULTLINE_RECORDER_STATE_H
#define FAULTLINE_RECORDER_STATE_H

#include "faultline_recorder.h"
#include "layout.h"

#include <pthread.h>

#define FL_OPEN_EVENTS_MAXIMUM 32
#define FL_INTERNED_MAXIMUM (1u << 16)
#define FL_SITES_MAXIMUM (1u << 12)
// One event in so many has its cost measured.
#define FL_SAMPLING 16
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
    _Atomic uint32_t references;
    fl_file *file;
    int descriptor;                        // -1: anonymous memory
    uint64_t file_size;
    uint64_t ring_bytes;
    bool has_no_room;                      // for another ring; guarded by the lock
    uint64_t key[2];
    pthread_mutex_t lock;                  // segments, dictionary, rings changing hands
    void *segments[FL_SEGMENTS_MAXIMUM];
    fl_dictionary_segment *dictionary;     // the one that is written
    uint32_t next_entry;
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
    uintptr_t stack_low, stack_high;
    fl_thread *next;                       // the same thread's state with another recorder
    uint64_t open[FL_OPEN_EVENTS_MAXIMUM];
};

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

// Writes a JSON string, quotes included, into `out` of `room` bytes, cut to fit; returns its length.
size_t fl_json_string(char *out, size_t room, const char *text, size_t length);

#endif
