import Foundation
import Testing

@Suite("The bar that shows how far a long operation is", .timeLimit(.minutes(5)))
struct ProgressBarTests {
    private static let trace = BuiltCommand.package.appendingPathComponent("Traces/music-library/trace.json")
    /// The characters that erase the bar and leave the cursor at its beginning.
    private static let end = "\u{1B}[K\r"

    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Writes a trace with the events of the sample trace several times.
    private func write(copies: Int) throws -> String {
        let lines = try String(contentsOf: Self.trace, encoding: .utf8).split(separator: "\n")
        let events = lines.filter { $0.contains(#""ph":"X""#) }.joined(separator: "\n") + "\n"
        let path = directory.path("long.json")
        let text = lines.dropLast(2).joined(separator: "\n") + "\n" + String(repeating: events, count: copies)
        try (text + lines.suffix(2).joined(separator: "\n") + "\n").write(
            toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    /// Runs a command for longer and longer traces until the terminal shows something that takes a second.
    private func run(_ arguments: (String) -> [String]) throws -> (shown: String, trace: String) {
        var copies = 8
        while true {
            let path = try write(copies: copies)
            let shown = try CommandOnTerminal(arguments(path)).finish()
            if shown.contains(Self.end) || copies > 1000 { return (shown, path) }
            copies *= 4
        }
    }

    private let bar =
        #/\rreading long\.json \[[█▏▎▍▌▋▊▉ ]{20}\] [0-9.]+ %, [0-9.]+ [KM]iB/s, ([0-9]+ min )?[0-9]+ s left\u{1B}\[K/#

    @Test("is shown while a long trace is read, and removed at the end")
    func reading() throws {
        let (shown, trace) = try run { ["profile", $0, "-o", directory.path("profile")] }
        #expect(("\r" + shown).contains(bar), "\(shown.prefix(300))")
        #expect(shown.components(separatedBy: Self.end).last?.hasPrefix("\u{1B}[K") == true)
        // Everything else than bars is what is printed elsewhere.
        let plain = try BuiltCommand.run(["profile", trace, "-o", directory.path("other")])
        #expect(plain.status == 0 && !plain.errors.contains("["))
        let last = try #require(shown.components(separatedBy: Self.end).last)
        #expect(last.dropFirst(3).replacingOccurrences(of: "\r\n", with: "\n") == plain.errors)
        let dumb = try CommandOnTerminal(["profile", trace, "-o", directory.path("other")], term: "dumb").finish()
        #expect(!dumb.contains("reading"))
        // Events on the terminal are their own progress.
        let events = try CommandOnTerminal(["events", trace, "--min-duration", "900s"], streams: .outputAndErrors)
        #expect(try !events.finish().contains("reading"))
    }

    @Test("is not shown for a short operation")
    func short() throws {
        let short = BuiltCommand.package.appendingPathComponent("Traces/n-plus-one/trace.json").path
        let shown = try CommandOnTerminal(["profile", short, "-o", directory.path("profile")]).finish()
        #expect(shown.isEmpty)
    }

    @Test("counts files while many are merged")
    func merging() throws {
        let profile = directory.path("profile")
        try #require(try BuiltCommand.run(["profile", Self.trace.path, "-o", profile]).status == 0)
        var (shown, files) = ("", 16)
        while !shown.contains(Self.end), files < 5000 {
            let names = Array(repeating: profile, count: files)
            shown = try CommandOnTerminal(["merge", "-o", directory.path("sum")] + names).finish()
            files *= 4
        }
        #expect(
            shown.contains(#/merging \[.{20}\] [0-9.]+ %, [0-9.]+ files/s, ([0-9]+ min )?[0-9]+ s left\u{1B}\[K\r/#))
        #expect(!shown.contains("reading"))
    }
}
