// Programs with threads of all sizes, which end in all ways.

#include "guest.h"

#include <sys/mman.h>
#include <threads.h>
#include <time.h>

// MARK: - Stacks

static void *use_little_in_thread(void *unused) { return (void *)(intptr_t)use_little(); }

static pthread_t start(void *(*function)(void *), void *argument, size_t stack) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    if (stack != 0) { require(pthread_attr_setstacksize(&attributes, stack) == 0, "pthread_attr_setstacksize"); }
    int result = pthread_create(&thread, &attributes, function, argument);
    pthread_attr_destroy(&attributes);
    errno = result;
    require(result == 0, "pthread_create");
    return thread;
}

static int join(pthread_t thread) {
    void *result = NULL;
    require(pthread_join(thread, &result) == 0, "pthread_join");
    return result == PTHREAD_CANCELED ? -1 : (int)(intptr_t)result;
}

KIND(small_stacks) {
    for (int size = 16; size <= 128; size += 4) {
        printf("%d KiB: %d\n", size, join(start(use_little_in_thread, NULL, (size_t)size << 10)));
    }
    for (int size = 56; size <= 128; size += 24) {
        printf("%d KiB: ", size);
        join(start((void *(*)(void *))(uintptr_t)use, NULL, (size_t)size << 10));
    }
}

static const char depth_statements[] =
    "SELECT name, count(*) FROM depth WHERE id < ? OR name = ? GROUP BY name ORDER BY 2 DESC;"
    "SELECT a.name FROM depth a JOIN depth b ON a.name = b.name WHERE a.id > ? AND b.name <> ?;"
    "UPDATE depth SET name = name || ? WHERE name <> ?";

static void *use_deeply(void *unused) {
    sqlite3 *store = NULL;
    sqlite3_blob *blob = NULL;
    char bytes[4];
    char path[256];
    strcat(strcpy(path, directory), "/depth.sqlite");
    sqlite3_open(path, &store);
    sqlite3_exec(store, "CREATE TABLE depth(id INTEGER PRIMARY KEY, name TEXT, body BLOB)", NULL, NULL, NULL);
    sqlite3_exec(store, "INSERT INTO depth VALUES (1, 'a', x'01020304'), (2, 'b', x'05')", NULL, NULL, NULL);
    for (const char *rest = depth_statements; *rest != 0;) {
        sqlite3_stmt *statement = NULL;
        if (sqlite3_prepare_v2(store, rest, -1, &statement, &rest) != SQLITE_OK) { abort(); }
        sqlite3_bind_int(statement, 1, 3);
        sqlite3_bind_text(statement, 2, "name", -1, SQLITE_STATIC);
        while (sqlite3_step(statement) == SQLITE_ROW) { sqlite3_column_text(statement, 0); }
        sqlite3_finalize(statement);
    }
    sqlite3_blob_open(store, "main", "depth", "body", 1, 0, &blob);
    sqlite3_blob_read(blob, bytes, 4, 0);
    sqlite3_blob_close(blob);
    sqlite3_close(store);
    return NULL;
}

// How many bytes of a small stack the use of SQLite takes.
KIND(stack_depth) {
    enum { BYTES = 48 << 10 };
    unsigned char *stack =
        mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    memset(stack, 0xA5, BYTES);
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, BYTES);
    require(pthread_create(&thread, &attributes, use_deeply, NULL) == 0, "pthread_create");
    join(thread);
    size_t unused = 0;
    while (unused < BYTES && stack[unused] == 0xA5) { unused++; }
    printf("%zu\n", BYTES - unused);
}

// MARK: - Many threads

static sqlite3 *shared;
static _Atomic int runs;

static void *run_shared(void *unused) {
    sqlite3_stmt *statement = prepare(shared, "SELECT name FROM note WHERE id = 3");
    runs += sqlite3_step(statement) == SQLITE_ROW;
    sqlite3_finalize(statement);
    return NULL;
}

KIND(thread_churn) {
    shared = open_notes(10);
    for (int index = 0; index < 1000; index++) { join(start(run_shared, NULL, 0)); }
    printf("%d runs\n", runs);
}

static pthread_barrier_t barrier;
static void *run_at_once(void *unused) {
    pthread_barrier_wait(&barrier);
    runs += use_little();
    pthread_barrier_wait(&barrier);
    runs += 1000 * use_little();
    return NULL;
}

KIND(many_threads) {
    enum { COUNT = 300 };
    static pthread_t threads[COUNT];
    pthread_barrier_init(&barrier, NULL, COUNT);
    for (int index = 0; index < COUNT; index++) { threads[index] = start(run_at_once, NULL, index % 2 == 0
        ? 0 : 32 << 10); }
    for (int index = 0; index < COUNT; index++) { join(threads[index]); }
    printf("%d runs\n", runs);
}

