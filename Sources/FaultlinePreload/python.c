#define _GNU_SOURCE
#include "preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

// The Python functions that are running when a program calls SQLite, read from CPython's own structures. The drivers
// call SQLite without the global interpreter lock, so Python's API cannot be used; but a thread's frames do not change
// while it runs C code, and reading them takes no reference.

// MARK: - Layouts

// The offsets of CPython's fields, in bytes from the beginning of each structure.
typedef struct layout {
    // In the thread's state: its innermost frame, or a structure that has it at `holder_frame`.
    uint16_t thread_frame;
    int16_t holder_frame;
    // In a frame. `owner` is 0 if frames have none.
    uint16_t previous, code, instruction, owner;
    // The factor by which a number that counts instructions becomes bytes; 0 if the instruction is a pointer.
    uint16_t scale;
    // In the code of a function.
    uint16_t file, name, first_line, line_table, first_instruction;
    // In a string: its characters, if all are ASCII and if not.
    uint16_t ascii, other;
} layout;

// The versions of CPython whose structures are known (Include/cpython/frameobject.h, code.h and unicodeobject.h, and
// Include/internal/pycore_frame.h of each); 3.13 describes its own.
static const layout layouts[] = {
    [8] = {24, -1, 24, 32, 104, 0, 1, 104, 112, 40, 120, 0, 48, 72},
    [9] = {24, -1, 24, 32, 104, 0, 1, 104, 112, 40, 120, 0, 48, 72},
    [10] = {24, -1, 24, 32, 96, 0, 2, 104, 112, 40, 120, 0, 48, 72},
    [11] = {56, 8, 48, 32, 56, 0, 0, 112, 128, 72, 136, 184, 48, 72},
    [12] = {56, 0, 8, 0, 56, 70, 0, 112, 128, 68, 136, 192, 40, 56},
};
#define FIRST_MINOR 8
#define LAST_MINOR 13

// A frame that C code owns, and that stands for no Python function (_frameowner in pycore_frame.h).
#define OWNED_BY_C 3

#define FRAMES_MAXIMUM 64

static struct {
    layout layout;
    const char *(*thread_state)(void);
    int (*line)(const void *code, int offset);
    const void *code_type, *string_type;
    uintptr_t low, high;  // the addresses of the interpreter's module
} python;

static enum { UNKNOWN, UNTRIED, USABLE, REFUSED } _Atomic state;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void preload_lock_python(void) { pthread_mutex_lock(&lock); }
void preload_unlock_python(void) { pthread_mutex_unlock(&lock); }

// Python 3.13 describes its structures in a table of words (_Py_DebugOffsets in pycore_runtime.h).
static bool read_own_layout(layout *layout) {
    enum {
        COOKIE, VERSION, FREE_THREADED, CURRENT_FRAME = 23, PREVIOUS = 29, EXECUTABLE = 30, INSTRUCTION = 31, OWNER = 33,
        FILE_NAME = 35, QUALIFIED_NAME = 37, LINE_TABLE = 38, FIRST_LINE = 39, FIRST_INSTRUCTION = 43,
    };
    const uint64_t *words = dlsym(RTLD_DEFAULT, "_PyRuntime");
    if (words == NULL || memcmp(&words[COOKIE], "xdebugpy", 8) != 0) { return false; }
    if (words[VERSION] >> 16 != 0x030D || words[FREE_THREADED] != 0) { return false; }
    *layout = (struct layout){
        .thread_frame = (uint16_t)words[CURRENT_FRAME], .holder_frame = -1, .previous = (uint16_t)words[PREVIOUS],
        .code = (uint16_t)words[EXECUTABLE], .instruction = (uint16_t)words[INSTRUCTION],
        .owner = (uint16_t)words[OWNER], .scale = 0, .file = (uint16_t)words[FILE_NAME],
        .name = (uint16_t)words[QUALIFIED_NAME], .first_line = (uint16_t)words[FIRST_LINE],
        .line_table = (uint16_t)words[LINE_TABLE], .first_instruction = (uint16_t)words[FIRST_INSTRUCTION], .ascii = 40,
        .other = 56,
    };
    return true;
}

