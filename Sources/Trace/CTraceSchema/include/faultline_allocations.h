// The connection between the library that samples allocations and a recorder.

#ifndef FAULTLINE_ALLOCATIONS_H
#define FAULTLINE_ALLOCATIONS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The receiver of samples. It is called on the thread that allocates, which may hold locks of its program.
typedef struct fl_heap_observer {
    uint64_t interval;  // the mean distance between two samples, in bytes
    // Records a sampled block. `bytes` and `count` are what it stands for. `frame` is the frame of the function that
    // was called to allocate. Returns the sample's number, or 0 if it was not recorded.
    uint64_t (*allocated)(uint64_t size, uint64_t bytes, uint64_t count, uintptr_t frame);
    // Records that a sampled block was freed.
    void (*released)(uint64_t id);
    // Counts a sample that the library had no room for.
    void (*lost)(void);
} fl_heap_observer;

#ifdef __cplusplus
}
#endif

#endif
