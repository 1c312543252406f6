import Glibc

/// The packets of a stream's file as LTTng 2 lays them out, one after the other.
///
/// A packet begins with CTF's magic number, the trace's UUID, the numbers of stream and instance, the times of its first
/// and last event, and its sizes (of its contents and of itself) in bits: https://diamon.org/ctf/v1.8.3/, section 5, with
/// the fields that LTTng's metadata declares.
final class CTFStream {
    /// Packets that were found to be damaged.
    var damagedPackets = 0
    private let file: UnsafeMutablePointer<FILE>
    private let length: Int
    private var offset = 0

    private enum Layout {
        static let magic: UInt32 = 0xC1FC_1FC1
        static let contentSize = 48
        static let packetSize = 56
        static let header = 64
        /// Packets are sub-buffers, whose sizes are multiples of this one.
        static let page = 4096
        /// No sub-buffer is larger.
        static let largest = 1 << 30
    }

    /// Opens a file; `nil` with `errno` set.
    init?(_ path: String) {
        guard let file = fopen(path, "r") else { return nil }
        self.file = file
        fseek(file, 0, SEEK_END)
        length = ftell(file)
    }

    deinit {
        fclose(file)
    }

    /// The next packet whose header is sound; `nil` behind the last.
    func next() -> [UInt8]? {
        while offset < length {
            if let size = size(at: offset) {
                defer { offset += size }
                return read(size, at: offset)
            }
            // Whatever lies here up to the next header is one damaged packet.
            damagedPackets += 1
            offset += Layout.page
            while offset < length, size(at: offset) == nil { offset += Layout.page }
        }
        return nil
    }

    /// The size in bytes of the packet at an offset; `nil` if none begins there or it breaks off.
    private func size(at offset: Int) -> Int? {
        guard let header = read(Layout.header, at: offset) else { return nil }
        return header.withUnsafeBytes { bytes in
            guard UInt32(littleEndian: bytes.load(as: UInt32.self)) == Layout.magic else { return nil }
            let content = UInt64(littleEndian: bytes.load(fromByteOffset: Layout.contentSize, as: UInt64.self))
            let packet = UInt64(littleEndian: bytes.load(fromByteOffset: Layout.packetSize, as: UInt64.self))
            guard content <= packet, packet % 8 == 0, packet / 8 <= UInt64(Layout.largest) else { return nil }
            let size = Int(packet / 8)
            return size >= Layout.header && size <= length - offset ? size : nil
        }
    }

    private func read(_ count: Int, at offset: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        guard fseek(file, offset, SEEK_SET) == 0 else { return nil }
        return fread(&bytes, 1, count, file) == count ? bytes : nil
    }
}
