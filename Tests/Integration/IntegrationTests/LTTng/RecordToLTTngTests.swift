import Foundation
import Testing

@Suite("Recording to LTTng", .enabled(if: LTTngSandbox.isAvailable, LTTngSandbox.need))
struct RecordToLTTngTests {
    let directory: TemporaryDirectory
    /// The command that runs the workload on a shopping list.
    private let workload: String

    init() throws {
        directory = try TemporaryDirectory()
        let form = "workload groceries --store \(directory.path("list.sqlite")) --items 120 --flaws all"
        let prepared = try BuiltCommand.run(form.split(separator: " ").map(String.init) + ["--prepare"])
        try #require(prepared.status == 0, "\(prepared.errors)")
        workload = "$FAULTLINE \(form)"
    }

    private func run(_ script: String) throws -> BuiltCommand.Result {
        try LTTngSandbox.run(script, directory: directory)
    }

    @Test("agrees with recording to a timeline in every count and every change to make")
    func agreement() throws {
        let result = try run(
            """
            $FAULTLINE record --to lttng -o ctf -- \(workload)
            $FAULTLINE record -o trace.json -- \(workload)
            """)
        try #require(result.status == 0, "\(result.errors)")
        let (ctf, timeline) = try (
            ReportDocument(of: directory.path("ctf")), ReportDocument(of: directory.path("trace.json"))
        )
        // The ends and starts of read transactions depend on pauses of the machine.
        let statement = "sql"
        func events(_ report: ReportDocument) -> [String: UInt64] {
            report.totals.events.filter { $0.key != statement }
        }
        #expect(events(ctf) == events(timeline) && ctf.totals.eventCount > 400)
        for count in [
            \.readTrips, \.reads, \.outermostReads, \.writes, \.schemaStatements, \.claimedTrips,
            \.rowsLoaded,
            \.bytesRead, \.bytesWritten, \.faultTrips,
        ] as [KeyPath<ReportDocument.Totals, UInt64>] {
            #expect(ctf.totals[keyPath: count] == timeline.totals[keyPath: count])
        }
        for sums in [\.byEntity, \.byRelationship, \.byStatement] as [KeyPath<ReportDocument, [ReportDocument.Sum]>] {
            let times = ["wait", "prepare", "step", "materialise", "lockWait", "commit"]
            let counts = [ctf, timeline].map { report in
                Set(
                    report[keyPath: sums].filter { !["BEGIN", "COMMIT"].contains($0.name) }.map { sum in
                        let counts = sum.counts.filter { !times.contains($0.key) }.sorted { $0.key < $1.key }
                        return "\(sum.name) \(sum.kind) \(sum.durations.count) \(counts)"
                    })
            }
            #expect(counts[0] == counts[1] && !counts[0].isEmpty)
        }
        func claims(_ report: ReportDocument) -> Set<String> {
            Set(report.findings.map { "\($0.rule) \($0.title) \($0.change?.text ?? "") \($0.code) \($0.saving.trips)" })
        }
        #expect(claims(ctf) == claims(timeline) && claims(ctf).count >= 3)
        #expect(result.errors.contains("Checked"))
    }

    @Test("has samples of CPU time with their stacks")
    func samples() throws {
        let result = try run(
            """
            $FAULTLINE record --cpu=1000 --to lttng -o ctf --quiet -- \(workload)
            $FAULTLINE tree ctf --weight cpu --format folded
            """)
        try #require(result.status == 0, "\(result.errors)")
        let lines = result.output.split(separator: "\n").filter { $0.contains(";") }
        let total = lines.compactMap { $0.split(separator: " ").last.flatMap { UInt64($0) } }.reduce(0, +)
        // The workload takes a few of the kernel's ticks; how many depends on the machine.
        #expect(total > 0, "\(result.output)")
        #expect(lines.contains { $0.contains(";run()") || $0.contains(";main") }, "\(result.output)")
    }

