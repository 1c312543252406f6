// The recorder's connection to its tracer, which receives events in addition to the rings or instead of them.

#ifndef FAULTLINE_TRACING_H
#define FAULTLINE_TRACING_H

#include "expand.h"
#include "recorder.h"

// A thread's working memory for records and the events expanded from them.
struct fl_traced {
    fl_event event;
    // Any record fits: an event's header, fields and lists, and a statement.
    _Alignas(8) char record[sizeof(fl_event) + sizeof(fl_statement_time) + sizeof(fl_sql)];
};

// Passes the events in a ring's record to the tracer. `event` is working memory.
void fl_trace_record(fl_recorder *recorder, fl_ring *ring, fl_event *event, const fl_header *record);

// Passes a new entry to the tracer.
void fl_trace_entry(fl_recorder *recorder, const fl_entry *entry);

// Announces that the process records from now on, and registers its dictionary for later listeners.
void fl_trace_begin(fl_recorder *recorder);

// Passes use summaries that are still open to the tracer, and announces the end of recording.
void fl_trace_end(fl_recorder *recorder);

#endif
