import CRecorder
import FaultlineTrace
import Foundation
import TestFolders
import Testing

@testable import FaultlineRecorder

/// Ring files with damage anywhere: nothing is read beyond their end, and no trace contains more than they held.
@Suite("Damaged rings")
struct DamagedRingsTests {
    /// `make attack` runs more rounds.
    static let rounds = (ProcessInfo.processInfo.environment["FAULTLINE_ATTACK_ROUNDS"].flatMap { Int($0) } ?? 1) * 40

    let directory: URL

    init() throws {
        directory = try TestFolder.make()
    }

    /// Returns the rings of a recorder with events of every kind.
    private func rings() throws -> Data {
        let recorder = try Recorder.writing(to: .rings(directory: directory.path))
        for _ in 0..<20 {
            guard let open = recorder.begin() else { continue }
            recorder.end(open, TraceEvent.Fetch(), context: 0, site: 0)
        }
        let use = recorder.openUse(fetch: 1, entity: 0, shape: 0, batchSize: 0, rows: 10)
        use?.touch(row: 3)
        recorder.close()
        // The result is still in use, as when a program is killed.
        return try withExtendedLifetime(use) {
            let name = try #require(RingDirectory.rings(in: directory.path).first)
            defer { unlink(directory.path + "/" + name) }
            return try Data(contentsOf: directory.appendingPathComponent(name))
        }
    }

    private func makeTrace(_ data: Data) throws -> (events: UInt64, size: Int) {
        let file = directory.appendingPathComponent("faultline-1-2.rings")
        let trace = directory.appendingPathComponent("trace.json")
        try data.write(to: file)
        defer {
            unlink(file.path)
            unlink(trace.path)
        }
        let events = try TraceRecovery.makeTrace(trace.path, of: [file.path])
        return (events, try Data(contentsOf: trace).count)
    }

    @Test("are read up to the damage")
    func mutations() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let whole = try rings()
        let undamaged = try makeTrace(whole)
        #expect(undamaged.events == 20)
        var generator = SystemRandomNumberGenerator()
        // Bytes that are not zero; zeros in between are never read.
        let bytes = [UInt8](whole)
        let places = bytes.indices.filter { bytes[$0] != 0 }
        for _ in 0..<Self.rounds {
            var damaged = whole
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                let place =
                    Bool.random(using: &generator)
                    ? places.randomElement(using: &generator)! : Int.random(in: 0..<16384)
                let values: [UInt8] = [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &generator)]
                damaged[place] = values.randomElement(using: &generator)!
            }
            if Int.random(in: 0..<10, using: &generator) == 0 {
                damaged = damaged.prefix(Int.random(in: 0..<damaged.count, using: &generator))
            }
            // The file is rejected or read as far as possible, but never yields more than a file of its size can hold.
            do {
                #expect(try makeTrace(Data(damaged)).size < 64 << 20)
            } catch let error as RecorderError {
                #expect(!error.message.contains("Success"), "\(error)")
            }
        }
    }

    @Test("with a damaged name give a trace of the rest, which counts the loss")
    func damagedName() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        var data = try rings()
        // JSON has no control characters.
        let name = try #require(data.firstRange(of: Data("{\"".utf8), in: 4096..<data.count))
        data[name.lowerBound + 1] = 1
        let file = directory.appendingPathComponent("faultline-1-2.rings")
        let trace = directory.appendingPathComponent("trace.json")
        try data.write(to: file)
        #expect(try TraceRecovery.makeTrace(trace.path, of: [file.path]) == 20)
        #expect(try String(contentsOf: trace, encoding: .utf8).contains("\"unwritten\":1"))
        #expect(RecorderError.reason(0) == "the cause is unknown")
        #expect(
            RecorderError.incomplete("t", lines: 1, errno: EBADMSG).message.hasSuffix(
                "(names in the ring buffers are damaged or too long); record again."))
    }

    @Test("are found by the trace that \"faultline record\" was to write")
    func byTrace() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let trace = directory.appendingPathComponent("trace.json")
        let link = directory.appendingPathComponent("link.json")
        try Data().write(to: trace)
        try Data().write(to: directory.appendingPathComponent("other.json"))
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: trace)
        // As a killed "faultline record" leaves it: its lock is gone.
        let place = directory.appendingPathComponent("faultline-abcdef")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        try Data("rings \(trace.path)".utf8).write(to: place.appendingPathComponent("owner"))
        let recorder = try Recorder.writing(to: .rings(directory: place.path))
        for _ in 0..<20 {
            if let open = recorder.begin() { recorder.end(open, TraceEvent.Fetch(), context: 0, site: 0) }
        }
        recorder.close()
        for path in [trace.path, link.path] {
            let found = LeftoverRings.find(for: path, in: [directory.path])
            #expect(found.map(\.events) == [20] && found.first?.file.hasPrefix(place.path) == true)
        }
        for name in ["other.json", "none.json"] {
            let path = directory.appendingPathComponent(name).path
            #expect(LeftoverRings.find(for: path, in: [directory.path]).isEmpty)
        }
    }

    @Test("of another version are found apart from the others")
    func otherVersion() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        var data = try rings()
        // The layout's version follows the eight bytes that tell what the file is.
        data[data.startIndex + 8] ^= 1
        let file = directory.appendingPathComponent("faultline-4711-1.rings").path
        try data.write(to: URL(fileURLWithPath: file))
        try Data("no rings".utf8).write(to: directory.appendingPathComponent("faultline-4711-2.rings"))
        for file in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: directory.appendingPathComponent(file).path)
        }
        #expect(LeftoverRings.findUnreadable(in: [directory.path]) == [file])
        #expect(!LeftoverRings.find(in: [directory.path]).map(\.file).contains(file))
        #expect(throws: RecorderError.self) { try TraceRecovery.makeTrace(file + ".json", of: [file]) }
    }

    @Test("with an entry whose size and offset overflow 32 bits are read once")
    func wrapping() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        var data = try rings()
        let limit = try makeTrace(data).size
        // The first entry of the dictionary starts with its size and its number, 1.
        let header = MemoryLayout<UInt32>.size
        let first = try #require(
            data.indices.first { place in
                place % 8 == 0 && place > 4096 && place + 24 < data.count && data[place + 4] == 1
                    && data[place + 5] == 0 && data[place] >= 24 && data[place + 16] == UInt8(ascii: "{")
            })
        let second = first + Int(data[first]) + Int(data[first + 1]) << 8
        // The size of the second entry leads back to the first.
        let back = UInt32.max - UInt32(second - first) + 1
        for byte in 0..<header { data[second + byte] = UInt8(truncatingIfNeeded: back >> (8 * UInt32(byte))) }
        #expect(try makeTrace(data).size <= limit)
    }
}
