#define _GNU_SOURCE
#include "expand.h"
#include "timeline.h"

#include <errno.h>
#include <limits.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct fl_drain {
    fl_file *file;
    fl_recorder *recorder;   // null: the file was mapped from outside
    fl_ring_file rings;
    uint64_t origin;
    void *segments[FL_SEGMENTS_MAXIMUM];
    uint64_t sizes[FL_SEGMENTS_MAXIMUM];   // of the mapped segments
    // Null-terminated copies, since the file may be damaged.
    char program[FL_PROGRAM_BYTES];
    char trace[FL_TRACE_PATH_BYTES];
    uint64_t tails[FL_RINGS_MAXIMUM];
    uint64_t dropped[FL_RINGS_MAXIMUM];
    uint32_t segment;        // dictionary: the next position
    uint32_t place;
    uint64_t events;
    uint64_t latest;         // end of the last event, since the trace began
    uint64_t unwritten;
    uint32_t doorbell;       // the value at the last wait
    bool is_ended;           // whether the trace has the last line of the process
    fl_event event;
};

static const uint64_t header_bytes = (sizeof(fl_file) + FL_PAGE - 1) & ~(uint64_t)(FL_PAGE - 1);

// MARK: - Opening

static void resume(fl_drain *drain) {
    uint32_t count = atomic_load_explicit(&drain->file->commit_count, memory_order_acquire);
    if (count == 0) { return; }
    const fl_commit *commit = &drain->file->commits[count & 1];
    drain->segment = commit->segment;
    drain->place = commit->place;
    drain->events = commit->events;
    drain->latest = commit->latest;
    drain->unwritten = commit->unwritten;
    drain->is_ended = commit->is_ended != 0;
    memcpy(drain->tails, commit->tails, sizeof drain->tails);
    memcpy(drain->dropped, commit->dropped, sizeof drain->dropped);
}

static void copy_names(fl_drain *drain) {
    memcpy(drain->program, drain->file->program, sizeof drain->program - 1);
    memcpy(drain->trace, drain->file->trace_path, sizeof drain->trace - 1);
}

// Whether rings come from this user's programs: they are the user's own, or root's programs have left them to the users that
// they became, in a directory of root's that others may not write.
static bool is_trusted(const char *rings, const struct stat *status) {
    if (status->st_uid == geteuid()) { return true; }
    char directory[PATH_MAX];
    struct stat around;
    const char *slash = strrchr(rings, '/');
    size_t length = slash == NULL ? 0 : (size_t)(slash - rings);
    if (geteuid() != 0 || length == 0 || length >= sizeof directory) { return false; }
    memcpy(directory, rings, length);
    directory[length] = 0;
    return lstat(directory, &around) == 0 && S_ISDIR(around.st_mode) && around.st_uid == 0
        && (around.st_mode & S_IWOTH) == 0;
}

