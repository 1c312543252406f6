#define _GNU_SOURCE
#include "python.h"

#include <dlfcn.h>
#include <faultline_text.h>
#include <stdatomic.h>
#include <string.h>

// The functions of PHP and Ruby programs that are running when they call SQLite. Both interpreters export functions that say
// so, and both run one thread at a time.

static enum { UNKNOWN, NONE, PHP, RUBY } _Atomic kind;
static fl_lock lock = FL_LOCK_FREE;
static uintptr_t low, high;  // the addresses of the interpreter's module

typedef struct script_frame {
    const char *file, *function;
    size_t function_bytes;
    uint32_t line;
    const void *place;  // identifies the function
} script_frame;

// MARK: - Ruby

// Values of Ruby (https://docs.ruby-lang.org/capi/en/master).
typedef uintptr_t value;
#define NIL_VALUES(value) ((value) == 4 || (value) == 8)  // of Ruby 3.2 and later, and of earlier ones

static struct {
    int (*profile_frames)(int start, int limit, value *frames, int *lines);
    value (*path)(value frame);
    value (*label)(value frame);
    char *(*text)(volatile value *string);
    int (*has_lock)(void);
    int (*is_own_thread)(void);
    int (*is_collecting)(void);
} ruby;

static uint32_t read_ruby(script_frame *frames) {
    // Other threads, and those that have given Ruby's lock away, must not ask.
    if (!ruby.is_own_thread() || !ruby.has_lock() || ruby.is_collecting()) { return 0; }
    value found[FRAMES_MAXIMUM];
    int lines[FRAMES_MAXIMUM];
    int all = ruby.profile_frames(0, FRAMES_MAXIMUM, found, lines);
    uint32_t count = 0;
    for (int index = 0; index < all; index++) {
        volatile value path = ruby.path(found[index]), label = ruby.label(found[index]);
        // Methods that are written in C have no file.
        if (lines[index] <= 0 || NIL_VALUES(path) || NIL_VALUES(label) || path == 0 || label == 0) { continue; }
        const char *name = ruby.text(&label);
        frames[count++] = (script_frame){
            .file = ruby.text(&path), .function = name, .function_bytes = strlen(name), .line = (uint32_t)lines[index],
            .place = (const void *)found[index],
        };
    }
    return count;
}

static bool find_ruby(void) {
    ruby.profile_frames = (int (*)(int, int, value *, int *))dlsym(RTLD_DEFAULT, "rb_profile_frames");
    ruby.path = (value(*)(value))dlsym(RTLD_DEFAULT, "rb_profile_frame_path");
    ruby.label = (value(*)(value))dlsym(RTLD_DEFAULT, "rb_profile_frame_full_label");
    ruby.text = (char *(*)(volatile value *))dlsym(RTLD_DEFAULT, "rb_string_value_cstr");
    ruby.has_lock = (int (*)(void))dlsym(RTLD_DEFAULT, "ruby_thread_has_gvl_p");
    ruby.is_own_thread = (int (*)(void))dlsym(RTLD_DEFAULT, "ruby_native_thread_p");
    ruby.is_collecting = (int (*)(void))dlsym(RTLD_DEFAULT, "rb_during_gc");
    return ruby.profile_frames != NULL && ruby.path != NULL && ruby.label != NULL && ruby.text != NULL
        && ruby.has_lock != NULL && ruby.is_own_thread != NULL && ruby.is_collecting != NULL;
}

// MARK: - PHP

// The fields of PHP's structures that are alike in the versions 7.0–8.4 (Zend/zend_compile.h, zend_types.h).
enum { CALL_INSTRUCTION = 0, CALL_FUNCTION = 24, CALL_PREVIOUS = 48, FUNCTION_NAME = 8, TEXT_BYTES = 16, TEXT = 24,
       INSTRUCTION_LINE = 24, OF_PROGRAM = 2 };

static struct {
    const char *(*file)(void);
    uint32_t (*line)(void);
    const char *globals;
    // Found at the first statement: where the globals have the innermost call, and where a function has its file. 0: not known.
    uint32_t current, file_of;
    bool is_tried;
} php;

static const char *pointer_at(const char *structure, size_t offset) {
    return *(const char *const *)(const void *)(structure + offset);
}

static bool read_pointer(const char *structure, size_t offset, const char **pointer) {
    return structure != NULL && preload_try_read(structure + offset, pointer, sizeof *pointer) == READ && *pointer != NULL;
}

// Whether a call is that of a function of the program which executes a line.
static bool executes(const char *call, uint32_t line, const char **function) {
    const char *instruction;
    uint32_t found;
    char type;
    return read_pointer(call, CALL_FUNCTION, function) && preload_try_read(*function, &type, 1) == READ && type == OF_PROGRAM
        && read_pointer(call, CALL_INSTRUCTION, &instruction)
        && preload_try_read(instruction + INSTRUCTION_LINE, &found, sizeof found) == READ && found == line;
}

#define GLOBALS_BYTES 2048
#define FUNCTION_BYTES 256
#define INNER_CALLS 4