static int run_in_c_thread(void *unused) { return 40 + use_little(); }

KIND(threads_of_c) {
    thrd_t thread;
    int result = 0;
    thrd_create(&thread, run_in_c_thread, NULL);
    thrd_join(thread, &result);
    printf("%d\n", result);
}

static void *step_on(void *statement) { return (void *)(intptr_t)sqlite3_step(statement); }
static void *finalize(void *statement) { return (void *)(intptr_t)sqlite3_finalize(statement); }
static void *close_store(void *store) { return (void *)(intptr_t)sqlite3_close(store); }

KIND(statements_of_other_threads) {
    sqlite3 *store = open_notes(10);
    sqlite3_stmt *rows = prepare(store, "SELECT id FROM note");
    sqlite3_stmt *insert = prepare(store, "INSERT INTO note VALUES (NULL, 'z') RETURNING id");
    for (int index = 0; index < 12; index++) { printf("%d ", join(start(step_on, rows, 0))); }
    printf("%d ", join(start(step_on, insert, 32 << 10)));
    printf("%d ", sqlite3_column_int(insert, 0));
    printf("%d ", join(start(finalize, rows, 0)));
    printf("%d ", join(start(finalize, insert, 16 << 10)));
    printf("%d\n", join(start(close_store, store, 0)));
}

// MARK: - Ends of threads

static int leave_row(void *unused, int count, char **values, char **names) { pthread_exit((void *)(intptr_t)7); }
static void leave_function(sqlite3_context *context, int count, sqlite3_value **values) {
    pthread_exit((void *)(intptr_t)8); }
static int leave_progress(void *unused) { pthread_exit((void *)(intptr_t)9); }

static void *leave_thread(void *way) {
    sqlite3 *store = open_notes(10);
    sqlite3_create_function(store, "leave", 0, SQLITE_UTF8, NULL, leave_function, NULL, NULL);
    if (way == (void *)2) { sqlite3_progress_handler(store, 5, leave_progress, NULL); }
    sqlite3_exec(store, way == (void *)1 ? "SELECT leave() FROM note" : "SELECT * FROM note", leave_row, NULL, NULL);
    return NULL;
}

KIND(threads_left_in_callbacks) {
    for (intptr_t way = 0; way < 9; way++) { printf("%d ", join(start(leave_thread, (void *)(way % 3), way < 3
        ? 0 : 64 << 10))); }
    puts("");
    use();
}

static pthread_key_t key;
static void use_in_destructor(void *rounds) {
    runs += use_little();
    intptr_t left = (intptr_t)rounds - 1;
    if (left > 0) { pthread_setspecific(key, (void *)left); }
}
static void *use_with_destructor(void *is_used) {
    pthread_setspecific(key, (void *)4);
    if (is_used != NULL) { runs += 100 * use_little(); }
    return NULL;
}

KIND(destructors_of_threads) {
    pthread_key_create(&key, use_in_destructor);
    for (int index = 0; index < 20; index++) {
        join(start(use_with_destructor, index % 2 == 0 ? NULL : &key, index % 4 < 2 ? 0 : 20 << 10));
    }
    printf("%d runs\n", runs);
}

static void *use_for_ever(void *ready) {
    for (bool is_first = true;; is_first = false) {
        use_little();
        if (is_first) { runs++; }
    }
    return NULL;
}

static void start_for_ever(int count) {
    for (int index = 0; index < count; index++) { pthread_detach(start(use_for_ever, NULL, index % 2 == 0
        ? 0 : 24 << 10)); }
    while (runs < count) { sched_yield(); }
}

KIND(detached_threads_at_end) {
    start_for_ever(8);
    exit(3);
}
KIND(detached_threads_at_signal) {
    start_for_ever(8);
    abort();
}
KIND(detached_threads_at_exec) {
    start_for_ever(8);
    execl(own_path, own_path, "uses", directory, (char *)NULL);
}

static void *exit_here(void *unused) {
    use_little();
    exit(6);
}
static void use_at_end(void) { printf("at the end: %d\n", use_little()); }

KIND(exit_on_small_stack) {
    atexit(use_at_end);
    join(start(exit_here, NULL, 16 << 10));
}
KIND(exit_while_others_run) {
    atexit(use_at_end);
    start_for_ever(4);
    join(start(exit_here, NULL, 0));
}

// MARK: - Cancelled threads

static void *run_until_cancelled(void *unused) {
    sqlite3 *store = open_memory();
    while (sqlite3_exec(store, "SELECT 1", NULL, NULL, NULL) == SQLITE_OK) { pthread_testcancel(); }
    return NULL;
}

