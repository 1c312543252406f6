#define _GNU_SOURCE
#include "faultline_sampler.h"
#include "faultline_text.h"
#include "tracing.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t threads_key;
static fl_lock recorders_lock = FL_LOCK_FREE;
static fl_recorder *recorders;
FL_THREAD_LOCAL fl_thread *fl_threads;

// Marks programs that contain a recorder, for the library that records others from outside.
// A sanitizer's padding behind it would be read as further notes.
__attribute__((section(".note.faultline"), used, retain, aligned(4), no_sanitize("address"))) static const struct {
    uint32_t name_length, value_length, type;
    char name[12];
} recorder_mark = {.name_length = sizeof FL_MARK_NAME, .type = FL_MARK_TYPE, .name = FL_MARK_NAME};

// MARK: - Fork

// A forked child shares its parent's mapping and would overwrite the parent's events, so it records nothing.

// The tracer of recorders whose program's children record too.
static _Atomic(const fl_tracer *) followed;

// The tracer comes last, because a thread can hold a lock of the recorder while it passes an event to the tracer.
static void before_fork(void) {
    fl_take(&recorders_lock);
    const fl_tracer *tracer = atomic_load(&followed);
    if (tracer != NULL) { tracer->before_fork(); }
}

static void after_fork_in_parent(void) {
    const fl_tracer *tracer = atomic_load(&followed);
    if (tracer != NULL) { tracer->after_fork_in_parent(); }
    fl_give(&recorders_lock);
}

static void after_fork_in_child(void) {
    for (fl_recorder *recorder = recorders; recorder != NULL; recorder = recorder->next) {
        __atomic_store_n(&recorder->state.on, 0, __ATOMIC_RELAXED);
        recorder->is_inherited = true;
        // The lock on the trace lasts as long as its last descriptor, which must be the parent's.
        if (recorder->timeline != NULL) { fl_timeline_abandon(recorder->timeline); }
    }
    fl_dictionary_after_fork();
    fl_sampler_after_fork();
    fl_allocations_after_fork();
    fl_threads = NULL;
    fl_give(&recorders_lock);
}

void fl_trace_in_child(void) {
    const fl_tracer *tracer = atomic_load(&followed);
    if (tracer != NULL) { tracer->after_fork_in_child(); }
}

// If no fork handler ran (clone, vfork), the process ID shows it, as long as the process may ask for it.
bool fl_is_ours(const fl_recorder *recorder) {
    return !recorder->is_inherited && (fl_is_confined() || recorder->process == (uint32_t)getpid());
}

void fl_recorder_set_timeline(fl_recorder *recorder, fl_timeline *timeline) {
    fl_take(&recorders_lock);
    recorder->timeline = timeline;
    fl_give(&recorders_lock);
}

// MARK: - Threads

static void disown_ring(fl_ring *ring) {
    if (fl_is_shared(ring)) { return; }
    atomic_store_explicit(&ring->owner, 0, memory_order_release);
}

static void free_thread(fl_thread *thread) {
    fl_put_hits(thread);
    disown_ring(thread->ring);
    fl_recorder_release(thread->recorder);
    free(thread->hits);
    free(thread->traced);
    free(thread);
}

static void thread_ends(void *first) {
    (void)first;
    fl_thread *thread = fl_threads;
    fl_threads = NULL;
    atomic_signal_fence(memory_order_release);
    while (thread != NULL) {
        fl_thread *next = thread->next;
        free_thread(thread);
        thread = next;
    }
}

