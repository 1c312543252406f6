#define _GNU_SOURCE
#include "python.h"

#include <string.h>
#include <sys/mman.h>

// Which calls of a thread's Python functions were already active at an earlier statement. Statements that one call of a
// function runs are one loop, however long the program waits between them.
//
// A call ("activation") gets a number when a statement first runs in it. At the next statement of the thread, frames are
// compared from the outermost one inwards: a call is another one if its frame has another place or other code, or if the
// function that called it has gone on meanwhile. That has happened if its instruction or the words of its frame (variables
// and values) are not the same. The innermost function that is still active must have gone on as well; if none of its loops
// leads back to where it is now, it was entered anew.

// MARK: - Code

// The opcodes of a version, a bit for each of 256: those that jump back, and those with which a function written in C can
// call others several times (`opcode.opmap`, and `dis._all_opmap` with the specialised ones).
typedef struct opcodes {
    uint64_t back[4], repeating[4];
    uint8_t extended, extended_quick;
    uint8_t executor;  // where a compiled loop begins: its place says nothing about the jump
    uint8_t waiting;   // the jump back with which a coroutine waits on
} opcodes;

static const opcodes opcodes_of[] = {
    [11] = {{0x4000000000, 0, 0x1e00000001040, 0}, {0x1c00000, 0x8a4200007003f30f, 0x1e087c0000e000, 0}, 144, 34, 0, 134},
    [12] = {{0, 0, 0x1040, 0x40000000000000},
            {0xc101ffc431800000, 0x840000070000003, 0x69fe00004000, 0x112000000000000}, 144, 144, 0, 134},
    [13] = {{0, 0x6000, 0, 0x200000000000000},
            {0xbe0000000000000, 0x30090000020130, 0x7e3ffffc00000000, 0x78000070010000}, 71, 71, 70, 78},
};

static bool is_among(const uint64_t *bits, uint8_t opcode) { return (bits[opcode >> 6] >> (opcode & 63) & 1) != 0; }

// Whether a jump back leads from `last` or later to `first` or earlier, in bytes from the function's first instruction. Cached
// values between instructions may look like a jump; then a proof is missed.
static bool find_loop(const char *code, uint32_t first, uint32_t last) {
    const layout *at = &preload_python.layout;
    const opcodes *known = &opcodes_of[at->minor];
    const uint8_t *words = (const uint8_t *)code + at->first_instruction;
    int64_t bytes = *(const int64_t *)(code + 16) * 2;
    bool is_coroutine = preload_is_coroutine(code);
    uint64_t argument = 0;
    for (int64_t position = 0; position + 1 < bytes; position += 2) {
        uint8_t opcode = words[position];
        argument = argument << 8 | words[position + 1];
        if (opcode == known->extended || opcode == known->extended_quick) { continue; }
        if (known->executor != 0 && opcode == known->executor) { return true; }
        bool spans = is_among(known->back, opcode) && !(is_coroutine && opcode == known->waiting) && position >= (int64_t)last
            && position + 2 - 2 * (int64_t)(argument & 0xFFFFFFFF) <= (int64_t)first;
        if (spans) { return true; }
        argument = 0;
    }
    return false;
}

static preload_table known_loops;

static bool has_loop(const frame *frame, uint64_t marks, uint32_t last) {
    static FL_THREAD_LOCAL struct { struct frame frame; uint64_t marks, found; uint32_t last; } latest;
    if (latest.frame.code == frame->code && latest.frame.instruction == frame->instruction && latest.last == last
        && latest.marks == marks) {
        return latest.found != 0;
    }
    uint64_t key = fl_mix(fl_mix((uintptr_t)frame->code, marks), (uint64_t)frame->instruction << 32 | last);
    if (!preload_look_up(&known_loops, key, &latest.found)) {
        latest.found = find_loop(frame->code, frame->instruction, last);
        preload_keep(&known_loops, key, latest.found);
    }
    latest.frame = *frame;
    latest.marks = marks;
    latest.last = last;
    return latest.found != 0;
}

// MARK: - Threads

// Words of a frame that are kept; of the others, a hash is the last one.
#define WORDS 24

typedef struct activation {
    walked_frame walked;
    uint64_t marks;  // of the code
    uint64_t key;   // of this frame and those around it
    size_t count;   // of the frame's words
    uint64_t words[WORDS];
} activation;

