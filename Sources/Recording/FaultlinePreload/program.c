#define _GNU_SOURCE
#include "faultline_preload.h"
#include "originals.h"
#include "preload.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

// MARK: - Starting and stopping

static fl_lock lock = FL_LOCK_FREE;
static _Atomic(fl_recorder *) recorder;
static _Atomic bool is_decided;
// Whether the program records itself, and its forked children are not recorded either.
static bool has_stood_down;
// Whether this process was forked by one with the library.
static bool is_forked;
_Atomic uint32_t preload_current_generation = 1;
// The readings of both clocks at the start.
static uint64_t first_now, first_ticks;
// The environment as it was when the program began, because it may change it. The directory is that of the rings; a
// recording to LTTng has none, and leaves only files about the process there.
static char directory[4096];
// The library that passes events to LTTng; empty: they go to rings.
static char lttng_library[4096];
static uint64_t origin, ring_bytes;
static bool keeps_values;
// Whether this thread is loading LTTng's library, which can fork: a child of its own creates shared memory and ends. The
// locks may be held then, and that child needs none of them.
static _Thread_local __attribute__((tls_model("initial-exec"))) bool is_loading;
// Whether this thread has the lock while it forks.
static _Thread_local __attribute__((tls_model("initial-exec"))) bool has_lock;

// The seconds that a thread waits for another one that is loading LTTng's library. That one can wait for this one, if this
// one is loading a library whose constructor forks or uses SQLite.
#define LOADING_SECONDS 5

static void before_fork(void) {
    if (is_loading) { return; }
    has_lock = fl_take_within(&lock, LOADING_SECONDS);
    preload_lock_copies();
    preload_lock_hidden();
    preload_lock_statements();
    preload_lock_python();
    preload_lock_tables();
}

static void after_fork_in_parent(void) {
    if (is_loading) { return; }
    preload_unlock_tables();
    preload_unlock_python();
    preload_unlock_statements();
    preload_unlock_hidden();
    preload_unlock_copies();
    if (has_lock) { fl_give(&lock); }
}

// A child gets a recorder of its own when it uses SQLite.
static void after_fork_in_child(void) {
    atomic_store(&recorder, NULL);
    // Without the lock, the thread that has it does not exist here, and the library that it was loading is not complete.
    atomic_store(&is_decided, has_stood_down || is_loading || !has_lock);
    if (is_loading) { return; }
    atomic_fetch_add(&preload_current_generation, 1);
    is_forked = true;
    after_fork_in_parent();
    if (!has_lock) { fl_free_lock(&lock); }
    fl_trace_in_child();
    preload_start_sampling_in_child();
}

// Finds out where to record to; false: nowhere.
static bool read_destination(void) {
    static const char rings[] = "rings:";
    const char *trace = fl_environment("FAULTLINE_TRACE");
    if (trace == NULL || strlen(trace) > sizeof directory) { return false; }
    if (strncmp(trace, rings, strlen(rings)) == 0) {
        strcpy(directory, trace + strlen(rings));
        return true;
    }
    const char *library = fl_environment("FAULTLINE_LTTNG_LIBRARY"), *scratch = fl_environment("FAULTLINE_SCRATCH");
    if (strcmp(trace, "lttng") != 0 || library == NULL || scratch == NULL || strlen(library) >= sizeof lttng_library
        || strlen(scratch) >= sizeof directory) {
        return false;
    }
    strcpy(lttng_library, library);
    strcpy(directory, scratch);
    return true;
}

__attribute__((constructor)) static void read_environment(void) {
    preload_find_originals();
    if (!read_destination()) { return; }
    const char *start = fl_environment("FAULTLINE_ORIGIN"), *bytes = fl_environment("FAULTLINE_RING_BYTES");
    if (start != NULL) { origin = strtoull(start, NULL, 10); }
    keeps_values = fl_environment("FAULTLINE_VALUES") != NULL;
    if (bytes != NULL) { ring_bytes = strtoull(bytes, NULL, 10); }
    fl_open_board(directory);
    preload_prepare_activations();
    fl_prepare_process();
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    preload_start_sampling();
    preload_watch_drivers();
}

