#define _GNU_SOURCE
#include "faultline_preload.h"
#include "originals.h"
#include "preload.h"

#include <errno.h>
#include <link.h>
#include <string.h>

// Sampling a program's threads: each of them, and by a signal that the program does not take away.

// MARK: - Starting

static uint64_t rate, allocation_interval;
// The sampler of this process; null: it is not sampled.
static _Atomic(const fl_sampler_client *) client;

static const fl_sampler_guide guide = {.interpreted = preload_sample_python, .anchor = preload_sqlite_frame};

void faultline_preload_join(const fl_sampler_client *new) { atomic_store(&client, new); }

static bool is_own_module(const struct dl_phdr_info *module) {
    for (int index = 0; index < module->dlpi_phnum; index++) {
        const ElfW(Phdr) *header = &module->dlpi_phdr[index];
        uintptr_t low = module->dlpi_addr + header->p_vaddr, own = (uintptr_t)&guide;
        if (header->p_type == PT_LOAD && own >= low && own < low + header->p_memsz) { return true; }
    }
    return false;
}

// Whether a module other than this library contains a recorder.
static int find_mark(struct dl_phdr_info *module, size_t size, void *context) {
    (void)size;
    uint32_t length;
    bool is_marked = fl_find_note(module, FL_MARK_NAME, FL_MARK_TYPE, &length) != NULL && !is_own_module(module);
    *(bool *)context = is_marked;
    return is_marked;
}

static bool records_itself(void) {
    bool found = false;
    dl_iterate_phdr(find_mark, &found);
    return found;
}

// The sampler's signal is never blocked, but a thread that blocks it finds it in its mask.
static _Thread_local __attribute__((tls_model("initial-exec"))) bool is_blocked;

static void start(void) {
    fl_recorder *recorder = preload_recorder();
    if (recorder == NULL) { return; }
    sigset_t blocked;
    sigemptyset(&blocked);
    ORIGINAL(pthread_sigmask)(SIG_BLOCK, NULL, &blocked);
    bool is_sampled = allocation_interval != 0 && fl_sample_allocations(recorder, allocation_interval, &guide);
    if (rate != 0 && fl_sampler_start(recorder, rate, &guide)) { is_sampled = true; }
    if (!is_sampled) { return; }
    const fl_sampler_client *sampler = fl_sampler_as_client();
    if (sampler->signal != 0 && sigismember(&blocked, sampler->signal) == 1) { is_blocked = true; }
    faultline_preload_join(sampler);
}

void preload_start_sampling(void) {
    rate = fl_sampler_rate(fl_environment("FAULTLINE_CPU"));
    const char *bytes = fl_environment("FAULTLINE_ALLOCATIONS");
    if (bytes != NULL) { allocation_interval = strtoull(bytes, NULL, 10); }
    // A program that records itself is sampled by its own recorder, which knows the scopes and operations.
    if ((rate == 0 && allocation_interval == 0) || records_itself()) {
        rate = allocation_interval = 0;
        return;
    }
    fl_find_stack();
    preload_find_interpreter();
    preload_prepare_python_samples();
    start();
}

void preload_start_sampling_in_child(void) {
    // The parent's results apply here.
    if (rate != 0 || allocation_interval != 0) { start(); }
}

// MARK: - The original functions

preload_originals preload_original;

