#include "faultline_lttng_library.h"

#include <faultline_lttng.h>

__attribute__((visibility("default"))) const fl_tracer *faultline_lttng_tracer(char *problem, size_t room) {
    return fl_lttng_tracer(problem, room);
}
