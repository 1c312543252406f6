// The tracepoints of the provider `faultline`: one for each kind of event, with the schema's fields.
//
// The fields come from the schema's lists, which declares each field once. LTTng's macros include the file several
// times.

#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER faultline

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./faultline_tracepoints.h"

#if !defined(FAULTLINE_TRACEPOINTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define FAULTLINE_TRACEPOINTS_H

// LTTng includes the header repeatedly, so it may contain only macros here.
#ifndef LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ
#include <faultline_schema.h>
#endif
#include <lttng/tracepoint.h>

// MARK: - Words of enumerations

#define FL_TP_WORD(word, ...) lttng_ust_field_enum_auto(word)
#define FL_TP_ENUMERATION(symbol, type, words, ...) \
    LTTNG_UST_TRACEPOINT_ENUM(faultline, FL_ENUMERATION_##symbol, LTTNG_UST_TP_ENUM_VALUES(words(FL_TP_WORD)))
FL_ENUMERATIONS(FL_TP_ENUMERATION)

// MARK: - Fields

#define FL_TP_FL_COUNT(type, name, source, detail) lttng_ust_field_integer(type, name, source)
#define FL_TP_FL_BYTES(type, name, source, detail) lttng_ust_field_integer(type, name, source)
#define FL_TP_FL_NANOSECONDS(type, name, source, detail) lttng_ust_field_integer(type, name, source)
#define FL_TP_FL_EVENT_ID(type, name, source, detail) lttng_ust_field_integer(type, name, source)
#define FL_TP_FL_REFERENCE(type, name, source, detail) lttng_ust_field_integer(type, name, source)
#define FL_TP_FL_HASH(type, name, source, detail) lttng_ust_field_integer_hex(type, name, source)
#define FL_TP_FL_ENUMERATION(type, name, source, detail) lttng_ust_field_enum(faultline, detail, type, name, source)
#define FL_TP_FL_FLAG(type, name, source, detail) lttng_ust_field_integer(type, name, source)
#define FL_TP_FL_CODE(type, name, source, detail) lttng_ust_field_integer(type, name, source)

#define FL_TP_FIELD(fields, type, name, meaning, detail, ...) FL_TP_##meaning(type, name, event->fields.name, detail)
#define FL_TP_HEADER                                                                       \
    lttng_ust_field_integer(uint32_t, process, event->process)                             \
    lttng_ust_field_integer(uint32_t, thread, event->header.thread)                        \
    lttng_ust_field_integer(uint8_t, flags, event->header.flags)                           \
    FL_COMMON_FIELDS(FL_TP_FIELD, header)

// A 16-bit length, since libbabeltrace2 allocates as many numbers as a damaged length states.
#define FL_TP_FL_WITH_LISTS lttng_ust_field_sequence(uint64_t, lists, event->lists, uint16_t, event->listWords)
#define FL_TP_FL_WITHOUT_LISTS

// MARK: - Tracepoints

#define FL_TP_EVENT(symbol, name, structure, type, title, presence, lists, ...)                \
    LTTNG_UST_TRACEPOINT_EVENT(                                                                \
        faultline, name, LTTNG_UST_TP_ARGS(const fl_event *, event),                           \
        LTTNG_UST_TP_FIELDS(FL_TP_HEADER FL_##symbol##_FIELDS(FL_TP_FIELD, fields.name) FL_TP_##lists))
FL_EVENT_KINDS(FL_TP_EVENT)

#endif

#include <lttng/tracepoint-event.h>
