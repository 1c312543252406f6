// A library to preload into programs whose allocations are sampled.
//
// It interposes the C library's allocator. Of the bytes that a thread allocates, it samples on average one in each
// interval, at exponentially distributed distances, so that no pattern of allocations can avoid being sampled. A block with
// a sampled byte is a sample. It represents its size divided by the probability that a block of this size is sampled.

#ifndef FAULTLINE_HEAP_H
#define FAULTLINE_HEAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Marks a function that the program calls instead of the one of the same name, together with the list of exports.
#define EXPORT __attribute__((visibility("default")))
#define THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))

// MARK: - Chance

// A random distance in bytes to the next sampled byte, for a mean distance.
int64_t heap_next_distance(uint64_t *state, uint64_t interval);

// A number between 0 and 1.
double heap_fraction(uint64_t *state);

// The reciprocal of the probability that a block of `size` bytes is sampled.
double heap_weight(size_t size, uint64_t interval);

// MARK: - Live samples

// A block that was sampled and has not been freed.
typedef struct heap_sample {
    uintptr_t block;
    uint64_t id;  // the event's number
} heap_sample;

// The most samples that are live at a time. With the usual interval they stand for 16 GiB.
#define HEAP_LIVE_MOST 32768
#define HEAP_SLOTS (2 * HEAP_LIVE_MOST)

// For each hash, the number of live samples with it. A count that has reached its maximum stays there.
extern _Atomic uint8_t heap_filter[HEAP_SLOTS];

static inline uint32_t heap_hash(uintptr_t block) {
    // Blocks are aligned to 16 bytes.
    return (uint32_t)((block >> 4) * 0x9e3779b97f4a7c15u >> 48) % HEAP_SLOTS;
}

// Whether a block may be a sample. Costs a few instructions, and is rarely wrong.
static inline bool heap_may_be_sample(const void *block) {
    return atomic_load_explicit(&heap_filter[heap_hash((uintptr_t)block)], memory_order_relaxed) != 0;
}

// Adds a sample. False if too many are live.
bool heap_add(heap_sample sample);

// Removes the sample of a block; false if there is none.
bool heap_take(const void *block, heap_sample *sample);

// Forgets all samples in a forked child. Takes no lock, because another thread of the parent may have held it.
void heap_forget_samples(void);

#endif