fl_drain *fl_drain_open(const char *rings, uint64_t origin) {
    fl_drain *drain = calloc(1, sizeof *drain);
    if (drain == NULL) { return NULL; }
    int descriptor = -1, failure = 0;
    struct stat status;
    fl_file *file = MAP_FAILED;
    drain->rings.path = fl_absolute_path(rings);
    if (drain->rings.path == NULL) { goto failed; }
    // Opening a device can act on it, so the type is checked first.
    if (lstat(drain->rings.path, &status) != 0) { goto failed; }
    failure = !S_ISREG(status.st_mode) ? EINVAL : !is_trusted(drain->rings.path, &status) ? EPERM : 0;
    if (failure != 0) { goto failed; }
    descriptor = fl_open_apart(drain->rings.path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0, 3);
    if (descriptor < 0 || fstat(descriptor, &status) != 0) { goto failed; }
    failure = EINVAL;
    if (!S_ISREG(status.st_mode) || !is_trusted(drain->rings.path, &status) || (uint64_t)status.st_size < header_bytes) { goto failed; }
    file = mmap(NULL, header_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (file == MAP_FAILED) {
        failure = errno;
        goto failed;
    }
    if (memcmp(file->magic, FL_MAGIC, sizeof file->magic) != 0) { goto failed; }
    if (file->layout_version != fl_layout()) {
        failure = EPROTO;
        goto failed;
    }
    close(descriptor);
    drain->rings.identity = (fl_identity){.device = status.st_dev, .inode = status.st_ino};
    drain->file = file;
    drain->origin = origin == 0 ? file->origin : origin;
    copy_names(drain);
    resume(drain);
    return drain;

failed:
    if (failure == 0) { failure = errno; }
    if (file != MAP_FAILED) { munmap(file, header_bytes); }
    if (descriptor >= 0) { close(descriptor); }
    free(drain->rings.path);
    free(drain);
    errno = failure;
    return NULL;
}

fl_drain *fl_drain_attach(fl_recorder *recorder) {
    fl_drain *drain = calloc(1, sizeof *drain);
    if (drain == NULL) { return NULL; }
    drain->file = recorder->file;
    drain->recorder = recorder;
    drain->origin = recorder->file->origin;
    copy_names(drain);
    atomic_fetch_add(&recorder->references, 1);
    return drain;
}

void fl_drain_close(fl_drain *drain) {
    if (drain->recorder != NULL) {
        fl_recorder_release(drain->recorder);
    } else {
        for (uint32_t index = 0; index < FL_SEGMENTS_MAXIMUM; index++) {
            if (drain->segments[index] != NULL) { munmap(drain->segments[index], drain->sizes[index]); }
        }
        munmap(drain->file, header_bytes);
        free(drain->rings.path);
    }
    free(drain);
}

// A segment's memory, mapped at the first access. Null if the file's table is damaged.
static void *segment_at(fl_drain *drain, uint32_t index) {
    if (drain->recorder != NULL) { return drain->recorder->segments[index]; }
    if (drain->segments[index] != NULL) { return drain->segments[index]; }
    const fl_segment copy = drain->file->segments[index], *segment = &copy;
    int descriptor = fl_ring_file_open(&drain->rings);
    if (descriptor < 0) { return NULL; }
    struct stat status;
    void *memory = MAP_FAILED;
    if (fstat(descriptor, &status) == 0 && segment->offset >= header_bytes && segment->size >= FL_PAGE
        && segment->offset <= (uint64_t)status.st_size
        && segment->size <= (uint64_t)status.st_size - segment->offset) {
        memory = mmap(
            NULL, segment->size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, (off_t)segment->offset);
    }
    close(descriptor);
    if (memory == MAP_FAILED) { return NULL; }
    drain->segments[index] = memory;
    drain->sizes[index] = segment->size;
    return memory;
}

// The size of a segment that segment_at returned.
static uint64_t segment_size(const fl_drain *drain, uint32_t index) {
    return drain->recorder != NULL ? drain->file->segments[index].size : drain->sizes[index];
}

static uint32_t segment_count(const fl_drain *drain) {
    uint32_t count = atomic_load_explicit(&drain->file->segment_count, memory_order_acquire);
    return count < FL_SEGMENTS_MAXIMUM ? count : FL_SEGMENTS_MAXIMUM;
}

static uint32_t number_of(const fl_drain *drain) {
    return drain->file->number == 0 ? drain->file->process : drain->file->number;
}

fl_process fl_drain_process(const fl_drain *drain) {
    const fl_file *file = drain->file;
    return (fl_process){
        .process = number_of(drain), .identifier = file->process, .space = file->process_namespace,
        .image = file->image, .start = fl_since(file->start, drain->origin),
        .date = file->date, .program = drain->program, .trace = drain->trace, .has_begun = file->number != 0,
        .is_observed = file->is_observed != 0,
    };
}

bool fl_drain_is_closed(const fl_drain *drain) {
    return atomic_load_explicit(&drain->file->is_closed, memory_order_acquire) != 0;
}

// MARK: - The trace

void fl_drain_begin(fl_drain *drain, fl_identity trace, const char *path, uint32_t number) {
    size_t length = fl_cut_text(path, strlen(path), FL_TRACE_PATH_BYTES - 1);
    memcpy(drain->file->trace_path, path, length);
    drain->file->trace_path[length] = 0;
    copy_names(drain);
    drain->file->trace = trace;
    drain->file->number = number;
}

void fl_drain_end_process(fl_drain *drain) { drain->is_ended = true; }

bool fl_drain_is_ended(const fl_drain *drain) { return drain->is_ended; }

void fl_drain_restart(fl_drain *drain) { drain->segment = drain->place = 0; }

void fl_drain_count_unwritten(fl_drain *drain, uint64_t lines) { drain->unwritten += lines; }

// The last commit for a file of a trace; null if there is none. While a file replaces another one, the rings have a commit for
// each. Later, the one for the old file no longer counts: another file may have its inode.
static const fl_commit *commit_for(const fl_drain *drain, fl_identity trace) {
    const fl_file *file = drain->file;
    uint32_t count = atomic_load_explicit(&file->commit_count, memory_order_acquire);
    if (count == 0) { return NULL; }
    const fl_commit *last = &file->commits[count & 1], *other = &file->commits[(count - 1) & 1];
    if (fl_is_same(last->trace, trace)) { return last; }
    bool is_replacing = count > 1 && !fl_is_same(last->trace, file->trace);
    return is_replacing && fl_is_same(other->trace, trace) ? other : NULL;
}

bool fl_drain_belongs_to(const fl_drain *drain, const fl_timeline *timeline) {
    fl_identity identity = fl_timeline_identity(timeline);
    if (drain->file->number == 0) { return false; }
    return commit_for(drain, identity) != NULL || fl_is_same(drain->file->trace, identity);
}

uint64_t fl_drain_committed_offset(const fl_drain *drain, const fl_timeline *timeline) {
    const fl_commit *commit = commit_for(drain, fl_timeline_identity(timeline));
    if (commit == NULL) { commit = commit_for(drain, drain->file->trace); }
    if (commit == NULL) { return 0; }
    // A copy of the trace was made of the file that had its name, or of one that had just got it, and is that long. The copy may
    // have the inode of the one that was replaced.
    uint64_t length = fl_timeline_length(timeline);
    for (uint32_t index = 0; commit->offset > length && index < 2; index++) {
        uint64_t other = drain->file->commits[index].offset;
        if (other == length && other > 0) { return length; }
    }
    return commit->offset;
}

// MARK: - Dictionary

static void drain_dictionary(fl_drain *drain, const fl_sink *sink) {
    uint32_t count = segment_count(drain);
    for (; drain->segment < count; drain->segment++, drain->place = 0) {
        if (drain->file->segments[drain->segment].kind != FL_SEGMENT_DICTIONARY) { continue; }
        fl_dictionary_segment *segment = segment_at(drain, drain->segment);
        if (segment == NULL) { continue; }
        uint64_t limit = segment_size(drain, drain->segment) - sizeof *segment;
        uint64_t used = atomic_load_explicit(&segment->used, memory_order_acquire);
        if (used > limit) { used = limit; }
        // With 64 bits, since in a damaged file the sum of an offset and a size can overflow 32 bits.
        while ((drain->place & 7) == 0 && (uint64_t)drain->place + sizeof(fl_entry) <= used) {
            const fl_entry *entry = (const fl_entry *)(const void *)(segment->data + drain->place);
            if (entry->size < sizeof *entry || (uint64_t)drain->place + entry->size > used) { break; }
            if (sizeof *entry + (uint64_t)entry->text_length + entry->label_length > entry->size) { break; }
            sink->entry(
                sink->context, entry->kind, entry->id, entry->bytes, entry->text_length,
                entry->bytes + entry->text_length, entry->label_length);
            drain->place += entry->size;
        }
        // The last dictionary segment may still grow; an earlier one is full.
        bool is_last = true;
        for (uint32_t next = drain->segment + 1; next < count; next++) {
            if (drain->file->segments[next].kind == FL_SEGMENT_DICTIONARY) { is_last = false; }
        }
        if (is_last) { return; }
    }
}

// MARK: - Rings

// The position in one ring that is being drained.
typedef struct cursor {
    fl_ring *ring;
    uint32_t number;
    uint64_t capacity;
    uint64_t tail, head;
    const fl_header *record;   // the next one; null: none left
} cursor;

static void advance(cursor *cursor) {
    cursor->record = NULL;
    while (cursor->tail < cursor->head) {
        uint64_t place = cursor->tail & (cursor->capacity - 1);
        const fl_header *record = (const fl_header *)(const void *)(cursor->ring->data + place);
        if (record->size < 8 || (record->size & 7) != 0 || place + record->size > cursor->capacity) {
            cursor->tail = cursor->head;   // damaged: the records behind it cannot be separated
            return;
        }
        if (record->kind != FL_EVENT_NONE) {
            if (record->size < sizeof *record) {
                cursor->tail = cursor->head;
                return;
            }
            cursor->record = record;
            return;
        }
        cursor->tail += record->size;
    }
}

// The ring in a segment; null if it is no ring, or if the file's table is damaged.
static fl_ring *ring_at(fl_drain *drain, uint32_t index) {
    if (drain->file->segments[index].kind != FL_SEGMENT_RING) { return NULL; }
    fl_ring *ring = segment_at(drain, index);
    return ring != NULL && segment_size(drain, index) >= sizeof *ring ? ring : NULL;
}

static uint32_t open_cursors(fl_drain *drain, cursor *cursors) {
    uint32_t count = segment_count(drain), opened = 0;
    for (uint32_t index = 0; index < count; index++) {
        fl_ring *ring = ring_at(drain, index);
        if (ring == NULL) { continue; }
        uint64_t capacity = ring->capacity, number = ring->number;
        if (number >= FL_RINGS_MAXIMUM || capacity == 0 || (capacity & (capacity - 1)) != 0
            || capacity > segment_size(drain, index) - sizeof *ring) {
            continue;
        }
        cursor *next = &cursors[opened];
        next->ring = ring;
        next->number = (uint32_t)number;
        next->capacity = capacity;
        next->tail = drain->tails[ring->number];
        next->head = atomic_load_explicit(&ring->head, memory_order_acquire);
        if (next->head - next->tail > capacity || (next->tail & 7) != 0) { next->tail = next->head; }
        advance(next);
        opened++;
        if (opened == FL_RINGS_MAXIMUM) { break; }
    }
    return opened;
}

uint64_t fl_drain_run(fl_drain *drain, const fl_sink *sink) {
    uint64_t before = drain->events;
    cursor cursors[FL_RINGS_MAXIMUM];
    // Every event that ended before this time is in its ring when the heads are read, on whatever thread. This
    // preserves the order of causes and effects between threads and between runs.
    uint64_t cut = fl_drain_is_closed(drain) ? UINT64_MAX : fl_now();
    uint32_t count = open_cursors(drain, cursors);
    drain_dictionary(drain, sink);
    for (;;) {
        cursor *first = NULL;
        uint64_t earliest = UINT64_MAX;
        for (uint32_t index = 0; index < count; index++) {
            const fl_header *record = cursors[index].record;
            if (record == NULL) { continue; }
            uint64_t end = record->start + record->duration;
            if (end < earliest || first == NULL) {
                earliest = end;
                first = &cursors[index];
            }
        }
        if (first == NULL || earliest > cut) { break; }
        if (earliest - drain->origin > drain->latest && earliest > drain->origin) {
            drain->latest = earliest - drain->origin;
        }
        drain->event.process = number_of(drain);
        drain->events += fl_expand(&drain->event, first->record, drain->origin, sink->event, sink->context);
        first->tail += first->record->size;
        advance(first);
    }
    for (uint32_t index = 0; index < count; index++) {
        cursor *cursor = &cursors[index];
        drain->tails[cursor->number] = cursor->tail;
        // In this order, because a ring with unreported losses is not taken over.
        uint64_t dropped = atomic_load_explicit(&cursor->ring->dropped, memory_order_acquire);
        if (dropped > drain->dropped[cursor->number]) {
            uint32_t thread = atomic_load_explicit(&cursor->ring->thread, memory_order_relaxed);
            sink->lost(sink->context, thread, dropped - drain->dropped[cursor->number]);
        }
        drain->dropped[cursor->number] = dropped;
    }
    return drain->events - before;
}

// Delivers the summaries of one segment.
static void drain_open_uses(fl_drain *drain, const fl_uses_segment *segment, const fl_sink *sink) {
    for (uint32_t place = 0; place < FL_USES_PER_SEGMENT; place++) {
        const fl_use_slot *use = &segment->slots[place];
        if (atomic_load_explicit(&use->is_open, memory_order_acquire) != 1) { continue; }
        fl_event *event = &drain->event;
        fl_use_describe(use, drain->origin, event);
        event->fields.use.state = 1;
        event->process = number_of(drain);
        event->header = (fl_header){
            .kind = FL_EVENT_USE, .thread = use->thread, .id = use->id, .scope = use->scope,
            .context = use->context, .site = use->site,
            .start = fl_since(use->opened, drain->origin),
        };
        drain->events++;
        sink->event(sink->context, event);
    }
}

// Delivers the sums of one ring.
static void drain_open_hits(fl_drain *drain, const fl_ring *ring, const fl_sink *sink) {
    for (uint32_t place = 0; place < FL_HITS_MAXIMUM; place++) {
        const fl_hits *hits = &ring->hits[place];
        if (atomic_load_explicit(&hits->is_open, memory_order_acquire) != 1) { continue; }
        fl_event *event = &drain->event;
        // The file may be damaged.
        event->header = hits->header;
        event->header.kind = FL_EVENT_CACHE_HITS;
        event->header.flags &= FL_ON_MAIN_THREAD | FL_STACK_TRUNCATED;
        event->header.start = fl_since(hits->header.start, drain->origin);
        memset(&event->fields, 0, sizeof event->fields);
        event->fields.cacheHits = fl_hits_describe(hits, ring->hit_time);
        event->listWords = 0;
        event->process = number_of(drain);
        uint64_t end = event->header.start + event->header.duration;
        if (end > drain->latest && end >= event->header.start) { drain->latest = end; }
        drain->events++;
        sink->event(sink->context, event);
    }
}

uint64_t fl_drain_unfinished(fl_drain *drain, const fl_sink *sink) {
    uint64_t before = drain->events;
    uint32_t count = segment_count(drain);
    for (uint32_t index = 0; index < count; index++) {
        const fl_ring *ring = ring_at(drain, index);
        if (ring != NULL) { drain_open_hits(drain, ring, sink); }
        if (drain->file->segments[index].kind != FL_SEGMENT_USES) { continue; }
        const fl_uses_segment *uses = segment_at(drain, index);
        if (uses != NULL && segment_size(drain, index) >= sizeof *uses) { drain_open_uses(drain, uses, sink); }
    }
    return drain->events - before;
}

// MARK: - Committing and waiting

void fl_drain_commit(fl_drain *drain, uint64_t offset) { fl_drain_commit_to(drain, drain->file->trace, offset); }

void fl_drain_commit_to(fl_drain *drain, fl_identity trace, uint64_t offset) {
    fl_file *file = drain->file;
    uint32_t count = atomic_load_explicit(&file->commit_count, memory_order_relaxed) + 1;
    fl_commit *commit = &file->commits[count & 1];
    commit->trace = trace;
    commit->offset = offset;
    commit->segment = drain->segment;
    commit->place = drain->place;
    commit->events = drain->events;
    commit->latest = drain->latest;
    commit->unwritten = drain->unwritten;
    commit->is_ended = drain->is_ended;
    memcpy(commit->tails, drain->tails, sizeof commit->tails);
    memcpy(commit->dropped, drain->dropped, sizeof commit->dropped);
    atomic_store_explicit(&file->commit_count, count, memory_order_release);
    uint32_t segments = segment_count(drain);
    for (uint32_t index = 0; index < segments; index++) {
        fl_ring *ring = ring_at(drain, index);
        if (ring == NULL || ring->number >= FL_RINGS_MAXIMUM) { continue; }
        atomic_store_explicit(&ring->tail, drain->tails[ring->number], memory_order_release);
        atomic_store_explicit(&ring->reported, drain->dropped[ring->number], memory_order_release);
    }
}

static void ignore_entry(
    void *context, uint32_t kind, uint32_t id, const char *json, size_t json_length, const char *label,
    size_t label_length
) {
    (void)context, (void)kind, (void)id, (void)json, (void)json_length, (void)label, (void)label_length;
}
static void ignore_event(void *context, const fl_event *event) { (void)context, (void)event; }
static void ignore_loss(void *context, uint32_t thread, uint64_t events) { (void)context, (void)thread, (void)events; }

uint64_t fl_drain_pending(fl_drain *drain) {
    fl_sink sink = {.entry = ignore_entry, .event = ignore_event, .lost = ignore_loss};
    uint64_t events = fl_drain_run(drain, &sink) + fl_drain_unfinished(drain, &sink);
    // Nothing was committed, so everything can be read again.
    drain->segment = drain->place = 0;
    drain->events = drain->latest = drain->unwritten = 0;
    memset(drain->tails, 0, sizeof drain->tails);
    memset(drain->dropped, 0, sizeof drain->dropped);
    resume(drain);
    return events;
}

bool fl_drain_wait(fl_drain *drain, uint32_t milliseconds) {
    struct timespec limit = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
    // A ring may have signalled while others were drained; do not wait then, because it may fill up before the
    // timeout.
    uint32_t heard = drain->doorbell;
    syscall(SYS_futex, &drain->file->doorbell, FUTEX_WAIT, heard, &limit, NULL, 0);
    drain->doorbell = atomic_load_explicit(&drain->file->doorbell, memory_order_acquire);
    return drain->doorbell != heard;
}

void fl_drain_ring_doorbell(fl_drain *drain) {
    atomic_fetch_add_explicit(&drain->file->doorbell, 1, memory_order_release);
    syscall(SYS_futex, &drain->file->doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

uint64_t fl_drain_end(const fl_drain *drain, uint64_t end) {
    if (end == 0) { end = drain->file->closed; }
    if (end == 0) { return drain->latest; }
    return fl_since(end, drain->origin);
}

fl_totals fl_drain_totals(const fl_drain *drain) {
    const fl_file *file = drain->file;
    fl_totals totals = {
        .events = drain->events, .without_ring = atomic_load(&file->events_lost),
        .failure = atomic_load(&file->failure), .entries_lost = atomic_load(&file->entries_lost),
        .uses_lost = atomic_load(&file->uses_lost), .unwritten = drain->unwritten,
    };
    totals.lost = totals.without_ring;
    for (uint32_t ring = 0; ring < FL_RINGS_MAXIMUM; ring++) { totals.lost += drain->dropped[ring]; }
    return totals;
}