void preload_find_originals(void) {
#define X(name) \
    if (preload_original.name == NULL) { preload_original.name = (__typeof__(&name))dlsym(RTLD_NEXT, #name); }
    PRELOAD_ORIGINALS(X)
#undef X
}

// MARK: - Threads

typedef struct thread_start {
    union {
        void *(*posix)(void *);
        int (*c)(void *);
    } function;
    void *argument;
    bool is_blocked;  // the signal, which a thread inherits
} thread_start;

static thread_start enter(void *context) {
    thread_start start = *(thread_start *)context;
    free(context);
    const fl_sampler_client *current = atomic_load(&client);
    if (current != NULL) { current->enter_thread(); }
    is_blocked = start.is_blocked;
    return start;
}

// Tail calls, so that the stacks of the thread have no frame of these functions.
static void *begin(void *context) {
    thread_start start = enter(context);
    __attribute__((musttail)) return start.function.posix(start.argument);
}

static int begin_c(void *context) {
    thread_start start = enter(context);
    __attribute__((musttail)) return start.function.c(start.argument);
}

// Null if the process is not sampled.
static thread_start *make_start(void *argument) {
    thread_start *start = atomic_load(&client) == NULL ? NULL : malloc(sizeof *start);
    if (start != NULL) { (start->argument = argument, start->is_blocked = is_blocked); }
    return start;
}

EXPORT int pthread_create(
    pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument
) {
    thread_start *start = make_start(argument);
    if (start == NULL) { return ORIGINAL(pthread_create)(thread, attributes, function, argument); }
    start->function.posix = function;
    int result = ORIGINAL(pthread_create)(thread, attributes, begin, start);
    if (result != 0) { free(start); }
    return result;
}

EXPORT int thrd_create(thrd_t *thread, thrd_start_t function, void *argument) {
    thread_start *start = make_start(argument);
    if (start == NULL) { return ORIGINAL(thrd_create)(thread, function, argument); }
    start->function.c = function;
    int result = ORIGINAL(thrd_create)(thread, begin_c, start);
    if (result != thrd_success) { free(start); }
    return result;
}

// MARK: - Ending

// Forked children often end so, which runs no destructor: they would look as if they had been killed. A child of vfork, which
// shares its parent's memory, changes nothing.
#define DEFINE_EXIT(name) \
    EXPORT __attribute__((noreturn)) void name(int status) { \
        preload_end_process(); \
        ORIGINAL(name)(status); \
        __builtin_unreachable(); \
    }
DEFINE_EXIT(_exit)
DEFINE_EXIT(_Exit)

// MARK: - Unloading

EXPORT int dlclose(void *module) {
    const fl_sampler_client *current = atomic_load(&client);
    if (current == NULL) { return ORIGINAL(dlclose)(module); }
    current->pause();
    int result = ORIGINAL(dlclose)(module);
    current->resume();
    return result;
}

// MARK: - The signal

// The sampler, if it uses a signal.
static const fl_sampler_client *signalling(void) {
    const fl_sampler_client *current = atomic_load(&client);
    return current != NULL && current->signal != 0 ? current : NULL;
}

// The sampler, if the signal is its own.
static const fl_sampler_client *owner_of(int signal) {
    const fl_sampler_client *current = signalling();
    return current != NULL && current->signal == signal ? current : NULL;
}

// The signals whose handlers block the sampler's although the program did not ask for it, a bit for each.
static _Atomic uint64_t shielded;

static uint64_t bit_of(int signal) { return (uint64_t)1 << ((signal - 1) & 63); }

EXPORT int sigaction(int signal, const struct sigaction *action, struct sigaction *before) {
    const fl_sampler_client *owner = owner_of(signal), *current = signalling();
    if (action != NULL && fl_sampler_owns(action)) { return ORIGINAL(sigaction)(signal, action, before); }
    if (owner != NULL) {
        // Programs that reset all signals would otherwise be killed by the next one.
        owner->set_action(action, before);
        return 0;
    }
    if (current == NULL) { return ORIGINAL(sigaction)(signal, action, before); }
    struct sigaction new;
    bool is_new = action != NULL, is_shielded = false;
    if (is_new) {
        // A handler on an alternate stack leaves no room there for another one.
        new = *action;
        is_shielded = (new.sa_flags & SA_ONSTACK) != 0 && sigismember(&new.sa_mask, current->signal) == 0;
        if (is_shielded) { sigaddset(&new.sa_mask, current->signal); }
    }
    int result = ORIGINAL(sigaction)(signal, is_new ? &new : NULL, before);
    if (result != 0) { return result; }
    uint64_t bit = bit_of(signal);
    if (before != NULL && (atomic_load(&shielded) & bit) != 0) { sigdelset(&before->sa_mask, current->signal); }
    if (is_shielded) { atomic_fetch_or(&shielded, bit); } else if (is_new) { atomic_fetch_and(&shielded, ~bit); }
    return 0;
}

// Does the work of `signal` and its relatives for the sampler's signal.
static __sighandler_t set_handler(const fl_sampler_client *owner, __sighandler_t handler) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, before;
    sigaddset(&action.sa_mask, owner->signal);
    owner->set_action(&action, &before);
    return (before.sa_flags & SA_SIGINFO) != 0 ? SIG_DFL : before.sa_handler;
}

#define DEFINE_SIGNAL(name) \
    EXPORT __sighandler_t name(int signal, __sighandler_t handler) { \
        const fl_sampler_client *owner = owner_of(signal); \
        if (owner != NULL) { return set_handler(owner, handler); } \
        __sighandler_t before = ORIGINAL(name)(signal, handler); \
        if (before != SIG_ERR && signalling() != NULL) { atomic_fetch_and(&shielded, ~bit_of(signal)); } \
        return before; \
    }
DEFINE_SIGNAL(signal)
DEFINE_SIGNAL(sysv_signal)
DEFINE_SIGNAL(bsd_signal)
DEFINE_SIGNAL(sigset)

// The names under which compilers in strict modes call them.
EXPORT __sighandler_t __sysv_signal(int signal, __sighandler_t handler) { return sysv_signal(signal, handler); }
EXPORT __sighandler_t ssignal(int number, __sighandler_t handler) { return signal(number, handler); }

EXPORT int sigignore(int signal) {
    const fl_sampler_client *owner = owner_of(signal);
    if (owner == NULL) { return ORIGINAL(sigignore)(signal); }
    set_handler(owner, SIG_IGN);
    return 0;
}

// The set without the sampler's signal, if it is to be blocked.
static const sigset_t *unblocked(int how, const sigset_t *set, sigset_t *copy) {
    const fl_sampler_client *current = signalling();
    if (set == NULL || current == NULL || how == SIG_UNBLOCK) { return set; }
    *copy = *set;
    sigdelset(copy, current->signal);
    return copy;
}

// The program finds in its mask what it has put there.
static int set_mask(__typeof__(&pthread_sigmask) original, int how, const sigset_t *set, sigset_t *before) {
    const fl_sampler_client *current = signalling();
    bool was_blocked = is_blocked, is_named = current != NULL && set != NULL && sigismember(set, current->signal) == 1;
    sigset_t copy;
    bool is_set = set != NULL;
    int result = original(how, unblocked(how, set, &copy), before);
    if (current == NULL || result != 0) { return result; }
    if (is_set && (how == SIG_SETMASK || is_named)) { is_blocked = is_named && how != SIG_UNBLOCK; }
    if (before != NULL && was_blocked) { sigaddset(before, current->signal); }
    return 0;
}

EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *before) {
    return set_mask(ORIGINAL(pthread_sigmask), how, set, before);
}

EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *before) {
    return set_mask(ORIGINAL(sigprocmask), how, set, before);
}
