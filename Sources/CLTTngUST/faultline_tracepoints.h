// The tracepoints of the provider `faultline`: one for each kind of event, with the schema's fields.
//
// The fields come from the schema's lists, so that a field is said once. Included several times by LTTng's macros.

#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER faultline

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./faultline_tracepoints.h"

#if !defined(FAULTLINE_TRACEPOINTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define FAULTLINE_TRACEPOINTS_H

// Only macros may stand where the header is read again.
#ifndef LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ
#include <faultline_schema.h>
#endif
#include <lttng/tracepoint.h>

// MARK: - Words of enumerations

#define FL_TP_WORD(word) lttng_ust_field_enum_auto(word)

LTTNG_UST_TRACEPOINT_ENUM(faultline, FL_ENUMERATION_RESULT_TYPE, LTTNG_UST_TP_ENUM_VALUES(FL_RESULT_TYPES(FL_TP_WORD)))
LTTNG_UST_TRACEPOINT_ENUM(faultline, FL_ENUMERATION_FAULT_TYPE, LTTNG_UST_TP_ENUM_VALUES(FL_FAULT_TYPES(FL_TP_WORD)))
LTTNG_UST_TRACEPOINT_ENUM(faultline, FL_ENUMERATION_FAULT_SOURCE, LTTNG_UST_TP_ENUM_VALUES(FL_FAULT_SOURCES(FL_TP_WORD)))
LTTNG_UST_TRACEPOINT_ENUM(faultline, FL_ENUMERATION_STATEMENT_TYPE, LTTNG_UST_TP_ENUM_VALUES(FL_STATEMENT_TYPES(FL_TP_WORD)))
LTTNG_UST_TRACEPOINT_ENUM(faultline, FL_ENUMERATION_SCOPE_KIND, LTTNG_UST_TP_ENUM_VALUES(FL_SCOPE_KINDS(FL_TP_WORD)))
LTTNG_UST_TRACEPOINT_ENUM(faultline, FL_ENUMERATION_SCOPE_PHASE, LTTNG_UST_TP_ENUM_VALUES(FL_SCOPE_PHASES(FL_TP_WORD)))
LTTNG_UST_TRACEPOINT_ENUM(faultline, FL_ENUMERATION_USE_STATE, LTTNG_UST_TP_ENUM_VALUES(FL_USE_STATES(FL_TP_WORD)))
LTTNG_UST_TRACEPOINT_ENUM(faultline, FL_ENUMERATION_MERGE_TRIGGER, LTTNG_UST_TP_ENUM_VALUES(FL_MERGE_TRIGGERS(FL_TP_WORD)))
LTTNG_UST_TRACEPOINT_ENUM(faultline, FL_ENUMERATION_WAIT_RESOURCE, LTTNG_UST_TP_ENUM_VALUES(FL_WAIT_RESOURCES(FL_TP_WORD)))

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

#define FL_TP_COMMON(type, name, meaning, detail) FL_TP_##meaning(type, name, event->header.name, detail)
#define FL_TP_HEADER                                                                       \
    lttng_ust_field_integer(uint32_t, process, event->process)                             \
    lttng_ust_field_integer(uint32_t, thread, event->header.thread)                        \
    lttng_ust_field_integer(uint8_t, flags, event->header.flags)                           \
    FL_COMMON_FIELDS(FL_TP_COMMON)
// A length of 16 bits, since libbabeltrace2 makes room for as many numbers as a damaged one says.
#define FL_TP_LISTS lttng_ust_field_sequence(uint64_t, lists, event->lists, uint16_t, event->listWords)

#define FL_TP_OWN_FETCH(type, name, meaning, detail) FL_TP_##meaning(type, name, event->fields.fetch.name, detail)
LTTNG_UST_TRACEPOINT_EVENT(
    faultline, fetch, LTTNG_UST_TP_ARGS(const fl_event *, event),
    LTTNG_UST_TP_FIELDS(FL_TP_HEADER FL_FETCH_FIELDS(FL_TP_OWN_FETCH) FL_TP_LISTS))

#define FL_TP_OWN_BATCH(type, name, meaning, detail) FL_TP_##meaning(type, name, event->fields.batch.name, detail)
LTTNG_UST_TRACEPOINT_EVENT(
    faultline, batch, LTTNG_UST_TP_ARGS(const fl_event *, event),
    LTTNG_UST_TP_FIELDS(FL_TP_HEADER FL_BATCH_FIELDS(FL_TP_OWN_BATCH) FL_TP_LISTS))

