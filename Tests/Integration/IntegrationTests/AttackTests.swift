import Foundation
import Testing

/// Attacks on a trace: killed programs, full disks, concurrent readers and hostile files.
///
/// `make attack` runs each attack `FAULTLINE_ATTACK_ROUNDS` times; otherwise there are only a few rounds.
@Suite("Under attack", .timeLimit(.minutes(60)))
struct AttackTests {
    static let rounds = ProcessInfo.processInfo.environment["FAULTLINE_ATTACK_ROUNDS"].flatMap { Int($0) } ?? 4
    let directory: TemporaryDirectory
    let trace: String

    init() throws {
        directory = try TemporaryDirectory()
        trace = directory.path("trace.json")
    }

    /// Runs a program that records a number of events and is then killed.
    private func kill(recording events: Int, to destination: String) throws {
        let result = try BuiltCommand.run(
            ["is-killed", String(events)], program: UnrulyProgram.path, environment: ["FAULTLINE_TRACE": destination])
        #expect(result.wasKilled)
    }

    private func fetches(_ trace: String) throws -> Int {
        let result = try BuiltCommand.run(["events", trace, "--kind", "fetch", "--format", "json"])
        #expect(result.status == 0 && result.errors.isEmpty)
        return result.output.count(where: \.isNewline)
    }

    /// Returns a path on another file system than the directory's.
    private func elsewhere(_ name: String) -> String { "/dev/shm/\(directory.url.lastPathComponent)-\(name)" }

