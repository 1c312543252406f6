import Foundation
import Testing

@testable import FaultlineReport

@Suite("Protocol buffers and gzip")
struct ProtobufTests {
    /// The examples of https://protobuf.dev/programming-guides/encoding.
    @Test func `Numbers, texts and messages are encoded as the specification says`() {
        var number = Protobuf()
        number.add(1, 150)
        #expect(number.bytes == [0x08, 0x96, 0x01])
        var text = Protobuf()
        text.add(2, text: "testing")
        #expect(text.bytes == [0x12, 0x07] + Array("testing".utf8))
        var outer = Protobuf()
        outer.add(3, number)
        #expect(outer.bytes == [0x1A, 0x03, 0x08, 0x96, 0x01])
        var packed = Protobuf()
        packed.add(6, [3, 270, 86_942])
        #expect(packed.bytes == [0x32, 0x06, 0x03, 0x8E, 0x02, 0x9E, 0xA7, 0x05])
    }

    @Test func `Defaults are left out, but not the texts and messages of a list`() {
        var message = Protobuf()
        message.add(1, 0)
        message.add(2, false)
        message.add(3, [])
        #expect(message.bytes == [])
        message.add(6, text: "")
        message.add(7, Protobuf())
        #expect(message.bytes == [0x32, 0, 0x3A, 0])
        var largest = Protobuf()
        largest.add(1, .max)
        #expect(largest.bytes == [0x08] + Array(repeating: 0xFF, count: 9) + [0x01])
    }

    @Test(arguments: [0, 1, 65_535, 3_000_000])
    func `gzip restores what was compressed`(count: Int) throws {
        // A generator whose numbers do not compress well.
        var state: UInt32 = 1
        let bytes = (0..<count).map { _ in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(truncatingIfNeeded: state >> 24)
        }
        let compressed = try #require(Gzip.compress(bytes))
        #expect(compressed.prefix(3) == [0x1F, 0x8B, 0x08])
        // The time in the header is left out, so that equal traces give equal bytes.
        #expect(compressed[4..<8] == [0, 0, 0, 0])
        #expect(Gzip.compress(bytes) == compressed)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (packed, plain) = (folder.appendingPathComponent("b.gz"), folder.appendingPathComponent("b"))
        try Data(compressed).write(to: packed)
        let gzip = Process()
        gzip.executableURL = URL(fileURLWithPath: "/bin/gzip")
        gzip.arguments = ["--decompress", packed.path]
        try gzip.run()
        gzip.waitUntilExit()
        #expect(gzip.terminationStatus == 0)
        #expect(try Data(contentsOf: plain) == Data(bytes))
    }
}
