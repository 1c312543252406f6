import FaultlineDigest
import FaultlineTrace
import Foundation
import Testing
import TraceFixtures

@testable import FaultlineProfile
@testable import FaultlineReport
@testable import FaultlineRules

@Suite("The data of a page")
struct PageDataTests {
    @Test(
        "SHA-256 gives the hashes of the standard's examples",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                String(repeating: "a", count: 1_000_000),
                "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
            ),
        ])
    func hash(text: String, hash: String) {
        let digits = SHA256.hash(text).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(digits == hash)
    }

    @Test("A column takes as many bytes a row as its largest number needs")
    func widths() {
        var columns = PageColumns()
        columns.add("none", [0, 0, 0])
        columns.add("small", [1, 255])
        columns.add("large", [1, 256, 0x0102_0304_0506])
        #expect(columns.entries.map(\.width) == [0, 1, 6])
        #expect(columns.bytes.count == 0 + 2 + 18)
        // The lowest bytes of all rows come first.
        #expect(Array(columns.bytes[2..<8]) == [1, 0, 6, 0, 1, 5])
    }

    @Test("References are distances to the row, with their sign in the lowest bit")
    func references() {
        var columns = PageColumns()
        columns.add(rows: "cause", [nil, 0, 1, 5], from: [0, 1, 2, 3])
        #expect(columns.bytes == [0, 3, 3, 4])
        #expect(columns.entries.first?.coding == .row)
    }

    @Test("Hashes are told apart, and nothing else of them is kept")
    func hashes() {
        var columns = PageColumns()
        columns.add(hashes: "object", [0, 0xdead, 0xbeef, 0xdead, 0xbeef, 0xf00d])
        #expect(columns.bytes == [0, 1, 1, 3, 2, 1])
    }

    @Test("Paths that begin alike share their steps")
    func paths() {
        func frame(_ name: String) -> CallPaths.Frame { .init(function: CodeFunction(name: name), line: 1) }
        var tables = PageTables()
        let one = tables.path([frame("leaf"), frame("middle"), frame("main")])
        let other = tables.path([frame("other"), frame("middle"), frame("main")])
        #expect(one != other)
        #expect(tables.path([frame("leaf"), frame("middle"), frame("main")]) == one)
        // None, main, middle, leaf and other.
        #expect(tables.callers.count == 5)
        #expect(tables.callers[one] == tables.callers[other])
    }

    // MARK: - Leaving out events

    private func collect(_ durations: [UInt64], limit: Int) -> PageEvents {
        var events = PageEvents(Analysis(Profile()), limit: limit)
        for (index, duration) in durations.enumerated() {
            events.add(
                .event(
                    TraceEvent(
                        id: EventID(index + 1), start: UInt64(index) * 1000, duration: duration, thread: 1, process: 1,
                        .sql(TraceEvent.Statement()))))
        }
        events.finish()
        return events
    }

    @Test("Of too many events, the longest are kept, and all are counted")
    func thinning() {
        let durations = (0..<1000).map { UInt64($0 * 7919 % 1000) }
        let events = collect(durations, limit: 100)
        #expect(events.rows.count == 100)
        #expect(events.rows.map(\.duration).sorted() == Array(900..<1000))
        #expect(events.count == 1000)
        #expect(events.omitted.count == 900)
        #expect(events.omitted.longest == 899)
        let times: UInt64 = events.omitted.times.values.joined().reduce(0, +)
        #expect(times == 900 * 899 / 2)
        // Each kept event still has its own fields.
        let fields = EventSchema.of(.sql).fields.count
        #expect(events.fields[.sql]?.count == 100 * fields)
        #expect(events.rows.map(\.start) == events.rows.map(\.start).sorted())
    }

    @Test("Of events of one duration, as many are kept as there is room for")
    func equalDurations() {
        let events = collect(Array(repeating: 5, count: 321), limit: 50)
        #expect(events.rows.count == 50 && events.omitted.count == 271)
    }

    @Test("Samples take no time, and an equal share of them is kept throughout the trace")
    func samples() {
        var events = PageEvents(Analysis(Profile()), limit: 100)
        for index in 0..<400 {
            let detail: TraceEvent.Detail =
                index.isMultiple(of: 2) ? .cpu(TraceEvent.CPUSample()) : .sql(TraceEvent.Statement())
            events.add(
                .event(
                    TraceEvent(
                        id: EventID(index + 1), start: UInt64(index) * 1000,
                        duration: index.isMultiple(of: 2) ? 0 : UInt64(index), thread: 1, process: 1, detail)))
        }
        events.finish()
        let kept = events.rows.filter { $0.kind == .cpu }.map(\.start)
        #expect(events.rows.count == 100 && (40...60).contains(kept.count))
        #expect(kept.contains { $0 < 100_000 } && kept.contains { $0 > 300_000 })
    }

    /// When events are left out several times, the earlier ones must not be left out more often.
    @Test("Of events that take no time, an equal share is kept in each part of a long trace", arguments: [true, false])
    func equalShare(areSamples: Bool) {
        var events = PageEvents(Analysis(Profile()), limit: 400)
        let instant: TraceEvent.Detail = areSamples ? .cpu(TraceEvent.CPUSample()) : .use(TraceEvent.Use())
        for index in 0..<16_000 {
            let isInstant = index.isMultiple(of: 2)
            events.add(
                .event(
                    TraceEvent(
                        id: EventID(index + 1), start: UInt64(index), duration: isInstant ? 0 : UInt64(index % 997 + 1),
                        thread: 1, process: 1, isInstant ? instant : .sql(TraceEvent.Statement()))))
        }
        events.finish()
        let kept = events.rows.filter { $0.kind == (areSamples ? .cpu : .use) }
        let quarters = Dictionary(grouping: kept) { $0.start / 4000 }.mapValues(\.count)
        #expect(events.rows.count == 400 && kept.count == 200 && events.omitted.count == 15_600)
        #expect(quarters.count == 4 && quarters.values.allSatisfy { (30...70).contains($0) }, "\(quarters)")
    }

    @Test("More scopes than a page shows take no more than linear time, and the open ones stay")
    func manyScopes() {
        var events = PageEvents(Analysis(Profile()), limit: 50)
        for index in 0..<20_000 {
            for phase in [TraceEvent.Scope.Phase.begin, .end] where index > 0 || phase == .begin {
                var scope = TraceEvent.Scope()
                scope.phase = phase
                events.add(
                    .event(
                        TraceEvent(
                            id: EventID(index + 1), start: UInt64(index) * 10, duration: phase == .end ? 5 : 0,
                            thread: 1,
                            process: 1, .scope(scope))))
            }
        }
        events.finish()
        #expect(events.rows.count == 50 && events.rows.first?.id == 1)
    }

    @Test("Few events are all kept")
    func fewEvents() {
        let events = collect([3, 1, 2], limit: 3)
        #expect(events.rows.map(\.duration) == [3, 1, 2] && events.omitted.count == 0)
    }

    // MARK: - Source

    @Test("Only source files are read, where the trace says or in a folder by the end of their path")
    func sources() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("Sources"), withIntermediateDirectories: true)
        let text = (1...40).map { "line \($0)" }.joined(separator: "\n")
        for name in ["Sources/List.swift", "Sources/secret.txt", "Top.swift"] {
            try text.write(to: folder.appendingPathComponent(name), atomically: true, encoding: .utf8)
        }
        var tables = PageTables()
        let files = [
            "/elsewhere/Sources/List.swift", "/elsewhere/Sources/secret.txt", "\(folder.path)/Sources/secret.txt",
            "/elsewhere/Other.swift", "/etc/passwd", "\(folder.path)/Top.swift",
        ]
        _ = tables.path(files.map { .init(function: CodeFunction(name: "run()", file: $0), line: 20) })
        // A link leads outside the folder.
        let link = folder.appendingPathComponent("Link.swift")
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "/etc/passwd")
        _ = tables.path([.init(function: CodeFunction(name: "run()", file: link.path), line: 1)])
        let outside = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).swift")
        defer { try? FileManager.default.removeItem(at: outside) }
        try text.write(to: outside, atomically: true, encoding: .utf8)
        _ = tables.path([.init(function: CodeFunction(name: "run()", file: outside.path), line: 1)])
        let excerpts = SourceExcerpts(tables, findings: [], folder: folder.path).files
        #expect(excerpts.keys.sorted() == ["\(folder.path)/Top.swift", files[0]].sorted())
        #expect(excerpts[files[0]]?.keys.sorted() == Array(12...28))
        #expect(excerpts[files[0]]?[20] == "line 20")
    }
}

