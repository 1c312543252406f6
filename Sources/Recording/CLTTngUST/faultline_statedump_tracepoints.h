// The tracepoints of the provider `faultline_statedump`: the dictionary at the start of a session, for that session
// alone. A session that starts late therefore misses no names.

#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER faultline_statedump

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./faultline_statedump_tracepoints.h"

#if !defined(FAULTLINE_STATEDUMP_TRACEPOINTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define FAULTLINE_STATEDUMP_TRACEPOINTS_H

#include "dictionary_fields.h"
// LTTng includes the header repeatedly, so it may contain only macros here.
#ifndef LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ
#include <faultline_tracer.h>
#endif
#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(
    faultline_statedump, entry, LTTNG_UST_TP_ARGS(struct lttng_ust_session *, session, const fl_tracer_entry *, entry),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_unused(session) FL_TP_ENTRY))

LTTNG_UST_TRACEPOINT_EVENT(
    faultline_statedump, stack, LTTNG_UST_TP_ARGS(struct lttng_ust_session *, session, const fl_tracer_entry *, entry),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_unused(session) FL_TP_STACK))

LTTNG_UST_TRACEPOINT_EVENT(
    faultline_statedump, process, LTTNG_UST_TP_ARGS(struct lttng_ust_session *, session, const fl_tracer_process *, process),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_unused(session) FL_TP_PROCESS))

#endif

#include <lttng/tracepoint-event.h>
