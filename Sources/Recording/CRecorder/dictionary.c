#include "faultline_sampler.h"
#include "tracing.h"

#include <stdio.h>
#include <string.h>

// MARK: - Entries

// An entry for the dictionary.
typedef struct draft {
    fl_dictionary_kind kind;
    const void *text;
    size_t text_length;
    const char *label;
    size_t label_length;
} draft;

// Writes an entry, under the recorder's lock. 0 if there is no space.
static uint32_t write_entry(fl_recorder *recorder, const draft *draft) {
    size_t label_length = fl_cut_text(draft->label, draft->label_length, FL_LABEL_BYTES);
    size_t text_length = draft->text_length;
    size_t size = (sizeof(fl_entry) + text_length + label_length + 7) & ~(size_t)7;
    uint32_t id = 0;
    fl_dictionary_segment *segment = recorder->dictionary;
    uint64_t room = FL_DICTIONARY_SEGMENT_BYTES - sizeof *segment;
    uint64_t used = segment == NULL ? room : atomic_load_explicit(&segment->used, memory_order_relaxed);
    if (size > room) {
        segment = NULL;
    } else if (used + size > room) {
        segment = fl_add_segment(recorder, FL_SEGMENT_DICTIONARY, 0, FL_DICTIONARY_SEGMENT_BYTES);
        if (segment != NULL) { recorder->dictionary = segment; }
        used = 0;
    }
    if (segment != NULL) {
        id = recorder->next_entry++;
        fl_entry *entry = (fl_entry *)(void *)(segment->data + used);
        *entry = (fl_entry){
            .size = (uint32_t)size, .id = id, .kind = (uint16_t)draft->kind, .label_length = (uint16_t)label_length,
            .text_length = (uint32_t)text_length,
        };
        memcpy(entry->bytes, draft->text, text_length);
        memcpy(entry->bytes + text_length, draft->label, label_length);
        atomic_store_explicit(&segment->used, used + size, memory_order_release);
        if (recorder->tracer != NULL) { fl_trace_entry(recorder, entry); }
    } else {
        atomic_fetch_add(&recorder->file->entries_lost, 1);
    }
    return id;
}

// MARK: - Finding what was seen

static uint64_t hash_bytes(uint32_t kind, const void *bytes, size_t length) {
    uint64_t hash = fl_mix(fl_mix_bytes(fl_mix(kind, length), bytes, length), 0);
    return hash == 0 ? 1 : hash;
}

// The slot with the hash, or the free slot for it; null if the table is full. Entries are identified by the 64-bit
// hash alone: among the 65,536 that fit, the probability of a collision is one in ten billion.
static fl_interned *find(fl_recorder *recorder, uint64_t hash) {
    for (uint32_t step = 0; step < 64; step++) {
        fl_interned *slot = &recorder->interned[(hash + step) & (FL_INTERNED_MAXIMUM - 1)];
        uint64_t held = atomic_load_explicit(&slot->hash, memory_order_acquire);
        if (held == hash || held == 0) { return slot; }
    }
    return NULL;
}

// One thread at a time adds; concurrent look-ups see either nothing or the complete entry.
static fl_lock adding = FL_LOCK_FREE;

void fl_dictionary_after_fork(void) {
    // Another thread of the parent may have held the mutex. The data it guards are the parent's.
    fl_free_lock(&adding);
}

// The number of an entry with that hash; 0 if there is none.
static uint32_t known_entry(fl_recorder *recorder, uint64_t hash) {
    const fl_interned *slot = find(recorder, hash);
    return slot != NULL && atomic_load_explicit(&slot->hash, memory_order_acquire) == hash ? slot->id : 0;
}

uint32_t fl_find_entry(fl_recorder *recorder, fl_dictionary_kind kind, const void *text, size_t length) {
    return known_entry(recorder, hash_bytes(kind, text, length));
}

