import CBabeltrace
import Foundation
import Glibc

/// What can still be read of CTF traces that libbabeltrace2 gives up on: one damaged packet costs it the whole trace.
///
/// A copy is made of what is whole: streams that can be read are linked to, and of the others those packets are copied
/// that can be read by themselves. (Where it is not known how packets are laid out, such a stream is left out.) The traces
/// stay as they are.
final class CTFSalvage {
    /// The copies, in the order of the traces.
    private(set) var directories: [String] = []
    /// What was left out.
    private(set) var losses: [ReadingSummary.DamagedStream] = []
    private let scratch: String
    private let path: String

    /// Copies what can be read of the traces in some directories.
    ///
    /// - Throws: ``ReaderError`` if there is no room for the copy, or if nothing of a trace can be read.
    init(_ originals: [String], path: String) throws(ReaderError) {
        self.path = path
        var template = Array((NSTemporaryDirectory() + "/faultline-ctf-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw .cannotSalvage(path, errno) }
        scratch = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        for (number, original) in originals.enumerated() {
            let copy = try makeDirectory("\(number)", for: original)
            let trial = try makeDirectory("trial", for: original)
            let hasKnownPackets = CTFMetadata(of: original).hasPacketsOfLTTng
            for file in CTFTrace.streams(of: original) {
                try salvage(
                    original + "/" + file, to: copy + "/" + file, trial: trial, hasKnownPackets: hasKnownPackets)
            }
            unlink(trial + "/metadata")
            rmdir(trial)
            directories.append(copy)
        }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: scratch)
    }

    /// A directory of the scratch with a trace's metadata.
    private func makeDirectory(_ name: String, for original: String) throws(ReaderError) -> String {
        let directory = scratch + "/" + name
        let metadata = URL(fileURLWithPath: original + "/metadata").path
        guard mkdir(directory, 0o700) == 0, symlink(metadata, directory + "/metadata") == 0 else {
            throw .cannotSalvage(path, errno)
        }
        // Without any stream it is the metadata that cannot be read.
        _ = try CTFMessages([directory], namesOnly: true, path: path)
        return directory
    }

    // MARK: - A stream

    private func salvage(_ file: String, to copy: String, trial: String, hasKnownPackets: Bool) throws(ReaderError) {
        let absolute = URL(fileURLWithPath: file).path
        let link = trial + "/stream"
        defer { unlink(link) }
        if !hasKnownPackets || CTFStream(absolute)?.isSound == true {
            guard symlink(absolute, link) == 0 else { throw .cannotSalvage(path, errno) }
            if isReadable(trial) {
                guard symlink(absolute, copy) == 0 else { throw .cannotSalvage(path, errno) }
                return
            }
            unlink(link)
        }
        guard hasKnownPackets else {
            losses.append(ReadingSummary.DamagedStream(file: file, packets: 1))
            return
        }
        guard let stream = CTFStream(absolute) else { throw .cannotRead(file, line: 0, errno) }
        var unreadable = 0
        guard let kept = fopen(copy, "w") else { throw .cannotSalvage(path, errno) }
        defer { fclose(kept) }
        while let packet = stream.next() {
            guard Self.write(packet, to: link) else { throw .cannotSalvage(path, errno) }
            guard isReadable(trial) else {
                unreadable += 1
                continue
            }
            let count = packet.withUnsafeBytes { fwrite($0.baseAddress, 1, $0.count, kept) }
            guard count == packet.count else { throw .cannotSalvage(path, errno) }
        }
        losses.append(ReadingSummary.DamagedStream(file: file, packets: stream.damagedPackets + unreadable))
        if ftell(kept) == 0 { unlink(copy) }
    }

    private func isReadable(_ directory: String) -> Bool {
        guard let messages = try? CTFMessages([directory], namesOnly: false, path: path) else { return false }
        while true {
            switch messages.next() {
            case .CTF_END: return true
            case .CTF_FAILED: return false
            default: continue
            }
        }
    }

    private static func write(_ bytes: [UInt8], to path: String) -> Bool {
        guard let file = fopen(path, "w") else { return false }
        let count = bytes.withUnsafeBytes { fwrite($0.baseAddress, 1, $0.count, file) }
        return fclose(file) == 0 && count == bytes.count
    }
}
