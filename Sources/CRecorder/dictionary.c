#define _GNU_SOURCE
#include "tracing.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// MARK: - Entries

uint32_t fl_add_entry(
    fl_recorder *recorder, fl_dictionary_kind kind, const void *text, size_t text_length, const char *label,
    size_t label_length
) {
    label_length = fl_cut_text(label, label_length, FL_LABEL_BYTES);
    size_t size = (sizeof(fl_entry) + text_length + label_length + 7) & ~(size_t)7;
    uint32_t id = 0;
    pthread_mutex_lock(&recorder->lock);
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
            .size = (uint32_t)size, .id = id, .kind = (uint16_t)kind, .label_length = (uint16_t)label_length,
            .text_length = (uint32_t)text_length,
        };
        memcpy(entry->bytes, text, text_length);
        memcpy(entry->bytes + text_length, label, label_length);
        atomic_store_explicit(&segment->used, used + size, memory_order_release);
        if (recorder->tracer != NULL) { fl_trace_entry(recorder, entry); }
    } else {
        atomic_fetch_add(&recorder->file->entries_lost, 1);
    }
    pthread_mutex_unlock(&recorder->lock);
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
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

void fl_dictionary_after_fork(void) {
    // Another thread of the parent may have held the mutex. The data it guards are the parent's.
    pthread_mutex_init(&adding, NULL);
}

static uint32_t intern(
    fl_recorder *recorder, fl_dictionary_kind kind, const void *text, size_t text_length, const char *label,
    size_t label_length
) {
    uint64_t hash = hash_bytes(kind, text, text_length);
    fl_interned *slot = find(recorder, hash);
    if (slot != NULL && atomic_load_explicit(&slot->hash, memory_order_acquire) == hash) { return slot->id; }
    if (!fl_is_ours(recorder)) { return 0; }
    // Reading the thread's CPU time is a system call, which is acceptable for a new entry.
    uint64_t began = fl_thread_time();
    pthread_mutex_lock(&adding);
    uint32_t id = 0;
    slot = find(recorder, hash);
    if (slot == NULL) {
        atomic_fetch_add(&recorder->file->entries_lost, 1);
    } else if (atomic_load_explicit(&slot->hash, memory_order_relaxed) == hash) {
        id = slot->id;
    } else {
        id = fl_add_entry(recorder, kind, text, text_length, label, label_length);
        if (id != 0) {
            slot->id = id;
            atomic_store_explicit(&slot->hash, hash, memory_order_release);
        }
    }
    pthread_mutex_unlock(&adding);
    if (kind != FL_DICTIONARY_THREAD && kind != FL_DICTIONARY_MODULE) {
        fl_thread *thread = fl_thread_current(recorder);
        if (thread != NULL) { thread->pending_cost += fl_thread_time() - began; }
    }
    return id;
}

uint32_t fl_intern(
    fl_recorder *recorder, fl_dictionary_kind kind, const char *json, size_t json_length, const char *label,
    size_t label_length
) {
    return intern(recorder, kind, json, json_length, label, label_length);
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
    uint32_t id = intern(recorder, FL_DICTIONARY_SITE, json, (size_t)(end - json), "", 0);
    pthread_mutex_lock(&adding);
    for (uint32_t step = 0; step < 64; step++) {
        fl_site *site = &recorder->sites[(hash + step) & (FL_SITES_MAXIMUM - 1)];
        if (atomic_load_explicit(&site->file, memory_order_relaxed) != NULL) { continue; }
        site->line = line;
        site->id = id;
        atomic_store_explicit(&site->file, file, memory_order_release);
        break;
    }
    pthread_mutex_unlock(&adding);
    return id;
}

// MARK: - Stacks

// Frames at which a walk resumes if the code in between uses the register for something else, as code does that Swift
// calls `DispatchQueue.sync` through.
#define ANCHORS_MAXIMUM 16

typedef struct anchor {
    uintptr_t low;    // below everything that the anchoring function keeps on the stack
    uintptr_t frame;  // of that function
} anchor;

static _Thread_local struct {
    uint32_t count;
    anchor all[ANCHORS_MAXIMUM];
} anchors;

__attribute__((noinline)) void fl_push_anchor(void) {
    uintptr_t own = (uintptr_t)__builtin_frame_address(0);
    if (anchors.count < ANCHORS_MAXIMUM) {
        anchors.all[anchors.count] = (anchor){.low = own, .frame = fl_caller_of(own)};
    }
    anchors.count++;
}

void fl_pop_anchor(void) { anchors.count--; }

// Follows the frame pointers. Libraries without them (libsqlite3, parts of libc) leave garbage in the chain, so a
// frame counts only if it is in this thread's stack, above the previous one. The walk never skips an anchor.
static uint32_t walk(const fl_thread *thread, uint64_t *frames, bool *truncated) {
    uint32_t count = 0, next = anchors.count < ANCHORS_MAXIMUM ? anchors.count : ANCHORS_MAXIMUM;
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    while (fl_is_on_stack(thread, frame)) {
        const uintptr_t *words = (const uintptr_t *)frame;
        if (words[1] == 0) { break; }
        if (count == FL_STACK_FRAMES_MAXIMUM) {
            *truncated = true;
            break;
        }
        frames[count++] = words[1];
        uintptr_t caller = fl_caller_of(frame);
        while (next > 0 && anchors.all[next - 1].low <= frame) { next--; }
        if (next > 0 && (caller <= frame || caller >= anchors.all[next - 1].low)) {
            caller = anchors.all[--next].frame;
        }
        if (caller <= frame) { break; }
        frame = caller;
    }
    return count;
}