// Adds an entry unless another thread has added it, under both locks. 0 if there is no space.
static uint32_t add(fl_recorder *recorder, uint64_t hash, const draft *draft) {
    fl_interned *slot = find(recorder, hash);
    if (slot == NULL) {
        atomic_fetch_add(&recorder->file->entries_lost, 1);
        return 0;
    }
    if (atomic_load_explicit(&slot->hash, memory_order_relaxed) == hash) { return slot->id; }
    uint32_t id = write_entry(recorder, draft);
    if (id != 0) {
        slot->id = id;
        atomic_store_explicit(&slot->hash, hash, memory_order_release);
    }
    return id;
}

// The CPU time of this thread. Reading it is a system call, which is acceptable for a new entry.
static uint64_t work_time(void) { return fl_is_confined() ? 0 : fl_thread_time(); }

uint32_t fl_intern(
    fl_recorder *recorder, fl_dictionary_kind kind, const void *text, size_t text_length, const char *label,
    size_t label_length
) {
    uint64_t hash = hash_bytes(kind, text, text_length);
    uint32_t id = known_entry(recorder, hash);
    if (id != 0 || !fl_is_ours(recorder)) { return id; }
    uint64_t began = work_time();
    draft draft = {kind, text, text_length, label, label_length};
    fl_take(&adding);
    fl_take(&recorder->lock);
    id = add(recorder, hash, &draft);
    fl_give(&recorder->lock);
    fl_give(&adding);
    if (kind != FL_DICTIONARY_THREAD && kind != FL_DICTIONARY_MODULE) {
        fl_thread *thread = fl_thread_current(recorder);
        if (thread != NULL) { thread->pending_cost += work_time() - began; }
    }
    return id;
}

// The maximum number of entries that samples add, so that they leave room for those of events.
#define SAMPLED_MAXIMUM (FL_INTERNED_MAXIMUM / 2)

uint32_t fl_intern_sampled(
    fl_recorder *recorder, fl_dictionary_kind kind, const void *text, size_t text_length, const char *label, bool *is_busy
) {
    uint64_t hash = hash_bytes(kind, text, text_length);
    uint32_t id = known_entry(recorder, hash);
    if (id != 0) { return id; }
    if (recorder->sampled_entries == SAMPLED_MAXIMUM) {
        atomic_fetch_add(&recorder->file->entries_lost, 1);
        return 0;
    }
    draft draft = {kind, text, text_length, label, strlen(label)};
    // The interrupted thread itself may hold one of the locks.
    if (!fl_try(&adding)) {
        *is_busy = true;
        return 0;
    }
    if (fl_try(&recorder->lock)) {
        id = add(recorder, hash, &draft);
        recorder->sampled_entries++;
        fl_give(&recorder->lock);
    } else {
        *is_busy = true;
    }
    fl_give(&adding);
    return id;
}

uint32_t fl_intern_site(
    fl_recorder *recorder, const char *file, size_t file_length, uint32_t line, const char *function,
    size_t function_length
) {
    uint64_t hash = fl_mix((uint64_t)(uintptr_t)file, line);
    for (uint32_t step = 0; step < 64; step++) {
        fl_site *site = &recorder->sites[(hash + step) & (FL_SITES_MAXIMUM - 1)];
        const char *held = atomic_load_explicit(&site->file, memory_order_acquire);
        if (held == file && site->line == line) { return site->id; }
        if (held == NULL) { break; }
    }
    char json[2048], *end = json;
    memcpy(end, "{\"file\":", 8);
    end += 8;
    end += fl_json_string(end, 900, file, file_length);
    memcpy(end, ",\"function\":", 12);
    end += 12;
    end += fl_json_string(end, 900, function, function_length);
    end += snprintf(end, 40, ",\"line\":%u}", line);
    uint32_t id = fl_intern(recorder, FL_DICTIONARY_SITE, json, (size_t)(end - json), "", 0);
    fl_take(&adding);
    for (uint32_t step = 0; step < 64; step++) {
        fl_site *site = &recorder->sites[(hash + step) & (FL_SITES_MAXIMUM - 1)];
        if (atomic_load_explicit(&site->file, memory_order_relaxed) != NULL) { continue; }
        site->line = line;
        site->id = id;
        atomic_store_explicit(&site->file, file, memory_order_release);
        break;
    }
    fl_give(&adding);
    return id;
}
