#define _GNU_SOURCE
#include "recorder_start.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>

static void start_with_program(void) __attribute__((constructor));

// Whether Swift's libraries are initialised. A program that has them inside runs their constructors after this one.
static bool has_swift(void) {
    Dl_info swift, own;
    void *function = dlsym(RTLD_DEFAULT, "swift_retain");
    return function != NULL && dladdr(function, &swift) != 0 && dladdr((void *)start_with_program, &own) != 0
        && swift.dli_fbase != own.dli_fbase;
}

// A program's recorder begins when the program first asks for it, which is when it opens a store. Samples show all of its
// CPU time and memory, so their recorder begins with the program. Where nothing is sampled, it costs two looks into the
// environment.
//
// This is not a part of CRecorder, which the preloaded libraries contain. They have recorders of their own.
static void start_with_program(void) {
    if (secure_getenv("FAULTLINE_TRACE") == NULL) { return; }
    if (secure_getenv("FAULTLINE_CPU") == NULL && secure_getenv("FAULTLINE_ALLOCATIONS") == NULL) { return; }
    if (has_swift()) { faultline_start_recorder(); }
}
