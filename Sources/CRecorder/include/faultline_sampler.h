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

// The knowledge of a program that records others' code. The signal handler calls these functions, which must therefore not
// wait, allocate, or call anything that does.
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

// The signal of the timers; 0 if the process is not sampled.
int fl_sampler_signal(void);

// Whether an action is the sampler's own.
bool fl_sampler_owns(const struct sigaction *action);

// Lets the library that is preloaded into the program, if there is one, enter the program's threads and keep the program
// from taking the signal. For a program that records itself.
void fl_sampler_join_observer(void);

// Ends the sampling by a recorder.
void fl_sampler_stop(const fl_recorder *recorder);

// Ends the sampling in a forked child, whose parent's timers it does not have.
void fl_sampler_after_fork(void);

#ifdef __cplusplus
}
#endif

#endif
