#include "faultline_lttng.h"
#include "lttng_library.h"

#ifdef FAULTLINE_LTTNG

#include <faultline_guest.h>
#include <stddef.h>

#include "faultline_dictionary_tracepoints.h"
#include "faultline_statedump_tracepoints.h"
#include "faultline_tracepoints.h"

// MARK: - Events

static bool is_wanted(uint32_t kind) {
    switch (kind) {
#define X(symbol, name, ...) \
    case FL_EVENT_##symbol: return lttng_ust_tracepoint_enabled(faultline, name);
        FL_EVENT_KINDS(X)
#undef X
    default: return false;
    }
}

static void hand_event(const fl_event *event) {
    switch (event->header.kind) {
#define X(symbol, name, ...) \
    case FL_EVENT_##symbol: lttng_ust_tracepoint(faultline, name, event); break;
        FL_EVENT_KINDS(X)
#undef X
    default: break;
    }
}

// MARK: - The dictionary, when an entry is new

static void hand_entry(const fl_tracer_entry *entry) {
    if (entry->frames != NULL) {
        lttng_ust_tracepoint(faultline_dictionary, stack, entry);
    } else {
        lttng_ust_tracepoint(faultline_dictionary, entry, entry);
    }
}

static void hand_process(const fl_tracer_process *process) {
    lttng_ust_tracepoint(faultline_dictionary, process, process);
}

static void hand_end(const fl_tracer_end *end) { lttng_ust_tracepoint(faultline_dictionary, end, end); }

// MARK: - The dictionary, when a session starts

#define DICTIONARIES_MAXIMUM 64

static fl_lock dictionaries_lock = FL_LOCK_FREE;
static struct {
    void *dictionary;
    fl_tracer_describe *describe;
} dictionaries[DICTIONARIES_MAXIMUM];

static void dump_process(void *session, const fl_tracer_process *process) {
    lttng_ust_tracepoint(faultline_statedump, process, (struct lttng_ust_session *)session, process);
}

static void dump_entry(void *session, const fl_tracer_entry *entry) {
    if (entry->frames != NULL) {
        lttng_ust_tracepoint(faultline_statedump, stack, (struct lttng_ust_session *)session, entry);
    } else {
        lttng_ust_tracepoint(faultline_statedump, entry, (struct lttng_ust_session *)session, entry);
    }
}

// Called on LTTng's own thread for each session that starts, and for `lttng regenerate statedump`.
//
// This is the first event of LTTng's state dump, whose only argument is the session. It is not documented that
// programs can listen to it.
static void session_starts(void *data, struct lttng_ust_session *session) {
    (void)data;
    fl_take(&dictionaries_lock);
    for (size_t index = 0; index < DICTIONARIES_MAXIMUM; index++) {
        if (dictionaries[index].dictionary == NULL) { continue; }
        dictionaries[index].describe(dictionaries[index].dictionary, dump_process, dump_entry, session);
    }
    fl_give(&dictionaries_lock);
}

static void listen_to_sessions(void) {
    fl_lttng_listen(
        "lttng_ust_statedump", "start", (void (*)(void))session_starts, NULL, "struct lttng_ust_session *, session");
}

static bool remember(void *dictionary, fl_tracer_describe *describe) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, listen_to_sessions);
    bool found = false;
    fl_take(&dictionaries_lock);
    for (size_t index = 0; index < DICTIONARIES_MAXIMUM && !found; index++) {
        found = dictionaries[index].dictionary == NULL;
        if (!found) { continue; }
        dictionaries[index].dictionary = dictionary;
        dictionaries[index].describe = describe;
    }
    fl_give(&dictionaries_lock);
    return found;
}

static void forget(void *dictionary) {
    fl_take(&dictionaries_lock);
    for (size_t index = 0; index < DICTIONARIES_MAXIMUM; index++) {
        if (dictionaries[index].dictionary == dictionary) { dictionaries[index].dictionary = NULL; }
    }
    fl_give(&dictionaries_lock);
}

const fl_tracer *fl_lttng_tracer(char *problem, size_t room) {
    if (!fl_lttng_load(problem, room)) { return NULL; }
    static const fl_tracer tracer = {
        .is_wanted = is_wanted, .event = hand_event, .entry = hand_entry, .process = hand_process, .end = hand_end,
        .remember = remember, .forget = forget, .before_fork = fl_lttng_before_fork,
        .after_fork_in_parent = fl_lttng_after_fork_in_parent, .after_fork_in_child = fl_lttng_after_fork_in_child,
    };
    return &tracer;
}

#else

const fl_tracer *fl_lttng_tracer(char *problem, size_t room) {
    if (room > 0) { problem[0] = 0; }
    return NULL;
}

#endif
