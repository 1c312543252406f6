#ifdef FAULTLINE_LTTNG
#include "lttng_library.h"

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "faultline_dictionary_tracepoints.h"
#endif
