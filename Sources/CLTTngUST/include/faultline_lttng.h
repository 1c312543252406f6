// The tracer that hands events to LTTng: the providers `faultline`, `faultline_dictionary` and `faultline_statedump`.

#ifndef FAULTLINE_LTTNG_H
#define FAULTLINE_LTTNG_H

#include <faultline_tracer.h>

#ifdef __cplusplus
extern "C" {
#endif

// Null if the package was built without its trait `LTTng`.
const fl_tracer *fl_lttng_tracer(void);

#ifdef __cplusplus
}
#endif

#endif