// The stacks of a thread or a task whose numbers are remembered.
#define STACKS_OF_THREAD 128
#define STACKS_OF_TASK 8

typedef struct remembered {
    uint64_t stack;
    uint32_t count;
    uint32_t numbers[FRAMES_MAXIMUM];
} remembered;

typedef struct thread {
    uint32_t generation;
    uint32_t task;  // which of the thread's tasks, from 1; 0: the thread itself
    // At the last statement, the outermost function first.
    uint64_t key, stack;
    uint32_t count;
    activation activations[FRAMES_MAXIMUM];
    uint32_t numbers[FRAMES_MAXIMUM];
    uint32_t active;  // the number of functions that already were at the statement before
    resting_scopes scopes;  // unless the thread or the task is the chosen one
    uint32_t stack_count;   // of `stacks`
    remembered stacks[];
} thread;

// The tasks for which a thread runs statements, and whose calls are remembered. The highest bits of a recorded number are
// those of the task.
#define TASKS 120
#define TASK_SHIFT 25

// The calling thread's own, and those of its tasks. `own` is that of the chosen one.
static FL_THREAD_LOCAL thread *own, *of_thread;

typedef struct task {
    const void *task;
    thread *thread;
    void *mark;
    uint64_t used;  // when it was chosen last
} task;
static FL_THREAD_LOCAL task *tasks;  // TASKS of them, once there is one
static FL_THREAD_LOCAL uint32_t chosen_task;  // its place, if a task is chosen
static pthread_key_t key;

static size_t size_of_thread(uint32_t stacks) { return sizeof(thread) + stacks * sizeof(remembered); }

static void leave_thread(void *left) {
    preload_end_scopes();
    own = of_thread = NULL;
    for (uint32_t index = 0; tasks != NULL && index < TASKS; index++) {
        if (tasks[index].thread != NULL) { munmap(tasks[index].thread, size_of_thread(STACKS_OF_TASK)); }
        preload_leave_mark(tasks[index].mark);
    }
    if (tasks != NULL) { munmap(tasks, TASKS * sizeof *tasks); }
    tasks = NULL;
    munmap(left, size_of_thread(STACKS_OF_THREAD));
}

void preload_prepare_activations(void) { pthread_key_create(&key, leave_thread); }

