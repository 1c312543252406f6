#define _GNU_SOURCE
#include "python_objects.h"

#include <dlfcn.h>
#include <errno.h>
#include <faultline_text.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

// The Python functions that are running when a program calls SQLite, read from CPython's own structures. The drivers
// call SQLite without the global interpreter lock, so Python's API cannot be used; but a thread's frames do not change
// while it runs C code, and reading them takes no reference.

// MARK: - Layouts

// The versions of CPython whose structures are known (Include/cpython/frameobject.h, code.h and unicodeobject.h, and
// Include/internal/pycore_frame.h of each); later ones describe their own.
static const layout layouts[] = {
    [8] = {24, -1, 24, 32, 104, 0, 1, 104, 112, 40, 120, 0, 48, 72, 0, 0, 0, 0, 8},
    [9] = {24, -1, 24, 32, 104, 0, 1, 104, 112, 40, 120, 0, 48, 72, 0, 0, 0, 0, 9},
    [10] = {24, -1, 24, 32, 96, 0, 2, 104, 112, 40, 120, 0, 48, 72, 0, 0, 0, 0, 10},
    [11] = {56, 8, 48, 32, 56, 0, 0, 112, 128, 72, 136, 184, 48, 72, 72, 68, 76, 68, 11},
    [12] = {56, 0, 8, 0, 56, 70, 0, 112, 128, 68, 136, 192, 40, 56, 72, 0, 72, 64, 12},
};
#define FIRST_MINOR 8
#define LAST_MINOR 14

// The places of the offsets in the table of words in which CPython describes its structures (_Py_DebugOffsets in
// pycore_runtime.h, from 3.14 on in pycore_debug_offsets.h).
static const struct {
    uint8_t current_frame, previous, executable, instruction, owner, file_name, qualified_name, line_table, first_line,
        first_instruction;
} words_of[] = {
    [13] = {23, 29, 30, 31, 33, 35, 37, 38, 39, 43},
    [14] = {26, 32, 33, 34, 36, 40, 42, 43, 44, 48},
};
#define FIRST_OWN_MINOR 13

interpreter preload_python;
#define python preload_python

static enum { UNKNOWN, UNTRIED, USABLE, REFUSED } _Atomic state;
static fl_lock lock = FL_LOCK_FREE;

void preload_lock_python(void) {
    fl_take(&lock);
    preload_lock_scripts();
}
void preload_unlock_python(void) {
    preload_unlock_scripts();
    fl_give(&lock);
}

// Reads the interpreter's own description of its structures.
static bool read_own_layout(int minor, layout *layout) {
    enum { COOKIE, VERSION, FREE_THREADED };
    const uint64_t *words = dlsym(RTLD_DEFAULT, "_PyRuntime");
    if (words == NULL || memcmp(&words[COOKIE], "xdebugpy", 8) != 0) { return false; }
    if (words[VERSION] >> 16 != (0x0300 | (unsigned)minor) || words[FREE_THREADED] != 0) { return false; }
#define WORD(name) (uint16_t)words[words_of[minor].name]
    *layout = (struct layout){
        .thread_frame = WORD(current_frame), .holder_frame = -1, .previous = WORD(previous), .code = WORD(executable),
        .instruction = WORD(instruction), .owner = WORD(owner), .scale = 0, .file = WORD(file_name),
        .name = WORD(qualified_name), .first_line = WORD(first_line), .line_table = WORD(line_table),
        .first_instruction = WORD(first_instruction), .ascii = 40, .other = 56, .minor = (uint16_t)minor,
    };
#undef WORD
    if (minor == 13) {
        layout->variables = layout->variable_count = 72;
        layout->value_count = 64;
    }
    return true;
}

