#define _GNU_SOURCE
#include "python_objects.h"

#include <dlfcn.h>
#include <string.h>

// MARK: - Functions and types

// Python's functions that are called (https://docs.python.org/3/c-api).
#define PYTHON_FUNCTIONS(X) \
    X(void *, PyCell_Get, (void *)) \
    X(void *, PyCFunction_GetSelf, (void *)) \
    X(void *, PyDict_GetItemString, (void *, const char *)) \
    X(void, PyErr_Clear, (void)) \
    X(void, PyErr_Fetch, (void **, void **, void **)) \
    X(void, PyErr_Restore, (void *, void *, void *)) \
    X(void *, PyFrame_GetBack, (void *)) \
    X(void *, PyFunction_GetClosure, (void *)) \
    X(int, PyGC_Disable, (void)) \
    X(int, PyGC_Enable, (void)) \
    X(void *, PyImport_GetModuleDict, (void)) \
    X(void *, PyMethod_Self, (void *)) \
    X(void *, PyObject_GetAttrString, (void *, const char *)) \
    X(void *, PySequence_GetItem, (void *, intptr_t)) \
    X(intptr_t, PySequence_Size, (void *)) \
    X(const char *, PyUnicode_AsUTF8, (void *)) \
    X(void *, PyWeakref_GetObject, (void *)) \
    X(void *, PyWeakref_NewRef, (void *, void *)) \
    X(void, Py_DecRef, (void *)) \
    X(void, Py_IncRef, (void *))

#define PYTHON_TYPES(X) \
    X(PyAsyncGen_Type, ASYNC_GENERATOR) X(PyCFunction_Type, BUILTIN) X(PyCoro_Type, COROUTINE) \
    X(PyFunction_Type, FUNCTION) X(PyGen_Type, GENERATOR) X(PyList_Type, LIST) X(PyMethod_Type, METHOD) X(PyTuple_Type, TUPLE)

static struct {
#define X(result, name, parameters) result (*name) parameters;
    PYTHON_FUNCTIONS(X)
#undef X
#define X(name, kind) const void *name;
    PYTHON_TYPES(X)
#undef X
    const void *PyCell_Type, *PyFrame_Type, *PyObject_GenericGetAttr;
    const char *(*current_thread)(void);
    _Atomic bool is_complete;
} python;

