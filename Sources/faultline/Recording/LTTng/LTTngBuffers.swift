import Foundation
import Glibc

/// The buffers that each processor has for events, sized to the machine.
///
/// LTTng's consumer takes events out of them. On a busy machine it can get no processor for a tenth of a second, in which a
/// program records some ten thousand events; what finds no room then is lost. 32 MiB hold more than a hundred thousand.
///
/// A program that is killed while it writes an event takes the part of the buffer with it that the event was to go to, so
/// parts are small and many.
struct LTTngBuffers: Equatable {
    static let partBytes: UInt64 = 256 << 10
    static let fewestParts = 16
    static let mostParts = 128

    /// A power of two, as LTTng wants it.
    let parts: Int

    /// - Parameters:
    ///   - memory: Bytes that the machine has.
    ///   - room: Bytes that are free where LTTng makes its buffers.
    init(processors: Int, memory: UInt64, room: UInt64) {
        // Both belong to others too.
        let budget = min(memory / 64, room / 8) / UInt64(max(1, processors))
        var parts = Self.mostParts
        while parts > Self.fewestParts, UInt64(parts) * Self.partBytes > budget { parts /= 2 }
        self.parts = parts
    }

    static func ofThisMachine() -> LTTngBuffers {
        var status = statvfs()
        let hasRoom = statvfs("/dev/shm", &status) == 0
        return LTTngBuffers(
            processors: ProcessInfo.processInfo.processorCount, memory: ProcessInfo.processInfo.physicalMemory,
            room: hasRoom ? UInt64(status.f_bavail) * UInt64(status.f_frsize) : 0)
    }
}