void preload_find_interpreter(void) {
    preload_find_scripts();
    if (atomic_load_explicit(&state, memory_order_acquire) != UNKNOWN) { return; }
    const char *(*version)(void) = (const char *(*)(void))dlsym(RTLD_DEFAULT, "Py_GetVersion");
    if (version == NULL) { return; }
    fl_take(&lock);
    if (atomic_load_explicit(&state, memory_order_relaxed) == UNKNOWN) {
        int major = 0, minor = 0;
        struct dl_find_object module;
        bool is_known = sscanf(version(), "%d.%d", &major, &minor) == 2 && major == 3 && minor >= FIRST_MINOR
            && minor <= LAST_MINOR;
        // Structures of debug builds begin with other fields.
        is_known = is_known && dlsym(RTLD_DEFAULT, "_Py_NegativeRefcount") == NULL;
        if (is_known && minor >= FIRST_OWN_MINOR) {
            is_known = read_own_layout(minor, &python.layout);
        } else if (is_known) {
            python.layout = layouts[minor];
        }
        python.thread_state = (const char *(*)(void))dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
        python.line = (int (*)(const void *, int))dlsym(RTLD_DEFAULT, "PyCode_Addr2Line");
        python.is_ending = (int (*)(void))dlsym(RTLD_DEFAULT, minor >= 13 ? "Py_IsFinalizing" : "_Py_IsFinalizing");
        python.code_type = dlsym(RTLD_DEFAULT, "PyCode_Type");
        python.string_type = dlsym(RTLD_DEFAULT, "PyUnicode_Type");
        is_known = is_known && python.thread_state != NULL && python.line != NULL
            && _dl_find_object((void *)python.thread_state, &module) == 0;
        if (is_known) {
            python.low = (uintptr_t)module.dlfo_map_start;
            python.high = (uintptr_t)module.dlfo_map_end;
        }
        if (is_known) { preload_find_python_functions(); }
        atomic_store_explicit(&state, is_known ? UNTRIED : REFUSED, memory_order_release);
    }
    fl_give(&lock);
}

// MARK: - Reading frames

static const char *pointer(const char *structure, uint16_t offset) { return *(const char *const *)(structure + offset); }

// The last eight characters of a file's name, and its length.
static uint64_t file_mark(const char *string) {
    uint64_t tail = 0, length = *(const uint64_t *)(string + 16);
    bool is_ascii = (*(const uint32_t *)(string + 32) >> 6 & 1) != 0;
    if (is_ascii && length >= sizeof tail) { memcpy(&tail, string + python.layout.ascii + length - sizeof tail, sizeof tail); }
    return tail + length;
}

// The first eight bytes of the table from which Python computes lines: a bytes object, for which Python allocates at least
// so many.
static uint64_t line_mark(const char *table) { return *(const uint64_t *)(table + 32); }

uint64_t preload_marks_of(const char *code) {
    const layout *at = &python.layout;
    const char *file = pointer(code, at->file), *lines = pointer(code, at->line_table);
    uint64_t places = (uintptr_t)lines + (uintptr_t)file + *(const uint32_t *)(code + at->first_line);
    return places * 3 + (file_mark(file) ^ line_mark(lines));
}

// Inlined, because the loop over a thread's frames needs the layout in registers.
static inline __attribute__((always_inline)) walked_frame read_frame(const layout *at, const char *place) {
    const char *code = preload_code(pointer(place, at->code));
    uint64_t instruction = at->scale == 0
        ? (uint64_t)(pointer(place, at->instruction) - (code + at->first_instruction))
        : (uint64_t)(*(const int *)(place + at->instruction) * (int)at->scale);
    return (walked_frame){
        .place = place, .frame = {.code = code, .instruction = (uint32_t)instruction},
        .is_from_c = at->from_c != 0 && place[at->from_c] != 0,
    };
}

walked_frame preload_read_frame(const char *place) { return read_frame(&python.layout, place); }

uint32_t preload_walk_frames(walked_frame *frames, bool *truncated) {
    // A copy, which no store can change.
    const layout copy = python.layout, *at = &copy;
    uint32_t count = 0;
    if (!preload_is_python_usable(false)) { return 0; }
    // An interpreter that ends has freed the states of all other threads.
    if (python.is_ending != NULL && python.is_ending() && gettid() != getpid()) { return 0; }
    const char *thread = python.thread_state();
    const char *current = thread == NULL ? NULL : pointer(thread, at->thread_frame);
    if (current != NULL && at->holder_frame >= 0) { current = pointer(current, (uint16_t)at->holder_frame); }
    for (; current != NULL; current = pointer(current, at->previous)) {
        if (at->owner != 0 && !preload_is_function(current[at->owner])) {
            if (count > 0) { frames[count - 1].is_from_c = true; }
            continue;
        }
        if (count == FRAMES_MAXIMUM) {
            *truncated = true;
            break;
        }
        frames[count++] = read_frame(at, current);
    }
    return count;
}

