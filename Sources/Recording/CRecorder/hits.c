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

static void put(fl_thread *thread, const fl_hits *hits) {
    fl_cache_hits fields = fl_hits_describe(hits, thread->hits->hit_time);
    fl_header header = hits->header;
    const fl_ending ending = {0};
    fl_put(thread, &header, &fields, sizeof fields, &ending);
}

// Records an open sum, and closes it.
static void close_sum(fl_thread *thread, uint32_t index) {
    fl_hits *hits = sum(thread, index);
    atomic_store_explicit(&hits->is_open, 0, memory_order_relaxed);
    thread->hits->open--;
    if (hits->header.parent != 0) { thread->hits->nested--; }
    put(thread, hits);
}

// Closes the sums within an event; 0: all. After the end of recording, the drainer finds them in the ring.
static void close_sums(fl_thread *thread, uint64_t event) {
    if (!fl_switch_is_on(&thread->recorder->state)) { return; }
    for (uint32_t index = 0; index < FL_HITS_MAXIMUM; index++) {
        const fl_hits *hits = sum(thread, index);
        if (is_open(hits) && (event == 0 || hits->header.parent == event)) { close_sum(thread, index); }
    }
}

void fl_put_hits(fl_thread *thread) {
    if (thread->hits != NULL && thread->hits->open > 0) { close_sums(thread, 0); }
}

void fl_put_nested_hits(fl_thread *thread, uint64_t event) {
    if (thread->hits != NULL && thread->hits->nested > 0) { close_sums(thread, event); }
}

void fl_put_old_hits(fl_thread *thread, uint64_t now) {
    if (thread->hits != NULL && now - thread->hits->since > OLD_NANOSECONDS) { fl_put_hits(thread); }
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

// The frame of the function that counts a hit, by way of one function; 0 if there are no frame pointers.
static inline uintptr_t counting_frame(const fl_thread *thread, uintptr_t own) {
    uintptr_t frame = fl_caller_of(own);
    return fl_is_on_stack(&thread->stack, frame) ? fl_caller_of(frame) : 0;
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

static void remember_stack(const fl_thread *thread, place *place) {
    uintptr_t frame = place->first;
    for (uint32_t depth = 0; depth < FRAMES_SKIPPED + FRAMES && fl_is_on_stack(&thread->stack, frame); depth++) {
        const uintptr_t *words = (const uintptr_t *)frame;
        if (depth >= FRAMES_SKIPPED) {
            uint32_t index = place->frame_count++;
            place->frames[index].words = words;
            place->frames[index].caller = words[0];
            place->frames[index].address = words[1];
        }
        if (fl_caller_of(frame) <= frame) { return; }
        frame = fl_caller_of(frame);
    }
}

// A sum of one hit. The prefix of its name marks its frame as the recorder's.
static fl_hits fl_first_sum(
    fl_thread *thread, const fl_hit *hit, const fl_cache_hits *fields, uint64_t parent, uint64_t began
) {
    fl_hits hits = {
        .header = {
            .kind = FL_EVENT_CACHE_HITS, .id = fl_take_ids(thread->ring), .parent = parent,
            .scope = thread->scope.id, .start = hit->started == 0 ? began : hit->started, .context = hit->context,
            .thread = thread->number, .flags = thread->is_main ? FL_ON_MAIN_THREAD : 0,
        },
        .fields = *fields,
    };
    fl_add_stack(thread->recorder, thread, &hits.header);
    thread->clock = began;
    if (hit->started != 0) { add_time(thread, &hits, hit); }
    add(thread, &hits, hit);
    return hits;
}

// Enters a sum into the thread's table.
static void open_sum(fl_thread *thread, const fl_hits *first, const fl_hit *hit, uintptr_t frame, uint64_t began) {
    struct fl_hit_table *table = thread->hits;
    uint32_t index = slot(hit, first->header.scope, frame);
    if (is_open(sum(thread, index))) { index ^= 1; }
    if (is_open(sum(thread, index))) {
        // Alternately, so that neither place keeps an old sum.
        index ^= table->next++ & 1;
        close_sum(thread, index);
    }
    if (table->open == 0) { table->since = began; }
    table->open++;
    if (first->header.parent != 0) { table->nested++; }
    table->places[index] = (place){
        .place = hit->place, .origin = hit->origin, .scope = first->header.scope, .parent = first->header.parent,
        .context = hit->context, .first = frame,
    };
    remember_stack(thread, &table->places[index]);
    *sum(thread, index) = *first;
    atomic_store_explicit(&sum(thread, index)->is_open, 1, memory_order_release);
}

__attribute__((noinline)) void fl_hit_open(
    fl_recorder *recorder, const fl_hit *hit, const fl_cache_hits *fields
) {
    if (!fl_switch_is_on(&recorder->state)) { return; }
    fl_thread *thread = fl_thread_current(recorder);
    if (thread == NULL || !prepare(thread)) {
        fl_count_lost_event(recorder);
        return;
    }
    uint64_t began = fl_now(), pending = thread->pending_cost;
    fl_hits first = fl_first_sum(thread, hit, fields, fl_open_event(thread), began);
    if (fl_is_shared(thread->ring)) {
        // Several threads write this ring, so it has no room for sums of one of them.
        put(thread, &first);
    } else {
        open_sum(thread, &first, hit, counting_frame(thread, (uintptr_t)__builtin_frame_address(0)), began);
    }
    // The cost of a new stack is already pending. If a record was put, it has taken what was pending before.
    uint64_t cost = fl_plausible_cost(fl_now() - began);
    thread->pending_cost = thread->pending_cost < pending ? cost : pending + cost;
}
