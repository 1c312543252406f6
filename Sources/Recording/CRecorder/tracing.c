#include "tracing.h"

#include <string.h>

// MARK: - Events

static void hand_over(void *context, const fl_event *event) {
    const fl_tracer *tracer = context;
    if (tracer->is_wanted(event->header.kind)) { tracer->event(event); }
}

void fl_trace_record(fl_recorder *recorder, fl_ring *ring, fl_event *event, const fl_header *record) {
    event->process = recorder->traced_as;
    uint32_t events = fl_expand(event, record, recorder->file->origin, hand_over, (void *)recorder->tracer);
    fl_count(ring, &ring->traced, events);
}

// MARK: - The dictionary

static fl_tracer_entry entry_of(const fl_recorder *recorder, const fl_entry *entry) {
    bool is_stack = entry->kind == FL_DICTIONARY_STACK;
    return (fl_tracer_entry){
        .process = recorder->traced_as, .id = entry->id, .kind = fl_dictionary_name(entry->kind),
        .json = is_stack ? "" : entry->bytes, .length = is_stack ? 0 : entry->text_length,
        .frames = is_stack ? (const uint64_t *)(const void *)entry->bytes : NULL,
        .frame_count = is_stack ? entry->text_length / (uint32_t)sizeof(uint64_t) : 0,
        .is_truncated = is_stack && entry->label_length > 0,
    };
}

static fl_tracer_process process_of(const fl_recorder *recorder) {
    const fl_file *file = recorder->file;
    return (fl_tracer_process){
        .process = recorder->traced_as, .start = fl_since(file->start, file->origin),
        .origin = file->origin, .date = file->date, .program = file->program, .is_observed = file->is_observed != 0,
    };
}

// The dictionary only grows, so it can be read while others add to it.
static void describe(
    void *dictionary, void (*take_process)(void *context, const fl_tracer_process *process),
    void (*take_entry)(void *context, const fl_tracer_entry *entry), void *context
) {
    const fl_recorder *recorder = dictionary;
    fl_tracer_process process = process_of(recorder);
    take_process(context, &process);
    uint32_t count = atomic_load_explicit(&recorder->file->segment_count, memory_order_acquire);
    for (uint32_t index = 0; index < count; index++) {
        if (recorder->file->segments[index].kind != FL_SEGMENT_DICTIONARY) { continue; }
        const fl_dictionary_segment *segment = recorder->segments[index];
        uint64_t used = atomic_load_explicit(&segment->used, memory_order_acquire);
        for (uint64_t place = 0; place < used;) {
            const fl_entry *entry = (const fl_entry *)(const void *)(segment->data + place);
            fl_tracer_entry copy = entry_of(recorder, entry);
            take_entry(context, &copy);
            place += entry->size;
        }
    }
}

void fl_trace_entry(fl_recorder *recorder, const fl_entry *entry) {
    fl_tracer_entry copy = entry_of(recorder, entry);
    recorder->tracer->entry(&copy);
}

// MARK: - The process

// The number of recorders that a process has traced so far. A forked child inherits its parent's count, and starts anew.
static uint32_t count_recorder(uint32_t process) {
    static _Atomic uint64_t counted;  // the process and its count
    uint64_t last = atomic_load_explicit(&counted, memory_order_relaxed), next;
    do {
        next = last >> 32 == process ? last + 1 : ((uint64_t)process << 32) + 1;
    } while (!atomic_compare_exchange_weak_explicit(&counted, &last, next, memory_order_relaxed, memory_order_relaxed));
    return (uint32_t)next - 1;
}

void fl_trace_begin(fl_recorder *recorder) {
    recorder->traced_as = recorder->process + count_recorder(recorder->process) * FL_PROCESS_NUMBERS;
    // A listener that starts between these two calls receives the process twice.
    recorder->tracer->remember(recorder, describe);
    fl_tracer_process process = process_of(recorder);
    recorder->tracer->process(&process);
}

void fl_trace_end(fl_recorder *recorder) {
    fl_drain *drain = fl_drain_attach(recorder);
    fl_tracer_end end = {.process = recorder->traced_as};
    if (drain != NULL) {
        fl_sink sink = {.context = (void *)recorder->tracer, .event = hand_over};
        end.events = fl_drain_unfinished(drain, &sink);
        end.end = fl_drain_end(drain, 0);
        fl_totals totals = fl_drain_totals(drain);
        end.lost = totals.lost;
        end.entries_lost = totals.entries_lost;
        end.uses_lost = totals.uses_lost;
        fl_drain_close(drain);
    }
    uint32_t count = atomic_load_explicit(&recorder->file->segment_count, memory_order_acquire);
    for (uint32_t index = 0; index < count; index++) {
        if (recorder->file->segments[index].kind != FL_SEGMENT_RING) { continue; }
        const fl_ring *ring = recorder->segments[index];
        end.events += atomic_load_explicit(&ring->traced, memory_order_relaxed);
    }
    recorder->tracer->end(&end);
    recorder->tracer->forget(recorder);
}
