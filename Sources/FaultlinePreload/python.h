// The structures of a Python interpreter in the process, which are read from outside.

#ifndef FAULTLINE_PYTHON_H
#define FAULTLINE_PYTHON_H

#include "preload.h"

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

typedef struct interpreter {
    layout layout;
    const char *(*thread_state)(void);
    int (*line)(const void *code, int offset);
    const void *code_type, *string_type;
    uintptr_t low, high;  // the addresses of the interpreter's module
} interpreter;

extern interpreter preload_python;

// Whether a frame stands for a Python function. C code and the interpreter's loop own frames that do not (_frameowner in
// pycore_frame.h).
static inline bool preload_is_function(char owner) { return owner < 3; }

// A frame's pointer to its code, in whose lowest bits 3.14 keeps flags (_PyStackRef in pycore_stackref.h).
static inline const char *preload_code(const char *tagged) { return (const char *)((uintptr_t)tagged & ~(uintptr_t)7); }

#define FRAMES_MAXIMUM 64

typedef struct frame {
    const char *code;
    uint32_t instruction;  // in bytes from the function's first one
} frame;

// Whether the interpreter's structures are known and as expected. Safe in a signal handler, which interrupts the
// interpreter.
bool preload_is_python_usable(bool is_interrupted);

typedef enum { READ, UNREADABLE, FORBIDDEN } reading;

// Reads memory that may not exist, without a fault.
reading preload_try_read(const void *address, void *out, size_t size);

#define FILE_BYTES 1024
#define NAME_BYTES 900

// Working memory for the description of a frame.
typedef struct frame_text {
    char names[FILE_BYTES + NAME_BYTES + sizeof(int)];
    char entry[2 * FILE_BYTES + 2 * NAME_BYTES + 256];
} frame_text;

// Writes the dictionary entry of a Python function's line to `text->entry` and returns its length. `address` is set to the
// number that stands for an address; no code has addresses with its highest bit. Safe in a signal handler, if the frame's
// code is valid.
size_t preload_describe_frame(fl_recorder *recorder, frame frame, frame_text *text, uint64_t *address);

#endif
