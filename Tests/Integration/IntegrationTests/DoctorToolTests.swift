import Foundation
import Testing

/// Tests the doctor's findings about commands and libraries that are missing, old or broken.
@Suite("Among LTTng's and Babeltrace's tools, the doctor finds")
struct DoctorToolTests {
    let directory: TemporaryDirectory
    let commands: FakeCommands

    init() throws {
        directory = try TemporaryDirectory()
        commands = try FakeCommands(in: directory)
    }

    @Test("commands that are not in PATH")
    func noCommands() throws {
        let report = try DoctorReport(environment: ["PATH": commands.folder], directory: directory.url)
        for name in ["lttng", "lttng-sessiond", "babeltrace2"] {
            let check = try report.check(name)
            #expect(check.state == "missing" && check.found == "not in PATH")
            let package = name == "babeltrace2" ? name : "lttng-tools"
            #expect(check.remedy == "Install \(package); if it is installed, add its directory to PATH.")
        }
        #expect(report.isReady)
    }

    @Test("commands that are too old, broken, without a version, or never end")
    func oddCommands() throws {
        // A pipe without a writer never ends, and neither does a child process that reads it.
        mkfifo(directory.path("pipe"), 0o600)
        try commands.install("lttng", "cat '\(directory.path("pipe"))' | cat")
        try commands.install("lttng-sessiond", "echo lttng-sessiond 2.12.9; cat")
        try commands.install("babeltrace2", "kill -SEGV $$")
        let report = try commands.report()
        #expect(try report.check("lttng").found == "\"lttng --version\" does not end")
        #expect(try report.check("lttng-sessiond").state == "warning")
        #expect(try report.check("lttng-sessiond").found == "2.12.9, and 2.13 is needed")
        #expect(try report.check("babeltrace2").found == "does not run (ended by signal 11)")
        #expect(report.isReady)
        try commands.install("lttng", "echo hello")
        try commands.install("babeltrace2", "exit 127")
        let second = try commands.report()
        #expect(try second.check("lttng").found == "\"lttng --version\" reports no version")
        #expect(try second.check("babeltrace2").found == "does not run (exit status 127)")
    }

    @Test("a command that never ends, and leaves none of its processes", .timeLimit(.minutes(10)))
    func endedCommands() throws {
        mkfifo(directory.path("pipe"), 0o600)
        try commands.install("lttng", "echo $$ >'\(directory.path("number"))'; cat '\(directory.path("pipe"))'; :")
        _ = try commands.report()
        let number = try String(contentsOfFile: directory.path("number"), encoding: .utf8)
        let identifier = try #require(pid_t(number.trimmingCharacters(in: .whitespacesAndNewlines)))
        // The whole process group; the system reaps whoever is left.
        while kill(-identifier, 0) == 0 { sched_yield() }
        #expect(errno == ESRCH)
    }

    @Test("a tracing library that cannot be loaded")
    func brokenLibrary() throws {
        try "no library\n".write(toFile: directory.path("liblttng-ust.so.1"), atomically: true, encoding: .utf8)
        let report = try DoctorReport(
            environment: ["LD_LIBRARY_PATH": directory.url.path], directory: directory.url)
        let check = try report.check("liblttng-ust")
        #expect(check.state == "failed" && check.found == "liblttng-ust.so.1 cannot be loaded (file too short)")
        #expect(check.remedy == "Reinstall liblttng-ust-dev.")
        #expect(report.isReady)
    }

    @Test("a tracing library that lacks another library, or a function of it", arguments: [true, false])
    func lackingLibrary(isLinked: Bool) throws {
        let other = try CLibrary.build("libother.so.3", in: directory, "int other(void) { return 1; }")
        let library = try CLibrary.build(
            "liblttng-ust.so.1", in: directory, "int other(void); int uses(void) { return other(); }",
            options: isLinked ? [other] : [])
        unlink(other)
        let report = try DoctorReport(
            environment: ["LD_LIBRARY_PATH": directory.url.path], directory: directory.url)
        let check = try report.check("liblttng-ust")
        #expect(check.state == "failed")
        #expect(check.found == "\(library) lacks \(isLinked ? "libother.so.3" : "other")")
    }
}
