// Expands a record of a ring to its events.

#ifndef FAULTLINE_EXPAND_H
#define FAULTLINE_EXPAND_H

#include <faultline_schema.h>
#include <stdbool.h>

typedef void fl_take_event(void *context, const fl_event *event);

// Delivers the events of a record: its own and those derived from it, each a nanosecond inside the one around it,
// which makes viewers nest them. Times become relative to `origin`. `event` is working memory, whose `process` is
// already set. Returns the number of events; 0 if the record is damaged.
uint32_t fl_expand(
    fl_event *event, const fl_header *record, uint64_t origin, fl_take_event *take, void *context);

// The number of events in a record of that kind with those fields.
uint32_t fl_events_of(fl_event_kind kind, const void *fields, bool has_statement);

#endif
