#include "python.h"

#include <dlfcn.h>
#include <string.h>

// The functions that await a statement which runs on a thread of its own. Asynchronous drivers hand each statement to a worker,
// whose stack ends at the driver. The task that waits for it hangs on a future of the worker:
//
//     variable of the worker → future → callback → task → coroutine → the coroutine that it awaits → …
//
// Python's lock protects these objects, and SQLite runs without it. So they are followed when the driver binds a parameter, or
// asks for the name of a column or for an open transaction, which it does under the lock.

// MARK: - Workers

typedef struct worker {
    known_function function;
    const char *variable;  // its local variable with the future, or with an object that has one
    const char *attribute;  // of that object; null if the variable is the future
} worker;

static const worker workers[] = {
    {{"/aiosqlite/core.py", "_connection_worker_thread"}, "future", NULL},
    {{"/aiosqlite/core.py", "Connection.run"}, "future", NULL},
    {{"/concurrent/futures/thread.py", "_worker"}, "work_item", "future"},
};
#define WORKERS (sizeof workers / sizeof *workers)

FL_THREAD_LOCAL bool preload_is_worker;

// The functions outside of a worker's loop are those of `threading`.
#define OUTER_FRAMES 4

// Finds the frame of a worker's loop, counted from the innermost one; false if there is none.
static bool find_loop(const walked_frame *frames, uint32_t count, uint32_t *place, size_t *which) {
    function_text function;
    for (uint32_t index = count; index-- > 0 && count - index <= OUTER_FRAMES;) {
        preload_read_function(frames[index].frame, function.file, function.name);
        for (size_t worker = 0; worker < WORKERS; worker++) {
            if (!preload_is_known_function(&function, &workers[worker].function)) { continue; }
            *place = index;
            *which = worker;
            return true;
        }
    }
    return false;
}

bool preload_are_of_worker(const walked_frame *frames, uint32_t count) {
    uint32_t place;
    size_t which;
    return find_loop(frames, count, &place, &which);
}

// MARK: - Python's objects

// Python's functions that are called (https://docs.python.org/3/c-api).
#define PYTHON_FUNCTIONS(X) \
    X(void *, PyCell_Get, (void *)) \
    X(void, PyErr_Clear, (void)) \
    X(void, PyErr_Fetch, (void **, void **, void **)) \
    X(void, PyErr_Restore, (void *, void *, void *)) \
    X(int, PyGILState_Check, (void)) \
    X(void *, PyObject_CallMethod, (void *, const char *, const char *, ...)) \
    X(void *, PyObject_GetAttrString, (void *, const char *)) \
    X(void *, PySequence_GetItem, (void *, intptr_t)) \
    X(intptr_t, PySequence_Size, (void *)) \
    X(const char *, PyUnicode_AsUTF8, (void *)) \
    X(void, Py_DecRef, (void *)) \
    X(void, Py_IncRef, (void *))

static struct {
#define X(result, name, parameters) result (*name) parameters;
    PYTHON_FUNCTIONS(X)
#undef X
    bool is_complete;
} python;

