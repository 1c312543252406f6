import Dispatch
import Foundation

/// Examines this machine.
struct Doctor {
    /// The directory of stores and traces.
    let directory: String

    /// How long to wait for file systems, in milliseconds; longer than for commands, which examinations wait for.
    private static let patience = 2000
    /// How long to wait for what is removed after those that gave no answer.
    private static let cleaningPatience = 200

    /// One part of the machine, and what looks at it.
    private struct Part {
        var name: String
        var examinations: [any Examination]
    }

    /// What was found.
    struct Diagnosis: Sendable {
        var machine: Machine
        var groups: [CheckGroup]
        var installation: Installation

        /// What keeps a recording with the command's defaults from working.
        var obstacles: [Check] { groups.flatMap(\.checks).filter(\.isObstacle) }
    }

    /// Tries everything, the parts side by side.
    ///
    /// Leaves nothing behind, and waits two seconds at most: what has not answered by then is told as failed.
    func examine() -> Diagnosis {
        let signals = HeldSignals()
        defer { signals.release() }
        let environment = ProcessInfo.processInfo.environment
        // A library that looks for symbols would ask the servers.
        unsetenv("DEBUGINFOD_URLS")
        let machine = Machine()
        let database = machine.isDebian ? Installation.question() : nil
        let deadline = DispatchTime.now() + .milliseconds(Self.patience)
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
        return [
            Part(
                name: "Recording",
                examinations: [
                    TimelineTrial(directory: directory), RingPlaceChecks(named: rings), LimitChecks(), ClockCheck(),
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

/// Signals that would end the process wait until what it has made is removed.
private struct HeldSignals {
    private var before = sigset_t()

    init() {
        var signals = Signals.set(of: Signals.ending)
        // Threads inherit it.
        pthread_sigmask(SIG_BLOCK, &signals, &before)
        // A limit on the size of files is something to tell, not to die of.
        signal(SIGXFSZ, SIG_IGN)
    }

    func release() {
        var before = before
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }
}
