// The tracer that hands events to LTTng: the providers `faultline`, `faultline_dictionary` and `faultline_statedump`.

#ifndef FAULTLINE_LTTNG_H
#define FAULTLINE_LTTNG_H

#include <faultline_tracer.h>

#ifdef __cplusplus
extern "C" {
#endif

// Loads LTTng's library. Null if that cannot be done; `problem` then says why, in at most `room` bytes, or nothing if the
// package was built without its trait `LTTng`.
const fl_tracer *fl_lttng_tracer(char *problem, size_t room);

#ifdef __cplusplus
}
#endif

#endif
