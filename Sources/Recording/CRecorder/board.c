#define _GNU_SOURCE
#include "faultline_guest.h"
#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "faultline_recorder.h"

// The message of a recording's processes to its collector if they cannot create rings: a file that each of them maps when it
// begins, while it still may. Later it may have given up its rights, or its descriptors.

typedef struct board {
    _Atomic uint32_t refusals;  // processes without rings
    _Atomic int32_t failure;    // the errno of the last one
} board;

#define BOARD_BYTES 4096

static _Atomic(board *) own;

static bool put_path(char path[PATH_MAX], const char *directory, const char *name) {
    int length = snprintf(path, PATH_MAX, "%s/%s", directory, name);
    return length > 0 && length < PATH_MAX;
}

// Null if there is none, or if it may not be opened.
static board *map_board(const char *directory) {
    char path[PATH_MAX];
    struct stat status;
    if (!put_path(path, directory, FL_BOARD_NAME)) { return NULL; }
    int file = fl_open_apart(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0, 3);
    if (file < 0) { return NULL; }
    bool is_board = fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == BOARD_BYTES;
    void *memory = is_board ? mmap(NULL, BOARD_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    close(file);
    return memory == MAP_FAILED ? NULL : memory;
}

bool fl_make_board(const char *directory) {
    char path[PATH_MAX];
    if (!put_path(path, directory, FL_BOARD_NAME)) { return false; }
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) { return false; }
    // Its space is reserved, because a page that the disk has no room for would end the process that writes it.
    fl_quiet quiet;
    fl_quiet_begin(&quiet);
    int failure = posix_fallocate(file, 0, BOARD_BYTES);
    fl_quiet_end(&quiet);
    close(file);
    errno = failure;
    return failure == 0;
}

void fl_open_board(const char *directory) {
    int saved = errno, before = fl_shield();
    if (atomic_load(&own) == NULL) { atomic_store(&own, map_board(directory)); }
    fl_unshield(before);
    errno = saved;
}

void fl_refuse(const char *directory, int failure) {
    board *mapped = atomic_load(&own), *board = mapped != NULL ? mapped : map_board(directory);
    if (board == NULL) { return; }
    atomic_store(&board->failure, failure);
    atomic_fetch_add(&board->refusals, 1);
    if (mapped == NULL) { munmap(board, BOARD_BYTES); }
}

uint32_t fl_refusals(const char *directory, int *failure) {
    board *board = map_board(directory);
    if (board == NULL) { return 0; }
    uint32_t refusals = atomic_load(&board->refusals);
    *failure = atomic_load(&board->failure);
    munmap(board, BOARD_BYTES);
    return refusals;
}

// MARK: - Giving up rights

// Gives a process's rings to a user, so that it can enlarge them. They have its number in their names.
static void give_rings(const char *directory, uid_t user) {
    char prefix[64], path[PATH_MAX];
    size_t length = (size_t)snprintf(prefix, sizeof prefix, FL_RINGS_PREFIX "%d-", getpid());
    DIR *entries = opendir(directory);
    for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
        bool is_own = strncmp(entry->d_name, prefix, length) == 0 && put_path(path, directory, entry->d_name);
        if (is_own && lchown(path, user, (gid_t)-1) != 0) { break; }
    }
    if (entries != NULL) { closedir(entries); }
}

void fl_admit(const char *directory, uid_t user) {
    char path[PATH_MAX];
    struct stat status;
    int saved = errno, before = fl_shield();
    bool may_admit = geteuid() == 0 && user != 0 && user != (uid_t)-1 && lstat(directory, &status) == 0
        && S_ISDIR(status.st_mode) && status.st_uid == 0;
    if (may_admit) {
        give_rings(directory, user);
        // Others may open what they know the name of. The new group, which is set before the user, may add files.
        bool is_admitted = lchown(directory, (uid_t)-1, getegid()) == 0 && chmod(directory, S_ISVTX | 0731) == 0;
        if (is_admitted && put_path(path, directory, FL_BOARD_NAME)) { chmod(path, 0666); }
    }
    fl_unshield(before);
    errno = saved;
}
