import Glibc

/// Reads the packets of a stream's file one after the other, in the layout of LTTng 2.
///
/// A packet begins with CTF's magic number, the trace's UUID and the numbers of stream and instance. Then follow the
/// times of its first and last event, the sizes in bits of its contents and of itself, its number in the stream, and
/// the number of events that the stream has lost so far (https://diamon.org/ctf/v1.8.3/, section 5, and the metadata
/// that LTTng writes).
final class CTFStream {
    /// The number of stretches without a sound packet that ``next()`` has skipped.
    private(set) var damagedPackets = 0
    private let file: UnsafeMutablePointer<FILE>
    private let length: Int
    private var offset = 0
    /// The counters of the previous packet.
    private var before = Counters()

    private struct Counters {
        var end: UInt64 = 0
        var number: UInt64 = 0
        var lost: UInt64 = 0
    }

    private enum Layout {
        static let magic: UInt32 = 0xC1FC_1FC1
        static let stream = 20, begin = 32, end = 40, contentSize = 48, packetSize = 56, number = 64, lost = 72
        static let header = 84
        /// Packets are sub-buffers, whose sizes are multiples of a page.
        static let page = 4096
        /// The maximum size of a sub-buffer.
        static let largest: UInt64 = 1 << 30
        /// An upper bound for plausible counts of packets or events.
        static let many: UInt64 = 1 << 53
    }

    /// Opens a file; `nil` with `errno` set if that fails.
    init?(_ path: String) {
        guard let file = fopen(path, "r") else { return nil }
        self.file = file
        fseek(file, 0, SEEK_END)
        length = ftell(file)
    }

    deinit {
        fclose(file)
    }

    /// The number of the stream, from the first packet; `nil` if there is none.
    var number: UInt32? {
        guard let header = read(Layout.header, at: 0) else { return nil }
        return header.withUnsafeBytes { bytes in
            guard UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)) == Layout.magic else { return nil }
            return UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: Layout.stream, as: UInt32.self))
        }
    }

    /// Whether the file consists only of packets with sound headers.
    var isSound: Bool {
        while skip() != nil {}
        return damagedPackets == 0
    }

    /// Returns the next packet with a sound header, or `nil` after the last.
    func next() -> [UInt8]? {
        guard let (offset, size) = skip() else { return nil }
        return read(size, at: offset)
    }

    /// Advances past the next packet with a sound header.
    private func skip() -> (offset: Int, size: Int)? {
        var isDamaged = false
        while offset < length {
            if let size = size(at: offset) {
                defer { offset += size }
                return (offset, size)
            }
            // Everything up to the next header counts as one damaged packet.
            if !isDamaged { damagedPackets += 1 }
            isDamaged = true
            offset += Layout.page
        }
        return nil
    }

    /// The size in bytes of the packet at an offset; `nil` if none begins there or it is cut off.
    private func size(at offset: Int) -> Int? {
        guard let header = read(Layout.header, at: offset) else { return nil }
        return header.withUnsafeBytes { bytes in
            func number(_ position: Int) -> UInt64 {
                UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
            }
            guard UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self)) == Layout.magic else { return nil }
            let (content, packet) = (number(Layout.contentSize), number(Layout.packetSize))
            guard content <= packet, packet % 8 == 0, packet / 8 <= Layout.largest else { return nil }
            let size = Int(packet / 8)
            guard content / 8 >= Layout.header, size <= length - offset else { return nil }
            let new = Counters(end: number(Layout.end), number: number(Layout.number), lost: number(Layout.lost))
            let begin = number(Layout.begin)
            guard begin <= new.end, begin >= before.end, new.number < Layout.many, new.lost < Layout.many,
                new.number >= before.number, new.lost >= before.lost
            else { return nil }
            before = new
            return size
        }
    }

    private func read(_ count: Int, at offset: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        guard fseek(file, offset, SEEK_SET) == 0 else { return nil }
        return fread(&bytes, 1, count, file) == count ? bytes : nil
    }
}
