#include "preload.h"

#include <stdlib.h>

// How many slots after its first one a key can be in.
#define PROBES 16

static fl_lock lock = FL_LOCK_FREE;

void preload_lock_tables(void) { fl_take(&lock); }
void preload_unlock_tables(void) { fl_give(&lock); }

static preload_slot *slot_of(preload_slot *slots, uint64_t key, uint64_t step) {
    return &slots[(fl_mix(key, 0) + step) % PRELOAD_SLOTS];
}

bool preload_look_up(const preload_table *table, uint64_t key, uint64_t *value) {
    preload_slot *slots = atomic_load_explicit(&table->slots, memory_order_acquire);
    for (uint64_t step = 0; slots != NULL && step < PROBES; step++) {
        preload_slot *slot = slot_of(slots, key, step);
        uint64_t held = atomic_load_explicit(&slot->key, memory_order_acquire);
        if (held == 0) { return false; }
        if (held != key) { continue; }
        *value = slot->value;
        return true;
    }
    return false;
}

// Under the lock.
static void keep(preload_table *table, uint64_t key, uint64_t value) {
    preload_slot *slots = atomic_load_explicit(&table->slots, memory_order_relaxed);
    for (uint64_t step = 0; slots != NULL && step < PROBES; step++) {
        preload_slot *slot = slot_of(slots, key, step);
        uint64_t held = atomic_load_explicit(&slot->key, memory_order_relaxed);
        if (held == key) { break; }
        if (held != 0) { continue; }
        slot->value = value;
        atomic_store_explicit(&slot->key, key, memory_order_release);
        break;
    }
}

// Under the lock.
static void allocate(preload_table *table) {
    if (atomic_load_explicit(&table->slots, memory_order_relaxed) != NULL) { return; }
    atomic_store_explicit(&table->slots, calloc(PRELOAD_SLOTS, sizeof(preload_slot)), memory_order_release);
}

void preload_allocate(preload_table *table) {
    fl_take(&lock);
    allocate(table);
    fl_give(&lock);
}

void preload_keep(preload_table *table, uint64_t key, uint64_t value) {
    fl_take(&lock);
    allocate(table);
    keep(table, key, value);
    fl_give(&lock);
}

void preload_try_keep(preload_table *table, uint64_t key, uint64_t value) {
    if (!fl_try(&lock)) { return; }
    keep(table, key, value);
    fl_give(&lock);
}
