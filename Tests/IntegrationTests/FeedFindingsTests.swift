import Foundation
import Testing

/// A feed of messages that does the same in two forms, one of which has a flaw, on a store of its own.
enum FeedProgram {
    /// What is found of the flawed form.
    struct Flaw: Sendable, CustomTestStringConvertible {
        var scenario: String
        var rule: String
        var title: String
        var code: [String]
        /// The comment on the line that is to be changed.
        var line: String
        /// Channels, and messages of each.
        var sizes = (300, 4)
        /// Whether it can be a note: trips that are as quick as rows save nothing.
        var mayBeNote = false

        var testDescription: String { scenario }
    }

    static let flaws = [
        Flaw(
            scenario: "counts", rule: "R04",
            title: "Count Message for all values of channel at once, in one grouped fetch",
            code: [
                #"let count = ExpressionDescription("count", .function(.count, "self"))"#,
                "var request = FetchRequest<Message>()",
                #"request.predicate = FetchPredicate.isIn("channel", objects: ids)"#,
                #"    && PropertyPath("isRead") == isRead"#,
                #"(request.resultType, request.propertiesToFetch) = (.dictionary, ["channel", count])"#,
                #"request.propertiesToGroupBy = ["channel"]"#, "let groups = try context.fetchDictionaries(request)",
            ], line: "// counted one by one"),
        Flaw(
            scenario: "sums", rule: "R04",
            title: "Aggregate Message for all values of channel at once, in one grouped fetch",
            code: [
                #"request.predicate = .isIn("channel", objects: ids)"#,
                #"request.propertiesToFetch.append("channel")"#, #"request.propertiesToGroupBy = ["channel"]"#,
                "let groups = try context.fetchDictionaries(request)",
            ], line: "// added up one by one"),
        Flaw(
            scenario: "results", rule: "R04",
            title: "Count Message for all values of channel at once, in one grouped fetch",
            code: [
                #"let count = ExpressionDescription("count", .function(.count, "self"))"#,
                "var request = FetchRequest<Message>()", #"request.predicate = .isIn("channel", objects: ids)"#,
                #"(request.resultType, request.propertiesToFetch) = (.dictionary, ["channel", count])"#,
                #"request.propertiesToGroupBy = ["channel"]"#, "let groups = try context.fetchDictionaries(request)",
            ], line: "// fetched to be counted"),
        Flaw(
            scenario: "newest", rule: "R04",
            title: "Keep the last Message of each Channel in a relationship, and prefetch it",
            code: [
                "Channel.lastMessage: to-one Message",
                #"request.relationshipKeyPathsForPrefetching = ["lastMessage"]"#,
            ], line: "// fetched for each channel"),
        Flaw(
            scenario: "existing", rule: "R04", title: "Fetch the objects of Message at once by their IDs, with IN",
            code: lookUp, line: "// looked up one by one", sizes: (60, 100), mayBeNote: true),
        Flaw(
            scenario: "objects", rule: "R04", title: "Fetch the objects of Message at once by their IDs, with IN",
            code: lookUp, line: "// read one by one", sizes: (60, 100), mayBeNote: true),
        Flaw(
            scenario: "pages", rule: "R14",
            title: "Continue each page of Message after the last row of the page before, not by an offset",
            code: [#"request.predicate = PropertyPath("number") > last.number"#, "request.fetchOffset = 0"],
            line: "// turned to", sizes: (60, 400)),
        Flaw(
            scenario: "import", rule: "R04", title: "Fetch Member for all values of handle at once, with IN",
            code: [
                #"request.predicate = .isIn("handle", values)"#, "let found = try context.fetch(request)",
                "let groups = Dictionary(grouping: found) { $0.handle }",
            ], line: "// found among the unsaved"),
    ]

    private static let lookUp = [
        #"var request = FetchRequest<Message>(predicate: .isIn("self", objects: ids))"#,
        "request.returnsObjectsAsFaults = false", "let found = try context.fetch(request)",
    ]

    static let path = BuiltCommand.programs.appendingPathComponent("FeedProgram").path

    /// The line of its source that holds a text.
    static func line(_ text: String) throws -> String {
        let source = BuiltCommand.package.appendingPathComponent("Tests/FeedProgram/main.swift")
        return "main.swift:\(try SourceLine.find(text, in: source))"
    }

    /// Makes a store.
    static func prepare(_ channels: Int, _ messages: Int, at store: String) throws {
        let prepared = try BuiltCommand.run([store, "prepare", "\(channels)", "\(messages)"], program: path)
        guard prepared.status == 0 else { throw CommandFailed(text: prepared.errors) }
    }

    /// Records a scenario on a store, and returns the report.
    static func report(_ scenario: String, isNaive: Bool, on store: String, in directory: TemporaryDirectory) throws
        -> ReportDocument
    {
        let trace = directory.path("\(scenario).json")
        let form = [path, store, isNaive ? "naive" : "improved", scenario]
        let recorded = try BuiltCommand.run(["record", "-o", trace, "--quiet", "--"] + form)
        guard recorded.status == 0 else { throw CommandFailed(text: recorded.errors) }
        return try ReportDocument(of: trace)
    }
}

@Suite("The feed program")
struct FeedFindingsTests {
    private func report(_ flaw: FeedProgram.Flaw, isNaive: Bool) throws -> ReportDocument {
        let directory = try TemporaryDirectory()
        let store = directory.path("feed.sqlite")
        try FeedProgram.prepare(flaw.sizes.0, flaw.sizes.1, at: store)
        return try FeedProgram.report(flaw.scenario, isNaive: isNaive, on: store, in: directory)
    }

