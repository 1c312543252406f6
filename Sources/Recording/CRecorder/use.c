#define _GNU_SOURCE
#include "recorder.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TOUCHED ((uint64_t)1 << 63)
// A pause ends a window if it lasts at least this long, and at least four times the usual gap between touches.
#define PAUSE_NANOSECONDS 5000000u
#define PAUSE_FACTOR 4

// The part of an open summary that belongs to this process alone: a forked child shares the mapped file with its
// parent.
struct fl_use_summary {
    fl_recorder *recorder;
    fl_use_slot *slot;
    uint32_t number;      // of its slot, from 1
    uint32_t mask_rows;
    // For each row, the properties that were read, and in the highest bit whether it was touched. Results of more than
    // MASKED_ROWS rows have none.
    uint64_t masks[];
};

#define MASKED_ROWS (4u << 20)

// MARK: - Places

#define NUMBER(top) ((uint32_t)(top))
#define WITH_NUMBER(top, number) (((((top) >> 32) + 1) << 32) | (number))

static uint32_t pop(fl_recorder *recorder) {
    uint64_t top = atomic_load_explicit(&recorder->free_uses, memory_order_acquire);
    while (NUMBER(top) != 0) {
        uint32_t next = atomic_load_explicit(&recorder->next_use[NUMBER(top) - 1], memory_order_relaxed);
        if (atomic_compare_exchange_weak(&recorder->free_uses, &top, WITH_NUMBER(top, next))) { return NUMBER(top); }
    }
    return 0;
}

static void push(fl_recorder *recorder, uint32_t number) {
    uint64_t top = atomic_load_explicit(&recorder->free_uses, memory_order_relaxed);
    do {
        atomic_store_explicit(&recorder->next_use[number - 1], NUMBER(top), memory_order_relaxed);
    } while (!atomic_compare_exchange_weak(&recorder->free_uses, &top, WITH_NUMBER(top, number)));
}

// Adds slots, and returns the first; 0 if there is no room for more.
static uint32_t add_places(fl_recorder *recorder) {
    fl_take(&recorder->lock);
    // Another thread may have added some meanwhile.
    uint32_t number = pop(recorder);
    uint32_t first = recorder->uses_segments * FL_USES_PER_SEGMENT;
    if (number == 0 && first < FL_USES_MAXIMUM && !recorder->has_no_room_for_uses) {
        fl_uses_segment *segment = fl_add_segment(recorder, FL_SEGMENT_USES, 0, sizeof(fl_uses_segment));
        if (segment == NULL) {
            // Trying again for each fetch would slow the program down.
            recorder->has_no_room_for_uses = true;
        } else {
            recorder->uses[recorder->uses_segments++] = segment;
            for (uint32_t place = FL_USES_PER_SEGMENT; place > 1; place--) { push(recorder, first + place); }
            number = first + 1;
        }
    }
    fl_give(&recorder->lock);
    return number;
}

// MARK: - Opening

static fl_use_summary *make_summary(fl_recorder *recorder, uint32_t rows) {
    if (rows > MASKED_ROWS) { rows = 0; }
    fl_use_summary *summary = calloc(1, sizeof *summary + rows * sizeof summary->masks[0]);
    if (summary == NULL && rows > 0) { return make_summary(recorder, 0); }
    if (summary == NULL) { return NULL; }
    summary->mask_rows = rows;
    summary->recorder = recorder;
    summary->number = pop(recorder);
    if (summary->number == 0) { summary->number = add_places(recorder); }
    if (summary->number == 0) {
        free(summary);
        return NULL;
    }
    uint32_t place = summary->number - 1;
    summary->slot = &recorder->uses[place / FL_USES_PER_SEGMENT]->slots[place % FL_USES_PER_SEGMENT];
    return summary;
}

