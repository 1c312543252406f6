#include "python.h"

#include <stdatomic.h>
#include <string.h>

// The Python functions of a thread that a signal has interrupted. Its frames may be half changed, so that each structure
// is read without trusting that its memory exists, and checked by its type.

#define CODE_BYTES 208
#define STRUCTURE_BYTES 144

// Numbers that stand for frames' addresses, by the frames' keys.
static preload_table known_frames;
// Only one signal handler at a time is here.
static frame_text text;

void preload_prepare_python_samples(void) { preload_allocate(&known_frames); }

static uint16_t larger(uint16_t one, uint16_t other) { return one > other ? one : other; }

static const char *pointer_in(const char *copy, uint16_t offset) {
    const char *pointer;
    memcpy(&pointer, copy + offset, sizeof pointer);
    return pointer;
}

// Reads an object's first bytes; false if there is none, or if it has another type.
static bool read_object(const char *object, const void *type, char *out, size_t size) {
    return object != NULL && preload_try_read(object, out, size) == READ && pointer_in(out, 8) == type;
}

// A frame's code, as far as it identifies the function and the line.
typedef struct sampled_code {
    frame frame;
    const char *file, *name, *line_table;
    uint32_t first_line;
} sampled_code;

// Reads a frame's code. False if it is not valid.
static bool read_code(sampled_code *found, const char *copy) {
    const layout *at = &preload_python.layout;
    char code[CODE_BYTES];
    size_t size = (size_t)larger(larger(at->file, at->name), larger(at->line_table, at->first_line)) + 8;
    frame *frame = &found->frame;
    frame->code = preload_code(pointer_in(copy, at->code));
    if (!read_object(frame->code, preload_python.code_type, code, size)) { return false; }
    if (at->scale == 0) {
        frame->instruction = (uint32_t)(pointer_in(copy, at->instruction) - (frame->code + at->first_instruction));
    } else {
        int instruction;
        memcpy(&instruction, copy + at->instruction, sizeof instruction);
        frame->instruction = (uint32_t)(instruction * (int)at->scale);
    }
    found->file = pointer_in(code, at->file);
    found->name = pointer_in(code, at->name);
    found->line_table = pointer_in(code, at->line_table);
    memcpy(&found->first_line, code + at->first_line, sizeof found->first_line);
    return true;
}

// The key of a frame. Addresses are used again, so that those of all parts of the code count.
static uint64_t key_of(const sampled_code *code) {
    uint64_t key = fl_mix(preload_generation(), (uintptr_t)code->frame.code ^ (uint64_t)code->frame.instruction << 48);
    key = fl_mix(key, (uintptr_t)code->line_table + (uintptr_t)code->file + code->first_line);
    key = fl_mix(key, (uintptr_t)code->name);
    return key == 0 ? 1 : key;
}

// The number that stands for a frame's address. False if the frame is not valid.
static bool number(fl_recorder *recorder, const sampled_code *code, uint64_t *address, bool *is_busy) {
    char file[40], name[40], lines[40];
    uint64_t key = key_of(code);
    if (preload_look_up(&known_frames, key, address)) { return true; }
    if (!read_object(code->file, preload_python.string_type, file, sizeof file)
        || !read_object(code->name, preload_python.string_type, name, sizeof name)
        || preload_try_read(code->line_table, lines, sizeof lines) != READ) {
        return false;
    }
    size_t length = preload_describe_frame(recorder, code->frame, &text, address);
    fl_intern_sampled(recorder, FL_DICTIONARY_FRAME, text.entry, length, "", is_busy);
    if (!*is_busy) { preload_try_keep(&known_frames, key, *address); }
    return true;
}

uint32_t preload_sample_python(
    fl_recorder *recorder, uint64_t *frames, uint32_t room, fl_interpreted *interpreter, bool *truncated, bool *is_busy
) {
    if (!preload_is_python_usable(true)) { return 0; }
    const layout *at = &preload_python.layout;
    const char *current, *thread = preload_python.thread_state();
    char copy[STRUCTURE_BYTES];
    size_t size = (size_t)larger(larger(at->previous, at->code), larger(at->instruction, at->owner)) + 8;
    if (thread == NULL || preload_try_read(thread + at->thread_frame, &current, sizeof current) != READ) { return 0; }
    if (at->holder_frame >= 0 && current == NULL) { return 0; }
    if (at->holder_frame >= 0 && preload_try_read(current + at->holder_frame, &current, sizeof current) != READ) { return 0; }
    *interpreter = (fl_interpreted){.low = preload_python.low, .high = preload_python.high};
    uint32_t count = 0, limit = room < FRAMES_MAXIMUM ? room : FRAMES_MAXIMUM;
    // Chains of damaged frames can be endless.
    for (uint32_t step = 0; current != NULL && step < 4 * FRAMES_MAXIMUM; step++) {
        if (preload_try_read(current, copy, size) != READ) { break; }
        bool is_python = at->owner == 0 || preload_is_function(copy[at->owner]);
        if (is_python && count == limit) {
            *truncated = true;
            break;
        }
        sampled_code code;
        // The innermost frame may not be complete yet; its caller is.
        if (is_python && read_code(&code, copy) && number(recorder, &code, &frames[count], is_busy)) {
            if (*is_busy) { return 0; }
            count++;
        }
        current = pointer_in(copy, at->previous);
    }
    return count;
}
