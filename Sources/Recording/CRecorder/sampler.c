#define _GNU_SOURCE
#include "samples.h"

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

// The size of the ring, which holds hundreds of samples.
#define RING_BYTES (64u << 10)

static struct {
    _Atomic(fl_recorder *) recorder;  // null: the process is not sampled
    uint64_t interval;                // nanoseconds of CPU time between two samples
    _Atomic int signal;
    struct sigaction action;          // the program's, for the same signal
} sampler;

// The timer of a thread.
static FL_THREAD_LOCAL struct {
    bool is_entered;
    int timer;
    uint64_t carried;  // CPU time of samples that could not be recorded, which the next one adds to its own
} own;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t leaving;

// MARK: - The signal

static fl_interruption interrupted(const void *context) {
    const mcontext_t *machine = &((const ucontext_t *)context)->uc_mcontext;
#if defined(__x86_64__)
    return (fl_interruption){
        .instruction = (uintptr_t)machine->gregs[REG_RIP], .stack = (uintptr_t)machine->gregs[REG_RSP],
        .frame = (uintptr_t)machine->gregs[REG_RBP],
    };
#elif defined(__aarch64__)
    return (fl_interruption){
        .instruction = (uintptr_t)machine->pc, .stack = (uintptr_t)machine->sp, .frame = (uintptr_t)machine->regs[29],
        .link = (uintptr_t)machine->regs[30],
    };
#else
    (void)machine;
    return (fl_interruption){0};
#endif
}

// The room on a stack that the handler needs at least, besides the signal's own frame, in bytes.
#define HANDLER_BYTES 4096
// The smallest stack of a thread that is sampled. The signal's frame alone takes some kilobytes, and could overflow a smaller
// one.
#define STACK_BYTES_LEAST (64u << 10)

// Whether so much is left of a stack, if the handler runs on it.
static bool has_least(uintptr_t low, uintptr_t high) {
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    return here < low || here >= high || here - low >= HANDLER_BYTES;
}

// Does some work in the handler, if there is room for it. The recorder's own stack exists in threads that use SQLite on small
// stacks. Elsewhere the handler makes do with little, and takes a coroutine's stack, whose bounds are not known, to have it.
static void with_room(void (*work)(void *), void *argument, const ucontext_t *context) {
    uintptr_t low = (uintptr_t)context->uc_stack.ss_sp;
    if (!fl_has_room() && fl_do_apart(work, argument, false)) { return; }
    if (has_least(low, low + context->uc_stack.ss_size) && has_least(fl_sampled.stack.low, fl_sampled.stack.high)) {
        work(argument);
    }
}

// Ends the process as the signal does by default, once the handler returns.
static void end_by(int signal) {
    // The kernel's form of an action. The C library's function belongs to the program.
    struct { void (*handler)(int); unsigned long flags; void (*restorer)(void); uint64_t mask; } action = {.handler = SIG_DFL};
    syscall(SYS_rt_sigaction, signal, &action, NULL, sizeof action.mask);
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
}

// Signals of the same number that the program sends itself.
static void pass_on(int signal, siginfo_t *info, void *context) {
    const struct sigaction *action = &sampler.action;
    if ((action->sa_flags & SA_SIGINFO) != 0) {
        if (action->sa_sigaction != NULL) { action->sa_sigaction(signal, info, context); }
    } else if (action->sa_handler == SIG_DFL) {
        end_by(signal);
    } else if (action->sa_handler != SIG_IGN) {
        action->sa_handler(signal);
    }
}

typedef struct sample {
    fl_recorder *recorder;
    fl_interruption at;
} sample;

static void take(void *context) {
    const sample *sample = context;
    fl_cpu fields = {.weight = own.carried};
    bool is_busy = false;
    if (fl_put_sample(sample->recorder, &sample->at, FL_EVENT_CPU, &fields, &fields.leaf, &is_busy) != 0) {
        own.carried -= fields.weight;
    }
}

