// LTTng's library, loaded only when a program uses it: once loaded, it keeps threads and shared memory, and ends the
// program if there is no room for them.

#ifndef FAULTLINE_LTTNG_LIBRARY_H
#define FAULTLINE_LTTNG_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

// The functions that the providers' constructors call, before the program begins and without the library.
#define lttng_ust_probe_register fl_lttng_note_probe
#define lttng_ust_probe_unregister fl_lttng_forget_probe

// Loads the library and registers the providers. False on failure, with the reason in the `room` bytes at `problem`.
bool fl_lttng_load(char *problem, size_t room);

// Called around a fork, once the library is loaded.
void fl_lttng_before_fork(void);
void fl_lttng_after_fork_in_parent(void);
void fl_lttng_after_fork_in_child(void);

// lttng_ust_tracepoint_provider_register, once the library is loaded.
int fl_lttng_listen(
    const char *provider, const char *event, void (*callback)(void), void *data, const char *signature);

#endif
