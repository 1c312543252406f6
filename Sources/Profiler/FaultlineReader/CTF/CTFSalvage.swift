import CBabeltrace
import Foundation
import Glibc

/// The readable parts of CTF traces that libbabeltrace2 rejects, because one damaged packet costs it the whole trace.
///
/// Readable streams are linked. From the others, the packets that can be read by themselves are copied; if their
/// layout is unknown, the stream is left out. The traces themselves stay unchanged.
final class CTFSalvage {
    /// The copies, in the order of the traces.
    private(set) var directories: [String] = []
    /// The packets that were left out.
    private(set) var losses: [ReadingSummary.DamagedStream] = []
    private let scratch: CTFScratch
    private let path: String

    /// Copies the readable parts of the traces in the given directories.
    ///
    /// - Throws: ``ReaderError`` if there is no room for the copy, or if nothing of a trace can be read.
    init(_ originals: [String], path: String) throws(ReaderError) {
        self.path = path
        scratch = try CTFScratch(path: path)
        for (number, original) in originals.enumerated() {
            let copy = try scratch.makeDirectory("\(number)", for: original)
            // If reading fails without any stream, the metadata is damaged.
            _ = try CTFMessages([copy], namesOnly: true, path: path)
            let trial = try scratch.makeDirectory("\(number)-trial", for: original)
            let hasKnownPackets = CTFMetadata(of: original).hasPacketsOfLTTng
            for file in CTFTrace.streams(of: original) {
                try salvage(
                    original + "/" + file, to: copy + "/" + file, trial: trial, hasKnownPackets: hasKnownPackets)
            }
            directories.append(copy)
        }
    }

    // MARK: - A stream

    private func salvage(_ file: String, to copy: String, trial: String, hasKnownPackets: Bool) throws(ReaderError) {
        let link = trial + "/stream"
        defer { unlink(link) }
        if !hasKnownPackets || CTFStream(file)?.isSound == true {
            try scratch.link(file, at: link)
            if isReadable(trial) {
                try scratch.link(file, at: copy)
                return
            }
            unlink(link)
        }
        guard hasKnownPackets else {
            losses.append(ReadingSummary.DamagedStream(file: file, packets: 1))
            return
        }
        guard let stream = CTFStream(file) else { throw .cannotRead(file, line: 0, errno) }
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
