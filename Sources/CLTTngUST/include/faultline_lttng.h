// The tracer that hands events to LTTng: the providers `faultline`, `faultline_dictionary` and `faultline_statedump`.

#ifndef FAULTLINE_LTTNG_H
#define FAULTLINE_LTTNG_H

#include <faultline_tracer.h>

#ifdef __cplusplus
extern "C" {
#endif

// Tells what is in a dictionary: hands its process and every entry to the functions.
typedef void fl_lttng_describe(
    void *dictionary, void (*process)(void *context, const fl_tracer_process *process),
    void (*entry)(void *context, const fl_tracer_entry *entry), void *context);

const fl_tracer *fl_lttng_tracer(void);

// Has a dictionary sent to each session that starts from now on, until it is forgotten. False if there are too many.
bool fl_lttng_remember(void *dictionary, fl_lttng_describe *describe);
void fl_lttng_forget(void *dictionary);

#ifdef __cplusplus
}
#endif

#endif
