#define _GNU_SOURCE
#include "cmachine.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

const char *cmachine_file_at(const void *address) {
    Dl_info found;
    return dladdr(address, &found) != 0 ? found.dli_fname : NULL;
}

int cmachine_pipe(int *reading, int *writing) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) { return errno; }
    *reading = ends[0];
    *writing = ends[1];
    return 0;
}

// MARK: - Space

int cmachine_reserve(int descriptor, int64_t bytes) {
    return fallocate(descriptor, 0, 0, (off_t)bytes) == 0 ? 0 : errno;
}

int cmachine_try_memory_file(int64_t bytes) {
    int descriptor = memfd_create("faultline-doctor", MFD_CLOEXEC);
    if (descriptor < 0) { return errno; }
    int failure = cmachine_reserve(descriptor, bytes);
    close(descriptor);
    return failure;
}

// MARK: - Locks

// Opens a file twice; the descriptors do not share locks. Returns 0 or an errno.
static int open_twice(const char *path, int descriptors[2]) {
    const int flags = O_RDWR | O_CREAT | O_CLOEXEC;
    descriptors[0] = open(path, flags, 0600);
    if (descriptors[0] < 0) { return errno; }
    descriptors[1] = open(path, flags, 0600);
    if (descriptors[1] >= 0) { return 0; }
    int failure = errno;
    close(descriptors[0]);
    return failure;
}

static void close_both(const int descriptors[2]) {
    close(descriptors[1]);
    close(descriptors[0]);
}

int cmachine_try_record_lock(const char *path) {
    int descriptors[2];
    int failure = open_twice(path, descriptors);
    if (failure != 0) { return failure; }
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
    struct flock seen = lock;
    if (fcntl(descriptors[0], F_SETLK, &lock) != 0) {
        failure = errno;
    } else if (fcntl(descriptors[1], F_OFD_GETLK, &seen) != 0) {
        // A process does not conflict with its own locks, but an open file description's lock does, which is why
        // F_OFD_GETLK is used.
        failure = errno;
    } else if (seen.l_type == F_UNLCK) {
        failure = CMACHINE_LOCK_UNSEEN;
    }
    close_both(descriptors);
    return failure;
}

int cmachine_try_file_lock(const char *path) {
    int descriptors[2];
    int failure = open_twice(path, descriptors);
    if (failure != 0) { return failure; }
    if (flock(descriptors[0], LOCK_EX | LOCK_NB) != 0) {
        failure = errno;
    } else if (flock(descriptors[1], LOCK_EX | LOCK_NB) == 0) {
        failure = CMACHINE_LOCK_UNSEEN;
    } else if (errno != EWOULDBLOCK) {
        failure = errno;
    }
    close_both(descriptors);
    return failure;
}