fl_use_summary *fl_use_open(
    fl_recorder *recorder, const fl_use *about, uint64_t scope, uint32_t context, uint32_t site
) {
    fl_thread *thread = fl_thread_recording(recorder);
    if (thread == NULL) { return NULL; }
    uint64_t began = fl_now();
    fl_use_summary *summary = make_summary(recorder, about->rows);
    if (summary == NULL) {
        atomic_fetch_add(&recorder->file->uses_lost, 1);
        return NULL;
    }
    fl_use_slot *use = summary->slot;
    memset((char *)use + sizeof use->is_open, 0, sizeof *use - sizeof use->is_open);
    use->summary = (fl_use){
        .fetch = about->fetch, .entity = about->entity, .shape = about->shape, .batchSize = about->batchSize,
        .rows = about->rows,
    };
    use->scope = scope;
    use->context = context;
    use->site = site;
    use->thread = thread->number;
    use->id = fl_take_ids(thread->ring);
    use->opened = thread->clock = began;
    atomic_fetch_add(&recorder->references, 1);
    atomic_store_explicit(&use->is_open, 1, memory_order_release);
    thread->pending_cost += fl_plausible_cost(fl_now() - began);
    return summary;
}

// The summary's slot in the mapped file; null in a forked child, because the file is its parent's.
static fl_use_slot *slot_of(const fl_use_summary *summary) {
    return summary->recorder->is_inherited ? NULL : summary->slot;
}

// MARK: - Touching rows

static void add_window(fl_use_slot *use, uint32_t kind, uint32_t rows) {
    uint32_t nearest = 0;
    for (uint32_t index = 0; index < FL_USE_WINDOWS; index++) {
        if (use->windows[index].times == 0) {
            use->windows[index].kind = kind;
            use->windows[index].rows = rows;
            use->windows[index].times = 1;
            use->summary.windows = index + 1;
            return;
        }
        if (use->windows[index].kind == kind && use->windows[index].rows == rows) {
            use->windows[index].times++;
            return;
        }
        // If there is no room for another size, the next larger one of its kind counts it.
        if (use->windows[index].kind == kind && use->windows[index].rows > rows
            && (use->windows[nearest].kind != kind || use->windows[nearest].rows < rows
                || use->windows[index].rows < use->windows[nearest].rows)) {
            nearest = index;
        }
    }
    if (use->windows[nearest].rows < rows) { use->windows[nearest].rows = rows; }
    use->windows[nearest].times++;
}

static void close_window(fl_use_slot *use) {
    if (use->window.is_open && use->window.rows > 0) {
        add_window(use, (uint32_t)(use->window.kind + 1), use->window.rows);
    }
    use->window.is_open = 0;
}

// The coarse clock takes a quarter of the time of the exact one. Its ticks must be shorter than a pause.
static uint64_t coarse_resolution(void) {
    static _Atomic uint64_t known;
    uint64_t resolution = atomic_load_explicit(&known, memory_order_relaxed);
    if (resolution != 0) { return resolution; }
    struct timespec time;
    bool is_known = clock_getres(CLOCK_MONOTONIC_COARSE, &time) == 0 && time.tv_sec == 0;
    resolution = is_known ? (uint64_t)time.tv_nsec : UINT64_MAX;
    atomic_store_explicit(&known, resolution, memory_order_relaxed);
    return resolution;
}

// Whether a touch outside any scope follows the last one within a tick, and so without a pause.
static bool is_same_tick(fl_use_slot *use) {
    uint64_t resolution = coarse_resolution();
    if (resolution >= PAUSE_NANOSECONDS) { return false; }
    uint64_t tick = fl_clock_time(CLOCK_MONOTONIC_COARSE), last = use->window.last_tick;
    use->window.last_tick = tick;
    if (!use->window.is_open || use->window.scope != 0 || tick != last) { return false; }
    // The last touch of a tick was before the next tick, which makes the following gap look shorter, never longer.
    use->window.last_touch = tick + resolution;
    if (use->window.median_gap == 0) { use->window.median_gap = 1; }
    if (use->window.median_gap > resolution) { use->window.median_gap -= use->window.median_gap / 8; }
    return true;
}

