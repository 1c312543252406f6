#define _GNU_SOURCE
#include "samples.h"
#include "tracing.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
    const fl_recorder *recorder;      // whose ring it is; null: none
    const fl_sampler_guide *guide;
    fl_ring *ring;
    // Held by the one thread that records a sample. Guards the ring and the working memory below.
    _Atomic uint32_t is_busy;
    _Atomic uint32_t pauses;          // calls that are unloading modules, whose memory must not be read
    fl_event traced;
    char record[sizeof(fl_header) + sizeof(fl_allocation) + sizeof(fl_cpu) + 8];
    uint64_t frames[FL_STACK_FRAMES_MAXIMUM + 1], interpreted[FL_STACK_FRAMES_MAXIMUM];
} samples;

FL_THREAD_LOCAL fl_sampled_thread fl_sampled;

// MARK: - The interrupted code

// Whether a word of the stack is the frame of a function that another one called.
static bool is_frame(uintptr_t frame) {
    const uintptr_t *words = (const uintptr_t *)frame;
    uintptr_t caller = fl_caller_of(frame);
    return caller > frame && fl_is_on_stack(&fl_sampled.stack, caller) && fl_is_return_address(words[1]);
}

// Whether an address is in the library of the recorder, whose former frames are left on the stack. A recorder that is a part
// of the program cannot tell.
static bool is_own_code(uint64_t address) {
    struct dl_find_object own, other;
    return samples.guide != NULL && _dl_find_object((void *)(uintptr_t)is_own_code, &own) == 0
        && _dl_find_object((void *)(uintptr_t)address, &other) == 0 && own.dlfo_map_start == other.dlfo_map_start;
}

// How far from the stack pointer the frame of a function that keeps frame pointers is looked for, in bytes.
#define SEARCH_BYTES 8192

// The innermost frame that can be followed; 0 if there is none. Code without frame pointers, such as SQLite's, uses the
// register for something else; then the frame of its caller is the first one on the stack above it that looks like one.
static uintptr_t first_frame(const fl_interruption *at, bool may_search) {
    fl_stack_bounds live = {.low = at->stack, .high = fl_sampled.stack.high};
    if (fl_is_on_stack(&live, at->frame) && is_frame(at->frame)) { return at->frame; }
    const fl_sampler_guide *guide = samples.guide;
    uintptr_t inner = guide == NULL || guide->anchor == NULL ? 0 : guide->anchor(), outer = fl_last_anchor();
    if (fl_is_on_stack(&live, inner)) { return inner; }
    uintptr_t frame = (at->stack + 7) & ~(uintptr_t)7, end = may_search ? frame + SEARCH_BYTES : frame;
    if (fl_is_on_stack(&live, outer) && outer < end) { end = outer; }
    for (; frame < end && fl_is_on_stack(&live, frame); frame += sizeof(uintptr_t)) {
        uintptr_t caller = fl_caller_of(frame);
        // Two frames in a row, because a number can look like one by chance.
        if (caller <= frame || !fl_is_on_stack(&live, caller) || !is_frame(frame) || !is_frame(caller)) { continue; }
        if (!is_own_code(((const uintptr_t *)frame)[1])) { return frame; }
    }
    return fl_is_on_stack(&live, outer) ? outer : 0;
}

// The words above the stack pointer in which a function that keeps no frame pointer can have its return address.
#define LEAF_WORDS 8

// The return address of an interrupted function that calls no others, for which compilers leave out the frame. The frame
// pointer is then that of its caller, whose own call would be missing. 0 if there is none.
static uint64_t leaf_return_address(const fl_interruption *at, uintptr_t frame) {
    if (at->link != 0) {
        // Some machines keep it in a register.
        bool is_own = fl_is_return_address(at->link) && (frame == 0 || ((const uintptr_t *)frame)[1] != at->link);
        return is_own ? at->link : 0;
    }
    for (uintptr_t place = at->stack, word = 0; word < LEAF_WORDS; word++, place += sizeof(uintptr_t)) {
        if (place + sizeof(uintptr_t) > fl_sampled.stack.high || place >= frame) { return 0; }
        uint64_t address = *(const uintptr_t *)place;
        if (fl_returns_from(address, at->instruction)) { return address; }
    }
    return 0;
}

// The words above the allocator's frame in which a function without a frame has its return address.
#define ALLOCATOR_WORDS 8

