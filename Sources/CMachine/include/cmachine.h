// What Swift cannot ask the machine: calls of Linux's own, which it does not see in the C library.

#ifndef CMACHINE_H
#define CMACHINE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The path of the program or library that holds an address, as the linker knows it; null: none does.
const char *_Nullable cmachine_file_at(const void *_Nonnull address);

// The two ends of a pipe, which no command inherits by chance. 0, or the error's number.
int cmachine_pipe(int *_Nonnull reading, int *_Nonnull writing);

// Reserves the first bytes of a file by fallocate, which, unlike posix_fallocate, is not emulated by writing.
// 0, or the error's number.
int cmachine_reserve(int descriptor, int64_t bytes);

// Makes a file without a name in memory, of so many bytes, and lets go of it. 0, or the error's number.
int cmachine_try_memory_file(int64_t bytes);

// What locks that were granted are worth.
#define CMACHINE_LOCK_UNSEEN (-1)

// Locks a part of a file for writing (fcntl), and asks through another descriptor whether it is locked. 0: it is;
// CMACHINE_LOCK_UNSEEN: the lock was granted, and nobody else is told of it; otherwise the error's number.
int cmachine_try_record_lock(const char *_Nonnull path);

// The same for a lock on the whole file (flock).
int cmachine_try_file_lock(const char *_Nonnull path);

#ifdef __cplusplus
}
#endif

#endif