// Whether this touch begins a new window.
static bool is_new_window(fl_use_slot *use, uint64_t scope, uint64_t now) {
    if (!use->window.is_open || use->window.scope != scope) { return true; }
    if (scope != 0) { return false; }
    uint64_t gap = fl_since(now, use->window.last_touch);
    uint64_t median = use->window.median_gap;
    if (gap >= PAUSE_NANOSECONDS && gap >= PAUSE_FACTOR * median) { return true; }
    // A running median: each gap moves it by an eighth in its direction.
    use->window.median_gap = median == 0 ? gap : gap > median ? median + median / 8 + 1 : median - median / 8;
    return false;
}

static bool seen_in_window(fl_use_slot *use, uint32_t row) {
    uint32_t place = row - use->window.base;
    if (place >= 64 * 16) { return false; }
    uint64_t bit = (uint64_t)1 << (place & 63);
    bool seen = (use->window.seen[place >> 6] & bit) != 0;
    use->window.seen[place >> 6] |= bit;
    return seen;
}

static void add_to_runs(fl_use_slot *use, uint32_t row) {
    uint32_t count = use->summary.runs;
    if (count > 0) {
        uint32_t first = use->runs[count - 1].first, behind = first + use->runs[count - 1].rows;
        if (row >= first && row < behind) { return; }
        if (row == behind) {
            use->runs[count - 1].rows++;
            return;
        }
    }
    if (count == FL_USE_RUNS) {
        use->summary.runsLost++;
        return;
    }
    use->runs[count].first = row;
    use->runs[count].rows = 1;
    use->summary.runs = count + 1;
}

void fl_use_touch(fl_use_summary *summary, uint32_t row) {
    fl_use_slot *use = slot_of(summary);
    if (use == NULL) { return; }
    const fl_thread *thread = fl_thread_known(summary->recorder);
    fl_thread_scope scope = thread == NULL ? (fl_thread_scope){0} : thread->scope;
    uint64_t window = scope.window;
    use->summary.touches++;
    if (row < summary->mask_rows) {
        if ((summary->masks[row] & TOUCHED) == 0) {
            summary->masks[row] |= TOUCHED;
            use->summary.touchedRows++;
        }
    } else if (use->summary.touchedRows < use->summary.rows) {
        use->summary.touchedRows++;
    }
    // Within a scope, only the first touch needs the clock. Outside, a pause does.
    bool same = window == 0 ? is_same_tick(use) : use->window.is_open && use->window.scope == window;
    uint64_t now = same ? 0 : fl_now();
    if (!same && is_new_window(use, window, now)) {
        close_window(use);
        use->window.is_open = 1;
        use->window.scope = window;
        use->window.kind = window == 0 ? -1 : scope.window_kind;
        use->window.rows = 0;
        use->window.base = row < 512 ? 0 : row - 512;
        memset(use->window.seen, 0, sizeof use->window.seen);
    }
    if (now != 0) {
        use->window.last_touch = now;
        if (use->summary.firstUse == 0) { use->summary.firstUse = now; }
        use->summary.lastUse = now;
    }
    if (!seen_in_window(use, row)) { use->window.rows++; }
    add_to_runs(use, row);
}

void fl_use_asked_for_count(fl_use_summary *summary) {
    fl_use_slot *use = slot_of(summary);
    if (use != NULL) { use->summary.countAsked++; }
}

void fl_use_asked_for_emptiness(fl_use_summary *summary) {
    fl_use_slot *use = slot_of(summary);
    if (use == NULL) { return; }
    use->summary.countAsked++;
    use->summary.emptinessAsked++;
}

void fl_use_asked_for_identities(fl_use_summary *summary) {
    fl_use_slot *use = slot_of(summary);
    if (use != NULL) { use->summary.identitiesAsked++; }
}

void fl_use_modified_row(fl_use_summary *summary) {
    fl_use_slot *use = slot_of(summary);
    if (use != NULL) { use->summary.modifiedRows++; }
}

