import CMachine
import FaultlineFindings
import FaultlineRecorder
import Foundation

/// Checks the directories for a recording's rings: whether they exist, have space, and can hold a ring.
struct RingDirectoryChecks: Examination {
    /// The directory in which programs that write their own trace create rings, or `nil` for the usual places.
    let named: String?

    private static let sharedMemory = Subject(
        name: "shared memory",
        why: "Programs record into ring buffers there; on a disk, each event costs three times as much.")
    private static let fallback = Subject(
        name: "fallback", why: "Ring buffers are placed there if shared memory has no space.")
    private static let namedDirectory = Subject(
        name: "FAULTLINE_RINGS", why: "Programs that write their own trace create their ring buffers only there.")
    private static let reservation = Subject(
        name: "reserved space",
        why:
            "A ring buffer's space is reserved before use; a page that a full disk cannot provide kills the program."
    )

    var silence: Check {
        Self.sharedMemory.failed(
            "/dev/shm or the temporary directory \(Doctor.silence)", "Check what is mounted there.")
    }

    func checks() -> [Check] {
        let temporary = ScratchDirectory.temporary
        var checks = [
            sharedMemory(),
            check(
                Self.fallback, temporary, problem: { $0.warning($1, "Free some space there, or set TMPDIR.") }),
        ]
        if let named {
            checks.append(
                check(
                    Self.namedDirectory, named,
                    problem: { $0.failed($1, "Free some space there, or name another directory.") }))
        }
        return checks + [reservation(in: checks[0].state == .ok ? Self.sharedMemoryPath : temporary)]
    }

    private static let sharedMemoryPath = "/dev/shm"

    private func sharedMemory() -> Check {
        let mount = (remedy: "Mount one, as root.", command: "mount -t tmpfs tmpfs /dev/shm")
        guard access(Self.sharedMemoryPath, F_OK) == 0 else {
            return Self.sharedMemory.missing("there is no /dev/shm", mount.remedy, command: mount.command)
        }
        let check = check(Self.sharedMemory, Self.sharedMemoryPath) { subject, found in
            subject.warning(found, "Free some space there, or mount a tmpfs of at least 64 MiB (docker: --shm-size).")
        }
        guard check.state == .ok, let system = try? FileSystem(at: Self.sharedMemoryPath) else { return check }
        guard system.type == "tmpfs" else {
            return Self.sharedMemory.warning(
                "/dev/shm is \(system.type), not tmpfs", mount.remedy, command: mount.command)
        }
        return Self.sharedMemory.ok(check.found + "; each thread takes \(RingDirectory.ringBytes >> 20) MiB")
    }

    private func check(_ subject: Subject, _ path: String, problem: (Subject, String) -> Check) -> Check {
        do {
            let system = try FileSystem(at: path)
            let room = Phrase.size(Double(system.free))
            guard system.free >= RingDirectory.minimumSpace else {
                let least = Phrase.size(Double(RingDirectory.minimumSpace))
                return problem(subject, "\(path) has \(room) free; a recording takes \(least)")
            }
            try ScratchDirectory.with(in: path) { scratch in
                _ = try Recorder.writing(to: .rings(directory: scratch.path)).close()
            }
            return subject.ok("\(path) (\(system.type)), \(room) free")
        } catch let failure as SystemError {
            return problem(subject, "cannot create a file in \(path) (\(failure))")
        } catch {
            var check = problem(subject, "cannot create a ring buffer in \(path)")
            check.remedy = "\(error)"
            return check
        }
    }

    private func reservation(in parent: String) -> Check {
        let bytes = Int64(RingDirectory.minimumRingBytes)
        let memory = cmachine_try_memory_file(bytes)
        let nameless = memory == 0 ? "memfd does, too" : "memfd does not (\(SystemError(code: memory)))"
        do {
            let failure = try ScratchDirectory.with(in: parent) { scratch in
                let descriptor = open(scratch.file("space"), O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
                guard descriptor >= 0 else { return errno }
                defer { close(descriptor) }
                return cmachine_reserve(descriptor, bytes)
            }
            guard failure != EFBIG else {
                return Self.reservation.warning(
                    "the file size limit is below the smallest ring buffer", "Raise the limit.",
                    command: "ulimit -f unlimited")
            }
            guard failure == 0 else { throw SystemError(code: failure) }
            return Self.reservation.ok("fallocate works in \(parent); \(nameless)")
        } catch {
            return Self.reservation.warning(
                "fallocate does not work in \(parent) (\(error))",
                "If the file system cannot reserve space, it is written instead; name a tmpfs in TMPDIR.")
        }
    }
}

/// Checks for leftovers of killed Faultline processes.
struct LeftoverChecks: Examination {
    private static let events = Subject(
        name: "unread rings",
        why: "Killed programs left events that are in no trace; they are lost when the machine restarts.")
    private static let rest = Subject(
        name: "leftovers", why: "Killed commands leave files in memory and beside their outputs, and LTTng sessions.")

    var silence: Check {
        Self.rest.failed("the temporary directories do not respond", "Check what is mounted there.")
    }

    func checks() -> [Check] {
        let leftovers = Leftovers()
        let unread = leftovers.unread
        let count = unread.reduce(0) { $0 &+ $1.events }
        let rings = leftovers.rings.count - unread.count
        let parts = [
            (rings, "file of ring buffers", "files of ring buffers"),
            (leftovers.directories.count, "directory", "directories"),
            (leftovers.files.count, "unfinished output", "unfinished outputs"),
            (leftovers.sessions.count, "LTTng session", "LTTng sessions"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.0 == 1 ? $0.1 : $0.2)" }
        return [
            unread.isEmpty
                ? Self.events.ok("none")
                : Self.events.warning(
                    "\(Phrase.count(count, "event")) in \(Phrase.count(UInt64(unread.count), "file"))",
                    "List them, and make traces of them.", command: "faultline recover"),
            parts.isEmpty
                ? Self.rest.ok("none")
                : Self.rest.warning(parts.joined(separator: ", "), "Remove them.", command: "faultline clean"),
        ]
    }
}
