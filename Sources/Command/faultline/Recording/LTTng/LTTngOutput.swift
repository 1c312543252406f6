import FaultlineReader
import FaultlineTrace
import Foundation

/// The output directory of a CTF trace.
///
/// An earlier trace of `faultline record`, identified by its marker, is replaced once the new one has ended and is not
/// empty. Until then, the new trace is written next to it. Nothing else is ever removed.
struct LTTngOutput {
    /// The requested directory.
    let wanted: String
    /// The directory to write: the requested one, or one next to it.
    let written: String
    /// Whether the directory did not exist.
    private let isNew: Bool

    /// The files that LTTng and Faultline create in a trace's directory.
    private static let made: Set<String> = ["ust", TraceReader.symbolsName, LTTngMarker.name]
    /// The maximum number of names to try next to an earlier trace.
    private static let maximumNames = 100

    /// Checks that a directory can take a trace, without creating anything.
    ///
    /// - Throws: ``CommandFailure`` if the directory holds anything but a trace of `faultline record`.
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
                "The directory \"\(path)\" holds files that \"faultline record\" did not write; name another with -o."
            )
        }
        let beside = (1...Self.maximumNames).lazy.map { wanted + "-recording" + ($0 > 1 ? "-\($0)" : "") }
        guard let free = beside.first(where: { !files.fileExists(atPath: $0) }) else {
            throw CommandFailure.usage(
                "There are \(Self.maximumNames) unfinished recordings next to \"\(path)\"; remove them, or name another "
                    + "directory with -o.")
        }
        (self.wanted, written, isNew) = (wanted, free, true)
    }

    /// Creates the directory, and marks it as a trace of `faultline record`.
    ///
    /// - Throws: ``CommandFailure`` if it cannot be created.
    func make(session: String, daemon: pid_t?) throws {
        do {
            try FileManager.default.createDirectory(atPath: written, withIntermediateDirectories: true)
            try LTTngMarker.write(in: written, session: session, daemon: daemon)
        } catch {
            throw CommandFailure.usage(
                "Cannot write to the directory \"\(written)\" (\(error.localizedDescription)); name another with -o.")
        }
    }

    /// Whether a directory holds only a trace of `faultline record`, at any depth.
    private static func isTrace(_ directory: String) -> Bool {
        guard LTTngMarker.exists(in: directory),
            let names = try? FileManager.default.contentsOfDirectory(atPath: directory),
            names.allSatisfy(made.contains),
            let streams = FileManager.default.enumerator(atPath: directory + "/ust")
        else { return false }
        for case let name as String in streams where !isStream(directory + "/ust/" + name) { return false }
        return true
    }

    /// Whether the path is a directory, or a file that LTTng writes: the metadata, a stream or its index.
    private static func isStream(_ path: String) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else { return false }
        if status.st_mode & S_IFMT == S_IFDIR { return true }
        guard status.st_mode & S_IFMT == S_IFREG else { return false }
        if status.st_size == 0 || (path as NSString).lastPathComponent == "metadata" { return true }
        let head = (try? RegularFile.beginning(of: path, length: 4)).map(Array.init) ?? []
        // The magic numbers of CTF 1.8, for a packet in this machine's byte order and an index in network byte order.
        return head == [0xC1, 0x1F, 0xFC, 0xC1] || head == [0xC1, 0xF1, 0xDC, 0xC1]
    }

    /// Removes the recording's files, and the directory if it was created for them.
    func discard() { Self.remove(written, withDirectory: isNew) }

    private static func remove(_ directory: String, withDirectory: Bool) {
        for name in made { try? FileManager.default.removeItem(atPath: directory + "/" + name) }
        // `rmdir` fails if the directory has other files by now.
        if withDirectory { rmdir(directory) }
    }

    /// Moves the trace to the requested directory.
    ///
    /// - Parameter isEmpty: Whether nothing was recorded. An earlier trace then stays.
    /// - Returns: The trace's path, or `nil` if there is none, and a note about it if needed.
    func settle(isEmpty: Bool) -> (trace: String?, note: String?) {
        guard written != wanted else { return (written, nil) }
        if isEmpty {
            discard()
            return (nil, "\"\(wanted)\" is unchanged, because the new trace is empty.")
        }
        // Other files may have been added meanwhile.
        guard Self.isTrace(wanted) else {
            return (written, "\"\(wanted)\" now holds other files; this recording is in \"\(written)\".")
        }
        Self.remove(wanted, withDirectory: true)
        guard rename(written, wanted) == 0 else {
            return (written, "This recording is in \"\(written)\".")
        }
        return (wanted, nil)
    }
}
