// Programs that handle signals.

#include "guest.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <time.h>

static _Atomic int caught;
static void count(int number) { caught++; }

static void handle(int number, void (*handler)(int), int flags) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    require(sigaction(number, &action, NULL) == 0, "sigaction");
}

static void start_timer(int which, long microseconds, bool repeats) {
    struct itimerval times = {.it_value.tv_usec = microseconds, .it_interval.tv_usec = repeats ? microseconds : 0};
    require(setitimer(which, &times, NULL) == 0, "setitimer");
}

// Works until as many signals were caught, and returns whether all results were right.
static bool work_until(sqlite3 *store, int signals) {
    bool is_right = true;
    sqlite3_stmt *sum = prepare(store, "SELECT sum(id) FROM note WHERE id > ?");
    while (caught < signals) {
        sqlite3_bind_int(sum, 1, 50);
        is_right = is_right && sqlite3_step(sum) == SQLITE_ROW && sqlite3_column_int(sum, 0) == 3775;
        sqlite3_reset(sum);
    }
    sqlite3_finalize(sum);
    return is_right;
}

// MARK: - Timers

KIND(own_profiler) {
    sqlite3 *store = open_notes(100);
    handle(SIGPROF, count, SA_RESTART);
    start_timer(ITIMER_PROF, 4000, true);
    printf("right: %d\n", work_until(store, 10));
    start_timer(ITIMER_PROF, 0, false);
    struct sigaction action;
    sigaction(SIGPROF, NULL, &action);
    printf("handler kept: %d, flags %d\n", action.sa_handler == count, action.sa_flags & SA_RESTART);
}

KIND(own_virtual_timer) {
    sqlite3 *store = open_notes(100);
    handle(SIGVTALRM, count, 0);
    start_timer(ITIMER_VIRTUAL, 4000, true);
    printf("right: %d\n", work_until(store, 10));
}

KIND(alarms) {
    sqlite3 *store = open_notes(100);
    handle(SIGALRM, count, SA_RESTART);
    start_timer(ITIMER_REAL, 2000, true);
    printf("right: %d\n", work_until(store, 20));
}

KIND(alarm_by_default) {
    sqlite3 *store = open_notes(100);
    start_timer(ITIMER_REAL, 5000, false);
    printf("right: %d\n", work_until(store, 1));
}

KIND(profiler_by_default) {
    sqlite3 *store = open_notes(100);
    start_timer(ITIMER_PROF, 5000, false);
    printf("right: %d\n", work_until(store, 1));
}

// Calls that a signal interrupts, and no others.
KIND(interrupted_calls) {
    int pipes[2];
    char byte;
    require(pipe(pipes) == 0, "pipe");
    use_little();
    handle(SIGALRM, count, 0);
    for (int round = 0; round < 3; round++) {
        start_timer(ITIMER_REAL, 3000, false);
        ssize_t got = read(pipes[0], &byte, 1);
        printf("read: %zd %s\n", got, got < 0 ? strerrorname_np(errno) : "");
        start_timer(ITIMER_REAL, 3000, false);
        struct pollfd awaited = {.fd = pipes[0], .events = POLLIN};
        int ready = poll(&awaited, 1, -1);
        printf("poll: %d %s\n", ready, ready < 0 ? strerrorname_np(errno) : "");
        start_timer(ITIMER_REAL, 3000, false);
        int slept = nanosleep(&(struct timespec){.tv_sec = 5}, NULL);
        printf("nanosleep: %d %s\n", slept, slept < 0 ? strerrorname_np(errno) : "");
        use_little();
    }
    printf("%d caught\n", caught);
}

static void *spin(void *end) {
    while (!*(_Atomic bool *)end) { use_little(); }
    return NULL;
}

// Nothing interrupts these, although the process works meanwhile.
KIND(uninterrupted_calls) {
    _Atomic bool end = false;
    pthread_t thread;
    sqlite3 *store = open_notes(100);
    pthread_create(&thread, NULL, spin, &end);
    int failed = 0;
    for (int round = 0; round < 10; round++) {
        (void)number(store, "SELECT sum(a.id * b.id) FROM note a, note b");
        failed += nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL) != 0;
        failed += poll(NULL, 0, 3) != 0;
        failed += usleep(3000) != 0;
    }
    end = true;
    pthread_join(thread, NULL);
    printf("%d failed\n", failed);
}

