// The exports of the library that samples allocations, beside the functions of the C library.

#ifndef FAULTLINE_HEAP_EXPORTS_H
#define FAULTLINE_HEAP_EXPORTS_H

#include <faultline_allocations.h>

// Passes samples to a recorder from now on; null ends that. The observer must live as long as the process.
void faultline_heap_join(const fl_heap_observer *observer);

#endif
