import Foundation
import Testing

/// Tests the doctor's findings about an unsuitable environment.
///
/// Each test creates the environment with its own mounts, limits and variables.
@Suite("The doctor finds")
struct DoctorSurroundingsTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func make(_ name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: directory.path(name), withIntermediateDirectories: true)
        return directory.path(name)
    }

    // MARK: - Limits and variables

    /// Runs the doctor in a shell that has set a limit.
    private func limited(_ limit: String) throws -> DoctorReport {
        try DoctorReport(
            BuiltCommand.run(
                ["-c", "\(limit); exec \(DoctorReport.command)"], program: "/bin/sh", directory: directory.url))
    }

    @Test("a file size limit that still leaves space for a recording")
    func fileSize() throws {
        // In blocks of 512 bytes.
        let report = try limited("ulimit -f 2048")
        let check = try report.check("file size")
        #expect(check.state == "warning" && check.found == "1.00 MiB, and a million events take 150 MB")
        #expect(check.command == "ulimit -f unlimited")
        #expect(report.isReady)
    }

    @Test("a file size limit too low for any recording, and survives it")
    func tinyFiles() throws {
        // Less than the smallest rings need, but enough for the doctor's output.
        let report = try limited("ulimit -f 40")
        #expect(!report.isReady)
        #expect(try report.check("file size").found == "20.0 KiB, and a million events take 150 MB")
        #expect(try report.check("reserved space").found == "the file size limit is below the smallest ring buffer")
        #expect(try report.check("shared memory").found == "cannot create a ring buffer in /dev/shm")
        let trial = try report.check("trial run")
        #expect(trial.state == "failed" && trial.found == "no complete timeline was written in \(directory.url.path)")
        #expect(trial.remedy.contains("(File too large)"))
        #expect(try report.check("store").state == "failed")
    }

    @Test("a limit on open files that leaves the recorder no descriptors of its own", arguments: [64, 512, 513])
    func openFiles(limit: Int) throws {
        let report = try limited("ulimit -n \(limit)")
        let check = try report.check("open files")
        #expect(check.state == (limit > 512 ? "ok" : "warning"))
        #expect(check.found == (limit > 512 ? "513" : "\(limit), which leaves none of at least 512"))
        #expect(report.isReady)
    }

    @Test("the servers for debug information, and contacts none of them")
    func debuginfod() throws {
        let report = try DoctorReport(
            environment: ["DEBUGINFOD_URLS": "http://127.0.0.1:9/ http://127.0.0.1:10/"], directory: directory.url)
        #expect(try report.check("debuginfod").found == "DEBUGINFOD_URLS names 2 servers: reports may wait")
        #expect(try report.check("own addresses").state == "ok")
    }

    @Test(
        "a directory in which no file can be created", arguments: ["/proc", "/no/such/directory"])
    func unwritable(place: String) throws {
        let report = try DoctorReport(["--directory", place])
        let reason = place == "/proc" ? "" : " (No such file or directory)"
        for name in ["trial run", "file system"] {
            let check = try report.check(name)
            #expect(check.state == "failed" && check.isEssential)
            #expect(check.found.hasPrefix("cannot create a file in \(place)\(reason)"))
        }
        #expect(report.groups[2].checks.count == 1)
        #expect(!report.isReady)
    }

    @Test("that its working directory is gone")
    func removedDirectory() throws {
        let script = "mkdir gone && cd gone && rmdir ../gone && exec \(DoctorReport.command)"
        let report = try DoctorReport(
            BuiltCommand.run(["-c", script], program: "/bin/sh", directory: directory.url))
        #expect(try report.check("trial run").found == "cannot create a file in . (No such file or directory)")
    }

    @Test("programs without debug information, and without symbols", arguments: ["--strip-debug", "--strip-all"])
    func stripped(option: String) throws {
        let copy = directory.path("faultline")
        let strip = try BuiltCommand.run(
            ["strip", option, "-o", copy, BuiltCommand.faultline], program: "/usr/bin/env")
        try #require(strip.status == 0, "\(strip.errors)")
        let report = try DoctorReport(
            BuiltCommand.run(["doctor", "--format", "json"], program: copy, directory: directory.url))
        let check = try report.check("own addresses")
        #expect(check.state == "warning")
        #expect(
            check.found
                == (option == "--strip-debug"
                    ? "functions without lines: this program has no DWARF"
                    : "no functions, no lines: this program was stripped"))
        #expect(try report.check("frame pointers").found == "24 of 24 nested calls are in the stack")
        #expect(report.isReady)
    }

    // MARK: - Packages

    @Test("packages that dpkg does not list as installed")
    func packages() throws {
        let commands = try FakeCommands(in: directory)
        try commands.install("dpkg-query", "echo 'libsqlite3-dev installed'; echo 'libdw-dev config-files'; exit 1")
        let report = try commands.report()
        let packages = [
            "liblttng-ust-dev", "lttng-tools", "babeltrace2", "libbabeltrace2-dev", "libsimdjson-dev", "libdw-dev",
            "zlib1g-dev",
        ]
        try #require(report.machine.system.contains("Debian") || report.machine.system.contains("Ubuntu"))
        #expect(report.installation.packages == packages)
        let sudo = geteuid() == 0 ? "" : "sudo "
        #expect(report.installation.command == "\(sudo)apt-get install \(packages.joined(separator: " "))")
    }

    // MARK: - Libraries with other behaviour

    @Test("an SQLite library that was built without mutexes, and is too old")
    func oldLibrary() throws {
        let library = try CLibrary.build(
            "interposer.so", in: directory,
            """
            const char *sqlite3_libversion(void) { return "3.36.0"; }
            int sqlite3_libversion_number(void) { return 3036000; }
            int sqlite3_threadsafe(void) { return 0; }
            """)
        let report = try DoctorReport(environment: ["LD_PRELOAD": library], directory: directory.url)
        let check = try report.check("library")
        #expect(check.state == "failed" && check.found == "3.36.0, and 3.37.0 is needed")
        #expect(check.remedy == "Install a newer libsqlite3 than \(library).")
        #expect(try report.check("threads").found == "single-thread: built without mutexes")
        #expect(!report.isReady)
    }

    @Test("an SQLite library older than that of the build")
    func olderLibrary() throws {
        let library = try CLibrary.build(
            "interposer.so", in: directory,
            """
            const char *sqlite3_libversion(void) { return "3.37.2"; }
            int sqlite3_libversion_number(void) { return 3037002; }
            int sqlite3_threadsafe(void) { return 2; }
            """)
        let report = try DoctorReport(environment: ["LD_PRELOAD": library], directory: directory.url)
        let check = try report.check("library")
        #expect(check.state == "warning" && check.found.hasPrefix("3.37.2, older than 3."))
        #expect(try report.check("threads").found == "multi-thread; a store guards its own connection")
        #expect(report.isReady)
    }

    @Test("locks that are granted to everyone, as on network file systems")
    func worthlessLocks() throws {
        let library = try CLibrary.build(
            "interposer.so", in: directory, "int flock(int descriptor, int operation) { return 0; }")
        let report = try DoctorReport(environment: ["LD_PRELOAD": library], directory: directory.url)
        let check = try report.check("file lock")
        #expect(check.state == "failed" && check.isEssential && check.found == "granted to several at once")
        #expect(try report.check("record locks").state == "ok")
        #expect(!report.isReady)
    }

    @Test("locks that are never granted")
    func refusedLocks() throws {
        let library = try CLibrary.build(
            "interposer.so", in: directory,
            """
            #include <errno.h>
            #include <stdarg.h>
            #include <sys/syscall.h>
            long syscall(long, ...);
            int fcntl64(int descriptor, int command, ...) {
                va_list list;
                va_start(list, command);
                long argument = va_arg(list, long);
                va_end(list);
                if (command == 6) { errno = ENOLCK; return -1; }
                return (int)syscall(SYS_fcntl, descriptor, command, argument);
            }
            int fcntl(int descriptor, int command, ...) __attribute__((alias("fcntl64")));
            """)
        let report = try DoctorReport(environment: ["LD_PRELOAD": library], directory: directory.url)
        #expect(try report.check("record locks").found == "refused (No locks available)")
        #expect(try report.check("write-ahead log").state == "failed")
        #expect(!report.isReady)
    }

    @Test("locks that never return, and removes its own files")
    func hangingLocks() throws {
        let library = try CLibrary.build(
            "interposer.so", in: directory,
            """
            #include <stdarg.h>
            #include <sys/syscall.h>
            #include <unistd.h>
            int fcntl64(int descriptor, int command, ...) {
                va_list list;
                va_start(list, command);
                long argument = va_arg(list, long);
                va_end(list);
                while (command == 6) { pause(); }
                return (int)syscall(SYS_fcntl, descriptor, command, argument);
            }
            int fcntl(int descriptor, int command, ...) __attribute__((alias("fcntl64")));
            """)
        let (here, temporary) = (try make("here"), try make("temporary"))
        let report = try DoctorReport(
            ["--directory", here], environment: ["LD_PRELOAD": library, "TMPDIR": temporary])
        #expect(try report.check("file system").found == "\(here) did not respond within 15 s")
        #expect(try report.check("store").found == "\(temporary) did not respond within 15 s")
        #expect(try report.check("trial run").state == "ok")
        for place in [here, temporary] {
            #expect(try FileManager.default.contentsOfDirectory(atPath: place).isEmpty)
        }
    }
}