static void handle(int signal, siginfo_t *info, void *context) {
    if (info->si_code != SI_TIMER || info->si_value.sival_ptr != &sampler) { return pass_on(signal, info, context); }
    if (!own.is_entered) { return; }
    int saved = errno, type;
    // A thread that can be cancelled at any time is cancelled when it gets its type back. When it gets its state back, glibc
    // would forget the result that such a thread has.
    int state = fl_shield();
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
    fl_recorder *recorder = atomic_load_explicit(&sampler.recorder, memory_order_acquire);
    if (recorder == NULL) {
        if (!fl_is_confined()) { syscall(SYS_timer_delete, own.timer); }
        own.is_entered = false;
    } else if (fl_switch_is_on(&recorder->state)) {
        own.carried += sampler.interval * (1 + (uint64_t)(info->si_overrun > 0 ? info->si_overrun : 0));
        sample sample = {.recorder = recorder, .at = interrupted(context)};
        with_room(take, &sample, context);
    }
    errno = saved;
    fl_unshield(state);
    pthread_setcanceltype(type, NULL);
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

static struct timespec timespec_of(uint64_t nanoseconds) {
    return (struct timespec){.tv_sec = (time_t)(nanoseconds / 1000000000), .tv_nsec = (long)(nanoseconds % 1000000000)};
}

// Starts the calling thread's timer.
static void start_timer(void) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_value.sival_ptr = &sampler};
    event.sigev_signo = atomic_load(&sampler.signal);
    // The thread's number has a name only in the kernel's headers.
    event._sigev_un._tid = (pid_t)fl_sampled.number;
    own.carried = 0;
    if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &own.timer) != 0) { return; }
    own.is_entered = true;
    pthread_setspecific(leaving, &own);
    // Threads inherit the signals that are blocked, and so do programs.
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, event.sigev_signo);
    pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
    // The first sample is taken at a random time, so that a short thread is sampled with a probability that its CPU time
    // deserves. Not by the C library's function, at which a thread can be cancelled.
    uint32_t random = 0;
    if (syscall(SYS_getrandom, &random, sizeof random, GRND_NONBLOCK) != sizeof random) { random = UINT32_MAX / 2; }
    uint64_t first = 1 + (uint64_t)((double)sampler.interval * ((double)random / UINT32_MAX));
    struct itimerspec times = {.it_interval = timespec_of(sampler.interval), .it_value = timespec_of(first)};
    syscall(SYS_timer_settime, own.timer, 0, &times, NULL);
}

void fl_sampler_enter_thread(void) {
    int saved = errno;
    if (fl_has_samples()) {
        fl_find_stack();
        fl_prepare_sampled_thread();
    }
    fl_recorder *recorder = atomic_load_explicit(&sampler.recorder, memory_order_acquire);
    bool is_sampled = recorder != NULL && fl_is_ours(recorder)
        && fl_sampled.stack.high - fl_sampled.stack.low >= STACK_BYTES_LEAST;
    // This enters the thread, if it makes its state.
    if (is_sampled && !own.is_entered && recorder->tracer != NULL) { fl_thread_current(recorder); }
    if (is_sampled && !own.is_entered) { start_timer(); }
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
    if (signal == 0) {
        errno = EAGAIN;
        return false;
    }
    if (!fl_open_samples(recorder, RING_BYTES, guide)) { return false; }
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    sigfillset(&action.sa_mask);
    if (sigaction(signal, &action, NULL) != 0) { return false; }
    sampler.interval = 1000000000 / rate;
    atomic_store(&sampler.signal, signal);
    atomic_store_explicit(&sampler.recorder, recorder, memory_order_release);
    fl_sampler_enter_thread();
    return true;
}

uint64_t fl_sampler_rate(const char *text) {
    if (text == NULL || *text < '0' || *text > '9') { return 0; }
    uint64_t rate = strtoull(text, NULL, 10);
    return rate > FL_SAMPLES_PER_SECOND_MOST ? FL_SAMPLES_PER_SECOND_MOST : rate;
}

bool fl_sampler_owns(const struct sigaction *action) {
    return (action->sa_flags & SA_SIGINFO) != 0 && action->sa_sigaction == handle;
}

void fl_sampler_set_action(const struct sigaction *action, struct sigaction *before) {
    struct sigaction old = sampler.action;
    if (action != NULL) { sampler.action = *action; }
    if (before != NULL) { *before = old; }
}

const fl_sampler_client *fl_sampler_as_client(void) {
    static fl_sampler_client client = {
        .enter_thread = fl_sampler_enter_thread, .pause = fl_sampler_pause, .resume = fl_sampler_resume,
        .set_action = fl_sampler_set_action,
    };
    client.signal = atomic_load(&sampler.signal);
    return &client;
}

void fl_sampler_join_observer(void) {
    void (*join)(const fl_sampler_client *) =
        (void (*)(const fl_sampler_client *))dlsym(RTLD_DEFAULT, "faultline_preload_join");
    if (join != NULL) { join(fl_sampler_as_client()); }
}

void fl_sampler_stop(const fl_recorder *recorder) {
    fl_recorder *current = (fl_recorder *)recorder;
    // Each thread deletes its timer at its next signal.
    atomic_compare_exchange_strong(&sampler.recorder, &current, NULL);
}

void fl_sampler_after_fork(void) {
    atomic_store(&sampler.recorder, NULL);
    own.is_entered = false;
    fl_samples_after_fork();
}
