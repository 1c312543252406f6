import FaultlineReader
import FaultlineTrace
import Foundation

/// The directory that a CTF trace is recorded into.
///
/// A trace that `faultline record` has made there before, which its marker says, is replaced when the new one has ended and
/// holds something; until then the new one is written beside it. Nothing else is ever removed.
struct LTTngOutput {
    /// The directory that was asked for.
    let wanted: String
    /// The directory that is written: that one, or one beside it.
    let written: String
    /// Whether the directory was not there.
    private let isNew: Bool

    /// What LTTng and Faultline put into a trace's directory.
    private static let made: Set<String> = ["ust", TraceReader.symbolsName, LTTngMarker.name]
    /// How many names beside an earlier trace are tried.
    private static let mostNames = 100

    /// Checks that a directory can take a trace; makes nothing.
    ///
    /// - Throws: ``CommandFailure`` if something is there that is no trace of ``record``'s.
    init(_ path: String) throws {
        let wanted = URL(fileURLWithPath: path).path
        let files = FileManager.default
        var isDirectory: ObjCBool = false
        guard files.fileExists(atPath: wanted, isDirectory: &isDirectory) else {
            (self.wanted, written, isNew) = (wanted, wanted, true)
            return
        }
        guard isDirectory.boolValue, let names = try? files.contentsOfDirectory(atPath: wanted) else {
            throw CommandFailure.usage(
                "\"\(path)\" is not a directory, and LTTng writes to one; name another with -o.")
        }
        if names.isEmpty {
            (self.wanted, written, isNew) = (wanted, wanted, false)
            return
        }
        guard Self.isTrace(wanted) else {
            throw CommandFailure.usage(
                "The directory \"\(path)\" holds files that \"faultline record\" has not written; name another with -o."
            )
        }
        let beside = (1...Self.mostNames).lazy.map { wanted + "-recording" + ($0 > 1 ? "-\($0)" : "") }
        guard let free = beside.first(where: { !files.fileExists(atPath: $0) }) else {
            throw CommandFailure.usage(
                "There are \(Self.mostNames) unfinished recordings beside \"\(path)\"; remove them, or name another "
                    + "directory with -o.")
        }
        (self.wanted, written, isNew) = (wanted, free, true)
    }

    /// Makes the directory, and marks it as a trace of ``record``'s.
    ///
    /// - Throws: ``CommandFailure`` if it cannot be made.
    func make(session: String, daemon: pid_t?) throws {
        do {
            try FileManager.default.createDirectory(atPath: written, withIntermediateDirectories: true)
            try LTTngMarker.write(in: written, session: session, daemon: daemon)
        } catch {
            throw CommandFailure.usage(
                "The directory \"\(written)\" cannot be written (\(error.localizedDescription)); name another with -o.")
        }
    }

    /// Whether a directory holds a trace of ``record``'s and nothing else, at any depth.
    private static func isTrace(_ directory: String) -> Bool {
        guard LTTngMarker.isThere(in: directory),
            let names = try? FileManager.default.contentsOfDirectory(atPath: directory),
            names.allSatisfy(made.contains),
            let streams = FileManager.default.enumerator(atPath: directory + "/ust")
        else { return false }
        for case let name as String in streams where !isStream(directory + "/ust/" + name) { return false }
        return true
    }

    /// Whether it is a directory, or a file that LTTng writes: the metadata, a stream or its index.
    private static func isStream(_ path: String) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else { return false }
        if status.st_mode & S_IFMT == S_IFDIR { return true }
        guard status.st_mode & S_IFMT == S_IFREG else { return false }
        if status.st_size == 0 || (path as NSString).lastPathComponent == "metadata" { return true }
        let head = (try? RegularFile.beginning(of: path, length: 4)).map(Array.init) ?? []
        // The magic numbers of CTF 1.8: of a packet in this machine's byte order, of an index in the network's.
        return head == [0xC1, 0x1F, 0xFC, 0xC1] || head == [0xC1, 0xF1, 0xDC, 0xC1]
    }

    /// Removes what a recording has put there, and the directory if it was made for it.
    func discard() { Self.remove(written, withDirectory: isNew) }

    private static func remove(_ directory: String, withDirectory: Bool) {
        for name in made { try? FileManager.default.removeItem(atPath: directory + "/" + name) }
        // Not where anything else is in it by now.
        if withDirectory { rmdir(directory) }
    }

    /// Puts the trace where it was asked for.
    ///
    /// - Parameter isEmpty: Whether nothing was recorded; then an earlier trace stays.
    /// - Returns: Where the trace is, `nil` if there is none; and what there is to say about that.
    func settle(isEmpty: Bool) -> (trace: String?, note: String?) {
        guard written != wanted else { return (written, nil) }
        if isEmpty {
            discard()
            return (nil, "\"\(wanted)\" is as it was: an empty trace replaces nothing.")
        }
        // Something may have been put there meanwhile.
        guard Self.isTrace(wanted) else {
            return (written, "\"\(wanted)\" holds other files by now; this recording is in \"\(written)\".")
        }
        Self.remove(wanted, withDirectory: true)
        guard rename(written, wanted) == 0 else {
            return (written, "This recording is in \"\(written)\".")
        }
        return (wanted, nil)
    }
}
