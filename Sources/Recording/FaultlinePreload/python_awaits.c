#include "python_objects.h"

#include <stdlib.h>
#include <string.h>

// The tasks of event loops for which statements run, and the functions that await a statement which runs on a thread of its own.
// Asynchronous drivers hand each statement to a worker, whose stack ends at the driver. The task that waits for it hangs on a
// future of the worker:
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

FL_THREAD_LOCAL bool preload_has_task;

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

// A borrowed reference to the value of a variable; null if it has none.
static void *variable_of(const walked_frame *frame, const char *name) {
    int index = preload_find_variable(frame->frame.code, name);
    if (index < 0) { return NULL; }
    return *(void *const *)(frame->place + preload_python.layout.variables + (size_t)index * sizeof(void *));
}

// MARK: - From the future to the task

// The futures between the worker's and the one that a task awaits: those of asyncio.wrap_future and asyncio.shield.
#define MOST_FUTURES 4

static void *find_task(void *future, int depth);

// The task behind one callback of a future.
static void *task_of_callback(void *callback, int depth) {
    object_kind kind = preload_kind_of(callback);
    // A task's own method continues it.
    void *self = preload_self_of(callback, kind);
    if (self != NULL) { return preload_kind_of(self) == TASK ? preload_new_reference(self) : NULL; }
    // A function that hands the result on has the next future in a variable.
    void *cells = kind == FUNCTION ? preload_closure_of(callback) : NULL, *task = NULL;
    intptr_t count = preload_count_of(cells);
    for (intptr_t index = 0; task == NULL && index < count; index++) {
        void *cell = preload_item(cells, index), *value = cell == NULL ? NULL : preload_value_of_cell(cell);
        if (value != NULL && preload_kind_of(value) == FUTURE) { task = find_task(value, depth - 1); }
        preload_let_go(value);
        preload_let_go(cell);
    }
    return task;
}

static void *find_task(void *future, int depth) {
    if (depth == 0) { return NULL; }
    void *callbacks = preload_attribute(future, "_callbacks"), *task = NULL;
    if (callbacks == NULL) { callbacks = preload_attribute(future, "_done_callbacks"); }
    intptr_t count = preload_count_of(callbacks);
    for (intptr_t index = 0; task == NULL && index < count; index++) {
        void *callback = preload_item(callbacks, index);
        if (callback != NULL && preload_kind_of(callback) == TUPLE) {
            // With the context in which it is called.
            void *pair = callback;
            callback = preload_item(pair, 0);
            preload_let_go(pair);
        }
        if (callback != NULL) { task = task_of_callback(callback, depth); }
        preload_let_go(callback);
    }
    preload_let_go(callbacks);
    return task;
}

// The task that waits for what a worker does, as a new reference; null if it is not known.
static void *find_waiting(const walked_frame *loop, const worker *worker) {
    void *future = preload_new_reference(variable_of(loop, worker->variable));
    if (future != NULL && worker->attribute != NULL) {
        void *item = future;
        future = preload_attribute(item, worker->attribute);
        preload_let_go(item);
    }
    void *task = future != NULL && preload_kind_of(future) == FUTURE ? find_task(future, MOST_FUTURES) : NULL;
    preload_let_go(future);
    return task;
}

// MARK: - From the task to its functions

// The innermost of a task's frames, each in its place modulo their number.
typedef struct chain {
    uint32_t count;  // of all
    const char *outermost;
    walked_frame frames[FRAMES_MAXIMUM];
} chain;

static void add(chain *chain, const char *place) {
    if (chain->count == 0) { chain->outermost = place; }
    walked_frame *added = &chain->frames[chain->count++ % FRAMES_MAXIMUM];
    *added = preload_read_frame(place);
    added->is_coroutine = true;
}

// SQLAlchemy runs its synchronous functions in a greenlet, which the coroutine `greenlet_spawn` waits for.
static const known_function greenlet_spawn = {"/sqlalchemy/util/concurrency.py", "greenlet_spawn"};
static const known_function old_greenlet_spawn = {"/sqlalchemy/util/_concurrency_py3k.py", "greenlet_spawn"};

static bool is_greenlet_spawn(const walked_frame *walked) {
    function_text function;
    preload_read_function(walked->frame, function.file, function.name);
    return preload_is_known_function(&function, &greenlet_spawn) || preload_is_known_function(&function, &old_greenlet_spawn);
}

static void add_greenlet(chain *all) {
    const walked_frame *last = &all->frames[(all->count - 1) % FRAMES_MAXIMUM];
    void *greenlet = is_greenlet_spawn(last) ? variable_of(last, "context") : NULL;
    if (greenlet == NULL || preload_kind_of(greenlet) != GREENLET) { return; }
    const char *inner[FRAMES_MAXIMUM];
    uint32_t count = 0;
    void *frame = preload_attribute(greenlet, "gr_frame");
    while (frame != NULL) {
        const char *place = count < FRAMES_MAXIMUM ? preload_frame_of_object(frame) : NULL;
        void *outer = place == NULL ? NULL : preload_outer_frame(frame);
        if (place != NULL) { inner[count++] = place; }
        preload_let_go(frame);
        frame = outer;
    }
    while (count > 0) { add(all, inner[--count]); }
}

static const char *awaited_by(object_kind kind) {
    return kind == COROUTINE ? "cr_await" : kind == GENERATOR ? "gi_yieldfrom" : "ag_await";
}