// Null if LTTng's library cannot be loaded. No other thread forks meanwhile: the child would have a part of the library,
// and its locks.
static const fl_tracer *load_tracer(void) {
    is_loading = true;
    char problem[512];
    void *library = dlopen(lttng_library, RTLD_NOW | RTLD_LOCAL);
    const fl_tracer *(*tracer)(char *, size_t) =
        library == NULL ? NULL : (const fl_tracer *(*)(char *, size_t))dlsym(library, "faultline_lttng_tracer");
    const fl_tracer *loaded = tracer == NULL ? NULL : tracer(problem, sizeof problem);
    is_loading = false;
    return loaded;
}

static fl_recorder *create_traced(void) {
    static bool is_ended_early;
    const fl_tracer *tracer = load_tracer();
    if (tracer == NULL) { return NULL; }
    // LTTng's library was loaded after this one, so its destructors run before this one's. A forked child inherits the
    // handler.
    if (!is_ended_early) { is_ended_early = atexit(preload_end_process) == 0; }
    fl_recorder_options options = {
        .tracer = tracer, .is_traced_only = true, .origin = origin, .is_observed = true, .is_forked = is_forked,
    };
    return fl_recorder_create(&options);
}

static fl_recorder *create_with_rings(void) {
    char path[sizeof directory + 64];
    uint32_t random = 0;
    if (getrandom(&random, sizeof random, 0) != sizeof random) { return NULL; }
    snprintf(path, sizeof path, "%s/" FL_RINGS_PREFIX "%d-%u" FL_RINGS_SUFFIX, directory, getpid(), random);
    fl_recorder_options options = {
        .rings = path, .origin = origin, .ring_bytes = ring_bytes, .is_observed = true, .is_forked = is_forked,
    };
    return fl_recorder_create(&options);
}

static fl_recorder *create(void) {
    if (directory[0] == 0) { return NULL; }
    fl_recorder *created = lttng_library[0] == 0 ? create_with_rings() : create_traced();
    if (created == NULL) {
        fl_refuse(directory, errno);
        return NULL;
    }
    first_now = fl_now();
    first_ticks = preload_ticks();
    fl_recorder_enable(created);
    return created;
}

static void decide(void *unused) {
    (void)unused;
    atomic_store_explicit(&recorder, create(), memory_order_relaxed);
}

// Makes the recorder, if the process records; false if that cannot be decided now.
__attribute__((noinline)) static bool decide_once(void) {
    // Loading may call this function again; its work is not recorded.
    if (is_loading) { return false; }
    int saved = errno;
    bool is_taken = fl_take_within(&lock, LOADING_SECONDS);
    if (is_taken) {
        if (!atomic_load_explicit(&is_decided, memory_order_relaxed)) {
            fl_with_room(decide, NULL);
            atomic_store_explicit(&is_decided, true, memory_order_release);
        }
        fl_give(&lock);
    }
    errno = saved;
    return is_taken;
}

fl_recorder *preload_recorder(void) {
    if (!atomic_load_explicit(&is_decided, memory_order_acquire) && !decide_once()) { return NULL; }
    fl_recorder *current = atomic_load_explicit(&recorder, memory_order_relaxed);
    return current != NULL && fl_switch_is_on(fl_recorder_switch(current)) ? current : NULL;
}

void preload_lose_event(void) {
    fl_recorder *current = preload_recorder();
    if (current != NULL) { fl_count_lost_event(current); }
}

bool preload_keeps_values(void) { return keeps_values; }

static void stop(bool stands_down) {
    fl_take(&lock);
    has_stood_down = has_stood_down || stands_down;
    fl_recorder *current = atomic_load(&recorder);
    if (current != NULL) { fl_recorder_close(current); }
    atomic_store(&is_decided, true);
    fl_give(&lock);
}

// MARK: - Loaded modules

// The program and its libraries, a path in each line, without those in the system's own directories. A "+" stands before
// one whose hidden copy of SQLite was recorded.
typedef struct module_list {
    char text[16384];
    size_t used;
    bool is_first;
} module_list;

