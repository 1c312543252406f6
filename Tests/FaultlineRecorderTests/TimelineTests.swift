import CRecorder
import FaultlineTrace
import Foundation
import TestFolders
import Testing

@testable import FaultlineRecorder

@Suite("A timeline")
struct TimelineTests {
    let directory: URL

    init() throws {
        directory = try TestFolder.make()
    }

    private func lines(_ path: String) throws -> [[String: Any]] {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        let array = try JSONSerialization.jsonObject(with: data)
        return try #require(array as? [[String: Any]])
    }

    @Test("is JSON with one event per line, from the first line of the process to its last")
    func isJSON() throws {
        let path = directory.appendingPathComponent("trace.json").path
        let recorder = try Recorder.writing(to: .timeline(path: path))
        let entity = recorder.intern(.entity(EntityEntry(name: "Item \"\\\u{1}ä", properties: [])))
        recorder.scope("screen", kind: .screen) {
            for _ in 0..<1000 {
                guard let open = recorder.begin() else { return }
                var fetch = TraceEvent.Fetch()
                fetch.entity = entity
                fetch.rows = 3
                fetch.parameters = 0xabc
                recorder.end(open, fetch, context: 0, site: 0)
            }
        }
        #expect(recorder.close() == nil)
        let lines = try lines(path)
        #expect(lines.first?["name"] as? String == "faultline.began")
        #expect(lines.last?["name"] as? String == "faultline.ended")
        let fetches = lines.filter { $0["cat"] as? String == "fetch" }
        #expect(fetches.count == 1000)
        #expect(fetches[0]["name"] as? String == "fetch Item \"\\\u{1}ä")
        let arguments = try #require(fetches[0]["args"] as? [String: Any])
        #expect(arguments["parameters"] as? String == "0000000000000abc")
        #expect(arguments["resultType"] as? String == "objects")
        #expect(lines.filter { $0["cat"] as? String == "scope" }.map { $0["ph"] as? String } == ["b", "e"])
        let ended = try #require(lines.last?["args"] as? [String: Any])
        #expect(ended["events"] as? Int == 1002)
        #expect(ended["lost"] as? Int == 0)
        #expect(ended["isClosed"] as? Bool == true)
        let rings = try FileManager.default.contentsOfDirectory(atPath: "/dev/shm")
        #expect(!rings.contains { $0.hasPrefix("faultline-\(getpid())-") && lines.description.contains($0) })
    }

    @Test("shows a wait as a duration on its thread only if it blocked the thread")
    func waits() throws {
        let path = directory.appendingPathComponent("trace.json").path
        let recorder = try Recorder.writing(to: .timeline(path: path))
        let save = try #require(recorder.begin())
        for isBlocking in [true, false] {
            var wait = TraceEvent.Wait()
            (wait.resource, wait.isBlocking, wait.ownerThread) = (.coordinator, isBlocking, 5)
            recorder.record(wait, since: save.start, context: 0, site: 0)
        }
        recorder.end(save, TraceEvent.Save(), context: 0, site: 0)
        #expect(recorder.close() == nil)
        let waits = try lines(path).filter { $0["cat"] as? String == "wait" }
        #expect(waits.map { $0["name"] as? String } == ["wait coordinator", "wait coordinator"])
        #expect(waits.map { $0["ph"] as? String } == ["X", "i"])
        let arguments = waits.compactMap { $0["args"] as? [String: Any] }
        #expect(arguments.map { $0["parent"] as? UInt64 } == [save.id, save.id])
        #expect(arguments.map { $0["isBlocking"] as? Bool } == [true, nil])
        #expect(arguments.map { $0["stack"] == nil } == [false, true])
        #expect(waits[0]["dur"] != nil && arguments[1]["duration"] != nil)
    }

