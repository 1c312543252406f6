#include "heap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

// The most samples that are live at a time. With the usual interval they stand for 16 GiB.
#define LIVE_MOST 32768
#define SLOTS (2 * LIVE_MOST)

static heap_sample slots[SLOTS];
static uint32_t live;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
// Whether the table is that of the parent of this forked process, and is to be emptied before its next use.
static bool is_inherited;

// For each hash, the number of live samples with it. A count that has reached its maximum stays there.
static _Atomic uint8_t filter[SLOTS];

static uint32_t hash(uintptr_t block) {
    // Blocks are aligned to 16 bytes.
    return (uint32_t)((block >> 4) * 0x9e3779b97f4a7c15u >> 48) % SLOTS;
}

void heap_forget_samples(void) {
    pthread_mutex_init(&lock, NULL);
    is_inherited = true;
}

static void lock_table(void) {
    pthread_mutex_lock(&lock);
    if (!is_inherited) { return; }
    memset(slots, 0, sizeof slots);
    memset((void *)filter, 0, sizeof filter);
    live = 0;
    is_inherited = false;
}

bool heap_may_be_sample(const void *block) {
    return atomic_load_explicit(&filter[hash((uintptr_t)block)], memory_order_relaxed) != 0;
}

bool heap_add(heap_sample sample) {
    lock_table();
    bool has_room = live < LIVE_MOST;
    if (has_room) {
        uint32_t home = hash(sample.block), slot = home;
        while (slots[slot].block != 0) { slot = (slot + 1) % SLOTS; }
        slots[slot] = sample;
        live++;
        uint8_t count = atomic_load_explicit(&filter[home], memory_order_relaxed);
        if (count < UINT8_MAX) { atomic_store_explicit(&filter[home], count + 1, memory_order_relaxed); }
    }
    pthread_mutex_unlock(&lock);
    return has_room;
}

// Empties a slot, and moves later samples to where a search finds them.
static void clear(uint32_t slot) {
    uint32_t next = slot;
    for (;;) {
        slots[slot].block = 0;
        for (;;) {
            next = (next + 1) % SLOTS;
            if (slots[next].block == 0) { return; }
            uint32_t home = hash(slots[next].block);
            bool stays = slot <= next ? slot < home && home <= next : slot < home || home <= next;
            if (!stays) { break; }
        }
        slots[slot] = slots[next];
        slot = next;
    }
}

bool heap_take(const void *block, heap_sample *sample) {
    uintptr_t address = (uintptr_t)block;
    lock_table();
    uint32_t home = hash(address), slot = home;
    while (slots[slot].block != 0 && slots[slot].block != address) { slot = (slot + 1) % SLOTS; }
    bool found = slots[slot].block == address;
    if (found) {
        *sample = slots[slot];
        clear(slot);
        live--;
        uint8_t count = atomic_load_explicit(&filter[home], memory_order_relaxed);
        if (count > 0 && count < UINT8_MAX) { atomic_store_explicit(&filter[home], count - 1, memory_order_relaxed); }
    }
    pthread_mutex_unlock(&lock);
    return found;
}
