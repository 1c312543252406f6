// The interface to a tracer, which receives events as they end and new dictionary entries, on the thread that did the
// work.

#ifndef FAULTLINE_TRACER_H
#define FAULTLINE_TRACER_H

#include <faultline_schema.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// A dictionary entry.
typedef struct fl_tracer_entry {
    uint32_t process;
    uint32_t id;
    const char *kind;        // its name in the trace
    const char *json;        // not null-terminated; empty for stacks
    uint32_t length;
    const uint64_t *frames;  // for stacks: return addresses, innermost first
    uint32_t frame_count;
    bool is_truncated;
} fl_tracer_entry;

// The first record of a process.
typedef struct fl_tracer_process {
    uint32_t process;
    uint64_t start;          // nanoseconds since the trace began
    uint64_t origin;         // when it began, in nanoseconds of CLOCK_MONOTONIC
    double date;             // seconds since 1970
    const char *program;
    bool is_observed;        // its calls of SQLite are recorded from outside: statements alone
} fl_tracer_process;

// The last record of a process.
typedef struct fl_tracer_end {
    uint32_t process;
    uint64_t end;            // nanoseconds since the trace began
    uint64_t events;
    uint64_t lost;
    uint64_t entries_lost;
    uint64_t uses_lost;
} fl_tracer_end;

// Describes a dictionary: passes its process and every entry to the functions.
typedef void fl_tracer_describe(
    void *dictionary, void (*process)(void *context, const fl_tracer_process *process),
    void (*entry)(void *context, const fl_tracer_entry *entry), void *context);

// None of these may block, take a lock that its caller could hold, or use the recorder.
typedef struct fl_tracer {
    // Whether anyone listens to events of that kind.
    bool (*is_wanted)(uint32_t kind);
    // Called only for kinds that someone listens to.
    void (*event)(const fl_event *event);
    void (*entry)(const fl_tracer_entry *entry);
    void (*process)(const fl_tracer_process *process);
    void (*end)(const fl_tracer_end *end);
    // Registers a dictionary, which is described, on any thread, to each new listener until it is forgotten. False if
    // there are too many.
    bool (*remember)(void *dictionary, fl_tracer_describe *describe);
    void (*forget)(void *dictionary);
    // Called around a fork, so that the child can pass events of its own: the first with every lock of the recorder held,
    // the last with none.
    void (*before_fork)(void);
    void (*after_fork_in_parent)(void);
    void (*after_fork_in_child)(void);
} fl_tracer;

#ifdef __cplusplus
}
#endif

#endif
