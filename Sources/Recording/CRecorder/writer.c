#define _GNU_SOURCE
#include "timeline.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

// The longest sleep of the writer if no ring wakes it. A killed program leaves at most that much time's events in its
// rings.
#define PERIOD_MILLISECONDS 50

struct fl_writer {
    fl_recorder *recorder;
    fl_drain *drain;
    fl_timeline *timeline;
    pthread_t thread;
    _Atomic uint32_t is_stopping;
    bool is_ended;   // the trace has the last line of the process
};

static void *write_until_stopped(void *argument) {
    fl_writer *writer = argument;
    pthread_setname_np(pthread_self(), "faultline");
    bool is_called = false;
    while (atomic_load_explicit(&writer->is_stopping, memory_order_acquire) == 0) {
        // If descriptors are scarce, the file is opened only as often as the rings require.
        bool may_write = is_called || !fl_timeline_is_resting(writer->timeline);
        if (may_write && fl_timeline_wake(writer->timeline)) { fl_timeline_drain(writer->timeline, writer->drain); }
        fl_timeline_rest(writer->timeline);
        if (atomic_load_explicit(&writer->is_stopping, memory_order_acquire) != 0) { break; }
        is_called = fl_drain_wait(writer->drain, PERIOD_MILLISECONDS);
    }
    writer->is_ended = fl_timeline_wake(writer->timeline);
    if (writer->is_ended) {
        // First, because the last line states the cost of writing.
        fl_timeline_drain(writer->timeline, writer->drain);
        fl_timeline_end_process(writer->timeline, writer->drain, FL_PROCESS_CLOSED, 0, fl_thread_time());
    }
    return NULL;
}

fl_writer *fl_writer_start(fl_recorder *recorder, const char *path, const char *rings) {
    fl_timeline *timeline = fl_timeline_open(path);
    if (timeline == NULL) { return NULL; }
    fl_writer *writer = calloc(1, sizeof *writer);
    fl_drain *drain = fl_drain_attach(recorder);
    if (writer == NULL || drain == NULL) { goto failed; }
    writer->recorder = recorder;
    writer->drain = drain;
    writer->timeline = timeline;
    fl_timeline_begin_process(timeline, drain, rings);
    // The program gets its descriptor back now, however late the thread starts.
    fl_timeline_rest(timeline);
    fl_recorder_set_timeline(recorder, timeline);

    // The program handles its own signals, so this thread blocks all of them.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(&writer->thread, NULL, write_until_stopped, writer);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure == 0) { return writer; }
    errno = failure;

failed:
    free(writer);
    if (drain != NULL) { fl_drain_close(drain); }
    int code = errno;
    fl_recorder_set_timeline(recorder, NULL);
    fl_timeline_discard(timeline);
    errno = code;
    return NULL;
}

bool fl_writer_stop(fl_writer *writer, uint64_t *unwritten, int *error) {
    *unwritten = 0;
    // In a forked child there is neither a thread nor anything to write.
    if (!fl_is_ours(writer->recorder)) { return true; }
    fl_recorder_close(writer->recorder);
    atomic_store_explicit(&writer->is_stopping, 1, memory_order_release);
    fl_drain_ring_doorbell(writer->drain);
    pthread_join(writer->thread, NULL);
    fl_recorder_set_timeline(writer->recorder, NULL);
    bool is_ended = writer->is_ended;
    if (is_ended) { *unwritten = fl_timeline_finish(writer->timeline, error); }
    fl_timeline_close(writer->timeline);
    fl_drain_close(writer->drain);
    free(writer);
    return is_ended;
}
