// Samples of a process's threads while they use a CPU.
//
// Each thread has a timer of its own CPU time, which sends it a signal. The signal's handler records the call stack of
// the code that it interrupted. A thread that sleeps or waits costs nothing.

#ifndef FAULTLINE_SAMPLER_H
#define FAULTLINE_SAMPLER_H

#include "faultline_recorder.h"
#include <signal.h>

#ifdef __cplusplus
extern "C" {
#endif

// The default number of samples for each second of a thread's CPU time. A prime to a program's own periods, which are
// often multiples of ten milliseconds.
#define FL_SAMPLES_PER_SECOND 99
#define FL_SAMPLES_PER_SECOND_MOST 10000

// Functions that help to find the interrupted code's stack. The signal handler calls them, so they must not wait, allocate,
// or call anything that does.
typedef struct fl_sampler_guide {
    // Writes the interrupted thread's functions of an interpreted language as fl_interpreted has them, and returns their
    // number. Sets `is_busy` if it would have to wait. Null: there is no such language.
    uint32_t (*interpreted)(
        fl_recorder *recorder, uint64_t *frames, uint32_t room, fl_interpreted *interpreter, bool *truncated,
        bool *is_busy);
    // The frame of the innermost function of the interrupted thread that keeps frame pointers, or 0. Null: not known.
    uintptr_t (*anchor)(void);
} fl_sampler_guide;

// The same as fl_intern for a signal handler, which cannot wait: if a lock is held, `is_busy` is set and the result is 0.
uint32_t fl_intern_sampled(
    fl_recorder *recorder, fl_dictionary_kind kind, const void *text, size_t text_length, const char *label,
    bool *is_busy);

// Starts to sample the process, beginning with the calling thread. `rate` is the number of samples for each second of CPU
// time; the kernel delivers no more than it has ticks. `guide` can be null, and must otherwise live as long as the
// process. False with errno set if that is not possible: EBUSY if another recorder samples the process.
bool fl_sampler_start(fl_recorder *recorder, uint64_t rate, const fl_sampler_guide *guide);

// Lets the calling thread be sampled until it ends, if the process is sampled.
void fl_sampler_enter_thread(void);

// The samples for each second of CPU time that a text asks for, between 1 and FL_SAMPLES_PER_SECOND_MOST; 0 if it is null
// or no number.
uint64_t fl_sampler_rate(const char *text);

// Whether an action is the sampler's own.
bool fl_sampler_owns(const struct sigaction *action);

// Sets the action for signals of the sampler's number that no timer of the sampler sent, which belong to the program. Either
// can be null.
void fl_sampler_set_action(const struct sigaction *action, struct sigaction *before);

// No sample is recorded between these two calls. A sample could otherwise read the memory of a module that is being
// unloaded.
void fl_sampler_pause(void);
void fl_sampler_resume(void);

// The services of the preloaded library for the sampler of a recorder that the program contains.
typedef struct fl_sampler_client {
    void (*enter_thread)(void);  // called in each new thread
    void (*pause)(void);         // called around the unloading of modules
    void (*resume)(void);
    // Called when the program sets its action for the signal, which it can otherwise neither handle nor block.
    void (*set_action)(const struct sigaction *action, struct sigaction *before);
    int signal;
} fl_sampler_client;

// The process's sampler as a client.
const fl_sampler_client *fl_sampler_as_client(void);

// Makes the sampler a client of the library that is preloaded into the program, if there is one.
void fl_sampler_join_observer(void);

// The default mean distance between two sampled allocations, in bytes.
#define FL_ALLOCATION_INTERVAL (512u << 10)

// Starts to sample the process's allocations, if the library that sees them was preloaded. `interval` is the mean distance
// between two samples, in bytes; `guide` is as for fl_sampler_start. False with errno set if that is not possible: ENOENT
// without the library.
bool fl_sample_allocations(fl_recorder *recorder, uint64_t interval, const fl_sampler_guide *guide);

// Ends the sampling of allocations in a forked child.
void fl_allocations_after_fork(void);

// Ends the sampling by a recorder.
void fl_sampler_stop(const fl_recorder *recorder);

// Ends the sampling in a forked child, whose parent's timers it does not have.
void fl_sampler_after_fork(void);

#ifdef __cplusplus
}
#endif

#endif
