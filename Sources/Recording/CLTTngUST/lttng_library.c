#ifdef FAULTLINE_LTTNG
#include "lttng_library.h"

#include <dlfcn.h>
#include <lttng/ust-events.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/statvfs.h>

#define LIBRARY "liblttng-ust.so.1"
#define PROVIDERS_MAXIMUM 8
#define ROOM_BYTES (64u << 10)

typedef struct lttng_ust_registered_probe registered;

// The providers of this program, filled in before `main` by one thread.
static struct {
    const struct lttng_ust_probe_desc *description;
    registered *registration;   // null: the library was not loaded
} providers[PROVIDERS_MAXIMUM];
static size_t provider_count;

static registered *(*register_probe)(const struct lttng_ust_probe_desc *);
static void (*unregister_probe)(registered *);
static int (*register_listener)(const char *, const char *, void (*)(void), void *, const char *);
static pthread_once_t once = PTHREAD_ONCE_INIT;
static char failure[512];

struct lttng_ust_registered_probe *fl_lttng_note_probe(const struct lttng_ust_probe_desc *description) {
    if (provider_count == PROVIDERS_MAXIMUM) { return NULL; }
    providers[provider_count].description = description;
    // Any nonnull pointer that identifies the provider when it is unregistered.
    return (registered *)(void *)&providers[provider_count++];
}

void fl_lttng_forget_probe(struct lttng_ust_registered_probe *probe) {
    for (size_t index = 0; index < provider_count; index++) {
        if ((void *)probe != (void *)&providers[index] || providers[index].registration == NULL) { continue; }
        unregister_probe(providers[index].registration);
        providers[index].registration = NULL;
    }
}

// Whether /dev/shm has room for the memory that the library shares with the daemon. Without it, touching the memory
// kills the program.
static bool has_room(void) {
    struct statvfs status;
    if (statvfs("/dev/shm", &status) != 0) { return true; }
    return (uint64_t)status.f_bavail * status.f_frsize >= ROOM_BYTES;
}

// MARK: - Forking

// The calls that liblttng-ust-fork.so makes for programs that preload it: without them, a forked child has none of the
// library's threads and no session of its own. The first one blocks signals, and holds locks until another is called.
static void (*before)(sigset_t *), (*after_in_parent)(sigset_t *), (*after_in_child)(sigset_t *);
static sigset_t signals;

static void find_fork_functions(void *library) {
    if (dlopen("liblttng-ust-fork.so.1", RTLD_NOW | RTLD_NOLOAD) != NULL) { return; }
    before = (void (*)(sigset_t *))dlsym(library, "lttng_ust_before_fork");
    after_in_parent = (void (*)(sigset_t *))dlsym(library, "lttng_ust_after_fork_parent");
    after_in_child = (void (*)(sigset_t *))dlsym(library, "lttng_ust_after_fork_child");
    if (after_in_parent == NULL || after_in_child == NULL) { before = NULL; }
}

void fl_lttng_before_fork(void) {
    if (before != NULL) { before(&signals); }
}

void fl_lttng_after_fork_in_parent(void) {
    if (before != NULL) { after_in_parent(&signals); }
}

void fl_lttng_after_fork_in_child(void) {
    if (before != NULL) { after_in_child(&signals); }
}

// MARK: - Loading

static void load(void) {
    if (!has_room()) {
        snprintf(failure, sizeof failure, "there is no room in /dev/shm");
        return;
    }
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
    if (library != NULL) {
        register_probe = (registered * (*)(const struct lttng_ust_probe_desc *)) dlsym(library, "lttng_ust_probe_register");
        unregister_probe = (void (*)(registered *))dlsym(library, "lttng_ust_probe_unregister");
        register_listener = (int (*)(const char *, const char *, void (*)(void), void *, const char *))dlsym(
            library, "lttng_ust_tracepoint_provider_register");
    }
    if (register_probe == NULL || unregister_probe == NULL || register_listener == NULL) {
        const char *reason = dlerror();
        snprintf(failure, sizeof failure, "%s", reason == NULL ? LIBRARY " is of another version" : reason);
        return;
    }
    for (size_t index = 0; index < provider_count; index++) {
        providers[index].registration = register_probe(providers[index].description);
    }
    find_fork_functions(library);
}

bool fl_lttng_load(char *problem, size_t room) {
    pthread_once(&once, load);
    snprintf(problem, room, "%s", failure);
    return failure[0] == 0;
}

int fl_lttng_listen(
    const char *provider, const char *event, void (*callback)(void), void *data, const char *signature
) {
    return register_listener(provider, event, callback, data, signature);
}
#endif
