// Python's objects that are followed from a statement to its task, and Python's functions that are called for it.
//
// They are followed under Python's lock, which must not be given up: otherwise other threads would change them. So no code of the
// program may run. Objects count by their exact types, of which only fields and getters of the interpreter are read, and no
// garbage is collected meanwhile.

#ifndef FAULTLINE_PYTHON_OBJECTS_H
#define FAULTLINE_PYTHON_OBJECTS_H

#include "python.h"

// Finds Python's functions and types. Called without Python's lock, because a library that is being loaded may wait for it.
void preload_find_python_functions(void);

// Begins to follow objects, unless the thread does not hold Python's lock, or is about to end. `saved` is what the program
// had set.
typedef struct following {
    void *type, *value, *trace;  // the pending exception
    int collects;
} following;
bool preload_begin_following(following *saved);
void preload_end_following(following saved);

typedef enum object_kind {
    OTHER, FUTURE, TASK, FUNCTION, METHOD, BUILTIN, TUPLE, LIST, COROUTINE, GENERATOR, ASYNC_GENERATOR, WRAPPER, GREENLET
} object_kind;
object_kind preload_kind_of(void *object);

// The following functions return a new reference, or null.
void *preload_attribute(void *object, const char *name);
void *preload_item(void *sequence, intptr_t index);
// What a built-in object around a coroutine or a generator awaits.
void *preload_wrapped(void *wrapper);
void *preload_weak_reference(void *object);
void *preload_outer_frame(void *frame);
void *preload_value_of_cell(void *cell);
void *preload_new_reference(void *object);

// The following functions return a borrowed reference, or null.
void *preload_self_of(void *method, object_kind kind);
void *preload_closure_of(void *function);
void *preload_referent(void *reference);
// Whether the object of a weak reference still exists.
bool preload_is_alive(void *reference);

void preload_let_go(void *object);
intptr_t preload_count_of(void *sequence);

// The frame of a coroutine or a generator; null if it has ended.
const char *preload_frame_of(const void *generator);
// The frame of Python's object for one; null if it is none.
const char *preload_frame_of_object(const void *object);
// The coroutine whose frame is at an address, as a borrowed reference; null if there is none.
void *preload_coroutine_of(const char *frame);
// The place of a variable among those of a function; -1 if it has none.
int preload_find_variable(const char *code, const char *name);

#endif
