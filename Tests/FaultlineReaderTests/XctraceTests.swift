import FaultlineReader
import FaultlineTrace
import Foundation
import SharedData
import TestFolders
import Testing

@Suite("Exports of Instruments")
struct XctraceTests {
    /// Reads an export through a temporary file.
    private func read(_ xml: String) throws -> (messages: [TraceMessage], summary: ReadingSummary) {
        let file = TestFolder.file("txt")
        defer { try? FileManager.default.removeItem(at: file) }
        try xml.write(to: file, atomically: false, encoding: .utf8)
        return try read(path: file.path)
    }

    private func read(path: String) throws -> (messages: [TraceMessage], summary: ReadingSummary) {
        let reader = try TraceReader(path: path)
        #expect(reader.format == "xctrace")
        var messages: [TraceMessage] = []
        let summary = try reader.read { messages.append($0) }
        return (messages, summary)
    }

    private func events(_ messages: [TraceMessage]) -> [TraceEvent] {
        messages.compactMap { if case .event(let event) = $0 { event } else { nil } }
    }

    private func dictionary(_ messages: [TraceMessage]) -> TraceDictionary {
        var dictionary = TraceDictionary()
        for case .entry(_, let id, let entry) in messages { dictionary.insert(entry, id: id) }
        return dictionary
    }

    private func export(_ rows: String, schema: String = "core-data-fetch", columns: String = fetchColumns) -> String {
        "<?xml version=\"1.0\"?>\n<trace-query-result>\n<node xpath='/x'><schema name=\"\(schema)\">"
            + columns.split(separator: " ").map { "<col><mnemonic>\($0)</mnemonic></col>" }.joined()
            + "</schema>\(rows)</node></trace-query-result>\n"
    }

    private static let fetchColumns = "start duration fetch-entity fetch-count backtrace spid thread"
    private static let thread = """
        <thread id="90" fmt="Main Thread (0x2a) (App, pid: 7)"><tid id="91" fmt="0x2a">42</tid>\
        <process id="92" fmt="App (7)"><pid id="93" fmt="7">7</pid></process></thread>
        """

    private static func row(_ start: String, _ rest: String) -> String {
        "<row><start-time id=\"s\(start)\" fmt=\"x\">\(start)</start-time>\(rest)</row>"
    }

    // MARK: - Damage

    /// Reads a file of bytes.
    private func read(_ bytes: [UInt8]) throws -> ReadingSummary {
        let file = TestFolder.file("xml")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(bytes).write(to: file)
        return try TraceReader(path: file.path).read { _ in }
    }

    /// Foundation's parser ends the program on these bytes.
    @Test(
        arguments: [
            [0x64, 0x75, 0xC2, 0x69], [0xFF], Array("<?x?>".utf8), Array("<?x ?>".utf8), Array("<?xml?>".utf8),
        ] as [[UInt8]])
    func `Bytes that are not XML lose only what contains them`(_ damage: [UInt8]) throws {
        let fetch = "<duration>5</duration><fetch-entity>Item</fetch-entity><fetch-count>3</fetch-count><backtrace/>7"
        let text = Array(export(Self.row("10", fetch + Self.thread) + Self.row("20", fetch + Self.thread)).utf8)
        #expect(try read(text).events == 2)
        // Between two rows, in a value, and in the name of an element.
        for mark in ["<row><start-time id=\"s20", "Item", "duration>5"] {
            let place = try #require(text.firstRange(of: Array(mark.utf8))).lowerBound
            let damaged = Array(text[..<place]) + damage + Array(text[place...])
            do {
                #expect(try read(damaged).events <= 2)
            } catch is ReaderError {}
        }
    }

    @Test func `An export with a document type is rejected`() throws {
        let text = export("").replacingOccurrences(
            of: "<trace-query-result>\n", with: "<!DOCTYPE x [<!NOTATION n SYSTEM \"\">]><trace-query-result>")
        #expect(throws: ReaderError.self) { try read(Array(text.utf8)) }
    }

    // MARK: - Real exports

