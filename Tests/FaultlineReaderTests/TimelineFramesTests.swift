import CSymbolFixture
import FaultlineReader
import FaultlineTrace
import Foundation
import Testing

@Suite("Symbols are added to a finished timeline")
struct TimelineFramesTests {
    /// Returns a timeline with one stack in this process's own code.
    private func lines(process: UInt32 = 1, id: Int = 3) throws -> [String] {
        let address = fixture_outer()
        let module = try #require(
            RunningModules.all().first {
                UInt64($0.start.dropFirst(2), radix: 16)! <= address
                    && address < UInt64($0.end.dropFirst(2), radix: 16)!
            })
        let json = String(decoding: try JSONEncoder().encode(module), as: UTF8.self)
        return [
            Lines.began(process), Lines.entry("module", id: 2, process: process, json),
            Lines.entry(
                "stack", id: id, process: process, #"{"frames":["\#(RunningModules.hexadecimal(address))","0x10"]}"#),
            Lines.fault(id: 1, process: process), Lines.ended(process),
        ]
    }

    private func isValidJSON(_ file: TraceFile) throws -> Bool {
        (try? JSONSerialization.jsonObject(with: Data(try file.bytes))) is [Any]
    }

    @Test("Frames are added once, before the closing bracket, and everything else is unchanged")
    func adds() throws {
        let lines = try lines() + lines(process: 2)
        let head = "[\n" + lines.joined(separator: ",\n")
        for end in ["\n]\n", ",\n]\n", "\n]", "]", ",\n", "\n", "", "\r\n]\r\n", "\n\n]\n\n"] {
            let file = try TraceFile(head + end)
            let before = try file.read()
            let resolver = SymbolResolver()
            #expect(try resolver.addFrames(to: TraceReader(path: file.path)) == 2)
            #expect(try file.text.hasPrefix(head + ","))
            #expect(try isValidJSON(file), "the array is valid JSON after \(end.debugDescription)")
            let after = try file.read()
            #expect(after.events == before.events)
            #expect(after.summary.malformedLines == 0)
            #expect(!after.summary.isTruncated)
            for process in [UInt32(1), 2] {
                let dictionary = after.dictionary(of: process)
                let address = try #require(dictionary.stack(3)?.addresses.first)
                #expect(dictionary.frame(at: address)?.locations.map(\.symbol) == ["fixture_middle", "fixture_outer"])
            }
            let text = try file.text
            #expect(try SymbolResolver().addFrames(to: TraceReader(path: file.path)) == 0)
            #expect(try file.text == text, "a second run changes nothing")
        }
    }

    @Test("A timeline cut at any byte after the stack is closed and loses no complete line")
    func truncated() throws {
        let lines = try lines()
        let whole = Lines.timeline(lines)
        let required = ("[\n" + lines[0...2].joined(separator: ",\n")).utf8.count
        // A resolver opens each file once in its life, and that takes longest.
        let resolver = SymbolResolver()
        for length in required...whole.utf8.count {
            let file = try TraceFile(whole.utf8.prefix(length))
            let before = try file.read()
            #expect(try resolver.addFrames(to: TraceReader(path: file.path)) == 1)
            #expect(try isValidJSON(file), "cut at \(length)")
            let after = try file.read()
            #expect(after.events == before.events, "cut at \(length)")
            #expect(after.entries.count == before.entries.count + 1)
            #expect(after.summary.malformedLines == 0)
            #expect(after.summary.unendedProcesses == before.summary.unendedProcesses)
        }
    }

    @Test("Malformed lines in the middle stay, and zeros at the end are removed")
    func damaged() throws {
        let head = "[\n" + (try lines() + ["nonsense"]).joined(separator: ",\n")
        let file = try TraceFile(head + "\n\0\0\0\0")
        #expect(try SymbolResolver().addFrames(to: TraceReader(path: file.path)) == 1)
        #expect(try file.text.hasPrefix(head + ",\n{"))
        #expect(try file.read().summary.malformedLines == 1)
    }

    @Test("Frames that were not found the first time are looked up again")
    func again() throws {
        let found = fixture_outer()
        let frame = Lines.entry(
            "frame", id: 7, #"{"address":"\#(RunningModules.hexadecimal(found))","module":"x","locations":[]}"#)
        let file = try TraceFile(Lines.timeline(try lines() + [frame]))
        #expect(try SymbolResolver().addFrames(to: TraceReader(path: file.path)) == 1)
        #expect(try file.text.contains(#""args":{"id":8,"entry":{"address""#))
        #expect(try file.read().dictionary(of: 1).frame(at: found)?.locations.count == 2)
    }

    @Test("A timeline that a recorder still writes to is refused and unchanged")
    func locked() throws {
        let text = Lines.timeline(try lines())
        let file = try TraceFile(text)
        let writer = open(file.path, O_RDWR)
        defer { close(writer) }
        try #require(flock(writer, LOCK_EX | LOCK_NB) == 0)
        let error = #expect(throws: ReaderError.self) {
            try SymbolResolver().addFrames(to: TraceReader(path: file.path))
        }
        #expect(error?.code == .cannotAddSymbols)
        #expect(
            error?.message
                == "Could not add symbols to the trace \"\(file.path)\": it is still being written; wait for the program to end."
        )
        #expect(try file.text == text)
    }

    @Test("A timeline without stacks is left untouched")
    func nothing() throws {
        let text = "[\n" + Lines.began() + ",\n" + #"{"name":"fau"#
        let file = try TraceFile(text)
        #expect(try SymbolResolver().addFrames(to: TraceReader(path: file.path)) == 0)
        #expect(try file.text == text)
    }

    @Test(
        "A timeline without write permission is reported and unchanged",
        .enabled(if: getuid() != 0, "the superuser may write every file"))
    func readOnly() throws {
        let file = try TraceFile(Lines.timeline(try lines()))
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: file.path)
        let error = #expect(throws: ReaderError.self) {
            try SymbolResolver().addFrames(to: TraceReader(path: file.path))
        }
        #expect(
            error?.message
                == "Could not add symbols to the trace \"\(file.path)\": Permission denied; the trace is unchanged.")
    }
}
