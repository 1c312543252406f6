// File handling for a guest in another program.
//
// The program owns its descriptors: it may close unknown ones, and then open its own files under the same numbers. It
// also owns its signals and its working directory. Files are therefore named by absolute paths, recognized by their
// identity rather than by their descriptors, and written without a signal reaching the program.

#ifndef FAULTLINE_FILES_H
#define FAULTLINE_FILES_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// The identity of a file, independent of its name.
typedef struct fl_identity {
    uint64_t device;
    uint64_t inode;
} fl_identity;

static inline bool fl_is_same(fl_identity one, fl_identity other) {
    return one.device == other.device && one.inode == other.inode;
}

// False with errno set if there is no such descriptor.
bool fl_identify(int descriptor, fl_identity *identity);

// The first number for descriptors that stay open, out of the way of a program that counts its own from 3.
#define FL_DESCRIPTOR_APART 512

// Opens a file with close-on-exec, at a descriptor of at least `least` if one is available. Never at 0, 1 or 2: a
// program that has closed one of them could write its terminal output into the file. Returns -1 with errno set.
int fl_open_apart(const char *path, int flags, mode_t mode, int least);

// The path with its directory resolved, which stays valid when the program changes its directory. Null with errno set.
char *fl_absolute_path(const char *path);

// Between begin and end, SIGXFSZ and SIGPIPE from writing do not reach the program. Both calls preserve errno.
typedef struct fl_quiet {
    sigset_t before;
    sigset_t ours;
} fl_quiet;

void fl_quiet_begin(fl_quiet *quiet);
void fl_quiet_end(const fl_quiet *quiet);

// MARK: - The mapped file

// The file is open only while a part of it is being mapped.
typedef struct fl_ring_file {
    char *path;   // null: memory of this process only
    fl_identity identity;
} fl_ring_file;

// Opens the file if it is still the same one; -1 with errno set.
int fl_ring_file_open(const fl_ring_file *file);

#endif