static void set_up_process(void) {
    pthread_key_create(&threads_key, thread_ends);
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

// A ring without an owner. Records that another thread left in it are drained all the same, since records contain
// their thread. Losses do not: they are reported for the ring's last thread. A ring with unreported losses is
// therefore taken only if `any` is set.
static fl_ring *free_ring(fl_recorder *recorder, uint32_t thread, bool any) {
    uint32_t count = atomic_load_explicit(&recorder->file->segment_count, memory_order_relaxed);
    for (uint32_t index = 0; index < count; index++) {
        if (recorder->file->segments[index].kind != FL_SEGMENT_RING) { continue; }
        fl_ring *ring = recorder->segments[index];
        uint64_t reported = atomic_load_explicit(&ring->reported, memory_order_acquire);
        if (atomic_load_explicit(&ring->owner, memory_order_acquire) != 0) { continue; }
        if (!any && atomic_load_explicit(&ring->dropped, memory_order_relaxed) != reported) { continue; }
        uint32_t nobody = 0;
        if (atomic_compare_exchange_strong(&ring->owner, &nobody, thread)) { return ring; }
    }
    return NULL;
}

static uint32_t count_rings(const fl_recorder *recorder) {
    uint32_t rings = 0, count = atomic_load_explicit(&recorder->file->segment_count, memory_order_relaxed);
    for (uint32_t index = 0; index < count; index++) {
        if (recorder->file->segments[index].kind == FL_SEGMENT_RING) { rings++; }
    }
    return rings;
}

// The default size of the next ring.
static uint64_t next_capacity(const fl_recorder *recorder) {
    if (!recorder->has_default_rings) { return recorder->ring_bytes; }
    return fl_ring_bytes(recorder->rings.path, count_rings(recorder));
}

static void *map_segment(fl_recorder *recorder, fl_segment_kind kind, uint32_t ring, uint64_t size);
static void publish_segment(fl_recorder *recorder);

static fl_ring *add_ring(fl_recorder *recorder, uint64_t capacity) {
    uint32_t number = count_rings(recorder);
    if (recorder->has_no_room || number >= FL_RINGS_MAXIMUM) { return NULL; }
    // If there is little room, a small ring that loses events in bursts is better than none.
    fl_ring *ring = map_segment(recorder, FL_SEGMENT_RING, number, FL_RING_HEADER_BYTES + capacity);
    while (ring == NULL && capacity > FL_RING_BYTES_LEAST) {
        capacity >>= 1;
        ring = map_segment(recorder, FL_SEGMENT_RING, number, FL_RING_HEADER_BYTES + capacity);
    }
    if (ring == NULL) {
        // Trying again for each event would slow the program down.
        atomic_store(&recorder->file->failure, (uint32_t)errno);
        recorder->has_no_room = true;
        return NULL;
    }
    ring->number = number;
    ring->capacity = capacity;
    atomic_store_explicit(&ring->next_id, ((uint64_t)(number + 1) << 40) + FL_IDS_PER_RECORD, memory_order_relaxed);
    publish_segment(recorder);
    return ring;
}

fl_ring *fl_add_shared_ring(fl_recorder *recorder, uint64_t capacity) {
    fl_ring *ring = add_ring(recorder, capacity);
    if (ring != NULL) { atomic_store_explicit(&ring->owner, FL_SHARED_RING, memory_order_release); }
    return ring;
}

// A shared ring, for a program with more threads than there are rings; each thread gets the next one in turn. Null if
// there is none and no room for one.
static fl_ring *share_ring(fl_recorder *recorder, uint32_t thread) {
    uint32_t count = recorder->shared_count;
    if (count < FL_RINGS_SHARED) {
        fl_ring *ring = fl_add_shared_ring(recorder, next_capacity(recorder));
        if (ring != NULL) {
            atomic_store_explicit(&recorder->shared[count], ring, memory_order_release);
            recorder->shared_count = count + 1;
            return ring;
        }
    }
    if (count == 0) { return NULL; }
    return atomic_load_explicit(&recorder->shared[thread % count], memory_order_relaxed);
}

static fl_ring *take_ring(fl_recorder *recorder, uint32_t thread) {
    fl_ring *ring = free_ring(recorder, thread, false);
    if (ring == NULL && count_rings(recorder) < FL_RINGS_OWNED) { ring = add_ring(recorder, next_capacity(recorder)); }
    // Reporting losses for the wrong thread is better than losing all its events.
    if (ring == NULL) { ring = free_ring(recorder, thread, true); }
    if (ring == NULL) { return share_ring(recorder, thread); }
    atomic_store_explicit(&ring->thread, thread, memory_order_relaxed);
    atomic_store_explicit(&ring->owner, thread, memory_order_release);
    return ring;
}

size_t fl_describe_thread(uint32_t number, bool is_main, char *entry, char *name) {
    memset(name, 0, FL_THREAD_NAME_BYTES);
    prctl(PR_GET_NAME, name, 0, 0, 0);
    // The kernel cuts the name to 15 bytes, even within a character.
    size_t length = fl_cut_text(name, strlen(name), 15);
    name[length] = 0;
    char *end = fl_put_text(entry, is_main ? "{\"isMain\":true,\"name\":" : "{\"isMain\":false,\"name\":");
    end += fl_json_string(end, 100, name, length);
    end = fl_put_number(fl_put_text(end, ",\"thread\":"), number);
    end = fl_put_text(end, "}");
    return (size_t)(end - entry);
}

// Writes a dictionary entry with the thread's name.
static void introduce(fl_recorder *recorder, const fl_thread *thread) {
    char entry[FL_THREAD_ENTRY_BYTES], name[FL_THREAD_NAME_BYTES];
    size_t length = fl_describe_thread(thread->number, thread->is_main, entry, name);
    fl_intern(recorder, FL_DICTIONARY_THREAD, entry, length, name, strlen(name));
}

static fl_thread *make_state(fl_recorder *recorder) {
    // A child that ends an event which its parent began must not write to the parent's rings.
    if (!fl_is_ours(recorder)) { return NULL; }
    uint32_t number = (uint32_t)syscall(SYS_gettid);
    fl_take(&recorder->lock);
    fl_ring *ring = take_ring(recorder, number);
    fl_give(&recorder->lock);
    if (ring == NULL) { return NULL; }
    fl_thread *thread = calloc(1, sizeof *thread);
    struct fl_traced *traced = recorder->tracer == NULL ? NULL : calloc(1, sizeof *traced);
    if (thread == NULL || (traced == NULL && recorder->tracer != NULL)) {
        disown_ring(ring);
        free(traced);
        free(thread);
        return NULL;
    }
    thread->traced = traced;
    thread->ring = ring;
    thread->number = number;
    thread->is_main = thread->number == recorder->process;
    thread->recorder = recorder;
    // A thread's first work enters shapes and stacks into the dictionary, and stands for no other.
    thread->countdown = FL_SAMPLING / 2;
    thread->cost_countdown = FL_COST_SAMPLING / 2;
    fl_find_stack();
    thread->stack = fl_own_bounds;
    atomic_fetch_add(&recorder->references, 1);
    thread->next = fl_threads;
    atomic_signal_fence(memory_order_release);
    fl_threads = thread;
    pthread_setspecific(threads_key, thread);
    introduce(recorder, thread);
    fl_sampler_enter_thread();
    return thread;
}

typedef struct making {
    fl_recorder *recorder;
    fl_thread *made;
} making;

static void make_thread(void *context) {
    making *making = context;
    making->made = make_state(making->recorder);
}

// Releases this thread's state for recorders that were closed.
static void forget_closed(void) {
    fl_thread **place = &fl_threads;
    while (*place != NULL) {
        fl_thread *thread = *place;
        if (atomic_load(&thread->recorder->file->is_closed) && thread->depth == 0) {
            *place = thread->next;
            atomic_signal_fence(memory_order_release);
            free_thread(thread);
        } else {
            place = &thread->next;
        }
    }
}

fl_thread *fl_thread_make(fl_recorder *recorder) {
    forget_closed();
    making making = {.recorder = recorder};
    fl_with_room(make_thread, &making);
    return making.made;
}

// MARK: - Segments

// Maps a part of the file and reserves its space; null with errno set. Reaching the program's size limit
// (RLIMIT_FSIZE) counts as no space, too.
static void *map_space(const fl_recorder *recorder, uint64_t offset, uint64_t size) {
    int descriptor = -1, failure = 0;
    // Populates only the first part of a large ring: a program that records little need not wait for the rest.
    bool is_large = size > FL_RING_HEADER_BYTES + FL_RING_BYTES;
    int populate = is_large ? 0 : MAP_POPULATE;
    int flags = populate | MAP_PRIVATE | MAP_ANONYMOUS;
    if (recorder->rings.path != NULL) {
        flags = populate | MAP_SHARED;
        descriptor = fl_ring_file_open(&recorder->rings);
        if (descriptor < 0) { return NULL; }
        fl_quiet quiet;
        fl_quiet_begin(&quiet);
        // A signal that the program handles interrupts the allocation.
        for (int attempt = 0; attempt < 100; attempt++) {
            failure = posix_fallocate(descriptor, (off_t)offset, (off_t)size);
            if (failure != EINTR) { break; }
        }
        fl_quiet_end(&quiet);
    }
    void *memory = MAP_FAILED;
    if (failure == 0) {
        memory = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, descriptor, descriptor < 0 ? 0 : (off_t)offset);
        failure = memory == MAP_FAILED ? errno : 0;
    }
    if (memory != MAP_FAILED && is_large) { madvise(memory, FL_RING_HEADER_BYTES + FL_RING_BYTES, MADV_POPULATE_WRITE); }
    if (descriptor >= 0) { close(descriptor); }
    errno = failure;
    return memory == MAP_FAILED ? NULL : memory;
}

