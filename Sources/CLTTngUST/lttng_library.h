// LTTng's library, which is loaded when a program asks for it and not before: from its start on it keeps threads and
// shared memory, and it ends the program where there is no room for that.

#ifndef FAULTLINE_LTTNG_LIBRARY_H
#define FAULTLINE_LTTNG_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

// What the providers' constructors call, before the program begins and without the library.
#define lttng_ust_probe_register fl_lttng_note_probe
#define lttng_ust_probe_unregister fl_lttng_forget_probe

// Loads the library and registers the providers. False if it cannot be had; `problem` then says why, in at most `room`
// bytes.
bool fl_lttng_load(char *problem, size_t room);

// lttng_ust_tracepoint_provider_register, once the library is loaded.
int fl_lttng_listen(
    const char *provider, const char *event, void (*callback)(void), void *data, const char *signature);

#endif
