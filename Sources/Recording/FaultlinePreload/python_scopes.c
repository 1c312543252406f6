#include "python.h"

#include <stdlib.h>
#include <string.h>

// Requests, tests and jobs, as scopes: one call of a function with which a framework begins each. They last from their first
// statement to their last, since nothing else is seen of them.

// MARK: - Frameworks

typedef struct entry {
    known_function begins;  // once for each request, test or job
    known_function calls;   // the program's code for it
    const char *kind;
    const char *name;  // while no code of the program has run for it
    bool is_server;    // it calls a framework, whose own entry knows the code for the request, and middleware of the program
} entry;

// Functions that themselves call the program's code.
#define ENTRY(file, name, kind, noun, is_server) {{file, name}, {file, name}, kind, noun, is_server}
#define SERVER(file, name) ENTRY(file, name, "request", "request", true)
#define REQUEST(file, name) ENTRY(file, name, "request", "request", false)

static const entry entries[] = {
    // Servers.
    SERVER("/wsgiref/handlers.py", "BaseHandler.run"),
    SERVER("/werkzeug/serving.py", "WSGIRequestHandler.run_wsgi"),
    SERVER("/gunicorn/workers/sync.py", "SyncWorker.handle_request"),
    SERVER("/gunicorn/workers/gthread.py", "ThreadWorker.handle_request"),
    SERVER("/waitress/task.py", "WSGITask.execute"),
    SERVER("/uvicorn/protocols/http/h11_impl.py", "RequestResponseCycle.run_asgi"),
    SERVER("/uvicorn/protocols/http/httptools_impl.py", "RequestResponseCycle.run_asgi"),
    // Frameworks.
    {{"/django/core/handlers/base.py", "BaseHandler.get_response"},
     {"/django/core/handlers/base.py", "BaseHandler._get_response"}, "request", "request", false},
    {{"/django/core/handlers/base.py", "BaseHandler.get_response_async"},
     {"/django/core/handlers/base.py", "BaseHandler._get_response_async"}, "request", "request", false},
    {{"/flask/app.py", "Flask.wsgi_app"}, {"/flask/app.py", "Flask.dispatch_request"}, "request", "request", false},
    REQUEST("/starlette/routing.py", "Route.handle"),
    REQUEST("/fastapi/routing.py", "APIRoute.handle"),
    SERVER("/aiohttp/web_app.py", "Application._handle"),
    // An endpoint that is not a coroutine, on a thread of its own.
    REQUEST("/fastapi/telemetry/_api.py", "_run_sync_endpoint"),
    {{"/_pytest/runner.py", "pytest_runtest_protocol"}, {"/_pytest/python.py", "pytest_pyfunc_call"}, "test", "test", false},
    {{"/unittest/case.py", "TestCase.run"}, {"/unittest/case.py", "TestCase._callTestMethod"}, "test", "test", false},
    ENTRY("/django/core/management/base.py", "BaseCommand.execute", "other", "command", false),
    ENTRY("/celery/app/trace.py", "trace_task", "other", "task", false),
    ENTRY("/huey/api.py", "Huey._execute", "other", "task", false),
};
#define ENTRIES (sizeof entries / sizeof *entries)

static uint32_t kind_of(const entry *entry) {
    return (uint32_t)fl_enumeration_value(FL_ENUMERATION_SCOPE_KIND, entry->kind, strlen(entry->kind));
}

// Files that are none of the program's.
static const char *const libraries[] = {"/site-packages/", "/dist-packages/", "/lib/python3", "/lib64/python3"};

// MARK: - Stacks

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), size = strlen(end);
    return length >= size && strcmp(text + length - size, end) == 0;
}

bool preload_is_known_function(const function_text *function, const known_function *known) {
    size_t length = strlen(function->name), size = strlen(known->name);
    // A qualified name begins with the functions and classes around it.
    bool is_whole = length == size || (length > size && function->name[length - size - 1] == '.');
    return is_whole && ends_with(function->name, known->name) && ends_with(function->file, known->file);
}