static void follow(chain *all, void *task) {
    void *waiting = preload_attribute(task, "_coro");
    while (waiting != NULL) {
        object_kind kind = preload_kind_of(waiting);
        void *next = NULL;
        if (kind == WRAPPER) {
            next = preload_wrapped(waiting);
        } else if (kind == COROUTINE || kind == GENERATOR || kind == ASYNC_GENERATOR) {
            const char *place = preload_frame_of(waiting);
            if (place != NULL) {
                add(all, place);
                add_greenlet(all);
                next = preload_attribute(waiting, awaited_by(kind));
            }
        }
        preload_let_go(waiting);
        waiting = next;
    }
}

// MARK: - Tasks

// Marks that were given up, until they are freed.
typedef struct left_mark {
    struct left_mark *next;
    void *mark;
} left_mark;

static _Atomic(left_mark *) left_marks;

void preload_leave_mark(void *mark) {
    left_mark *left = mark == NULL ? NULL : malloc(sizeof *left);
    if (left == NULL) { return; }
    left->mark = mark;
    left->next = atomic_load(&left_marks);
    while (!atomic_compare_exchange_weak(&left_marks, &left->next, left)) {}
}

static void free_left_marks(void) {
    if (atomic_load_explicit(&left_marks, memory_order_relaxed) == NULL) { return; }
    left_mark *left = atomic_exchange(&left_marks, NULL);
    while (left != NULL) {
        left_mark *next = left->next;
        preload_let_go(left->mark);
        free(left);
        left = next;
    }
}

static bool is_over(void *mark) { return !preload_is_alive(mark); }

// Chooses the task whose outermost coroutine has a frame, unless that is another one than was there before. The coroutine's
// memory is used again for the next one, so that only a weak reference tells them apart.
static void choose_task(fl_recorder *recorder, const char *outermost) {
    void *coroutine = preload_coroutine_of(outermost);
    if (coroutine == NULL || !preload_choose_task(recorder, outermost, is_over)) { return; }
    void **mark = preload_task_mark();
    if (*mark != NULL && preload_referent(*mark) == coroutine) { return; }
    if (*mark != NULL) { preload_renew_task(); }
    preload_let_go(*mark);
    *mark = preload_weak_reference(coroutine);
}

// MARK: - Statements

// Those of the thread's next statement, and the variable by which it is known that the worker still does the same work.
static FL_THREAD_LOCAL struct {
    preload_awaited awaited;
    const char *loop;
    const void *work;
} expected;

// Finds the functions of the worker within its loop, and around them those that await it. If `is_next`, what runs is not known yet.
// Not inlined, because it needs stack that a thread without room does not have.
static __attribute__((noinline)) void find_stack(fl_recorder *recorder, bool is_query, bool is_next, preload_awaited *found) {
    walked_frame frames[FRAMES_MAXIMUM];
    bool is_deep = false;
    uint32_t place, count = preload_walk_frames(frames, &is_deep);
    size_t which;
    if (count == 0 || is_deep) { return; }
    uint32_t inner = preload_mark_coroutines(frames, count);
    if (inner > 0) { return choose_task(recorder, frames[inner - 1].place); }
    if (!is_worker_alone(frames, count, &place, &which)) { return; }
    const walked_frame loop = frames[place];
    void *task = find_waiting(&loop, &workers[which]);
    if (task == NULL) { return; }
    chain waiting = {.count = 0};
    follow(&waiting, task);
    if (waiting.count > 0) {
        choose_task(recorder, waiting.outermost);
        uint32_t all = place + waiting.count;
        for (count = place; count < all && count < FRAMES_MAXIMUM; count++) {
            frames[count] = waiting.frames[(waiting.count - 1 - (count - place)) % FRAMES_MAXIMUM];
        }
        found->generation = preload_generation();
        found->stack = preload_task_stack(
            recorder, frames, count, all > count, is_query, is_next, &found->loop, &found->is_truncated);
        expected.loop = loop.place;
        expected.work = variable_of(&loop, workers[which].variable);
    }
    preload_let_go(task);
}

static void find_awaiting(bool is_query, bool is_next, preload_awaited *found) {
    *found = (preload_awaited){0};
    fl_recorder *recorder = preload_recorder();
    following saved;
    // Stacks are found on the thread's own, because Python may compare addresses with its bounds.
    if (recorder == NULL || !fl_has_room() || !preload_begin_following(&saved)) { return; }
    free_left_marks();
    find_stack(recorder, is_query, is_next, found);
    preload_end_following(saved);
}

void preload_expect_awaited(void) { find_awaiting(true, true, &expected.awaited); }

void preload_find_awaiting(sqlite3_stmt *handle) {
    preload_statement *statement = preload_find(handle);
    if (statement == NULL || statement->awaited.is_tried || statement->is_internal) { return; }
    find_awaiting(statement->is_read_only, false, &statement->awaited);
    statement->awaited.is_tried = true;
    if (statement->is_running && preload_take_awaited(statement)) { statement->scope = preload_scope_of_thread(); }
}

// Whether the worker still does what it did when its next statement was expected.
static __attribute__((noinline)) bool is_same_work(void) {
    walked_frame frames[FRAMES_MAXIMUM];
    bool is_deep = false;
    uint32_t place, count = preload_walk_frames(frames, &is_deep);
    size_t which;
    return count > 0 && !is_deep && is_worker_alone(frames, count, &place, &which) && frames[place].place == expected.loop
        && variable_of(&frames[place], workers[which].variable) == expected.work;
}

bool preload_take_awaited(preload_statement *statement) {
    const preload_awaited *found = &statement->awaited;
    if (found->stack == 0 && expected.awaited.stack != 0 && is_same_work()) { found = &expected.awaited; }
    bool is_found = found->stack != 0 && found->generation == preload_generation();
    if (is_found) {
        statement->stack = found->stack;
        statement->loop = found->loop;
        statement->is_stack_truncated = found->is_truncated;
    }
    expected.awaited = (preload_awaited){0};
    return is_found;
}