void preload_find_python(void) {
    if (atomic_load_explicit(&state, memory_order_acquire) != UNKNOWN) { return; }
    const char *(*version)(void) = (const char *(*)(void))dlsym(RTLD_DEFAULT, "Py_GetVersion");
    if (version == NULL) { return; }
    pthread_mutex_lock(&lock);
    if (atomic_load_explicit(&state, memory_order_relaxed) == UNKNOWN) {
        int major = 0, minor = 0;
        struct dl_find_object module;
        bool is_known = sscanf(version(), "%d.%d", &major, &minor) == 2 && major == 3 && minor >= FIRST_MINOR
            && minor <= LAST_MINOR;
        // Structures of debug builds begin with other fields.
        is_known = is_known && dlsym(RTLD_DEFAULT, "_Py_NegativeRefcount") == NULL;
        if (is_known && minor == 13) {
            is_known = read_own_layout(&python.layout);
        } else if (is_known) {
            python.layout = layouts[minor];
        }
        python.thread_state = (const char *(*)(void))dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
        python.line = (int (*)(const void *, int))dlsym(RTLD_DEFAULT, "PyCode_Addr2Line");
        python.code_type = dlsym(RTLD_DEFAULT, "PyCode_Type");
        python.string_type = dlsym(RTLD_DEFAULT, "PyUnicode_Type");
        is_known = is_known && python.thread_state != NULL && python.line != NULL
            && _dl_find_object((void *)python.thread_state, &module) == 0;
        if (is_known) {
            python.low = (uintptr_t)module.dlfo_map_start;
            python.high = (uintptr_t)module.dlfo_map_end;
        }
        atomic_store_explicit(&state, is_known ? UNTRIED : REFUSED, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
}

// MARK: - Reading frames

static const char *pointer(const char *structure, uint16_t offset) { return *(const char *const *)(structure + offset); }

typedef struct frame {
    const char *code;
    uint32_t instruction;  // in bytes from the function's first one
} frame;

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

// The thread's frames, innermost first. `key` identifies them. Code is freed and its address used again, often by the code
// of the same line in another file or of another line of the same file, so the addresses alone do not.
static uint32_t read_frames(frame *frames, uint64_t *key, bool *truncated) {
    const layout *at = &python.layout;
    uint32_t count = 0;
    *key = preload_generation();
    const char *thread = python.thread_state();
    const char *current = thread == NULL ? NULL : pointer(thread, at->thread_frame);
    if (current != NULL && at->holder_frame >= 0) { current = pointer(current, (uint16_t)at->holder_frame); }
    for (; current != NULL; current = pointer(current, at->previous)) {
        if (at->owner != 0 && current[at->owner] == OWNED_BY_C) { continue; }
        if (count == FRAMES_MAXIMUM) {
            *truncated = true;
            break;
        }
        const char *code = pointer(current, at->code);
        uint64_t instruction = at->scale == 0
            ? (uint64_t)(pointer(current, at->instruction) - (code + at->first_instruction))
            : (uint64_t)(*(const int *)(current + at->instruction) * (int)at->scale);
        frames[count++] = (frame){.code = code, .instruction = (uint32_t)instruction};
        const char *file = pointer(code, at->file), *lines = pointer(code, at->line_table);
        *key = fl_mix(*key, (uintptr_t)code ^ instruction << 48);
        *key = fl_mix(*key, (uintptr_t)lines + (uintptr_t)file + *(const uint32_t *)(code + at->first_line));
        *key = fl_mix(*key, file_mark(file) ^ line_mark(lines));
    }
    return count;
}

// MARK: - Trying the layout

typedef enum { READ, UNREADABLE, FORBIDDEN } reading;

// Reads memory that may not exist, without a fault.
static reading try_read(const void *address, void *out, size_t size) {
    struct iovec local = {out, size}, remote = {(void *)address, size};
    ssize_t count = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
    if (count < 0 && (errno == EPERM || errno == ENOSYS)) { return FORBIDDEN; }
    return count == (ssize_t)size ? READ : UNREADABLE;
}

static bool has_type(const char *object, const void *type) {
    const void *found;
    return try_read(object + 8, &found, sizeof found) == READ && found == type;
}

// Whether the innermost frames are where the layout has them: a vendor may have changed the structures. Where memory
// cannot be read in this way, as in some containers, the version decides alone.
static bool is_right(void) {
    const layout *at = &python.layout;
    const char *current, *thread = python.thread_state();
    reading first = try_read(thread + at->thread_frame, &current, sizeof current);
    if (first == FORBIDDEN) { return true; }
    if (first == READ && at->holder_frame >= 0) { first = try_read(current + at->holder_frame, &current, sizeof current); }
    uint32_t count = 0;
    while (first == READ && current != NULL && count < FRAMES_MAXIMUM) {
        const char *code, *file, *name, *previous;
        char owner = 0;
        if (at->owner != 0 && try_read(current + at->owner, &owner, 1) != READ) { return false; }
        if (try_read(current + at->previous, &previous, sizeof previous) != READ) { return false; }
        if (owner != OWNED_BY_C) {
            if (try_read(current + at->code, &code, sizeof code) != READ || !has_type(code, python.code_type)
                || try_read(code + at->file, &file, sizeof file) != READ || !has_type(file, python.string_type)
                || try_read(code + at->name, &name, sizeof name) != READ || !has_type(name, python.string_type)) {
                return false;
            }
            count++;
        }
        current = previous;
    }
    return first == READ && count > 0;
}

static bool is_usable(void) {
    int known = atomic_load_explicit(&state, memory_order_acquire);
    if (known != UNTRIED) { return known == USABLE; }
    if (python.thread_state() == NULL) { return false; }
    int found = is_right() ? USABLE : REFUSED;
    atomic_store_explicit(&state, found, memory_order_release);
    return found == USABLE;
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

// The number of a Python function's line, in place of an address. No code has addresses with the highest bit.
static uint64_t intern_frame(fl_recorder *recorder, frame frame) {
    char text[2048], json[2 * sizeof text + 256];
    const layout *at = &python.layout;
    size_t file = read_string(pointer(frame.code, at->file), text, 1024);
    size_t name = read_string(pointer(frame.code, at->name), text + file, 900);
    int line = python.line(frame.code, (int)frame.instruction);
    size_t used = file + name;
    memcpy(text + used, &line, sizeof line);
    uint64_t address = fl_keyed_hash(recorder, text, used + sizeof line) | 1ull << 63;
    size_t length = (size_t)sprintf(json, "{\"address\":\"0x%llx\",\"locations\":[{\"file\":", (unsigned long long)address);
    length += fl_json_string(json + length, 2048, text, file);
    length = (size_t)(stpcpy(json + length, ",\"function\":") - json);
    length += fl_json_string(json + length, 1024, text + file, name);
    length += (size_t)sprintf(json + length, ",\"line\":%d,\"symbol\":", line < 0 ? 0 : line);
    length += fl_json_string(json + length, 1024, text + file, name);
    length = (size_t)(stpcpy(json + length, "}],\"module\":\"Python\"}") - json);
    fl_intern(recorder, FL_DICTIONARY_FRAME, json, length, "", 0);
    return address;
}

// MARK: - Stacks

// Stacks by the keys of their frames; the first stack of a key stands for all with it. The bit says that it is cut off.
static preload_table known_stacks;
#define TRUNCATED (1ull << 32)

uint32_t preload_stack(fl_recorder *recorder, bool *truncated) {
    frame frames[FRAMES_MAXIMUM];
    uint64_t key = 0, addresses[FRAMES_MAXIMUM];
    uint32_t count = is_usable() ? read_frames(frames, &key, truncated) : 0;
    // Without Python's functions, the interpreter's own would stand for the program's.
    if (atomic_load_explicit(&state, memory_order_relaxed) == REFUSED) { return 0; }
    if (count == 0) { return fl_stack(recorder, NULL, truncated); }
    uint64_t known;
    if (preload_look_up(&known_stacks, key, &known)) {
        *truncated = (known & TRUNCATED) != 0;
        return (uint32_t)known;
    }
    for (uint32_t index = 0; index < count; index++) { addresses[index] = intern_frame(recorder, frames[index]); }
    fl_interpreted interpreted = {.frames = addresses, .count = count, .low = python.low, .high = python.high};
    uint32_t stack = fl_stack(recorder, &interpreted, truncated);
    if (stack != 0) { preload_keep(&known_stacks, key, stack | (*truncated ? TRUNCATED : 0)); }
    return stack;
}
