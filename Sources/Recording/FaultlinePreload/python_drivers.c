#define _GNU_SOURCE
#include "preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Python's drivers with a hidden copy of SQLite. They can load extensions, so this library has itself loaded, by the
// driver's own functions, as soon as the driver was imported.

// The drivers: a part of the path of each one's library, its module, and the module's function that opens a connection.
static const struct {
    const char *library, *module, *open;
} drivers[] = {
    {"/apsw/__init__.", "apsw", "Connection"},
    {"/apsw.", "apsw", "Connection"},
    {"/pysqlite3/_sqlite3.", "pysqlite3._sqlite3", "connect"},
    {"/sqlcipher3/_sqlite3.", "sqlcipher3._sqlite3", "connect"},
    {"/sqlean/_sqlite3.", "sqlean._sqlite3", "connect"},
    {"/_sqlite3.", "_sqlite3", "connect"},
};
#define DRIVERS (sizeof drivers / sizeof *drivers)
#define BUILT_IN (DRIVERS - 1)

// Python's functions that are called (https://docs.python.org/3/c-api).
#define PYTHON_FUNCTIONS(X) \
    X(void *, PyDict_GetItemString, (void *, const char *)) \
    X(void, PyErr_Clear, (void)) \
    X(void, PyErr_Fetch, (void **, void **, void **)) \
    X(void, PyErr_Restore, (void *, void *, void *)) \
    X(void *, PyObject_CallMethod, (void *, const char *, const char *, ...)) \
    X(int, PyObject_HasAttrString, (void *, const char *)) \
    X(int, Py_AddPendingCall, (int (*)(void *), void *)) \
    X(void, Py_DecRef, (void *)) \
    X(void *, PyImport_GetModuleDict, (void))

static struct {
#define X(result, name, parameters) result (*name) parameters;
    PYTHON_FUNCTIONS(X)
#undef X
} python;

// This library's path.
static const char *own_path;