    @Test("a killed program's trace that several readers complete at once has every event once")
    func parallelReaders() throws {
        for round in 0..<Self.rounds {
            let trace = directory.path("\(round).json")
            try kill(recording: 5000, to: "timeline:\(trace)")
            let readers = try (0..<4).map { _ in try RunningCommand(BuiltCommand.faultline, ["report", trace]) }
            let reports = readers.map { $0.finish() }
            #expect(reports.allSatisfy { $0.status == 0 && $0.output.contains(" none lost") })
            #expect(reports.count { $0.errors.contains("events that it had recorded were added") } <= 1)
            #expect(try fetches(trace) == 5000)
            _ = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: trace)))
            try FileManager.default.removeItem(atPath: trace)
        }
    }

    @Test(
        "a trace on a full disk is completed once there is space, and loses nothing until then",
        .enabled(if: PrivateMounts.isAvailable, PrivateMounts.need))
    func fullDisk() throws {
        let disk = directory.path("disk")
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        let faultline = BuiltCommand.faultline
        let script = """
            dd if=/dev/zero of=\(disk)/filler bs=1k count=36 2>/dev/null
            FAULTLINE_TRACE=timeline:\(disk)/trace.json \(UnrulyProgram.path) is-killed 1000
            dd if=/dev/zero of=\(disk)/filler2 bs=1k 2>/dev/null
            \(faultline) report \(disk)/trace.json | head -1
            \(faultline) report \(disk)/trace.json | head -1
            rm \(disk)/filler* && mount -o remount,size=8m \(disk)
            \(faultline) report \(disk)/trace.json | head -1
            \(faultline) events \(disk)/trace.json --kind fetch --format json | wc -l
            """
        let result = try PrivateMounts.run(
            script.split(separator: "\n").joined(separator: "; "), after: [PrivateMounts.disk(disk, bytes: 64 << 10)])
        let kept = result.errors.split(separator: "\n").filter {
            $0.contains("(No space left on device); they are kept")
        }
        #expect(kept.count == 2)
        #expect(!result.output.split(separator: "\n").prefix(2).contains { $0.contains("none lost") })
        let written = try #require(result.output.split(separator: "\n").last.flatMap { Int($0) })
        let lost = try #require(result.output.firstMatch(of: #/ events, (none|\d+) lost/#)).output.1
        // Events that the program could not write while it ran are counted as lost, and all others are in the trace.
        #expect(written + (Int(lost) ?? 0) >= 1000 || written == 1000)
    }

    @Test("rings that belong to no trace are listed, and can be made into a trace")
    func adoption() throws {
        let place = elsewhere("rings")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: place) }
        try kill(recording: 100, to: "rings:\(place)")
        let environment = ["FAULTLINE_RINGS": place]
        let listed = try BuiltCommand.run(["recover"], environment: environment)
        let rings = try #require(
            FileManager.default.contentsOfDirectory(atPath: place).first { $0.hasSuffix(".rings") }.map {
                "\(place)/\($0)"
            })
        #expect(listed.output.contains("\(rings)\n  \(UnrulyProgram.path), process "))
        #expect(
            listed.output.contains(", killed\n  100 events in no trace\n  → faultline recover \(rings) -o trace.json\n")
        )
        let kept = try BuiltCommand.run(["clean"], environment: environment)
        #expect(kept.output.contains("Kept \(rings): 100 of its events are in no trace."))
        let recovered = try BuiltCommand.run(["recover", rings, "-o", trace])
        #expect(
            recovered.errors == "faultline: \(trace): 100 events; \"faultline report \(trace)\" prints the report.\n")
        #expect(try fetches(trace) == 100)
        #expect(!FileManager.default.fileExists(atPath: rings))
        #expect(try BuiltCommand.run(["recover", rings, "-o", directory.path("again.json")]).status == 75)
        #expect(!FileManager.default.fileExists(atPath: directory.path("again.json")))
    }

    @Test("a trace moved to another file system is completed once the user confirms that it is the right one")
    func moved() throws {
        try kill(recording: 100, to: "timeline:\(trace)")
        let place = elsewhere("moved.json")
        defer { try? FileManager.default.removeItem(atPath: place) }
        try FileManager.default.moveItem(atPath: trace, toPath: place)
        let report = try BuiltCommand.run(["report", place])
        #expect(report.status == 0 && !report.output.contains("none lost"))
        #expect(report.errors.contains("left by a program that was killed could not be added to \"\(place)\""))
        let recovered = try BuiltCommand.run(["recover", place])
        #expect(recovered.status == 0 && recovered.errors.contains(" events were added."))
        #expect(try fetches(place) == 100)
        #expect(try BuiltCommand.run(["recover", place]).errors.contains("its programs left no ring buffers"))
    }

    @Test("an empty trace names the command that fills it with the events of its rings")
    func emptyTrace() throws {
        let place = elsewhere("left")
        defer { try? FileManager.default.removeItem(atPath: place) }
        // As "faultline record" leaves them if it is killed before it has met the program.
        let claim = place + "/faultline-abcdef"
        try FileManager.default.createDirectory(atPath: claim, withIntermediateDirectories: true)
        try Data("rings \(trace)".utf8).write(to: URL(fileURLWithPath: claim + "/owner"))
        try Data().write(to: URL(fileURLWithPath: trace))
        let environment = ["FAULTLINE_RINGS": place]
        #expect(try BuiltCommand.run(["report", trace], environment: environment).errors.contains("the file is empty"))
        try kill(recording: 100, to: "rings:\(claim)")
        let rings = try #require(
            FileManager.default.contentsOfDirectory(atPath: claim).first { $0.hasSuffix(".rings") })
        for command in ["report", "events", "recover"] {
            let result = try BuiltCommand.run([command, trace], environment: environment)
            #expect(
                result.status == 2
                    && result.errors
                        == "faultline: The trace \"\(trace)\" is empty because \"faultline record\" was killed, but 100 events "
                        + "are left in ring buffers; write them to the trace with \"faultline recover \(claim)/\(rings) -o "
                        + "\(trace)\".\n"
            )
        }
        #expect(
            try BuiltCommand.run(["recover", "\(claim)/\(rings)", "-o", trace], environment: environment).status == 0)
        #expect(try fetches(trace) == 100)
    }

    @Test("rings of another trace stay, whatever a trace claims")
    func foreignRings() throws {
        try kill(recording: 100, to: "timeline:\(trace)")
        let line = try #require(
            String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n").first {
                $0.contains("faultline.began")
            })
        let rings = try #require(line.firstMatch(of: #/"rings":"([^"]+)"/#)).output.1
        for path in [String(rings), "/dev/zero", "/dev/shm", directory.path("faultline-1-2.rings")] {
            mkfifo(directory.path("faultline-1-2.rings"), 0o600)
            let hostile = directory.path("hostile.json")
            let text = "[\n" + line.replacing(rings, with: path).replacing("\"date\":1", with: "\"date\":2") + "\n"
            try text.write(toFile: hostile, atomically: true, encoding: .utf8)
            for command in ["report", "recover"] { _ = try BuiltCommand.run([command, hostile]) }
            #expect(FileManager.default.fileExists(atPath: String(rings)))
        }
        #expect(
            try BuiltCommand.run(["report", trace]).errors.contains("the last 100 events it had recorded were added"))
        #expect(try fetches(trace) == 100)
    }

    @Test("a program with more threads than rings loses nothing")
    func manyThreads() throws {
        let command = ["record", "-o", trace, "--", UnrulyProgram.path, "many-threads", "1000", "5"]
        let result = try BuiltCommand.run(command)
        #expect(result.status == 0 && result.errors.contains("5,000 events, none lost"))
        #expect(try fetches(trace) == 5000)
    }

    @Test("a program that outlives the command is not reported as killed")
    func outlives() throws {
        let (ready, stop) = (directory.path("ready"), directory.path("stop"))
        let script = "\(UnrulyProgram.path) lingers \(ready) \(stop) & while ! [ -e \(ready) ]; do :; done; exit 3"
        let result = try BuiltCommand.run(["record", "-o", trace, "--", "/bin/sh", "-c", script])
        _ = FileManager.default.createFile(atPath: stop, contents: nil)
        #expect(result.status == 3)
        #expect(
            result.errors.contains(
                "faultline: 1 process of the command is still running; the trace ends where the recording ended.\n"))
        #expect(
            result.errors.contains(" was still running when the recording ended")
                && !result.errors.contains("was killed"))
        #expect(try fetches(trace) == 5)
    }

    @Test("a program that opens its store after the recording ended reports that it is not recorded")
    func tooLate() throws {
        let (begin, done) = (directory.path("begin"), directory.path("done"))
        let later = "while ! [ -e \(begin) ]; do :; done; \(UnrulyProgram.path) records 5 > \(done) 2>&1"
        let result = try BuiltCommand.run(
            [
                "-c",
                "\(BuiltCommand.faultline) record -o \(trace) -- sh -c '(\(later)) &'; touch \(begin); "
                    + "while ! grep -q done \(done); do :; done 2>/dev/null",
            ],
            program: "/bin/sh")
        #expect(result.status == 0)
        #expect(
            try String(contentsOfFile: done, encoding: .utf8)
                == "faultline: The recording that this program was started in has ended, so this program is not recorded; "
                + "record a command that does not end before it.\ndone\n")
    }

    @Test("a program with hardly any file descriptors runs normally and is recorded")
    func fewDescriptors() throws {
        for destination in ["FAULTLINE_TRACE=timeline:\(trace)", "\(BuiltCommand.faultline) record -o \(trace)2 --"] {
            let script = "ulimit -n 12; \(destination) \(UnrulyProgram.path) records 5"
            let result = try BuiltCommand.run(["-c", script], program: "/bin/sh")
            #expect(result.status == 0 && result.output == "done\n")
        }
        #expect(try fetches(trace) == 5)
        let fewest = try BuiltCommand.run(
            ["-c", "ulimit -n 8; FAULTLINE_TRACE=timeline:\(trace)3 \(UnrulyProgram.path) records 5"],
            program: "/bin/sh")
        #expect(fewest.status == 0 && fewest.output == "done\n" && fewest.errors.isEmpty)
        #expect(try fetches(trace + "3") == 5)
    }

    @Test(
        "a program gets every descriptor it is allowed, recorded or not", arguments: [8, 12, 100],
        ["-S", ""])
    func descriptorsLeft(_ limit: Int, _ kind: String) throws {
        func open(_ destination: String) throws -> String {
            try BuiltCommand.run(
                ["-c", "ulimit \(kind) -n \(limit); \(destination) \(UnrulyProgram.path) descriptors"],
                program: "/bin/sh"
            ).output
        }
        let (alone, recorded) = (try open(""), try open("FAULTLINE_TRACE=timeline:\(trace)"))
        #expect(Int(alone.trimmingCharacters(in: .newlines)) ?? 0 > 0)
        #expect(recorded == alone)
        // With a hard limit, it exits with all of them open, so its events are still in its rings.
        let report = try BuiltCommand.run(["report", trace])
        #expect(report.errors.isEmpty == (kind == "-S"))
        #expect(kind == "-S" || report.errors.contains("the last 1 event it had recorded was added"))
        #expect(try fetches(trace) == 1)
    }

    @Test(
        "a program gets every descriptor before the writing thread has run",
        .enabled(if: UnrulyProgram.mayRunFirst, "runs only where real-time scheduling (SCHED_FIFO) is permitted"))
    func descriptorsFirst() throws {
        // With this scheduling on one processor, no other thread of the program runs before the first one waits.
        let script =
            "ulimit -n 8; FAULTLINE_TRACE=timeline:\(trace) taskset -c 0 chrt -f 50 \(UnrulyProgram.path) descriptors"
        let recorded = try BuiltCommand.run(["-c", script], program: "/bin/sh").output
        let alone = try BuiltCommand.run(["-c", "ulimit -n 8; \(UnrulyProgram.path) descriptors"], program: "/bin/sh")
        #expect(recorded == alone.output)
    }

    @Test("lost events are reported even with --quiet")
    func quiet() throws {
        let result = try BuiltCommand.run(
            ["record", "--quiet", "-o", trace, "--", UnrulyProgram.path, "records", "200000"],
            environment: ["FAULTLINE_RING_BYTES": "4096"])
        #expect(result.status == 0 && result.errors.hasPrefix("faultline: "))
        #expect(result.errors.contains(" of 200000 events were lost because buffers were full; "))
    }

    @Test(
        "a program with another user's privileges writes no trace for the user who started it",
        .enabled(if: geteuid() == 0, "needs the superuser, to make such a program"))
    func setUser() throws {
        let place = elsewhere("program")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: place) }
        let copy = place + "/program"
        try FileManager.default.copyItem(atPath: UnrulyProgram.path, toPath: copy)
        let script = """
            mount -t tmpfs -o suid tmpfs /mnt && cp \(copy) /mnt/program && chmod 4755 /mnt/program && \
            FAULTLINE_TRACE=timeline:/mnt/trace.json setpriv --reuid=65534 --clear-groups /mnt/program records 3; \
            ls /mnt; FAULTLINE_TRACE=timeline:/mnt/trace.json /mnt/program records 3; ls /mnt
            """
        let result = try PrivateMounts.run(script, after: ["true"])
        #expect(result.output == "done\nprogram\ndone\nprogram\ntrace.json\n")
    }

    @Test("a demo refuses a directory with files that no demo wrote")
    func demoDirectory() throws {
        let precious = directory.path("flawed.json")
        try "precious\n".write(toFile: precious, atomically: true, encoding: .utf8)
        let result = try BuiltCommand.run(["demo", "-o", directory.url.path])
        #expect(result.status == 2)
        #expect(
            result.errors == "faultline: The directory \"\(directory.url.path)\" holds files that no demo wrote; "
                + "name an empty or a new one with -o.\n")
        #expect(try String(contentsOfFile: precious, encoding: .utf8) == "precious\n")
    }

    @Test("a demo creates its directory, but no parent directories")
    func demoFolders() throws {
        let result = try BuiltCommand.run(["demo", "-o", directory.path("no/such/folder")])
        #expect(result.status == 2)
        #expect(
            result.errors == "faultline: Cannot make the directory \"\(directory.path("no/such/folder"))\" "
                + "(No such file or directory); name another with -o.\n")
        #expect(!FileManager.default.fileExists(atPath: directory.path("no")))
        let file = directory.path("file")
        try Data().write(to: URL(fileURLWithPath: file))
        #expect(
            try BuiltCommand.run(["demo", "-o", file]).errors
                == "faultline: \"\(file)\" is not a directory; name an empty or a new one with -o.\n")
    }
}
