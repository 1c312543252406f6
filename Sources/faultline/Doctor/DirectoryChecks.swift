import CMachine
import FaultlineAnalysis
import Foundation

/// Checks a directory for stores and traces: its space, locks and shared memory, with which network file systems have
/// problems.
struct DirectoryChecks: Examination {
    let path: String

    private static let system = Subject(
        name: "file system", why: "Traces and stores go there; a store needs memory that all its users share.",
        isEssential: true)
    private static let recordLock = Subject(
        name: "record locks",
        why: "SQLite separates writers with them (fcntl); if they do not work, stores are damaged.",
        isEssential: true)
    private static let fileLock = Subject(
        name: "file lock", why: "It keeps two recordings from writing one trace (flock).", isEssential: true)
    private static let log = Subject(
        name: "write-ahead log", why: "Stores use one, and all users of a store share its index in memory.",
        isEssential: true)

    /// The space that a million events take.
    private static let comfortableRoom: UInt64 = 150_000_000
    private static let remedy = "Use a directory on a local disk: name it with --directory, and traces with record -o."

    var silence: Check { Self.system.failed("\(path) does not respond", Self.remedy) }

    func checks() -> [Check] {
        do {
            let system = try FileSystem(at: path)
            return try ScratchDirectory.with(in: path) { scratch in
                [
                    room(system), Self.lock(Self.recordLock, cmachine_try_record_lock(scratch.file("lock"))),
                    Self.lock(Self.fileLock, cmachine_try_file_lock(scratch.file("lock"))),
                    StoreTrial.check(Self.log, in: path, remedy: Self.remedy) { "created and read a store, \($0)" },
                ]
            }
        } catch {
            return [Self.system.failed("cannot create a file in \(path) (\(error))", Self.remedy)]
        }
    }

    private func room(_ system: FileSystem) -> Check {
        let found = "\(system.type), \(Phrase.size(Double(system.free))) free"
        if FileSystem.isShared(system.type) {
            return Self.system.warning("\(found): other machines can reach it", Self.remedy)
        }
        guard system.free >= Self.comfortableRoom else {
            return Self.system.warning("\(found); a million events take 150 MB", "Free some space, or record with -o.")
        }
        return Self.system.ok(found)
    }

    private static func lock(_ subject: Subject, _ result: Int32) -> Check {
        switch result {
        case 0: subject.ok("granted, and seen by others")
        case CMACHINE_LOCK_UNSEEN: subject.failed("granted to several at once", remedy)
        default: subject.failed("refused (\(SystemError(code: result)))", remedy)
        }
    }
}