static void find_functions(void) {
    static fl_lock lock = FL_LOCK_FREE;
    static _Atomic bool is_tried;
    if (atomic_load_explicit(&is_tried, memory_order_acquire)) { return; }
    fl_take(&lock);
    bool is_complete = true;
#define X(result, name, parameters) \
    python.name = (result(*) parameters)dlsym(RTLD_DEFAULT, #name); \
    is_complete = is_complete && python.name != NULL;
    PYTHON_FUNCTIONS(X)
#undef X
    python.is_complete = is_complete;
    atomic_store_explicit(&is_tried, true, memory_order_release);
    fl_give(&lock);
}

// In an object: its type; in a type: its name; in a frame object: the frame (object.h, and pycore_frame.h of 3.11–3.13).
enum { TYPE = 8, TYPE_NAME = 24, FRAME_OF_OBJECT = 24 };

static const void *pointer_at(const void *structure, size_t offset) {
    return *(const void *const *)((const char *)structure + offset);
}

static const char *type_of(const void *object) { return pointer_at(pointer_at(object, TYPE), TYPE_NAME); }
static bool is_type(const void *object, const char *name) { return strcmp(type_of(object), name) == 0; }
static bool is_future(const void *object) { return strstr(type_of(object), "Future") != NULL; }
static bool is_task(const void *object) { return strstr(type_of(object), "Task") != NULL; }

// The following functions return a new reference, or null.

static void *attribute(void *object, const char *name) {
    void *value = python.PyObject_GetAttrString(object, name);
    if (value == NULL) { python.PyErr_Clear(); }
    return value;
}

static void *item(void *sequence, intptr_t index) {
    void *value = python.PySequence_GetItem(sequence, index);
    if (value == NULL) { python.PyErr_Clear(); }
    return value;
}

static void let_go(void *object) {
    if (object != NULL) { python.Py_DecRef(object); }
}

// A future's callbacks, and the variables of functions around them, are few.
#define MOST_ITEMS 8

// The number of items of a tuple or a list.
static intptr_t count_of(void *sequence) {
    if (sequence == NULL || !(is_type(sequence, "list") || is_type(sequence, "tuple"))) { return 0; }
    intptr_t count = python.PySequence_Size(sequence);
    return count < MOST_ITEMS ? count : MOST_ITEMS;
}

// MARK: - From the future to the task

// The futures between the worker's and the one that a task awaits: those of asyncio.wrap_future and asyncio.shield.
#define MOST_FUTURES 4

static void *find_task(void *future, int depth);

// The task behind one callback of a future.
static void *task_of_callback(void *callback, int depth) {
    // A task's own method continues it.
    if (is_type(callback, "builtin_function_or_method") || is_type(callback, "method")) {
        void *self = attribute(callback, "__self__");
        if (self != NULL && is_task(self)) { return self; }
        let_go(self);
        return NULL;
    }
    if (!is_type(callback, "function")) { return NULL; }
    // A function that hands the result on has the next future in a variable.
    void *cells = attribute(callback, "__closure__"), *task = NULL;
    for (intptr_t index = 0; task == NULL && index < count_of(cells); index++) {
        void *cell = item(cells, index);
        void *value = cell != NULL && is_type(cell, "cell") ? python.PyCell_Get(cell) : NULL;
        if (value == NULL) { python.PyErr_Clear(); }
        if (value != NULL && is_future(value)) { task = find_task(value, depth - 1); }
        let_go(value);
        let_go(cell);
    }
    let_go(cells);
    return task;
}

static void *find_task(void *future, int depth) {
    if (depth == 0) { return NULL; }
    void *callbacks = attribute(future, "_callbacks"), *task = NULL;
    if (callbacks == NULL) { callbacks = attribute(future, "_done_callbacks"); }
    for (intptr_t index = 0; task == NULL && index < count_of(callbacks); index++) {
        void *callback = item(callbacks, index);
        if (callback != NULL && is_type(callback, "tuple")) {
            // With the context in which it is called.
            void *pair = callback;
            callback = item(pair, 0);
            let_go(pair);
        }
        if (callback != NULL) { task = task_of_callback(callback, depth); }
        let_go(callback);
    }
    let_go(callbacks);
    return task;
}

// MARK: - From the task to its functions

// Frames, the outermost one first.
typedef struct chain {
    uint32_t count;
    walked_frame frames[FRAMES_MAXIMUM];
} chain;

// A function's frame, from Python's object for it. The frame lives as long as its function, which waits.
static const char *frame_of(const void *object) {
    if (object == NULL || !is_type(object, "frame")) { return NULL; }
    return pointer_at(object, FRAME_OF_OBJECT);
}

static void add(chain *chain, const char *frame) {
    if (frame == NULL || chain->count == FRAMES_MAXIMUM) { return; }
    walked_frame *added = &chain->frames[chain->count++];
    *added = preload_read_frame(frame);
    added->is_coroutine = true;
}

// The place of a variable among those of a function; -1 if it has none.
static int find_variable(const char *code, const char *name) {
    void *names = attribute((void *)(uintptr_t)code, "co_varnames");
    intptr_t count = names != NULL && is_type(names, "tuple") ? python.PySequence_Size(names) : 0;
    int found = -1;
    for (intptr_t index = 0; found < 0 && index < count; index++) {
        void *variable = item(names, index);
        const char *text = variable == NULL ? NULL : python.PyUnicode_AsUTF8(variable);
        if (text != NULL && strcmp(text, name) == 0) { found = (int)index; }
        let_go(variable);
    }
    let_go(names);
    return found;
}

// A borrowed reference to the value of a variable; null if it has none.
static void *variable_of(const walked_frame *frame, const char *name) {
    int index = find_variable(frame->frame.code, name);
    const char *variables = frame->place + preload_python.layout.variables;
    return index < 0 ? NULL : (void *)(uintptr_t)pointer_at(variables, (size_t)index * sizeof(void *));
}

// SQLAlchemy runs its synchronous functions in a greenlet, which the coroutine `greenlet_spawn` waits for.
static const known_function greenlet_spawn = {"/sqlalchemy/util/concurrency.py", "greenlet_spawn"};
static const known_function old_greenlet_spawn = {"/sqlalchemy/util/_concurrency_py3k.py", "greenlet_spawn"};

static void add_greenlet(chain *all) {
    function_text function;
    const walked_frame *last = &all->frames[all->count - 1];
    preload_read_function(last->frame, function.file, function.name);
    bool is_spawn = preload_is_known_function(&function, &greenlet_spawn)
        || preload_is_known_function(&function, &old_greenlet_spawn);
    void *greenlet = is_spawn ? variable_of(last, "context") : NULL;
    if (greenlet == NULL) { return; }
    chain inner = {.count = 0};
    for (void *frame = attribute(greenlet, "gr_frame"); frame != NULL;) {
        const char *place = frame_of(frame);
        if (place == NULL || inner.count == FRAMES_MAXIMUM) {
            let_go(frame);
            break;
        }
        add(&inner, place);
        void *outer = attribute(frame, "f_back");
        let_go(frame);
        frame = outer;
    }
    while (inner.count > 0 && all->count < FRAMES_MAXIMUM) { all->frames[all->count++] = inner.frames[--inner.count]; }
}

// The attributes of coroutines and generators that have their frame, and what they await.
static const struct { const char *type, *frame, *awaited; } kinds[] = {
    {"coroutine", "cr_frame", "cr_await"},
    {"generator", "gi_frame", "gi_yieldfrom"},
    {"async_generator", "ag_frame", "ag_await"},
};
#define KINDS (sizeof kinds / sizeof *kinds)

static void follow(chain *all, void *task) {
    void *waiting = python.PyObject_CallMethod(task, "get_coro", NULL);
    if (waiting == NULL) { python.PyErr_Clear(); }
    while (waiting != NULL) {
        size_t kind = 0;
        while (kind < KINDS && !is_type(waiting, kinds[kind].type)) { kind++; }
        void *frame = kind == KINDS ? NULL : attribute(waiting, kinds[kind].frame), *next = NULL;
        const char *place = frame == NULL ? NULL : frame_of(frame);
        if (place != NULL && all->count < FRAMES_MAXIMUM) {
            add(all, place);
            add_greenlet(all);
            next = attribute(waiting, kinds[kind].awaited);
        }
        let_go(frame);
        let_go(waiting);
        waiting = next;
    }
}

// MARK: - Statements

// Whether stacks are of a worker that has no code of the program, by their keys: one more than the place of its loop, and
// the worker; 0 if not.
static preload_table known_workers;

static bool is_worker_alone(const walked_frame *frames, uint32_t count, uint32_t *place, size_t *which) {
    uint64_t known, key = preload_key_of(frames, count);
    if (!preload_look_up(&known_workers, key, &known)) {
        known = 0;
        if (find_loop(frames, count, place, which)) { known = (uint64_t)*which << 32 | (*place + 1); }
        for (uint32_t index = 0; known != 0 && index < *place; index++) {
            function_text function;
            preload_read_function(frames[index].frame, function.file, function.name);
            // The functions that it calls are those of the program.
            if (preload_is_of_program(&function)) { known = 0; }
        }
        preload_keep(&known_workers, key, known);
    }
    *place = (uint32_t)known - 1;
    *which = known >> 32;
    return known != 0;
}

// The task that waits for what a worker does, as a new reference; null if it is not known.
static void *find_waiting(const walked_frame *loop, const worker *worker) {
    void *future = variable_of(loop, worker->variable);
    if (future == NULL) { return NULL; }
    if (worker->attribute == NULL) { python.Py_IncRef(future); } else { future = attribute(future, worker->attribute); }
    void *task = future != NULL && is_future(future) ? find_task(future, MOST_FUTURES) : NULL;
    let_go(future);
    return task;
}

// Finds the functions of the worker within its loop, and around them those that await it.
static void find_stack(fl_recorder *recorder, bool is_query, preload_awaited *found) {
    walked_frame frames[FRAMES_MAXIMUM];
    bool is_deep = false;
    uint32_t place, count = preload_is_python_usable(false) ? preload_walk_frames(frames, &is_deep) : 0;
    size_t which;
    if (count == 0 || is_deep || !is_worker_alone(frames, count, &place, &which)) { return; }
    void *task = find_waiting(&frames[place], &workers[which]);
    if (task == NULL) { return; }
    chain waiting = {.count = 0};
    follow(&waiting, task);
    count = place;
    while (waiting.count > 0 && count < FRAMES_MAXIMUM) { frames[count++] = waiting.frames[--waiting.count]; }
    if (count > place) {
        found->stack = preload_task_stack(
            recorder, frames, count, waiting.count > 0, is_query, &found->loop, &found->is_truncated);
    }
    let_go(task);
}

static void find_awaiting(bool is_query, preload_awaited *found) {
    fl_recorder *recorder = preload_recorder();
    if (recorder == NULL || preload_python.layout.variables == 0) { return; }
    find_functions();
    if (!python.is_complete || !python.PyGILState_Check()) { return; }
    void *type, *value, *trace;
    python.PyErr_Fetch(&type, &value, &trace);
    find_stack(recorder, is_query, found);
    python.PyErr_Restore(type, value, trace);
}

// Those of the thread's next statement.
static FL_THREAD_LOCAL preload_awaited expected;

void preload_expect_awaited(void) {
    expected = (preload_awaited){0};
    find_awaiting(true, &expected);
}

void preload_find_awaiting(sqlite3_stmt *handle) {
    preload_statement *statement = preload_find(handle);
    if (statement == NULL || statement->awaited.is_tried || statement->is_internal) { return; }
    if (statement->is_running || expected.stack == 0) {
        find_awaiting(statement->is_read_only, &statement->awaited);
    } else {
        statement->awaited = expected;
    }
    expected = (preload_awaited){0};
    statement->awaited.is_tried = true;
    if (statement->is_running && preload_take_awaited(statement)) { statement->scope = preload_scope_of_thread(); }
}

bool preload_take_awaited(preload_statement *statement) {
    const preload_awaited *found = statement->awaited.stack != 0 ? &statement->awaited : &expected;
    bool is_found = found->stack != 0;
    if (is_found) {
        statement->stack = found->stack;
        statement->loop = found->loop;
        statement->is_stack_truncated = found->is_truncated;
    }
    expected = (preload_awaited){0};
    return is_found;
}
