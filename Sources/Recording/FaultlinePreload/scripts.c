#define _GNU_SOURCE
#include "interpreted.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

// The functions of a Ruby program, or the line of a PHP program, that are running when it calls SQLite. Both interpreters export
// functions that say so, and both run one thread at a time.

static enum { UNKNOWN, PHP, RUBY } _Atomic kind;
static fl_lock lock = FL_LOCK_FREE;
static uintptr_t low, high;  // the addresses of the interpreter's module

// A number that distinguishes a path from others that had the same address before.
static uint64_t mark_of(const char *path) {
    uint64_t tail = 0;
    size_t length = strlen(path);
    if (length >= sizeof tail) { memcpy(&tail, path + length - sizeof tail, sizeof tail); }
    return tail + length;
}

// MARK: - Ruby

// Values of Ruby (https://docs.ruby-lang.org/capi/en/master).
typedef uintptr_t value;
#define NIL 4
#define NIL_BEFORE_3_2 8

typedef struct ruby_functions {
    int (*profile_frames)(int start, int limit, value *frames, int *lines);
    value (*path)(value frame);
    value (*label)(value frame);
    char *(*text)(volatile value *string);
    int (*has_lock)(void);
    int (*is_own_thread)(void);
    int (*is_collecting)(void);
} ruby_functions;

static ruby_functions ruby;

static bool is_nil(value found) { return found == 0 || found == NIL || found == NIL_BEFORE_3_2; }

// The functions that are written in Ruby. Allocates nothing.
static uint32_t read_ruby(value *frames, int *lines, uint64_t *key) {
    // Other threads, and those that have given Ruby's lock away, must not ask.
    if (!ruby.is_own_thread() || !ruby.has_lock() || ruby.is_collecting()) { return 0; }
    value found[FRAMES_MAXIMUM];
    int found_lines[FRAMES_MAXIMUM];
    int all = ruby.profile_frames(0, FRAMES_MAXIMUM, found, found_lines);
    uint32_t count = 0;
    for (int index = 0; index < all; index++) {
        // Methods that are written in C have no file.
        volatile value path = ruby.path(found[index]);
        if (found_lines[index] <= 0 || is_nil(path)) { continue; }
        frames[count] = found[index];
        lines[count++] = found_lines[index];
        // Code that eval ran is freed, and its address used again.
        *key = fl_mix(fl_mix(fl_mix(*key, found[index]), (uint64_t)found_lines[index]), mark_of(ruby.text(&path)));
    }
    return count;
}

static ruby_functions find_ruby(void) {
    return (ruby_functions){
        .profile_frames = (int (*)(int, int, value *, int *))dlsym(RTLD_DEFAULT, "rb_profile_frames"),
        .path = (value(*)(value))dlsym(RTLD_DEFAULT, "rb_profile_frame_path"),
        .label = (value(*)(value))dlsym(RTLD_DEFAULT, "rb_profile_frame_full_label"),
        .text = (char *(*)(volatile value *))dlsym(RTLD_DEFAULT, "rb_string_value_cstr"),
        .has_lock = (int (*)(void))dlsym(RTLD_DEFAULT, "ruby_thread_has_gvl_p"),
        .is_own_thread = (int (*)(void))dlsym(RTLD_DEFAULT, "ruby_native_thread_p"),
        .is_collecting = (int (*)(void))dlsym(RTLD_DEFAULT, "rb_during_gc"),
    };
}

// MARK: - PHP

// PHP exports the line that it executes; functions further out are in structures that differ between versions.
typedef struct php_functions {
    const char *(*file)(void);
    uint32_t (*line)(void);
} php_functions;

static php_functions php;

static php_functions find_php(void) {
    return (php_functions){
        .file = (const char *(*)(void))dlsym(RTLD_DEFAULT, "zend_get_executed_filename"),
        .line = (uint32_t(*)(void))dlsym(RTLD_DEFAULT, "zend_get_executed_lineno"),
    };
}

// MARK: - Stacks