void fl_use_loaded(fl_use_summary *summary, uint32_t rows, uint64_t bytes) {
    fl_use_slot *use = slot_of(summary);
    if (use == NULL) { return; }
    use->summary.loadedRows += rows;
    use->summary.bytes += bytes;
}

void fl_use_loaded_batch(fl_use_summary *summary) {
    fl_use_slot *use = slot_of(summary);
    if (use != NULL) { use->summary.batchesLoaded++; }
}

void fl_use_loaded_property(
    fl_use_summary *summary, uint32_t property, uint32_t rows, uint64_t bytes, uint32_t large_rows
) {
    fl_use_slot *use = slot_of(summary);
    if (use == NULL || property >= FL_USE_PROPERTIES) { return; }
    use->properties[property].rows_loaded += rows;
    use->properties[property].bytes += bytes;
    use->properties[property].large_rows += large_rows;
    use->properties[property].is_used = 1;
}

void fl_use_read_property(fl_use_summary *summary, uint32_t property, uint32_t row) {
    fl_use_slot *use = slot_of(summary);
    if (use == NULL || property >= FL_USE_PROPERTIES) { return; }
    if (row < summary->mask_rows) {
        uint64_t bit = (uint64_t)1 << property;
        if ((summary->masks[row] & bit) != 0) { return; }
        summary->masks[row] |= bit;
    }
    use->properties[property].rows_read++;
    use->properties[property].is_used = 1;
}

// MARK: - Closing

void fl_use_describe(const fl_use_slot *use, uint64_t origin, fl_event *event) {
    event->fields.use = use->summary;
    fl_use *summary = &event->fields.use;
    summary->firstUse = fl_since(summary->firstUse, origin);
    summary->lastUse = fl_since(summary->lastUse, origin);
    if (summary->runs > FL_USE_RUNS) { summary->runs = FL_USE_RUNS; }
    if (summary->windows > FL_USE_WINDOWS) { summary->windows = FL_USE_WINDOWS; }
    uint64_t *word = event->lists;
    for (uint32_t index = 0; index < summary->runs; index++) {
        *word++ = use->runs[index].first;
        *word++ = use->runs[index].rows;
    }
    for (uint32_t index = 0; index < summary->windows; index++) {
        *word++ = use->windows[index].kind;
        *word++ = use->windows[index].rows;
        *word++ = use->windows[index].times;
    }
    summary->properties = 0;
    for (uint32_t index = 0; index < FL_USE_PROPERTIES; index++) {
        const fl_use_property *property = &use->properties[index];
        if (!property->is_used) { continue; }
        summary->properties++;
        *word++ = index;
        *word++ = property->rows_read;
        *word++ = property->rows_loaded;
        *word++ = property->bytes;
        *word++ = property->large_rows;
    }
    event->listWords = (uint32_t)(word - event->lists);
}

void fl_use_close(fl_use_summary *summary) {
    fl_recorder *recorder = summary->recorder;
    fl_use_slot *use = slot_of(summary);
    if (use == NULL) {
        free(summary);
        fl_recorder_release(recorder);
        return;
    }
    close_window(use);
    fl_thread *thread = fl_thread_recording(recorder);
    uint64_t began = fl_now();
    if (thread != NULL) {
        fl_event event;
        // Records in a ring contain clock times; draining makes them relative.
        fl_use_describe(use, 0, &event);
        fl_header header = {
            .kind = FL_EVENT_USE, .id = use->id, .scope = use->scope, .start = use->opened,
            .duration = began - use->opened, .context = use->context, .site = use->site,
        };
        fl_ending ending = {.lists = event.lists, .list_words = event.listWords, .without_stack = true};
        fl_put(thread, &header, &event.fields.use, sizeof event.fields.use, &ending);
        thread->pending_cost += fl_plausible_cost(fl_net_cost(began));
    }
    atomic_store_explicit(&use->is_open, 0, memory_order_release);
    push(recorder, summary->number);
    free(summary);
    fl_recorder_release(recorder);
}
