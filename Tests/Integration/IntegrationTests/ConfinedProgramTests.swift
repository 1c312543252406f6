import Foundation
import TestFolders
import Testing

/// Programs that give up rights or go into the background are recorded, or the report says why not.
@Suite("A program that gives up rights")
struct ConfinedProgramTests {
    static let isRoot = geteuid() == 0

    /// Does in turn what its arguments say: uses SQLite in one thread or in several, or gives something up.
    private static let source = """
        #define _GNU_SOURCE
        #include <fcntl.h>
        #include <linux/filter.h>
        #include <linux/seccomp.h>
        #include <pthread.h>
        #include <sqlite3.h>
        #include <stddef.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/prctl.h>
        #include <sys/resource.h>
        #include <sys/syscall.h>
        #include <sys/wait.h>
        #include <unistd.h>

        static sqlite3 *database;

        static void *queries(void *count) {
            sqlite3 *used = database;
            if (used == NULL) { sqlite3_open(":memory:", &used); }
            for (size_t index = 0; index < (size_t)count; index++) {
                sqlite3_stmt *statement;
                sqlite3_prepare_v2(used, "SELECT 1", -1, &statement, NULL);
                sqlite3_step(statement);
                sqlite3_finalize(statement);
            }
            if (database == NULL) { sqlite3_close(used); }
            return NULL;
        }

        static void limit(int resource, rlim_t value) {
            struct rlimit both = {value, value};
            setrlimit(resource, &both);
        }

        #define ALLOW(number) \\
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

        static void allow_little(void) {
            struct sock_filter lines[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)), ALLOW(SYS_write), ALLOW(SYS_exit_group),
                ALLOW(SYS_brk), ALLOW(SYS_mmap), ALLOW(SYS_munmap), ALLOW(SYS_rt_sigreturn),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
            };
            struct sock_fprog filter = {sizeof lines / sizeof *lines, lines};
            prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
            prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
        }

        static int run(int count, char **words, int index);
        static struct { int count; char **words; int index; } rest;

        static void *run_rest(void *unused) { exit(run(rest.count, rest.words, rest.index)); }

        static int run(int count, char **words, int index) {
            for (; index < count; index++) {
                const char *word = words[index];
                if (strcmp(word, "open") == 0) { sqlite3_open(":memory:", &database); }
                if (strcmp(word, "queries") == 0) { queries((void *)10); }
                if (strcmp(word, "thousands") == 0) { queries((void *)20000); }
                if (strcmp(word, "thread") == 0) {
                    pthread_t thread;
                    if (pthread_create(&thread, NULL, queries, (void *)10) == 0) { pthread_join(thread, NULL); }
                }
                if (strcmp(word, "leave") == 0) {
                    pthread_t thread;
                    rest.count = count;
                    rest.words = words;
                    rest.index = index + 1;
                    pthread_create(&thread, NULL, run_rest, NULL);
                    pthread_exit(NULL);
                }
                if (strcmp(word, "child") == 0) {
                    if (fork() == 0) { continue; }
                    wait(NULL);
                }
                if (strcmp(word, "nobody") == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) { return 1; }
                if (strcmp(word, "exec") == 0) {
                    words[index] = words[0];
                    execv("/proc/self/exe", words + index);
                }
                if (strcmp(word, "root") == 0 && (chroot("/usr") != 0 || chdir("/") != 0)) { return 1; }
                if (strcmp(word, "descriptors") == 0) { limit(RLIMIT_NOFILE, 3); }
                if (strcmp(word, "sizes") == 0) { limit(RLIMIT_FSIZE, 1000); }
                if (strcmp(word, "filter") == 0) { allow_little(); }
                if (strcmp(word, "strict") == 0) { prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT); }
                if (strcmp(word, "exit") == 0) { syscall(SYS_exit, 7); }
                if (strcmp(word, "daemon") == 0) {
                    if (fork() != 0) { return 3; }
                    setsid();
                    if (fork() != 0) { return 0; }
                }
                if (strcmp(word, "wait") == 0) {
                    char byte;
                    int pipe = open(words[++index], O_RDONLY);
                    while (read(pipe, &byte, 1) > 0) {}
                }
            }
            return 4;
        }

        int main(int count, char **words) { return run(count, words, 1); }
        """

    private let directory: TemporaryDirectory
    private let program: String

    init() throws {
        directory = try TemporaryDirectory()
        program = try CProgram.build(Self.source, ["-O1", "-lsqlite3", "-lpthread"], in: directory)
    }

    private var trace: String { directory.path("trace.json") }

    private func record(_ words: [String], _ options: [String] = []) throws -> BuiltCommand.Result {
        try BuiltCommand.run(["record", "--quiet", "-o", trace] + options + ["--", program] + words)
    }

    private func statements() throws -> Int {
        let report = try BuiltCommand.run(["events", trace, "--format", "csv"])
        return report.output.split(separator: "\n").dropFirst().count { $0.contains(",sql,") }
    }

    @Test(
        "goes on as another user and is recorded: in new threads, in children and in programs that it executes",
        .enabled(if: isRoot, "needs root"),
        arguments: [
            (["nobody", "queries"], 10), (["queries", "nobody", "queries", "thread", "thread"], 40),
            (["nobody", "child", "queries"], 20), (["nobody", "exec", "thread"], 10),
        ])
    func otherUser(words: [String], count: Int) throws {
        let result = try record(words)
        #expect(result.status == 4 && result.errors == "")
        #expect(try statements() == count)
    }

