#define _GNU_SOURCE
#include "faultline_sampler.h"
#include "tracing.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

// The size of the ring of samples, which all threads share. It holds the samples of several seconds.
#define RING_BYTES (256u << 10)

static struct {
    _Atomic(fl_recorder *) recorder;  // null: the process is not sampled
    const fl_sampler_guide *guide;
    fl_ring *ring;
    uint64_t interval;                // nanoseconds of CPU time between two samples
    _Atomic int signal;
    // Held by the one handler that records. Guards the ring and the working memory below.
    _Atomic uint32_t is_recording;
    fl_event traced;
    char record[sizeof(fl_header) + sizeof(fl_cpu) + 8];
    uint64_t frames[FL_STACK_FRAMES_MAXIMUM + 1], interpreted[FL_STACK_FRAMES_MAXIMUM];
} sampler;

// The state of a thread that is sampled.
static FL_THREAD_LOCAL struct {
    bool is_entered, is_introduced;
    int timer;
    uint32_t number;
    fl_stack_bounds stack;
    uint64_t carried;  // CPU time of samples that could not be recorded, which the next one adds to its own
} own;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t leaving;

// MARK: - The interrupted code

typedef struct registers {
    uintptr_t instruction, stack, frame, link;
} registers;

static registers interrupted(const void *context) {
    const mcontext_t *machine = &((const ucontext_t *)context)->uc_mcontext;
#if defined(__x86_64__)
    return (registers){
        .instruction = (uintptr_t)machine->gregs[REG_RIP], .stack = (uintptr_t)machine->gregs[REG_RSP],
        .frame = (uintptr_t)machine->gregs[REG_RBP],
    };
#elif defined(__aarch64__)
    return (registers){
        .instruction = (uintptr_t)machine->pc, .stack = (uintptr_t)machine->sp, .frame = (uintptr_t)machine->regs[29],
        .link = (uintptr_t)machine->regs[30],
    };
#else
    (void)machine;
    return (registers){0};
#endif
}

// Whether a word of the stack is the frame of a function that another one called.
static bool is_frame(uintptr_t frame) {
    const uintptr_t *words = (const uintptr_t *)frame;
    uintptr_t caller = fl_caller_of(frame);
    return caller > frame && fl_is_on_stack(&own.stack, caller) && fl_is_return_address(words[1]);
}

// How far from the stack pointer the frame of a function that keeps frame pointers is looked for, in bytes.
#define SEARCH_BYTES 8192

// The innermost frame that can be followed; 0 if there is none. Code without frame pointers, such as SQLite's, uses the
// register for something else; then the frame of its caller is the first one on the stack above it that looks like one.
static uintptr_t first_frame(const registers *at, bool may_search) {
    fl_stack_bounds live = {.low = at->stack, .high = own.stack.high};
    if (fl_is_on_stack(&live, at->frame) && is_frame(at->frame)) { return at->frame; }
    const fl_sampler_guide *guide = sampler.guide;
    uintptr_t anchor = guide == NULL || guide->anchor == NULL ? 0 : guide->anchor();
    if (anchor == 0) { anchor = fl_last_anchor(); }
    if (fl_is_on_stack(&live, anchor)) { return anchor; }
    if (!may_search) { return 0; }
    uintptr_t frame = (at->stack + 7) & ~(uintptr_t)7, end = frame + SEARCH_BYTES;
    for (; frame < end && fl_is_on_stack(&live, frame); frame += sizeof(uintptr_t)) {
        uintptr_t caller = fl_caller_of(frame);
        // Two frames in a row, because a number can look like one by chance.
        if (caller > frame && fl_is_on_stack(&live, caller) && is_frame(frame) && is_frame(caller)) { return frame; }
    }
    return 0;
}

// The words above the stack pointer in which a function that keeps no frame pointer can have its return address.
#define LEAF_WORDS 8

// The return address of an interrupted function that calls no others, for which compilers leave out the frame. The frame
// pointer is then that of its caller, whose own call would be missing. 0 if there is none.
static uint64_t leaf_return_address(const registers *at, uintptr_t frame) {
    if (at->link != 0) {
        // Some machines keep it in a register.
        bool is_own = fl_is_return_address(at->link) && (frame == 0 || ((const uintptr_t *)frame)[1] != at->link);
        return is_own ? at->link : 0;
    }
    for (uintptr_t place = at->stack, word = 0; word < LEAF_WORDS; word++, place += sizeof(uintptr_t)) {
        if (place + sizeof(uintptr_t) > own.stack.high || place >= frame) { return 0; }
        uint64_t address = *(const uintptr_t *)place;
        if (fl_returns_from(address, at->instruction)) { return address; }
    }
    return 0;
}