// Inserts the frames of interpreted functions where the stack enters the interpreter. Returns the number of all.
static uint32_t insert(const fl_interpreted *interpreted, uint64_t *frames, uint32_t count, bool *truncated) {
    uint32_t first = 0, added = interpreted->count;
    while (first < count && (frames[first] < interpreted->low || frames[first] >= interpreted->high)) { first++; }
    if (first + added > FL_STACK_FRAMES_MAXIMUM) {
        added = FL_STACK_FRAMES_MAXIMUM - first;
        *truncated = true;
    }
    uint32_t rest = count - first;
    if (first + added + rest > FL_STACK_FRAMES_MAXIMUM) {
        rest = FL_STACK_FRAMES_MAXIMUM - first - added;
        *truncated = true;
    }
    memmove(frames + first + added, frames + first, rest * sizeof frames[0]);
    memcpy(frames + first, interpreted->frames, added * sizeof frames[0]);
    return first + added + rest;
}

uint32_t fl_intern_stack(
    fl_recorder *recorder, fl_thread *thread, const fl_interpreted *interpreted, bool *truncated
) {
    uint64_t frames[FL_STACK_FRAMES_MAXIMUM];
    uint32_t count = walk(thread, frames, truncated);
    if (interpreted != NULL) { count = insert(interpreted, frames, count, truncated); }
    if (count == 0) { return 0; }
    uint64_t hash = hash_bytes(FL_DICTIONARY_STACK, frames, count * sizeof frames[0]);
    fl_interned *slot = find(recorder, hash);
    if (slot != NULL && atomic_load_explicit(&slot->hash, memory_order_acquire) == hash) { return slot->id; }
    fl_list_modules(recorder);
    return intern(
        recorder, FL_DICTIONARY_STACK, frames, count * sizeof frames[0], *truncated ? "truncated" : "",
        *truncated ? 9 : 0);
}

// MARK: - Modules

typedef struct modules_context {
    fl_recorder *recorder;
    bool is_first;
} modules_context;

static size_t describe_build_id(const struct dl_phdr_info *module, char *out, size_t room) {
    for (int index = 0; index < module->dlpi_phnum; index++) {
        const ElfW(Phdr) *header = &module->dlpi_phdr[index];
        if (header->p_type != PT_NOTE) { continue; }
        const char *note = (const char *)(module->dlpi_addr + header->p_vaddr);
        const char *end = note + header->p_memsz;
        while (note + sizeof(ElfW(Nhdr)) <= end) {
            const ElfW(Nhdr) *fields = (const ElfW(Nhdr) *)(const void *)note;
            const char *name = note + sizeof *fields;
            const unsigned char *value = (const unsigned char *)name + ((fields->n_namesz + 3) & ~3u);
            if (fields->n_type == NT_GNU_BUILD_ID && fields->n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
                size_t used = 0;
                for (uint32_t byte = 0; byte < fields->n_descsz && used + 2 < room; byte++) {
                    used += (size_t)snprintf(out + used, room - used, "%02x", value[byte]);
                }
                return used;
            }
            note = (const char *)value + ((fields->n_descsz + 3) & ~3u);
        }
    }
    return 0;
}

static int list_module(struct dl_phdr_info *module, size_t size, void *context) {
    (void)size;
    modules_context *listing = context;
    bool is_program = listing->is_first;
    listing->is_first = false;
    char path[1024];
    const char *name = module->dlpi_name;
    if (is_program) {
        name = listing->recorder->file->program;   // the program itself has an empty name
    } else if (name == NULL || name[0] != '/') {
        return 0;                                  // the kernel's vDSO, which has no file
    }
    uint64_t start = UINT64_MAX, end = 0;
    for (int index = 0; index < module->dlpi_phnum; index++) {
        const ElfW(Phdr) *header = &module->dlpi_phdr[index];
        if (header->p_type != PT_LOAD) { continue; }
        uint64_t low = module->dlpi_addr + header->p_vaddr;
        if (low < start) { start = low; }
        if (low + header->p_memsz > end) { end = low + header->p_memsz; }
    }
    char build_id[128] = "", json[2400];
    describe_build_id(module, build_id, sizeof build_id);
    path[fl_json_string(path, sizeof path - 1, name, strlen(name))] = 0;
    int length = snprintf(
        json, sizeof json, "{\"bias\":\"0x%llx\",\"buildID\":\"%s\",\"end\":\"0x%llx\",\"path\":%s,\"start\":\"0x%llx\"}",
        (unsigned long long)module->dlpi_addr, build_id, (unsigned long long)end, path, (unsigned long long)start);
    fl_intern(listing->recorder, FL_DICTIONARY_MODULE, json, (size_t)length, "", 0);
    return 0;
}

// The linker counts the modules it has loaded; the list is walked only if the count has changed.
static int count_loaded(struct dl_phdr_info *module, size_t size, void *count) {
    (void)size;
    *(uint64_t *)count = module->dlpi_adds;
    return 1;
}

void fl_list_modules(fl_recorder *recorder) {
    uint64_t loaded = 0;
    dl_iterate_phdr(count_loaded, &loaded);
    if (__atomic_load_n(&recorder->modules_seen, __ATOMIC_RELAXED) == loaded) { return; }
    __atomic_store_n(&recorder->modules_seen, loaded, __ATOMIC_RELAXED);
    modules_context listing = {.recorder = recorder, .is_first = true};
    dl_iterate_phdr(list_module, &listing);
}
