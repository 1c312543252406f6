import Foundation
import Testing

/// Real session daemons, which only one command and its children can see.
private enum PrivateDaemon {
    static let isAvailable: Bool = {
        let script = "lttng-sessiond --version && lttng --version && test -e /proc/self"
        return (try? PrivateMounts.run(script, after: mounts, ownProcesses: true).status) == 0
    }()

    static let mounts = [
        PrivateMounts.disk("/run", bytes: 64 << 20), "mkdir /run/lttng /run/home", "chmod 777 /run/home",
        PrivateMounts.disk("/dev/shm", bytes: 256 << 20, options: ",mode=1777"),
    ]

    static let start = "lttng-sessiond --no-kernel --daemonize"

    /// Returns commands that end the daemon with a signal and wait until it is gone.
    static func end(_ signal: String) -> String {
        "daemon=$(cat /run/lttng/lttng-sessiond.pid); kill -\(signal) $daemon; while kill -0 $daemon; do :; done 2>/dev/null"
    }

    /// Runs a command as the user nobody.
    static let asNobody = "HOME=/run/home setpriv --reuid=65534 --regid=65534 --clear-groups"

    static let hasNobody: Bool = {
        let script = "\(asNobody) test -x '\(BuiltCommand.faultline)'"
        return geteuid() == 0 && (try? BuiltCommand.run(["-c", script], program: "/bin/sh").status) == 0
    }()
}

/// Tests the doctor's findings about LTTng's session daemons.
@Suite(
    "Among session daemons, the doctor finds",
    .enabled(if: PrivateMounts.isAvailable, PrivateMounts.need),
    .enabled(if: PrivateDaemon.isAvailable, "needs lttng-tools: sudo apt-get install lttng-tools"))
struct DoctorLTTngTests {
    private static let start = PrivateDaemon.start

    /// Runs the doctor after steps that start and end daemons.
    private func report(
        _ steps: String..., command: String = DoctorReport.command, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> DoctorReport {
        try DoctorReport(
            script: command, after: PrivateDaemon.mounts + steps, ownProcesses: true, sourceLocation: sourceLocation)
    }

    @Test("none, and reports how to start one")
    func none() throws {
        let report = try report()
        let check = try report.check("session daemon")
        #expect(check.state == "missing" && check.found == "none runs for root")
        #expect(check.remedy.hasPrefix("\"faultline record --to lttng\" starts one; start one yourself only for "))
        #expect(check.command == "lttng-sessiond --daemonize")
        #expect(try report.check("wait futex").found == "nothing has used it yet")
        #expect(report.isReady)
    }

    @Test("a running one, and leaves it running")
    func running() throws {
        let alive = "kill -0 $(cat /run/lttng/lttng-sessiond.pid)"
        let report = try report(Self.start, command: "\(DoctorReport.command) && \(alive)")
        let check = try report.check("session daemon")
        #expect(check.state == "ok")
        #expect(check.found.wholeMatch(of: /runs \(process [0-9]+\), \/var\/run\/lttng/) != nil)
        let wait = try report.check("wait futex")
        #expect(wait.state == "ok" && wait.found == "set by the daemon that runs")
    }

    @Test("a killed one, and what it left behind")
    func killed() throws {
        let report = try report(Self.start, PrivateDaemon.end("KILL"))
        let check = try report.check("session daemon")
        #expect(check.state == "warning" && check.found == "was killed, and left its sockets in /var/run/lttng")
        let wait = try report.check("wait futex")
        #expect(wait.state == "warning" && wait.found == "lttng-ust-wait-8 is set, and no daemon runs")
        #expect(wait.remedy == "A killed daemon left it set: start the next daemon before the program.")
    }

    @Test("one that ended normally")
    func ended() throws {
        let report = try report(Self.start, PrivateDaemon.end("TERM"))
        #expect(try report.check("session daemon").state == "missing")
        let wait = try report.check("wait futex")
        #expect(wait.state == "ok" && wait.found == "free")
    }

    @Test("that LTTng ignores root's LTTNG_HOME")
    func ignoredHome() throws {
        let report = try report(Self.start, "export LTTNG_HOME=/run/home")
        #expect(try report.check("session daemon").state == "ok")
        let check = try report.check("LTTNG_HOME")
        #expect(check.state == "warning" && check.found == "/run/home is ignored for root")
        #expect(check.why == "LTTng 2.13 ignores it for root, whose sockets are always in /var/run/lttng.")
    }

    @Test(
        "how long a program waits for a hanging daemon",
        arguments: [
            ("", "ok", "3,000 ms (LTTNG_UST_REGISTER_TIMEOUT is not set)"),
            ("500", "ok", "500 ms"), ("0", "ok", "0 ms: a program's first events may come too early"),
            ("-1", "warning", "-1: a daemon that hangs blocks every program"),
            ("soon", "warning", "LTTNG_UST_REGISTER_TIMEOUT=soon is not a number"),
        ])
    func registerTimeout(value: String, state: String, found: String) throws {
        let check = try report("export LTTNG_UST_REGISTER_TIMEOUT=\(value)").check("register timeout")
        #expect(check.state == state && check.found == found)
    }

    // MARK: - As a user other than root

    private static let asNobody = PrivateDaemon.asNobody
    private static let nobody = "the tests do not run as root, or another user cannot run what they built"
    private static let command = "cd /run/home && \(asNobody) \(DoctorReport.command)"

    @Test(
        "root's daemon, which a user outside the group may not use", .enabled(if: PrivateDaemon.hasNobody, "\(nobody)"))
    func outsideGroup() throws {
        let report = try report(Self.start, command: Self.command)
        let own = try report.check("session daemon")
        #expect(own.state == "missing" && own.found == "none runs for this user")
        #expect(try report.check("root's daemon").state == "ok")
        let group = try report.check("group tracing")
        #expect(group.state == "warning" && group.found == "this user is not in it, and root's daemon runs")
        #expect(group.command == "sudo usermod --append --groups tracing nobody")
        #expect(try report.check("wait futex").found == "set by the daemon that runs")
    }

    @Test("that a user is in the group", .enabled(if: PrivateDaemon.hasNobody, "\(nobody)"))
    func insideGroup() throws {
        let member = Self.command.replacingOccurrences(of: "--clear-groups", with: "--groups tracing")
        let report = try report(Self.start, command: member)
        #expect(try report.check("root's daemon").state == "ok")
        let group = try report.check("group tracing")
        #expect(group.state == "ok" && group.found == "this user is in it")
    }

    @Test(
        "the user's own daemon, and another one of the user's that blocks programs",
        .enabled(if: PrivateDaemon.hasNobody, "\(nobody)"))
    func ownDaemon() throws {
        let start = "\(Self.asNobody) \(Self.start)"
        let report = try report(start, command: Self.command)
        #expect(try report.check("session daemon").found.hasSuffix(", /run/home/.lttng"))
        #expect(try report.check("root's daemon").state == "missing")
        #expect(
            try report.check("group tracing").found == "this user is not in it; only a root daemon needs it")
        #expect(try report.check("wait futex").state == "ok")

        let elsewhere = try self.report(start, "export LTTNG_HOME=/run/elsewhere", command: Self.command)
        #expect(try elsewhere.check("session daemon").state == "missing")
        let wait = try elsewhere.check("wait futex")
        #expect(wait.state == "warning")
        #expect(
            wait.found.wholeMatch(of: /lttng-ust-wait-8-65534 is set; process [0-9]+ serves elsewhere/) != nil)
        #expect(wait.remedy == "Use that daemon, which has another LTTNG_HOME, or stop it.")
    }
}
