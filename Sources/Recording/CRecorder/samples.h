// Recording samples: events that a signal handler, or code that runs within an allocation, puts into a ring of their own. It
// takes no lock that its caller could hold, and allocates nothing.

#ifndef FAULTLINE_SAMPLES_H
#define FAULTLINE_SAMPLES_H

#include "faultline_sampler.h"
#include "recorder.h"

// The state of a thread that is sampled.
typedef struct fl_sampled_thread {
    uint32_t number;       // 0: not prepared
    bool is_main;
    bool is_introduced;    // the dictionary has its name
    fl_stack_bounds stack;
} fl_sampled_thread;

extern FL_THREAD_LOCAL fl_sampled_thread fl_sampled;

// Prepares the calling thread to be sampled. Takes no lock and allocates nothing, since an allocation may be sampled while
// its thread holds a lock.
void fl_prepare_sampled_thread(void);

// Whether the process's samples go to a recorder.
bool fl_has_samples(void);

// Counts a sample that was not recorded.
void fl_count_lost_sample(void);

// Makes the process's samples go to a recorder, into a ring of `bytes` that all threads share. `guide` can be null, and must
// otherwise live as long as the process. If the ring exists, it stays as it is. False with errno set: EBUSY if another
// recorder takes the samples, ENOSPC if there is no room.
bool fl_open_samples(fl_recorder *recorder, uint64_t bytes, const fl_sampler_guide *guide);

// The registers of code that a sample interrupts.
typedef struct fl_interruption {
    uintptr_t instruction, stack, frame, link;
} fl_interruption;

// Records a sample of the calling thread, which is prepared. `at` is null for a sample without a stack. `leaf` points to the
// field for the interrupted instruction; null: the instruction is a return address. Returns the event's number, or 0 if it
// was not recorded. `is_busy` is set if that was because another thread was recording.
uint64_t fl_put_sample(
    fl_recorder *recorder, const fl_interruption *at, fl_event_kind kind, void *fields, uint32_t *leaf, bool *is_busy);

// Adds the call stack to a sample, while no other thread records one. `leaf` is as for fl_put_sample.
void fl_add_sampled_stack(
    fl_recorder *recorder, const fl_sampler_guide *guide, const fl_interruption *interruption, fl_header *header,
    uint32_t *leaf, bool *is_busy);

void fl_samples_after_fork(void);

#endif
