import Dispatch
import Foundation

/// Examines this machine.
struct Doctor {
    /// The directory for stores and traces.
    let directory: String
    /// The first word of the command to record, or `nil` if there is none.
    let command: String?

    /// The time to wait for file systems, in seconds.
    ///
    /// It exceeds the time for commands, which examinations wait for. A busy machine takes several times as long as an idle one.
    private static let patience = 15
    /// The words for something that has not responded by then.
    static let silence = "did not respond within \(patience) s"
    /// The time to wait for clean-up after examinations that did not answer, in milliseconds.
    private static let cleaningPatience = 200

    /// A part of the machine, with its examinations.
    private struct Part {
        var name: String
        var examinations: [any Examination]
    }

    /// The results of an examination.
    struct Diagnosis: Sendable {
        var machine: Machine
        var groups: [CheckGroup]
        var installation: Installation

        /// The checks that prevent a recording with the command's defaults.
        var obstacles: [Check] { groups.flatMap(\.checks).filter(\.isObstacle) }
    }

    /// Runs all checks, with the parts in parallel.
    ///
    /// It leaves nothing behind, and waits at most 15 seconds. Checks that have not answered by then are reported as
    /// failed.
    func examine() -> Diagnosis {
        let signals = HeldSignals()
        defer { signals.release() }
        let environment = ProcessInfo.processInfo.environment
        // With this variable, a library that looks for symbols would contact the servers.
        unsetenv("DEBUGINFOD_URLS")
        let machine = Machine()
        let database = machine.isDebian ? Installation.question() : nil
        let deadline = DispatchTime.now() + .seconds(Self.patience)
        let running = parts(environment).map { part in
            (name: part.name, work: part.examinations.map { each in (each.silence, TimedWork { each.checks() }) })
        }
        let groups = running.map { part in
            CheckGroup(name: part.name, checks: part.work.flatMap { $1.value(by: deadline) ?? [$0] })
        }
        _ = TimedWork { ScratchDirectory.removeAll() }.value(by: .now() + .milliseconds(Self.cleaningPatience))
        let installation = Installation(
            on: machine, database: database?.answer(), checks: groups.flatMap(\.checks))
        return Diagnosis(machine: machine, groups: groups, installation: installation)
    }

    private func parts(_ environment: [String: String]) -> [Part] {
        let rings = environment["FAULTLINE_RINGS"].flatMap { $0.isEmpty ? nil : $0 }
        let program = command.map { Part(name: "Program \($0)", examinations: [ProgramChecks(command: $0)]) }
        return (program.map { [$0] } ?? []) + [
            Part(
                name: "Recording",
                examinations: [
                    TimelineTrial(directory: directory), RingDirectoryChecks(named: rings), LimitChecks(), ClockCheck(),
                ]),
            Part(name: "SQLite", examinations: [SQLiteChecks()]),
            Part(name: "Directory \(directory)", examinations: [DirectoryChecks(path: directory)]),
            Part(name: "Symbols", examinations: [SymbolChecks(servers: environment["DEBUGINFOD_URLS"])]),
            Part(
                name: "LTTng (optional)",
                examinations: [LTTngChecks(), SessionDaemonChecks(environment: environment)]),
            Part(name: "Left behind", examinations: [LeftoverChecks()]),
            Part(name: "Babeltrace 2 (optional)", examinations: [BabeltraceChecks()]),
        ]
    }
}

/// Blocks signals that would end the process until its temporary files are removed.
private struct HeldSignals {
    private var before = sigset_t()

    init() {
        var signals = Signals.set(of: Signals.ending)
        // Threads inherit the mask.
        pthread_sigmask(SIG_BLOCK, &signals, &before)
        // A limit on the size of files must be reported, not end the process.
        signal(SIGXFSZ, SIG_IGN)
    }

    func release() {
        var before = before
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }
}
