// The exports of the library for recording to LTTng.

#ifndef FAULTLINE_LTTNG_LIBRARY_EXPORTS_H
#define FAULTLINE_LTTNG_LIBRARY_EXPORTS_H

#include <faultline_tracer.h>

// Loads LTTng's library. Null on failure, with the reason in the `room` bytes at `problem`. The preloaded library looks
// this up by name.
const fl_tracer *faultline_lttng_tracer(char *problem, size_t room);

#endif
