#define _GNU_SOURCE
#include "timeline.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// The size of the buffer for cutting lines off a trace on a full disk: the length to cut off and one line.
#define ROOM_BYTES (FL_LINE_BYTES + (8u << 10))

// The number of attempts, a millisecond apart, to reopen a file that the program has closed.
#define REOPENING_ATTEMPTS 1000

// MARK: - Opening

// Opens the file. If `is_new` is not null, a missing file is created. -1 with errno set; ENOTSUP if it is not a
// regular file.
static int open_file(const char *path, bool *is_new) {
    struct stat status;
    // Opening a device can act on it, so the type is checked first.
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        errno = ENOTSUP;
        return -1;
    }
    const int flags = O_RDWR | O_NONBLOCK | O_NOCTTY;
    int descriptor = -1;
    errno = EEXIST;
    // Only the owner can read it, since a trace may contain values.
    if (is_new != NULL) { descriptor = fl_open_apart(path, flags | O_CREAT | O_EXCL, 0600, FL_DESCRIPTOR_APART); }
    if (descriptor >= 0) { *is_new = true; }
    if (descriptor < 0 && errno == EEXIST) {
        descriptor = fl_open_apart(path, flags, 0, FL_DESCRIPTOR_APART);
        if (descriptor < 0 && errno == ENOENT && is_new != NULL) {
            // A link to a file that does not exist yet.
            descriptor = fl_open_apart(path, flags | O_CREAT, 0600, FL_DESCRIPTOR_APART);
            *is_new = descriptor >= 0;
        }
    }
    if (descriptor >= 0 && (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))) {
        close(descriptor);
        errno = ENOTSUP;
        return -1;
    }
    return descriptor;
}

// Opens a timeline and locks its file, because two writers would overwrite each other. The lock ends with its process,
// however that ends.
static fl_timeline *open_locked(const char *path, bool may_make) {
    bool is_new = false, is_locked = false;
    int descriptor = open_file(path, may_make ? &is_new : NULL);
    if (descriptor < 0) { return NULL; }
    fl_timeline *timeline = calloc(1, sizeof *timeline);
    is_locked = timeline != NULL && flock(descriptor, LOCK_EX | LOCK_NB) == 0;
    if (!is_locked || !fl_identify(descriptor, &timeline->identity)
        || (timeline->path = realpath(path, NULL)) == NULL) {
        int failure = errno;
        // If another process locked the file first, it belongs to that process.
        if (is_new && is_locked) { unlink(path); }
        close(descriptor);
        free(timeline);
        errno = failure;
        return NULL;
    }
    timeline->descriptor = descriptor;
    timeline->is_new = is_new;
    return timeline;
}

// The size of the file; -1 with errno set.
static off_t size_of(const fl_timeline *timeline) {
    struct stat status;
    return fstat(timeline->descriptor, &status) == 0 ? status.st_size : -1;
}

uint64_t fl_timeline_length(const fl_timeline *timeline) {
    off_t size = size_of(timeline);
    return size < 0 ? 0 : (uint64_t)size;
}

fl_timeline *fl_timeline_open(const char *path) {
    fl_timeline *timeline = open_locked(path, true);
    if (timeline == NULL) { return NULL; }
    // Read under the lock, to count what another process has just written.
    off_t size = size_of(timeline);
    if (size != 0) {
        int failure = size < 0 ? errno : EEXIST;
        fl_timeline_discard(timeline);
        errno = failure;
        return NULL;
    }
    fl_timeline_continue(timeline, 0);
    timeline->is_tentative = false;
    return timeline;
}

fl_timeline *fl_timeline_lock(const char *path) { return open_locked(path, false); }

bool fl_timeline_continue(fl_timeline *timeline, uint64_t offset) {
    off_t size = size_of(timeline);
    if (size < 0) { return false; }
    if (offset > (uint64_t)size) {
        errno = ERANGE;
        return false;
    }
    timeline->is_tentative = true;
    timeline->first_offset = timeline->offset = offset;
    if (offset == 0) {
        memcpy(timeline->buffer, "[\n", 2);
        timeline->used = 2;
    }
    return true;
}

fl_identity fl_timeline_identity(const fl_timeline *timeline) { return timeline->identity; }

