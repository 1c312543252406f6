// The memory and messages that a child that reads a trace shares with its parent.

#ifndef FAULTLINE_CTF_CHILD_H
#define FAULTLINE_CTF_CHILD_H

#include "ctf_internal.h"

#include <stdatomic.h>

// Messages go through chunks of shared memory, used in turn. A chunk is handed over when it is full. Beyond the point
// at which it counts as full there is room for one long text, which is rarely touched.
#define CHUNKS 4
#define CHUNK_FULL ((size_t)768 << 10)
#define CHUNK_ROOM ((size_t)4 << 20)

// A message and its contents: texts and frames take the place of the event. The memory has the same address in both
// processes, so pointers are valid in both.
//
// The record of an event contains nothing else, because each byte that moves between processors costs time. The
// event's message begins before the record, in bytes that nobody reads.
typedef struct ctf_record {
    uint32_t size;  // of all of it; a multiple of 8
    uint32_t kind;  // ctf_kind
    ctf_message message;
} ctf_record;

// The offset of an event in its record.
#define CTF_EVENT_OFFSET offsetof(ctf_record, message)

typedef struct ctf_shared {
    // The length of each chunk's contents. If the child has ended abnormally, the parent reads the last chunk from it.
    _Atomic size_t used[CHUNKS];
    ctf_positions positions;
    // The message of the first event of the first chunk begins here.
    char room[sizeof(ctf_message)];
    _Alignas(64) char chunks[CHUNKS][CHUNK_ROOM];
} ctf_shared;

// The child's message on its socket: the used length of a chunk. The parent answers with a byte once it has read the
// chunk.
typedef uint32_t ctf_filled;

// Runs the child, and ends the process. `marks` are the positions read before, or null.
_Noreturn void ctf_child_run(
    int socket, ctf_shared *shared, const ctf_positions *marks, const char *const *directories, size_t count,
    bool names_only);

#endif
