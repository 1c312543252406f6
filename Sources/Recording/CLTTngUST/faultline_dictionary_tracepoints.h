// The tracepoints of the provider `faultline_dictionary`: entries that events refer to by number, emitted when they
// are new.

#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER faultline_dictionary

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./faultline_dictionary_tracepoints.h"

#if !defined(FAULTLINE_DICTIONARY_TRACEPOINTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define FAULTLINE_DICTIONARY_TRACEPOINTS_H

#include "dictionary_fields.h"
// LTTng includes the header repeatedly, so it may contain only macros here.
#ifndef LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ
#include <faultline_tracer.h>
#endif
#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(
    faultline_dictionary, entry, LTTNG_UST_TP_ARGS(const fl_tracer_entry *, entry), LTTNG_UST_TP_FIELDS(FL_TP_ENTRY))

LTTNG_UST_TRACEPOINT_EVENT(
    faultline_dictionary, stack, LTTNG_UST_TP_ARGS(const fl_tracer_entry *, entry), LTTNG_UST_TP_FIELDS(FL_TP_STACK))

LTTNG_UST_TRACEPOINT_EVENT(
    faultline_dictionary, process, LTTNG_UST_TP_ARGS(const fl_tracer_process *, process),
    LTTNG_UST_TP_FIELDS(FL_TP_PROCESS))

LTTNG_UST_TRACEPOINT_EVENT(
    faultline_dictionary, end, LTTNG_UST_TP_ARGS(const fl_tracer_end *, end),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(uint32_t, process, end->process)
        lttng_ust_field_integer(uint64_t, end, end->end)
        lttng_ust_field_integer(uint64_t, events, end->events)
        lttng_ust_field_integer(uint64_t, lost, end->lost)
        lttng_ust_field_integer(uint64_t, entriesLost, end->entries_lost)
        lttng_ust_field_integer(uint64_t, usesLost, end->uses_lost)))

#endif

#include <lttng/tracepoint-event.h>
