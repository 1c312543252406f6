#define _GNU_SOURCE
#include "faultline_heap.h"
#include "heap.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

// MARK: - The real allocator

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
} real;

static _Atomic bool is_ready;

// Memory for allocations that are made while the real functions are looked up. It is never freed.
static _Alignas(16) char early[64 << 10];
static _Atomic size_t early_used;

static bool is_early(const void *block) { return (const char *)block >= early && (const char *)block < early + sizeof early; }

static void *allocate_early(size_t size) {
    // Each block is preceded by its size, which realloc needs.
    if (size > sizeof early) { return NULL; }
    size_t room = ((size + 15) & ~(size_t)15) + 16;
    size_t place = atomic_fetch_add(&early_used, room);
    if (place + room > sizeof early) { return NULL; }
    memcpy(early + place, &size, sizeof size);
    return early + place + 16;
}

static bool look_up(void) {
    static THREAD_LOCAL bool is_looking;
    if (is_looking) { return false; }
    is_looking = true;
#define FIND(name) real.name = (__typeof__(real.name))dlsym(RTLD_NEXT, #name)
    FIND(malloc), FIND(calloc), FIND(realloc), FIND(free), FIND(posix_memalign), FIND(aligned_alloc), FIND(memalign);
    FIND(valloc), FIND(pvalloc);
    atomic_store_explicit(&is_ready, true, memory_order_release);
    is_looking = false;
    return true;
}

// Whether the real functions are known. If not, this is a call from within the look-up.
static inline bool ready(void) {
    return __builtin_expect(atomic_load_explicit(&is_ready, memory_order_acquire), 1) || look_up();
}

// MARK: - Sampling

static _Atomic(const fl_heap_observer *) observer;

// The state of a thread.
static THREAD_LOCAL struct {
    int64_t left;      // bytes until the next sampled one
    uint64_t random;   // 0: the thread has not allocated yet
    bool is_observing;
} own;

void faultline_heap_join(const fl_heap_observer *new) { atomic_store(&observer, new); }

// Draws the distance of a thread's first sample. False if the thread has been drawn one before.
static bool begin_thread(uint64_t interval) {
    if (own.random != 0) { return false; }
    // Not by the C library's function, at which a thread can be cancelled.
    long count = syscall(SYS_getrandom, &own.random, sizeof own.random, GRND_NONBLOCK);
    if (count != sizeof own.random || own.random == 0) {
        own.random = (uintptr_t)&own | 1;
    }
    own.left = heap_next_distance(&own.random, interval);
    return true;
}

// The bytes after which a thread looks again for an observer.
#define UNOBSERVED_BYTES 65536

__attribute__((noinline)) static void *sample(void *block, size_t size, uintptr_t frame) {
    const fl_heap_observer *current = atomic_load_explicit(&observer, memory_order_acquire);
    if (current == NULL || own.is_observing) {
        own.left = UNOBSERVED_BYTES;
        return block;
    }
    int saved = errno;
    bool is_sample = true;
    if (begin_thread(current->interval)) {
        own.left -= (int64_t)size;
        is_sample = own.left < 0;
    }
    // Distances have no memory: behind the sampled block they are distributed as before it, whatever its size.
    if (own.left < 0) { own.left = heap_next_distance(&own.random, current->interval); }
    if (is_sample) {
        own.is_observing = true;
        int64_t left = own.left;
        double weight = heap_weight(size, current->interval);
        // Rounded up or down at random, so that the counts of many samples add up.
        uint64_t bytes = (uint64_t)(weight * (double)size + 0.5);
        uint64_t count = (uint64_t)(weight + heap_fraction(&own.random));
        heap_sample taken = {.block = (uintptr_t)block, .id = current->allocated(size, bytes, count, frame)};
        if (taken.id != 0 && !heap_add(taken)) {
            current->released(taken.id);
            current->lost();
        }
        // The observer's own allocations do not count.
        own.left = left;
        own.is_observing = false;
    }
    errno = saved;
    return block;
}

// The frame of the function that called the allocator.
#define FRAME ((uintptr_t)__builtin_frame_address(0))

static inline void *count(void *block, size_t size, uintptr_t frame) {
    if (__builtin_expect(block == NULL, 0)) { return NULL; }
    own.left -= (int64_t)size;
    return __builtin_expect(own.left < 0, 0) ? sample(block, size, frame) : block;
}

__attribute__((noinline)) static void release(const heap_sample *sample) {
    const fl_heap_observer *current = atomic_load_explicit(&observer, memory_order_acquire);
    if (current == NULL || own.is_observing) { return; }
    int saved = errno;
    own.is_observing = true;
    int64_t left = own.left;
    current->released(sample->id);
    own.left = left;
    own.is_observing = false;
    errno = saved;
}

__attribute__((noinline)) static void forget(const void *block) {
    heap_sample sample;
    if (heap_take(block, &sample)) { release(&sample); }
}

// MARK: - The allocator's functions

EXPORT void *malloc(size_t size) {
    return ready() ? count(real.malloc(size), size, FRAME) : allocate_early(size);
}

EXPORT void *calloc(size_t number, size_t size) {
    if (ready()) { return count(real.calloc(number, size), number * size, FRAME); }
    return size != 0 && number > SIZE_MAX / size ? NULL : allocate_early(number * size);
}

EXPORT void free(void *block) {
    if (block == NULL || is_early(block) || !ready()) { return; }
    if (__builtin_expect(heap_may_be_sample(block), 0)) { forget(block); }
    real.free(block);
}

EXPORT void *realloc(void *block, size_t size) {
    if (!ready() || is_early(block)) {
        void *moved = is_early(block) && ready() ? malloc(size) : allocate_early(size);
        size_t before = 0;
        if (block != NULL) { memcpy(&before, (char *)block - 16, sizeof before); }
        if (moved != NULL && block != NULL) { memcpy(moved, block, before < size ? before : size); }
        return moved;
    }
    heap_sample sample;
    bool was_sample = block != NULL && heap_may_be_sample(block) && heap_take(block, &sample);
    void *moved = real.realloc(block, size);
    if (moved == NULL && size != 0) {
        // The block is as it was.
        if (was_sample && !heap_add(sample)) { release(&sample); }
        return NULL;
    }
    if (was_sample) { release(&sample); }
    return count(moved, size, FRAME);
}

EXPORT int posix_memalign(void **block, size_t alignment, size_t size) {
    if (!ready()) { return ENOMEM; }
    int result = real.posix_memalign(block, alignment, size);
    if (result == 0) { count(*block, size, FRAME); }
    return result;
}

EXPORT void *aligned_alloc(size_t alignment, size_t size) {
    return ready() ? count(real.aligned_alloc(alignment, size), size, FRAME) : NULL;
}

EXPORT void *memalign(size_t alignment, size_t size) {
    return ready() ? count(real.memalign(alignment, size), size, FRAME) : NULL;
}

EXPORT void *valloc(size_t size) { return ready() ? count(real.valloc(size), size, FRAME) : NULL; }

EXPORT void *pvalloc(size_t size) { return ready() ? count(real.pvalloc(size), size, FRAME) : NULL; }

// MARK: - Fork

__attribute__((constructor)) static void prepare(void) {
    ready();
    pthread_atfork(NULL, NULL, heap_forget_samples);
}
