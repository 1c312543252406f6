#define _GNU_SOURCE
#include "tracing.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// MARK: - The ring

// Records are contiguous: one that does not fit before the ring's end begins at its start, with filler in between.
char *fl_reserve_record(fl_ring *ring, uint32_t size, uint64_t *head) {
    uint64_t written = atomic_load_explicit(&ring->head, memory_order_relaxed);
    uint64_t drained = atomic_load_explicit(&ring->tail, memory_order_acquire);
    uint64_t place = written & (ring->capacity - 1);
    uint64_t rest = ring->capacity - place;
    uint64_t filler = rest < size ? rest : 0;
    if (written - drained + filler + size > ring->capacity) { return NULL; }
    if (filler != 0) {
        // Only the first bytes of a filler are written, since it may be only 8 bytes long.
        uint16_t mark[2] = {(uint16_t)filler, 0};
        memcpy(ring->data + place, mark, sizeof mark);
        written += filler;
        place = 0;
    }
    *head = written;
    return ring->data + place;
}

void fl_commit_record(fl_recorder *recorder, fl_ring *ring, uint64_t head, uint32_t size) {
    uint64_t before = atomic_load_explicit(&ring->head, memory_order_relaxed);
    atomic_store_explicit(&ring->head, head + size, memory_order_release);
    // The drainer wakes up regularly by itself; in a burst, the writer wakes it each time the ring passes a quarter.
    uint64_t quarter = ring->capacity / 4;
    if (before / quarter != (head + size) / quarter && !fl_is_confined()) {
        atomic_fetch_add_explicit(&recorder->file->doorbell, 1, memory_order_release);
        int saved = errno;
        syscall(SYS_futex, &recorder->file->doorbell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
        errno = saved;
    }
}

// MARK: - Rings of several threads

// The number of rounds through the shared rings before an event is dropped: recording never waits for another thread's
// turn.
#define SHARED_ROUNDS 64

static bool try_lock(fl_ring *ring) {
    uint32_t open = 0;
    return atomic_compare_exchange_strong_explicit(&ring->lock, &open, 1, memory_order_acquire, memory_order_relaxed);
}

// A ring that this thread may write now: its own, or a locked shared one. Null if all of those are in use.
static fl_ring *enter_ring(fl_thread *thread) {
    fl_ring *own = thread->ring;
    if (!fl_is_shared(own)) { return own; }
    for (uint32_t round = 0; round < SHARED_ROUNDS; round++) {
        if (try_lock(own)) { return own; }
        for (uint32_t index = 0; index < FL_RINGS_SHARED; index++) {
            fl_ring *ring = atomic_load_explicit(&thread->recorder->shared[index], memory_order_acquire);
            if (ring != NULL && try_lock(ring)) { return ring; }
        }
        if (round > SHARED_ROUNDS / 2) { sched_yield(); }
    }
    return NULL;
}

static void leave_ring(fl_ring *ring) {
    if (ring != NULL && fl_is_shared(ring)) { atomic_store_explicit(&ring->lock, 0, memory_order_release); }
}

// MARK: - Records

void fl_count_dropped(fl_ring *ring, uint32_t thread, uint32_t events) {
    if (fl_is_shared(ring)) { atomic_store_explicit(&ring->thread, thread, memory_order_relaxed); }
    // With release order, so that a thread that reads the count also reads the ring's thread.
    atomic_fetch_add_explicit(&ring->dropped, events, memory_order_release);
}

void fl_count_lost_event(fl_recorder *recorder) {
    atomic_fetch_add_explicit(&recorder->file->events_lost, 1, memory_order_relaxed);
}

// The part of the cost that no clock in the recorder measures: the program's own work is slower, because recording
// displaces its data and instructions from the CPU's caches. The benchmark of recorded work puts that between a fifth and
// two thirds of the measured part, depending on the work and the processor.
static uint64_t with_unmeasured_part(uint64_t cost) { return cost + cost * 2 / 5; }

// The total cost of the events that a sample represents.
static uint64_t sampled_cost(uint64_t nanoseconds) { return fl_plausible_cost(nanoseconds) * FL_SAMPLING; }

void fl_put(fl_thread *thread, fl_header *header, const void *fields, size_t field_bytes, const fl_ending *ending) {
    size_t padded = (field_bytes + 7) & ~(size_t)7;
    size_t statement = ending->statement == NULL ? 0 : sizeof(fl_statement_time) + sizeof(fl_sql);
    size_t size = sizeof *header + padded + statement + ending->list_words * sizeof(uint64_t);
    bool is_sampled = header->overhead != 0;
    uint64_t head;
    char *place = NULL;
    fl_ring *ring = NULL;
    if (!thread->recorder->is_traced_only) {
        ring = enter_ring(thread);
        place = ring == NULL || size > UINT16_MAX ? NULL : fl_reserve_record(ring, (uint32_t)size, &head);
        if (place == NULL) {
            fl_count_dropped(thread->ring, thread->number, fl_events_of(header->kind, fields, statement != 0));
            leave_ring(ring);
        }
    }
    // A record that the ring has no room for can still be traced.
    char *room = place;
    if (room == NULL && thread->traced != NULL && size <= sizeof thread->traced->record) { room = thread->traced->record; }
    if (room == NULL) { return; }
    header->size = (uint16_t)size;
    header->thread = thread->number;
    if (thread->is_main) { header->flags |= FL_ON_MAIN_THREAD; }
    char *rest = room + sizeof *header;
    memcpy(rest, fields, field_bytes);
    rest += padded;
    if (statement != 0) {
        header->flags |= FL_HAS_STATEMENT;
        memcpy(rest, &ending->statement_time, sizeof ending->statement_time);
        memcpy(rest + sizeof ending->statement_time, ending->statement, sizeof *ending->statement);
        rest += statement;
    }
    if (ending->list_words != 0) { memcpy(rest, ending->lists, ending->list_words * sizeof(uint64_t)); }
    if (thread->pending_cost != 0 || is_sampled) {
        // A sample's cost represents the events that were not measured; the cost of new entries is always measured.
        uint64_t cost = thread->pending_cost;
        if (is_sampled) {
            uint64_t ended = header->start + header->duration;
            cost += sampled_cost(header->overhead + (fl_now() - ended));
        }
        cost = with_unmeasured_part(cost);
        header->overhead = cost > UINT32_MAX ? UINT32_MAX : (uint32_t)cost;
        thread->pending_cost = 0;
    }
    memcpy(room, header, sizeof *header);
    if (place != NULL) { fl_commit_record(thread->recorder, ring, head, (uint32_t)size); }
    if (thread->traced == NULL) {
        if (place != NULL) { leave_ring(ring); }
        return;
    }
    // The record stays intact until this thread, or another one that shares the ring, writes there again. The cost of
    // tracing is added to the next event.
    uint64_t began = is_sampled ? fl_now() : 0;
    fl_trace_record(thread->recorder, thread->ring, &thread->traced->event, (const fl_header *)(const void *)room);
    if (place != NULL) { leave_ring(ring); }
    if (is_sampled) { thread->pending_cost += sampled_cost(fl_now() - began); }
}

// MARK: - The clock

uint64_t fl_clock_cost(void) {
    static _Atomic uint64_t known;
    uint64_t least = atomic_load_explicit(&known, memory_order_relaxed);
    if (least != 0) { return least; }
    least = UINT64_MAX;
    for (uint64_t round = 0, last = fl_now(); round < 16; round++) {
        uint64_t now = fl_now();
        if (now - last < least) { least = now - last; }
        last = now;
    }
    atomic_store_explicit(&known, least, memory_order_relaxed);
    return least;
}

// MARK: - Waiting for a CPU

// A long event may have waited for a CPU. Reading a thread's CPU time costs two system calls, so the recorder reads it
// only at the end of a long event, and at the beginning of an event if the last reading is old. A wait before an event
// is not counted within it as long as it is shorter than that age. The cost of reading is sampled with the rest of an
// event's cost.
#define RUN_READING_NANOSECONDS 1000000
#define LONG_EVENT_NANOSECONDS 500000

// Reads the thread's CPU time; returns the current time.
__attribute__((noinline)) static uint64_t read_run(fl_thread *thread) {
    struct timespec time;
    struct rusage usage;
    if (fl_is_confined()) {
        thread->run = (fl_run){.sleeps = UINT64_MAX, .time = UINT64_MAX, .at = fl_now()};
        return thread->run.at;
    }
    int saved = errno;
    thread->run.sleeps = getrusage(RUSAGE_THREAD, &usage) == 0 ? (uint64_t)usage.ru_nvcsw : UINT64_MAX;
    thread->run.time = clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0
        ? (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec : UINT64_MAX;
    errno = saved;
    thread->run.at = fl_now();
    return thread->run.at;
}

// MARK: - Events

bool fl_begin(fl_recorder *recorder, fl_open *open) {
    if (!fl_switch_is_on(&recorder->state)) { return false; }
    uint64_t entered = 0;
    fl_thread *thread = fl_thread_current(recorder);
    if (thread == NULL) {
        fl_count_lost_event(recorder);
        return false;
    }
    open->sampled = thread->countdown == 0;
    if (open->sampled) {
        thread->countdown = FL_SAMPLING;
        entered = fl_now();
    }
    thread->countdown--;
    open->id = fl_take_ids(thread->ring);
    open->parent = fl_open_event(thread);
    uint32_t depth = thread->depth++;
    if (depth < FL_OPEN_EVENTS_MAXIMUM) { thread->open[depth] = open->id; }
    open->start = fl_now();
    if (open->start - thread->run.at > RUN_READING_NANOSECONDS) { open->start = read_run(thread); }
    open->run = thread->run;
    thread->clock = open->start;
    open->begin_cost = open->sampled ? (uint32_t)(open->start - entered) : 0;
    return true;
}

// Closes the event on the current thread, which also began it, and returns the thread's state.
static fl_thread *close_event(fl_recorder *recorder, const fl_open *open) {
    fl_thread *thread = fl_thread_current(recorder);
    if (thread == NULL) { return NULL; }
    if (thread->depth > 0) { thread->depth--; }
    fl_put_nested_hits(thread, open->id);
    return thread;
}

void fl_cancel(fl_recorder *recorder, const fl_open *open) { close_event(recorder, open); }

// Stacks are cut off below the recorder, whose functions are known by the beginning of their names.
void fl_add_stack(fl_recorder *recorder, fl_thread *thread, fl_header *header) {
    bool truncated = false;
    header->stack = fl_intern_stack(recorder, thread, NULL, &truncated);
    if (truncated) { header->flags |= FL_STACK_TRUNCATED; }
}

__attribute__((noinline)) void fl_end(
    fl_recorder *recorder, const fl_open *open, fl_event_kind kind, const void *fields, const fl_ending *ending
) {
    uint64_t now = fl_now();
    fl_thread *thread = close_event(recorder, open);
    if (thread == NULL) { return; }
    thread->clock = now;
    fl_put_old_hits(thread, now);
    fl_header header = {
        .kind = (uint8_t)kind, .id = open->id, .parent = open->parent, .scope = ending->scope, .start = open->start,
        .duration = now - open->start, .context = ending->context, .site = ending->site,
    };
    if (open->sampled) {
        // Reading the clock at the event's end is a part, too.
        uint64_t describing = ending->described == 0 ? 0 : fl_plausible_cost(now - ending->described);
        uint64_t cost = open->begin_cost + fl_clock_cost() + describing + ending->cost;
        header.overhead = cost > FL_LONGEST_COST ? FL_LONGEST_COST : (uint32_t)cost;
    }
    if (header.duration >= LONG_EVENT_NANOSECONDS) {
        read_run(thread);
        header.runDelay = fl_run_delay(&open->run, &thread->run, header.start, header.duration);
    }
    if (!ending->without_stack) { fl_add_stack(recorder, thread, &header); }
    fl_put(thread, &header, fields, fl_schema(kind)->size, ending);
}

__attribute__((noinline)) uint32_t fl_stack(
    fl_recorder *recorder, const fl_interpreted *interpreted, bool *truncated
) {
    fl_thread *thread = fl_thread_recording(recorder);
    return thread == NULL ? 0 : fl_intern_stack(recorder, thread, interpreted, truncated);
}

void fl_record(fl_recorder *recorder, uint64_t start, fl_event_kind kind, const void *fields, const fl_ending *ending) {
    fl_open open;
    if (!fl_begin(recorder, &open)) { return; }
    open.start = start;
    open.sampled = 0;
    fl_end(recorder, &open, kind, fields, ending);
}

uint64_t fl_record_measured(
    fl_recorder *recorder, fl_event_kind kind, const void *fields, const fl_measured *event
) {
    if (!fl_switch_is_on(&recorder->state)) { return 0; }
    fl_thread *thread = fl_thread_current(recorder);
    if (thread == NULL) {
        fl_count_lost_event(recorder);
        return 0;
    }
    fl_header header = {
        .kind = (uint8_t)kind, .flags = event->is_stack_truncated ? FL_STACK_TRUNCATED : 0, .id = fl_take_ids(thread->ring),
        .parent = event->parent, .scope = thread->scope.id, .start = event->start, .duration = event->duration,
        .stack = event->stack,
    };
    thread->pending_cost += fl_plausible_cost(event->cost) * FL_COST_SAMPLING;
    const fl_ending ending = {0};
    fl_put(thread, &header, fields, fl_schema(kind)->size, &ending);
    return header.id;
}

uint64_t fl_record_scope(
    fl_recorder *recorder, const fl_scope *fields, uint64_t id, uint64_t outer, uint64_t start, uint64_t end
) {
    fl_thread *thread = fl_thread_recording(recorder);
    if (thread == NULL || (fields->phase != 0 && id == 0)) { return 0; }
    fl_header header = {
        .kind = FL_EVENT_SCOPE, .id = fields->phase == 0 ? fl_take_ids(thread->ring) : id, .scope = outer, .start = start,
        .duration = end > start ? end - start : 0,
    };
    const fl_ending ending = {.without_stack = true};
    fl_put(thread, &header, fields, sizeof *fields, &ending);
    return header.id;
}

void fl_scope_mark(
    fl_recorder *recorder, uint32_t name, uint32_t kind, uint32_t phase, uint64_t outer, uint64_t *id, uint64_t *start
) {
    fl_thread *thread = fl_thread_recording(recorder);
    if (thread == NULL) {
        if (phase == 0) { *id = 0; }
        return;
    }
    uint64_t now = fl_now();
    if (phase == 0) {
        *id = fl_take_ids(thread->ring);
        *start = now;
    } else if (*id == 0) {
        return;
    } else {
        fl_put_hits(thread);
    }
    thread->clock = now;
    fl_header header = {
        .kind = FL_EVENT_SCOPE, .id = *id, .scope = outer, .start = *start, .duration = now - *start,
    };
    if (phase == 0) { fl_add_stack(recorder, thread, &header); }
    fl_scope fields = {.name = name, .kind = kind, .phase = phase};
    fl_ending ending = {.without_stack = true};
    fl_put(thread, &header, &fields, sizeof fields, &ending);
}

// MARK: - The cost of other work

uint64_t fl_cost_begin(fl_recorder *recorder) {
    fl_thread *thread = fl_thread_recording(recorder);
    if (thread == NULL || thread->cost_countdown-- != 0) { return 0; }
    thread->cost_countdown = FL_COST_SAMPLING - 1;
    return fl_now();
}

void fl_cost_end(fl_recorder *recorder, uint64_t began) {
    fl_thread *thread = fl_thread_recording(recorder);
    if (thread != NULL) { thread->pending_cost += fl_plausible_cost(fl_net_cost(began)) * FL_COST_SAMPLING; }
}

void fl_long_cost_end(fl_recorder *recorder, uint64_t began) {
    fl_thread *thread = fl_thread_recording(recorder);
    if (thread != NULL) { thread->pending_cost += fl_net_cost(began); }
}

// MARK: - Scopes

fl_thread_scope fl_enter_scope(fl_recorder *recorder, fl_thread_scope scope) {
    fl_thread *thread = fl_thread_recording(recorder);
    if (thread == NULL) { return (fl_thread_scope){0}; }
    fl_thread_scope outer = thread->scope;
    thread->scope = scope;
    return outer;
}

void fl_leave_scope(fl_recorder *recorder, fl_thread_scope outer) {
    fl_thread *thread = fl_thread_recording(recorder);
    if (thread == NULL) { return; }
    if (thread->scope.id != outer.id) { fl_put_hits(thread); }
    thread->scope = outer;
}

void fl_follow_tasks(fl_recorder *recorder) { __atomic_store_n(&recorder->state.follows_tasks, 1, __ATOMIC_RELAXED); }