// MARK: - Trying the layout

reading preload_try_read(const void *address, void *out, size_t size) {
    if (fl_is_confined()) { return FORBIDDEN; }
    struct iovec local = {out, size}, remote = {(void *)address, size};
    ssize_t count = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
    if (count < 0 && (errno == EPERM || errno == ENOSYS)) { return FORBIDDEN; }
    return count == (ssize_t)size ? READ : UNREADABLE;
}

static bool has_type(const char *object, const void *type) {
    const void *found;
    return preload_try_read(object + 8, &found, sizeof found) == READ && found == type;
}

typedef enum { RIGHT, WRONG, NO_FRAMES } verdict;

// Whether the innermost frames are where the layout has them: a vendor may have changed the structures. Where memory
// cannot be read in this way, as in some containers, the version decides alone.
static verdict try_layout(void) {
    const layout *at = &python.layout;
    const char *current, *thread = python.thread_state();
    if (thread == NULL) { return NO_FRAMES; }
    reading first = preload_try_read(thread + at->thread_frame, &current, sizeof current);
    if (first == FORBIDDEN) { return RIGHT; }
    if (first == READ && at->holder_frame >= 0 && current != NULL) {
        first = preload_try_read(current + at->holder_frame, &current, sizeof current);
    }
    if (first != READ) { return WRONG; }
    uint32_t count = 0;
    for (uint32_t step = 0; current != NULL && step < 2 * FRAMES_MAXIMUM; step++) {
        const char *code, *file, *name, *previous;
        char owner = 0;
        if (at->owner != 0 && preload_try_read(current + at->owner, &owner, 1) != READ) { return WRONG; }
        if (preload_try_read(current + at->previous, &previous, sizeof previous) != READ) { return WRONG; }
        if (preload_is_function(owner)) {
            if (preload_try_read(current + at->code, &code, sizeof code) != READ
                || !has_type(code = preload_code(code), python.code_type)
                || preload_try_read(code + at->file, &file, sizeof file) != READ || !has_type(file, python.string_type)
                || preload_try_read(code + at->name, &name, sizeof name) != READ || !has_type(name, python.string_type)) {
                return WRONG;
            }
            count++;
        }
        current = previous;
    }
    return count > 0 ? RIGHT : NO_FRAMES;
}

// The attempts in signal handlers, which can interrupt the interpreter while it changes a frame.
#define ATTEMPTS 32

bool preload_is_python_usable(bool is_interrupted) {
    static _Atomic uint32_t failures;
    int known = atomic_load_explicit(&state, memory_order_acquire);
    if (known != UNTRIED) { return known == USABLE; }
    verdict found = try_layout();
    // While the interpreter starts, it has no frames yet.
    if (found == NO_FRAMES) { return false; }
    if (found == WRONG && is_interrupted && atomic_fetch_add(&failures, 1) < ATTEMPTS) { return false; }
    atomic_store_explicit(&state, found == RIGHT ? USABLE : REFUSED, memory_order_release);
    return found == RIGHT;
}

// MARK: - Naming frames

static size_t put_character(char *out, uint32_t character) {
    // Surrogates stand for bytes of a file's name that are not UTF-8.
    if (character >= 0xD800 && character < 0xE000) { character = '?'; }
    if (character < 0x80) {
        out[0] = (char)character;
        return 1;
    }
    size_t length = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    for (size_t index = length - 1; index > 0; index--, character >>= 6) { out[index] = (char)(0x80 | (character & 0x3F)); }
    out[0] = (char)((0xF00 >> length & 0xFF) | character);
    return length;
}

