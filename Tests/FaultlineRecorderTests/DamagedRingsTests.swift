import CRecorder
import FaultlineTrace
import Foundation
import TestFolders
import Testing

@testable import FaultlineRecorder

/// Files of rings of which anything may be damaged: nothing is read beyond them, and no trace has what they did not hold.
@Suite("Damaged rings")
struct DamagedRingsTests {
    /// `make attack` has more.
    static let rounds = (ProcessInfo.processInfo.environment["FAULTLINE_ATTACK_ROUNDS"].flatMap { Int($0) } ?? 1) * 40

    let directory: URL

    init() throws {
        directory = try TestFolder.make()
    }

    /// The rings of a recorder with some of everything.
    private func rings() throws -> Data {
        let recorder = try Recorder.writing(to: .rings(directory: directory.path))
        for _ in 0..<20 {
            guard let open = recorder.begin() else { continue }
            recorder.end(open, TraceEvent.Fetch(), context: 0, site: 0)
        }
        let use = recorder.openUse(fetch: 1, entity: 0, shape: 0, batchSize: 0, rows: 10)
        use?.touch(row: 3)
        recorder.close()
        // The result is still in use, as where a program is killed.
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

    @Test("are read to the end of what is whole")
    func mutations() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        let whole = try rings()
        let undamaged = try makeTrace(whole)
        #expect(undamaged.events == 20)
        var generator = SystemRandomNumberGenerator()
        // Where something stands: zeros in between are never read.
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
            // Refused, or read as far as it goes, and never more than a file of that size can hold.
            guard let made = try? makeTrace(Data(damaged)) else { continue }
            #expect(made.size < 64 << 20)
        }
    }

    @Test("with an entry whose size and place make 32 bits wrap are read once")
    func wrapping() throws {
        defer { try? FileManager.default.removeItem(at: directory) }
        var data = try rings()
        let limit = try makeTrace(data).size
        // The first entry of the dictionary begins with its size and its number 1.
        let header = MemoryLayout<UInt32>.size
        let first = try #require(
            data.indices.first { place in
                place % 8 == 0 && place > 4096 && place + 24 < data.count && data[place + 4] == 1
                    && data[place + 5] == 0 && data[place] >= 24 && data[place + 16] == UInt8(ascii: "{")
            })
        let second = first + Int(data[first]) + Int(data[first + 1]) << 8
        // The second one's size leads back to the first.
        let back = UInt32.max - UInt32(second - first) + 1
        for byte in 0..<header { data[second + byte] = UInt8(truncatingIfNeeded: back >> (8 * UInt32(byte))) }
        #expect(try makeTrace(data).size <= limit)
    }
}