// Maps a segment, which the drain does not see yet.
static void *map_segment(fl_recorder *recorder, fl_segment_kind kind, uint32_t ring, uint64_t size) {
    fl_file *file = recorder->file;
    uint32_t index = atomic_load_explicit(&file->segment_count, memory_order_relaxed);
    if (index == FL_SEGMENTS_MAXIMUM) {
        errno = ENOSPC;
        return NULL;
    }
    size = (size + FL_PAGE - 1) & ~(uint64_t)(FL_PAGE - 1);
    void *memory = map_space(recorder, recorder->file_size, size);
    if (memory == NULL) { return NULL; }
    recorder->segments[index] = memory;
    file->segments[index] =
        (fl_segment){.kind = kind, .ring = ring, .offset = recorder->file_size, .size = size};
    recorder->file_size += size;
    return memory;
}

// Shows the segment that was mapped last to the drain, which may read it at once.
static void publish_segment(fl_recorder *recorder) {
    atomic_fetch_add_explicit(&recorder->file->segment_count, 1, memory_order_release);
}

void *fl_add_segment(fl_recorder *recorder, fl_segment_kind kind, uint32_t ring, uint64_t size) {
    void *segment = map_segment(recorder, kind, ring, size);
    if (segment != NULL) { publish_segment(recorder); }
    return segment;
}

