// The events that a record of a ring stands for.

#ifndef FAULTLINE_EXPAND_H
#define FAULTLINE_EXPAND_H

#include <faultline_schema.h>
#include <stdbool.h>

typedef void fl_take_event(void *context, const fl_event *event);

// Hands over the events that a record stands for: its own and those that are drawn from it, a nanosecond inside one
// another so that viewers nest them. Times become relative to `origin`. `event` is room to work in, whose `process` says
// whose they are. Returns how many there were; 0: the record is damaged.
uint32_t fl_expand(
    fl_event *event, const fl_header *record, uint64_t origin, fl_take_event *take, void *context);

// How many events a record of that kind stands for, whose own fields are `fields`.
uint32_t fl_events_of(fl_event_kind kind, const void *fields, bool has_statement);

#endif
