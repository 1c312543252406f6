// Sums of row-cache hits. A hit takes a few dozen nanoseconds, and recording each one would cost more than that. So each
// thread adds them up in a small table, by scope, fetch, relationship and call stack.
//
// The sums are in the thread's ring. The keys that find them are in the process's own memory.

#define _GNU_SOURCE
#include "tracing.h"

#include <stdlib.h>
#include <string.h>

// The frames that two hits must share to have the same call stack, beyond the first ones, which are the store's. They
// reach to the program's own function. In a debug build, accessors are not inlined.
#define FRAMES_SKIPPED 1
#ifdef DEBUG
#define FRAMES 20
#else
#define FRAMES 7
#endif

// A thread that records events but never ends a scope records its sums after this time.
#define OLD_NANOSECONDS 1000000000u

typedef struct place {
    uint64_t place, origin, scope, parent;
    uint32_t context;
    uint32_t frame_count;
    uintptr_t first;   // the frame of the function that counts the hits
    struct {
        const uintptr_t *words;   // the frame: the caller's frame and the return address
        uintptr_t caller, address;
    } frames[FRAMES];
} place;

struct fl_hit_table {
    uint32_t open;      // the number of open sums
    uint32_t nested;    // those within an event
    uint32_t next;      // the sum to record if there is no room for another
    uint64_t since;     // when the first of them was opened
    uint64_t hit_time;  // the running mean time of an object's hit, in nanoseconds
    place places[FL_HITS_MAXIMUM];
};

static inline fl_hits *sum(const fl_thread *thread, uint32_t index) { return &thread->ring->hits[index]; }

static inline bool is_open(const fl_hits *hits) {
    return atomic_load_explicit(&hits->is_open, memory_order_relaxed) != 0;
}

// MARK: - Recording sums

fl_cache_hits fl_hits_describe(const fl_hits *hits, uint64_t hit_time) {
    fl_cache_hits fields = hits->fields;
    double mean = hits->measured == 0 ? (double)hit_time : (double)hits->measured_time / hits->measured;
    double time = mean * (double)fields.hits + 0.5;
    fields.time = time < (double)INT64_MAX ? (uint64_t)time : INT64_MAX;
    return fields;
}

static void put(fl_thread *thread, uint32_t index) {
    struct fl_hit_table *table = thread->hits;
    fl_hits *hits = sum(thread, index);
    fl_cache_hits fields = fl_hits_describe(hits, table->hit_time);
    fl_header header = hits->header;
    atomic_store_explicit(&hits->is_open, 0, memory_order_relaxed);
    table->open--;
    if (header.parent != 0) { table->nested--; }
    const fl_ending ending = {0};
    fl_put(thread, &header, &fields, sizeof fields, &ending);
}

// After the end of recording, the drainer finds the sums in the ring.
static bool may_put(const fl_thread *thread) { return fl_switch_is_on(&thread->recorder->state); }

void fl_put_hits(fl_thread *thread) {
    if (thread->hits == NULL || thread->hits->open == 0 || !may_put(thread)) { return; }
    for (uint32_t index = 0; index < FL_HITS_MAXIMUM; index++) {
        if (is_open(sum(thread, index))) { put(thread, index); }
    }
}

void fl_put_nested_hits(fl_thread *thread, uint64_t event) {
    if (thread->hits == NULL || thread->hits->nested == 0 || !may_put(thread)) { return; }
    for (uint32_t index = 0; index < FL_HITS_MAXIMUM; index++) {
        if (is_open(sum(thread, index)) && sum(thread, index)->header.parent == event) { put(thread, index); }
    }
}

void fl_put_old_hits(fl_thread *thread, uint64_t now) {
    if (thread->hits == NULL || thread->hits->open == 0) { return; }
    if (now - thread->hits->since > OLD_NANOSECONDS) { fl_put_hits(thread); }
}

// MARK: - Counting