#define FL_TP_OWN_FAULT(type, name, meaning, detail) FL_TP_##meaning(type, name, event->fields.fault.name, detail)
LTTNG_UST_TRACEPOINT_EVENT(
    faultline, fault, LTTNG_UST_TP_ARGS(const fl_event *, event),
    LTTNG_UST_TP_FIELDS(FL_TP_HEADER FL_FAULT_FIELDS(FL_TP_OWN_FAULT)))

#define FL_TP_OWN_MISS(type, name, meaning, detail) FL_TP_##meaning(type, name, event->fields.cacheMiss.name, detail)
LTTNG_UST_TRACEPOINT_EVENT(
    faultline, cacheMiss, LTTNG_UST_TP_ARGS(const fl_event *, event),
    LTTNG_UST_TP_FIELDS(FL_TP_HEADER FL_CACHE_MISS_FIELDS(FL_TP_OWN_MISS)))

#define FL_TP_OWN_SAVE(type, name, meaning, detail) FL_TP_##meaning(type, name, event->fields.save.name, detail)
LTTNG_UST_TRACEPOINT_EVENT(
    faultline, save, LTTNG_UST_TP_ARGS(const fl_event *, event),
    LTTNG_UST_TP_FIELDS(FL_TP_HEADER FL_SAVE_FIELDS(FL_TP_OWN_SAVE) FL_TP_LISTS))

#define FL_TP_OWN_SQL(type, name, meaning, detail) FL_TP_##meaning(type, name, event->fields.sql.name, detail)
LTTNG_UST_TRACEPOINT_EVENT(
    faultline, sql, LTTNG_UST_TP_ARGS(const fl_event *, event),
    LTTNG_UST_TP_FIELDS(FL_TP_HEADER FL_SQL_FIELDS(FL_TP_OWN_SQL)))

#define FL_TP_OWN_USE(type, name, meaning, detail) FL_TP_##meaning(type, name, event->fields.use.name, detail)
LTTNG_UST_TRACEPOINT_EVENT(
    faultline, use, LTTNG_UST_TP_ARGS(const fl_event *, event),
    LTTNG_UST_TP_FIELDS(FL_TP_HEADER FL_USE_FIELDS(FL_TP_OWN_USE) FL_TP_LISTS))

#define FL_TP_OWN_SCOPE(type, name, meaning, detail) FL_TP_##meaning(type, name, event->fields.scope.name, detail)
LTTNG_UST_TRACEPOINT_EVENT(
    faultline, scope, LTTNG_UST_TP_ARGS(const fl_event *, event),
    LTTNG_UST_TP_FIELDS(FL_TP_HEADER FL_SCOPE_FIELDS(FL_TP_OWN_SCOPE)))

#define FL_TP_OWN_MERGE(type, name, meaning, detail) FL_TP_##meaning(type, name, event->fields.merge.name, detail)
LTTNG_UST_TRACEPOINT_EVENT(
    faultline, merge, LTTNG_UST_TP_ARGS(const fl_event *, event),
    LTTNG_UST_TP_FIELDS(FL_TP_HEADER FL_MERGE_FIELDS(FL_TP_OWN_MERGE) FL_TP_LISTS))

#define FL_TP_OWN_REFRESH(type, name, meaning, detail) FL_TP_##meaning(type, name, event->fields.refresh.name, detail)
LTTNG_UST_TRACEPOINT_EVENT(
    faultline, refresh, LTTNG_UST_TP_ARGS(const fl_event *, event),
    LTTNG_UST_TP_FIELDS(FL_TP_HEADER FL_REFRESH_FIELDS(FL_TP_OWN_REFRESH)))

#define FL_TP_OWN_WAIT(type, name, meaning, detail) FL_TP_##meaning(type, name, event->fields.wait.name, detail)
LTTNG_UST_TRACEPOINT_EVENT(
    faultline, wait, LTTNG_UST_TP_ARGS(const fl_event *, event),
    LTTNG_UST_TP_FIELDS(FL_TP_HEADER FL_WAIT_FIELDS(FL_TP_OWN_WAIT)))

#define FL_TP_OWN_RELEASE(type, name, meaning, detail) FL_TP_##meaning(type, name, event->fields.release.name, detail)
LTTNG_UST_TRACEPOINT_EVENT(
    faultline, release, LTTNG_UST_TP_ARGS(const fl_event *, event),
    LTTNG_UST_TP_FIELDS(FL_TP_HEADER FL_RELEASE_FIELDS(FL_TP_OWN_RELEASE)))

#endif

#include <lttng/tracepoint-event.h>