static void find_functions(void) {
    Dl_info own;
    if (dladdr((void *)(uintptr_t)find_functions, &own) == 0) { return; }
#define X(result, name, parameters) \
    python.name = (result(*) parameters)dlsym(RTLD_DEFAULT, #name); \
    if (python.name == NULL) { return; }
    PYTHON_FUNCTIONS(X)
#undef X
    own_path = own.dli_fname;
}

// Whether the process has a Python interpreter. While the loader begins a program, it may not be there yet.
static bool has_python(void) {
    static fl_lock lock = FL_LOCK_FREE;
    fl_take(&lock);
    if (own_path == NULL) { find_functions(); }
    bool found = own_path != NULL;
    fl_give(&lock);
    return found;
}

// MARK: - Loading this library into a driver's SQLite

// Calls a method of an object, which returns nothing of interest. False if it raised an exception.
static bool call(void *object, const char *method, const char *format, const char *text, int number) {
    void *result = text != NULL ? python.PyObject_CallMethod(object, method, format, text)
                                : python.PyObject_CallMethod(object, method, format, number);
    if (result == NULL) {
        python.PyErr_Clear();
        return false;
    }
    python.Py_DecRef(result);
    return true;
}

// Under Python's lock. Returns whether it succeeded.
static bool load_into(void *module, const char *open) {
    void *connection = python.PyObject_CallMethod(module, open, "s", ":memory:");
    if (connection == NULL) {
        python.PyErr_Clear();
        return false;
    }
    bool is_loaded = call(connection, "enable_load_extension", "i", NULL, 1)
        && call(connection, "load_extension", "s", own_path, 0);
    call(connection, "close", "", NULL, 0);
    python.Py_DecRef(connection);
    return is_loaded;
}

// Whether a driver's library has a copy of SQLite with symbols, or uses such a one, which is recorded by them.
static bool has_symbols(const char *path) {
    void *library = path == NULL ? NULL : dlopen(path, RTLD_NOLOAD | RTLD_LAZY);
    bool found = library != NULL && dlsym(library, "sqlite3_step") != NULL;
    if (library != NULL) { dlclose(library); }
    return found;
}

// Loads this library into a driver's copy of SQLite, once, if the driver was imported. `path` is that of the driver's
// library; null if it is a part of the interpreter. Under Python's lock. Returns whether there is nothing left to do.
static bool load_into_driver(size_t driver, const char *path) {
    static bool is_done[DRIVERS];
    static uint32_t calls[DRIVERS];
    if (is_done[driver]) { return true; }
    // A module that is still being initialized may not be able to. It is tried again more and more rarely.
    if ((calls[driver] & (calls[driver] + 1)) != 0) {
        calls[driver]++;
        return false;
    }
    void *type, *value, *trace, *modules = python.PyImport_GetModuleDict();
    void *module = modules == NULL ? NULL : python.PyDict_GetItemString(modules, drivers[driver].module);
    if (module == NULL) { return false; }
    python.PyErr_Fetch(&type, &value, &trace);
    if (python.PyObject_HasAttrString(module, drivers[driver].open) != 0) {
        calls[driver]++;
        is_done[driver] = has_symbols(path) || load_into(module, drivers[driver].open);
    }
    python.PyErr_Restore(type, value, trace);
    return is_done[driver];
}

// MARK: - The moment

// The library of a driver that Python is opening.
typedef struct opening {
    size_t driver;
    uint32_t attempts;
    char path[];
} opening;

// The calls that wait for a module. The interpreter makes some of them between any two calls of Python functions, so there
// are many during an import.
#define ATTEMPTS 2000000

// The interpreter calls this in its main thread, soon after the library was opened.
static int try_driver(void *context) {
    opening *opening = context;
    bool is_over = load_into_driver(opening->driver, opening->path);
    if (is_over || --opening->attempts == 0 || python.Py_AddPendingCall(try_driver, opening) != 0) { free(opening); }
    return 0;
}

static void expect(size_t driver, const char *path) {
    opening *opening = has_python() ? malloc(sizeof *opening + strlen(path) + 1) : NULL;
    if (opening == NULL) { return; }
    opening->driver = driver;
    opening->attempts = ATTEMPTS;
    strcpy(opening->path, path);
    if (python.Py_AddPendingCall(try_driver, opening) != 0) { free(opening); }
}

// Set when the program begins, before it has threads.
static bool is_watching;

void preload_expect_driver(const char *path) {
    if (!is_watching) { return; }
    int saved = errno;
    for (size_t driver = 0; path != NULL && driver < DRIVERS; driver++) {
        if (strstr(path, drivers[driver].library) == NULL) { continue; }
        expect(driver, path);
        break;
    }
    errno = saved;
}

// An interpreter with SQLite built in imports its module without opening a library.
static int observe_audit(const char *event, void *arguments, void *context) {
    (void)arguments, (void)context;
    if (strcmp(event, "sqlite3.connect") == 0 && has_python()) { load_into_driver(BUILT_IN, NULL); }
    return 0;
}

void preload_watch_drivers(void) {
    is_watching = true;
    struct built_in { const char *name; void *(*initialize)(void); };
    struct built_in **table = dlsym(RTLD_DEFAULT, "PyImport_Inittab");
    int (*add_hook)(int (*)(const char *, void *, void *), void *) =
        (int (*)(int (*)(const char *, void *, void *), void *))dlsym(RTLD_DEFAULT, "PySys_AddAuditHook");
    // SQLite in a shared library is recorded by its symbols.
    if (table == NULL || *table == NULL || add_hook == NULL || dlsym(RTLD_NEXT, "sqlite3_step") != NULL) { return; }
    for (const struct built_in *module = *table; module->name != NULL; module++) {
        if (strcmp(module->name, "_sqlite3") == 0) { add_hook(observe_audit, NULL); }
    }
}