// The two slots for a hit: an index and the one beside it.
static inline uint32_t slot(const fl_hit *hit, uint64_t scope, uintptr_t frame) {
    uint64_t mixed = hit->place * 0x9E3779B97F4A7C15u ^ hit->origin * 0xC2B2AE3D27D4EB4Fu;
    mixed ^= scope * 0x165667B19E3779F9u ^ frame * 0xD6E8FEB86659FD93u;
    return (uint32_t)(mixed >> 58);
}
_Static_assert(FL_HITS_MAXIMUM == 1 << (64 - 58), "the highest bits are an index");

// Compares the remembered frames with those on the stack. Their addresses are above the current frame, so they can be
// read whatever is there now; they need not be followed one after the other.
__attribute__((no_sanitize("address", "thread"))) static bool is_same_stack(const place *place) {
    for (uint32_t index = 0; index < place->frame_count; index++) {
        const uintptr_t *words = place->frames[index].words;
        if (words[0] != place->frames[index].caller || words[1] != place->frames[index].address) { return false; }
    }
    return true;
}

static inline bool matches(
    const fl_thread *thread, uint32_t index, const fl_hit *hit, uint64_t parent, uintptr_t frame
) {
    const place *place = &thread->hits->places[index];
    return is_open(sum(thread, index)) && place->place == hit->place && place->origin == hit->origin
        && place->scope == thread->scope.id && place->parent == parent && place->context == hit->context
        && place->first == frame && is_same_stack(place);
}

static void add_time(fl_thread *thread, fl_hits *hits, const fl_hit *hit) {
    uint64_t clock = fl_clock_cost(), time = hit->ended - hit->started;
    time = time > clock ? time - clock : 0;
    thread->clock = hit->ended;
    if (hit->is_sample) {
        time = fl_plausible_cost(time);
        uint64_t mean = thread->hits->hit_time;
        thread->hits->hit_time = mean == 0 ? time : (mean * 7 + time) / 8;
        if (!fl_is_shared(thread->ring)) { thread->ring->hit_time = thread->hits->hit_time; }
    }
    hits->measured++;
    hits->measured_time += time;
}

static inline void add(fl_thread *thread, fl_hits *hits, const fl_hit *hit) {
    hits->fields.hits++;
    hits->fields.filled += hit->filled;
    hits->fields.bytes += hit->bytes;
    hits->header.duration = thread->clock - hits->header.start;
}

static bool count(fl_thread *thread, const fl_hit *hit, uintptr_t frame) {
    if (thread->hits == NULL) { return false; }
    uint64_t parent = fl_open_event(thread);
    uint32_t index = slot(hit, thread->scope.id, frame);
    if (!matches(thread, index, hit, parent, frame)) {
        index ^= 1;
        if (!matches(thread, index, hit, parent, frame)) { return false; }
    }
    fl_hits *hits = sum(thread, index);
    if (hit->started != 0) { add_time(thread, hits, hit); }
    add(thread, hits, hit);
    if (hit->started != 0) {
        thread->pending_cost += fl_plausible_cost(fl_net_cost(hit->ended)) * (hit->is_sample ? FL_HIT_SAMPLING : 1);
    }
    return true;
}

static inline bool is_on_stack(const fl_thread *thread, uintptr_t frame) {
    return frame >= thread->stack_low && frame + 2 * sizeof(uintptr_t) <= thread->stack_high && (frame & 7) == 0;
}

static inline uintptr_t caller_of(uintptr_t frame) { return *(const uintptr_t *)frame & ~FL_ASYNC_FRAME; }

// The frame of the function that counts a hit, by way of one function; 0 if there are no frame pointers.
static inline uintptr_t counting_frame(const fl_thread *thread, uintptr_t own) {
    uintptr_t frame = caller_of(own);
    return is_on_stack(thread, frame) ? caller_of(frame) : 0;
}

__attribute__((noinline)) bool fl_hit_count(fl_recorder *recorder, fl_hit *hit) {
    if (hit->started != 0) { hit->ended = fl_now(); }
    fl_thread *thread = fl_thread_current(recorder);
    return thread != NULL && count(thread, hit, counting_frame(thread, (uintptr_t)__builtin_frame_address(0)));
}

