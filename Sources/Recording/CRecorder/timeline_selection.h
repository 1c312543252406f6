// The part of a timeline that remains without its oldest events.

#ifndef FAULTLINE_TIMELINE_SELECTION_H
#define FAULTLINE_TIMELINE_SELECTION_H

#include "timeline.h"

typedef struct fl_selection {
    fl_timeline *timeline;
    fl_drain *const *drains;  // of the processes that are still recording; their names stay
    uint32_t drain_count;
    int copy;                 // the descriptor to write to
    uint64_t written;         // bytes of the copy so far
    uint64_t drained;         // events that the drains delivered meanwhile

    uint64_t cut;             // the offset of the first event that stays
    uint64_t from;            // when that event ended, in nanoseconds since the trace began
    bool has_begun;           // whether `from` is known
    uint32_t *processes;      // the numbers of the processes whose names stay, ascending
    uint32_t count, room;
    bool has_first;           // whether the first line of a process was written
    bool is_draining;
    char *buffer;             // of the copy
    size_t used;
} fl_selection;

// Writes the copy: the last `bytes` bytes of events, and the names before them that they need. The events that the drains
// deliver meanwhile are in both files. False with errno set: EINVAL if the timeline is not longer.
bool fl_selection_write(fl_selection *selection, uint64_t bytes);

void fl_selection_free(fl_selection *selection);

#endif