// MARK: - Recording a sample

// The maximum number of attempts to begin while another thread's handler records.
#define ATTEMPTS 500

static bool begin_recording(void) {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        uint32_t free = 0;
        if (atomic_compare_exchange_weak_explicit(
                &sampler.is_recording, &free, 1, memory_order_acquire, memory_order_relaxed)) {
            return true;
        }
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    return false;
}

static void end_recording(void) { atomic_store_explicit(&sampler.is_recording, 0, memory_order_release); }

static bool is_main_thread(void) { return own.number == (uint32_t)getpid(); }

static void introduce(fl_recorder *recorder, bool *is_busy) {
    char entry[FL_THREAD_ENTRY_BYTES], name[FL_THREAD_NAME_BYTES];
    size_t length = fl_describe_thread(own.number, is_main_thread(), entry, name);
    fl_intern_sampled(recorder, FL_DICTIONARY_THREAD, entry, length, name, is_busy);
    own.is_introduced = !*is_busy;
}

// The number of a stack that signal handlers may enter into the dictionary, together with the modules of its addresses.
static uint32_t intern(fl_recorder *recorder, const uint64_t *frames, uint32_t count, bool truncated, bool *is_busy) {
    if (count == 0) { return 0; }
    uint32_t known = fl_find_entry(recorder, FL_DICTIONARY_STACK, frames, count * sizeof frames[0]);
    if (known != 0) { return known; }
    for (uint32_t index = 0; index < count && !*is_busy; index++) {
        fl_list_module_of(recorder, frames[index], is_busy);
    }
    if (*is_busy) { return 0; }
    return fl_intern_sampled(
        recorder, FL_DICTIONARY_STACK, frames, count * sizeof frames[0], truncated ? "truncated" : "", is_busy);
}

static bool is_in(const fl_interpreted *interpreter, uint64_t address) {
    return address >= interpreter->low && address < interpreter->high;
}

// Adds the call stack to a sample.
static void add_stack(
    fl_recorder *recorder, const registers *at, fl_header *header, fl_cpu *fields, bool *is_busy
) {
    const fl_sampler_guide *guide = sampler.guide;
    fl_interpreted interpreter = {0};
    bool truncated = false;
    uint32_t functions = 0, count = 0;
    if (guide != NULL && guide->interpreted != NULL) {
        functions = guide->interpreted(
            recorder, sampler.interpreted, FL_STACK_FRAMES_MAXIMUM, &interpreter, &truncated, is_busy);
    }
    uintptr_t frame = first_frame(at, functions == 0);
    uint64_t leaf_return = functions == 0 && frame == at->frame ? leaf_return_address(at, frame) : 0;
    if (leaf_return != 0) { sampler.frames[count++] = leaf_return; }
    if (frame != 0) { count += fl_walk_from(&own.stack, frame, sampler.frames + count, &truncated); }
    if (count > FL_STACK_FRAMES_MAXIMUM) { count = FL_STACK_FRAMES_MAXIMUM; }
    if (functions > 0) {
        // What is within the interpreter stands for the interpreted functions.
        uint32_t outside = 0;
        while (outside < count && !is_in(&interpreter, sampler.frames[outside])) { outside++; }
        if (is_in(&interpreter, at->instruction)) { outside = 0; }
        count = outside;
        for (uint32_t index = 0; index < functions && count < FL_STACK_FRAMES_MAXIMUM; index++) {
            sampler.frames[count++] = sampler.interpreted[index];
        }
    }
    header->stack = intern(recorder, sampler.frames, count, truncated, is_busy);
    if (truncated) { header->flags |= FL_STACK_TRUNCATED; }
    if (functions == 0 || !is_in(&interpreter, at->instruction)) {
        // Readers look up the instruction before a return address.
        uint64_t leaf = at->instruction + 1;
        fields->leaf = intern(recorder, &leaf, 1, false, is_busy);
    }
}

