#define _GNU_SOURCE
#include "originals.h"
#include "preload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

// Waits for SQLite's lock on a file. SQLite sleeps between its attempts to take it, by usleep or, in later versions, by
// nanosleep. So these show the waits without a busy handler, which would change what the program sees.

// MARK: - Writers

// The connections of this process that hold the write lock of a file, by the hash of the file's path, and their threads.
// The kernel's list of locks does not have them.
#define WRITERS 64

typedef struct writer {
    _Atomic(const sqlite3 *) connection;  // null: none
    _Atomic uint64_t file;
    _Atomic uint32_t thread;
} writer;

static writer writers[WRITERS];

static uint32_t this_thread(void) {
    static _Thread_local __attribute__((tls_model("initial-exec"))) struct { uint32_t number, generation; } known;
    if (known.number == 0 || known.generation != preload_generation()) {
        known.number = (uint32_t)gettid();
        known.generation = preload_generation();
    }
    return known.number;
}

// The path of the main file of a statement's connection; null if it has none. It is asked for anew, because another
// database can take the place of the main one (sqlite3_deserialize).
static const char *path_of(const preload_copy *copy, const preload_statement *statement) {
    if (copy->db_filename == NULL || copy->db_handle == NULL) { return NULL; }
    sqlite3 *connection =
        statement->handle == NULL ? (sqlite3 *)statement->connection : copy->db_handle(statement->handle);
    if (connection == NULL) { return NULL; }
    const char *path = copy->db_filename(connection, "main");
    return path == NULL || *path == 0 ? NULL : path;
}

const char *preload_find_file(const preload_copy *copy, preload_statement *statement) {
    const char *path = path_of(copy, statement);
    statement->connection = path == NULL ? NULL : copy->db_handle(statement->handle);
    statement->file = path == NULL ? 0 : fl_mix_bytes(0, path, strlen(path));
    return path;
}

static writer *writer_of(const preload_statement *statement) { return &writers[statement->file % WRITERS]; }

static void set_writer(const preload_statement *statement) {
    writer *writer = writer_of(statement);
    atomic_store_explicit(&writer->connection, statement->connection, memory_order_relaxed);
    atomic_store_explicit(&writer->thread, this_thread(), memory_order_relaxed);
    atomic_store_explicit(&writer->file, statement->file, memory_order_relaxed);
}

void preload_begin_writing(const preload_statement *statement) {
    // A statement outside any transaction holds the lock while it runs, unless it waits for the one that has it.
    bool is_free = atomic_load_explicit(&writer_of(statement)->connection, memory_order_relaxed) == NULL;
    if (statement->file != 0 && is_free) { set_writer(statement); }
}

void preload_end_writing(const preload_copy *copy, const preload_statement *statement, bool has_failed) {
    if (statement->file == 0 || copy == NULL || copy->get_autocommit == NULL) { return; }
    if (copy->get_autocommit((sqlite3 *)statement->connection) != 0) {
        const sqlite3 *own = statement->connection;
        atomic_compare_exchange_strong(&writer_of(statement)->connection, &own, NULL);
    } else if (!has_failed && !statement->is_read_only) {
        set_writer(statement);
    }
}

// The thread of another connection of this process that holds the write lock; 0 if there is none.
static uint32_t writer_in_process(const preload_statement *statement) {
    const writer *writer = writer_of(statement);
    const sqlite3 *connection = atomic_load_explicit(&writer->connection, memory_order_relaxed);
    if (statement->file == 0 || connection == NULL || connection == statement->connection) { return 0; }
    if (atomic_load_explicit(&writer->file, memory_order_relaxed) != statement->file) { return 0; }
    return atomic_load_explicit(&writer->thread, memory_order_relaxed);
}

// MARK: - Locks of other processes

// The bytes that a writer locks: of the file, the one for the intention to write; of the file beside it that
// coordinates the write-ahead log, the one for the writer (https://sqlite.org/walformat.html).
#define RESERVED_BYTE 0x40000001u
#define WAL_WRITE_BYTE 120u
#define LOCKS_BYTES 65536

static bool is_lock_of(const char *line, const struct stat *file, uint64_t byte, uint32_t *process) {
    unsigned id;
    unsigned long long inode, first, last;
    char end[24];
    // "1: POSIX  ADVISORY  WRITE 4711 08:01:1234 120 120"; the last byte can be "EOF".
    int found = sscanf(
        line, "%*u: POSIX %*s WRITE %u %*x:%*x:%llu %llu %23s", &id, &inode, &first, end);
    // The device is not compared, because some file systems show programs another one than the kernel's list.
    if (found != 4 || inode != file->st_ino) { return false; }
    last = strcmp(end, "EOF") == 0 ? UINT64_MAX : strtoull(end, NULL, 10);
    if (first > byte || last < byte) { return false; }
    *process = id;
    return true;
}

