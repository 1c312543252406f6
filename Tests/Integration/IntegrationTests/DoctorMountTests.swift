import Foundation
import Testing

/// Tests the doctor's findings about file systems that are full, read-only, dead or of the wrong kind.
@Suite(
    "Among mounts, the doctor finds",
    .enabled(if: PrivateMounts.isAvailable, PrivateMounts.need))
struct DoctorMountTests {
    let directory: TemporaryDirectory
    let disk: String

    init() throws {
        directory = try TemporaryDirectory()
        disk = directory.path("disk")
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
    }

    private var report: String { "cd '\(directory.url.path)' && \(DoctorReport.command)" }

    @Test("shared memory without space, and that recordings use another place")
    func smallSharedMemory() throws {
        let report = try DoctorReport(script: report, after: [PrivateMounts.disk("/dev/shm", bytes: 1 << 20)])
        let check = try report.check("shared memory")
        #expect(check.state == "warning" && check.found == "/dev/shm has 1.00 MiB free; a recording takes 32.0 MiB")
        #expect(
            check.remedy == "Free some space there, or mount a tmpfs of at least 64 MiB (docker: --shm-size).")
        #expect(try report.check("buffers").state == "warning")
        #expect(try report.check("buffers").found.hasSuffix(" per channel, 1.00 MiB free in /dev/shm"))
        #expect(try report.check("trial run").state == "ok")
        #expect(report.isReady)
    }

    @Test("shared memory that is read-only")
    func closedSharedMemory() throws {
        let report = try DoctorReport(
            script: report, after: [PrivateMounts.disk("/dev/shm", bytes: 64 << 20, options: ",ro")])
        let check = try report.check("shared memory")
        #expect(
            check.state == "warning" && check.found == "cannot create a file in /dev/shm (Read-only file system)")
        #expect(report.isReady)
    }

    @Test("shared memory on a disk")
    func diskAsSharedMemory() throws {
        let report = try DoctorReport(script: report, after: ["mount --bind '\(directory.url.path)' /dev/shm"])
        let check = try report.check("shared memory")
        let kind = try BuiltCommand.run(
            ["--noheadings", "--output", "FSTYPE", "--target", directory.url.path], program: "/usr/bin/findmnt"
        ).output.trimmingCharacters(in: .whitespacesAndNewlines)
        guard kind != "tmpfs" else {
            #expect(check.state == "ok")
            return
        }
        #expect(check.state == "warning" && check.found == "/dev/shm is \(kind), not tmpfs")
        #expect(check.command == "mount -t tmpfs tmpfs /dev/shm")
    }

    @Test("no space for rings anywhere")
    func noRoom() throws {
        let report = try DoctorReport(
            script: "export TMPDIR='\(disk)' FAULTLINE_RINGS='\(disk)'; \(DoctorReport.command) --directory '\(disk)'",
            after: [PrivateMounts.disk("/dev/shm", bytes: 1 << 20), PrivateMounts.disk(disk, bytes: 1 << 20)])
        #expect(!report.isReady)
        let trial = try report.check("trial run")
        #expect(trial.state == "failed" && trial.found == "no complete timeline was written in \(disk)")
        #expect(
            trial.remedy == "There is no space for a recording in \"/dev/shm\" (No space left on device); "
                + "free some space there, or name another directory in FAULTLINE_RINGS.")
        for name in ["fallback", "FAULTLINE_RINGS"] {
            let check = try report.check(name)
            #expect(check.state == (name == "fallback" ? "warning" : "failed") && !check.isEssential)
            // Less while another check uses the space.
            #expect(check.found.hasPrefix("\(disk) has "))
            #expect(check.found.contains(/[0-9.,]+\ [KM]iB free; a recording takes 32.0 MiB$/))
        }
        let system = try report.check("file system")
        #expect(system.state == "warning")
        #expect(system.found.contains(/^tmpfs, [0-9.,]+ [KM]iB free; a million events take 150 MB$/))
    }

    @Test("a read-only directory")
    func closedDirectory() throws {
        let report = try DoctorReport(
            script: "\(DoctorReport.command) --directory '\(disk)'",
            after: [PrivateMounts.disk(disk, bytes: 1 << 30, options: ",ro")])
        #expect(!report.isReady)
        for name in ["trial run", "file system"] {
            let check = try report.check(name)
            #expect(check.state == "failed" && check.isEssential)
            #expect(check.found == "cannot create a file in \(disk) (Read-only file system)")
        }
        #expect(
            try report.check("trial run").remedy == "Name another directory with --directory, and record with -o.")
    }

    @Test("a full directory, in which neither a trace nor a store can be created")
    func fullDirectory() throws {
        let report = try DoctorReport(
            script: "\(DoctorReport.command) --directory '\(disk)'", after: [PrivateMounts.disk(disk, bytes: 8 << 10)])
        #expect(!report.isReady)
        #expect(try report.check("trial run").remedy.contains("could not be written (No space left on device)"))
        let log = try report.check("write-ahead log")
        #expect(log.state == "failed" && log.found == "a store in \(disk) does not work")
        #expect(log.remedy.hasSuffix("failed because the disk is full; free some space and try again."))
        #expect(try report.check("store").state == "ok")
    }

    @Test("a slow clock, and the command for a faster one")
    func slowClock() throws {
        let folder = "/sys/devices/system/clocksource/clocksource0"
        try "hpet\n".write(toFile: directory.path("current"), atomically: true, encoding: .utf8)
        for (offered, command) in [
            ("tsc hpet acpi_pm", "echo tsc >\(folder)/current_clocksource"), ("hpet acpi_pm", nil),
        ] {
            try "\(offered)\n".write(toFile: directory.path("available"), atomically: true, encoding: .utf8)
            let report = try DoctorReport(
                script: report,
                after: [
                    "mount --bind '\(directory.path("current"))' \(folder)/current_clocksource",
                    "mount --bind '\(directory.path("available"))' \(folder)/available_clocksource",
                ])
            let check = try report.check("clock")
            #expect(check.state == "warning" && check.found.wholeMatch(of: /hpet, [0-9.]+ (ns|µs) per read/) != nil)
            #expect(check.command == command)
            let none = "This machine has no faster clock: rely on counts rather than times."
            #expect(check.remedy == (command == nil ? none : "Change it, as root."))
            #expect(report.isReady)
        }
    }

    @Test("a distribution whose packages have other names")
    func otherDistribution() throws {
        try "PRETTY_NAME=\"Fedora Linux 42\"\nID=fedora\n".write(
            toFile: directory.path("release"), atomically: true, encoding: .utf8)
        let mounts = ["mount --bind '\(directory.path("release"))' /etc/os-release", "export PATH="]
        let report = try DoctorReport(script: report, after: mounts)
        #expect(report.machine.system == "Fedora Linux 42")
        #expect(report.installation.command == nil)
        #expect(Set(["lttng-tools", "babeltrace2"]).isSubset(of: report.installation.packages))
        let text = try PrivateMounts.run("'\(BuiltCommand.faultline)' doctor", after: mounts).output
        #expect(text.hasPrefix("faultline doctor: Fedora Linux 42, Linux "))
        #expect(text.contains("find this distribution's names of these Debian packages:\n"))
        #expect(text.hasSuffix("\n\(report.installation.packages.joined(separator: " "))\n"))
    }

    @Test("a file system that does not respond, and continues without it")
    func deadDirectory() throws {
        // A file system whose server accepts the request and never answers.
        let dead = "exec 3<>/dev/fuse; mount -i -t fuse -o fd=3,rootmode=40000,user_id=0,group_id=0 none '\(disk)'"
        let report = try DoctorReport(script: "\(DoctorReport.command) --directory '\(disk)'", after: [dead])
        #expect(!report.isReady)
        for name in ["trial run", "file system"] {
            let check = try report.check(name)
            #expect(
                check.state == "failed" && check.isEssential && check.found == "\(disk) did not respond within 15 s")
        }
        #expect(try report.check("shared memory").state == "ok")
        #expect(try report.check("store").state == "ok")
        #expect(report.groups.allSatisfy { !$0.checks.isEmpty })
    }

    @Test("nothing left in shared memory, not even by LTTng's library")
    func cleanSharedMemory() throws {
        let result = try PrivateMounts.run(
            "\(report) >/dev/null; ls -A /dev/shm", after: [PrivateMounts.disk("/dev/shm", bytes: 64 << 20)])
        #expect(result.output.isEmpty && result.status == 0 && result.errors.isEmpty)
    }
}
