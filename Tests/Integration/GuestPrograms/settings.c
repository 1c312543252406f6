// Changes that programs make to their environment before they use SQLite.

#include "guest.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

// MARK: - Limits

static void limit(__rlimit_resource_t resource, rlim_t value) {
    struct rlimit both = {value, value};
    require(setrlimit(resource, &both) == 0, "setrlimit");
}

SETTING(descriptors_3) { limit(RLIMIT_NOFILE, 3); }
SETTING_OF_IMAGE(descriptors_8) { limit(RLIMIT_NOFILE, 8); }
SETTING_OF_IMAGE(file_size) { limit(RLIMIT_FSIZE, 100 << 10); }
SETTING_OF_IMAGE(address_space) { limit(RLIMIT_AS, 128 << 20); }
SETTING_OF_IMAGE(processor_time) { limit(RLIMIT_CPU, RLIM_INFINITY); }
SETTING_OF_IMAGE(pending_signals) { limit(RLIMIT_SIGPENDING, 0); }
SETTING_OF_IMAGE(locked_memory) { limit(RLIMIT_MEMLOCK, 0); }
SETTING_OF_IMAGE(stack_small) { limit(RLIMIT_STACK, 160 << 10); }
SETTING_OF_IMAGE(stack_unlimited) { setrlimit(RLIMIT_STACK, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}); }