static void *allocate(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static thread *make_thread(void) {
    thread *memory = allocate(size_of_thread(STACKS_OF_THREAD));
    if (memory == NULL) { return NULL; }
    if (pthread_setspecific(key, memory) != 0) {
        munmap(memory, size_of_thread(STACKS_OF_THREAD));
        return NULL;
    }
    memory->stack_count = STACKS_OF_THREAD;
    own = of_thread = memory;
    own->generation = preload_generation();
    return own;
}

// Calls of different tasks have different numbers, too.
static uint32_t next_number(void) {
    static FL_THREAD_LOCAL uint32_t last;
    last = (last + 1) & ((1u << TASK_SHIFT) - 1);
    return last;
}

static void choose(fl_recorder *recorder, thread *chosen) {
    if (own == chosen) { return; }
    preload_exchange_scopes(recorder, &own->scopes, &chosen->scopes);
    own = chosen;
}

// The uses of other tasks after which a task's place may be given to another one.
#define LEAST_AGE (4 * TASKS)

// A place for a new task: one that nobody has, or whose task is over, or else the one that has not been used for longest; TASKS if
// all have been used lately.
static uint32_t find_place(uint64_t now, bool (*is_over)(void *mark)) {
    uint32_t oldest = 0;
    for (uint32_t place = 0; place < TASKS; place++) {
        if (tasks[place].task == NULL) { return place; }
        if (is_over != NULL && tasks[place].mark != NULL && is_over(tasks[place].mark)) { return place; }
        if (tasks[place].used < tasks[oldest].used) { oldest = place; }
    }
    return now - tasks[oldest].used < LEAST_AGE ? TASKS : oldest;
}

bool preload_choose_task(fl_recorder *recorder, const void *task, bool (*is_over)(void *mark)) {
    static FL_THREAD_LOCAL uint64_t uses;
    if (of_thread == NULL && make_thread() == NULL) { return false; }
    if (task == NULL) {
        choose(recorder, of_thread);
        return true;
    }
    if (tasks == NULL) { tasks = allocate(TASKS * sizeof *tasks); }
    if (tasks == NULL) { return false; }
    uint32_t place = tasks[chosen_task].task == task ? chosen_task : 0;
    while (place < TASKS && tasks[place].task != task) { place++; }
    bool is_new = place == TASKS;
    if (is_new) { place = find_place(++uses, is_over); }
    if (place < TASKS && tasks[place].thread == NULL) {
        tasks[place].thread = allocate(size_of_thread(STACKS_OF_TASK));
        if (tasks[place].thread != NULL) { tasks[place].thread->stack_count = STACKS_OF_TASK; }
    }
    if (place == TASKS || tasks[place].thread == NULL) {
        choose(recorder, of_thread);
        return false;
    }
    choose(recorder, tasks[place].thread);
    chosen_task = place;
    if (is_new) {
        preload_renew_task();
        preload_leave_mark(tasks[place].mark);
        tasks[place].mark = NULL;
    }
    own->task = place + 1;
    tasks[place].task = task;
    tasks[place].used = ++uses;
    return true;
}

void preload_renew_task(void) {
    preload_close_scopes();
    own->generation = 0;
}

void **preload_task_mark(void) { return &tasks[chosen_task].mark; }

void preload_end_scopes(void) {
    preload_close_scopes();
    fl_recorder *recorder = own == NULL ? NULL : preload_recorder();
    for (uint32_t index = 0; recorder != NULL && index <= TASKS; index++) {
        thread *left = index == TASKS ? of_thread : tasks == NULL ? NULL : tasks[index].thread;
        if (left == NULL || left->scopes.open.count == 0) { continue; }
        choose(recorder, left);
        preload_close_scopes();
    }
}

// MARK: - Comparison

// Keeps the numbers of the last statement's calls, until a statement has its stack again.
static void remember(thread *last) {
    remembered *place = &last->stacks[last->stack % last->stack_count];
    place->stack = last->stack;
    place->count = last->count;
    memcpy(place->numbers, last->numbers, last->count * sizeof *last->numbers);
}

// The variables and values in a function's frame, which do not change while it waits for one that it called.
static const char *words_of(const walked_frame *walked) { return walked->place + preload_python.layout.variables; }

// A hash of the words that are not kept.
static uint64_t hash_others(const char *words, size_t count) {
    uint64_t hash = 0, word;
    for (size_t index = WORDS - 1; index < count; index++) {
        memcpy(&word, words + index * sizeof word, sizeof word);
        hash = (hash << 7 | hash >> 57) ^ word;
    }
    return hash;
}

// Whenever a coroutine waits on, its values change, and not its variables.
static size_t count_words(const walked_frame *walked) {
    const layout *at = &preload_python.layout;
    const char *code = walked->frame.code;
    size_t variables = *(const uint32_t *)(code + at->variable_count);
    return walked->is_coroutine ? variables : variables + *(const uint32_t *)(code + at->value_count);
}

static bool has_same_words(const activation *before, const walked_frame *now) {
    const char *words = words_of(now);
    if (before->count <= WORDS) { return memcmp(before->words, words, before->count * sizeof(uint64_t)) == 0; }
    return memcmp(before->words, words, (WORDS - 1) * sizeof(uint64_t)) == 0
        && before->words[WORDS - 1] == hash_others(words, before->count);
}

static void keep_words(activation *kept) {
    const char *words = words_of(&kept->walked);
    kept->count = count_words(&kept->walked);
    bool are_all_kept = kept->count <= WORDS;
    memcpy(kept->words, words, (are_all_kept ? kept->count : WORDS - 1) * sizeof(uint64_t));
    if (!are_all_kept) { kept->words[WORDS - 1] = hash_others(words, kept->count); }
}

// Whether an active function, which has gone on since `before`, was entered anew. `callee` is the function that it called, or null
// if it called SQLite's driver: that does not come back before its statements have run.
static bool is_entered_anew(
    const activation *before, const walked_frame *now, const walked_frame *callee, bool repeats
) {
    uint32_t instruction = now->frame.instruction, last = before->walked.frame.instruction;
    if (instruction > last) { return false; }
    const opcodes *known = &opcodes_of[preload_python.layout.minor];
    uint8_t opcode = (uint8_t)now->frame.code[preload_python.layout.first_instruction + instruction];
    // A function in C, such as map, can have called it several times.
    bool is_repeated = callee == NULL ? repeats : callee->is_from_c && is_among(known->repeating, opcode);
    return !is_repeated && !has_loop(&now->frame, before->marks, last);
}

// Code that exec and import run is freed soon, and its address used again.
static bool is_same_call(const activation *before, const walked_frame *now) {
    return before->walked.place == now->place && before->walked.frame.code == now->frame.code
        && (!now->is_from_c || before->marks == preload_marks_of(now->frame.code));
}

// The number of functions that were active at the last statement and still are, of those that may be.
static uint32_t count_active(
    const thread *last, uint32_t active, const walked_frame *frames, uint32_t count, bool repeats
) {
    for (; active > 0; active--) {
        uint32_t position = count - active;
        const walked_frame *callee = position == 0 ? NULL : &frames[position - 1];
        if (!is_entered_anew(&last->activations[active - 1], &frames[position], callee, repeats)) { break; }
    }
    return active;
}

static uint64_t add_to_key(uint64_t key, const walked_frame *walked, uint64_t marks) {
    return fl_mix(fl_mix(key, (uintptr_t)walked->frame.code ^ (uint64_t)walked->frame.instruction << 48), marks);
}

uint64_t preload_key_of(const walked_frame *frames, uint32_t count) {
    uint64_t key = preload_generation();
    for (uint32_t index = count; index-- > 0;) {
        key = add_to_key(key, &frames[index], preload_marks_of(frames[index].frame.code));
    }
    return key;
}

uint64_t preload_observe_frames(const walked_frame *frames, uint32_t count, bool is_query, uint64_t *stack) {
    thread *last = own != NULL ? own : make_thread();
    if (last == NULL) { return 0; }
    if (last->generation != preload_generation()) {
        uint32_t task = last->task;
        memset(last, 0, offsetof(thread, activations));
        memset(last->stacks, 0, last->stack_count * sizeof *last->stacks);
        last->task = task;
        last->generation = preload_generation();
    }
    bool tells_calls = preload_python.layout.variables != 0, has_gone_on = false;
    uint32_t same = 0, comparable = !tells_calls ? 0 : count < last->count ? count : last->count;
    const activation *before = last->activations;
    const walked_frame *now = &frames[count - 1];
    // The functions that have not gone on are as they were.
    for (; same < comparable && is_same_call(before, now); same++, before++, now--) {
        has_gone_on = before->walked.frame.instruction != now->frame.instruction || !has_same_words(before, now);
        if (has_gone_on) { break; }
    }
    uint32_t active = has_gone_on ? same + 1 : same;
    // executemany runs one statement many times, and no query.
    bool repeats = !is_query && active == count && has_same_words(&last->activations[active - 1], &frames[0]);
    active = count_active(last, active, frames, count, repeats);
    uint64_t key = same == 0 ? last->generation : last->activations[same - 1].key;
    for (uint32_t index = same; index < count; index++, now--) {
        activation *kept = &last->activations[index];
        if (index > same || !has_gone_on) { kept->marks = preload_marks_of(now->frame.code); }
        key = add_to_key(key, now, kept->marks);
        kept->walked = *now;
        kept->key = key;
        if (tells_calls) { keep_words(kept); }
    }
    *stack = key == last->key ? last->stack : 0;
    if (*stack == 0) { remember(last); }
    for (uint32_t index = active; index < count; index++) { last->numbers[index] = next_number(); }
    last->key = key;
    last->count = count;
    last->active = active;
    return key;
}

preload_loop preload_find_repetition(uint64_t stack, uint32_t outer) {
    thread *last = own;
    if (preload_python.layout.variables == 0) { return (preload_loop){0}; }
    uint32_t active = last->active;
    // The innermost function that is active since a statement with the same stack, or else since the last one.
    const remembered *same = &last->stacks[stack % last->stack_count];
    if (stack != last->stack && same->stack == stack && same->count == last->count) {
        for (active = 0; active < same->count && same->numbers[active] == last->numbers[active]; active++) {}
    }
    last->stack = stack;
    return (preload_loop){
        .activation = (active == 0 ? 0 : last->numbers[active - 1]) | last->task << TASK_SHIFT,
        .level = last->count - active + (active == 0 ? outer : 0) + 1};
}

const uint32_t *preload_numbers(void) { return own->numbers; }
