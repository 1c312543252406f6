import Foundation
import Testing

/// A command under `record` behaves as it does alone.
@Suite("Under record, a command", .timeLimit(.minutes(10)))
struct PassThroughTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func record(_ script: String) throws -> BuiltCommand.Result {
        try BuiltCommand.run(
            ["record", "--quiet", "-o", directory.path("trace.json"), "--", "/bin/sh", "-c", script])
    }

    @Test("keeps its output, its errors and its exit status", arguments: [0, 1, 3, 75, 255])
    func status(status: Int32) throws {
        let result = try record("echo out; echo err >&2; exit \(status)")
        #expect(result.output == "out\n")
        #expect(
            result.errors
                == "err\nfaultline: No process of \"/bin/sh\" recorded anything: no process opened a Faultline store or called "
                + "SQLite in a shared library.\n")
        #expect(result.status == status && !result.wasKilled)
    }

    @Test("that is killed by a signal appears killed by that signal", arguments: [SIGKILL, SIGTERM, SIGSEGV, SIGABRT])
    func killed(signal: Int32) throws {
        let result = try record("kill -\(signal) $$")
        #expect(result.wasKilled && result.status == signal)
    }

    @Test("receives the signals sent to the tool", arguments: [SIGTERM, SIGINT, SIGHUP, SIGUSR1])
    func signals(signal: Int32) throws {
        let ready = directory.path("ready")
        let script = "trap 'echo caught; exit 7' \(signal); touch \(ready); while :; do sleep 0.01; done"
        let running = try RunningCommand(
            BuiltCommand.faultline,
            ["record", "--quiet", "-o", directory.path("trace.json"), "--", "/bin/sh", "-c", script])
        while !FileManager.default.fileExists(atPath: ready) { sched_yield() }
        kill(running.identifier, signal)
        let result = running.finish()
        #expect(result.output == "caught\n")
        #expect(result.status == 7 && !result.wasKilled)
    }

    @Test("gets its arguments unchanged")
    func arguments() throws {
        let result = try BuiltCommand.run(
            ["record", "--quiet", "-o", directory.path("trace.json"), "--", "/bin/echo", "-n", "--", "a b", "--format"])
        #expect(result.output == "-- a b --format")
    }

    @Test("keeps ignored signals ignored, as nohup requires")
    func ignored() throws {
        let trace = directory.path("trace.json")
        let script =
            "trap '' HUP INT; exec \(BuiltCommand.faultline) record --quiet -o \(trace) -- grep SigIgn /proc/self/status"
        let alone = try BuiltCommand.run(
            ["-c", "trap '' HUP INT; exec grep SigIgn /proc/self/status"], program: "/bin/sh")
        #expect(try BuiltCommand.run(["-c", script], program: "/bin/sh").output == alone.output)
    }

    @Test("keeps its exit status even if the report cannot be written")
    func unreadable() throws {
        let trace = directory.path("trace.json")
        let command = "\(BuiltCommand.faultline) record -o \(trace) -- /bin/sh -c 'exit 3'"
        for redirection in ["2>/dev/full", "2>&-", "2>&1 >/dev/null | true"] {
            // A shell reports the status of the last command of a pipe.
            let script =
                redirection.hasSuffix("true")
                ? "set -o pipefail; \(command) \(redirection)" : "\(command) \(redirection)"
            let result = try BuiltCommand.run(["-c", script], program: "/bin/bash")
            #expect(result.status == 3, "\(redirection)")
        }
    }

    @Test("gets arguments and variables unchanged even if they are not valid text")
    func bytes() throws {
        let trace = directory.path("trace.json")
        let word = "$(printf 'a\\377b')"
        let script =
            "WORD=\(word) \(BuiltCommand.faultline) record --quiet -o \(trace) -- /bin/sh -c 'printf %s%s \"$1\" \"$WORD\"' sh \(word) | od -An -tx1"
        #expect(try BuiltCommand.run(["-c", script], program: "/bin/sh").output == " 61 ff 62 61 ff 62\n")
    }
}
