#define _GNU_SOURCE
#include "timeline_selection.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// Shortening a timeline: a copy without the oldest events takes the place of the file. Whoever reads the file meanwhile, or
// finds it after this process was killed, has the longer one or the shorter one.

// The name of a copy is short, because that of the timeline may be as long as a name can be.
#define COPY_PREFIX ".faultline-shorter-"

// The number of names to try for a copy.
#define NAMES 16

typedef struct copy {
    int descriptor;
    char *name;   // null: none
    fl_identity identity;
} copy;

// MARK: - Left copies

// The length of the path of the timeline's directory, with its slash. The path is absolute.
static int directory_length(const fl_timeline *timeline) {
    return (int)(strrchr(timeline->path, '/') + 1 - timeline->path);
}

// Whether a file is a copy that no process is writing.
static bool is_left(int directory, const char *name) {
    struct stat status;
    // Opening a device can act on it, so the type is checked first.
    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0) { return false; }
    if (!S_ISREG(status.st_mode) || status.st_uid != geteuid()) { return false; }
    int descriptor = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool is_left = descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0;
    char beginning[2];
    if (is_left && status.st_size > 0) {
        is_left = pread(descriptor, beginning, 2, 0) == 2 && memcmp(beginning, "[\n", 2) == 0;
    }
    if (descriptor >= 0) { close(descriptor); }
    return is_left;
}

void fl_timeline_remove_copies(const fl_timeline *timeline) {
    char *path = strndup(timeline->path, (size_t)directory_length(timeline));
    DIR *directory = path == NULL ? NULL : opendir(path);
    free(path);
    if (directory == NULL) { return; }
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        bool may_be = strncmp(entry->d_name, COPY_PREFIX, strlen(COPY_PREFIX)) == 0;
        if (may_be && is_left(dirfd(directory), entry->d_name)) { unlinkat(dirfd(directory), entry->d_name, 0); }
    }
    closedir(directory);
}

// MARK: - The copy

// Whether a path leads to a file. False with errno set: ESTALE if it leads to another one.
static bool names(const char *path, fl_identity file) {
    struct stat status;
    if (lstat(path, &status) != 0) { return false; }
    if (fl_is_same((fl_identity){.device = status.st_dev, .inode = status.st_ino}, file)) { return true; }
    errno = ESTALE;
    return false;
}

static void drop(copy *copy) {
    int failure = errno;
    if (copy->descriptor >= 0) {
        if (names(copy->name, copy->identity)) { unlink(copy->name); }
        close(copy->descriptor);
    }
    free(copy->name);
    *copy = (struct copy){.descriptor = -1};
    errno = failure;
}

// Creates an empty file beside the timeline, with its owner and mode, and locks it. False with errno set: EMLINK if the
// timeline has another name, which would keep the long file.
static bool open_copy(const fl_timeline *timeline, copy *copy) {
    struct stat status, made;
    *copy = (struct copy){.descriptor = -1};
    // Checked here too, before the work of copying.
    if (!names(timeline->path, timeline->identity) || fstat(timeline->descriptor, &status) != 0) { return false; }
    if (status.st_nlink > 1) {
        errno = EMLINK;
        return false;
    }
    for (int attempt = 0; attempt < NAMES; attempt++) {
        int length = directory_length(timeline);
        if (asprintf(&copy->name, "%.*s" COPY_PREFIX "%d-%d", length, timeline->path, (int)getpid(), attempt) < 0) {
            copy->name = NULL;
            return false;
        }
        copy->descriptor = fl_open_apart(copy->name, O_RDWR | O_CREAT | O_EXCL, 0600, FL_DESCRIPTOR_APART);
        bool is_good = copy->descriptor >= 0 && fl_identify(copy->descriptor, &copy->identity);
        // Locked before it can be taken for a finished trace. Before that, a process may have removed it as a left one.
        is_good = is_good && flock(copy->descriptor, LOCK_EX | LOCK_NB) == 0;
        if (is_good && names(copy->name, copy->identity)) { break; }
        bool is_taken = copy->descriptor >= 0 || errno == EEXIST;
        drop(copy);
        if (!is_taken) { return false; }
    }
    if (copy->descriptor < 0) { return false; }
    if (fstat(copy->descriptor, &made) != 0) { return false; }
    bool has_owner = made.st_uid == status.st_uid && made.st_gid == status.st_gid;
    return (has_owner || fchown(copy->descriptor, status.st_uid, status.st_gid) == 0)
        && fchmod(copy->descriptor, status.st_mode & 07777) == 0;
}

