import Foundation
import Testing

@Suite("The line that shows how a recording goes", .timeLimit(.minutes(5)))
struct ProgressLineTests {
    /// A recording of `cat`, with standard error on a terminal of its own.
    private final class RecordedCat {
        private let command: CommandOnTerminal
        private let directory: TemporaryDirectory

        init(_ options: [String], outputOnTerminal: Bool = false) throws {
            directory = try TemporaryDirectory()
            command = try CommandOnTerminal(
                ["record"] + options + ["-o", directory.path("trace.json"), "--", "cat"],
                streams: outputOnTerminal ? .outputAndErrors : .errors)
        }

        func read(until text: String) { command.read(until: text) }

        func type(_ character: UInt8) throws { try command.type(character) }

        /// Ends the command, and waits until its trace is complete.
        func end() throws {
            try command.closeInput()
            while try String(contentsOfFile: directory.path("trace.json"), encoding: .utf8) != "[\n]\n" {}
        }

        /// Ends the command, and returns all that the terminal showed.
        func finish() throws -> String { try command.finish() }
    }

    private static let line = "recording for 1 s: 0 events, 2 B, none lost\u{1B}[K\r"

    @Test("is shown on a terminal, and removed at the end")
    func shown() throws {
        let cat = try RecordedCat([])
        cat.read(until: Self.line)
        let shown = try cat.finish()
        #expect(shown.contains(Self.line))
        let rest = try #require(shown.components(separatedBy: "none lost\u{1B}[K\r").last)
        #expect(rest.hasPrefix("\u{1B}[Kfaultline: No process of \"cat\" recorded anything"))
    }

    @Test("does not hold up the recording while the terminal's output is stopped")
    func stopped() throws {
        let (stop, start) = (UInt8(0x13), UInt8(0x11))
        let cat = try RecordedCat([])
        cat.read(until: Self.line)
        try cat.type(stop)
        // It has run for longer than this one, which shows that another line was due.
        let other = try RecordedCat([])
        other.read(until: Self.line)
        _ = try other.finish()
        try cat.end()
        try cat.type(start)
        #expect(try cat.finish().contains("No process of \"cat\" recorded anything"))
    }

    @Test("is shown beside the command's own output only if asked for, and not with --quiet")
    func besideOutput() throws {
        let silent = [try RecordedCat([], outputOnTerminal: true), try RecordedCat(["--quiet", "--progress"])]
        // They have run for longer than this one, which shows that it has run for a second.
        let asked = try RecordedCat(["--progress"], outputOnTerminal: true)
        asked.read(until: Self.line)
        #expect(try asked.finish().contains(Self.line))
        for cat in silent { #expect(try !cat.finish().contains("recording for")) }
    }
}
