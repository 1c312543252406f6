// Programs that start other programs and themselves, and end in all ways.

#include "guest.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>

extern char **environ;

// MARK: - Forked children

static void use_in_child(void) {
    use();
    _exit(use_little() ? 3 : 4);
}

KIND(fork_first) {
    pid_t child = fork();
    if (child == 0) { use_in_child(); }
    await("child", child);
    use();
}

KIND(fork_after_use) {
    sqlite3 *store = open_notes(100);
    sqlite3_stmt *open = prepare(store, "SELECT id FROM note");
    sqlite3_step(open);
    for (int index = 0; index < 3; index++) {
        pid_t child = fork();
        // The parent's open databases may be used if they are in memory.
        if (child == 0) {
            printf("child %d has %lld\n", index, (long long)number(store, "SELECT sum(id) FROM note"));
            exit(index);
        }
        await("child", child);
    }
    int rows = 1;
    while (sqlite3_step(open) == SQLITE_ROW) { rows++; }
    printf("%d rows\n", rows);
}

KIND(fork_of_fork) {
    use();
    pid_t child = fork();
    if (child == 0) {
        pid_t grandchild = fork();
        if (grandchild == 0) { use_in_child(); }
        await("grandchild", grandchild);
        use_in_child();
    }
    await("child", child);
}

static void *fork_here(void *unused) {
    use_little();
    pid_t child = fork();
    if (child == 0) { _exit(use_little() ? 3 : 4); }
    int status = 0;
    waitpid(child, &status, 0);
    return (void *)(intptr_t)WEXITSTATUS(status);
}

static void fork_in_thread(size_t stack) {
    pthread_attr_t attributes;
    pthread_t thread;
    void *status = NULL;
    pthread_attr_init(&attributes);
    if (stack != 0) { pthread_attr_setstacksize(&attributes, stack); }
    require(pthread_create(&thread, &attributes, fork_here, NULL) == 0, "pthread_create");
    pthread_join(thread, &status);
    printf("child: %d\n", (int)(intptr_t)status);
}

KIND(fork_in_threads) {
    fork_in_thread(0);
    fork_in_thread(16 << 10);
    use();
}

static _Atomic int forked;
static void prepare_fork(void) { forked += use_little() ? 1 : 100; }
static void after_fork(void) { forked += use_little() ? 10 : 1000; }

KIND(fork_handlers) {
    pthread_atfork(prepare_fork, after_fork, after_fork);
    pid_t child = fork();
    if (child == 0) { exit(forked); }
    await("child", child);
    printf("%d in the parent\n", forked);
}

KIND(vfork_and_exec) {
    for (volatile int run = 0; run < 3; run++) {
        use_little();
        pid_t child = vfork();
        if (child == 0) {
            execl("/bin/sh", "sh", "-c", "exit 5", (char *)NULL);
            _exit(127);
        }
        await("child", child);
    }
    use();
}

KIND(vfork_and_exit) {
    use_little();
    pid_t child = vfork();
    if (child == 0) { _exit(7); }
    await("child", child);
    pid_t failed = vfork();
    if (failed == 0) {
        execl("/nowhere", "nowhere", (char *)NULL);
        _exit(errno);
    }
    await("failed", failed);
    use();
}

static int use_cloned(void *unused) {
    use();
    return use_little() ? 3 : 4;
}

// Without the C library's handlers of forks.
KIND(clone_process) {
    size_t size = 256 << 10;
    char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    use_little();
    await("cloned", clone(use_cloned, stack + size, SIGCHLD, NULL));
    use();
}

static int exit_cloned(void *unused) { return 6; }

// As posix_spawn does.
KIND(clone_in_memory) {
    size_t size = 64 << 10;
    char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    use_little();
    await("cloned", clone(exit_cloned, stack + size, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL));
    use();
}

KIND(raw_fork) {
    use_little();
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0) { use_in_child(); }
    await("cloned", child);
#ifdef SYS_fork
    child = (pid_t)syscall(SYS_fork);
    if (child == 0) { use_in_child(); }
#else
    child = fork();
    if (child == 0) { use_in_child(); }
#endif
    await("forked", child);
    use();
}

// MARK: - Other programs

KIND(exec_many) {
    const char *times = getenv("TIMES");
    int left = times == NULL ? 8 : atoi(times);
    use_little();
    if (left == 0) { return use(); }
    char next[16];
    snprintf(next, sizeof next, "%d", left - 1);
    setenv("TIMES", next, 1);
    execl(own_path, own_path, "exec_many", directory, (char *)NULL);
    require(false, "execl");
}

KIND(spawn_and_system) {
    char *words[] = {(char *)own_path, "uses", (char *)directory, NULL};
    pid_t child = 0;
    use_little();
    require(posix_spawn(&child, own_path, NULL, NULL, words, environ) == 0, "posix_spawn");
    await("spawned", child);
    print_end("system", system("exit 9"));
    print_end("killed", system("kill -9 $$"));
    FILE *pipe = popen("echo a; echo b; exit 4", "r");
    char line[20];
    while (fgets(line, sizeof line, pipe) != NULL) { printf("read %s", line); }
    print_end("popen", pclose(pipe));
    pipe = popen("sort -n", "w");
    fputs("3\n1\n2\n", pipe);
    print_end("sort", pclose(pipe));
    use();
}

