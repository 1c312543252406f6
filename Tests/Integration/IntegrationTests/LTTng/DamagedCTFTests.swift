import Foundation
import Testing

@Suite("A damaged CTF trace", .enabled(if: LTTngSandbox.isAvailable, LTTngSandbox.need))
struct DamagedCTFTests {
    private let directory: TemporaryDirectory
    /// The trace's own directory, and the largest event stream in it, which has many packets.
    private let streams: URL
    private let stream: URL
    private let whole: [RecordedEvents.Event]

    /// Sub-buffers, and therefore packets, of one page.
    private static let packet = 4096

    init() throws {
        directory = try TemporaryDirectory()
        let form = "workload groceries --store list.sqlite --items 120 --flaws all"
        let result = try LTTngSandbox.run(
            """
            $FAULTLINE \(form) --prepare
            start_daemon
            record one "$PWD/ctf" --subbuf-size=4k --num-subbuf=256
            FAULTLINE_TRACE=lttng $FAULTLINE \(form)
            finish one
            """, directory: directory)
        try #require(result.status == 0, "\(result.errors)")
        whole = try RecordedEvents(of: directory.path("ctf")).all.filter { $0.kind != "process" }
        let root = directory.url.appendingPathComponent("ctf/ust/uid")
        let found = try #require(
            FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String }.filter {
                $0.contains("/events_") && !$0.hasSuffix(".idx")
            })
        let sized = try found.map { name in
            (name, try Data(contentsOf: root.appendingPathComponent(name)).count)
        }
        stream = root.appendingPathComponent(try #require(sized.max { $0.1 < $1.1 }).0)
        streams = stream.deletingLastPathComponent()
        try #require(sized.contains { $0.1 >= 8 * Self.packet })
    }

    private func report() throws -> BuiltCommand.Result {
        try BuiltCommand.run(["report", directory.path("ctf")])
    }

    /// Checks that the rest is unchanged; each packet contains about twenty events.
    private func checkRest(missingPackets: Int) throws {
        let rest = try RecordedEvents(of: directory.path("ctf")).all.filter {
            $0.kind != "process" && $0.kind != "lost"
        }
        let lost = whole.count - rest.count
        #expect(lost > 0 && lost <= missingPackets * 60)
        let known = Set(whole.map { "\($0.id ?? 0) \($0.kind) \($0.duration ?? 0) \($0.entityName ?? "")" })
        // An event that is damaged only in its last fields is indistinguishable from others.
        let changed = rest.filter {
            !known.contains("\($0.id ?? 0) \($0.kind) \($0.duration ?? 0) \($0.entityName ?? "")")
        }
        #expect(changed.count <= 1)
    }

    @Test("loses the damaged packet, and reports it", arguments: [(48, 64), (200, 800), (0, 64)])
    func packet(offset: Int, length: Int) throws {
        var bytes = try Data(contentsOf: stream)
        // Damages the packet's sizes, its events, or all of its header.
        #expect(try report().errors.isEmpty)
        let place = 2 * Self.packet + offset
        bytes.replaceSubrange(place..<(place + length), with: Data(repeating: 0xFF, count: length))
        try bytes.write(to: stream)
        let result = try report()
        #expect(result.status == 0)
        // The event in which the damage starts may be detected separately.
        let event =
            "faultline: 1 damaged event was left out: a field of the event is missing, broken or too large.\n"
        #expect(
            result.errors.replacing(event, with: "")
                == "faultline: 1 damaged packet of \"\(stream.path)\" was left out, with the events in it.\n")
        try checkRest(missingPackets: 1)
    }

    @Test("that ends in the middle of a packet loses that packet")
    func truncated() throws {
        let bytes = try Data(contentsOf: stream)
        try bytes.prefix(5 * Self.packet + 100).write(to: stream)
        let result = try report()
        #expect(result.status == 0)
        #expect(
            result.errors == "faultline: 1 damaged packet of \"\(stream.path)\" was left out, with the events in it.\n")
        try checkRest(missingPackets: bytes.count / Self.packet - 5)
    }

    @Test("with damaged metadata is rejected with an error")
    func metadata() throws {
        let metadata = streams.appendingPathComponent("metadata")
        var bytes = try Data(contentsOf: metadata)
        let typo = try #require(bytes.range(of: Data("integer {".utf8)))
        bytes.replaceSubrange(typo, with: Data("intoger (".utf8))
        try bytes.write(to: metadata)
        let result = try report()
        #expect(result.status == 2 && result.output.isEmpty)
        let (start, end) = (
            "faultline: Could not read the trace \"\(directory.path("ctf"))\": the CTF trace is damaged (",
            "); record again.\n"
        )
        #expect(result.errors.hasPrefix(start) && result.errors.hasSuffix(end))
        #expect(result.errors.count { $0 == "\n" } == 1)
    }

    @Test("never crashes the reader, whatever bytes are damaged")
    func anyBytes() throws {
        var random = SystemRandomNumberGenerator()
        let original = try Data(contentsOf: stream)
        for _ in 0..<20 {
            var bytes = original
            for _ in 0..<8 {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            try bytes.write(to: stream)
            let result = try report()
            if result.wasKilled || ![0, 2].contains(result.status) {
                try bytes.write(to: URL(fileURLWithPath: "/tmp/faultline-damaged-stream"))
            }
            #expect(!result.wasKilled && [0, 2].contains(result.status), "see /tmp/faultline-damaged-stream")
        }
    }
}

@Suite("A directory that is not a Faultline trace")
struct ForeignCTFTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func refusal() throws -> String {
        let result = try BuiltCommand.run(["report", directory.url.path])
        #expect(result.status == 2 && result.output.isEmpty)
        return result.errors
    }

    @Test("is rejected with an error")
    func empty() throws {
        #expect(
            try refusal()
                == "faultline: Could not read the trace \"\(directory.url.path)\": the directory contains no CTF trace (no file \"metadata\"); name the directory that you passed to \"faultline record --to lttng\" or \"lttng create --output\", or a single file if it contains other traces.\n"
        )
    }

    @Test("is rejected with its producer's name", arguments: ["barectf", nil])
    func producer(name: String?) throws {
        let environment = name.map { "env { tracer_name = \"\($0)\"; };\n" } ?? ""
        try FileManager.default.createDirectory(
            atPath: directory.path("ust/uid/0/64-bit"), withIntermediateDirectories: true)
        try "/* CTF 1.8 */\ntrace { major = 1; minor = 8; byte_order = le; };\n\(environment)".write(
            toFile: directory.path("ust/uid/0/64-bit/metadata"), atomically: true, encoding: .utf8)
        #expect(
            try refusal()
                == "faultline: Could not read the trace \"\(directory.url.path)\": it is a CTF trace\(name.map { " of \"\($0)\"" } ?? "") without Faultline events; record with \"faultline record --to lttng\", or enable the events \"faultline*\" in the session.\n"
        )
        // A file of the directory is rejected too.
        let file = try BuiltCommand.run(["report", directory.path("ust/uid/0/64-bit/metadata")])
        #expect(
            file.errors
                == "faultline: Could not read the trace \"\(directory.path("ust/uid/0/64-bit/metadata"))\": it is not a timeline but the metadata of a CTF trace; name the directory that contains the trace.\n"
        )
    }
}
