#define _GNU_SOURCE
#include "faultline_allocations.h"
#include "samples.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

// The size of the ring. A program can free thousands of sampled blocks at a time.
#define RING_BYTES (2u << 20)

// The recorder of sampled allocations; null: they are not sampled.
static _Atomic(fl_recorder *) recorder;

static fl_recorder *current(void) {
    fl_recorder *known = atomic_load_explicit(&recorder, memory_order_acquire);
    return known != NULL && fl_switch_is_on(&known->state) ? known : NULL;
}

// The attempts to record while other threads do.
#define ATTEMPTS 20

static uint64_t put(const fl_interruption *at, fl_allocation *fields) {
    fl_recorder *known = current();
    if (known == NULL || !fl_is_ours(known)) { return 0; }
    fl_prepare_sampled_thread();
    uint64_t id = 0;
    for (int attempt = 0; id == 0 && attempt < ATTEMPTS; attempt++) {
        id = fl_put_sample(known, at, FL_EVENT_ALLOCATION, fields, NULL);
    }
    return id;
}

static uint64_t allocated(uint64_t size, uint64_t bytes, uint64_t count, uintptr_t frame) {
    const uintptr_t *words = (const uintptr_t *)frame;
    fl_interruption at = {.instruction = words[1], .stack = frame, .frame = frame};
    fl_allocation fields = {.size = size, .bytes = bytes, .count = count};
    return put(&at, &fields);
}

static void released(uint64_t id, uint64_t bytes, uint64_t count) {
    fl_allocation fields = {.allocation = id, .bytes = bytes, .count = count};
    put(NULL, &fields);
}

bool fl_sample_allocations(fl_recorder *new, uint64_t interval, const fl_sampler_guide *guide) {
    static fl_heap_observer observer = {.allocated = allocated, .released = released};
    // Looked up once: in a forked child, the loader may be locked for ever.
    static void (*join)(const fl_heap_observer *);
    if (join == NULL) { join = (void (*)(const fl_heap_observer *))dlsym(RTLD_DEFAULT, "faultline_heap_join"); }
    if (join == NULL) {
        errno = ENOENT;
        return false;
    }
    if (!fl_open_samples(new, RING_BYTES, guide)) { return false; }
    fl_prepare_sampled_thread();
    observer.interval = interval;
    atomic_store_explicit(&recorder, new, memory_order_release);
    join(&observer);
    return true;
}

void fl_allocations_after_fork(void) { atomic_store(&recorder, NULL); }
