#define _GNU_SOURCE
#include "faultline_allocations.h"
#include "samples.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
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
#define ATTEMPTS 100

static uint64_t put(const fl_interruption *at, fl_allocation *fields, bool *is_busy) {
    fl_recorder *known = current();
    if (known == NULL || !fl_is_ours(known)) { return 0; }
    uint64_t id = 0;
    *is_busy = true;
    for (int attempt = 0; *is_busy && attempt < ATTEMPTS; attempt++) {
        if (attempt > 0) { sched_yield(); }
        *is_busy = false;
        id = fl_put_sample(known, at, FL_EVENT_ALLOCATION, fields, NULL, is_busy);
    }
    return id;
}

// MARK: - Blocks that were freed

// Numbers of freed blocks whose release could not be recorded at once. It is recorded with the next event.
#define PENDING 512
static _Atomic uint64_t pending[PENDING];
static _Atomic uint32_t pending_count;

static void postpone(uint64_t id) {
    for (uint32_t index = 0; index < PENDING; index++) {
        uint64_t none = 0;
        if (atomic_compare_exchange_strong(&pending[index], &none, id)) {
            atomic_fetch_add(&pending_count, 1);
            return;
        }
    }
    fl_count_lost_sample();
}

static void release(uint64_t id) {
    fl_allocation fields = {.allocation = id};
    bool is_busy = false;
    if (put(NULL, &fields, &is_busy) == 0 && is_busy) { postpone(id); }
}

static void record_pending(void) {
    for (uint32_t index = 0; atomic_load(&pending_count) != 0 && index < PENDING; index++) {
        uint64_t id = atomic_exchange(&pending[index], 0);
        if (id == 0) { continue; }
        atomic_fetch_sub(&pending_count, 1);
        release(id);
    }
}

// MARK: - The observer

// The thread's stack may not be looked up, because the C library may hold a lock of the thread while it allocates.
static bool with_room(void (*work)(void *), void *argument) {
    if (!fl_has_room()) { return fl_do_apart(work, argument, true); }
    work(argument);
    return true;
}

typedef struct sample {
    fl_allocation fields;
    uintptr_t frame;
    uint64_t id;
} sample;

static void record(void *context) {
    sample *sample = context;
    fl_prepare_sampled_thread();
    const uintptr_t *words = (const uintptr_t *)sample->frame;
    fl_interruption at = {.instruction = words[1], .stack = sample->frame, .frame = sample->frame};
    bool is_busy = false;
    sample->id = put(&at, &sample->fields, &is_busy);
    if (is_busy) { fl_count_lost_sample(); }
    record_pending();
}

static uint64_t allocated(uint64_t size, uint64_t bytes, uint64_t count, uintptr_t frame) {
    sample sample = {.fields = {.size = size, .bytes = bytes, .count = count}, .frame = frame};
    if (!with_room(record, &sample)) { fl_count_lost_sample(); }
    return sample.id;
}

static void record_release(void *id) {
    fl_prepare_sampled_thread();
    release(*(const uint64_t *)id);
    record_pending();
}

static void released(uint64_t id) {
    if (!with_room(record_release, &id)) { postpone(id); }
}

bool fl_sample_allocations(fl_recorder *new, uint64_t interval, const fl_sampler_guide *guide) {
    static fl_heap_observer observer = {.allocated = allocated, .released = released, .lost = fl_count_lost_sample};
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

void fl_allocations_after_fork(void) {
    atomic_store(&recorder, NULL);
    if (atomic_exchange(&pending_count, 0) == 0) { return; }
    for (uint32_t index = 0; index < PENDING; index++) { atomic_store(&pending[index], 0); }
}