void preload_find_python_functions(void) {
    bool is_complete = true;
#define FIND(name, type) \
    python.name = (type)dlsym(RTLD_DEFAULT, #name); \
    is_complete = is_complete && python.name != NULL;
#define X(result, name, parameters) FIND(name, result(*) parameters)
    PYTHON_FUNCTIONS(X)
#undef X
#define X(name, kind) FIND(name, const void *)
    PYTHON_TYPES(X)
    X(PyCell_Type, OTHER) X(PyFrame_Type, OTHER) X(PyObject_GenericGetAttr, OTHER)
#undef X
    python.current_thread = (const char *(*)(void))dlsym(RTLD_DEFAULT, "_PyThreadState_UncheckedGet");
    if (python.current_thread == NULL) {
        python.current_thread = (const char *(*)(void))dlsym(RTLD_DEFAULT, "PyThreadState_GetUnchecked");
    }
    is_complete = is_complete && python.current_thread != NULL && preload_python.layout.variables != 0;
    atomic_store_explicit(&python.is_complete, is_complete, memory_order_release);
}

bool preload_begin_following(following *saved) {
    if (!atomic_load_explicit(&python.is_complete, memory_order_acquire)) { return false; }
    // PyGILState_Check says yes to any thread as soon as there is a subinterpreter.
    const char *thread = python.current_thread();
    if (thread == NULL || thread != preload_python.thread_state()) { return false; }
    python.PyErr_Fetch(&saved->type, &saved->value, &saved->trace);
    saved->collects = python.PyGC_Disable();
    return true;
}

void preload_end_following(following saved) {
    if (saved.collects) { python.PyGC_Enable(); }
    python.PyErr_Restore(saved.type, saved.value, saved.trace);
}

// MARK: - Kinds of objects

// In an object: its type, and what a built-in awaitable wraps; in a type: its name, its getter, its flags and its base (object.h
// and genobject.h of 3.11-3.13).
enum { TYPE = 8, WRAPPED = 16, TYPE_NAME = 24, TYPE_GETTER = 144, TYPE_FLAGS = 168, TYPE_BASE = 256 };
enum { OF_HEAP = 1 << 9 };

static const void *pointer_at(const void *structure, size_t offset) {
    return *(const void *const *)((const char *)structure + offset);
}

static const void *type_of(const void *object) { return pointer_at(object, TYPE); }

// Whether a type is one that was written in C, of this name.
static bool is_built_in(const void *type, const char *name) {
    unsigned long flags = *(const unsigned long *)((const char *)type + TYPE_FLAGS);
    return (flags & OF_HEAP) == 0 && strcmp(pointer_at(type, TYPE_NAME), name) == 0;
}

// The classes of asyncio and concurrent.futures, as far as the program has loaded them, by their modules.
static struct {
    const char *module, *name;
    object_kind kind;
    const void *_Atomic type;
} classes[] = {
    {"_asyncio", "Future", FUTURE, NULL}, {"_asyncio", "Task", TASK, NULL}, {"asyncio.futures", "_PyFuture", FUTURE, NULL},
    {"asyncio.tasks", "_PyTask", TASK, NULL}, {"concurrent.futures._base", "Future", FUTURE, NULL},
};
#define CLASSES (sizeof classes / sizeof *classes)

static const void *class_at(size_t index) {
    const void *known = atomic_load_explicit(&classes[index].type, memory_order_relaxed);
    if (known != NULL) { return known; }
    void *modules = python.PyImport_GetModuleDict();
    void *module = modules == NULL ? NULL : python.PyDict_GetItemString(modules, classes[index].module);
    // A program can put an object of its own in a module's place. The reference is kept.
    bool is_module = module != NULL && is_built_in(type_of(module), "module");
    known = is_module ? preload_attribute(module, classes[index].name) : NULL;
    atomic_store_explicit(&classes[index].type, known, memory_order_relaxed);
    return known;
}

// Whether an object is a greenlet, also of a class derived from it that leaves its attributes as they are.
static bool is_greenlet(const void *type) {
    if (pointer_at(type, TYPE_GETTER) != python.PyObject_GenericGetAttr) { return false; }
    for (const void *base = type; base != NULL; base = pointer_at(base, TYPE_BASE)) {
        if (is_built_in(base, "greenlet.greenlet")) { return true; }
    }
    return false;
}

static const char *const wrappers[] = {"coroutine_wrapper", "async_generator_asend", "async_generator_athrow", "anext_awaitable"};

object_kind preload_kind_of(void *object) {
    const void *type = type_of(object);
#define X(name, kind) \
    if (type == python.name) { return kind; }
    PYTHON_TYPES(X)
#undef X
    for (size_t index = 0; index < CLASSES; index++) {
        if (type == class_at(index)) { return classes[index].kind; }
    }
    for (size_t index = 0; index < sizeof wrappers / sizeof *wrappers; index++) {
        if (is_built_in(type, wrappers[index])) { return WRAPPER; }
    }
    return is_greenlet(type) ? GREENLET : OTHER;
}

// MARK: - References

void *preload_attribute(void *object, const char *name) {
    void *value = python.PyObject_GetAttrString(object, name);
    if (value == NULL) { python.PyErr_Clear(); }
    return value;
}

void *preload_item(void *sequence, intptr_t index) {
    void *value = python.PySequence_GetItem(sequence, index);
    if (value == NULL) { python.PyErr_Clear(); }
    return value;
}

void preload_let_go(void *object) {
    if (object != NULL) { python.Py_DecRef(object); }
}

void *preload_new_reference(void *object) {
    if (object != NULL) { python.Py_IncRef(object); }
    return object;
}

void *preload_wrapped(void *wrapper) { return preload_new_reference((void *)(uintptr_t)pointer_at(wrapper, WRAPPED)); }

void *preload_weak_reference(void *object) {
    void *reference = python.PyWeakref_NewRef(object, NULL);
    if (reference == NULL) { python.PyErr_Clear(); }
    return reference;
}

void *preload_referent(void *reference) { return python.PyWeakref_GetObject(reference); }

// The reference to nothing is None, which is no coroutine.
bool preload_is_alive(void *reference) { return type_of(preload_referent(reference)) == python.PyCoro_Type; }

void *preload_outer_frame(void *frame) { return python.PyFrame_GetBack(frame); }

void *preload_value_of_cell(void *cell) {
    void *value = type_of(cell) == python.PyCell_Type ? python.PyCell_Get(cell) : NULL;
    if (value == NULL) { python.PyErr_Clear(); }
    return value;
}

void *preload_self_of(void *method, object_kind kind) {
    return kind == METHOD ? python.PyMethod_Self(method) : kind == BUILTIN ? python.PyCFunction_GetSelf(method) : NULL;
}

void *preload_closure_of(void *function) { return python.PyFunction_GetClosure(function); }

// A future's callbacks, and the variables of functions around them, are few.
#define MOST_ITEMS 8

intptr_t preload_count_of(void *sequence) {
    object_kind kind = sequence == NULL ? OTHER : preload_kind_of(sequence);
    if (kind != LIST && kind != TUPLE) { return 0; }
    intptr_t count = python.PySequence_Size(sequence);
    return count < MOST_ITEMS ? count : MOST_ITEMS;
}

// MARK: - Frames

// The places of the frame and its state in a coroutine or a generator (genobject.h), and of the frame in a frame object.
enum { FRAME_OF_OBJECT = 24 };
static size_t frame_place(void) { return preload_python.layout.minor == 11 ? 80 : 72; }
static size_t state_place(void) { return frame_place() - 5; }

const char *preload_frame_of(const void *generator) {
    // A positive state says that it has ended (_framestate in pycore_frame.h).
    if (*((const signed char *)generator + state_place()) > 0) { return NULL; }
    const char *frame = (const char *)generator + frame_place();
    const char *code = pointer_at(frame, preload_python.layout.code);
    return code != NULL && type_of(preload_code(code)) == preload_python.code_type ? frame : NULL;
}

const char *preload_frame_of_object(const void *object) {
    return object != NULL && type_of(object) == python.PyFrame_Type ? pointer_at(object, FRAME_OF_OBJECT) : NULL;
}

void *preload_coroutine_of(const char *frame) {
    const char *object = frame - frame_place();
    return type_of(object) == python.PyCoro_Type ? (void *)(uintptr_t)object : NULL;
}

// The places of variables by their code and their name: one more than the place; 0 if it has none.
static preload_table known_variables;

int preload_find_variable(const char *code, const char *name) {
    uint64_t known, key = fl_mix(fl_mix((uintptr_t)code, preload_marks_of(code)), (uintptr_t)name);
    if (preload_look_up(&known_variables, key, &known)) { return (int)known - 1; }
    known = 0;
    void *names = preload_attribute((void *)(uintptr_t)code, "co_varnames");
    intptr_t count = names != NULL && preload_kind_of(names) == TUPLE ? python.PySequence_Size(names) : 0;
    for (intptr_t index = 0; known == 0 && index < count; index++) {
        void *variable = preload_item(names, index);
        const char *text = variable == NULL ? NULL : python.PyUnicode_AsUTF8(variable);
        if (text != NULL && strcmp(text, name) == 0) { known = (uint64_t)index + 1; }
        preload_let_go(variable);
    }
    preload_let_go(names);
    preload_keep(&known_variables, key, known);
    return (int)known - 1;
}