    @Test("starts a daemon if none runs, and ends it")
    func ownDaemon() throws {
        let result = try run(
            """
            $FAULTLINE record --quiet --to lttng -o ctf -- \(workload)
            lttng --no-sessiond list 2>&1 || true
            pgrep lttng || true
            """)
        #expect(result.status == 0, "\(result.errors)")
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 2 && lines.last == "Error: No session daemon is available")
        #expect(try RecordedEvents(of: directory.path("ctf")).of("fetch").count == 1)
        #expect(try ReportDocument(of: directory.path("ctf")).costs.basis == "calibration")
    }

    @Test("uses a running daemon, and leaves it and its sessions as they were")
    func foreignDaemon() throws {
        let result = try run(
            """
            start_daemon
            record mine "$PWD/mine"
            lttng list > before
            $FAULTLINE record --quiet --to lttng -o ctf -- \(workload)
            lttng list > after
            cmp before after
            pgrep --count lttng-sessiond
            finish mine
            """)
        #expect(result.status == 0, "\(result.errors)")
        // Both sessions contain it.
        for trace in ["mine", "ctf"] {
            #expect(try RecordedEvents(of: directory.path(trace)).of("fetch").count == 1)
        }
    }

    @Test("passes the command's output and its exit status through")
    func passThrough() throws {
        let result = try run("$FAULTLINE record --to lttng -- sh -c 'echo out; echo err >&2; exit 3'")
        #expect(result.status == 3 && result.output == "out\n")
        #expect(
            result.errors == """
                err
                faultline: No process of "sh" recorded anything: no process opened a Faultline store or called SQLite in a shared library.

                """)
        #expect(FileManager.default.fileExists(atPath: directory.path("faultline-lttng")))
    }

    @Test("overwrites an earlier trace, and nothing else")
    func output() throws {
        let result = try run(
            """
            $FAULTLINE record --quiet --to lttng -o ctf -- \(workload)
            $FAULTLINE report ctf >/dev/null
            $FAULTLINE record --quiet --to lttng -o ctf -- \(workload)
            mkdir other && touch other/precious file
            $FAULTLINE record --to lttng -o other -- true || echo $?
            $FAULTLINE record --to lttng -o file -- true || echo $?
            $FAULTLINE record --to lttng -o new -- /not/there || echo $?
            mkdir -p project/ust empty && echo mine > project/ust/file
            $FAULTLINE record --to lttng -o project -- true || echo $?
            (cd empty && $FAULTLINE record --to lttng -o . -- /not/there || echo $?)
            $FAULTLINE record --quiet --to lttng -o ctf -- true
            echo mine > ctf/ust/notes
            $FAULTLINE record --to lttng -o ctf -- true || echo $?
            cat ctf/ust/notes && rm ctf/ust/notes
            mkdir -p fake/ust && echo mine > fake/ust/file && touch fake/.faultline-recording
            $FAULTLINE record --to lttng -o fake -- true || echo $?
            ls -A other project/ust fake/ust empty
            """)
        #expect(result.status == 0)
        let statuses = String(repeating: "2\n", count: 6) + "mine\n2\n"
        let listed = "empty:\n\nfake/ust:\nfile\n\nother:\nprecious\n\nproject/ust:\nfile\n"
        #expect(result.output.hasSuffix(statuses + listed))
        let path = directory.url.path
        #expect(
            result.errors == """
                faultline: The directory "other" holds files that "faultline record" did not write; name another with -o.
                faultline: "file" is not a directory, and LTTng writes to one; name another with -o.
                faultline: Cannot run the command "/not/there" (No such file or directory); name a program that is in PATH, or its path.
                faultline: The directory "project" holds files that "faultline record" did not write; name another with -o.
                faultline: Cannot run the command "/not/there" (No such file or directory); name a program that is in PATH, or its path.
                faultline: "\(path)/ctf" is unchanged, because the new trace is empty.
                faultline: No process of "true" recorded anything: no process opened a Faultline store or called SQLite in a shared library.
                faultline: The directory "ctf" holds files that "faultline record" did not write; name another with -o.
                faultline: The directory "fake" holds files that "faultline record" did not write; name another with -o.

                """)
        #expect(!FileManager.default.fileExists(atPath: directory.path("new")))
        #expect(try RecordedEvents(of: directory.path("ctf")).of("fetch").count == 1)
    }

    @Test("names the package to install if LTTng is missing")
    func notInstalled() throws {
        let result = try run("PATH=/nowhere $FAULTLINE record --to lttng -- /bin/true")
        #expect(result.status == 75)
        #expect(
            result.errors == """
                faultline: Recording to LTTng needs the command "lttng", which is not in PATH; install it with "apt-get install lttng-tools".

                """)
    }

    @Test("keeps what a killed program had recorded")
    func killed() throws {
        // The program blocks once no one reads its output; killed in the middle of an event, it would lose others too.
        let result = try run(
            """
            mkfifo said && exec 3<>said
            head --bytes=$((65536 - 128)) /dev/zero >&3
            $FAULTLINE record --to lttng -o ctf -- \(workload) --repeat >&3 &
            process=
            until [ -n "$process" ]; do process=$(pgrep --full '^[^ ]*faultline workload') || true; done
            still=0
            while [ $still -lt 20 ]; do
                still=$((still + 1))
                grep --quiet '^1 0x1 ' /proc/$process/syscall || still=0
                ! grep --quiet running /proc/$process/task/*/syscall || still=0
            done
            kill -9 $process
            wait %1 || echo $?
            dd bs=65536 count=1 iflag=nonblock <&3 2>/dev/null | tr --delete '\\0' >output
            """)
        #expect(result.status == 0 && result.output == "137\n", "\(result.errors)")
        let rounds = try String(contentsOfFile: directory.path("output"), encoding: .utf8).split(separator: "\n").count
        let events = try RecordedEvents(of: directory.path("ctf"))
        #expect(events.of("fetch").count >= rounds && rounds >= 1)
        #expect(events.of("process").map(\.phase) == ["began"])
    }

    @Test("reports that the daemon died during the recording, and keeps the trace so far")
    func daemonDies() throws {
        let result = try run(
            """
            start_daemon
            $FAULTLINE record --to lttng -o ctf -- \(workload) --repeat >output &
            await output 3
            pkill -9 lttng
            await output $(($(wc --lines <output) + 3))
            pkill --full '^[^ ]*faultline workload'
            wait %1 || echo $?
            """)
        #expect(result.status == 0 && result.output == "143\n", "\(result.errors)")
        let lines = result.errors.split(separator: "\n").filter { $0.hasPrefix("faultline:") }
        #expect(
            lines.first?.hasPrefix("faultline: LTTng could not end the session (Error: No session daemon is available")
                == true)
        #expect(lines.first?.hasSuffix("\"\(directory.path("ctf"))\" holds what it had written by then.") == true)
    }
}
