// The structures of a Python interpreter in the process, which are read from outside.

#ifndef FAULTLINE_PYTHON_H
#define FAULTLINE_PYTHON_H

#include "interpreted.h"

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
    // In a frame: its variables, and whether C code called the function. In the code: how many variables and values it has. All
    // are 0 in versions whose calls are not numbered. Where `from_c` is 0, C code has a frame of its own.
    uint16_t variables, from_c, variable_count, value_count;
    uint16_t minor;  // of the version
} layout;

typedef struct interpreter {
    layout layout;
    const char *(*thread_state)(void);
    int (*line)(const void *code, int offset);
    int (*is_ending)(void);  // null if it is not known
    const void *code_type, *string_type;
    uintptr_t low, high;  // the addresses of the interpreter's module
} interpreter;

extern interpreter preload_python;

// Whether a frame stands for a Python function. C code and the interpreter's loop own frames that do not (_frameowner in
// pycore_frame.h).
static inline bool preload_is_function(char owner) { return owner < 3; }

// A frame's pointer to its code, in whose lowest bits 3.14 keeps flags (_PyStackRef in pycore_stackref.h).
static inline const char *preload_code(const char *tagged) { return (const char *)((uintptr_t)tagged & ~(uintptr_t)7); }

// A function, by the ends of its file's path and of its name: before Python 3.11, names do not contain the class.
typedef struct known_function {
    const char *file, *name;
} known_function;

typedef struct frame {
    const char *code;
    uint32_t instruction;  // in bytes from the function's first one
} frame;

// A frame of the calling thread.
typedef struct walked_frame {
    const char *place;
    frame frame;
    bool is_from_c;  // whether C code called the function
    bool is_coroutine;
} walked_frame;

// A number that distinguishes code from other code that had the same address before: often that of the same line in another
// file, or of another line in the same file.
uint64_t preload_marks_of(const char *code);

// Finds out which of the calling thread's functions were active at its last statement; the innermost one comes first. Returns a
// key that identifies the functions and their lines, or 0 if there is no memory. `stack` is set to what the last call of
// preload_find_repetition got if the key is the same as then, and else to 0.
uint64_t preload_observe_frames(const walked_frame *frames, uint32_t count, bool is_query, uint64_t *stack);

// Takes the calls and the scopes of a task as those of a thread of its own, until another one is chosen, or `task` is null. The
// frame of its outermost coroutine identifies a task. `is_over` says of a mark whether its task is over; null if it cannot be
// asked. False if there is no memory, or if there are too many tasks; then the thread itself is chosen.
bool preload_choose_task(fl_recorder *recorder, const void *task, bool (*is_over)(void *mark));

// Forgets the calls of the chosen task and ends its scopes: another one has its place.
void preload_renew_task(void);

// The mark of the chosen task, a weak reference that distinguishes it from a later task at the same address. Null if it has none
// yet.
void **preload_task_mark(void);

// Gives up a mark. It is freed later, under Python's lock.
void preload_leave_mark(void *mark);

// The key alone.
uint64_t preload_key_of(const walked_frame *frames, uint32_t count);

// The numbers of the calls of those functions, the outermost one first.
const uint32_t *preload_numbers(void);

// The place of a code object's flags in versions 3.11-3.13, and two of the flags (Include/cpython/code.h).
enum { CODE_FLAGS = 48, IS_COROUTINE = 0x80, IS_ASYNC_GENERATOR = 0x200 };

static inline bool preload_is_coroutine(const char *code) {
    return (*(const uint32_t *)(code + CODE_FLAGS) & (IS_COROUTINE | IS_ASYNC_GENERATOR)) != 0;
}

#define SCOPES_MAXIMUM 4

typedef struct preload_scope {
    uint32_t place;  // of the function that begins it, from 0 for the outermost one
    uint32_t name;   // in the dictionary
    uint32_t kind;
    bool is_named;   // by the program's code for it, which is on the stack
} preload_scope;

// The scopes of a stack, the outermost one first.
typedef struct preload_scopes {
    uint32_t count;
    preload_scope scopes[SCOPES_MAXIMUM];
} preload_scopes;

// A scope that is open on a thread or in a task.
typedef struct open_scope {
    uint64_t id, start;
    uint32_t activation;  // the call that began it
    preload_scope scope;
} open_scope;

// The scopes of a thread or a task that is not the chosen one, the outermost one first.
typedef struct resting_scopes {
    preload_open_scopes open;
    open_scope scopes[SCOPES_MAXIMUM];
} resting_scopes;

// Puts the open scopes aside, and opens others instead.
void preload_exchange_scopes(fl_recorder *recorder, resting_scopes *left, const resting_scopes *entered);

// Ends the open scopes.
void preload_close_scopes(void);

// The requests, tests and jobs that frames belong to, the innermost frame first; null if there are none. They are never freed.
const preload_scopes *preload_find_scopes(fl_recorder *recorder, const walked_frame *frames, uint32_t count);

// Opens and closes scopes of the calling thread so that those of a stack are open.
void preload_follow_scopes(fl_recorder *recorder, const preload_scopes *wanted, const uint32_t *numbers);

// Where the statement whose frames were just observed was repeated. `stack` identifies their stack.
// Outside of them are `outer` other functions.
preload_loop preload_find_repetition(uint64_t stack, uint32_t outer);

// The function whose frame is at an address.
walked_frame preload_read_frame(const char *place);

// The calling thread's frames, innermost first. Returns their number, 0 if the interpreter's structures are not known; `truncated`
// is set if there are more than FRAMES_MAXIMUM.
uint32_t preload_walk_frames(walked_frame *frames, bool *truncated);

// Marks the coroutines among frames. Returns the number of frames in the outermost one, with itself: those of a task that an
// event loop runs. 0 if there is none.
uint32_t preload_mark_coroutines(walked_frame *frames, uint32_t count);

// Whether the frames of the calling thread are those of a worker.
bool preload_are_of_worker(const walked_frame *frames, uint32_t count);

// The same as preload_stack, with frames of a task, the innermost one first. `is_deep` is set if there are more of them. If
// `is_next`, no statement runs yet, and nothing is found out about loops.
uint32_t preload_task_stack(
    fl_recorder *recorder, const walked_frame *frames, uint32_t count, bool is_deep, bool is_query, bool is_next,
    preload_loop *loop, bool *truncated);

// Whether the interpreter's structures are known and as expected. Safe in a signal handler, which interrupts the
// interpreter.
bool preload_is_python_usable(bool is_interrupted);

typedef enum { READ, UNREADABLE, FORBIDDEN } reading;

// Reads memory that may not exist, without a fault.
reading preload_try_read(const void *address, void *out, size_t size);

// Reads the path of a function's file and its name.
void preload_read_function(frame frame, char file[FILE_BYTES + 1], char name[NAME_BYTES + 1]);

typedef struct function_text {
    char file[FILE_BYTES + 1], name[NAME_BYTES + 1];
} function_text;

bool preload_is_known_function(const function_text *function, const known_function *known);

// Whether a function belongs to the program, and not to a library.
bool preload_is_of_program(const function_text *function);

// The same as preload_write_frame, for a frame whose code is valid.
size_t preload_describe_frame(fl_recorder *recorder, frame frame, frame_text *text, uint64_t *address);

#endif
