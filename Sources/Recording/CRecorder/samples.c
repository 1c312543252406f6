#define _GNU_SOURCE
#include "samples.h"
#include "tracing.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

static struct {
    const fl_recorder *recorder;      // whose ring it is; null: none
    const fl_sampler_guide *guide;
    fl_ring *ring;
    // Held by the one thread that records a sample. Guards the ring and the working memory below.
    _Atomic uint32_t is_busy;
    _Atomic uint32_t pauses;          // calls that are unloading modules, whose memory must not be read
    fl_event traced;
    _Alignas(8) char record[sizeof(fl_header) + sizeof(fl_allocation)];
} samples;

_Static_assert(sizeof(fl_allocation) >= sizeof(fl_cpu) + 7, "A record has room for a sample of either kind.");

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

void fl_count_lost_sample(void) {
    if (samples.ring != NULL) { fl_count_dropped(samples.ring, fl_sampled.number, 1); }
}

uint64_t fl_put_sample(
    fl_recorder *recorder, const fl_interruption *at, fl_event_kind kind, void *fields, uint32_t *leaf, bool *is_busy
) {
    const fl_thread *thread = fl_thread_known(recorder);
    // A tracer's own state of a thread must exist, because making it would allocate memory.
    if (recorder->tracer != NULL && thread == NULL) { return 0; }
    if (at != NULL && atomic_load_explicit(&samples.pauses, memory_order_acquire) != 0) { return 0; }
    uint64_t began = fl_now();
    if (!begin()) {
        *is_busy = true;
        return 0;
    }
    // When the dictionary grows, files are opened, at which a thread could be cancelled.
    int before = fl_shield();
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
    if (!*is_busy && at != NULL) { fl_add_sampled_stack(recorder, samples.guide, at, &header, leaf, is_busy); }
    if (!*is_busy) {
        header.id = fl_take_ids(samples.ring);
        header.overhead = (uint32_t)fl_plausible_cost(fl_now() - began);
        if (!put(recorder, &header, fields, field_bytes)) { header.id = 0; }
    }
    end();
    fl_unshield(before);
    return header.id;
}

// MARK: - The ring

bool fl_open_samples(fl_recorder *recorder, uint64_t bytes, const fl_sampler_guide *guide) {
    if (samples.recorder == recorder) { return true; }
    if (samples.recorder != NULL && fl_switch_is_on(&samples.recorder->state)) {
        errno = EBUSY;
        return false;
    }
    // A size that the user asked for applies to this ring, too.
    if (!recorder->has_default_rings && recorder->ring_bytes > bytes) { bytes = recorder->ring_bytes; }
    fl_take(&recorder->lock);
    fl_ring *ring = fl_add_shared_ring(recorder, bytes);
    fl_give(&recorder->lock);
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
