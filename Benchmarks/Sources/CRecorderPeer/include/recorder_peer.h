// The recorder's work, written with the C library: the arms that it is compared with.

#ifndef RECORDER_PEER_H
#define RECORDER_PEER_H

#include <stddef.h>
#include <stdint.h>

// Formats the lines of waits, as a timeline has them, with snprintf. Returns the number of bytes.
size_t recorder_peer_format(int64_t count);

// Formats one such line into `room` bytes at `out`. Returns its length.
size_t recorder_peer_line(char *_Nonnull out, size_t room, int64_t number);

// Walks the calling stack with backtrace(). Returns the number of its frames.
int64_t recorder_peer_stacks(int64_t count);

#endif
