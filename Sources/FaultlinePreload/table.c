#include "preload.h"

#include <pthread.h>
#include <stdlib.h>

// How many slots after its first one a key can be in.
#define PROBES 16

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void preload_lock_tables(void) { pthread_mutex_lock(&lock); }
void preload_unlock_tables(void) { pthread_mutex_unlock(&lock); }

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

void preload_keep(preload_table *table, uint64_t key, uint64_t value) {
    pthread_mutex_lock(&lock);
    preload_slot *slots = atomic_load_explicit(&table->slots, memory_order_relaxed);
    if (slots == NULL) {
        slots = calloc(PRELOAD_SLOTS, sizeof *slots);
        atomic_store_explicit(&table->slots, slots, memory_order_release);
    }
    for (uint64_t step = 0; slots != NULL && step < PROBES; step++) {
        preload_slot *slot = slot_of(slots, key, step);
        uint64_t held = atomic_load_explicit(&slot->key, memory_order_relaxed);
        if (held == key) { break; }
        if (held != 0) { continue; }
        slot->value = value;
        atomic_store_explicit(&slot->key, key, memory_order_release);
        break;
    }
    pthread_mutex_unlock(&lock);
}