// MARK: - Recorders

// The size of a ring for a requested size.
static uint64_t capacity_of(uint64_t asked) {
    if (asked == 0) { asked = FL_RING_BYTES; }
    if (asked > FL_RING_BYTES_MOST) { asked = FL_RING_BYTES_MOST; }
    uint64_t capacity = FL_PAGE;
    while (capacity < asked) { capacity <<= 1; }
    return capacity;
}

// A recorder with its tables. They are mapped, because a forked child of a program with several threads makes its recorder
// while the program's allocator may be locked.
typedef struct whole_recorder {
    fl_recorder recorder;
    fl_interned interned[FL_INTERNED_MAXIMUM];
    fl_site sites[FL_SITES_MAXIMUM];
    char path[PATH_MAX];
} whole_recorder;

static fl_recorder *make_recorder(void) {
    whole_recorder *whole =
        mmap(NULL, sizeof *whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (whole == MAP_FAILED) { return NULL; }
    whole->recorder.interned = whole->interned;
    whole->recorder.sites = whole->sites;
    return &whole->recorder;
}

static void free_recorder(fl_recorder *recorder) { munmap(recorder, sizeof(whole_recorder)); }

// Stores the path, with its directory resolved unless it is absolute. False with errno set.
static bool set_path(fl_recorder *recorder, const char *path) {
    char *place = ((whole_recorder *)recorder)->path, *resolved = NULL;
    if (path[0] != '/') {
        resolved = fl_absolute_path(path);
        if (resolved == NULL) { return false; }
        path = resolved;
    }
    bool fits = strlen(path) < PATH_MAX;
    if (fits) { strcpy(place, path); }
    free(resolved);
    errno = ENAMETOOLONG;
    recorder->rings.path = fits ? place : NULL;
    return fits;
}

// Creates the mapped file, which must not exist.
static bool make_file(fl_recorder *recorder, const char *path) {
    fl_ring_file *rings = &recorder->rings;
    if (!set_path(recorder, path)) { return false; }
    int descriptor = fl_open_apart(rings->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600, 3);
    if (descriptor < 0) { return false; }
    fl_identify(descriptor, &rings->identity);
    close(descriptor);
    return true;
}

// The start time of the process in clock ticks since boot; 0: not known.
static uint64_t start_time(void) {
    char text[1024];
    int descriptor = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t length = descriptor < 0 ? -1 : read(descriptor, text, sizeof text - 1);
    if (descriptor >= 0) { close(descriptor); }
    if (length < 0) { return 0; }
    text[length] = 0;
    // The name in the second field can contain anything but ends with the last parenthesis; the start time is the 22nd
    // field.
    const char *place = strrchr(text, ')');
    for (int field = 2; place != NULL && field < 22; field++) { place = strchr(place + 1, ' '); }
    return place == NULL ? 0 : strtoull(place, NULL, 10);
}

// A number that this process keeps until it executes another program, and that no later process with its ID has. The
// kernel gives each program random bytes. Since they also protect its stack, they are used only as the key of a hash.
static uint64_t identify_image(void) {
    uint64_t key[2] = {0, 0}, start = start_time();
    const void *random = (const void *)getauxval(AT_RANDOM);
    if (random != NULL) { memcpy(key, random, sizeof key); }
    return fl_hash(key, &start, sizeof start);
}

void fl_prepare_process(void) { pthread_once(&once, set_up_process); }

fl_recorder *fl_recorder_create(const fl_recorder_options *options) {
    fl_prepare_process();
    fl_recorder *recorder = make_recorder();
    if (recorder == NULL) { return NULL; }
    recorder->references = 1;
    recorder->process = (uint32_t)getpid();
    recorder->has_default_rings = options->ring_bytes == 0 && !options->is_traced_only;
    recorder->ring_bytes = options->is_traced_only ? FL_PAGE : capacity_of(options->ring_bytes);
    recorder->tracer = options->tracer;
    if (options->tracer != NULL && options->is_observed) { atomic_store(&followed, options->tracer); }
    recorder->is_traced_only = options->is_traced_only;
    recorder->is_forked = options->is_forked;
    recorder->file_size = (sizeof(fl_file) + FL_PAGE - 1) & ~(uint64_t)(FL_PAGE - 1);
    recorder->next_entry = 1;
    recorder->lock = (fl_lock)FL_LOCK_FREE;
    if (getrandom(recorder->key, sizeof recorder->key, 0) != sizeof recorder->key) { goto failed; }
    if (options->rings != NULL && !make_file(recorder, options->rings)) { goto failed; }
    fl_file *file = recorder->file = map_space(recorder, 0, recorder->file_size);
    if (file == NULL) {
        int failure = errno;
        if (options->rings != NULL) { unlink(recorder->rings.path); }
        errno = failure;
        goto failed;
    }
    struct timespec date;
    clock_gettime(CLOCK_REALTIME, &date);
    file->layout_version = fl_layout();
    file->process = recorder->process;
    file->start = fl_now();
    file->origin = options->origin == 0 ? file->start : options->origin;
    file->date = (double)date.tv_sec + (double)date.tv_nsec / 1e9;
    // Of this thread, because the main thread may have ended, and then "/proc/self" has neither.
    ssize_t length = readlink("/proc/thread-self/exe", file->program, FL_PROGRAM_BYTES - 1);
    file->program[length < 0 ? 0 : fl_cut_text(file->program, (size_t)length, FL_PROGRAM_BYTES - 1)] = 0;
    struct stat status;
    file->process_namespace = stat("/proc/thread-self/ns/pid", &status) == 0 ? status.st_ino : 0;
    file->image = identify_image();
    file->is_observed = options->is_observed;
    // The magic is written last: a drainer that sees it sees everything else.
    atomic_thread_fence(memory_order_release);
    memcpy(file->magic, FL_MAGIC, sizeof file->magic);

    fl_take(&recorders_lock);
    recorder->next = recorders;
    recorder->previous = &recorders;
    if (recorders != NULL) { recorders->previous = &recorder->next; }
    recorders = recorder;
    fl_give(&recorders_lock);
    return recorder;

failed:;
    int failure = errno;
    free_recorder(recorder);
    errno = failure;
    return NULL;
}

void fl_recorder_enable(fl_recorder *recorder) {
    if (recorder->tracer != NULL) { fl_trace_begin(recorder); }
    if (!recorder->is_forked) { fl_list_modules(recorder); }
    __atomic_store_n(&recorder->state.on, 1, __ATOMIC_RELEASE);
}

void fl_stop_observer(void) {
    void (*stand_down)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "faultline_preload_stand_down");
    if (stand_down != NULL) { stand_down(); }
}

