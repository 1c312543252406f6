// The functions of the C library that this library takes the place of.
//
// They are looked up when the library is loaded, because programs call some of them in signal handlers and in forked
// children, where the loader must not be called.

#ifndef FAULTLINE_ORIGINALS_H
#define FAULTLINE_ORIGINALS_H

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

extern __sighandler_t bsd_signal(int, __sighandler_t);

// Old programs call functions that new ones should not.
#pragma clang diagnostic ignored "-Wdeprecated-declarations"

#define PRELOAD_ORIGINALS(X) \
    X(pthread_create) X(thrd_create) X(dlopen) X(dlclose) X(sigaction) X(signal) X(sysv_signal) X(bsd_signal) X(sigset) \
    X(sigignore) X(pthread_sigmask) X(sigprocmask) X(_exit) X(_Exit) X(pread) X(pread64) X(pwrite) X(pwrite64) X(fsync) \
    X(fdatasync) X(usleep) X(nanosleep) X(setuid) X(seteuid) X(setreuid) X(setresuid) X(prctl)

typedef struct preload_originals {
#define X(name) __typeof__(&name) name;
    PRELOAD_ORIGINALS(X)
#undef X
} preload_originals;

extern preload_originals preload_original;

// Looks them up.
void preload_find_originals(void);

// An original function; also for calls before this library's constructor.
#define ORIGINAL(name) \
    (preload_original.name != NULL ? preload_original.name : (preload_find_originals(), preload_original.name))

#endif
