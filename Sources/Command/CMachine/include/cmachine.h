// Linux system calls that Swift cannot make itself, because it does not see them in the C library.

#ifndef CMACHINE_H
#define CMACHINE_H

#include <stdint.h>
// Extended attributes.
#include <sys/xattr.h>

#ifdef __cplusplus
extern "C" {
#endif

// The path of the program or library at an address, as the linker knows it; null if there is none.
const char *_Nullable cmachine_file_at(const void *_Nonnull address);

// Creates a pipe with close-on-exec. Returns 0 or an errno.
int cmachine_pipe(int *_Nonnull reading, int *_Nonnull writing);

// Reserves the first bytes of a file with fallocate, which, unlike posix_fallocate, is not emulated by writing.
// Returns 0 or an errno.
int cmachine_reserve(int descriptor, int64_t bytes);

// Creates an unnamed file of that size in memory, and closes it. Returns 0 or an errno.
int cmachine_try_memory_file(int64_t bytes);

// The result for a lock that was granted but is not visible to others.
#define CMACHINE_LOCK_UNSEEN (-1)

// Locks a part of a file for writing (fcntl), and checks the lock through another descriptor. Returns 0 if the lock is
// visible, CMACHINE_LOCK_UNSEEN if it was granted but nobody else sees it, or otherwise an errno.
int cmachine_try_record_lock(const char *_Nonnull path);

// The same for a lock on the whole file (flock).
int cmachine_try_file_lock(const char *_Nonnull path);

#ifdef __cplusplus
}
#endif

#endif