// A program that needs all the memory that it may have.
KIND(address_space_full) {
    use();
    limit(RLIMIT_AS, 1 << 20);
    printf("mmap: %d\n", mmap(NULL, 8 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
    use();
}

// MARK: - Descriptors

// The lowest numbers that are free, and the count of those in use.
static void print_descriptors(int out) {
    int pipes[2] = {-1, -1}, used = 0;
    int failed = pipe(pipes);
    close(pipes[0]);
    close(pipes[1]);
    for (int number = 0; number < 1024; number++) { used += fcntl(number, F_GETFD) >= 0; }
    dprintf(out, "pipe: %d, %d and %d; %d in use\n", failed, pipes[0], pipes[1], used);
}

KIND(descriptors_closed) {
    use();
    for (int number = 3; number < 1024; number++) { close(number); }
    use();
    print_descriptors(1);
    syscall(SYS_close_range, 3, ~0u, 0);
    use();
    print_descriptors(1);
}
SETTING_OF_IMAGE(descriptors_closed_before) { syscall(SYS_close_range, 3, ~0u, 0); }

// With some of the first three closed, files take their numbers.
KIND(streams_closed) {
    for (int closed = 1; closed < 8; closed++) {
        pid_t child = fork();
        if (child != 0) {
            await("child", child);
            continue;
        }
        dup2(1, 50);
        for (int number = 0; number < 3; number++) {
            if ((closed & 1 << number) != 0) { close(number); }
        }
        bool is_used = use_little() && use_little();
        dprintf(50, "%d used: %d\n", closed, is_used);
        print_descriptors(50);
        sqlite3 *store = open_store("streams.sqlite");
        dprintf(50, "%lld tables\n", (long long)number(store, "SELECT count(*) FROM sqlite_schema"));
        print_descriptors(50);
        _exit(0);
    }
}
SETTING_OF_IMAGE(input_closed) { close(0); }
SETTING_OF_IMAGE(errors_closed) { close(2); }

// Programs that take all numbers for themselves, and find their own files there later.
KIND(descriptors_taken) {
    use();
    int pipes[2];
    struct stat own, other;
    require(pipe(pipes) == 0 && fstat(pipes[0], &own) == 0, "pipe");
    for (int number = 5; number < 250; number++) { dup2(pipes[0], number); }
    use();
    int kept = 0;
    for (int number = 5; number < 250; number++) { kept += fstat(number, &other) == 0 && other.st_ino == own.st_ino; }
    printf("%d kept\n", kept);
}

KIND(descriptors_used_up) {
    limit(RLIMIT_NOFILE, 64);
    use_little();
    int count = 0;
    while (dup(1) >= 0) { count++; }
    printf("%d, then %s\n", count, strerrorname_np(errno));
    use();
    printf("%d in memory\n", use_little());
    for (int number = 40; number < 64; number++) { close(number); }
    use();
}

// MARK: - Directories and variables

SETTING_OF_IMAGE(directory_gone) {
    const char *gone = path_of("gone");
    require(mkdir(gone, 0700) == 0 && chdir(gone) == 0 && rmdir(gone) == 0, "mkdir");
}
SETTING_OF_IMAGE(temporary_directory_missing) { setenv("TMPDIR", "/nowhere", 1); }
SETTING_OF_IMAGE(temporary_directory_long) {
    char text[6000];
    memset(text, 'a', sizeof text - 1);
    text[0] = '/';
    text[sizeof text - 1] = 0;
    setenv("TMPDIR", text, 1);
}
SETTING_OF_IMAGE(environment_cleared) { clearenv(); }
SETTING_OF_IMAGE(mask_of_files) {
    // SQLite asks for 0644, and would not open its file again.
    umask(0577);
}
KIND(mask_of_all) {
    umask(0777);
    use();
    struct stat status = {0};
    printf("stat: %d, mode %o\n", stat(path_of("use.sqlite"), &status), (unsigned)status.st_mode & 07777u);
}
KIND_FOR_ROOT(directory_of_root) {
    use_little();
    require(chroot(directory) == 0 && chdir("/") == 0, "chroot");
    directory = "/";
    use();
}
SETTING_FOR_ROOT(directory_of_root_first) {
    require(chroot(directory) == 0 && chdir("/") == 0, "chroot");
    directory = "/";
}

// MARK: - Rights

static void become_nobody(void) {
    require(chmod(directory, 0777) == 0 && setgroups(0, NULL) == 0, "setgroups");
    require(setgid(65534) == 0 && setuid(65534) == 0, "setuid");
}
SETTING_FOR_ROOT(nobody_first) { become_nobody(); }
KIND_FOR_ROOT(nobody_later) {
    use_little();
    become_nobody();
    use();
    pid_t child = fork();
    if (child == 0) { exit(use_little()); }
    await("child", child);
}
SETTING_OF_IMAGE(no_new_privileges) { prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }
SETTING(not_dumpable) { printf("prctl: %d\n", prctl(PR_SET_DUMPABLE, 0)); }
KIND(not_dumpable_later) {
    use();
    prctl(PR_SET_DUMPABLE, 0);
    use();
    printf("dumpable: %d\n", prctl(PR_GET_DUMPABLE));
}
SETTING_FOR_ROOT(memory_locked) { printf("mlockall: %d\n", mlockall(MCL_CURRENT | MCL_FUTURE)); }

// Lets the program make the calls that it needs, and has all others fail.
KIND(filtered_calls) {
    sqlite3 *store = open_store("filtered.sqlite");
    execute(store, "CREATE TABLE t(a)");
    static const int allowed[] = {
        SYS_read, SYS_write, SYS_close, SYS_fstat, SYS_lseek, SYS_mmap, SYS_mprotect, SYS_munmap, SYS_brk, SYS_fcntl,
        SYS_pread64, SYS_pwrite64, SYS_fsync, SYS_fdatasync, SYS_ftruncate, SYS_openat, SYS_newfstatat, SYS_unlinkat,
        SYS_exit_group, SYS_exit, SYS_futex, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_geteuid, SYS_getpid, SYS_mremap,
        SYS_madvise, SYS_clock_gettime, SYS_getcwd, SYS_fchown, SYS_gettimeofday,
#if defined(__x86_64__)
        SYS_open, SYS_stat, SYS_lstat, SYS_access, SYS_unlink, SYS_readlink, SYS_time,
#endif
    };
    enum { COUNT = sizeof allowed / sizeof *allowed };
    struct sock_filter filter[COUNT + 4] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    for (unsigned index = 0; index < COUNT; index++) {
        filter[index + 1] = (struct sock_filter)BPF_JUMP(
            BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[index], (unsigned char)(COUNT - index), 0);
    }
    filter[COUNT + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    filter[COUNT + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {.len = COUNT + 3, .filter = filter};
    require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "prctl");
    require(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "seccomp");
    printf("gettid: %ld\n", syscall(SYS_gettid));
    execute(store, "INSERT INTO t VALUES (1), (2)");
    print_rows(store, "SELECT count(*), sum(a) FROM t");
    use();
}