    /// Whole characters, the first bytes of some, and invalid sequences that look like characters.
    static let texts: [[UInt8]] = [
        Array("Käse \u{7ff}\u{800}\u{ffff}\u{10000}\u{10ffff}".utf8), [0x80], [0xC3], [0x41, 0xE2, 0x82],
        [0xF0, 0x9F, 0x98], [0xC0, 0xAF], [0xE0, 0x80, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
        [0xF5, 0x80], [0xFF, 0xFE, 0x41], [0xC3, 0x28, 0xE2, 0x28, 0xA1], [0xF0, 0x28, 0x8C, 0x28],
    ]

    @Test("shows invalid UTF-8 as replacement characters", arguments: texts)
    func invalidText(bytes: [UInt8]) throws {
        let path = directory.appendingPathComponent("trace.json").path
        let recorder = try Recorder.writing(to: .timeline(path: path))
        let json = "{\"name\":\"x\"}"
        let label = bytes + Array("|".utf8)
        let id = label.withUnsafeBytes { label in
            json.withCString {
                fl_intern(
                    recorder.handle!, .FL_DICTIONARY_ENTITY, $0, json.utf8.count,
                    label.bindMemory(to: CChar.self).baseAddress, label.count)
            }
        }
        let open = try #require(recorder.begin())
        var fetch = TraceEvent.Fetch()
        fetch.entity = id
        recorder.end(open, fetch, context: 0, site: 0)
        recorder.close()
        let titles = try lines(path).filter { $0["cat"] as? String == "fetch" }.map { $0["name"] as? String }
        // Swift repairs text in the same way.
        #expect(titles == ["fetch " + String(decoding: label, as: UTF8.self)])
    }

    @Test("truncates long names between two characters", arguments: 0..<4)
    func cutNames(shift: Int) throws {
        let path = directory.appendingPathComponent("trace.json").path
        let name = String(repeating: "a", count: shift) + String(repeating: "😀", count: 100)
        let recorder = try Recorder.writing(to: .timeline(path: path))
        recorder.scope(name) {}
        recorder.close()
        let titles = try lines(path).filter { $0["cat"] as? String == "scope" }.compactMap { $0["name"] as? String }
        #expect(titles.count == 2 && !titles[0].contains("\u{FFFD}"))
        #expect(name.hasPrefix(titles[0]) && titles[0].utf8.count > 252 && titles[0].utf8.count <= 256)
    }

    @Test("shows a thread's name without the character that the kernel truncated")
    func cutThreadName() throws {
        let path = directory.appendingPathComponent("trace.json").path
        let recorder = try Recorder.writing(to: .timeline(path: path))
        let done = DispatchSemaphore(value: 0)
        Thread {
            let name = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
            write(name, "ääääääääää", 20)
            close(name)
            recorder.scope("there") {}
            done.signal()
        }.start()
        done.wait()
        recorder.close()
        let names = try lines(path).filter { $0["name"] as? String == "thread_name" }
            .compactMap { ($0["args"] as? [String: Any])?["name"] as? String }
        #expect(names.contains("äääääää"))
    }

    @Test("of a second writer at the same path goes to a file next to the first")
    func secondWriter() throws {
        let path = directory.appendingPathComponent("trace.json").path
        let first = try Recorder.writing(to: .timeline(path: path))
        let second = try Recorder.writing(to: .timeline(path: path))
        second.close()
        first.close()
        #expect(try lines(path).count > 1)
        let beside = directory.appendingPathComponent("trace-\(getpid()).json").path
        #expect(try lines(beside).count > 1)
    }

    @Test("in a missing directory is refused with an error")
    func missingDirectory() {
        #expect {
            _ = try Recorder.writing(to: .timeline(path: "/nowhere/trace.json"))
        } throws: { error in
            "\(error)" == "The trace \"/nowhere/trace.json\" cannot be written (No such file or directory); "
                + "name a file in an existing directory that this user may write to."
        }
    }

    @Test(
        "that is not a regular file is refused with an error and left alone",
        arguments: ["/dev/full", "/dev/null", "/"])
    func notRegular(path: String) {
        #expect {
            _ = try Recorder.writing(to: .timeline(path: path))
        } throws: { error in
            "\(error)" == "The trace \"\(path)\" cannot be written (not a regular file); name another file."
        }
    }

    @Test("keeps its file's contents until there is something to write, and creates no file for nothing")
    func untouched() throws {
        let path = directory.appendingPathComponent("old.json").path,
            new = directory.appendingPathComponent("new.json").path
        try "precious\n".write(toFile: path, atomically: true, encoding: .utf8)
        for path in [path, new] { try TraceCollector(path: path).discard() }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious\n")
        #expect(!FileManager.default.fileExists(atPath: new))
        let outcome = try TraceCollector(path: path).finish()
        #expect(outcome.trace == nil)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious\n")
        #expect(try TraceCollector(path: new).finish().trace == new)
        #expect(try String(contentsOfFile: new, encoding: .utf8) == "[\n]\n")
    }

    @Test(
        "destination is parsed from text",
        arguments: [
            ("timeline:/tmp/a.json", TraceDestination.timeline(path: "/tmp/a.json")),
            ("timeline:a:b", .timeline(path: "a:b")),
            ("timeline:t-%p.json", .timeline(path: "t-\(getpid()).json")),
            ("rings:/dev/shm/x", .rings(directory: "/dev/shm/x")),
            ("lttng", .lttng),
        ])
    func destinations(text: String, expected: TraceDestination) throws {
        #expect(try TraceDestination(text) == expected)
        #expect(try TraceDestination.list(text) == [expected])
    }

    @Test(
        "destination can be a file and LTTng together, and a path may contain commas",
        arguments: ["timeline:a,b.json,lttng", "lttng,timeline:a,b.json"])
    func destinationLists(text: String) throws {
        #expect(try TraceDestination.list(text) == [.timeline(path: "a,b.json"), .lttng])
    }

    @Test("recording goes to at most one file")
    func twoFiles() {
        #expect {
            _ = try Recorder.writing(to: .timeline(path: "/tmp/never.json"), .rings(directory: "/dev/shm"))
        } throws: { error in
            "\(error)" == "A recording is written to at most one file; name one file, and optionally LTTng."
        }
    }

    @Test(
        "destination that is invalid is rejected with an error",
        arguments: ["", "timeline", "timeline:", "lttng:", "x:y"])
    func badDestinations(text: String) {
        #expect {
            _ = try TraceDestination(text)
        } throws: { error in
            "\(error)"
                == "FAULTLINE_TRACE=\"\(text)\" is not a destination; write FAULTLINE_TRACE=timeline:PATH, lttng, or both separated by a comma."
        }
    }
}
