import FaultlineDocuments
import FaultlineProfile
import FaultlineReader
import FaultlineReport
import FaultlineRules
import Foundation
import ProjectFiles
import TestFolders
import Testing

/// Random numbers that are the same in every run.
private struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return (state ^ (state >> 33)) &* 0xff51_afd7_ed55_8ccd
    }
}

@Suite("Damaged numbers affect only their own lines")
struct DamagedNumbersTests {
    /// The rounds for each trace, a multiple of 4; `make attack` takes 200.
    static let rounds = ProcessInfo.processInfo.environment["FAULTLINE_DAMAGE_ROUNDS"].flatMap { Int($0) } ?? 4

    static let extremes = [
        "18446744073709551615", "9223372036854775808", "9223372036854775807", "9007199254740993", "9007199254740992",
        "4294967295", "4294967296", "0", "1", "-1", "1e308", "0.5", "null", "\"x\"", "[]",
    ]

    @Test("in a whole trace, however many there are", arguments: SampleTraces.timelines)
    func numbers(story: String) throws {
        let trace = try SampleTraces.trace(story)
        let lines = try String(contentsOf: trace, encoding: .utf8).components(separatedBy: "\n")
        let scratch = try TestFolder.make().appendingPathComponent("trace.json").path
        var generator = Generator(state: 1)
        for round in 0..<Self.rounds {
            // From one damaged number to one in every second line.
            let share = [1000, 100, 10, 2][round % 4]
            let damaged = lines.map { line in
                Int.random(in: 0..<share, using: &generator) == 0 ? Self.damage(line, &generator) : line
            }
            try damaged.joined(separator: "\n").write(toFile: scratch, atomically: false, encoding: .utf8)
            try report(scratch)
        }
    }

    @Test("with one extreme value for all numbers of a key")
    func columns() throws {
        let trace = try SampleTraces.trace("groceries-flawed")
        let text = try String(contentsOf: trace, encoding: .utf8)
        let keys = Set(text.matches(of: /"([A-Za-z]+)":[0-9]/).map { String($0.output.1) })
        #expect(keys.count > 40)
        let scratch = try TestFolder.make().appendingPathComponent("trace.json").path
        for (index, key) in keys.sorted().enumerated() {
            let extremes = ["9007199254740992", "18446744073709551615"]
            // With few rounds, the keys take turns.
            for extreme in Self.rounds < 100 ? [extremes[index % 2]] : extremes {
                let pattern = try Regex("\"\(key)\":[0-9.]+")
                try text.replacing(pattern, with: "\"\(key)\":\(extreme)")
                    .write(toFile: scratch, atomically: false, encoding: .utf8)
                try report(scratch)
            }
        }
    }

    @Test("in a profile, which is rejected or reported", arguments: SampleTraces.timelines)
    func profiles(story: String) throws {
        var builder = ProfileBuilder()
        let trace = try SampleTraces.trace(story).path
        _ = try TraceReader(path: trace).read { builder.add($0) }
        let profile = builder.finish()
        let text = String(decoding: try profile.fileData(), as: UTF8.self)
        let numbers = text.matches(of: /[:,\[](\d+)/).map(\.output.1)
        var generator = Generator(state: 7)
        for round in 0..<Self.rounds {
            let share = [numbers.count, 100, 10, 2][round % 4]
            var damaged = ""
            var rest = text[...]
            for number in numbers where Int.random(in: 0..<share, using: &generator) == 0 {
                damaged += rest[..<number.startIndex]
                damaged +=
                    ["0", "1", "2", "9007199254740992", "1152921504606846976"].randomElement(using: &generator) ?? "0"
                rest = rest[number.endIndex...]
            }
            do {
                var read = try Profile(fileData: Data((damaged + rest).utf8))
                try read.merge(profile)
                try report(read)
            } catch is ProfileFileError {
            } catch is ProfileMergeError {}
        }
    }

    /// Does everything that `report` and `events` do with a trace, in this process, where a trap would end the tests.
    private func report(_ path: String) throws {
        var builder = ProfileBuilder()
        do {
            _ = try TraceReader(path: path).read { builder.add($0) }
        } catch is ReaderError {
            return
        }
        try report(builder.finish())
        _ = try SymbolResolver().addFrames(to: TraceReader(path: path))
    }

    private func report(_ profile: Profile) throws {
        let analysis = Analysis(profile)
        #expect(!TextReport(analysis).render().isEmpty)
        #expect(!ReportJSON(analysis).render().isEmpty)
        #expect(try !profile.fileData().isEmpty)
    }

    private static func damage(_ line: String, _ generator: inout Generator) -> String {
        let numbers = line.matches(of: /:[0-9.]+/)
        guard let number = numbers.randomElement(using: &generator),
            let extreme = extremes.randomElement(using: &generator)
        else { return line }
        return line.replacingCharacters(in: number.range, with: ":" + extreme)
    }
}