bool preload_is_of_program(const function_text *function) {
    if (function->file[0] == '<') { return false; }
    for (size_t index = 0; index < sizeof libraries / sizeof *libraries; index++) {
        if (strstr(function->file, libraries[index]) != NULL) { return false; }
    }
    return true;
}

static uint32_t intern_name(fl_recorder *recorder, const char *name) {
    char json[2 * (FILE_BYTES + NAME_BYTES) + 64];
    size_t length = strlen(name), used = preload_write_object(json, sizeof json, "{\"name\":", name, length);
    return fl_intern(recorder, FL_DICTIONARY_NAME, json, used, name, length < 255 ? length : 255);
}

// The name of a function with its module: `views.list_books`.
static uint32_t name_function(fl_recorder *recorder, const function_text *function) {
    const char *file = strrchr(function->file, '/');
    file = file == NULL ? function->file : file + 1;
    size_t module = ends_with(file, ".py") ? strlen(file) - 3 : strlen(file);
    char name[FILE_BYTES + NAME_BYTES + 2];
    memcpy(name, file, module);
    name[module] = '.';
    strcpy(name + module + 1, function->name);
    return intern_name(recorder, name);
}

// The name of the program's code for a scope that begins at a frame, counted from the innermost one; 0 if there is none yet.
// `is_final` is set unless a decorator of the program stands around it, which may have called something else.
static uint32_t find_name(
    fl_recorder *recorder, const walked_frame *frames, uint32_t begin, const known_function *calls, bool *is_final
) {
    function_text function;
    bool is_called = false;
    *is_final = true;
    for (uint32_t index = begin + 1; index-- > 0;) {
        preload_read_function(frames[index].frame, function.file, function.name);
        if (is_called && preload_is_of_program(&function)) {
            if (strstr(function.name, "<locals>") == NULL) { return name_function(recorder, &function); }
            *is_final = false;
        }
        is_called = is_called || preload_is_known_function(&function, calls);
    }
    *is_final = false;
    return 0;
}

static const entry *find_entry(const walked_frame *walked) {
    function_text function;
    preload_read_function(walked->frame, function.file, function.name);
    for (size_t known = 0; known < ENTRIES; known++) {
        if (preload_is_known_function(&function, &entries[known].begins)) { return &entries[known]; }
    }
    return NULL;
}

// Scopes that were found, by a hash of them.
static preload_table known_scopes;
#define MOST_SCOPES 4096

static const preload_scopes *keep_scopes(const preload_scopes *found) {
    static _Atomic uint32_t count;
    uint64_t known, key = fl_mix_bytes(preload_generation(), found, sizeof *found);
    if (preload_look_up(&known_scopes, key, &known)) { return (const preload_scopes *)(uintptr_t)known; }
    if (atomic_fetch_add(&count, 1) >= MOST_SCOPES) { return NULL; }
    preload_scopes *kept = malloc(sizeof *kept);
    if (kept == NULL) { return NULL; }
    *kept = *found;
    preload_keep(&known_scopes, key, (uintptr_t)kept);
    return kept;
}

const preload_scopes *preload_find_scopes(fl_recorder *recorder, const walked_frame *frames, uint32_t count) {
    preload_scopes found;
    const entry *last = NULL;
    memset(&found, 0, sizeof found);
    for (uint32_t index = count; index-- > 0 && found.count < SCOPES_MAXIMUM;) {
        const entry *entry = find_entry(&frames[index]);
        if (entry == NULL) { continue; }
        bool is_named;
        uint32_t name = find_name(recorder, frames, index, &entry->calls, &is_named);
        is_named = is_named && !entry->is_server;
        preload_scope *outer = found.count == 0 ? NULL : &found.scopes[found.count - 1];
        // A framework built on another one begins the same request again, and pytest the tests of unittest.
        bool is_again = outer != NULL && last != entry && outer->kind == kind_of(entry);
        if (is_again && name != 0 && !outer->is_named) {
            outer->name = name;
            outer->is_named = is_named;
        }
        last = entry;
        if (is_again) { continue; }
        preload_scope *scope = &found.scopes[found.count++];
        scope->place = count - 1 - index;
        scope->name = name != 0 ? name : intern_name(recorder, entry->name);
        scope->kind = kind_of(entry);
        scope->is_named = is_named;
    }
    return found.count == 0 ? NULL : keep_scopes(&found);
}

