// What a recorder hands to its tracer, beside what goes into its rings or instead of it.

#ifndef FAULTLINE_TRACING_H
#define FAULTLINE_TRACING_H

#include "expand.h"
#include "recorder.h"

// Room that a thread has for records and the events that are made of them.
struct fl_traced {
    fl_event event;
    // Any record fits: an event's header, fields and lists, and a statement.
    _Alignas(8) char record[sizeof(fl_event) + sizeof(fl_statement_time) + sizeof(fl_sql)];
};

// Hands over the events that the thread's record stands for.
void fl_trace_record(fl_thread *thread, const fl_header *record);

// Hands over an entry that is new.
void fl_trace_entry(fl_recorder *recorder, const fl_entry *entry);

// Tells that the process records from now on, and has its dictionary described to whoever listens later.
void fl_trace_begin(fl_recorder *recorder);

// Hands over use summaries that are still open, and tells that the process records no more.
void fl_trace_end(fl_recorder *recorder);

#endif
