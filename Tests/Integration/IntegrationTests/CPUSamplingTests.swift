import Foundation
import TestFolders
import Testing

@Suite("With --cpu, record samples", .enabled(if: CProgram.canBuild, "needs cc: apt-get install gcc"))
struct CPUSamplingTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Work for a tenth of a second of CPU time, whatever the machine's speed.
    private static let work = """
        #define _GNU_SOURCE
        #include <pthread.h>
        #include <signal.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/wait.h>
        #include <time.h>
        #include <unistd.h>
        volatile unsigned long sink;
        static double used(void) {
            struct timespec time;
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
            return time.tv_sec + time.tv_nsec / 1e9;
        }
        __attribute__((noinline)) void turn(void) { for (int i = 0; i < 1000000; i++) { sink += i; } }
        __attribute__((noinline)) void work(double seconds) {
            double end = used() + seconds;
            while (used() < end) { turn(); }
            sink++;
        }

        """

    private func record(_ source: String, _ arguments: [String] = []) throws -> SampledRun {
        let options = ["-O1", "-g", "-fno-omit-frame-pointer", "-lpthread"] + arguments
        let program = try CProgram.build(Self.work + source, options, in: directory)
        return try SampledRun([program], in: directory)
    }

    @Test("every thread, at the functions that used the CPU, and no thread that waits")
    func threads() throws {
        let run = try record(
            """
            __attribute__((noinline)) void wait_long(void) { usleep(400000); sink++; }
            void *thread(void *argument) { work(0.2); return argument; }
            void *sleeper(void *argument) { wait_long(); return argument; }
            int main(void) {
                pthread_t one, two;
                pthread_create(&one, NULL, thread, NULL);
                pthread_create(&two, NULL, sleeper, NULL);
                work(0.4);
                pthread_join(one, NULL);
                pthread_join(two, NULL);
                puts("done");
                return 3;
            }
            """)
        #expect(run.result.status == 3 && run.result.output == "done\n" && run.result.errors.isEmpty)
        let paths = try run.paths()
        let (main, thread) = (paths["main;work;turn"] ?? 0, paths["thread;work;turn"] ?? 0)
        // 0.4 and 0.2 seconds of CPU time, each measured in ticks of some milliseconds.
        #expect((300_000_000...500_000_000).contains(main), run.summary)
        #expect((150_000_000...250_000_000).contains(thread), run.summary)
        #expect(try run.share(of: "wait_long") < 0.05)
    }

    @Test("SQLite's time at the functions that called it, although SQLite has no frame pointers")
    func sqlite() throws {
        let run = try record(
            """
            #include <sqlite3.h>
            const char *sql = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 500000) "
                "SELECT sum(n) FROM c";
            __attribute__((noinline)) void stepped(sqlite3 *db) {
                sqlite3_stmt *statement;
                sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
                while (sqlite3_step(statement) == SQLITE_ROW) { sink++; }
                sqlite3_finalize(statement);
                sink++;
            }
            __attribute__((noinline)) void executed(sqlite3 *db) { sqlite3_exec(db, sql, NULL, NULL, NULL); sink++; }
            int main(void) {
                sqlite3 *db;
                sqlite3_open(":memory:", &db);
                // Half of the time each, long enough for a hundred samples.
                for (int i = 0; i < 10; i++) { stepped(db); executed(db); }
                return sqlite3_close(db);
            }
            """, ["-lsqlite3"])
        #expect(run.result.status == 0)
        let shares = try (run.share(of: "main;stepped"), run.share(of: "main;executed"))
        #expect(shares.0 > 0.25 && shares.1 > 0.25 && shares.0 + shares.1 > 0.9, run.summary)
        let report = try BuiltCommand.run(["report", run.trace, "--format", "json"]).output
        let parts = try #require(report.firstMatch(of: /"parts": \{[^}]*"sqlite": ([0-9]+)/))
        #expect(Double(parts.1)! / Double(try run.tree().total) > 0.8)
    }

    @Test("a program with the store from its start, and not from its first fetch")
    func beforeTheStore() throws {
        let trace = directory.path("store.json")
        let program = BuiltCommand.programs.appendingPathComponent("StoreProgram").path
        let run = try BuiltCommand.run(
            ["record", "--quiet", "--cpu", "-o", trace, "--", program, directory.path("store.sqlite"), "compute"])
        #expect(run.status == 0 && run.output == "0\n", "\(run.errors)")
        let sum = try BuiltCommand.run(["query", trace, "SELECT sum(weight) / 1000000 FROM cpu"]).output
        let milliseconds = sum.split(separator: "\n").last.flatMap { Int($0.trimmingCharacters(in: .whitespaces)) }
        #expect(try #require(milliseconds, "\(sum)") >= 200)
    }

    @Test("forked children and the programs that a program runs")
    func children() throws {
        let run = try record(
            """
            __attribute__((noinline)) void as_child(void) { work(0.2); sink++; }
            __attribute__((noinline)) void as_grandchild(void) { work(0.2); sink++; }
            int main(int count, char **words) {
                if (count > 1) { as_grandchild(); return 0; }
                if (fork() == 0) {
                    as_child();
                    execl(words[0], words[0], "again", NULL);
                }
                wait(NULL);
                return 0;
            }
            """)
        #expect(!run.result.errors.contains("was killed"))
        let shares = try (run.share(of: "as_child"), run.share(of: "as_grandchild"))
        #expect(shares.0 > 0.3 && shares.1 > 0.3, run.summary)
    }

    @Test("children that end without running destructors, as complete")
    func exits() throws {
        let run = try record(
            """
            int main(void) {
                for (int i = 0; i < 3; i++) {
                    pid_t child = i < 2 ? fork() : vfork();
                    if (child == 0) {
                        if (i < 2) { work(0.1); }
                        if (i == 0) { _exit(0); } else { _Exit(0); }
                    }
                    waitpid(child, NULL, 0);
                }
                work(0.1);
                return 6;
            }
            """)
        #expect(run.result.status == 6)
        let report = try BuiltCommand.run(["report", run.trace])
        #expect(!report.output.contains("killed") && report.output.contains("of 3 processes"), "\(report.output)")
        #expect(try run.share(of: "main;work;turn") > 0.9, run.summary)
    }

    @Test("a program that takes all signals, blocks them and resets them, without harm")
    func signals() throws {
        let run = try record(
            """
            static void handle(int number) { sink += number; }
            void *thread(void *argument) { work(0.2); return argument; }
            int main(void) {
                sigset_t all;
                sigfillset(&all);
                for (int number = 1; number <= SIGRTMAX; number++) {
                    struct sigaction action = {.sa_handler = handle}, before;
                    sigaction(number, &action, &before);
                    if (number > 31) { signal(number, SIG_DFL); sysv_signal(number, SIG_DFL); sigset(number, SIG_DFL); }
                }
                pthread_sigmask(SIG_BLOCK, &all, NULL);
                pthread_t one;
                pthread_create(&one, NULL, thread, NULL);
                pthread_join(one, NULL);
                sigprocmask(SIG_SETMASK, &all, NULL);
                work(0.2);
                struct timespec now = {0, 0};
                int pending = sigtimedwait(&all, NULL, &now);
                printf("%d\\n", pending);
                return 0;
            }
            """)
        #expect(run.result.status == 0 && !run.result.wasKilled)
        #expect(run.result.output == "-1\n")
        #expect(try run.share(of: "thread;work") > 0.3)
        #expect(try run.share(of: "main;work") > 0.3)
    }

    @Test("no thread with a small stack, which the signal could overflow")
    func smallStacks() throws {
        let run = try record(
            """
            #include <limits.h>
            __attribute__((noinline)) int deep(int depth) {
                volatile char room[64];
                memset((void *)room, depth, sizeof room);
                return depth == 0 ? room[0] : deep(depth - 1) + room[1];
            }
            void *thread(void *argument) {
                for (int i = 0; i < 20000; i++) { sink += deep(60); }
                return argument;
            }
            void *roomy(void *argument) { return thread(argument); }
            int main(void) {
                pthread_attr_t attributes;
                pthread_attr_init(&attributes);
                for (int round = 0; round < 20; round++) {
                    pthread_t threads[20];
                    pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
                    for (int i = 0; i < 10; i++) { pthread_create(&threads[i], &attributes, thread, NULL); }
                    pthread_attr_setstacksize(&attributes, 128 * 1024);
                    for (int i = 10; i < 20; i++) { pthread_create(&threads[i], &attributes, roomy, NULL); }
                    for (int i = 0; i < 20; i++) { pthread_join(threads[i], NULL); }
                }
                puts("all ended");
                return 0;
            }
            """)
        #expect(run.result.output == "all ended\n" && run.result.status == 0)
        #expect(try run.share(ofRoot: "roomy") > 0.9, run.summary)
    }

    @Test("no code on an alternate stack without room for it")
    func alternateStack() throws {
        let run = try record(
            """
            static char guarded[3 * 8192];
            static void busy(int number) { work(0.2); }
            int main(void) {
                // The handler's stack is in the middle of this memory. The rest must not change.
                memset(guarded, 77, sizeof guarded);
                stack_t stack = {.ss_sp = guarded + 8192, .ss_size = 8192};
                sigaltstack(&stack, NULL);
                struct sigaction action = {.sa_handler = busy, .sa_flags = SA_ONSTACK};
                sigaction(SIGUSR1, &action, NULL);
                for (int i = 0; i < 3; i++) { raise(SIGUSR1); }
                int changed = 0;
                for (int i = 0; i < 8192; i++) { changed += guarded[i] != 77 || guarded[2 * 8192 + i] != 77; }
                printf("%d\\n", changed);
                work(0.1);
                return 0;
            }
            """)
        #expect(run.result.output == "0\n" && run.result.status == 0)
    }

    @Test("a thread that is cancelled before it begins, as without sampling")
    func cancellation() throws {
        let run = try record(
            """
            static int begun;
            void *thread(void *argument) {
                pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
                begun++;
                return argument;
            }
            int main(void) {
                for (int i = 0; i < 300; i++) {
                    pthread_t one;
                    pthread_create(&one, NULL, thread, NULL);
                    pthread_cancel(one);
                    pthread_join(one, NULL);
                }
                printf("%d\\n", begun);
                work(0.1);
                return 0;
            }
            """)
        #expect(run.result.output == "300\n")
    }

    @Test("children that are forked while other threads use the loader and the allocator")
    func forkedAmongThreads() throws {
        let run = try record(
            """
            #include <link.h>
            static volatile int ends;
            static int look(struct dl_phdr_info *info, size_t size, void *context) { usleep(100); return 0; }
            void *loading(void *argument) { while (!ends) { dl_iterate_phdr(look, NULL); } return argument; }
            void *allocating(void *argument) { while (!ends) { free(malloc(100)); } return argument; }
            int main(void) {
                pthread_t one, two;
                pthread_create(&one, NULL, loading, NULL);
                pthread_create(&two, NULL, allocating, NULL);
                int ended = 0, status;
                for (int i = 0; i < 50; i++) {
                    pid_t child = fork();
                    if (child == 0) { work(0.02); _exit(7); }
                    ended += waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7;
                }
                ends = 1;
                pthread_join(one, NULL);
                pthread_join(two, NULL);
                printf("%d\\n", ended);
                return 0;
            }
            """)
        #expect(run.result.output == "50\n")
    }

    @Test("a program that loads and unloads a library over and over")
    func unloading() throws {
        let library = directory.path("libwork.so")
        let source = directory.path("library.c")
        try "volatile long sum; void spin(void) { for (int i = 0; i < 300000; i++) { sum += i; } }"
            .write(toFile: source, atomically: true, encoding: .utf8)
        let build = try BuiltCommand.run(["-shared", "-fPIC", "-O1", "-o", library, source], program: "/usr/bin/cc")
        try #require(build.status == 0)
        let run = try record(
            """
            #include <dlfcn.h>
            void *thread(void *argument) { work(1); return argument; }
            int main(void) {
                pthread_t one;
                pthread_create(&one, NULL, thread, NULL);
                for (int i = 0; i < 400; i++) {
                    void *library = dlopen("\(library)", RTLD_NOW);
                    ((void (*)(void))dlsym(library, "spin"))();
                    dlclose(library);
                }
                pthread_join(one, NULL);
                puts("unloaded");
                return 0;
            }
            """)
        #expect(run.result.output == "unloaded\n" && run.result.status == 0)
    }

    @Test("beside a program that uses the same signal")
    func sameSignal() throws {
        let run = try record(
            """
            static int handled;
            static void handle(int number) { handled++; }
            static void handle_more(int number, siginfo_t *info, void *context) { handled += 100; }
            int main(void) {
                int number = SIGRTMAX - 4;
                struct sigaction action = {.sa_handler = handle}, before;
                sigaction(number, &action, NULL);
                raise(number);
                sigaction(number, NULL, &before);
                printf("%d\\n", before.sa_handler == handle);
                struct sigaction more = {.sa_sigaction = handle_more, .sa_flags = SA_SIGINFO};
                sigaction(number, &more, NULL);
                raise(number);
                work(0.2);
                printf("%d\\n", handled);
                return 0;
            }
            """)
        #expect(run.result.output == "1\n101\n")
        #expect(try run.share(of: "main;work;turn") > 0.8)
    }

    @Test("a program that is killed up to its last moments")
    func killed() throws {
        let run = try record("int main(void) { work(0.3); raise(SIGKILL); return 0; }")
        #expect(try run.share(of: "main;work;turn") > 0.8)
        #expect((200_000_000...400_000_000).contains(try run.tree().total))
    }

    @Test("a store's program at its scopes and operations")
    func store() throws {
        let store = directory.path("parts.sqlite")
        let program = BuiltCommand.programs.appendingPathComponent("Mail").path
        _ = try BuiltCommand.run([store, "flawed", "prepare"], program: program)
        let run = try SampledRun([program, store, "flawed", "inbox", "days", "senders"], in: directory)
        #expect(run.result.status == 0)
        let tree = try run.tree(["--by", "scope"])
        #expect(Set(tree.roots.map(\.function)).isSuperset(of: ["inbox", "days"]))
        let events = try BuiltCommand.run(["events", run.trace, "--kind", "cpu", "--format", "json"]).output
        #expect(events.contains("\"parent\":0") && events.contains(/"parent":[1-9]/))
        let report = try BuiltCommand.run(["report", run.trace]).output
        #expect(report.contains(/CPU time  \(.* samples\)/))
        #expect(report.contains(/\n +store +[0-9.]+ ms +[0-9]+ %/))
        #expect(report.contains(/inbox \(screen\) +[0-9.]+ ms/))
        // The trace has one process: the program's own recorder samples it.
        #expect(report.hasPrefix("Mail: ") && !report.contains("processes"))
    }

    @Test(
        "Python's functions, and C's only outside the interpreter",
        .enabled(if: !Python.known.isEmpty, "needs python3"),
        arguments: Python.known)
    func python(python: Python) throws {
        let script = directory.path("app.py")
        try """
        import sqlite3, threading, time
        def spin(seconds):
            end = time.thread_time() + seconds
            total = 0
            while time.thread_time() < end:
                for number in range(10000):
                    total += number * number
            return total
        def query():
            db = sqlite3.connect(":memory:")
            end = time.thread_time() + 0.2
            while time.thread_time() < end:
                db.execute("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 100000) "
                           "SELECT sum(n) FROM c").fetchall()
        class Größe:
            def main(self):
                spin(0.2)
                query()
        worker = threading.Thread(target=spin, args=(0.2,))
        worker.start()
        worker.join()
        Größe().main()

        """.write(toFile: script, atomically: true, encoding: .utf8)
        let run = try SampledRun([python.path, script], in: directory)
        #expect(run.result.status == 0 && run.result.errors.isEmpty)
        let main = python.minor < 11 ? "<module>;main" : "<module>;Größe.main"
        let (inMain, inQuery) = try (run.share(of: main + ";spin"), run.share(of: main + ";query"))
        #expect(inMain > 0.1 && inQuery > 0.1, run.summary)
        #expect(try run.share(ofRoot: "spin") > 0.1, run.summary)
        #expect(try run.share(of: "query;") > 0.1)
        #expect(try run.share(of: "_PyEval_EvalFrameDefault") < 0.05)
    }

    @Test("nothing without the option")
    func off() throws {
        let program = try CProgram.build(Self.work + "int main(void) { work(0.1); return 0; }", [], in: directory)
        let result = try BuiltCommand.run(["record", "-o", directory.path("trace.json"), "--", program])
        #expect(result.errors.contains("recorded anything: "))
    }

    @Test("at a rate from 1 to 10,000", arguments: ["0", "-5", "10001", "fast", "1.5", "./App"])
    func rate(text: String) throws {
        let result = try BuiltCommand.run(["record", "--cpu=\(text)", "-o", directory.path("trace.json"), "--", "true"])
        #expect(result.status == 2)
        let sentence = "--cpu takes a number of samples from 1 to 10000 for each second of CPU time, not \"\(text)\". "
        #expect(result.errors.contains(sentence + "If that is the command, put \"--\" before it."), "\(result.errors)")
    }
}