static void pause_briefly(long microseconds) {
    struct timespec time = {.tv_nsec = microseconds * 1000};
    nanosleep(&time, NULL);
}

KIND(cancelled_threads) {
    // Beginning to use SQLite can be cancelled in the middle, which stops a program alone, too.
    use_little();
    sqlite3 *store = open_notes(10);
    int cancelled = 0;
    for (int index = 0; index < 50; index++) {
        pthread_t thread = start(run_until_cancelled, NULL, index % 2 == 0 ? 0 : 32 << 10);
        pause_briefly(index * 40);
        char sql[64];
        snprintf(sql, sizeof sql, "SELECT count(*) FROM note WHERE id <> 1 + %d AS c%d", index, index);
        (void)sqlite3_exec(store, sql, NULL, NULL, NULL);
        pthread_cancel(thread);
        cancelled += join(thread) == -1;
    }
    printf("%d cancelled\n", cancelled);
    use();
}

static void roll_back(void *store) {
    execute(store, "ROLLBACK");
    runs += sqlite3_close(store) == SQLITE_OK;
}

static void *write_until_cancelled(void *ready) {
    sqlite3 *store = open_store("cancelled.sqlite");
    pthread_cleanup_push(roll_back, store);
    execute(store, "BEGIN IMMEDIATE; INSERT INTO t VALUES (1)");
    *(_Atomic bool *)ready = true;
    for (;;) {
        sqlite3_exec(store, "SELECT count(*) FROM t", NULL, NULL, NULL);
        pause_briefly(100);
    }
    pthread_cleanup_pop(0);
    return NULL;
}

KIND(cancelled_in_transaction) {
    sqlite3 *store = open_store("cancelled.sqlite");
    execute(store, "CREATE TABLE t(a)");
    for (int index = 0; index < 10; index++) {
        _Atomic bool ready = false;
        pthread_t thread = start(write_until_cancelled, &ready, 0);
        while (!ready) { sched_yield(); }
        if (index == 0) { print_state(store, "locked", sqlite3_exec(store, "INSERT INTO t VALUES (2)", NULL, NULL, NULL)); }
        pthread_cancel(thread);
        join(thread);
        execute(store, "INSERT INTO t VALUES (3)");
    }
    printf("%lld rows, %d closed\n", (long long)number(store, "SELECT count(*) FROM t WHERE a = 3"), runs);
}

static void *wait_until_cancelled(void *ready) {
    sqlite3 *store = open_store("busy.sqlite");
    sqlite3_busy_timeout(store, 60000);
    sqlite3_exec(store, "SELECT 1", NULL, NULL, NULL);
    *(_Atomic bool *)ready = true;
    sqlite3_exec(store, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    return NULL;
}

KIND(cancelled_while_busy) {
    sqlite3 *store = open_store("busy.sqlite");
    execute(store, "CREATE TABLE t(a); BEGIN IMMEDIATE");
    for (int index = 0; index < 5; index++) {
        _Atomic bool ready = false;
        pthread_t thread = start(wait_until_cancelled, &ready, index % 2 == 0 ? 0 : 32 << 10);
        while (!ready) { sched_yield(); }
        pause_briefly(3000);
        pthread_cancel(thread);
        printf("%d ", join(thread));
        execute(store, "INSERT INTO t VALUES (1)");
    }
    printf("%lld rows\n", (long long)number(store, "SELECT count(*) FROM t"));
    use();
}

static void *print_cancellation(void *unused) {
    int state = -1, type = -1;
    use_little();
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
    printf("state %d, type %d\n", state, type);
    use();
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
    printf("state %d, type %d\n", state, type);
    // It is cancelled here, and not before, because nothing else is a cancellation point.
    pthread_cancel(pthread_self());
    volatile int turns = 0;
    while (turns < 1000) { turns++; }
    printf("%d turns\n", turns);
    pthread_testcancel();
    puts("never");
    return NULL;
}

KIND(cancellation_kept) {
    printf("%d\n", join(start(print_cancellation, NULL, 0)));
    printf("%d\n", join(start(print_cancellation, NULL, 128 << 10)));
}

static void *compute_for_ever(void *ready) {
    use_little();
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    *(_Atomic bool *)ready = true;
    for (volatile unsigned turn = 1; turn != 0; turn += 2) {}
    return NULL;
}

KIND(cancelled_at_once) {
    int cancelled = 0;
    for (int index = 0; index < 60; index++) {
        _Atomic bool ready = false;
        pthread_t thread = start(compute_for_ever, &ready, 0);
        while (!ready) { sched_yield(); }
        pause_briefly(index * 16);
        pthread_cancel(thread);
        cancelled += join(thread) == -1;
    }
    printf("%d cancelled\n", cancelled);
    use();
}
