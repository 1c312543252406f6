// The state of a timeline: its file, the lines waiting to be written, and the names for titles.

#ifndef FAULTLINE_TIMELINE_H
#define FAULTLINE_TIMELINE_H

#include "recorder.h"

#define FL_TIMELINE_BUFFER (256u << 10)
// The maximum length of a line: a stack, an entity with many properties, or a summary with all its lists.
#define FL_LINE_BYTES (64u << 10)

typedef struct fl_process_names {
    struct fl_process_names *next;
    uint32_t process;
    uint32_t count;
    char **labels;         // by the entry's number
} fl_process_names;

struct fl_timeline {
    // The file. The program may close its descriptor, which is therefore checked before each use.
    int descriptor;
    // A mapped page of the file, which keeps the file locked while no descriptor does: a flock(2) lock lasts until the
    // last reference to the open file is gone, and a mapping is one. Null if a descriptor keeps the lock.
    void *lock;
    bool is_gone;          // neither the descriptor nor the path refers to the file any more
    bool is_new;           // the file was created for this timeline
    bool is_begun;         // the file was truncated at the first offset
    bool is_tentative;     // commits to the files of rings are suspended
    char *path;
    fl_identity identity;
    int error;
    uint64_t offset;       // bytes of complete lines in the file
    uint64_t first_offset; // offset of the first written line
    uint64_t unwritten;    // lines that could not be written
    uint64_t removed;      // events that were removed to keep the file short
    // Short names of dictionary entries, for the events' titles; those of the process being drained come first.
    fl_process_names *names;
    uint32_t process;
    uint32_t *begun;       // the numbers of the processes with a first line
    uint32_t begun_count;
    size_t used;
    char buffer[FL_TIMELINE_BUFFER];
};

// The length of the file; 0 if it is gone.
uint64_t fl_timeline_length(const fl_timeline *timeline);

// Writes the waiting lines.
void fl_timeline_flush(fl_timeline *timeline);

// Closes the descriptor if it is one of the few that the program may open. The file stays locked.
void fl_timeline_rest(fl_timeline *timeline);

// Whether the file is closed until the next use.
bool fl_timeline_is_resting(const fl_timeline *timeline);

// Reopens the file after a rest. False if the program uses all its descriptors; then nothing may be written.
bool fl_timeline_wake(fl_timeline *timeline);

// Removes complete lines from the end until `bytes` are free, and counts them as unwritten.
void fl_timeline_make_room(fl_timeline *timeline, uint64_t bytes);

// Frees the names of a process.
void fl_timeline_forget_names(fl_timeline *timeline, uint32_t process);

#endif