// MARK: - Threads

// The scopes that are open, the outermost one first.
FL_THREAD_LOCAL preload_open_scopes preload_open;
static FL_THREAD_LOCAL open_scope scopes[SCOPES_MAXIMUM];

static uint64_t innermost(void) { return preload_open.count == 0 ? 0 : scopes[preload_open.count - 1].id; }

static void enter_innermost(fl_recorder *recorder) {
    uint64_t id = preload_open.innermost = innermost();
    int32_t kind = preload_open.count == 0 ? 0 : (int32_t)scopes[preload_open.count - 1].scope.kind;
    fl_enter_scope(recorder, (fl_thread_scope){.id = id, .window = id, .window_kind = kind});
}

static void close_scopes(fl_recorder *recorder, uint32_t kept) {
    while (preload_open.count > kept) {
        const open_scope *ended = &scopes[--preload_open.count];
        const fl_scope fields = {.name = ended->scope.name, .kind = ended->scope.kind, .phase = 1};
        fl_record_scope(recorder, &fields, ended->id, innermost(), ended->start, preload_open.end);
    }
}

static void begin_scope(fl_recorder *recorder, uint32_t activation, preload_scope scope, uint64_t now) {
    const fl_scope fields = {.name = scope.name, .kind = scope.kind, .phase = 0};
    uint64_t id = fl_record_scope(recorder, &fields, 0, innermost(), now, now);
    scopes[preload_open.count++] = (open_scope){.id = id, .start = now, .activation = activation, .scope = scope};
}

void preload_follow_scopes(fl_recorder *recorder, const preload_scopes *wanted, const uint32_t *numbers) {
    if (preload_open.generation != preload_generation()) {
        preload_open = (preload_open_scopes){.generation = preload_generation()};
    }
    uint32_t count = wanted == NULL ? 0 : wanted->count, same = 0;
    for (; same < count && same < preload_open.count; same++) {
        open_scope *begun = &scopes[same];
        if (begun->activation != numbers[wanted->scopes[same].place]) { break; }
        // A scope is named by its end.
        if (!begun->scope.is_named) { begun->scope = wanted->scopes[same]; }
    }
    if (same == count && same == preload_open.count) { return; }
    close_scopes(recorder, same);
    uint64_t now = fl_now();
    for (; same < count; same++) {
        const preload_scope *scope = &wanted->scopes[same];
        begin_scope(recorder, numbers[scope->place], *scope, now);
    }
    enter_innermost(recorder);
}

void preload_exchange_scopes(fl_recorder *recorder, resting_scopes *left, const resting_scopes *entered) {
    left->open = preload_open;
    memcpy(left->scopes, scopes, preload_open.count * sizeof *scopes);
    preload_open = entered->open;
    if (preload_open.generation != preload_generation()) {
        preload_open = (preload_open_scopes){.generation = preload_generation()};
    }
    memcpy(scopes, entered->scopes, preload_open.count * sizeof *scopes);
    if (preload_open.count > 0 || left->open.count > 0) { enter_innermost(recorder); }
}

void preload_close_scopes(void) {
    // Asking for a recorder makes one, also in a process that has nothing to record.
    if (preload_open.count == 0 || preload_open.generation != preload_generation()) { return; }
    fl_recorder *recorder = preload_recorder();
    if (recorder == NULL) { return; }
    close_scopes(recorder, 0);
    enter_innermost(recorder);
}
