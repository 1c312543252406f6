import FaultlineReader
import FaultlineTrace
import Foundation
import Testing

@Suite("Damage in a timeline affects only the lines it touches")
struct TimelineQuirkTests {
    @Test("A timeline cut at any byte yields every complete line")
    func truncation() throws {
        let lines = [
            Lines.began(), Lines.entry("name", id: 1, #"{"name":"items"}"#), Lines.fault(id: 1), Lines.fault(id: 2),
            Lines.entry("entity", id: 2, #"{"name":"Item","properties":[]}"#),
            #"{"name":"loss","ph":"M","pid":1,"tid":0,"args":{}}"#, Lines.ended(),
        ]
        let whole = Array(Lines.timeline(lines).utf8)
        // The ends of objects. From there on a line counts, with or without its comma and newline.
        let ends = whole.indices.filter { index in
            whole[index] == UInt8(ascii: "}") && whole[index + 1] == UInt8(ascii: ",") && whole[index + 2] == 0x0A
        }
        try #require(ends.count == lines.count)
        for length in 0...whole.count {
            let file = try TraceFile(whole.prefix(length))
            let complete = ends.filter { $0 < length }.count
            guard complete > 0 else {
                let code = #expect(throws: ReaderError.self) { try file.read() }?.code
                #expect(code == (length == 0 ? .empty : .nothingReadable), "cut at \(length)")
                continue
            }
            let reading = try file.read()
            #expect(reading.events.count == [0, 0, 0, 1, 2, 2, 2, 2][complete], "cut at \(length)")
            #expect(reading.entries.count == [0, 0, 1, 1, 1, 2, 2, 2][complete], "cut at \(length)")
            #expect(reading.summary.foreignLines == (complete >= 6 ? 1 : 0))
            #expect(reading.summary.malformedLines == 0, "cut at \(length)")
            #expect(reading.summary.isTruncated == (length < whole.count - 1), "cut at \(length)")
            #expect(reading.summary.unendedProcesses == (complete == 7 ? [] : [1]))
        }
    }

    @Test("Malformed lines are skipped and counted, the first with its number and reason")
    func malformed() throws {
        let lines = [
            Lines.began(), Lines.fault(id: 1), #"{"name":"fault","cat":"fa"#, "\u{0}\u{0}\u{0}", Lines.fault(id: 2),
            "nonsense",
            #"{"a":1}{"b":2}"#, Lines.fault(id: 3),
        ]
        let reading = try TraceFile(Lines.timeline(lines)).read()
        #expect(reading.events.map(\.id) == [1, 2, 3])
        #expect(reading.summary.malformedLines == 4)
        #expect(reading.summary.firstMalformed == .init(number: 4, reason: "it is not a JSON object"))
        #expect(reading.summary.lines == 10)
        #expect(!reading.summary.isTruncated)
    }

    @Test(
        "A value that its field cannot hold makes the line malformed",
        arguments: [
            (#""id":1,"stack":-1"#, "a number is missing, broken or too large"),
            (#""id":1,"stack":1.5"#, "a number is missing, broken or too large"),
            (#""id":1,"stack":"x""#, "a number is missing, broken or too large"),
            (#""id":1,"stack":4294967296"#, "a number is missing, broken or too large"),
            (#""id":1,"parent":18446744073709551616"#, "a number is missing, broken or too large"),
            (#""id":1,"object":"xyz""#, "a hash is not a string of hexadecimal digits"),
            (#""id":1,"object":"00000000000000000""#, "a hash is not a string of hexadecimal digits"),
            (#""id":1,"object":5"#, "a hash is not a string of hexadecimal digits"),
            (#""id":1,"source":"moon""#, "a word is unknown to this version"),
            (#""id":1,"seenBefore":1"#, "a flag is neither true nor false"),
            (#""id":1,"main":"yes""#, "a flag is neither true nor false"),
        ])
    func wrongValues(arguments: String, reason: String) throws {
        let line = #"{"cat":"fault","ph":"X","ts":1,"dur":1,"pid":1,"tid":7,"args":{\#(arguments)}}"#
        let reading = try TraceFile(Lines.timeline([Lines.began(), line, Lines.fault(id: 9)])).read()
        #expect(reading.events.map(\.id) == [9])
        #expect(reading.summary.firstMalformed == .init(number: 3, reason: reason))
    }

    @Test(
        "A list of the wrong shape makes the line malformed",
        arguments: [
            "5", "[1,2]", "[[1]]", "[[1,-2]]", "[[1,2],3]", "{}",
            "[" + String(repeating: "[1,2],", count: 257) + "[1,2]]",
        ])
    func wrongLists(list: String) throws {
        let line = #"{"cat":"use","ph":"i","ts":1,"pid":1,"tid":7,"args":{"id":1,"runs":\#(list)}}"#
        let reading = try TraceFile(Lines.timeline([Lines.began(), line, Lines.fault(id: 9)])).read()
        #expect(reading.events.map(\.id) == [9])
        #expect(reading.summary.malformedLines == 1)
    }

    @Test("Counts beyond 32 bits are clamped, and references are not")
    func hugeCounts() throws {
        let line =
            #"{"cat":"fetch","ph":"X","ts":1,"dur":1,"pid":1,"tid":7,"args":{"id":9007199254740992,"rows":4294967299}}"#
        let event = try #require(try TraceFile(Lines.timeline([Lines.began(), line])).read().events.first)
        #expect(event.id == 1 << 53)
        guard case .fetch(let fetch) = event.detail else {
            Issue.record("The event is no fetch.")
            return
        }
        #expect(fetch.rows == .max)
    }

    @Test(
        "Times keep every nanosecond",
        arguments: [
            ("0.001", UInt64(1)), ("12.345", 12345), ("12.34", 12340), ("12", 12000), ("12.3459", 12345),
            ("9007199254740.991", 9_007_199_254_740_991), ("9007199254740.992", 1 << 53),
        ])
    func times(text: String, nanoseconds: UInt64) throws {
        let event = try #require(
            try TraceFile(Lines.timeline([Lines.began(), Lines.fault(id: 1, at: text)])).read().events.first)
        #expect(event.start == nanoseconds)
    }

    @Test(
        "Invalid times make the line malformed",
        arguments: ["-1", "1e3", "18446744073709551.616", "9007199254740.993", "1.", "\"1\"", "null"])
    func brokenTimes(text: String) throws {
        let reading = try TraceFile(
            Lines.timeline([Lines.began(), Lines.fault(id: 1, at: text), Lines.fault(id: 2)])
        ).read()
        #expect(reading.events.map(\.id) == [2])
        #expect(reading.summary.malformedLines == 1)
    }

    @Test("Events come in file order, whatever their times and numbers")
    func order() throws {
        let lines = [
            Lines.began(), Lines.fault(id: 5, at: "9.000"), Lines.fault(id: 4, at: "3.000"),
            Lines.fault(id: 5, at: "3.000"),
        ]
        let events = try TraceFile(Lines.timeline(lines)).read().events
        #expect(events.map(\.id) == [5, 4, 5])
        #expect(events.map(\.start) == [9000, 3000, 3000])
    }

    @Test("Names come before events, wherever they are in the file")
    func namesFirst() throws {
        let lines = [
            Lines.began(), Lines.fault(id: 1), Lines.entry("name", id: 1, #"{"name":"items"}"#), Lines.began(2),
            Lines.entry("frame", id: 1, #"{"address":"0x10","module":"app","locations":[]}"#),
        ]
        let messages = try TraceFile(Lines.timeline(lines)).read().messages
        try #require(messages.count == 5)
        guard case .event = messages[4] else {
            Issue.record("the event is not last")
            return
        }
    }

    @Test("Each process has a dictionary of its own")
    func twoProcesses() throws {
        let lines = [
            Lines.began(1), Lines.began(2), Lines.entry("name", id: 1, process: 1, #"{"name":"one"}"#),
            Lines.entry("name", id: 1, process: 2, #"{"name":"two"}"#), Lines.fault(id: 1, process: 1),
            Lines.fault(id: 1, process: 2), Lines.ended(2),
        ]
        let reading = try TraceFile(Lines.timeline(lines)).read()
        #expect(reading.dictionary(of: 1).name(1) == "one")
        #expect(reading.dictionary(of: 2).name(1) == "two")
        #expect(reading.events.map(\.process) == [1, 2])
        #expect(reading.summary.processes == [1, 2])
        #expect(reading.summary.unendedProcesses == [1])
    }

    @Test("Other producers' lines, unknown kinds and unknown keys are skipped and counted")
    func foreign() throws {
        let lines = [
            Lines.began(), #"{"name":"work","cat":"toplevel","ph":"X","ts":1,"dur":1,"pid":9,"tid":9,"args":{}}"#,
            #"{"name":"SELECT","cat":"sql","ph":"X","ts":1,"dur":1,"pid":"web","tid":"main"}"#,
            #"{"name":"faultline.novelty","ph":"M","pid":1,"tid":0,"args":{"id":1,"entry":{}}}"#,
            #"{"name":"dream","cat":"dream","ph":"X","ts":1,"dur":1,"pid":1,"tid":7,"args":{"id":4}}"#,
            #"{"cat":"fault","ph":"X","ts":1,"dur":1,"pid":1,"tid":7,"args":{"id":5,"future":{"a":[1,{}]},"filled":3}}"#,
        ]
        let reading = try TraceFile(Lines.timeline(lines)).read()
        #expect(reading.summary.foreignLines == 4)
        #expect(reading.summary.unknownKeys == 1)
        #expect(reading.summary.malformedLines == 0)
        #expect(reading.summary.processes == [1])
        guard case .fault(let fault)? = reading.events.first?.detail else {
            Issue.record("no fault")
            return
        }
        #expect(fault.filled == 3)
    }

    @Test("Lines for viewers are neither events nor foreign")
    func viewers() throws {
        let lines = [
            Lines.began(), #"{"name":"process_name","ph":"M","pid":1,"tid":0,"args":{"name":"app"}}"#,
            #"{"name":"thread_name","ph":"M","pid":1,"tid":7,"args":{"name":"main"}}"#,
            #"{"name":"origin","cat":"flow","ph":"s","ts":1,"pid":1,"tid":7,"id":1}"#,
            #"{"name":"origin","cat":"flow","ph":"f","bp":"e","ts":1,"pid":1,"tid":7,"id":1}"#,
            #"{"name":"rows","ph":"C","ts":1,"pid":1,"tid":7,"args":{"rows":5}}"#,
        ]
        let reading = try TraceFile(Lines.timeline(lines)).read()
        #expect(reading.messages.count == 1)
        #expect(reading.summary.foreignLines == 0)
        #expect(reading.summary.malformedLines == 0)
    }

    @Test("Windows line endings, missing commas, a byte order mark and joined brackets are read")
    func lineEnds() throws {
        let lines = [Lines.began(), Lines.fault(id: 1), Lines.fault(id: 2), Lines.ended()]
        let expected = try TraceFile(Lines.timeline(lines)).read()
        for text in [
            Lines.timeline(lines, newline: "\r\n"), "[\n" + lines.joined(separator: "\n") + "\n]\n",
            "\u{FEFF}" + Lines.timeline(lines), "[" + lines.joined(separator: ",\n") + "]\n\n",
        ] {
            let reading = try TraceFile(text).read()
            #expect(reading.messages == expected.messages)
            #expect(reading.summary.malformedLines == 0)
        }
    }

    @Test("A scope's end starts at the scope's beginning")
    func scopes() throws {
        let lines = [
            Lines.began(),
            #"{"name":"list","cat":"scope","ph":"b","id":3,"ts":10.000,"pid":1,"tid":7,"args":{"id":3,"name":4,"kind":"screen"}}"#,
            #"{"name":"list","cat":"scope","ph":"e","id":3,"ts":25.500,"pid":1,"tid":7,"args":{"id":3,"duration":15500,"name":4,"kind":"screen","phase":"end"}}"#,
        ]
        let events = try TraceFile(Lines.timeline(lines)).read().events
        try #require(events.count == 2)
        #expect(events.map(\.start) == [10000, 10000])
        #expect(events.map(\.duration) == [0, 15500])
        #expect(events[1].end == 25500)
        guard case .scope(let begin) = events[0].detail, case .scope(let end) = events[1].detail else {
            Issue.record("The event is no scope.")
            return
        }
        #expect(begin.phase == .begin && begin.kind == .screen && begin.name == 4)
        #expect(end.phase == .end && end.kind == .screen && end.name == 4)
    }

    @Test("A summary starts at the beginning of what it summarizes")
    func summaries() throws {
        let line = #"{"cat":"use","ph":"i","s":"t","ts":25.500,"pid":1,"tid":7,"args":{"id":3,"duration":15500}}"#
        let event = try #require(try TraceFile(Lines.timeline([Lines.began(), line])).read().events.first)
        #expect(event.start == 10000)
        #expect(event.end == 25500)
    }

    @Test("Lost events and process ends are reported")
    func losses() throws {
        let lost = #"{"name":"faultline.lost","ph":"M","pid":1,"tid":0,"args":{"process":1,"thread":7,"events":12}}"#
        let messages = try TraceFile(Lines.timeline([Lines.began(), lost, Lines.ended()])).read().messages
        #expect(messages.contains(.lost(EventLoss(process: 1, thread: 7, events: 12))))
        #expect(messages.contains(.ended(ProcessEnded(process: 1, end: 9000, events: 1, writing: 5))))
    }

    @Test("An entry that cannot be decoded is malformed")
    func brokenEntries() throws {
        let lines = [
            Lines.began(), Lines.entry("name", id: 1, "{}"), Lines.entry("name", id: 1, #"{"name":5}"#),
            Lines.entry("name", id: 1, "7"), #"{"name":"faultline.name","ph":"M","pid":1,"tid":0,"args":{"entry":{}}}"#,
            #"{"name":"faultline.lost","ph":"M","pid":1,"tid":0,"args":{}}"#,
            #"{"name":"faultline.name","ph":"M","pid":1,"tid":0}"#,
        ]
        let reading = try TraceFile(Lines.timeline(lines)).read()
        #expect(reading.summary.malformedLines == 6)
        #expect(reading.summary.firstMalformed == .init(number: 3, reason: "its \"name\" is missing"))
        #expect(reading.entries.isEmpty)
    }

    @Test("Lines across chunks are read whole, and lines longer than 16 MiB are skipped")
    func longLines() throws {
        let long =
            #"{"cat":"fault","ph":"X","ts":1,"dur":1,"pid":1,"tid":7,"args":{"id":2,"x":"\#(String(repeating: "y", count: 3 << 20))"}}"#
        let tooLong = #"{"x":"\#(String(repeating: "y", count: 17 << 20))"}"#
        var lines = [Lines.began()]
        for id in 1...20000 { lines.append(Lines.fault(id: id)) }
        lines += [long, tooLong, Lines.fault(id: 20001)]
        let reading = try TraceFile(Lines.timeline(lines)).read()
        #expect(reading.events.map(\.id) == (1...20000).map { UInt64($0) } + [2, 20001])
        #expect(reading.summary.firstMalformed == .init(number: 20004, reason: "it is longer than 16 MiB"))
    }

    @Test(
        "A last line longer than 16 MiB is kept when symbols are added",
        arguments: ["}\n]\n", "}\n", "},\n", "}", "},", "}]", "} ]", "}   \n\n"])
    func longLastLine(end: String) throws {
        let long = #"{"cat":"fault","x":"\#(String(repeating: "y", count: 17 << 20))""#
        let whole = "[\n\(Lines.began()),\n\(Lines.fault(id: 1)),\n" + long
        let file = try TraceFile(Array((whole + end).utf8))
        let annotator = TraceAnnotator(try TraceReader(path: file.path))
        try annotator.add(.name(NameEntry(name: "added")), process: 1)
        let text = try String(contentsOfFile: file.path, encoding: .utf8)
        #expect(text.hasPrefix(whole + "}"))
        #expect(try JSONSerialization.jsonObject(with: Data(text.utf8)) is [Any])
        #expect(text.contains("\"added\""))
    }

    @Test("An incomplete last line longer than 16 MiB is removed when symbols are added")
    func brokenLongLine() throws {
        let whole = "[\n\(Lines.began()),\n\(Lines.fault(id: 1))"
        let broken = #"{"cat":"fault","x":"\#(String(repeating: "y", count: 17 << 20))"#
        let file = try TraceFile(Array((whole + ",\n" + broken).utf8))
        try TraceAnnotator(TraceReader(path: file.path)).add(.name(NameEntry(name: "added")), process: 1)
        let text = try String(contentsOfFile: file.path, encoding: .utf8)
        #expect(text.hasPrefix(whole) && text.utf8.count < 4096)
        #expect(try JSONSerialization.jsonObject(with: Data(text.utf8)) is [Any])
    }

    @Test("No bytes crash the parser")
    func garbage() throws {
        var random = SplitMix(state: 0x5EED)
        let line = Array(SchemaLine(.use).json.utf8)
        for _ in 0..<1000 {
            var bytes = line
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let at = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0...2, using: &random) {
                case 0: bytes[at] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: at)
                default: bytes.insert(Array("{}[]\",:\\0-".utf8).randomElement(using: &random)!, at: at)
                }
            }
            bytes.removeAll { $0 == 0x0A }
            let all = Array("[\n\(Lines.began()),\n".utf8) + bytes + Array(",\n\(Lines.fault(id: 99)),\n]\n".utf8)
            let reading = try TraceFile(all).read()
            #expect(reading.events.last?.id == 99)
            #expect(reading.summary.lines == 5)
        }
    }
}

/// Random numbers that are the same in every run.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
