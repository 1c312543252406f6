// The fields that the two dictionary providers share.

#ifndef FAULTLINE_DICTIONARY_FIELDS_H
#define FAULTLINE_DICTIONARY_FIELDS_H

struct lttng_ust_session;

#define FL_TP_ENTRY                                                              \
    lttng_ust_field_integer(uint32_t, process, entry->process)                   \
    lttng_ust_field_integer(uint32_t, id, entry->id)                             \
    lttng_ust_field_string(kind, entry->kind)                                    \
    lttng_ust_field_sequence_text(char, json, entry->json, uint32_t, entry->length)

#define FL_TP_STACK                                                              \
    lttng_ust_field_integer(uint32_t, process, entry->process)                   \
    lttng_ust_field_integer(uint32_t, id, entry->id)                             \
    lttng_ust_field_integer(uint8_t, isTruncated, entry->is_truncated)           \
    lttng_ust_field_sequence_hex(uint64_t, frames, entry->frames, uint16_t, entry->frame_count)

#define FL_TP_PROCESS                                                            \
    lttng_ust_field_integer(uint32_t, version, FL_TRACE_VERSION)                 \
    lttng_ust_field_integer(uint32_t, process, process->process)                 \
    lttng_ust_field_integer(uint64_t, start, process->start)                     \
    lttng_ust_field_integer(uint64_t, origin, process->origin)                   \
    lttng_ust_field_float(double, date, process->date)                           \
    lttng_ust_field_string(program, process->program)                            \
    lttng_ust_field_integer(uint8_t, isObserved, process->is_observed)

#endif
