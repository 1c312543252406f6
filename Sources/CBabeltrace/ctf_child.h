// What a child that reads a trace shares with its parent.

#ifndef FAULTLINE_CTF_CHILD_H
#define FAULTLINE_CTF_CHILD_H

#include "ctf_internal.h"

#include <stdatomic.h>

// Messages go through chunks of shared memory, in turns. A chunk is handed over when it is full. Behind the point at which
// it counts as full there is room for one long text, which is seldom touched.
#define CHUNKS 4
#define CHUNK_FULL ((size_t)192 << 10)
#define CHUNK_ROOM ((size_t)4 << 20)

// A message and what it points to: texts and frames stand where an event would. The memory lies at the same address in
// both processes, so that pointers are valid in both.
//
// A record of an event holds nothing else, because each byte that moves from one processor to another costs time. The
// event's message begins before the record, in bytes that nobody reads.
typedef struct ctf_record {
    uint32_t size;  // of all of it; a multiple of 8
    uint32_t kind;  // ctf_kind
    ctf_message message;
} ctf_record;

// Where an event stands in its record.
#define CTF_EVENT_PLACE offsetof(ctf_record, message)

typedef struct ctf_shared {
    // How far the child has filled each chunk; if it has ended without a word, what it had not handed over yet.
    _Atomic size_t used[CHUNKS];
    ctf_positions positions;
    // The message of the first event of the first chunk begins in here.
    char room[sizeof(ctf_message)];
    _Alignas(64) char chunks[CHUNKS][CHUNK_ROOM];
} ctf_shared;

// What the child says through its socket: how much of a chunk is used. The parent answers with a byte when it has read it.
typedef uint32_t ctf_filled;

// Runs the child, and ends the process. `marks`: the positions that were read before; null: none.
_Noreturn void ctf_child_run(
    int socket, ctf_shared *shared, const ctf_positions *marks, const char *const *directories, size_t count,
    bool names_only);

#endif
