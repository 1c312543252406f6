import Foundation
import Glibc

/// The event buffers of each processor, sized for the machine.
///
/// LTTng's consumer empties them. On a busy machine it can wait 0.1 s for a processor, while a program records about
/// ten thousand events. Events that find no space are lost. 32 MiB hold more than a hundred thousand events.
///
/// A program that is killed while it writes an event makes that part of the buffer unreadable, so the parts are small
/// and many.
struct LTTngBuffers: Equatable {
    static let partBytes: UInt64 = 256 << 10
    static let minimumParts = 16
    static let maximumParts = 128

    /// A power of two, as LTTng requires.
    let parts: Int

    /// - Parameters:
    ///   - memory: The machine's memory, in bytes.
    ///   - room: The free bytes where LTTng creates its buffers.
    init(processors: Int, memory: UInt64, room: UInt64) {
        // Other programs need both too.
        let budget = min(memory / 64, room / 8) / UInt64(max(1, processors))
        var parts = Self.maximumParts
        while parts > Self.minimumParts, UInt64(parts) * Self.partBytes > budget { parts /= 2 }
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