static void put(fl_recorder *recorder, const fl_header *header, const fl_cpu *fields, bool is_traced) {
    memcpy(sampler.record, header, sizeof *header);
    memcpy(sampler.record + sizeof *header, fields, sizeof *fields);
    if (!recorder->is_traced_only) {
        uint64_t head;
        char *place = fl_reserve_record(sampler.ring, header->size, &head);
        if (place == NULL) {
            atomic_store_explicit(&sampler.ring->thread, own.number, memory_order_relaxed);
            atomic_fetch_add_explicit(&sampler.ring->dropped, 1, memory_order_release);
        } else {
            memcpy(place, sampler.record, header->size);
            fl_commit_record(recorder, sampler.ring, head, header->size);
        }
    }
    if (is_traced) {
        fl_trace_record(recorder, sampler.ring, &sampler.traced, (const fl_header *)(const void *)sampler.record);
    }
}

static void record(fl_recorder *recorder, const registers *at, uint64_t began, bool *is_busy) {
    const fl_thread *thread = fl_thread_known(recorder);
    // A tracer's own state of a thread must exist, because making it would allocate memory.
    if (recorder->tracer != NULL && thread == NULL) { return; }
    fl_header header = {
        .size = (sizeof(fl_header) + sizeof(fl_cpu) + 7) & ~7u, .kind = FL_EVENT_CPU,
        .flags = is_main_thread() ? FL_ON_MAIN_THREAD : 0, .thread = own.number, .start = began,
    };
    fl_cpu fields = {.weight = own.carried};
    if (thread != NULL) {
        header.parent = fl_open_event(thread);
        // A scope that follows a task to other threads is not known here, but the parent has it.
        if (!fl_switch_follows_tasks(&recorder->state)) { header.scope = thread->scope.id; }
    }
    if (thread == NULL && !own.is_introduced) { introduce(recorder, is_busy); }
    if (!*is_busy) { add_stack(recorder, at, &header, &fields, is_busy); }
    if (*is_busy) { return; }
    header.id = fl_take_ids(sampler.ring);
    uint64_t cost = fl_now() - began;
    header.overhead = (uint32_t)fl_plausible_cost(cost);
    put(recorder, &header, &fields, recorder->tracer != NULL);
    own.carried = 0;
}

static void handle(int signal, siginfo_t *info, void *context) {
    (void)signal;
    // Another process may send the same signal.
    if (info->si_code != SI_TIMER || !own.is_entered) { return; }
    int saved = errno;
    fl_recorder *recorder = atomic_load_explicit(&sampler.recorder, memory_order_acquire);
    if (recorder == NULL) {
        syscall(SYS_timer_delete, own.timer);
        own.is_entered = false;
    } else if (fl_switch_is_on(&recorder->state)) {
        uint64_t began = fl_now();
        own.carried += sampler.interval * (1 + (uint64_t)(info->si_overrun > 0 ? info->si_overrun : 0));
        registers at = interrupted(context);
        // The stack of another thread of execution, such as a coroutine's, cannot be walked: its bounds are not known.
        if (at.stack < own.stack.low || at.stack >= own.stack.high) { at.stack = own.stack.high; }
        if (begin_recording()) {
            bool is_busy = false;
            record(recorder, &at, began, &is_busy);
            end_recording();
        }
    }
    errno = saved;
}

// MARK: - Threads

static void leave_thread(void *unused) {
    (void)unused;
    if (!own.is_entered) { return; }
    own.is_entered = false;
    atomic_signal_fence(memory_order_seq_cst);
    syscall(SYS_timer_delete, own.timer);
}

static void set_up(void) { pthread_key_create(&leaving, leave_thread); }

void fl_sampler_enter_thread(void) {
    fl_recorder *recorder = atomic_load_explicit(&sampler.recorder, memory_order_acquire);
    if (recorder == NULL || own.is_entered) { return; }
    int saved = errno;
    if (recorder->tracer != NULL) { fl_thread_current(recorder); }
    own.number = (uint32_t)syscall(SYS_gettid);
    own.stack = fl_find_stack();
    own.carried = 0;
    own.is_introduced = false;
    // The memory beyond `sigev_signo` has a name only in the kernel's headers.
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID};
    event.sigev_signo = atomic_load(&sampler.signal);
    event._sigev_un._tid = (pid_t)own.number;
    int timer = 0;
    if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0) {
        own.timer = timer;
        own.is_entered = true;
        // Threads inherit the signals that are blocked, and so do programs.
        sigset_t signals;
        sigemptyset(&signals);
        sigaddset(&signals, event.sigev_signo);
        pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
        pthread_setspecific(leaving, &own);
        // A thread that ends before its first interval is over is sampled with a probability that its CPU time deserves.
        uint32_t random = 0;
        if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random) { random = UINT32_MAX / 2; }
        uint64_t first = 1 + (uint64_t)((double)sampler.interval * ((double)random / UINT32_MAX));
        struct itimerspec times = {
            .it_interval = {.tv_sec = (time_t)(sampler.interval / 1000000000), .tv_nsec = (long)(sampler.interval % 1000000000)},
            .it_value = {.tv_sec = (time_t)(first / 1000000000), .tv_nsec = (long)(first % 1000000000)},
        };
        syscall(SYS_timer_settime, timer, 0, &times, NULL);
    }
    errno = saved;
}

