// How the recorder behaves on the threads of a program, which belong to the program: it may cancel them, and give them small
// stacks.

#ifndef FAULTLINE_GUEST_H
#define FAULTLINE_GUEST_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

// Variables of threads that a signal handler reads: they have their place from the thread's beginning.
#define FL_THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))

// MARK: - Cancellation

// Keeps a thread from being cancelled until `fl_unshield`. Opening, reading and writing files are cancellation points
// (pthreads(7)), and a cancelled thread leaves everything as it is.
static inline int fl_shield(void) {
    int before = PTHREAD_CANCEL_ENABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}
static inline void fl_unshield(int before) { pthread_setcancelstate(before, NULL); }

// A lock whose holder cannot be cancelled. Locks are released in the reverse order of their taking.
typedef struct fl_lock {
    pthread_mutex_t mutex;
    int before;  // whether the holder could be cancelled before
} fl_lock;
#define FL_LOCK_FREE {.mutex = PTHREAD_MUTEX_INITIALIZER}

static inline void fl_take(fl_lock *lock) {
    int before = fl_shield();
    pthread_mutex_lock(&lock->mutex);
    lock->before = before;
}

static inline bool fl_has_taken(fl_lock *lock, int before, int result) {
    if (result == 0) {
        lock->before = before;
    } else {
        fl_unshield(before);
    }
    return result == 0;
}

// False if another thread holds the lock, or this one.
static inline bool fl_try(fl_lock *lock) {
    int before = fl_shield();
    return fl_has_taken(lock, before, pthread_mutex_trylock(&lock->mutex));
}

// False if the lock is not free within some seconds.
static inline bool fl_take_within(fl_lock *lock, time_t seconds) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += seconds;
    int before = fl_shield();
    return fl_has_taken(lock, before, pthread_mutex_timedlock(&lock->mutex, &limit));
}

static inline void fl_give(fl_lock *lock) {
    int before = lock->before;
    pthread_mutex_unlock(&lock->mutex);
    fl_unshield(before);
}

// Frees a lock in a forked child, where another thread of the parent may have held it.
static inline void fl_free_lock(fl_lock *lock) { pthread_mutex_init(&lock->mutex, NULL); }

// MARK: - System calls

// Whether the process has forbidden itself system calls. The recorder then makes none that it can do without.
extern bool fl_confined;
static inline bool fl_is_confined(void) { return __atomic_load_n(&fl_confined, __ATOMIC_RELAXED); }
static inline void fl_confine(void) { __atomic_store_n(&fl_confined, true, __ATOMIC_RELAXED); }

// MARK: - Stacks

// The addresses of a stack.
typedef struct fl_stack_bounds {
    uintptr_t low, high;
} fl_stack_bounds;

// The calling thread's stack; 0 if it is not known yet.
extern FL_THREAD_LOCAL fl_stack_bounds fl_own_bounds;

// Finds the calling thread's stack. It allocates memory and takes a lock of the C library, so it must not be called within an
// allocation.
void fl_find_stack(void);

// The room that the calling thread's stack must have for work of any kind, in bytes.
#define FL_ROOM_BYTES (128u << 10)

// Whether the calling thread's stack has that room. A coroutine's stack, whose bounds are not known, does not count as having
// it.
static inline bool fl_has_room(void) {
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    return here - fl_own_bounds.low >= FL_ROOM_BYTES && here - fl_own_bounds.low < fl_own_bounds.high - fl_own_bounds.low;
}

// Does some work on a stack of the recorder's own, with signals blocked. Takes less than a kilobyte of the thread's stack.
// False if there is no memory for such a stack, or if it is in use; then the work was not done. In a signal handler, which
// must not make the stack, `may_make` is false.
bool fl_do_apart(void (*work)(void *), void *argument, bool may_make);

// The same, unless the thread's stack turns out to have room.
bool fl_make_room(void (*work)(void *), void *argument);

// Does some work where there is room for it: on the thread's own stack, if it has room. Programs have threads with stacks of
// 16 KiB and coroutines with even less, which SQLite just fits. False if the work could not be done.
static inline bool fl_with_room(void (*work)(void *), void *argument) {
    if (!fl_has_room()) { return fl_make_room(work, argument); }
    work(argument);
    return true;
}

// The frame of this thread's program from which a stack is to be walked: `frame`, unless that is on the recorder's own stack.
uintptr_t fl_frame_of_program(uintptr_t frame);

#endif