// Reopens and locks the file. False with errno set; EBADF, EWOULDBLOCK, EMFILE and ENFILE may be temporary.
static bool reopen(fl_timeline *timeline) {
    fl_identity found;
    int descriptor = fl_open_apart(timeline->path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0, FL_DESCRIPTOR_APART);
    if (descriptor < 0) { return false; }
    if (!fl_identify(descriptor, &found)) {
        errno = EBADF;
        return false;
    }
    bool is_locked = timeline->lock != NULL;
    if (fl_is_same(found, timeline->identity) && (is_locked || flock(descriptor, LOCK_EX | LOCK_NB) == 0)) {
        timeline->descriptor = descriptor;
        return true;
    }
    int failure = fl_is_same(found, timeline->identity) ? errno : ESTALE;
    close(descriptor);
    errno = failure;
    return false;
}

// Whether the descriptor refers to the file. If the program has closed it, the file is reopened; the descriptor that
// now has its number belongs to the program and stays open.
static bool is_at_hand(fl_timeline *timeline) {
    fl_identity found;
    if (timeline->is_gone) { return false; }
    if (fl_identify(timeline->descriptor, &found) && fl_is_same(found, timeline->identity)) { return true; }
    // A thread that is closing every descriptor may close the new one too, a lock lasts until the call that closed its
    // file returns, and a program may use all its descriptors for a moment.
    const struct timespec pause = {0, 1000000};
    for (int attempt = 0; attempt < REOPENING_ATTEMPTS; attempt++) {
        if (reopen(timeline)) { return true; }
        if (errno != EBADF && errno != EWOULDBLOCK && errno != EMFILE && errno != ENFILE) { break; }
        nanosleep(&pause, NULL);
    }
    timeline->descriptor = -1;
    timeline->is_gone = true;
    timeline->error = ESTALE;
    return false;
}

// MARK: - Resting

// Whether the descriptor counts toward the program's limit.
static bool is_scarce(int descriptor) {
    struct rlimit limit;
    return descriptor >= 0 && descriptor < FL_DESCRIPTOR_APART && getrlimit(RLIMIT_NOFILE, &limit) == 0
        && (rlim_t)descriptor < limit.rlim_cur;
}

// Closes the descriptor if it still refers to the file.
static void close_descriptor(fl_timeline *timeline) {
    fl_identity found;
    if (fl_identify(timeline->descriptor, &found) && fl_is_same(found, timeline->identity)) {
        close(timeline->descriptor);
    }
    timeline->descriptor = -1;
}

void fl_timeline_rest(fl_timeline *timeline) {
    fl_identity found;
    if (!is_scarce(timeline->descriptor)) { return; }
    if (!fl_identify(timeline->descriptor, &found) || !fl_is_same(found, timeline->identity)) { return; }
    if (timeline->lock == NULL) {
        void *lock = mmap(NULL, FL_PAGE, PROT_NONE, MAP_SHARED, timeline->descriptor, 0);
        if (lock == MAP_FAILED) { return; }
        // A forked child would keep the lock.
        if (madvise(lock, FL_PAGE, MADV_DONTFORK) != 0) {
            munmap(lock, FL_PAGE);
            return;
        }
        timeline->lock = lock;
    }
    close_descriptor(timeline);
}

bool fl_timeline_is_resting(const fl_timeline *timeline) {
    return timeline->descriptor < 0 && timeline->lock != NULL && !timeline->is_gone;
}

bool fl_timeline_wake(fl_timeline *timeline) {
    if (!fl_timeline_is_resting(timeline) || reopen(timeline)) { return true; }
    return errno != EMFILE && errno != ENFILE;
}

// MARK: - Writing

// Removes the previous contents of the file when the first lines are written.
static bool begin_file(fl_timeline *timeline) {
    if (timeline->is_begun) { return true; }
    if (ftruncate(timeline->descriptor, (off_t)timeline->offset) != 0) {
        timeline->error = errno;
        return false;
    }
    timeline->is_begun = true;
    return true;
}