// MARK: - The process

// A signal that the program has no use for. Real-time signals are rarely used, and their numbers are not agreed upon.
static int free_signal(void) {
    struct sigaction action;
    for (int signal = SIGRTMAX - 4; signal > SIGRTMIN; signal--) {
        if (sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_DFL) { return signal; }
    }
    return 0;
}

static fl_ring *add_ring(fl_recorder *recorder) {
    pthread_mutex_lock(&recorder->lock);
    uint32_t rings = 0, count = atomic_load_explicit(&recorder->file->segment_count, memory_order_relaxed);
    for (uint32_t index = 0; index < count; index++) {
        if (recorder->file->segments[index].kind == FL_SEGMENT_RING) { rings++; }
    }
    fl_ring *ring = rings == FL_RINGS_MAXIMUM ? NULL : fl_add_ring(recorder, rings, RING_BYTES);
    if (ring != NULL) { atomic_store_explicit(&ring->owner, FL_SHARED_RING, memory_order_release); }
    pthread_mutex_unlock(&recorder->lock);
    return ring;
}

bool fl_sampler_start(fl_recorder *recorder, uint64_t rate, const fl_sampler_guide *guide) {
    pthread_once(&once, set_up);
    if (rate == 0 || rate > FL_SAMPLES_PER_SECOND_MOST) {
        errno = EINVAL;
        return false;
    }
    if (atomic_load(&sampler.recorder) != NULL) {
        errno = EBUSY;
        return false;
    }
    int signal = atomic_load(&sampler.signal);
    if (signal == 0) { signal = free_signal(); }
    fl_ring *ring = add_ring(recorder);
    if (signal == 0 || ring == NULL) {
        errno = signal == 0 ? EAGAIN : ENOSPC;
        return false;
    }
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    sigfillset(&action.sa_mask);
    if (sigaction(signal, &action, NULL) != 0) { return false; }
    sampler.ring = ring;
    sampler.guide = guide;
    sampler.interval = 1000000000 / rate;
    atomic_store(&sampler.signal, signal);
    // A handler may use the recorder at any time from now on, so it is never released.
    atomic_fetch_add(&recorder->references, 1);
    atomic_store_explicit(&sampler.recorder, recorder, memory_order_release);
    fl_sampler_enter_thread();
    return true;
}

uint64_t fl_sampler_rate(const char *text) {
    if (text == NULL || *text < '0' || *text > '9') { return 0; }
    uint64_t rate = strtoull(text, NULL, 10);
    return rate > FL_SAMPLES_PER_SECOND_MOST ? FL_SAMPLES_PER_SECOND_MOST : rate;
}

int fl_sampler_signal(void) { return atomic_load_explicit(&sampler.signal, memory_order_relaxed); }

bool fl_sampler_owns(const struct sigaction *action) {
    return (action->sa_flags & SA_SIGINFO) != 0 && action->sa_sigaction == handle;
}

void fl_sampler_join_observer(void) {
    void (*join)(void (*)(void), int) = (void (*)(void (*)(void), int))dlsym(RTLD_DEFAULT, "faultline_preload_join");
    if (join != NULL) { join(fl_sampler_enter_thread, fl_sampler_signal()); }
}

void fl_sampler_stop(const fl_recorder *recorder) {
    fl_recorder *current = (fl_recorder *)recorder;
    // Each thread deletes its timer at its next signal.
    atomic_compare_exchange_strong(&sampler.recorder, &current, NULL);
}

void fl_sampler_after_fork(void) {
    atomic_store(&sampler.recorder, NULL);
    atomic_store(&sampler.is_recording, 0);
    own.is_entered = false;
}