KIND(no_child_of_others) {
    use();
    pid_t child = waitpid(-1, NULL, 0);
    printf("waitpid: %d %s\n", (int)child, strerrorname_np(errno));
}

KIND(address_space_layout) {
    int persona = personality(0xFFFFFFFF);
    if ((persona & ADDR_NO_RANDOMIZE) == 0) {
        use_little();
        if (personality((unsigned long)persona | ADDR_NO_RANDOMIZE) < 0) { puts("personality failed"); }
        execl(own_path, own_path, "address_space_layout", directory, (char *)NULL);
    }
    use();
}

// A process alone can change its user namespace, and a thread of another's would be in its way.
KIND(single_thread) {
    use();
    printf("unshare: %s\n", unshare(CLONE_NEWUSER) == 0 ? "0" : strerrorname_np(errno));
    use();
}

// MARK: - Groups and sessions

SETTING(new_session) { printf("setsid: %d\n", setsid() == getpid()); }

KIND(stopped_child) {
    use_little();
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        use_little();
        raise(SIGSTOP);
        use_in_child();
    }
    int status = 0;
    waitpid(child, &status, WUNTRACED);
    print_end("child", status);
    kill(child, SIGCONT);
    waitpid(child, &status, WCONTINUED);
    print_end("child", status);
    await("child", child);
}

int run_on_terminal(char **command) {
    int leader = posix_openpt(O_RDWR | O_NOCTTY);
    require(leader >= 0 && grantpt(leader) == 0 && unlockpt(leader) == 0, "posix_openpt");
    int follower = open(ptsname(leader), O_RDWR | O_NOCTTY);
    pid_t child = fork();
    if (child == 0) {
        setsid();
        ioctl(follower, TIOCSCTTY, 0);
        for (int stream = 0; stream < 3; stream++) { dup2(follower, stream); }
        close(leader);
        close(follower);
        execv(command[0], command);
        _exit(127);
    }
    close(follower);
    char bytes[512];
    for (ssize_t count; (count = read(leader, bytes, sizeof bytes)) > 0;) { fwrite(bytes, 1, (size_t)count, stdout); }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

KIND(terminal) {
    use();
    for (int stream = 0; stream < 3; stream++) { printf("%d is a terminal: %d\n", stream, isatty(stream)); }
    struct winsize size = {0};
    struct termios mode;
    printf("size: %d\n", isatty(0) ? ioctl(0, TIOCGWINSZ, &size) : 0);
    printf("mode: %d, in the foreground: %d\n", tcgetattr(0, &mode) == 0, tcgetpgrp(0) == getpgrp());
}

KIND(child_on_terminal) {
    use_little();
    print_end("child", run_on_terminal((char *[]){(char *)own_path, "terminal", (char *)directory, NULL}));
}

KIND(standard_input) {
    sqlite3 *store = open_memory();
    execute(store, "CREATE TABLE line(text)");
    sqlite3_stmt *insert = prepare(store, "INSERT INTO line VALUES (?)");
    char line[64];
    while (fgets(line, sizeof line, stdin) != NULL) {
        sqlite3_bind_text(insert, 1, line, -1, SQLITE_TRANSIENT);
        sqlite3_step(insert);
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    print_rows(store, "SELECT count(*), sum(text), min(text) FROM line");
}

// MARK: - Ends

static void use_at_end(void) {
    puts("at the end");
    use();
}
static void use_at_end_too(int status, void *context) { printf("status %d %s %d\n", status, (char *)context, use_little());
    }
static bool uses_in_destructor;
__attribute__((destructor)) static void destroy(void) {
    if (uses_in_destructor) { use_at_end(); }
}

KIND(end_with_handlers) {
    use_little();
    atexit(use_at_end);
    on_exit(use_at_end_too, "first");
    on_exit(use_at_end_too, "second");
    exit(3);
}
KIND(end_with_first_use) {
    atexit(use_at_end);
    exit(4);
}
KIND(end_with_destructor) {
    uses_in_destructor = true;
    use_little();
}
KIND(end_with_first_use_in_destructor) { uses_in_destructor = true; }
KIND(end_in_handler) {
    atexit(use_at_end);
    use();
    quick_exit(8);
}
KIND(end_by_system_call) {
    use();
    syscall(SYS_exit_group, 11);
}
KIND(end_at_once) {
    use();
    _Exit(12);
}
KIND(end_of_main_thread) {
    use();
    pthread_exit(NULL);
}
KIND(end_by_abort) {
    use();
    abort();
}
KIND(end_by_fault) {
    use();
    *(volatile int *)(uintptr_t)8 = 1;
}
KIND(end_by_termination) {
    use();
    raise(SIGTERM);
}
KIND(end_by_real_time_signal) {
    use();
    raise(SIGRTMAX - 4);
}
KIND(end_by_kill) {
    use();
    kill(getpid(), SIGKILL);
}
KIND(end_in_transaction) {
    sqlite3 *store = open_store("end.sqlite");
    execute(store, "CREATE TABLE t(a); INSERT INTO t VALUES (1); BEGIN; INSERT INTO t VALUES (2)");
    pid_t child = fork();
    if (child == 0) { abort(); }
    await("child", child);
    sqlite3_stmt *open = prepare(store, "SELECT * FROM t");
    sqlite3_step(open);
    printf("close: %d\n", sqlite3_close(store));
    exit(5);
}