// MARK: - Dispositions and masks

// The signal that a sampler may use, as its documentation says: the program cannot wait for it, and an image does not get
// its disposition from the one before. 0: all count.
static int left_out;

static void print_dispositions(void) {
    for (int number = 1; number < 65; number++) {
        struct sigaction action;
        if (number == left_out) { continue; }
        if (sigaction(number, NULL, &action) != 0) { continue; }
        int masked = 0;
        for (int other = 1; other < 65; other++) { masked += sigismember(&action.sa_mask, other) == 1; }
        const char *name = action.sa_handler == SIG_DFL ? "default" : action.sa_handler == SIG_IGN ? "ignored"
            : action.sa_handler == count ? "counted" : "another";
        printf("%d %s %x %d; ", number, name, (unsigned)action.sa_flags & ~0x04000000u, masked);
    }
    puts("");
}

static void print_mask(const char *when) {
    sigset_t blocked;
    sigemptyset(&blocked);
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    printf("%s:", when);
    for (int number = 1; number < 65; number++) {
        if (sigismember(&blocked, number) == 1 && number != left_out) { printf(" %d", number); }
    }
    puts("");
}

KIND(dispositions) {
    print_dispositions();
    use_little();
    print_dispositions();
    for (int number = 1; number < 65; number++) { signal(number, number % 2 == 0 ? SIG_IGN : count); }
    use_little();
    print_dispositions();
    for (int number = 1; number < 65; number++) {
        struct sigaction action = {.sa_handler = count, .sa_flags = SA_ONSTACK | SA_RESTART};
        sigaddset(&action.sa_mask, SIGUSR1);
        sigaction(number, &action, NULL);
    }
    print_dispositions();
    for (int number = 1; number < 65; number++) {
        if (number != SIGKILL && number != SIGSTOP && number != 32 && number != 33) { raise(number); }
    }
    printf("%d caught\n", caught);
}

static void *print_mask_of_thread(void *unused) {
    use_little();
    print_mask("thread");
    return NULL;
}

KIND(masks) {
    sigset_t set;
    pthread_t thread;
    print_mask("at first");
    use_little();
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGPROF);
    sigprocmask(SIG_BLOCK, &set, NULL);
    use_little();
    print_mask("two");
    sigfillset(&set);
    pthread_sigmask(SIG_SETMASK, &set, NULL);
    use_little();
    print_mask("all");
    pthread_create(&thread, NULL, print_mask_of_thread, NULL);
    pthread_join(thread, NULL);
    sigdelset(&set, SIGUSR2);
    sigset_t before;
    sigprocmask(SIG_UNBLOCK, &set, &before);
    print_mask("one");
    int blocked = 0;
    for (int number = 1; number < 65; number++) { blocked += sigismember(&before, number) == 1; }
    printf("%d were blocked\n", blocked);
}

static int order[64];
static void note_order(int number) { order[caught++] = number; }

KIND(pending_signals_in_order) {
    static const int numbers[] = {SIGUSR1, SIGTERM, SIGPROF, SIGWINCH};
    sigset_t set, before, pending;
    sigfillset(&set);
    sigprocmask(SIG_BLOCK, &set, &before);
    for (int index = 0; index < 4; index++) {
        handle(numbers[index], note_order, 0);
        raise(numbers[3 - index]);
    }
    for (int index = 0; index < 3; index++) {
        handle(SIGRTMIN + index, note_order, 0);
        for (int times = 0; times < 2; times++) { sigqueue(getpid(), SIGRTMIN + 2 - index, (union sigval){times}); }
    }
    use();
    sigpending(&pending);
    printf("pending:");
    for (int number = 1; number < 65; number++) {
        if (sigismember(&pending, number) == 1) { printf(" %d", number); }
    }
    printf("\n%d caught\n", caught);
    sigprocmask(SIG_SETMASK, &before, NULL);
    use();
    for (int index = 0; index < caught; index++) { printf("%d ", order[index]); }
    puts("");
}