// Finds what differs between versions: the call that executes the line that PHP names, and the file that it names.
static void find_offsets(const char *file, uint32_t line) {
    for (uint32_t current = 0; current < GLOBALS_BYTES; current += 8) {
        const char *call, *function = NULL, *text;
        if (!read_pointer(php.globals, current, &call)) { continue; }
        bool is_found = false;
        for (uint32_t step = 0; step < INNER_CALLS && !is_found; step++) {
            is_found = executes(call, line, &function);
            if (!is_found && !read_pointer(call, CALL_PREVIOUS, &call)) { break; }
        }
        if (!is_found) { continue; }
        for (uint32_t offset = 16; offset < FUNCTION_BYTES; offset += 8) {
            if (!read_pointer(function, offset, &text) || text + TEXT != file) { continue; }
            php.current = current;
            php.file_of = offset;
            return;
        }
    }
}

static uint32_t read_php(script_frame *frames) {
    const char *file = php.file();
    uint32_t line = php.line(), count = 0;
    // Outside any function of the program, PHP names no file and the line 0.
    if (file == NULL || file[0] == '[' || line == 0) { return 0; }
    if (!php.is_tried && php.globals != NULL) {
        php.is_tried = true;
        find_offsets(file, line);
    }
    if (php.current == 0) {
        frames[0] = (script_frame){.file = file, .function = "{main}", .function_bytes = 6, .line = line, .place = file};
        return 1;
    }
    for (const char *call = pointer_at(php.globals, php.current); call != NULL && count < FRAMES_MAXIMUM;
         call = pointer_at(call, CALL_PREVIOUS)) {
        const char *function = pointer_at(call, CALL_FUNCTION), *instruction = pointer_at(call, CALL_INSTRUCTION);
        if (function == NULL || function[0] != OF_PROGRAM || instruction == NULL) { continue; }
        const char *name = pointer_at(function, FUNCTION_NAME);
        frames[count++] = (script_frame){
            .file = pointer_at(function, php.file_of) + TEXT, .function = name == NULL ? "{main}" : name + TEXT,
            .function_bytes = name == NULL ? 6 : *(const uint64_t *)(const void *)(name + TEXT_BYTES),
            .line = *(const uint32_t *)(const void *)(instruction + INSTRUCTION_LINE), .place = instruction,
        };
    }
    return count;
}

static bool find_php(void) {
    php.file = (const char *(*)(void))dlsym(RTLD_DEFAULT, "zend_get_executed_filename");
    php.line = (uint32_t(*)(void))dlsym(RTLD_DEFAULT, "zend_get_executed_lineno");
    // A PHP with threads has its globals elsewhere.
    php.globals = dlsym(RTLD_DEFAULT, "executor_globals");
    return php.file != NULL && php.line != NULL;
}

// MARK: - Stacks

void preload_find_scripts(void) {
    if (atomic_load_explicit(&kind, memory_order_acquire) != UNKNOWN) { return; }
    fl_take(&lock);
    if (atomic_load_explicit(&kind, memory_order_relaxed) == UNKNOWN) {
        struct dl_find_object module;
        int found = find_ruby() ? RUBY : find_php() ? PHP : UNKNOWN;
        void *function = found == RUBY ? (void *)ruby.profile_frames : (void *)php.file;
        if (found != UNKNOWN && _dl_find_object(function, &module) == 0) {
            low = (uintptr_t)module.dlfo_map_start;
            high = (uintptr_t)module.dlfo_map_end;
            atomic_store_explicit(&kind, found, memory_order_release);
        }
    }
    fl_give(&lock);
}

static uint64_t intern_frame(fl_recorder *recorder, const char *language, const script_frame *frame) {
    frame_text text;
    size_t file = strnlen(frame->file, FILE_BYTES);
    size_t name = frame->function_bytes < NAME_BYTES ? frame->function_bytes : NAME_BYTES;
    memcpy(text.names, frame->file, file);
    memcpy(text.names + file, frame->function, name);
    memcpy(text.names + file + name, &frame->line, sizeof frame->line);
    uint64_t address = fl_keyed_hash(recorder, text.names, file + name + sizeof frame->line) | 1ull << 63;
    size_t length = preload_write_frame(&text, file, name, frame->line, language, address);
    fl_intern(recorder, FL_DICTIONARY_FRAME, text.entry, length, "", 0);
    return address;
}

// Stacks by the keys of their frames.
static preload_table known_stacks;

uint32_t preload_script_stack(fl_recorder *recorder, bool *truncated) {
    int language = atomic_load_explicit(&kind, memory_order_acquire);
    script_frame frames[FRAMES_MAXIMUM];
    uint32_t count = language == RUBY ? read_ruby(frames) : language == PHP ? read_php(frames) : 0;
    if (count == 0) { return 0; }
    *truncated = count == FRAMES_MAXIMUM;
    uint64_t known, key = preload_generation(), addresses[FRAMES_MAXIMUM];
    for (uint32_t index = 0; index < count; index++) {
        key = fl_mix(fl_mix(key, (uintptr_t)frames[index].place), frames[index].line);
    }
    if (preload_look_up(&known_stacks, key, &known)) { return (uint32_t)known; }
    for (uint32_t index = 0; index < count; index++) {
        addresses[index] = intern_frame(recorder, language == RUBY ? "Ruby" : "PHP", &frames[index]);
    }
    fl_interpreted interpreted = {.frames = addresses, .count = count, .low = low, .high = high};
    uint32_t stack = fl_stack(recorder, &interpreted, truncated);
    if (stack != 0) { preload_keep(&known_stacks, key, stack); }
    return stack;
}