// Copies a string as UTF-8, as much of it as there is room for. Returns the length.
static size_t read_string(const char *string, char *out, size_t room) {
    uint32_t form = *(const uint32_t *)(string + 32), kind = form >> 2 & 7;
    bool is_compact = (form >> 5 & 1) != 0, is_ascii = (form >> 6 & 1) != 0;
    if (!is_compact || (kind != 1 && kind != 2 && kind != 4)) { return 0; }
    const char *text = string + (is_ascii ? python.layout.ascii : python.layout.other);
    int64_t length = *(const int64_t *)(string + 16);
    size_t used = 0;
    for (int64_t index = 0; index < length && used + 4 <= room; index++) {
        uint32_t character = kind == 1 ? ((const uint8_t *)text)[index]
            : kind == 2 ? ((const uint16_t *)(const void *)text)[index] : ((const uint32_t *)(const void *)text)[index];
        used += put_character(out + used, character);
    }
    return used;
}

void preload_read_function(frame frame, char file[FILE_BYTES + 1], char name[NAME_BYTES + 1]) {
    file[read_string(pointer(frame.code, python.layout.file), file, FILE_BYTES)] = 0;
    name[read_string(pointer(frame.code, python.layout.name), name, NAME_BYTES)] = 0;
}

size_t preload_describe_frame(fl_recorder *recorder, frame frame, frame_text *text, uint64_t *address) {
    const layout *at = &python.layout;
    size_t file = read_string(pointer(frame.code, at->file), text->names, FILE_BYTES);
    size_t name = read_string(pointer(frame.code, at->name), text->names + file, NAME_BYTES);
    return preload_write_frame(recorder, text, file, name, python.line(frame.code, (int)frame.instruction), "Python", address);
}

static uint64_t intern_frame(fl_recorder *recorder, frame frame) {
    frame_text text;
    uint64_t address;
    size_t length = preload_describe_frame(recorder, frame, &text, &address);
    fl_intern(recorder, FL_DICTIONARY_FRAME, text.entry, length, "", 0);
    return address;
}

// MARK: - Stacks

// Whether a coroutine was seen in the process. Then tasks may take turns on its threads.
static _Atomic bool has_coroutines;

// Scopes by the numbers of their stacks.
static preload_table scopes_by_stack;

// `inner` of the frames are those of a task; 0 if there is none.
static uint64_t add_stack(
    fl_recorder *recorder, const walked_frame *frames, uint32_t count, uint32_t inner, uint64_t key, bool truncated
) {
    uint64_t addresses[FRAMES_MAXIMUM];
    bool has_calls = !truncated && python.layout.variables != 0;
    bool is_in_task = false;
    for (uint32_t index = 0; index < count; index++) {
        addresses[index] = intern_frame(recorder, frames[index].frame);
        is_in_task = is_in_task || (has_calls && preload_is_coroutine(frames[index].frame.code));
    }
    if (is_in_task) { atomic_store(&has_coroutines, true); }
    // The first statement in a task is not known to be in one.
    bool has_scopes = has_calls && is_in_task == (inner > 0);
    const preload_scopes *scopes =
        has_scopes ? preload_find_scopes(recorder, frames, inner == 0 ? count : inner) : NULL;
    fl_interpreted interpreted = {.frames = addresses, .count = count, .low = python.low, .high = python.high};
    uint64_t bits = (truncated ? PRELOAD_TRUNCATED : 0) | (scopes != NULL ? PRELOAD_IN_SCOPE : 0);
    if (has_calls && preload_are_of_worker(frames, count)) { bits |= PRELOAD_OF_WORKER; }
    uint64_t stack = preload_keep_stack(recorder, key, &interpreted, bits);
    if (stack != 0 && scopes != NULL) {
        preload_keep(&scopes_by_stack, fl_mix(preload_generation(), (uint32_t)stack), (uintptr_t)scopes);
    }
    return stack;
}

// The stack with a key, which is added if it is new.
static uint64_t find_or_add(
    fl_recorder *recorder, const walked_frame *frames, uint32_t count, uint32_t inner, uint64_t key, bool truncated
) {
    uint64_t stack;
    return preload_find_stack(key, &stack) ? stack : add_stack(recorder, frames, count, inner, key, truncated);
}

