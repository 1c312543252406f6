#define _GNU_SOURCE
#include "cstore.h"

#include <sched.h>
#include <unistd.h>

static _Thread_local void *thread_value;

void *cstore_thread_value(void) { return thread_value; }

void cstore_set_thread_value(void *value) { thread_value = value; }

uint32_t cstore_thread_number(void) {
    static _Thread_local uint32_t number;
    if (number == 0) { number = (uint32_t)gettid(); }
    return number;
}

void cstore_wait_for_lock(uint32_t *lock) {
    for (int turn = 0;; turn++) {
        // Only reads until the lock is free, which leaves the cache line with the lock's owner.
        if (__atomic_load_n(lock, __ATOMIC_RELAXED) == 0 && __atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) == 0) return;
        // The owner may not be running.
        if (turn >= 100) sched_yield();
    }
}
