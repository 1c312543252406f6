#define _GNU_SOURCE
#include "originals.h"
#include "preload.h"

// Counts the reads, writes and syncs of SQLite's runs of statements. SQLite calls these functions by
// their names in the C library. Calls of the program itself pass through.

// The counters of the statement that this thread runs, if SQLite calls and not the program; otherwise null.
static preload_io *running_io(const void *caller) {
    const preload_copy *copy;
    preload_statement *statement = preload_running(&copy);
    return statement == NULL || !preload_is_inside(copy, caller) ? NULL : &statement->io;
}

// SQLite writes a page to a write-ahead log after a header of this size (https://sqlite.org/fileformat2.html#walformat).
#define PAGE_HEADER 24

static void count_read(preload_io *io, size_t count, uint64_t offset) {
    (void)count, (void)offset;
    io->reads++;
}

static void count_write(preload_io *io, size_t count, uint64_t offset) {
    io->writes++;
    if (offset == io->page && offset != 0) { io->log = offset + count; }
    io->page = count == PAGE_HEADER ? offset + count : 0;
}

#define DEFINE_TRANSFER(name, type, offset_type, counted) \
    EXPORT ssize_t name(int descriptor, type bytes, size_t count, offset_type offset) { \
        preload_io *io = running_io(CALLER); \
        if (io != NULL) { counted(io, count, (uint64_t)offset); } \
        return ORIGINAL(name)(descriptor, bytes, count, offset); \
    }

DEFINE_TRANSFER(pread, void *, off_t, count_read)
DEFINE_TRANSFER(pread64, void *, off64_t, count_read)
DEFINE_TRANSFER(pwrite, const void *, off_t, count_write)
DEFINE_TRANSFER(pwrite64, const void *, off64_t, count_write)

#define DEFINE_SYNC(name) \
    EXPORT int name(int descriptor) { \
        preload_io *io = running_io(CALLER); \
        if (io == NULL) { return ORIGINAL(name)(descriptor); } \
        uint64_t start = fl_now(); \
        int result = ORIGINAL(name)(descriptor); \
        io->sync_time += fl_now() - start; \
        io->syncs++; \
        return result; \
    }

DEFINE_SYNC(fsync)
DEFINE_SYNC(fdatasync)