void fl_recorder_close(fl_recorder *recorder) {
    if (!fl_is_ours(recorder)) { return; }
    fl_sampler_stop(recorder);
    __atomic_store_n(&recorder->state.on, 0, __ATOMIC_RELAXED);
    if (recorder->file->closed == 0) { recorder->file->closed = fl_now(); }
    bool was_closed = atomic_exchange_explicit(&recorder->file->is_closed, 1, memory_order_acq_rel) != 0;
    if (recorder->tracer != NULL && !was_closed) { fl_trace_end(recorder); }
}

void fl_recorder_release(fl_recorder *recorder) {
    if (atomic_fetch_sub(&recorder->references, 1) != 1) { return; }
    fl_take(&recorders_lock);
    *recorder->previous = recorder->next;
    if (recorder->next != NULL) { recorder->next->previous = recorder->previous; }
    fl_give(&recorders_lock);
    uint32_t count = atomic_load(&recorder->file->segment_count);
    for (uint32_t index = 0; index < count; index++) {
        munmap(recorder->segments[index], recorder->file->segments[index].size);
    }
    munmap(recorder->file, (sizeof(fl_file) + FL_PAGE - 1) & ~(uint64_t)(FL_PAGE - 1));
    free_recorder(recorder);
}

const fl_switch *fl_recorder_switch(const fl_recorder *recorder) {
    return &recorder->state;
}
