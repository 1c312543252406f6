#define _GNU_SOURCE
#include "faultline_preload.h"
#include "preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

// Sampling a program's threads: each of them, and by a signal that the program does not take away.

// MARK: - Starting

static uint64_t rate;
// Called in each new thread; null: the process is not sampled.
static void (*_Atomic enter_thread)(void);
// The signal that the program cannot block or handle; 0: none.
static _Atomic int own_signal;

static const fl_sampler_guide guide = {.interpreted = preload_sample_python, .anchor = preload_sqlite_frame};

void faultline_preload_join(void (*enter)(void), int signal) {
    atomic_store(&own_signal, signal);
    atomic_store(&enter_thread, enter);
}

// Whether a module other than this library contains a recorder.
static int find_mark(struct dl_phdr_info *module, size_t size, void *context) {
    (void)size;
    bool is_marked = false, is_own = false;
    for (int index = 0; index < module->dlpi_phnum; index++) {
        const ElfW(Phdr) *header = &module->dlpi_phdr[index];
        uintptr_t low = module->dlpi_addr + header->p_vaddr, own = (uintptr_t)&guide;
        if (header->p_type == PT_LOAD && own >= low && own < low + header->p_memsz) { is_own = true; }
        if (header->p_type != PT_NOTE) { continue; }
        const char *note = (const char *)low, *end = note + header->p_memsz;
        while (note + sizeof(ElfW(Nhdr)) <= end) {
            const ElfW(Nhdr) *fields = (const ElfW(Nhdr) *)(const void *)note;
            const char *name = note + sizeof *fields;
            if (fields->n_type == FL_MARK_TYPE && fields->n_namesz == sizeof FL_MARK_NAME
                && memcmp(name, FL_MARK_NAME, sizeof FL_MARK_NAME) == 0) {
                is_marked = true;
            }
            note = name + ((fields->n_namesz + 3) & ~3u) + ((fields->n_descsz + 3) & ~3u);
        }
    }
    *(bool *)context = is_marked && !is_own;
    return is_marked && !is_own;
}

static bool records_itself(void) {
    bool found = false;
    dl_iterate_phdr(find_mark, &found);
    return found;
}

void preload_start_sampling(void) {
    static bool is_read;
    if (!is_read) { rate = fl_sampler_rate(fl_environment("FAULTLINE_CPU")); }
    is_read = true;
    // A program that records itself is sampled by its own recorder, which knows the scopes and operations.
    if (rate == 0 || records_itself()) { return; }
    fl_recorder *recorder = preload_recorder();
    if (recorder == NULL) { return; }
    preload_find_python();
    preload_prepare_python_samples();
    if (fl_sampler_start(recorder, rate, &guide)) { faultline_preload_join(fl_sampler_enter_thread, fl_sampler_signal()); }
}

// MARK: - Threads

typedef struct start {
    void *(*function)(void *);
    void *argument;
} start;

static void *begin(void *context) {
    start start = *(struct start *)context;
    free(context);
    void (*enter)(void) = atomic_load(&enter_thread);
    if (enter != NULL) { enter(); }
    // A tail call, so that the stacks of the thread have no frame of this function.
    __attribute__((musttail)) return start.function(start.argument);
}

EXPORT int pthread_create(
    pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument
) {
    static int (*original)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (original == NULL) { original = (__typeof__(original))dlsym(RTLD_NEXT, "pthread_create"); }
    start *start = atomic_load(&enter_thread) == NULL ? NULL : malloc(sizeof *start);
    if (start == NULL) { return original(thread, attributes, function, argument); }
    *start = (struct start){function, argument};
    int result = original(thread, attributes, begin, start);
    if (result != 0) { free(start); }
    return result;
}

// MARK: - The signal

static bool is_own_signal(int signal) { return signal != 0 && signal == atomic_load(&own_signal); }

EXPORT int sigaction(int signal, const struct sigaction *action, struct sigaction *before) {
    static int (*original)(int, const struct sigaction *, struct sigaction *);
    if (original == NULL) { original = (__typeof__(original))dlsym(RTLD_NEXT, "sigaction"); }
    if (!is_own_signal(signal) || (action != NULL && fl_sampler_owns(action))) { return original(signal, action, before); }
    // Programs that reset all signals would otherwise be killed by the next one.
    if (before != NULL) { memset(before, 0, sizeof *before); }
    return 0;
}

EXPORT void (*signal(int signal, void (*action)(int)))(int) {
    static void (*(*original)(int, void (*)(int)))(int);
    if (original == NULL) { original = (__typeof__(original))dlsym(RTLD_NEXT, "signal"); }
    return is_own_signal(signal) ? SIG_DFL : original(signal, action);
}

// The set without the sampler's signal, if it is to be blocked.
static const sigset_t *unblocked(int how, const sigset_t *set, sigset_t *copy) {
    int signal = atomic_load(&own_signal);
    if (set == NULL || signal == 0 || how == SIG_UNBLOCK) { return set; }
    *copy = *set;
    sigdelset(copy, signal);
    return copy;
}

EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *before) {
    static int (*original)(int, const sigset_t *, sigset_t *);
    if (original == NULL) { original = (__typeof__(original))dlsym(RTLD_NEXT, "pthread_sigmask"); }
    sigset_t copy;
    return original(how, unblocked(how, set, &copy), before);
}

EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *before) {
    static int (*original)(int, const sigset_t *, sigset_t *);
    if (original == NULL) { original = (__typeof__(original))dlsym(RTLD_NEXT, "sigprocmask"); }
    sigset_t copy;
    return original(how, unblocked(how, set, &copy), before);
}