    @Test(
        "is reported with the reason if it cannot be recorded, also with --quiet",
        arguments: [
            (["descriptors", "queries"], "(Too many open files); raise the limit of open files (ulimit -n)."),
            (["sizes", "queries"], "(File too large); raise the limit of the size of files (ulimit -f)."),
        ])
    func refused(words: [String], reason: String) throws {
        let result = try record(words)
        #expect(result.status == 4)
        #expect(
            result.errors.hasPrefix("faultline: 1 process could not be recorded: cannot create buffers in \"")
                && result.errors.hasSuffix("\" \(reason)\n"))
    }

    @Test("is reported if it has changed its root directory", .enabled(if: isRoot, "needs root"))
    func otherRoot() throws {
        let result = try record(["root", "queries"])
        #expect(result.status == 4)
        #expect(
            result.errors.hasSuffix(
                "(No such file or directory), which it cannot reach from the root directory that it has changed to; record "
                    + "without chroot.\n"))
    }

    @Test(
        "loses the events of later threads, which are not taken for those of full buffers",
        arguments: [("descriptors", "Too many open files"), ("sizes", "File too large")])
    func laterThreads(limit: String, reason: String) throws {
        let result = try record(["queries", limit, "thread", "thread"])
        #expect(result.status == 4)
        #expect(
            result.errors
                == "faultline: 20 events were lost because their threads could not get a buffer (\(reason)).\n")
        let report = try BuiltCommand.run(["report", trace]).output
        let words = report.split { $0.isWhitespace }.joined(separator: " ")
        #expect(words.contains("10 events, 20 lost"))
        #expect(
            words.contains(
                "20 events were lost because their threads could not get a buffer (\(reason)): counts and times are too low."
            ))
    }

    @Test(
        "by a filter of system calls is recorded on, and makes no call that it has forbidden itself",
        arguments: [[], ["--cpu", "--allocations", "--columns", "--values"]])
    func filtered(options: [String]) throws {
        let result = try record(["open", "queries", "filter", "thousands"], options)
        #expect(result.status == 4 && !result.wasKilled && result.errors == "")
        #expect(try statements() == 20_010)
    }

    @Test(
        "by seccomp's strict mode, which forbids reading the clock, is recorded up to there",
        arguments: [[], ["--cpu", "--allocations", "--columns", "--values"]])
    func strict(options: [String]) throws {
        let result = try record(["open", "queries", "strict", "thousands", "exit"], options)
        #expect(result.status == 7 && !result.wasKilled && result.errors == "")
        #expect(try statements() == 10)
    }

    @Test(
        "that ends its main thread before the others is recorded until these end",
        arguments: [[], ["--cpu", "--allocations", "--columns", "--values"]])
    func ownThreads(options: [String]) throws {
        // Long enough for the recording to look more than once at whether the process has ended.
        let thousands = Array(repeating: "thousands", count: 10)
        let result = try record(["leave"] + thousands, options)
        #expect(result.status == 4)
        let report = try ReportDocument(of: trace)
        // A busy machine may lose some, which are counted.
        #expect(report.totals.events["sql", default: 0] + report.lost >= 200_000)
        #expect(try !BuiltCommand.run(["report", trace]).output.contains("was killed"))
    }

    @Test("as a daemon, is recorded until it ends")
    func daemon() throws {
        let pipe = directory.path("pipe")
        try #require(mkfifo(pipe, 0o600) == 0)
        let recording = try RunningCommand(
            BuiltCommand.faultline,
            ["record", "--quiet", "-o", trace, "--", program, "daemon", "wait", pipe, "queries"])
        // Opening waits for the daemon. It reads until the pipe is closed, after the command has ended.
        let writer = open(pipe, O_WRONLY | O_CLOEXEC)
        recording.waitForErrors("goes on in the background")
        close(writer)
        let result = recording.finish()
        #expect(result.status == 3)
        #expect(
            result.errors.hasPrefix("faultline: \"\(program)\" has ended, and program (process ")
                && result.errors.hasSuffix(
                    ") goes on in the background. Recording continues until then; press Ctrl-C to end it now.\n")
        )
        #expect(try statements() == 10)
    }

    @Test("as a daemon, goes on if the recording is interrupted")
    func interruptedDaemon() throws {
        let pipe = directory.path("pipe")
        try #require(mkfifo(pipe, 0o600) == 0)
        let recording = try RunningCommand(
            BuiltCommand.faultline,
            ["record", "--quiet", "-o", trace, "--", program, "queries", "daemon", "queries", "wait", pipe, "queries"])
        let writer = open(pipe, O_WRONLY | O_CLOEXEC)
        recording.waitForErrors("goes on in the background")
        kill(recording.identifier, SIGINT)
        recording.waitForErrors("the trace ends where the recording ended.")
        close(writer)
        // Foundation waits for the daemon as well, which has inherited its socket.
        let result = recording.finish()
        #expect(result.status == 3 && !result.wasKilled)
        #expect(
            result.errors.hasSuffix(
                "1 process of the command is still running; the trace ends where the recording ended.\n"))
        #expect(try statements() == 20)
    }
}
