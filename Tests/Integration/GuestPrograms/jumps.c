// Programs that leave functions by jumps, and switch between stacks.

#include "guest.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

// MARK: - Jumps

static sigjmp_buf place;
static void leave(int number) { siglongjmp(place, number); }

static void raise_in_function(sqlite3_context *context, int count, sqlite3_value **values) { raise(SIGUSR1); }
static void jump_in_function(sqlite3_context *context, int count, sqlite3_value **values) { siglongjmp(place, 1); }
static int jump_from_row(void *unused, int count, char **values, char **names) { siglongjmp(place, 2); }
static int jump_from_progress(void *unused) { siglongjmp(place, 3); }
static int jump_from_trace(unsigned event, void *context, void *statement, void *text) { siglongjmp(place, 4); }
static int jump_from_order(void *context, int left, const void *one, int right, const void *other) { siglongjmp(place, 5); }
static int jump_from_busy(void *unused, int times) { siglongjmp(place, 6); }

KIND(jump_from_handler) {
    sqlite3 *store = open_notes(10);
    sqlite3_create_function(store, "leave", 0, SQLITE_UTF8, NULL, raise_in_function, NULL, NULL);
    signal(SIGUSR1, leave);
    for (int round = 0; round < 20; round++) {
        if (sigsetjmp(place, 1) == 0) { execute(store, "SELECT leave() FROM note"); }
    }
    printf("%lld notes\n", (long long)number(store, "SELECT count(*) FROM note"));
    signal(SIGALRM, leave);
    volatile unsigned turns = 0;
    for (volatile int round = 0; round < 20; round++) {
        use_little();
        if (sigsetjmp(place, 1) == 0) {
            setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = 500}, NULL);
            for (;;) { turns++; }
        }
    }
    use();
}

// Leaves SQLite's calls in the middle, each with a connection that is not used again. Another one goes on.
KIND(jump_from_callbacks) {
    sqlite3 *other = open_notes(10), *locked = open_store("locked.sqlite");
    execute(locked, "CREATE TABLE t(a); BEGIN EXCLUSIVE");
    for (volatile int way = 0; way < 24; way++) {
        sqlite3 *store = way % 6 == 5 ? open_store("locked.sqlite") : open_notes(10);
        sqlite3_create_function(store, "leave", 0, SQLITE_UTF8, NULL, jump_in_function, NULL, NULL);
        sqlite3_create_collation(store, "leaving", SQLITE_UTF8, NULL, jump_from_order);
        if (way % 6 == 2) { sqlite3_progress_handler(store, 3, jump_from_progress, NULL); }
        if (way % 6 == 3) { sqlite3_trace_v2(store, SQLITE_TRACE_STMT, jump_from_trace, NULL); }
        sqlite3_busy_handler(store, jump_from_busy, NULL);
        int from = sigsetjmp(place, 1);
        if (from == 0) {
            switch (way % 6) {
            case 0: execute(store, "SELECT name FROM note WHERE id = leave()"); break;
            case 1: sqlite3_exec(store, "SELECT name FROM note", jump_from_row, NULL, NULL); break;
            case 4: print_rows(store, "SELECT name FROM note ORDER BY name COLLATE leaving"); break;
            default: print_rows(store, "SELECT count(*) FROM sqlite_schema a, sqlite_schema b, sqlite_schema c"); break;
            }
        }
        printf("%d from %d: %lld notes\n", way % 6, from, (long long)number(other,
            "SELECT count(*) FROM note WHERE id > 3"));
    }
    use();
}

// MARK: - Coroutines

static ucontext_t outside, *coroutine;
static int done;

static void run_coroutine(void) {
    for (int round = 0; round < 3; round++) {
        done += use_little();
        swapcontext(coroutine, &outside);
    }
}

static void use_in_coroutine(size_t size) {
    char *stack = mmap(NULL, 65536 + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(stack, 65536, PROT_NONE);
    static ucontext_t context;
    coroutine = &context;
    getcontext(coroutine);
    coroutine->uc_stack = (stack_t){.ss_sp = stack + 65536, .ss_size = size};
    coroutine->uc_link = &outside;
    makecontext(coroutine, run_coroutine, 0);
    done = 0;
    for (int round = 0; round < 4; round++) {
        swapcontext(&outside, coroutine);
        done += 10 * use_little();
    }
    printf("%zu: %d\n", size, done);
    munmap(stack, 65536 + size);
}

static void *use_coroutines(void *unused) {
    for (size_t size = 16 << 10; size <= 64 << 10; size *= 2) { use_in_coroutine(size); }
    return NULL;
}

KIND(coroutines) {
    use_coroutines(NULL);
    pthread_t thread;
    pthread_create(&thread, NULL, use_coroutines, NULL);
    pthread_join(thread, NULL);
}

static sqlite3 *shared;
static int steps;

// Steps through its own statement, and lets the others go on after each row.
static void step_in_turns(void) {
    sqlite3_stmt *rows = prepare(shared, "SELECT id FROM note");
    while (sqlite3_step(rows) == SQLITE_ROW) {
        steps += sqlite3_column_int(rows, 0);
        swapcontext(coroutine, &outside);
    }
    sqlite3_finalize(rows);
}

static void yield_in_function(sqlite3_context *context, int count, sqlite3_value **values) {
    swapcontext(coroutine, &outside);
    sqlite3_result_int(context, 1);
}

static void step_with_function(void) {
    sqlite3 *store = open_notes(5);
    sqlite3_create_function(store, "pause", 0, SQLITE_UTF8, NULL, yield_in_function, NULL, NULL);
    print_rows(store, "SELECT sum(pause()) FROM note");
    sqlite3_close(store);
}

// Coroutines that leave SQLite in the middle of a step, and come back.
KIND(coroutines_in_turns) {
    enum { COUNT = 4 };
    static ucontext_t contexts[COUNT];
    static char stacks[COUNT][64 << 10];
    shared = open_notes(10);
    for (int index = 0; index < COUNT; index++) {
        getcontext(&contexts[index]);
        contexts[index].uc_stack = (stack_t){.ss_sp = stacks[index], .ss_size = sizeof stacks[index]};
        contexts[index].uc_link = &outside;
        makecontext(&contexts[index], index % 2 == 0 ? step_in_turns : step_with_function, 0);
    }
    for (int round = 0; round < 6; round++) {
        for (int index = 0; index < COUNT; index++) {
            coroutine = &contexts[index];
            swapcontext(&outside, coroutine);
            use_little();
        }
    }
    printf("%d steps\n", steps);
}
