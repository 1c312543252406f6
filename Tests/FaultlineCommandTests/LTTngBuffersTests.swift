import Testing

@testable import faultline

@Suite("LTTng's buffers")
struct LTTngBuffersTests {
    private static let gibibyte: UInt64 = 1 << 30

    @Test(
        "depend on the machine's memory, processors and free space",
        arguments: [
            // Two processors with much memory: 32 MiB each.
            (2, 24 * gibibyte, 24 * gibibyte, 128),
            // Many processors share the space that one may use.
            (64, 64 * gibibyte, 32 * gibibyte, 64), (64, 16 * gibibyte, 8 * gibibyte, 16),
            // A container's /dev/shm of 64 MiB, of which most stays free, and a full one.
            (2, 24 * gibibyte, gibibyte / 16, 16), (2, 24 * gibibyte, 0, 16),
            (1, gibibyte, gibibyte, 64),
        ])
    func sizes(_ processors: Int, _ memory: UInt64, _ room: UInt64, _ parts: Int) {
        let buffers = LTTngBuffers(processors: processors, memory: memory, room: room)
        #expect(buffers.parts == parts)
        #expect(buffers.parts.nonzeroBitCount == 1)
        // Beyond the minimum, the buffers use at most an eighth of the free space.
        if parts > LTTngBuffers.minimumParts {
            #expect(UInt64(parts) * LTTngBuffers.partBytes * UInt64(processors) <= min(memory / 64, room / 8))
        }
    }
}
