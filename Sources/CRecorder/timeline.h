// The state of a timeline: its file, the lines that wait to be written, the names that titles need.

#ifndef FAULTLINE_TIMELINE_H
#define FAULTLINE_TIMELINE_H

#include "recorder.h"

#define FL_TIMELINE_BUFFER (256u << 10)
// The longest line: a stack, an entity with many properties, a summary with all its lists.
#define FL_LINE_BYTES (64u << 10)

typedef struct fl_process_names {
    struct fl_process_names *next;
    uint32_t process;
    uint32_t count;
    char **labels;         // by the entry's number
} fl_process_names;

struct fl_timeline {
    // The file. Its descriptor is the program's to close, so it is looked at before each use.
    int descriptor;
    // A page of the file, mapped to keep the file locked while no descriptor does: a lock made with flock(2) goes with
    // the last reference to the open file, and a mapping is one. Null: a descriptor keeps it.
    void *lock;
    bool is_gone;          // neither the descriptor nor the path leads to it any more
    bool is_new;           // it was not there before
    bool is_begun;         // what stood behind the first offset was taken off
    bool is_tentative;     // nothing is noted in the files of rings
    char *path;
    fl_identity identity;
    int error;
    uint64_t offset;       // bytes of whole lines in the file
    uint64_t first_offset; // where the first line was written
    uint64_t unwritten;    // lines that could not be written
    // Short names of dictionary entries, for the events' titles; first those of the process that is being drained.
    fl_process_names *names;
    uint32_t process;
    uint32_t *begun;       // the numbers of the processes that have a first line
    uint32_t begun_count;
    size_t used;
    char buffer[FL_TIMELINE_BUFFER];
};

// Writes the lines that wait.
void fl_timeline_flush(fl_timeline *timeline);

// Closes the descriptor where it is one of few that the program may open. The file stays locked.
void fl_timeline_rest(fl_timeline *timeline);

// Whether the file is closed until it is needed.
bool fl_timeline_is_resting(const fl_timeline *timeline);

// Opens the file again after a rest. False if the program uses all its descriptors; then nothing may be written.
bool fl_timeline_wake(fl_timeline *timeline);

// Takes whole lines off the end until `bytes` are free; what is taken off counts as unwritten.
void fl_timeline_make_room(fl_timeline *timeline, uint64_t bytes);

// Frees the names of a process.
void fl_timeline_forget_names(fl_timeline *timeline, uint32_t process);

#endif
