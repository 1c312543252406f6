#ifdef FAULTLINE_LTTNG
#include "lttng_library.h"

// An event of this provider goes only to the session in its first argument.
#define LTTNG_UST_TP_SESSION_CHECK
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "faultline_statedump_tracepoints.h"
#endif