    @Test("is told the line to change and what to write there", arguments: FeedProgram.flaws)
    func naive(flaw: FeedProgram.Flaw) throws {
        let report = try report(flaw, isNaive: true)
        let found = report.findings.filter { flaw.mayBeNote || $0.severity != "note" }
        #expect(found.map(\.rule) == [flaw.rule], "\(found.map(\.title))")
        let finding = try #require(found.first { $0.rule == flaw.rule })
        #expect(finding.title == flaw.title)
        #expect(finding.code == flaw.code)
        #expect(finding.change?.text == (try FeedProgram.line(flaw.line)))
    }

    @Test("has no warning or error once it is changed so", arguments: FeedProgram.flaws)
    func improved(flaw: FeedProgram.Flaw) throws {
        let report = try report(flaw, isNaive: false)
        #expect(report.findings.filter { $0.severity != "note" }.map(\.title) == [])
    }

    /// Ten times as many messages as there are, with numbers of their own.
    private static let multiply = """
        INSERT INTO ZMESSAGE (Z_PK, Z_ENT, Z_OPT, ZISREAD, ZNUMBER, ZSIZE, ZTEXT, ZCHANNEL)
            SELECT Z_PK + n * most, Z_ENT, Z_OPT, ZISREAD, ZNUMBER + n * most, ZSIZE, ZTEXT, ZCHANNEL
            FROM ZMESSAGE, (SELECT max(Z_PK) AS most FROM ZMESSAGE),
                (WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 9) SELECT n FROM c);
        UPDATE Z_PRIMARYKEY SET Z_MAX = (SELECT max(Z_PK) FROM ZMESSAGE) WHERE Z_NAME = 'Message';
        """

    @Test("takes with ten and a hundred times the rows what was projected, where something was")
    func growth() throws {
        // What others do meanwhile can make one of the runs slower than the others.
        var misses: [String] = []
        for _ in 0..<3 {
            misses = try projectionMisses()
            if misses.isEmpty { return }
        }
        #expect(misses == [])
    }

    private func projectionMisses() throws -> [String] {
        let directory = try TemporaryDirectory()
        let store = directory.path("feed.sqlite")
        try FeedProgram.prepare(60, 20, at: store)
        let reports = try (0..<3).map { size in
            if size > 0 { try SQLiteFile.run(Self.multiply, on: store) }
            return try FeedProgram.report("growth", isNaive: false, on: store, in: directory)
        }
        func median(_ report: ReportDocument, _ line: String) throws -> Double {
            Double(try #require(report.groups.first { $0.kind == "fetch" && $0.site?.text == line }).durations.p50)
        }
        func growth(_ comment: String) throws -> (line: String, growth: ReportDocument.Growth?) {
            let line = try FeedProgram.line(comment)
            return (line, try #require(reports[0].results.first { $0.site?.text == line }).growth)
        }
        var misses: [String] = []
        let projected = ["// scanned", "// sought", "// sorted", "// in order", "// first in order", "// searched"]
        for comment in projected + ["// sorted for a few", "// all counted", "// counted by a scan"] {
            let (line, growth) = try growth(comment)
            guard let growth else {
                if ["// sorted", "// in order", "// searched"].contains(comment) {
                    misses.append("\(comment): nothing")
                }
                continue
            }
            for (size, range) in [(1, growth.tenfold), (2, growth.hundredfold)] {
                let measured = try median(reports[size], line)
                if !(range.low...range.high).contains(measured) {
                    misses.append("\(comment): \(measured), not \(range.low)–\(range.high)")
                }
            }
        }
        // An index and a limit lead to as many rows, however many there are.
        for comment in ["// sought", "// first in order"] {
            #expect(try growth(comment).growth?.order == "log n")
        }
        return misses
    }
}