// The return address of the function that called the allocator, if it is in a library without frame pointers: C++'s `new` and
// the C library's functions that allocate. Their callers would be missing. 0 if there is none.
static uint64_t caller_without_frame(const fl_interruption *at) {
    struct dl_find_object found;
    if (_dl_find_object((void *)at->instruction, &found) != 0) { return 0; }
    const char *name = found.dlfo_link_map->l_name;
    if (strstr(name, "/libstdc++.so") == NULL && strstr(name, "/libc.so") == NULL && strstr(name, "/libc++.so") == NULL) {
        return 0;
    }
    const uintptr_t *words = (const uintptr_t *)at->frame;
    for (int word = 2; word < 2 + ALLOCATOR_WORDS; word++) {
        if ((uintptr_t)&words[word + 1] > fl_sampled.stack.high) { return 0; }
        if (fl_is_return_address(words[word])) { return words[word]; }
    }
    return 0;
}

// MARK: - Recording a sample

// The maximum number of attempts to begin while another thread's handler records.
#define ATTEMPTS 500

static bool begin(void) {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        uint32_t free = 0;
        if (atomic_compare_exchange_weak_explicit(
                &samples.is_busy, &free, 1, memory_order_acquire, memory_order_relaxed)) {
            return true;
        }
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    return false;
}

static void end(void) { atomic_store_explicit(&samples.is_busy, 0, memory_order_release); }

static void introduce(fl_recorder *recorder, bool *is_busy) {
    char entry[FL_THREAD_ENTRY_BYTES], name[FL_THREAD_NAME_BYTES];
    size_t length = fl_describe_thread(fl_sampled.number, fl_sampled.is_main, entry, name);
    fl_intern_sampled(recorder, FL_DICTIONARY_THREAD, entry, length, name, is_busy);
    fl_sampled.is_introduced = !*is_busy;
}

// The number of a stack that signal handlers may enter into the dictionary, together with the modules of its addresses.
static uint32_t intern(fl_recorder *recorder, const uint64_t *frames, uint32_t count, bool truncated, bool *is_busy) {
    if (count == 0) { return 0; }
    uint32_t known = fl_find_entry(recorder, FL_DICTIONARY_STACK, frames, count * sizeof frames[0]);
    if (known != 0) { return known; }
    for (uint32_t index = 0; index < count && !*is_busy; index++) {
        fl_list_module_of(recorder, frames[index], is_busy);
    }
    if (*is_busy) { return 0; }
    return fl_intern_sampled(
        recorder, FL_DICTIONARY_STACK, frames, count * sizeof frames[0], truncated ? "truncated" : "", is_busy);
}

static bool is_in(const fl_interpreted *interpreter, uint64_t address) {
    return address >= interpreter->low && address < interpreter->high;
}

// Adds the call stack to a sample. `leaf` is set to the stack of the interrupted instruction, if it is not null.
static void add_stack(
    fl_recorder *recorder, const fl_interruption *at, fl_header *header, uint32_t *leaf, bool *is_busy
) {
    const fl_sampler_guide *guide = samples.guide;
    fl_interpreted interpreter = {0};
    bool truncated = false;
    uint32_t functions = 0, count = 0;
    if (guide != NULL && guide->interpreted != NULL) {
        functions = guide->interpreted(
            recorder, samples.interpreted, FL_STACK_FRAMES_MAXIMUM, &interpreter, &truncated, is_busy);
    }
    uintptr_t frame = first_frame(at, functions == 0);
    uint64_t leaf_return =
        leaf != NULL && functions == 0 && frame == at->frame ? leaf_return_address(at, frame) : 0;
    if (leaf_return != 0) { samples.frames[count++] = leaf_return; }
    // Without a leaf, the instruction is a return address, which is in the frame if that can be followed.
    uint64_t between = leaf == NULL && frame != 0 ? caller_without_frame(at) : 0;
    if (leaf == NULL && (frame != at->frame || between != 0)) { samples.frames[count++] = at->instruction; }
    if (between != 0) {
        samples.frames[count++] = between;
        if (frame == at->frame) { frame = fl_caller_of(frame); }
    }
    if (frame != 0) { count += fl_walk_from(&fl_sampled.stack, frame, samples.frames + count, &truncated); }
    if (count > FL_STACK_FRAMES_MAXIMUM) { count = FL_STACK_FRAMES_MAXIMUM; }
    bool is_interpreted = functions > 0;
    if (is_interpreted) {
        // What is within the interpreter stands for the interpreted functions.
        uint32_t outside = 0;
        while (outside < count && !is_in(&interpreter, samples.frames[outside])) { outside++; }
        if (is_in(&interpreter, at->instruction)) { outside = 0; }
        count = outside;
        for (uint32_t index = 0; index < functions && count < FL_STACK_FRAMES_MAXIMUM; index++) {
            samples.frames[count++] = samples.interpreted[index];
        }
    }
    header->stack = intern(recorder, samples.frames, count, truncated, is_busy);
    if (truncated) { header->flags |= FL_STACK_TRUNCATED; }
    if (leaf != NULL && !(is_interpreted && is_in(&interpreter, at->instruction))) {
        // Readers look up the instruction before a return address.
        uint64_t address = at->instruction + 1;
        *leaf = intern(recorder, &address, 1, false, is_busy);
    }
}

