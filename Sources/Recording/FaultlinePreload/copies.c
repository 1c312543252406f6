#define _GNU_SOURCE
#include "preload.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

// A module whose code calls SQLite, and the copy that it is linked to. Modules are never removed: an address of one that
// was unloaded can only be asked for again after another module was loaded there, and then is looked up by its map.
typedef struct caller {
    preload_caller module;
    const struct link_map *map;
} caller;

#define CALLERS_MAXIMUM 1024

static caller callers[CALLERS_MAXIMUM];
static _Atomic uint32_t caller_count;
static fl_lock lock = FL_LOCK_FREE;

// MARK: - Looking functions up

static void *from_module(const char *path, const char *name) {
    void *module = dlopen(path, RTLD_NOLOAD | RTLD_LAZY);
    if (module == NULL) { return NULL; }
    void *found = dlsym(module, name);
    dlclose(module);
    return found;
}

static bool is_in(const struct dl_find_object *module, const void *address) {
    return address >= module->dlfo_map_start && address < module->dlfo_map_end;
}

// Returns the function that the linker would have chosen without this library: the module's own one, or else the first
// one in the program's global scope, or else that of the libraries that the module needs.
static void *find_function(const struct dl_find_object *module, const char *name) {
    const struct link_map *map = module->dlfo_link_map;
    void *own = map == NULL || map->l_name[0] == 0 ? NULL : from_module(map->l_name, name);
    if (own != NULL && is_in(module, own)) { return own; }
    void *global = dlsym(RTLD_NEXT, name);
    if (global != NULL) { return global; }
    return own != NULL ? own : from_module("libsqlite3.so.0", name);
}

static const preload_copy *find_copy(const struct dl_find_object *module) {
    preload_copy *copy = calloc(1, sizeof *copy);
    struct dl_find_object library;
    if (copy == NULL) { return NULL; }
    char name[64] = "sqlite3_";
#define X(function) \
    strcpy(name + 8, #function); \
    copy->function = (__typeof__(copy->function))find_function(module, name);
    PRELOAD_FUNCTIONS(X)
#undef X
    copy->config = (__typeof__(copy->config))find_function(module, "sqlite3_config");
    copy->db_name = (__typeof__(copy->db_name))find_function(module, "sqlite3_db_name");
#define X(function, result, none) \
    strcpy(name + 8, "column_" #function); \
    copy->columns.read_##function = (__typeof__(copy->columns.read_##function))find_function(module, name);
    FAULTLINE_COLUMN_FUNCTIONS(X)
#undef X
    // Newer functions may be missing in an old copy; without these it cannot be used at all.
    if (copy->step == NULL || copy->reset == NULL || copy->finalize == NULL || copy->stmt_status == NULL
        || _dl_find_object((void *)copy->step, &library) != 0) {
        free(copy);
        return NULL;
    }
    copy->is_mixed = is_in(module, (void *)copy->step);
    copy->low = (uintptr_t)library.dlfo_map_start;
    copy->high = (uintptr_t)library.dlfo_map_end;
    return copy;
}

// MARK: - Copies by caller

static const caller *known_caller(const void *address, const struct link_map *map) {
    uint32_t count = atomic_load_explicit(&caller_count, memory_order_acquire);
    for (uint32_t index = 0; index < count; index++) {
        const caller *known = &callers[index];
        if (preload_is_of(&known->module, address) && known->map == map) { return known; }
    }
    return NULL;
}

// Two modules that are linked to the same copy share it.
static const preload_copy *shared(const preload_copy *found) {
    for (uint32_t index = 0; found != NULL && index < caller_count; index++) {
        const preload_copy *known = callers[index].module.copy;
        if (known != NULL && known->step == found->step) {
            free((void *)found);
            return known;
        }
    }
    return found;
}

// The module of an address that calls SQLite for the first time.
typedef struct newcomer {
    const void *address;
    const struct dl_find_object *module;
    const caller *caller;
} newcomer;

static void add_caller(void *context) {
    newcomer *newcomer = context;
    const struct dl_find_object *module = newcomer->module;
    fl_take(&lock);
    const caller *known = known_caller(newcomer->address, module->dlfo_link_map);
    uint32_t count = atomic_load_explicit(&caller_count, memory_order_relaxed);
    if (known == NULL && count < CALLERS_MAXIMUM) {
        callers[count] = (caller){
            .module = {
                .low = (uintptr_t)module->dlfo_map_start, .high = (uintptr_t)module->dlfo_map_end,
                .copy = shared(find_copy(module)),
            },
            .map = module->dlfo_link_map,
        };
        atomic_store_explicit(&caller_count, count + 1, memory_order_release);
        known = &callers[count];
    }
    fl_give(&lock);
    preload_find_interpreter();
    newcomer->caller = known;
}

// For code that is in no module, such as that of a just-in-time compiler: the copy that the program would find by name.
static _Atomic(const preload_copy *) named;

static void find_by_name(void *unused) {
    (void)unused;
    struct dl_find_object none = {0};
    fl_take(&lock);
    atomic_store_explicit(&named, shared(find_copy(&none)), memory_order_release);
    fl_give(&lock);
}

static const preload_copy *copy_by_name(void) {
    if (atomic_load_explicit(&named, memory_order_acquire) == NULL) { fl_with_room(find_by_name, NULL); }
    return atomic_load_explicit(&named, memory_order_acquire);
}

void preload_lock_copies(void) { fl_take(&lock); }
void preload_unlock_copies(void) { fl_give(&lock); }

bool preload_is_own(const void *address) {
    static _Atomic uintptr_t low, high;
    struct dl_find_object own;
    if (atomic_load_explicit(&high, memory_order_acquire) == 0) {
        if (_dl_find_object((void *)(uintptr_t)preload_is_own, &own) != 0) { return false; }
        atomic_store_explicit(&low, (uintptr_t)own.dlfo_map_start, memory_order_relaxed);
        atomic_store_explicit(&high, (uintptr_t)own.dlfo_map_end, memory_order_release);
    }
    return (uintptr_t)address >= atomic_load_explicit(&low, memory_order_relaxed)
        && (uintptr_t)address < atomic_load_explicit(&high, memory_order_relaxed);
}

FL_THREAD_LOCAL preload_caller preload_last_caller;

const preload_copy *preload_find_copy(const void *address) {
    struct dl_find_object module;
    // SQLite jumped from a function that this library had called to another one, as from sqlite3_bind_blob64 to
    // sqlite3_bind_blob. So it is the copy that was called last.
    if (preload_last_caller.high != 0 && preload_is_own(address)) { return preload_last_caller.copy; }
    if (_dl_find_object((void *)address, &module) != 0) { return copy_by_name(); }
    const caller *known = known_caller(address, module.dlfo_link_map);
    if (known == NULL) {
        newcomer newcomer = {.address = address, .module = &module};
        fl_with_room(add_caller, &newcomer);
        known = newcomer.caller;
    }
    if (known == NULL) { return copy_by_name(); }
    preload_last_caller = known->module;
    return known->module.copy;
}
