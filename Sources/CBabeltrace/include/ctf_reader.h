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
    CTF_END,        // no more
    CTF_FAILED,     // `text` says why; nothing comes after it
    CTF_EVENT,      // `event` holds it
    CTF_ENTRY,      // a dictionary entry: `process`, `id`, `dictionary`, `text` is its JSON
    CTF_STACK,      // a dictionary entry of kind stack: `process`, `id`, `frames`, `is_truncated`
    CTF_BEGAN,      // a process began: `process`, `version`, `start`, `origin`, `told`, `date`, `text` is its program
    CTF_ENDED,      // a process ended: `process` and the totals
    CTF_DISCARDED,  // events were lost on the way: `lost`, or packets of them: `lost_packets`
    CTF_FOREIGN,    // an event of somebody else
    CTF_MALFORMED,  // an event of ours that lacks what it needs
    CTF_PASSED_OVER,  // never handed out
} ctf_kind;

// One message. What it points to lives until the next one is asked for.
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
    uint64_t start;
    uint64_t origin;         // what times are relative to, in nanoseconds of CLOCK_MONOTONIC
    uint64_t told;           // when a session that was started late was told of it, of CLOCK_MONOTONIC; 0: it was not late
    double date;
    uint64_t end, events, lost, entries_lost, uses_lost;
    uint64_t lost_packets;
    bool is_of_dictionary;   // what was lost were entries of dictionaries
    fl_event event;
} ctf_message;

// libbabeltrace2 ends its process where some bytes of a trace are wrong, so that it has one of its own.
typedef struct ctf_child ctf_child;

// Opens directories that each hold a CTF trace (a file `metadata` and data streams); their messages are merged by time.
// With `names_only` events are passed over, which is faster. What `before` has handed out of the same traces is passed
// over; null: nothing. It must live as long.
// Null if they cannot be read; `problem` then says why, in at most `room` bytes.
ctf_child *ctf_child_open(
    const char *const *directories, size_t count, bool names_only, const ctf_child *before, char *problem, size_t room);

// The next message, which the caller may change; `CTF_FAILED` where the child ends, whatever has ended it.
ctf_kind ctf_child_next(ctf_child *child, ctf_message **message);

void ctf_child_close(ctf_child *child);

#ifdef __cplusplus
}
#endif

#endif