// False if there was no room.
static bool put(fl_recorder *recorder, const fl_header *header, const void *fields, size_t field_bytes) {
    memset(samples.record, 0, header->size);
    memcpy(samples.record, header, sizeof *header);
    memcpy(samples.record + sizeof *header, fields, field_bytes);
    bool is_put = recorder->is_traced_only;
    if (!recorder->is_traced_only) {
        uint64_t head;
        char *place = fl_reserve_record(samples.ring, header->size, &head);
        if (place == NULL) {
            fl_count_lost_sample();
        } else {
            memcpy(place, samples.record, header->size);
            fl_commit_record(recorder, samples.ring, head, header->size);
            is_put = true;
        }
    }
    if (recorder->tracer != NULL) {
        fl_trace_record(recorder, samples.ring, &samples.traced, (const fl_header *)(const void *)samples.record);
    }
    return is_put;
}

// The room on a stack that recording needs, in bytes.
#define ROOM_BYTES 4096

// Whether the stack has room for it. A coroutine's stack, whose bounds are not known, is taken to have.
bool fl_has_room(void) {
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    const fl_stack_bounds *stack = &fl_sampled.stack;
    return here < stack->low || here >= stack->high || here - stack->low >= ROOM_BYTES;
}

void fl_count_lost_sample(void) {
    if (samples.ring == NULL) { return; }
    atomic_store_explicit(&samples.ring->thread, fl_sampled.number, memory_order_relaxed);
    atomic_fetch_add_explicit(&samples.ring->dropped, 1, memory_order_release);
}

uint64_t fl_put_sample(
    fl_recorder *recorder, const fl_interruption *at, fl_event_kind kind, void *fields, uint32_t *leaf, bool *is_busy
) {
    const fl_thread *thread = fl_thread_known(recorder);
    // A tracer's own state of a thread must exist, because making it would allocate memory.
    if ((recorder->tracer != NULL && thread == NULL) || !fl_has_room()) { return 0; }
    if (at != NULL && atomic_load_explicit(&samples.pauses, memory_order_acquire) != 0) { return 0; }
    uint64_t began = fl_now();
    if (!begin()) {
        *is_busy = true;
        return 0;
    }
    size_t field_bytes = fl_schema(kind)->size;
    fl_header header = {
        .size = (uint16_t)((sizeof(fl_header) + field_bytes + 7) & ~(size_t)7), .kind = (uint8_t)kind,
        .flags = fl_sampled.is_main ? FL_ON_MAIN_THREAD : 0, .thread = fl_sampled.number, .start = began,
    };
    if (thread != NULL) {
        header.parent = fl_open_event(thread);
        // A scope that follows a task to other threads is not known here, but the parent has it.
        if (!fl_switch_follows_tasks(&recorder->state)) { header.scope = thread->scope.id; }
    } else if (!fl_sampled.is_introduced) {
        introduce(recorder, is_busy);
    }
    if (!*is_busy && at != NULL) { add_stack(recorder, at, &header, leaf, is_busy); }
    if (!*is_busy) {
        header.id = fl_take_ids(samples.ring);
        header.overhead = (uint32_t)fl_plausible_cost(fl_now() - began);
        if (!put(recorder, &header, fields, field_bytes)) { header.id = 0; }
    }
    end();
    return header.id;
}

// MARK: - The ring

