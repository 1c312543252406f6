import CMachine
import FaultlineReport
import Foundation
import Synchronization

/// An output that is written under a temporary name in the folder of its file, and then takes the file's place.
///
/// Whoever reads the file finds an earlier output or the whole new one. A file that is not finished is removed, also by a
/// signal that ends the process. After the process was killed, ``abandoned(in:)`` finds it: its writer held a lock.
final class UnfinishedFile {
    /// The temporary name: `.faultline-4f1k09zq.part`.
    private static let (prefix, suffix, randomLength) = (".faultline-", ".part", 8)
    private static let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789")

    /// The file under its temporary name; empty for standard output.
    let path: String
    private let descriptor: Int32
    /// Whether it is standard output.
    var isStandardOutput: Bool { descriptor == STDOUT_FILENO }
    /// The file whose place it takes.
    private let place: String
    private let isReplacing: Bool
    private let failure: (String) -> CommandFailure
    private var isPending: Bool

    /// Standard output, which is written directly.
    init() {
        (path, place, descriptor, isReplacing, isPending) = ("", "", STDOUT_FILENO, false, false)
        failure = { .tool($0) }
    }

    /// Creates a file.
    ///
    /// - Parameters:
    ///   - place: The file whose place it will take, without links.
    ///   - isReplacing: Whether there may be a file in that place.
    ///   - isPrivate: Whether its owner alone may read it. Otherwise the process's mask decides.
    ///   - failure: Returns the failure to throw for a reason.
    /// - Throws: ``SystemError`` if no file can be created in the folder.
    init(
        _ place: String, replacing isReplacing: Bool, isPrivate: Bool, failure: @escaping (String) -> CommandFailure
    ) throws(SystemError) {
        let folder = place.lastIndex(of: "/").map { place[...$0] } ?? ""
        while true {
            let name = String((0..<Self.randomLength).map { _ in Self.letters.randomElement() ?? "a" })
            let path = "\(folder)\(Self.prefix)\(name)\(Self.suffix)"
            // Before it exists: a signal that comes right after its creation must find its name.
            Self.removeAtSignals(path)
            // The mode is right from the start, so nobody else can open a private file meanwhile.
            let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, isPrivate ? 0o600 : 0o666)
            if descriptor < 0 {
                let code = errno
                Self.pending.store(0, ordering: .relaxed)
                if code == EEXIST || code == EINTR { continue }
                throw SystemError(code: code)
            }
            var status = stat()
            // "faultline clean" may have removed the file before it was locked.
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0, fstat(descriptor, &status) == 0, status.st_nlink == 0 {
                close(descriptor)
                continue
            }
            (self.path, self.descriptor, self.place, self.isReplacing) = (path, descriptor, place, isReplacing)
            break
        }
        (self.failure, isPending) = (failure, true)
    }

    deinit {
        guard !isStandardOutput else { return }
        if isPending {
            unlink(path)
            Self.pending.store(0, ordering: .relaxed)
        }
        close(descriptor)
    }

    /// Appends bytes.
    ///
    /// - Throws: ``CommandFailure`` if they cannot be written.
    func write(_ bytes: some ContiguousBytes) throws {
        guard !isStandardOutput else { return try bytes.withUnsafeBytes(Terminal.output.write(bytes:)) }
        let code = Signals.ignoringFileSizeLimit { bytes.withUnsafeBytes { Self.write($0, to: descriptor) } }
        if code != 0 { throw failure("\(SystemError(code: code))") }
    }

    /// Appends text, with everything that a terminal would interpret made printable.
    ///
    /// - Throws: ``CommandFailure`` if it cannot be written.
    func write(text: String) throws {
        guard !isStandardOutput else { return try Terminal.output.write(text) }
        try write(Data(Ink.printable(page: text, isColoured: false).utf8))
    }

    /// Writes all bytes.
    ///
    /// - Returns: 0, or the error number.
    static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count < 0 ? errno : ENOSPC }
            rest = rest.dropFirst(count)
        }
        return 0
    }

    /// Gives the file its name.
    ///
    /// - Throws: ``CommandFailure`` if it cannot have the name, because another file has it by now.
    func finish() throws {
        guard isPending else { return }
        mark()
        // A link replaces nothing, unlike renaming, but not every file system has links. If the process is killed before
        // it removes the temporary name, that is abandoned like that of half a file.
        if !isReplacing, link(path, place) == 0 {
            unlink(path)
        } else {
            var status = stat()
            if !isReplacing, errno == EEXIST || lstat(place, &status) == 0 {
                throw failure("\(SystemError(code: EEXIST))")
            }
            guard rename(path, place) == 0 else { throw failure("\(SystemError(code: errno))") }
        }
        isPending = false
        Self.pending.store(0, ordering: .relaxed)
    }

    // MARK: - Marks

    /// The attribute by which a finished output is known as long as nobody changes it.
    private static let attribute = "user.faultline"

    /// Marks the file as one of Faultline's, if its file system has extended attributes.
    private func mark() {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return }
        let value = Self.state(status)
        _ = value.withCString { fsetxattr(descriptor, Self.attribute, $0, strlen($0), 0) }
    }

    /// Whether a file is an output that Faultline wrote, and as it was written.
    static func isUnchanged(_ path: String) -> Bool {
        var status = stat()
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = getxattr(path, attribute, &bytes, bytes.count)
        guard count > 0, stat(path, &status) == 0 else { return false }
        return String(decoding: bytes.prefix(count), as: UTF8.self) == state(status)
    }

    /// The size of a file and the time of its last change, which any writing to it changes.
    private static func state(_ status: stat) -> String {
        "\(status.st_size) \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
    }

    // MARK: - Signals

    /// The address of the name of the file to remove; 0 if there is none.
    private static let pending = Atomic<UInt>(0)

    /// Makes signals that end the process first remove the file.
    private static func removeAtSignals(_ path: String) {
        // The name stays allocated, because a handler may be using it.
        pending.store(UInt(bitPattern: strdup(path)), ordering: .relaxed)
        for number in Signals.ending {
            var action = sigaction()
            sigaction(number, nil, &action)
            guard action.sa_flags & SA_SIGINFO == 0,
                unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 0
            else { continue }
            action.__sigaction_handler.sa_handler = { number in
                let name = UnsafePointer<CChar>(bitPattern: UnfinishedFile.pending.load(ordering: .relaxed))
                if let name { unlink(name) }
                signal(number, SIG_DFL)
                raise(number)
            }
            sigaction(number, &action, nil)
        }
    }

    // MARK: - Those of processes that were killed

    /// Returns this user's unfinished files in a folder whose writers were killed, by name.
    static func abandoned(in folder: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter(isName).sorted().map { "\(folder)/\($0)" }.filter { path in
            // Nonblocking, because the name may be that of a pipe.
            let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard descriptor >= 0 else { return false }
            defer { close(descriptor) }
            var status = stat()
            return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
                && status.st_uid == geteuid() && flock(descriptor, LOCK_SH | LOCK_NB) == 0
        }
    }

    private static func isName(_ name: String) -> Bool {
        guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return false }
        let random = name.dropFirst(prefix.count).dropLast(suffix.count)
        return random.count == randomLength && random.allSatisfy(letters.contains)
    }
}