KIND(awaited_signals) {
    sigset_t set;
    siginfo_t info;
    int number = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++) { sigaddset(&set, signal); }
    sigdelset(&set, SIGRTMAX - 4);
    sigprocmask(SIG_BLOCK, &set, NULL);
    use();
    raise(SIGUSR1);
    int failed = sigwait(&set, &number);
    printf("sigwait: %d, %d\n", failed, number);
    for (int signal = SIGRTMIN; signal <= SIGRTMAX; signal++) {
        if (sigismember(&set, signal) == 0) { continue; }
        sigqueue(getpid(), signal, (union sigval){signal});
        use_little();
        int got = sigtimedwait(&set, &info, &(struct timespec){.tv_sec = 1});
        if (got != signal || info.si_value.sival_int != signal || info.si_code != SI_QUEUE) {
            printf("%d: %d\n", signal, got);
        }
    }
    int file = signalfd(-1, &set, SFD_NONBLOCK);
    raise(SIGRTMAX);
    use_little();
    struct signalfd_siginfo read_info = {0};
    require(read(file, &read_info, sizeof read_info) == sizeof read_info, "signalfd");
    printf("signalfd: %u\n", read_info.ssi_signo);
    int none = sigtimedwait(&set, &info, &(struct timespec){.tv_nsec = 2000000});
    printf("sigtimedwait: %d %s\n", none, none < 0 ? strerrorname_np(errno) : "");
}

static void run_again(void) {
    execl(own_path, own_path, "masks_of_image", directory, (char *)NULL);
    require(false, "execl");
}

KIND(masks_of_image) {
    left_out = SIGRTMAX - 4;
    print_mask("mask");
    print_dispositions();
    use();
}
KIND(blocked_before_image) {
    sigset_t set;
    sigfillset(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    use_little();
    run_again();
}
KIND(ignored_before_image) {
    for (int number = 1; number < 65; number++) { signal(number, SIG_IGN); }
    use_little();
    run_again();
}

// MARK: - Alternate stacks

// Below it, memory that must stay as it is.
static void use_alternate_stack(size_t size) {
    char *memory = mmap(NULL, 65536 + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(memory, 65536, PROT_NONE);
    stack_t stack = {.ss_sp = memory + 65536, .ss_size = size};
    require(sigaltstack(&stack, NULL) == 0, "sigaltstack");
}

static void count_slowly(int number) {
    for (volatile int turn = 0; turn < 100000; turn++) {}
    caught++;
}

KIND(alternate_stack) {
    size_t least = (size_t)MINSIGSTKSZ, page = 4096;
    sqlite3 *store = open_notes(100);
    handle(SIGALRM, count_slowly, SA_ONSTACK | SA_RESTART);
    start_timer(ITIMER_REAL, 1500, true);
    for (int step = 0; step < 3; step++) {
        use_alternate_stack(step == 0 ? (least + page - 1) / page * page : (size_t)(8192 << step));
        caught = 0;
        printf("right: %d\n", work_until(store, 8));
    }
    stack_t stack;
    sigaltstack(NULL, &stack);
    printf("flags %d, size %zu\n", stack.ss_flags, stack.ss_size);
}

static void fault(int number, siginfo_t *info, void *context) {
    printf("at %d: %d\n", (int)(intptr_t)info->si_addr, use_little());
    fflush(stdout);
    _exit(21);
}

KIND(fault_on_alternate_stack) {
    struct sigaction action = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    use_alternate_stack(64 << 10);
    sigaction(SIGSEGV, &action, NULL);
    use();
    *(volatile int *)(uintptr_t)8 = 1;
}

static int recurse(int depth) {
    volatile char frame[1024];
    frame[0] = (char)depth;
    return depth == INT_MAX ? 0 : recurse(depth + 1) + frame[0];
}

KIND(overflow_on_alternate_stack) {
    struct sigaction action = {.sa_flags = SA_ONSTACK, .sa_handler = _exit};
    use_alternate_stack(64 << 10);
    sigaction(SIGSEGV, &action, NULL);
    use();
    printf("%d\n", recurse(0));
}
