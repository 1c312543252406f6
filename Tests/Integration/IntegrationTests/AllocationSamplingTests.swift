import Foundation
import TestFolders
import Testing

@Suite("With --allocations, record samples", .enabled(if: CProgram.canBuild, "needs cc: apt-get install gcc"))
struct AllocationSamplingTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private static let head = """
        #define _GNU_SOURCE
        #include <errno.h>
        #include <malloc.h>
        #include <pthread.h>
        #include <stdint.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/wait.h>
        #include <unistd.h>
        volatile char sink;
        __attribute__((noinline)) void touch(char *block) { sink += block[0]; block[0] = 1; }

        """

    private func record(_ source: String, interval: Int = 16384) throws -> SampledRun {
        let options = ["-O1", "-g", "-fno-omit-frame-pointer", "-lpthread"]
        let program = try CProgram.build(Self.head + source, options, in: directory)
        return try SampledRun([program], in: directory, sampling: ["--allocations=\(interval)"])
    }

    @Test("what was allocated and what is left, of all sizes, whatever function of the allocator was called")
    func sums() throws {
        let run = try record(
            """
            static void *kept[20000];
            __attribute__((noinline)) void small(void) { for (int i = 0; i < 20000; i++) { touch(kept[i] = malloc(200)); } }
            __attribute__((noinline)) void cleared(void) {
                for (int i = 0; i < 2000; i++) { char *block = calloc(10, 300); touch(block); free(block); }
            }
            __attribute__((noinline)) void grown(void) {
                char *block = NULL;
                for (int i = 1; i <= 200; i++) { touch(block = realloc(block, i * 1000)); }
                free(block);
            }
            __attribute__((noinline)) void aligned(void) {
                for (int i = 0; i < 100; i++) {
                    void *block;
                    if (posix_memalign(&block, 64, 10000) == 0) { touch(block); free(block); }
                    touch(block = aligned_alloc(64, 12800));
                    free(block);
                    touch(block = memalign(64, 10000));
                    free(block);
                }
            }
            int main(void) {
                small();
                cleared();
                grown();
                aligned();
                for (int i = 0; i < 10000; i++) { free(kept[i]); }
                return 0;
            }
            """)
        #expect(run.result.status == 0)
        let (all, live) = try (run.paths("allocations"), run.paths("live"))
        let expected: [(String, Double, Double)] = [
            ("main;small", 4_000_000, 2_000_000), ("main;cleared", 6_000_000, 0), ("main;grown", 20_100_000, 0),
            ("main;aligned", 3_280_000, 0),
        ]
        for (path, allocated, left) in expected {
            // 200 samples and more stand for each sum: five standard deviations are a third of it.
            #expect(abs((all[path] ?? 0) - allocated) < allocated * 0.35, "\(path): \(all)")
            #expect(abs((live[path] ?? 0) - left) <= left * 0.5, "\(path): \(live)")
        }
        let report = try BuiltCommand.run(["report", run.trace]).output
        #expect(report.contains(/\nMemory/) && report.contains("main"), "\(report)")
    }

    @Test("allocations of many threads, each freed by another")
    func threads() throws {
        let run = try record(
            """
            #define COUNT 4000
            static void *_Atomic slots[COUNT];
            void *maker(void *argument) {
                for (int i = 0; i < COUNT; i++) { char *block = malloc(1000); touch(block); slots[i] = block; }
                return argument;
            }
            void *taker(void *argument) {
                for (int i = 0; i < COUNT; i++) { while (slots[i] == NULL) { sched_yield(); } free(slots[i]); }
                return argument;
            }
            int main(void) {
                for (int round = 0; round < 4; round++) {
                    pthread_t one, two;
                    memset(slots, 0, sizeof slots);
                    pthread_create(&one, NULL, maker, NULL);
                    pthread_create(&two, NULL, taker, NULL);
                    pthread_join(one, NULL);
                    pthread_join(two, NULL);
                }
                return 0;
            }
            """)
        #expect(run.result.status == 0)
        let (all, live) = try (run.paths("allocations"), run.paths("live"))
        #expect(abs((all["maker"] ?? 0) - 16_000_000) < 4_000_000, "\(all)")
        #expect(live["maker"] == nil, "\(live)")
    }

    @Test("forked children on their own, whose parent's blocks are not theirs")
    func children() throws {
        let run = try record(
            """
            __attribute__((noinline)) void *of_parent(void) { void *block = malloc(3000000); touch(block); return block; }
            __attribute__((noinline)) void *of_child(void) { void *block = malloc(2000000); touch(block); return block; }
            int main(void) {
                void *block = of_parent();
                if (fork() == 0) {
                    free(block);
                    of_child();
                    exit(0);
                }
                wait(NULL);
                return 0;
            }
            """)
        #expect(run.result.status == 0)
        let live = try run.paths("live")
        #expect(abs((live["main;of_parent"] ?? 0) - 3_000_000) < 10_000, "\(live)")
        #expect(abs((live["main;of_child"] ?? 0) - 2_000_000) < 10_000, "\(live)")
    }

    @Test("nothing that changes what the allocator's functions return")
    func behaviour() throws {
        let run = try record(
            """
            int main(void) {
                void *block = &block;
                volatile size_t huge = SIZE_MAX / 2;
                errno = 0;
                block = malloc(huge);
                printf("%d %d\\n", block == NULL, errno == ENOMEM);
                errno = 0;
                block = calloc(huge, 4);
                printf("%d %d\\n", block == NULL, errno == ENOMEM);
                block = &block;
                char *kept = malloc(100000);
                kept[99999] = 5;
                printf("%d %d\\n", realloc(kept, huge) == NULL, kept[99999]);
                printf("%d\\n", posix_memalign(&block, 3, 100) == EINVAL && block == &block);
                printf("%d\\n", (int)((uintptr_t)aligned_alloc(4096, 8192) % 4096));
                printf("%d\\n", malloc_usable_size(kept) >= 100000);
                kept = realloc(kept, 200000);
                printf("%d\\n", kept[99999]);
                free(realloc(kept, 10));
                free(NULL);
                for (int i = 0; i < 100000; i++) { errno = 33; free(malloc(5000)); if (errno != 33) { puts("errno"); } }
                free(valloc(10));
                free(pvalloc(10));
                puts(strdup("end"));
                return 9;
            }
            """)
        #expect(run.result.status == 9)
        #expect(run.result.output == "1 1\n1 1\n1 5\n1\n0\n1\n5\nend\n")
    }

    @Test("a thread's first allocation, whatever it holds, and one on a coroutine's stack")
    func firstAllocations() throws {
        let run = try record(
            """
            #include <sys/mman.h>
            #include <ucontext.h>
            static ucontext_t outside, inside;
            static void *asking(void *argument) {
                // This function allocates while it holds the thread's lock.
                for (int i = 0; i < 20; i++) {
                    pthread_attr_t attributes;
                    pthread_getattr_np(pthread_self(), &attributes);
                    pthread_attr_destroy(&attributes);
                }
                return argument;
            }
            static void coroutine(void) {
                for (int i = 0; i < 2000; i++) { void *block = malloc(5000); touch(block); free(block); }
                swapcontext(&inside, &outside);
            }
            int main(void) {
                for (int i = 0; i < 3000; i++) {
                    pthread_t one;
                    pthread_create(&one, NULL, asking, NULL);
                    pthread_join(one, NULL);
                }
                // The stack ends at a page that cannot be read.
                size_t size = 64 << 10;
                char *stack = mmap(NULL, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                mprotect(stack + size, 4096, PROT_NONE);
                getcontext(&inside);
                inside.uc_stack.ss_sp = stack;
                inside.uc_stack.ss_size = size;
                makecontext(&inside, coroutine, 0);
                swapcontext(&outside, &inside);
                puts("both");
                return 0;
            }
            """)
        #expect(run.result.status == 0 && run.result.output == "both\n")
    }

    @Test("a program that forks while other threads allocate with locks held, and cancels threads that allocate")
    func locks() throws {
        let run = try record(
            """
            static volatile int ends;
            static void *writing(void *argument) {
                while (!ends) { fclose(fopen("/dev/null", "w")); fflush(NULL); }
                return argument;
            }
            static int begun;
            static void *cancelled(void *argument) {
                for (int i = 0; i < 200; i++) { void *block = malloc(3000 + i); touch(block); free(block); }
                begun++;
                return argument;
            }
            int main(void) {
                pthread_t one, two;
                pthread_create(&one, NULL, writing, NULL);
                pthread_create(&two, NULL, writing, NULL);
                int ended = 0, status;
                for (int i = 0; i < 100; i++) {
                    pid_t child = fork();
                    if (child == 0) { free(malloc(100000)); _exit(5); }
                    ended += waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 5;
                }
                ends = 1;
                pthread_join(one, NULL);
                pthread_join(two, NULL);
                for (int i = 0; i < 50; i++) {
                    pthread_create(&one, NULL, cancelled, NULL);
                    pthread_cancel(one);
                    pthread_join(one, NULL);
                }
                printf("%d %d\\n", ended, begun);
                return 0;
            }
            """)
        #expect(run.result.status == 0 && run.result.output == "100 50\n")
    }

    @Test("functions that call the C library's, which allocates for them")
    func library() throws {
        let run = try record(
            """
            __attribute__((noinline)) void copied(const char *text) {
                for (int i = 0; i < 500; i++) { char *copy = strdup(text); touch(copy); free(copy); }
                sink++;
            }
            int main(void) {
                static char text[10001];
                memset(text, 65, 10000);
                copied(text);
                return 0;
            }
            """)
        #expect(run.result.status == 0)
        let all = try run.paths("allocations")
        #expect(all.contains { $0.key.hasPrefix("main;copied;") && $0.value > 4_000_000 }, "\(all)")
    }

    @Test("a store's program at its scopes, and the memory of the process")
    func store() throws {
        let store = directory.path("parts.sqlite")
        let program = BuiltCommand.programs.appendingPathComponent("Mail").path
        _ = try BuiltCommand.run([store, "flawed", "prepare"], program: program)
        let run = try SampledRun(
            [program, store, "flawed", "inbox", "days"], in: directory,
            sampling: ["--allocations=4096", "--cpu=1000"])
        #expect(run.result.status == 0)
        let report = try BuiltCommand.run(["report", run.trace]).output
        #expect(report.contains("Memory") && report.contains("at the peak"))
        #expect(report.contains(/inbox \(screen\) +[0-9.]+ [KM]iB +[0-9.]+ [KM]?i?B/))
        #expect(report.contains("CPU time"))
        #expect(report.contains(/had\s+[0-9.]+ MiB\s+in\s+RAM/))
    }

    @Test("Python's functions", .enabled(if: !Python.known.isEmpty, "needs python3"), arguments: Python.known)
    func python(python: Python) throws {
        let script = directory.path("app.py")
        try """
        def load():
            return [bytearray(100000) for _ in range(100)]
        def main():
            kept = load()
            return len(kept)
        main()

        """.write(toFile: script, atomically: true, encoding: .utf8)
        let run = try SampledRun([python.path, script], in: directory, sampling: ["--allocations"])
        #expect(run.result.status == 0 && run.result.errors.isEmpty)
        let all = try run.paths("allocations")
        let loaded = all.filter { $0.key.contains("<module>;main;load") }.values.reduce(0, +)
        #expect(abs(loaded - 10_000_000) < 8_000_000, "\(all)")
    }

    @Test(
        "a hint that Python's own allocator hides small blocks",
        .enabled(if: !Python.known.isEmpty, "needs python3"))
    func smallBlocks() throws {
        let script = directory.path("small.py")
        try "import time\nkept = [str(number) + 'x' for number in range(600000)]\ntime.sleep(0.4)\n"
            .write(toFile: script, atomically: true, encoding: .utf8)
        for (settings, isHidden) in [(["PYTHONMALLOC="], true), (["PYTHONMALLOC=malloc"], false)] {
            let command = ["env"] + settings + [try #require(Python.known.last).path, script]
            let run = try SampledRun(command, in: directory, sampling: ["--allocations"])
            let report = try BuiltCommand.run(["report", run.trace]).output
            #expect(report.contains("PYTHONMALLOC=malloc") == isHidden, "\(report)")
        }
    }

    @Test("Perfetto's counters of the process's memory")
    func counters() throws {
        let run = try record(
            """
            int main(void) {
                char *block = malloc(50000000);
                memset(block, 1, 50000000);
                usleep(400000);
                return block[100] - 1;
            }
            """)
        #expect(run.result.status == 0)
        let lines = try String(contentsOfFile: run.trace, encoding: .utf8).split(separator: "\n").filter {
            $0.contains("\"cat\":\"memory\"")
        }
        #expect(!lines.isEmpty)
        for line in lines {
            #expect(
                line.contains(
                    /"name":"memory","cat":"memory","ph":"C",.*"args":\{"resident":[0-9]+(,"proportional":[0-9]+)?\}\}/)
            )
        }
    }

    @Test("at an interval of at least a kilobyte", arguments: ["0", "1000", "much", "-4096"])
    func interval(text: String) throws {
        let result = try BuiltCommand.run(
            ["record", "--allocations=\(text)", "-o", directory.path("trace.json"), "--", "true"])
        #expect(result.status == 2)
        let sentence = "--allocations takes a number of bytes, at least 1024, not \"\(text)\". "
        #expect(result.errors.contains(sentence + "If that is the command, put \"--\" before it."))
    }

    @Test("only to a timeline")
    func destination() throws {
        let result = try BuiltCommand.run(
            ["record", "--allocations", "--to", "lttng", "-o", directory.path("trace"), "--", "true"])
        #expect(result.status == 2)
        #expect(
            result.errors == "faultline: --allocations records to a timeline only; leave out \"--to lttng\".\n")
    }
}
