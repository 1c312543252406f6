#define _GNU_SOURCE
#include "recorder.h"

#include <stdlib.h>
#include <string.h>

#define TOUCHED ((uint64_t)1 << 63)
// A pause ends a window: at least this long, and four times the usual gap between touches.
#define PAUSE_NANOSECONDS 5000000u
#define PAUSE_FACTOR 4

// MARK: - Opening

static fl_use_slot *free_slot(fl_recorder *recorder) {
    for (int attempt = 0; attempt < 2; attempt++) {
        uint32_t count = atomic_load_explicit(&recorder->file->segment_count, memory_order_acquire);
        for (uint32_t index = 0; index < count; index++) {
            if (recorder->file->segments[index].kind != FL_SEGMENT_USES) { continue; }
            fl_uses_segment *segment = recorder->segments[index];
            for (uint32_t place = 0; place < FL_USES_PER_SEGMENT; place++) {
                uint32_t closed = 0;
                fl_use_slot *slot = &segment->slots[place];
                if (atomic_load_explicit(&slot->is_open, memory_order_relaxed) != 0) { continue; }
                // 2: taken, not yet filled in.
                if (atomic_compare_exchange_strong(&slot->is_open, &closed, 2)) { return slot; }
            }
        }
        if (attempt > 0) { break; }
        pthread_mutex_lock(&recorder->lock);
        fl_add_segment(recorder, FL_SEGMENT_USES, 0, sizeof(fl_uses_segment));
        pthread_mutex_unlock(&recorder->lock);
    }
    return NULL;
}

fl_use_slot *fl_use_open(fl_recorder *recorder, const fl_use *about, uint64_t scope, uint32_t context, uint32_t site) {
    fl_thread *thread = fl_switch_is_on(&recorder->state) ? fl_thread_current(recorder) : NULL;
    if (thread == NULL) { return NULL; }
    fl_use_slot *use = free_slot(recorder);
    if (use == NULL) {
        atomic_fetch_add(&recorder->file->uses_lost, 1);
        return NULL;
    }
    memset((char *)use + sizeof use->is_open, 0, sizeof *use - sizeof use->is_open);
    use->summary = (fl_use){
        .fetch = about->fetch, .entity = about->entity, .shape = about->shape, .batchSize = about->batchSize,
        .rows = about->rows,
    };
    use->scope = scope;
    use->context = context;
    use->site = site;
    use->thread = thread->number;
    use->id = thread->ring->next_id;
    thread->ring->next_id += FL_IDS_PER_RECORD;
    use->opened = fl_now();
    use->recorder = recorder;
    if (about->rows > 0 && about->rows <= FL_USE_MASKED_ROWS) {
        use->masks = calloc(about->rows, sizeof *use->masks);
    }
    atomic_fetch_add(&recorder->references, 1);
    atomic_store_explicit(&use->is_open, 1, memory_order_release);
    return use;
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
        // Where there is no room for another size, the next larger one of the kind takes it.
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

// Whether this touch begins another window.
static bool is_new_window(fl_use_slot *use, uint64_t scope, uint64_t now) {
    if (!use->window.is_open || use->window.scope != scope) { return true; }
    if (scope != 0) { return false; }
    uint64_t gap = now - use->window.last_touch;
    uint64_t median = use->window.median_gap;
    if (gap >= PAUSE_NANOSECONDS && gap >= PAUSE_FACTOR * median) { return true; }
    // A running median: each gap moves it by an eighth towards itself.
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

void fl_use_touch(fl_use_slot *use, uint32_t row, uint64_t window, int32_t window_kind) {
    use->summary.touches++;
    if (use->masks != NULL && row < use->summary.rows) {
        if ((use->masks[row] & TOUCHED) == 0) {
            use->masks[row] |= TOUCHED;
            use->summary.touchedRows++;
        }
    } else if (use->summary.touchedRows < use->summary.rows) {
        use->summary.touchedRows++;
    }
    // Within a scope only its first touch needs the clock.
    bool same = use->window.is_open && use->window.scope == window && window != 0;
    uint64_t now = same ? 0 : fl_now();
    if (!same && is_new_window(use, window, now)) {
        close_window(use);
        use->window.is_open = 1;
        use->window.scope = window;
        use->window.kind = window == 0 ? -1 : window_kind;
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

void fl_use_asked_for_count(fl_use_slot *use) { use->summary.countAsked++; }

void fl_use_loaded(fl_use_slot *use, uint32_t rows, uint64_t bytes) {
    use->summary.loadedRows += rows;
    use->summary.bytes += bytes;
}

void fl_use_loaded_batch(fl_use_slot *use) { use->summary.batchesLoaded++; }

void fl_use_loaded_property(fl_use_slot *use, uint32_t property, uint32_t rows, uint64_t bytes, uint32_t large_rows) {
    if (property >= FL_USE_PROPERTIES) { return; }
    use->properties[property].rows_loaded += rows;
    use->properties[property].bytes += bytes;
    use->properties[property].large_rows += large_rows;
    use->properties[property].is_used = 1;
}

void fl_use_read_property(fl_use_slot *use, uint32_t property, uint32_t row) {
    if (property >= FL_USE_PROPERTIES) { return; }
    if (use->masks != NULL && row < use->summary.rows) {
        uint64_t bit = (uint64_t)1 << property;
        if ((use->masks[row] & bit) != 0) { return; }
        use->masks[row] |= bit;
    }
    use->properties[property].rows_read++;
    use->properties[property].is_used = 1;
}

// MARK: - Closing

void fl_use_describe(const fl_use_slot *use, uint64_t origin, fl_event *event) {
    event->fields.use = use->summary;
    fl_use *summary = &event->fields.use;
    summary->firstUse = summary->firstUse < origin ? 0 : summary->firstUse - origin;
    summary->lastUse = summary->lastUse < origin ? 0 : summary->lastUse - origin;
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

void fl_use_close(fl_use_slot *use) {
    fl_recorder *recorder = use->recorder;
    close_window(use);
    fl_thread *thread = fl_switch_is_on(&recorder->state) ? fl_thread_current(recorder) : NULL;
    if (thread != NULL) {
        fl_event event;
        // The times of a record in a ring are those of the clock; draining makes them relative.
        fl_use_describe(use, 0, &event);
        fl_header header = {
            .kind = FL_EVENT_USE, .id = use->id, .scope = use->scope, .start = use->opened,
            .duration = fl_now() - use->opened, .context = use->context, .site = use->site,
        };
        fl_ending ending = {.lists = event.lists, .list_words = event.listWords, .without_stack = true};
        fl_put(thread, &header, &event.fields.use, sizeof event.fields.use, &ending);
    }
    free(use->masks);
    use->masks = NULL;
    atomic_store_explicit(&use->is_open, 0, memory_order_release);
    fl_recorder_release(recorder);
}