void fl_timeline_flush(fl_timeline *timeline) {
    if (timeline->used == 0) { return; }
    fl_quiet quiet;
    fl_quiet_begin(&quiet);
    size_t written = 0;
    bool is_writable = is_at_hand(timeline) && begin_file(timeline);
    while (is_writable && written < timeline->used) {
        ssize_t count = pwrite(
            timeline->descriptor, timeline->buffer + written, timeline->used - written,
            (off_t)(timeline->offset + written));
        if (count > 0) {
            written += (size_t)count;
        } else if (count < 0 && errno == EBADF) {
            // The program has just closed it.
            is_writable = is_at_hand(timeline);
        } else if (count == 0 || errno != EINTR) {
            timeline->error = count < 0 ? errno : ENOSPC;
            break;
        }
    }
    if (written < timeline->used) {
        // Keep whole lines only.
        size_t whole = written;
        while (whole > 0 && timeline->buffer[whole - 1] != '\n') { whole--; }
        for (size_t index = whole; index < timeline->used; index++) {
            if (timeline->buffer[index] == '\n') { timeline->unwritten++; }
        }
        written = whole;
        // If this fails, the next lines overwrite the partial line.
        if (is_writable && ftruncate(timeline->descriptor, (off_t)(timeline->offset + whole)) != 0) { errno = 0; }
    }
    timeline->offset += written;
    timeline->used = 0;
    fl_quiet_end(&quiet);
}

void fl_timeline_make_room(fl_timeline *timeline, uint64_t bytes) {
    uint64_t target = timeline->offset > bytes ? timeline->offset - bytes : 0;
    uint64_t start = target > FL_LINE_BYTES ? target - FL_LINE_BYTES : 0;
    uint64_t wanted = timeline->offset - start;
    if (!is_at_hand(timeline) || wanted > ROOM_BYTES) { return; }
    char *text = malloc(ROOM_BYTES);
    if (text == NULL) { return; }
    ssize_t length = pread(timeline->descriptor, text, (size_t)wanted, (off_t)start);
    ssize_t keep = (ssize_t)(target - start);
    while (keep > 0 && (keep > length || text[keep - 1] != '\n')) { keep--; }
    if (keep > 0 && ftruncate(timeline->descriptor, (off_t)(start + (uint64_t)keep)) == 0) {
        for (ssize_t index = keep; index < length; index++) {
            if (text[index] == '\n') { timeline->unwritten++; }
        }
        timeline->offset = start + (uint64_t)keep;
    }
    free(text);
}

// MARK: - Closing

static void free_timeline(fl_timeline *timeline) {
    while (timeline->names != NULL) { fl_timeline_forget_names(timeline, timeline->names->process); }
    if (timeline->lock != NULL) { munmap(timeline->lock, FL_PAGE); }
    free(timeline->begun);
    free(timeline->path);
    free(timeline);
}

uint64_t fl_timeline_finish(fl_timeline *timeline, int *error) {
    fl_timeline_flush(timeline);
    // The bracket replaces the last line's comma, which makes the file valid JSON.
    char tail[2];
    if (timeline->offset >= 4 && is_at_hand(timeline)
        && pread(timeline->descriptor, tail, 2, (off_t)timeline->offset - 2) == 2 && memcmp(tail, ",\n", 2) == 0) {
        timeline->offset -= 2;
        memcpy(timeline->buffer, "\n]\n", 3);
        timeline->used = 3;
    } else {
        memcpy(timeline->buffer, "]\n", 2);
        timeline->used = 2;
    }
    fl_timeline_flush(timeline);
    if (error != NULL) { *error = timeline->error; }
    return timeline->unwritten;
}

void fl_timeline_close(fl_timeline *timeline) {
    close_descriptor(timeline);
    free_timeline(timeline);
}

void fl_timeline_discard(fl_timeline *timeline) {
    if (is_at_hand(timeline) && timeline->is_new && size_of(timeline) == 0) { unlink(timeline->path); }
    fl_timeline_close(timeline);
}

void fl_timeline_undo(fl_timeline *timeline) {
    // If this fails, the events are still in the rings.
    if (timeline->is_begun && is_at_hand(timeline)
        && ftruncate(timeline->descriptor, (off_t)timeline->first_offset) != 0) {
        errno = 0;
    }
    fl_timeline_close(timeline);
}

void fl_timeline_abandon(fl_timeline *timeline) {
    close_descriptor(timeline);
    // The child did not inherit the mapping.
    timeline->lock = NULL;
    timeline->is_gone = true;
}