static int list_module(struct dl_phdr_info *module, size_t size, void *context) {
    (void)size;
    module_list *list = context;
    char program[4096];
    const char *path = module->dlpi_name;
    if (list->is_first) {
        ssize_t length = readlink("/proc/thread-self/exe", program, sizeof program - 1);
        if (length <= 0) { return 1; }
        program[length] = 0;
        path = program;
    } else if (path == NULL || path[0] != '/' || strncmp(path, "/lib", 4) == 0 || strncmp(path, "/usr/lib/x86_64", 15) == 0
        || strncmp(path, "/usr/lib/aarch64", 16) == 0) {
        return 0;
    }
    list->is_first = false;
    size_t length = strlen(path);
    if (list->used + length + 2 > sizeof list->text) { return 1; }
    bool is_recorded;
    if (preload_reaches(module->dlpi_phdr, &is_recorded)) {
        if (!is_recorded) { return 0; }
        list->text[list->used++] = FL_MODULE_MARK[0];
    }
    memcpy(list->text + list->used, path, length);
    list->used += length;
    list->text[list->used++] = '\n';
    return 0;
}

// Leaves the list for the reader of the rings, which looks for copies of SQLite that cannot be recorded. Programs that load
// the same modules share a file.
static void leave_modules(void) {
    if (directory[0] == 0 || has_stood_down || fl_is_confined()) { return; }
    module_list list = {.is_first = true};
    dl_iterate_phdr(list_module, &list);
    uint64_t hash = 0;
    for (size_t index = 0; index < list.used; index++) { hash = fl_mix(hash, (unsigned char)list.text[index]); }
    char path[sizeof directory + 32];
    snprintf(path, sizeof path, "%s/" FL_MODULES_PREFIX "%016llx", directory, (unsigned long long)hash);
    int file = open(path, O_CREAT | O_EXCL | O_CLOEXEC | O_WRONLY, 0600);
    if (file < 0) { return; }
    if (write(file, list.text, list.used) < 0) { unlink(path); }
    close(file);
}

static void leave(void *unused) {
    (void)unused;
    preload_end_scopes();
    stop(false);
    leave_modules();
}

__attribute__((destructor)) static void end(void) { fl_with_room(leave, NULL); }

const char *preload_directory(void) { return directory[0] == 0 ? NULL : directory; }

bool preload_has_no_clock;

void preload_confine(bool is_strict) {
    if (directory[0] == 0) { return; }
    int saved = errno;
    if (is_strict) {
        fl_with_room(leave, NULL);
        preload_has_no_clock = true;
    } else {
        leave_modules();
    }
    fl_confine();
    errno = saved;
}

void preload_end_process(void) {
    // Without the lock, which another thread can hold, or this one if it is in a signal handler.
    fl_recorder *current = atomic_load(&recorder);
    if (current != NULL) { fl_recorder_close(current); }
}

void faultline_preload_stand_down(void) { stop(true); }

// MARK: - Time

// Readings of both clocks at about the same time. Each thread has its own, so reading them takes no lock.
typedef struct reading {
    uint64_t now, ticks;
    double scale;  // nanoseconds per tick
    uint32_t generation;
} reading;

static _Thread_local __attribute__((tls_model("initial-exec"))) reading last;

// Ticks after which the clocks are read again: a millisecond at three billion ticks per second.
#define READING_TICKS 3000000

// The attempts to read both clocks without being interrupted in between, and the ticks that they take then.
#define READING_ATTEMPTS 4
#define READING_LONGEST 2000

// Reads both clocks. The longer ago the first reading was, the more exactly their speeds are known.
static void read_clocks(void) {
    uint64_t now = 0, before = 0, after = 0;
    for (int attempt = 0; attempt < READING_ATTEMPTS; attempt++) {
        before = preload_ticks();
        now = fl_now();
        after = preload_ticks();
        if (after - before <= READING_LONGEST) { break; }
    }
    uint64_t ticks = before + (after - before) / 2, time = now - first_now, moved = ticks - first_ticks;
    // The clocks must have moved far enough to be compared.
    double scale = time >= 20000 && moved != 0 ? (double)time / (double)moved : 0.5;
    last = (reading){.now = now, .ticks = ticks, .scale = scale, .generation = preload_generation()};
}

uint64_t preload_time(uint64_t ticks, uint64_t present) {
    bool is_old = present - last.ticks > READING_TICKS;
    if (is_old || last.generation != preload_generation()) { read_clocks(); }
    // The time asked for can be before the reading.
    return last.now + (uint64_t)(int64_t)((double)(int64_t)(ticks - last.ticks) * last.scale);
}

uint64_t preload_nanoseconds(uint64_t elapsed) { return (uint64_t)((double)elapsed * last.scale); }
