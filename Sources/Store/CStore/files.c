#define _GNU_SOURCE
#include "cstore.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

int cstore_rename_to_new(const char *from, const char *to) {
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
    // Not every file system knows the flag (https://man7.org/linux/man-pages/man2/rename.2.html).
    if (errno != EINVAL && errno != ENOSYS) return -1;
    if (link(from, to) == 0) return unlink(from);
    if (errno != EPERM) return -1;
    // A folder has no second link, but it replaces an empty folder at most. The slash keeps this from files.
    char folder[PATH_MAX];
    int length = snprintf(folder, sizeof folder, "%s/", from);
    if (length < 0 || (size_t)length >= sizeof folder) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return rename(folder, to);
}
