// Files as a guest in somebody else's program has to treat them.
//
// The program owns its descriptors: it may close those that it does not know, and open files of its own that get
// their numbers. It owns its signals and its directory, too. So files are named by absolute paths, told apart by
// what they are instead of by their descriptors, and written without a signal reaching the program.

#ifndef FAULTLINE_FILES_H
#define FAULTLINE_FILES_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// Which file it is, whatever its name.
typedef struct fl_identity {
    uint64_t device;
    uint64_t inode;
} fl_identity;

static inline bool fl_is_same(fl_identity one, fl_identity other) {
    return one.device == other.device && one.inode == other.inode;
}

// False with errno set if there is no such descriptor.
bool fl_identify(int descriptor, fl_identity *identity);

// Where descriptors that stay open go: programs count theirs from 3 on.
#define FL_DESCRIPTOR_APART 512

// Opens a file that no command inherits, at a descriptor of at least `least` where there is one, and never at 0, 1
// or 2, to which a program writes what was meant for its terminal. -1 with errno set.
int fl_open_apart(const char *path, int flags, mode_t mode, int least);

// The path with its directory resolved, so that it holds wherever the program goes. Null with errno set.
char *fl_absolute_path(const char *path);

// SIGXFSZ and SIGPIPE, which come from writing, are kept from the program in between. errno stays as it is.
typedef struct fl_quiet {
    sigset_t before;
    sigset_t ours;
} fl_quiet;

void fl_quiet_begin(fl_quiet *quiet);
void fl_quiet_end(const fl_quiet *quiet);

// MARK: - The mapped file

// It is opened for as long as it takes to map a part of it, and no longer.
typedef struct fl_ring_file {
    char *path;   // null: memory of this process only
    fl_identity identity;
} fl_ring_file;

// A descriptor of the file, if it is still the one that was meant; -1 with errno set.
int fl_ring_file_open(const fl_ring_file *file);

#endif