// The process that holds the write lock of a file, from the kernel's list of locks: opening the file itself to ask for
// its locks would release those of this process. 0 if it is not known, or is this one.
static uint32_t writer_elsewhere(const char *path) {
    struct stat file, log = {0};
    char name[4096 + 8];
    if (stat(path, &file) != 0 || strlen(path) > 4096) { return 0; }
    bool has_log = stat(strcat(strcpy(name, path), "-shm"), &log) == 0;
    int descriptor = open("/proc/locks", O_RDONLY | O_CLOEXEC);
    char *list = descriptor < 0 ? NULL : malloc(LOCKS_BYTES);
    size_t used = 0;
    uint32_t process = 0;
    for (ssize_t size = 0; list != NULL && used < LOCKS_BYTES - 1; used += (size_t)size) {
        size = read(descriptor, list + used, LOCKS_BYTES - 1 - used);
        if (size <= 0) { break; }
    }
    if (descriptor >= 0) { close(descriptor); }
    if (list == NULL) { return 0; }
    list[used] = 0;
    for (char *rest = list, *line; process == 0 && (line = strsep(&rest, "\n")) != NULL;) {
        bool found = is_lock_of(line, &file, RESERVED_BYTE, &process)
            || (has_log && is_lock_of(line, &log, WAL_WRITE_BYTE, &process));
        if (!found) { process = 0; }
    }
    free(list);
    return process == (uint32_t)getpid() ? 0 : process;
}

// MARK: - Waits

void preload_end_waits(
    fl_recorder *recorder, preload_statement *statement, int result, const fl_measured *event, uint64_t id
) {
    bool has_failed = (result & 0xFF) == SQLITE_BUSY;
    preload_wait *wait = &statement->wait;
    if (wait->tries == 0 && !has_failed) { return; }
    if (wait->tries == 0) { wait->owner_thread = writer_in_process(statement); }
    int64_t resource = fl_enumeration_value(FL_ENUMERATION_WAIT_RESOURCE, "sqlite", strlen("sqlite"));
    fl_wait fields = {
        .resource = (uint32_t)resource, .isBlocking = true, .tries = wait->tries,
        .error = has_failed ? (uint32_t)result : 0, .ownerThread = wait->owner_thread,
        .ownerProcess = wait->owner_process,
    };
    // The clocks differ slightly, and the wait is a part of the statement.
    uint64_t last = event->start + event->duration, start = event->start, end = event->start;
    if (wait->tries > 0) {
        start = wait->start < start ? start : wait->start < last ? wait->start : last;
        end = wait->end < last ? wait->end : last;
    }
    fl_measured measured = {
        .start = start, .duration = end > start ? end - start : 1, .parent = id, .stack = event->stack,
        .is_stack_truncated = event->is_stack_truncated,
    };
    fl_record_measured(recorder, FL_EVENT_WAIT, &fields, &measured);
}

// The sleeps before which a wait's owner is looked for. The kernel's list of locks can lack a lock while others are taken
// and released, because it is read in parts.
#define OWNER_ATTEMPTS 4

typedef struct search {
    const preload_copy *copy;
    preload_statement *statement;
} search;

// The owner is looked for while it still has the lock.
static void find_owner(void *context) {
    const search *search = context;
    preload_wait *wait = &search->statement->wait;
    const char *path = path_of(search->copy, search->statement);
    if (path != NULL) { wait->owner_process = writer_elsewhere(path); }
    if (wait->owner_process == 0) { wait->owner_thread = writer_in_process(search->statement); }
}

// The wait of the statement that this thread runs, if SQLite sleeps and not the program; otherwise null.
static preload_wait *begin_sleep(const void *caller) {
    const preload_copy *copy;
    preload_statement *statement = preload_running(&copy);
    if (statement == NULL || !preload_is_inside(copy, caller)) { return NULL; }
    preload_wait *wait = &statement->wait;
    if (wait->tries++ == 0) { wait->start = fl_now(); }
    bool is_known = wait->owner_process != 0 || wait->owner_thread != 0;
    if (is_known || wait->tries > OWNER_ATTEMPTS) { return wait; }
    int saved = errno, before = fl_shield();
    search search = {.copy = copy, .statement = statement};
    fl_with_room(find_owner, &search);
    fl_unshield(before);
    errno = saved;
    return wait;
}

static void end_sleep(preload_wait *wait) {
    if (wait != NULL) { wait->end = fl_now(); }
}

EXPORT int usleep(useconds_t microseconds) {
    preload_wait *wait = begin_sleep(CALLER);
    int result = ORIGINAL(usleep)(microseconds);
    end_sleep(wait);
    return result;
}

EXPORT int nanosleep(const struct timespec *time, struct timespec *rest) {
    preload_wait *wait = begin_sleep(CALLER);
    int result = ORIGINAL(nanosleep)(time, rest);
    end_sleep(wait);
    return result;
}
