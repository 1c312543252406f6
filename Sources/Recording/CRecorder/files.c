#define _GNU_SOURCE
#include "files.h"
#include "faultline_recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

const char *fl_environment(const char *name) { return secure_getenv(name); }

bool fl_environment_is_trusted(void) { return getauxval(AT_SECURE) == 0; }

// MARK: - Files

bool fl_identify(int descriptor, fl_identity *identity) {
    struct stat status;
    if (fstat(descriptor, &status) != 0) { return false; }
    *identity = (fl_identity){.device = status.st_dev, .inode = status.st_ino};
    return true;
}

// Duplicates a descriptor to a number beyond the program's limit, which leaves the program all the descriptors it may
// have. The limit applies to new numbers (RLIMIT_NOFILE in getrlimit(2)), and is raised for a moment. -1 if the hard
// limit forbids it.
static int duplicate_beyond_limit(int descriptor) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > INT_MAX / 2) { return -1; }
    // By more than one, because there may be other duplicates.
    struct rlimit more = {.rlim_cur = limit.rlim_cur + 16, .rlim_max = limit.rlim_max};
    if (more.rlim_cur > more.rlim_max) { more.rlim_cur = more.rlim_max; }
    if (more.rlim_cur == limit.rlim_cur) { return -1; }
    if (setrlimit(RLIMIT_NOFILE, &more) != 0) { return -1; }
    int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, (int)limit.rlim_cur);
    setrlimit(RLIMIT_NOFILE, &limit);
    return copy;
}

int fl_open_apart(const char *path, int flags, mode_t mode, int least) {
    int descriptor = open(path, flags | O_CLOEXEC, mode);
    if (descriptor < 0 || descriptor >= least) { return descriptor; }
    int apart = fcntl(descriptor, F_DUPFD_CLOEXEC, least);
    if (apart < 0 && least > 3) { apart = duplicate_beyond_limit(descriptor); }
    // If such high numbers are not allowed, any but the first three is acceptable.
    if (apart < 0 && descriptor >= 3) { return descriptor; }
    if (apart < 0) { apart = fcntl(descriptor, F_DUPFD_CLOEXEC, 3); }
    int failure = errno;
    close(descriptor);
    errno = failure;
    return apart;
}

char *fl_absolute_path(const char *path) {
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    char directory[PATH_MAX];
    size_t length = slash == NULL ? 1 : slash == path ? 1 : (size_t)(slash - path);
    if (length >= sizeof directory) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    memcpy(directory, slash == NULL ? "." : path, length);
    directory[length] = 0;
    char *resolved = realpath(directory, NULL);
    if (resolved == NULL) { return NULL; }
    size_t used = strlen(resolved);
    char *absolute = realloc(resolved, used + strlen(name) + 2);
    if (absolute == NULL) {
        free(resolved);
        return NULL;
    }
    if (used == 0 || absolute[used - 1] != '/') { absolute[used++] = '/'; }
    memcpy(absolute + used, name, strlen(name) + 1);
    return absolute;
}

int fl_ring_file_open(const fl_ring_file *file) {
    int descriptor = fl_open_apart(file->path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0, 3);
    if (descriptor < 0) { return -1; }
    fl_identity identity;
    if (fl_identify(descriptor, &identity) && fl_is_same(identity, file->identity)) { return descriptor; }
    close(descriptor);
    errno = ESTALE;
    return -1;
}

// MARK: - Signals

void fl_quiet_begin(fl_quiet *quiet) {
    int saved = errno;
    sigset_t pending;
    sigemptyset(&quiet->ours);
    sigaddset(&quiet->ours, SIGXFSZ);
    sigaddset(&quiet->ours, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &quiet->ours, &quiet->before);
    // A signal that is already pending belongs to the program.
    sigpending(&pending);
    if (sigismember(&pending, SIGXFSZ) == 1) { sigdelset(&quiet->ours, SIGXFSZ); }
    if (sigismember(&pending, SIGPIPE) == 1) { sigdelset(&quiet->ours, SIGPIPE); }
    errno = saved;
}

void fl_quiet_end(const fl_quiet *quiet) {
    int saved = errno;
    const struct timespec now = {0, 0};
    while (sigtimedwait(&quiet->ours, NULL, &now) > 0 || errno == EINTR) {}
    // Signals are unblocked one by one: the mask before could contain others that were blocked since.
    for (int index = 0; index < 2; index++) {
        int signal = index == 0 ? SIGXFSZ : SIGPIPE;
        if (sigismember(&quiet->before, signal) == 1) { continue; }
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, signal);
        pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    }
    errno = saved;
}

void fl_write_quietly(int descriptor, const char *bytes, size_t length) {
    int saved = errno;
    fl_quiet quiet;
    fl_quiet_begin(&quiet);
    while (length > 0) {
        ssize_t count = write(descriptor, bytes, length);
        if (count > 0) {
            bytes += count;
            length -= (size_t)count;
        } else if (count == 0 || errno != EINTR) {
            break;
        }
    }
    fl_quiet_end(&quiet);
    errno = saved;
}
