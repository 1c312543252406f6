#include "heap.h"

#include <faultline_guest.h>

#include <string.h>

static heap_sample slots[HEAP_SLOTS];
static uint32_t live;
static fl_lock lock = FL_LOCK_FREE;
// Whether the table is that of the parent of this forked process, and is to be emptied before its next use.
static bool is_inherited;

_Atomic uint8_t heap_filter[HEAP_SLOTS];

void heap_forget_samples(void) {
    fl_free_lock(&lock);
    is_inherited = true;
}

static void lock_table(void) {
    fl_take(&lock);
    if (!is_inherited) { return; }
    memset(slots, 0, sizeof slots);
    memset((void *)heap_filter, 0, sizeof heap_filter);
    live = 0;
    is_inherited = false;
}

bool heap_add(heap_sample sample) {
    lock_table();
    bool has_room = live < HEAP_LIVE_MOST;
    if (has_room) {
        uint32_t home = heap_hash(sample.block), slot = home;
        while (slots[slot].block != 0) { slot = (slot + 1) % HEAP_SLOTS; }
        slots[slot] = sample;
        live++;
        uint8_t count = atomic_load_explicit(&heap_filter[home], memory_order_relaxed);
        if (count < UINT8_MAX) { atomic_store_explicit(&heap_filter[home], count + 1, memory_order_relaxed); }
    }
    fl_give(&lock);
    return has_room;
}

// Empties a slot, and moves later samples to where a search finds them.
static void clear(uint32_t slot) {
    uint32_t next = slot;
    for (;;) {
        slots[slot].block = 0;
        for (;;) {
            next = (next + 1) % HEAP_SLOTS;
            if (slots[next].block == 0) { return; }
            uint32_t home = heap_hash(slots[next].block);
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
    uint32_t home = heap_hash(address), slot = home;
    while (slots[slot].block != 0 && slots[slot].block != address) { slot = (slot + 1) % HEAP_SLOTS; }
    bool found = slots[slot].block == address;
    if (found) {
        *sample = slots[slot];
        clear(slot);
        live--;
        uint8_t count = atomic_load_explicit(&heap_filter[home], memory_order_relaxed);
        if (count > 0 && count < UINT8_MAX) { atomic_store_explicit(&heap_filter[home], count - 1, memory_order_relaxed); }
    }
    fl_give(&lock);
    return found;
}