@Suite("The document of a page")
struct PageDocumentTests {
    private func page(_ title: String) -> String {
        var events = PageEvents(Analysis(Profile()))
        events.finish()
        let trace = PageData(events, PageOptions(sourceFolder: nil))
        return PageDocument(kind: .report, title: title, traces: [trace]).render()
    }

    @Test("Its policy allows its own program and style, and nothing else")
    func policy() throws {
        let page = page("trace")
        let program = try #require(
            page.components(separatedBy: "id=\"program\">").last?.components(separatedBy: "</script>").first)
        let style = try #require(
            page.components(separatedBy: "<style>").last?.components(separatedBy: "</style>").first)
        for text in [program, style] {
            let hash = Data(SHA256.hash(text)).base64EncodedString()
            #expect(page.contains("'sha256-\(hash)'"))
        }
        #expect(page.contains("default-src 'none'; script-src 'sha256-"))
        #expect(!page.contains("unsafe-inline") && !page.contains("unsafe-eval"))
    }

    @Test("Its program has no imports, and no text that would end it")
    func program() {
        #expect(!PageProgram.code.contains("</script"))
        #expect(
            !PageProgram.code.split(separator: "\n").contains { $0.hasPrefix("import ") || $0.hasPrefix("export ") })
        #expect(PageProgram.code.contains("class Timeline"))
    }

    @Test("Each module's names are its own, since all are joined")
    func names() {
        let declared = PageProgram.code.split(separator: "\n").compactMap { line -> Substring? in
            let words = line.replacing("async ", with: "").split(whereSeparator: { " (={<".contains($0) })
            guard let first = words.first, ["function", "class", "const", "let"].contains(first), words.count > 1,
                line.first != " "
            else { return nil }
            return Substring(words[1])
        }
        #expect(declared.count > 50)
        #expect(Set(declared).count == declared.count)
    }

    @Test("Markup in its title is text")
    func title() {
        #expect(page("</title><script>").contains("<title>&lt;/title>&lt;script> – Faultline</title>"))
    }
}