    @Test("969 fetches are read, with the caller of each", .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func fetches() throws {
        let (messages, summary) = try read(path: try SharedData.url("xctrace-export/core-data-fetch.xml").path)
        #expect(summary.events == 969 && summary.malformedLines == 0 && summary.foreignLines == 0)
        let dictionary = dictionary(messages)
        var resolver = CallSiteResolver(dictionary: dictionary)
        var rows: [String: UInt32] = [:]
        var counts: [String: Int] = [:]
        var callers: [String: Int] = [:]
        for event in events(messages) {
            guard case .fetch(let fetch) = event.detail else { continue }
            let entity = dictionary.entity(fetch.entity)?.name ?? ""
            rows[entity, default: 0] += fetch.rows
            counts[entity, default: 0] += 1
            callers[resolver.callSite(of: event)?.description ?? "", default: 0] += 1
            #expect(event.isMainThread && event.process == 12345)
        }
        #expect(counts == ["Prompt": 689, "Feature": 261, "Project": 17, "MediaAttachment": 2])
        #expect(rows["Prompt"] == 689 && rows["Project"] == 119)
        // The offset in the app's binary identifies the caller.
        #expect(callers.count == 7 && callers.keys.allSatisfy { $0.hasPrefix("TestApp.debug.dylib+0x") })
        #expect(callers.values.sorted().suffix(2) == [255, 648])
        let first = try #require(events(messages).first)
        #expect(first.start == 1_547_477_375 && first.duration == 3_370_916)
    }

    @Test("Faults are read with their objects", .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func faults() throws {
        let (objects, _) = try read(path: try SharedData.url("xctrace-export/core-data-fault.xml").path)
        let (relationships, _) = try read(
            path: try SharedData.url("xctrace-export/core-data-relationship-fault.xml").path)
        let names = { (messages: [TraceMessage]) in
            let dictionary = dictionary(messages)
            return events(messages).compactMap { event -> String? in
                guard case .fault(let fault) = event.detail else { return nil }
                let entity = dictionary.entity(fault.entity)?.name ?? "?"
                return dictionary.name(fault.relationship).map { "\(entity).\($0)" } ?? entity
            }
        }
        #expect(names(objects).count == 6 && names(objects).contains("Feature"))
        #expect(names(relationships).count == 8)
        #expect(names(relationships).first == "Feature.prompts")
        let features = events(objects).compactMap { event -> UInt64? in
            if case .fault(let fault) = event.detail { fault.object } else { nil }
        }
        #expect(Set(features).count > 1 && Set(features).count < 6)
    }

    // MARK: - Synthetic exports

    @Test("A reference resolves to the value with its ID")
    func references() throws {
        let xml = export(
            Self.row(
                "100",
                """
                <duration id="1">50</duration><string id="2">Item</string><uint64 id="3">7</uint64><backtrace id="4">\
                <frame id="5" name="list()" addr="0x1010"><binary id="6" name="App" load-addr="0x1000" path="/App"/></frame>\
                </backtrace><uint64 ref="3"/>\(Self.thread)
                """)
                + Self.row(
                    "200",
                    """
                    <duration ref="1"/><string ref="2"/><uint64 ref="3"/><backtrace id="8"><frame id="9" name="0x1020" \
                    addr="0x1020"><binary ref="6"/></frame></backtrace><uint64 ref="3"/><thread ref="90"/>
                    """))
        let (messages, _) = try read(xml)
        let events = events(messages)
        #expect(events.map(\.start) == [100, 200] && events.map(\.duration) == [50, 50])
        #expect(events.map(\.thread) == [42, 42] && events.map(\.process) == [7, 7])
        var resolver = CallSiteResolver(dictionary: dictionary(messages))
        // The name of a function if there is one, or else its offset in the binary.
        #expect(events.map { resolver.callSite(of: $0)?.function } == ["list()", "App+0x20"])
        guard case .began(let began) = messages.first, case .ended(let ended) = messages.last else {
            Issue.record("The process neither begins nor ends.")
            return
        }
        #expect(began.program == "App" && began.source == .instruments)
        #expect(ended.events == 2 && ended.isClosed && ended.end == 250)
    }

    @Test("Saves are read, and tables of other instruments are skipped")
    func tables() throws {
        let rest = "<duration id=\"1\">5</duration>\(Self.thread)"
        let saves = export(Self.row("10", rest), schema: "core-data-save", columns: "start duration thread backtrace")
        #expect(events(try read(saves).messages).map(\.kind) == [.save])
        let mixed =
            saves.replacing("</trace-query-result>\n", with: "")
            + export(Self.row("10", rest), schema: "time-profile", columns: "start duration thread")
            .split(separator: "\n").dropFirst(2).joined(separator: "\n")
        let (messages, summary) = try read(mixed)
        #expect(events(messages).count == 1 && summary.foreignLines == 1)
    }

    @Test("Exports concatenated into one file are all read, each with its own IDs")
    func concatenated() throws {
        let rest = { (entity: String, process: Int) in
            "<duration id=\"2\">300</duration><fetch-entity id=\"3\">\(entity)</fetch-entity><fetch-count id=\"4\">5</fetch-count>"
                + "<sentinel/><spid/>" + Self.thread.replacing(">7<", with: ">\(process)<")
        }
        let one = export(
            Self.row("100", rest("Book", 7)) + Self.row("200", "<duration ref=\"2\"/><fetch-entity ref=\"3\"/>"))
        let two = export(
            Self.row("300", rest("Shelf", 7)) + Self.row("400", "<duration ref=\"2\"/><fetch-entity ref=\"3\"/>"))
        for file in [one + two, one + String(two.dropFirst(22)), one + "\n\n" + two] {
            let (messages, summary) = try read(file)
            let dictionary = dictionary(messages)
            let entities = events(messages).compactMap { event in
                if case .fetch(let fetch) = event.detail { dictionary.entity(fetch.entity)?.name } else { nil }
            }
            #expect(entities == ["Book", "Book", "Shelf", "Shelf"])
            #expect(!summary.isTruncated && summary.processes == [7])
        }
        // A truncated second export loses its end. Another process is kept separate.
        let cut = try read(one + two.prefix(two.count - 60))
        #expect(cut.summary.isTruncated && events(cut.messages).count >= 3)
        let other = try read(one + export(Self.row("300", rest("Shelf", 9))))
        #expect(other.summary.processes == [7, 9] && events(other.messages).map(\.process) == [7, 7, 9])
        #expect(throws: ReaderError.self) {
            try read("<trace-query-result></trace-query-result>" + "<trace-query-result></trace-query-result>")
        }
    }

    @Test("A truncated export is read up to its end")
    func truncated() throws {
        let xml = export(
            (1...9).map {
                Self.row(
                    "\($0)00",
                    "<duration>5</duration><string>Item</string><uint64>1</uint64><sentinel/><uint64>1</uint64>\(Self.thread)"
                )
            }.joined())
        let cut = String(xml.prefix(xml.count * 2 / 3))
        let (messages, summary) = try read(cut)
        #expect(summary.isTruncated && (4...6).contains(events(messages).count))
        #expect(!messages.contains { if case .ended = $0 { true } else { false } })
    }

    @Test("A row without a time loses only itself")
    func damaged() throws {
        let good = "<duration>5</duration><string>Item</string><uint64>1</uint64>"
        let (messages, summary) = try read(
            export(Self.row("100", good) + Self.row("soon", good) + Self.row("99999999999999999999", good)))
        #expect(events(messages).count == 1 && summary.malformedLines == 2)
        #expect(summary.firstMalformed?.reason == "a row has no time")
    }

    /// The reason why an export cannot be read.
    private func message(_ xml: String) throws -> String {
        do {
            _ = try read(xml)
            return ""
        } catch let error as ReaderError {
            return error.message.split(separator: "\": ", maxSplits: 1).last.map(String.init) ?? ""
        }
    }

    @Test("An element that exceeds the parser's limits is reported with its line")
    func excess() throws {
        func attributes(_ count: Int) -> String { (0..<count).map { " a\($0)='x = y > z'" }.joined() }
        let wide = "<trace-query-result>\n<!-- a\(attributes(2000)) -->\n<node\(attributes(1001))/>"
        #expect(
            try message(wide)
                == "the element in line 3 has more than 1000 attributes, which no export has; export it again.")
        let long = "<trace-query-result><node fmt=\"\(String(repeating: "'>", count: 1 << 19))\"/>"
        #expect(
            try message(long)
                == "the element in line 1 has a tag of more than 1048576 bytes, which no export has; export it again.")
        let row = Self.row("1", "<duration>5</duration><string\(attributes(1000))>Item</string><uint64>1</uint64>")
        #expect(try events(read(export(row)).messages).count == 1)
    }

    @Test("A file that is not an export is reported with the remedy")
    func wrong() throws {
        #expect(
            try message(export(""))
                == "it contains no rows of Core Data tables; export the tables core-data-fetch, core-data-save, core-data-fault "
                + "and core-data-relationship-fault from a recording made with the Data Persistence template.")
        #expect(
            try message("<a><trace-query-result/></a>")
                == "it is XML, but not an export of Instruments' tables; create one with \"xctrace export --input FILE --xpath …\"."
        )
        #expect(
            try message("<trace-query-result><node>")
                == "its XML ends before the first row of a Core Data table; export it again.")
    }

    @Test("Unbounded XML entities and nesting are not followed")
    func hostile() throws {
        let laughs = "<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">]>\n"
        #expect(throws: ReaderError.self) { try read(laughs + export(Self.row("1", "<string>&b;</string>"))) }
        let deep = String(repeating: "<a>", count: 100_000)
        #expect(throws: ReaderError.self) { try read("<trace-query-result>\(deep)") }
        // Values that refer to one another, wide and deep.
        let chain = (1...20_000).map { "<a id=\"\($0 + 1)\"><b ref=\"\($0)\"/><b ref=\"\($0)\"/></a>" }.joined()
        let row = Self.row(
            "1", "<duration>5</duration><string>Item</string><uint64>1</uint64>\(chain)<backtrace ref=\"20000\"/>")
        #expect(try events(read(export(row)).messages).count == 1)
    }
}