static const preload_scopes *scopes_of(uint64_t stack) {
    uint64_t found = 0;
    if ((stack & PRELOAD_IN_SCOPE) == 0) { return NULL; }
    preload_look_up(&scopes_by_stack, fl_mix(preload_generation(), (uint32_t)stack), &found);
    return (const preload_scopes *)(uintptr_t)found;
}

uint32_t preload_mark_coroutines(walked_frame *frames, uint32_t count) {
    uint32_t inner = 0;
    for (uint32_t index = 0; index < count; index++) {
        frames[index].is_coroutine = preload_is_coroutine(frames[index].frame.code);
        if (frames[index].is_coroutine) { inner = index + 1; }
    }
    return inner;
}

// Finds the stack of frames, of which `inner` are those of a task; 0 if there is none.
static inline __attribute__((always_inline)) uint64_t stack_of(
    fl_recorder *recorder, const walked_frame *frames, uint32_t count, uint32_t inner, bool is_deep, bool is_query,
    preload_loop *loop
) {
    uint64_t stack = 0, key;
    // Before the first coroutine, nothing but the thread itself was chosen.
    bool has_tasks = atomic_load_explicit(&has_coroutines, memory_order_relaxed) || inner > 0;
    bool is_known = !has_tasks || preload_choose_task(recorder, inner == 0 ? NULL : frames[inner - 1].place, NULL);
    // The calls further out than a deep stack are not known.
    bool tells_calls = is_known && !is_deep;
    if (!tells_calls) {
        key = preload_key_of(frames, count);
    } else {
        uint32_t observed = inner == 0 ? count : inner;
        key = preload_observe_frames(frames, observed, is_query, &stack);
        if (key != 0 && stack == 0 && observed < count) {
            key = fl_mix(key, preload_key_of(frames + observed, count - observed));
        }
    }
    if (key == 0) { return 0; }
    if (stack == 0) { stack = find_or_add(recorder, frames, count, inner, key, is_deep); }
    if (!tells_calls) { return stack; }
    *loop = preload_find_repetition(stack, inner == 0 ? 0 : count - inner);
    const preload_scopes *scopes = scopes_of(stack);
    if (scopes != NULL || preload_open.count > 0) { preload_follow_scopes(recorder, scopes, preload_numbers()); }
    return stack;
}

uint32_t preload_stack(fl_recorder *recorder, bool is_query, preload_loop *loop, bool *truncated) {
    walked_frame frames[FRAMES_MAXIMUM];
    bool is_deep = false;
    *loop = (preload_loop){0};
    uint32_t count = preload_walk_frames(frames, &is_deep);
    // Without Python's functions, the interpreter's own would stand for the program's.
    if (atomic_load_explicit(&state, memory_order_relaxed) == REFUSED) { return 0; }
    if (count == 0) {
        uint64_t stack = preload_script_stack(recorder);
        *truncated = (stack & PRELOAD_TRUNCATED) != 0;
        return stack != 0 ? (uint32_t)stack : fl_stack(recorder, NULL, truncated);
    }
    bool has_tasks = atomic_load_explicit(&has_coroutines, memory_order_relaxed);
    uint32_t inner = has_tasks && !is_deep ? preload_mark_coroutines(frames, count) : 0;
    uint64_t stack = stack_of(recorder, frames, count, inner, is_deep, is_query, loop);
    *truncated = (stack & PRELOAD_TRUNCATED) != 0;
    preload_has_task = inner > 0 || (stack & PRELOAD_OF_WORKER) != 0;
    return (uint32_t)stack;
}

uint32_t preload_task_stack(
    fl_recorder *recorder, const walked_frame *frames, uint32_t count, bool is_deep, bool is_query, bool is_next,
    preload_loop *loop, bool *truncated
) {
    *loop = (preload_loop){0};
    uint64_t stack = is_next
        ? find_or_add(recorder, frames, count, 0, fl_mix(preload_key_of(frames, count), 1), is_deep)
        : stack_of(recorder, frames, count, is_deep ? 0 : count, is_deep, is_query, loop);
    *truncated = (stack & PRELOAD_TRUNCATED) != 0;
    return (uint32_t)stack;
}