// Gives the copy the timeline's name, unless another file has taken that place meanwhile. False with errno set.
//
// The two files exchange their names where the file system can do that. The old one can then be checked before it is removed,
// and ext4 does not first write the new one to the disk, as it does when a rename replaces a file.
static bool replace(const fl_timeline *timeline, const copy *copy) {
    if (!names(timeline->path, timeline->identity)) { return false; }
    if (renameat2(AT_FDCWD, copy->name, AT_FDCWD, timeline->path, RENAME_EXCHANGE) != 0) {
        bool is_unsupported = errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
        return is_unsupported && rename(copy->name, timeline->path) == 0;
    }
    if (names(copy->name, timeline->identity)) {
        unlink(copy->name);
        return true;
    }
    renameat2(AT_FDCWD, copy->name, AT_FDCWD, timeline->path, RENAME_EXCHANGE);
    errno = ESTALE;
    return false;
}

static void *close_file(void *descriptor) {
    close((int)(intptr_t)descriptor);
    return NULL;
}

// Closes a file without a name on a thread of its own, because the kernel then frees all its pages.
static void close_apart(int descriptor) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, close_file, (void *)(intptr_t)descriptor) == 0) {
        pthread_detach(thread);
    } else {
        close(descriptor);
    }
}

static void go_on_with(fl_timeline *timeline, const copy *copy) {
    close_apart(timeline->descriptor);
    free(copy->name);
    timeline->descriptor = copy->descriptor;
    timeline->identity = copy->identity;
}

bool fl_timeline_limit(fl_timeline *timeline) {
    copy copy;
    fl_timeline_remove_copies(timeline);
    if (!open_copy(timeline, &copy) || !replace(timeline, &copy)) {
        drop(&copy);
        return false;
    }
    go_on_with(timeline, &copy);
    return true;
}

// MARK: - Shortening

uint64_t fl_timeline_size(const fl_timeline *timeline) { return timeline->offset + timeline->used; }

// Notes the trace's file and its length in the mapped files of processes.
static void commit(fl_drain *const *drains, uint32_t count, fl_identity trace, uint64_t offset) {
    for (uint32_t index = 0; index < count; index++) { fl_drain_commit_to(drains[index], trace, offset); }
}

bool fl_timeline_shorten(
    fl_timeline *timeline, uint64_t bytes, fl_drain *const *drains, uint32_t count, uint64_t *drained
) {
    fl_timeline_flush(timeline);
    fl_selection selection = {.timeline = timeline, .drains = drains, .drain_count = count};
    uint64_t removed = timeline->removed;
    copy copy = {.descriptor = -1};
    fl_quiet quiet;
    fl_quiet_begin(&quiet);
    bool is_good = timeline->lock == NULL;   // A timeline that rests is held by a mapping of the old file.
    if (!is_good) { errno = EINVAL; }
    is_good = is_good && open_copy(timeline, &copy);
    if (is_good) {
        selection.copy = copy.descriptor;
        is_good = fl_selection_write(&selection, bytes);
    }
    if (is_good) {
        // Whichever file has the name if this process is killed now, one of the last two commits is for that one.
        commit(drains, count, copy.identity, selection.written);
        is_good = replace(timeline, &copy);
    }
    fl_quiet_end(&quiet);
    if (is_good) {
        go_on_with(timeline, &copy);
        timeline->offset = selection.written;
        for (uint32_t index = 0; index < count; index++) {
            fl_drain_begin(drains[index], copy.identity, timeline->path, fl_drain_process(drains[index]).process);
        }
    } else {
        int failure = errno;
        timeline->removed = removed;
        commit(drains, count, timeline->identity, timeline->offset);
        errno = failure;
        drop(&copy);
    }
    *drained = selection.drained;
    int failure = errno;
    fl_selection_free(&selection);
    errno = failure;
    return is_good;
}
