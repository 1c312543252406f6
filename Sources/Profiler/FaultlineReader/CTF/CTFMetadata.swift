import FaultlineTrace
import Foundation

/// The metadata of a CTF trace: text, in packets of its own, that describes how to read the streams.
///
/// libbabeltrace2 parses it; this type examines only what must be known before.
struct CTFMetadata {
    /// The maximum number of bytes to read; LTTng writes some kilobytes for each provider.
    private static let most = 64 << 20

    private let text: Data
    /// Whether the metadata is complete: libbabeltrace2 waits forever for the rest of an incomplete packet.
    let isWhole: Bool

    /// Reads the metadata of the trace in a directory; without a file, it declares nothing.
    init(of directory: String) {
        let file = try? RegularFile.bytes(of: directory + "/metadata", atMost: Self.most)
        (text, isWhole) = Self.unpacked(file ?? [])
    }

    /// The layout of a metadata packet: magic number, UUID, checksum, the sizes in bits of its contents and of itself,
    /// and five more bytes (https://diamon.org/ctf/v1.8.3/, section 7.1).
    private enum Packet {
        static let magic: [UInt8] = [0x57, 0x1D, 0xD1, 0x75]
        static let contentSize = 24
        static let packetSize = 28
        static let header = 37
    }

    private static func unpacked(_ file: [UInt8]) -> (Data, isWhole: Bool) {
        guard file.starts(with: Packet.magic) else { return (Data(file), true) }
        var text = Data()
        var start = 0
        while start + Packet.header <= file.count, file[start...].starts(with: Packet.magic) {
            func bytes(at offset: Int) -> Int {
                file[(start + offset)..<(start + offset + 4)].reversed().reduce(0) { $0 << 8 | Int($1) } / 8
            }
            let (content, size) = (bytes(at: Packet.contentSize), bytes(at: Packet.packetSize))
            guard content >= Packet.header, size >= content, size <= file.count - start else { break }
            text += file[(start + Packet.header)..<(start + content)]
            start += size
        }
        return (text, start == file.count)
    }

    /// Whether it declares an event of one of Faultline's providers.
    var declaresEvents: Bool {
        ["\"faultline:", "\"faultline_"].contains { text.range(of: Data($0.utf8)) != nil }
    }

    /// The tracer's name, as the trace states it: `tracer_name = "lttng-modules"`.
    var producer: String? {
        guard let key = text.range(of: Data("tracer_name = \"".utf8)) else { return nil }
        let name = text[key.upperBound...].prefix { $0 != UInt8(ascii: "\"") }
        // A name that would not fit into a sentence is ignored.
        guard (1...64).contains(name.count), name.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return nil }
        return String(decoding: name, as: UTF8.self)
    }

    /// Whether packets have the layout of LTTng 2, which ``CTFStream`` reads.
    var hasPacketsOfLTTng: Bool {
        // The type of the counter of lost events. It has 32 bits in traces of 32-bit programs.
        let long = Data("size = 64; align = 8; signed = false; } := unsigned long".utf8)
        guard text.range(of: long) != nil else { return false }
        var position = text.startIndex
        for word in [
            "struct packet_context", "timestamp_begin", "timestamp_end", "content_size", "packet_size",
            "packet_seq_num", "events_discarded", "cpu_id", "}",
        ] {
            guard let found = text.range(of: Data(word.utf8), in: position..<text.endIndex) else { return false }
            // Only the end of one and the type of the next may stand between two of them.
            if position > text.startIndex, text.distance(from: position, to: found.lowerBound) > 64 { return false }
            position = found.upperBound
        }
        return true
    }

    /// The numbers of the streams that hold dictionary entries.
    ///
    /// `nil` unless each event's name is followed by its number and stream, the order in which LTTng writes them.
    var streamsOfNames: Set<UInt32>? {
        var streams: Set<UInt32> = []
        for provider in ["\"faultline_dictionary:", "\"faultline_statedump:"] {
            var position = text.startIndex
            while let found = text.range(of: Data(provider.utf8), in: position..<text.endIndex) {
                position = found.upperBound
                let key = Data("stream_id = ".utf8)
                guard let stream = text.range(of: key, in: position..<text.endIndex),
                    text.distance(from: position, to: stream.lowerBound) < 128
                else { return nil }
                let digits = text[stream.upperBound...].prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
                guard let number = UInt32(String(decoding: digits, as: UTF8.self)) else { return nil }
                streams.insert(number)
            }
        }
        return streams
    }
}