void preload_lock_scripts(void) { fl_take(&lock); }
void preload_unlock_scripts(void) { fl_give(&lock); }

void preload_find_scripts(void) {
    if (atomic_load_explicit(&kind, memory_order_acquire) != UNKNOWN) { return; }
    // The loader's lock is not taken under this one.
    ruby_functions found = find_ruby();
    php_functions other = find_php();
    bool is_ruby = found.profile_frames != NULL && found.path != NULL && found.label != NULL && found.text != NULL
        && found.has_lock != NULL && found.is_own_thread != NULL && found.is_collecting != NULL;
    bool is_php = other.file != NULL && other.line != NULL;
    struct dl_find_object module;
    if (!is_ruby && !is_php) { return; }
    if (_dl_find_object(is_ruby ? (void *)found.profile_frames : (void *)other.file, &module) != 0) { return; }
    fl_take(&lock);
    if (atomic_load_explicit(&kind, memory_order_relaxed) == UNKNOWN) {
        ruby = found;
        php = other;
        low = (uintptr_t)module.dlfo_map_start;
        high = (uintptr_t)module.dlfo_map_end;
        atomic_store_explicit(&kind, is_ruby ? RUBY : PHP, memory_order_release);
    }
    fl_give(&lock);
}

static uint64_t intern_frame(
    fl_recorder *recorder, const char *language, const char *path, const char *function, int line
) {
    frame_text text;
    size_t file = strnlen(path, FILE_BYTES), name = strnlen(function, NAME_BYTES);
    memcpy(text.names, path, file);
    memcpy(text.names + file, function, name);
    uint64_t address;
    size_t length = preload_write_frame(recorder, &text, file, name, line, language, &address);
    fl_intern(recorder, FL_DICTIONARY_FRAME, text.entry, length, "", 0);
    return address;
}

// Ruby makes a new text for each name, and frees it when it likes; so each is copied at once.
static uint64_t intern_ruby(fl_recorder *recorder, value frame, int line) {
    volatile value path = ruby.path(frame), label = ruby.label(frame);
    return intern_frame(recorder, "Ruby", ruby.text(&path), is_nil(label) ? "?" : ruby.text(&label), line);
}

static uint64_t keep_stack(fl_recorder *recorder, uint64_t key, const uint64_t *addresses, uint32_t count) {
    fl_interpreted interpreted = {.frames = addresses, .count = count, .low = low, .high = high};
    return preload_keep_stack(recorder, key, &interpreted, 0);
}

static uint64_t ruby_stack(fl_recorder *recorder) {
    value frames[FRAMES_MAXIMUM];
    int lines[FRAMES_MAXIMUM];
    uint64_t stack, key = preload_generation(), addresses[FRAMES_MAXIMUM];
    uint32_t count = read_ruby(frames, lines, &key);
    if (count == 0) { return 0; }
    if (preload_find_stack(key, &stack)) { return stack; }
    for (uint32_t index = 0; index < count; index++) { addresses[index] = intern_ruby(recorder, frames[index], lines[index]); }
    return keep_stack(recorder, key, addresses, count);
}

static uint64_t php_stack(fl_recorder *recorder) {
    const char *file = php.file();
    uint32_t line = php.line();
    // Outside any function of the program, PHP names no file and the line 0.
    if (file == NULL || file[0] == '[' || line == 0) { return 0; }
    uint64_t stack, key = fl_mix(fl_mix(fl_mix(preload_generation(), (uintptr_t)file), line), mark_of(file));
    if (preload_find_stack(key, &stack)) { return stack; }
    uint64_t address = intern_frame(recorder, "PHP", file, "", (int)line);
    return keep_stack(recorder, key, &address, 1);
}

uint64_t preload_script_stack(fl_recorder *recorder) {
    switch (atomic_load_explicit(&kind, memory_order_acquire)) {
    case RUBY: return ruby_stack(recorder);
    case PHP: return php_stack(recorder);
    default: return 0;
    }
}
