// Reads CTF traces through libbabeltrace2, in a child process: messages in, events of the schema out.

#ifndef FAULTLINE_CTF_READER_H
#define FAULTLINE_CTF_READER_H

#include <faultline_schema.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum __attribute__((enum_extensibility(closed))) ctf_kind {
    CTF_END,        // no more messages
    CTF_FAILED,     // `text` is the reason; nothing follows
    CTF_EVENT,      // `event` contains it
    CTF_ENTRY,      // a dictionary entry: `process`, `id`, `dictionary`, `text` is its JSON
    CTF_STACK,      // a dictionary entry of kind stack: `process`, `id`, `frames`, `is_truncated`
    CTF_BEGAN,      // a process began: `process`, `version`, `start`, `origin`, `received`, `date`, `is_observed`, and
                    // `text` is its program
    CTF_ENDED,      // a process ended: `process` and the totals
    CTF_DISCARDED,  // events were lost on the way: `lost`; or packets of them: `lost_packets`
    CTF_FOREIGN,    // an event that is not Faultline's
    CTF_MALFORMED,  // an event of Faultline's with a missing or invalid field
    CTF_PASSED_OVER,  // never returned
} ctf_kind;

// One message. Everything it points to stays valid until the next one is read.
typedef struct ctf_message {
    ctf_kind kind;
    uint32_t process;
    uint32_t id;
    uint32_t dictionary;     // fl_dictionary_kind
    uint32_t version;
    const char *text;
    size_t length;
    const uint64_t *frames;
    uint32_t frame_count;
    uint8_t is_truncated;
    bool is_observed;        // the process's calls of SQLite were recorded from outside
    uint64_t start;
    uint64_t origin;         // the zero of times, in nanoseconds of CLOCK_MONOTONIC
    uint64_t received;           // when a session that was started late received this, in CLOCK_MONOTONIC; 0: not late
    double date;
    uint64_t end, events, lost, entries_lost, uses_lost;
    uint64_t lost_packets;
    bool is_of_dictionary;   // the lost events were dictionary entries
    fl_event event;
} ctf_message;

// libbabeltrace2 ends its process on some damaged traces, so it runs in a process of its own.
typedef struct ctf_child ctf_child;

// Opens directories that each contain a CTF trace (a file `metadata` and data streams), and merges their messages by
// time. With `names_only`, events are skipped, which is faster. Messages of the same traces that `before` has
// delivered are skipped too; `before` may be null, and otherwise must live as long as the result. Null if they cannot
// be read, with the reason in the `room` bytes at `problem`.
ctf_child *ctf_child_open(
    const char *const *directories, size_t count, bool names_only, const ctf_child *before, char *problem, size_t room);

// Reads the next message, which the caller may change. Returns `CTF_FAILED` if the child ends for any reason.
ctf_kind ctf_child_next(ctf_child *child, ctf_message **message);

void ctf_child_close(ctf_child *child);

#ifdef __cplusplus
}
#endif

#endif