// MARK: - Opening

static bool prepare(fl_thread *thread) {
    if (thread->hits != NULL) { return true; }
    thread->hits = calloc(1, sizeof *thread->hits);
    return thread->hits != NULL;
}

static void remember_stack(const fl_thread *thread, place *place, uintptr_t frame) {
    place->first = frame;
    place->frame_count = 0;
    for (uint32_t depth = 0; depth < FRAMES_SKIPPED + FRAMES; depth++) {
        if (!is_on_stack(thread, frame)) { return; }
        const uintptr_t *words = (const uintptr_t *)frame;
        if (depth >= FRAMES_SKIPPED) {
            uint32_t index = place->frame_count++;
            place->frames[index].words = words;
            place->frames[index].caller = words[0];
            place->frames[index].address = words[1];
        }
        if (caller_of(frame) <= frame) { return; }
        frame = caller_of(frame);
    }
}

__attribute__((noinline)) void fl_hit_open(
    fl_recorder *recorder, const fl_hit *hit, const fl_cache_hits *fields
) {
    if (!fl_switch_is_on(&recorder->state)) { return; }
    fl_thread *thread = fl_thread_current(recorder);
    if (thread == NULL || !prepare(thread)) {
        atomic_fetch_add_explicit(&recorder->file->events_lost, 1, memory_order_relaxed);
        return;
    }
    uintptr_t frame = counting_frame(thread, (uintptr_t)__builtin_frame_address(0));
    uint64_t began = fl_now(), parent = fl_open_event(thread), scope = thread->scope.id;
    uint64_t pending = thread->pending_cost;
    thread->clock = began;
    bool truncated = false;
    fl_header header = {
        .kind = FL_EVENT_CACHE_HITS, .id = fl_take_ids(thread->ring), .parent = parent, .scope = scope,
        .start = hit->started == 0 ? began : hit->started, .context = hit->context, .thread = thread->number,
        .stack = fl_intern_stack(recorder, thread, NULL, &truncated),
    };
    if (thread->is_main) { header.flags |= FL_ON_MAIN_THREAD; }
    if (truncated) { header.flags |= FL_STACK_TRUNCATED; }
    if (fl_is_shared(thread->ring)) {
        // Several threads write this ring, so it has no room for sums of one of them.
        fl_hits one = {.header = header, .fields = *fields};
        if (hit->started != 0) { add_time(thread, &one, hit); }
        add(thread, &one, hit);
        fl_cache_hits described = fl_hits_describe(&one, thread->hits->hit_time);
        thread->pending_cost = pending + fl_plausible_cost(fl_now() - began);
        const fl_ending ending = {0};
        fl_put(thread, &one.header, &described, sizeof described, &ending);
        return;
    }
    struct fl_hit_table *table = thread->hits;
    uint32_t index = slot(hit, scope, frame);
    if (is_open(sum(thread, index))) { index ^= 1; }
    if (is_open(sum(thread, index))) {
        // Alternately, so that neither place keeps an old sum.
        index ^= table->next++ & 1;
        put(thread, index);
    }
    if (table->open == 0) { table->since = began; }
    table->open++;
    if (parent != 0) { table->nested++; }
    place *place = &table->places[index];
    place->place = hit->place;
    place->origin = hit->origin;
    place->scope = scope;
    place->parent = parent;
    place->context = hit->context;
    remember_stack(thread, place, frame);
    fl_hits *hits = sum(thread, index);
    hits->measured = 0;
    hits->measured_time = 0;
    hits->header = header;
    hits->fields = *fields;
    if (hit->started != 0) { add_time(thread, hits, hit); }
    add(thread, hits, hit);
    atomic_store_explicit(&hits->is_open, 1, memory_order_release);
    // New entries of the dictionary have added their part already. If an older sum was recorded, it took what was pending.
    uint64_t cost = fl_plausible_cost(fl_now() - began);
    thread->pending_cost = thread->pending_cost < pending ? cost : pending + cost;
}
