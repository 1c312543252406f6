// The tracer that passes events to LTTng: the providers `faultline`, `faultline_dictionary` and `faultline_statedump`.

#ifndef FAULTLINE_LTTNG_H
#define FAULTLINE_LTTNG_H

#include <faultline_tracer.h>

#ifdef __cplusplus
extern "C" {
#endif

// Loads LTTng's library. Null on failure, with the reason in the `room` bytes at `problem`, which is empty if the
// package was built without its trait `LTTng`.
const fl_tracer *fl_lttng_tracer(char *problem, size_t room);

#ifdef __cplusplus
}
#endif

#endif