// Its number is that of the rings before it.
static fl_ring *add_ring(fl_recorder *recorder, uint64_t bytes) {
    pthread_mutex_lock(&recorder->lock);
    uint32_t rings = 0, count = atomic_load_explicit(&recorder->file->segment_count, memory_order_relaxed);
    for (uint32_t index = 0; index < count; index++) {
        if (recorder->file->segments[index].kind == FL_SEGMENT_RING) { rings++; }
    }
    fl_ring *ring = rings == FL_RINGS_MAXIMUM ? NULL : fl_add_ring(recorder, rings, bytes);
    if (ring != NULL) { atomic_store_explicit(&ring->owner, FL_SHARED_RING, memory_order_release); }
    pthread_mutex_unlock(&recorder->lock);
    return ring;
}

bool fl_open_samples(fl_recorder *recorder, uint64_t bytes, const fl_sampler_guide *guide) {
    if (samples.recorder == recorder) { return true; }
    if (samples.recorder != NULL && fl_switch_is_on(&samples.recorder->state)) {
        errno = EBUSY;
        return false;
    }
    // A size that the user asked for applies to this ring, too.
    if (!recorder->has_default_rings && recorder->ring_bytes > bytes) { bytes = recorder->ring_bytes; }
    fl_ring *ring = add_ring(recorder, bytes);
    if (ring == NULL) {
        errno = ENOSPC;
        return false;
    }
    samples.ring = ring;
    samples.guide = guide;
    samples.recorder = recorder;
    // A signal handler may use the recorder at any time from now on, so it is never released.
    atomic_fetch_add(&recorder->references, 1);
    return true;
}

// MARK: - Threads

// Parses a hexadecimal number, and moves `place` behind it.
static uintptr_t parse(const char **place) {
    uintptr_t number = 0;
    for (;; (*place)++) {
        char digit = **place;
        if (digit >= '0' && digit <= '9') {
            number = number << 4 | (uintptr_t)(digit - '0');
        } else if (digit >= 'a' && digit <= 'f') {
            number = number << 4 | (uintptr_t)(digit - 'a' + 10);
        } else {
            return number;
        }
    }
}

// The mapping that contains the stack. The C library's function for a thread's stack takes the thread's lock and allocates.
static fl_stack_bounds find_mapping(uintptr_t address) {
    fl_stack_bounds bounds = {0};
    char text[1025];
    size_t used = 0;
    long file = syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (file < 0) { return bounds; }
    for (;;) {
        long count = syscall(SYS_read, file, text + used, sizeof text - 1 - used);
        if (count <= 0) { break; }
        used += (size_t)count;
        text[used] = 0;
        char *line = text, *end;
        for (; (end = memchr(line, '\n', (size_t)(text + used - line))) != NULL; line = end + 1) {
            const char *place = line;
            uintptr_t low = parse(&place);
            if (*place++ != '-') { continue; }
            uintptr_t high = parse(&place);
            if (address < low || address >= high) { continue; }
            bounds = (fl_stack_bounds){low, high};
            break;
        }
        if (bounds.high != 0) { break; }
        used -= (size_t)(line - text);
        memmove(text, line, used);
        // The rest of a long line, which is a path, is not needed.
        if (used == sizeof text - 1) { used = 0; }
    }
    syscall(SYS_close, file);
    return bounds;
}

void fl_prepare_sampled_thread(void) {
    if (fl_sampled.number != 0) { return; }
    // A forked child's only thread has the stack that its parent's had.
    if (fl_sampled.stack.high == 0) { fl_sampled.stack = find_mapping((uintptr_t)__builtin_frame_address(0)); }
    fl_sampled.number = (uint32_t)syscall(SYS_gettid);
    fl_sampled.is_main = fl_sampled.number == (uint32_t)getpid();
}

bool fl_has_samples(void) { return samples.recorder != NULL && fl_is_ours(samples.recorder); }

// The longest wait for a sample that another thread is recording, in turns of the scheduler.
#define PAUSE_TURNS 1000

void fl_sampler_pause(void) {
    atomic_fetch_add(&samples.pauses, 1);
    for (int turn = 0; turn < PAUSE_TURNS && atomic_load(&samples.is_busy) != 0; turn++) { sched_yield(); }
}

void fl_sampler_resume(void) {
    // A child that was forked in between has none.
    if (atomic_load(&samples.pauses) != 0) { atomic_fetch_sub(&samples.pauses, 1); }
}

void fl_samples_after_fork(void) {
    samples.recorder = NULL;
    samples.ring = NULL;
    atomic_store(&samples.is_busy, 0);
    atomic_store(&samples.pauses, 0);
    fl_sampled.number = 0;
    fl_sampled.is_introduced = false;
}
