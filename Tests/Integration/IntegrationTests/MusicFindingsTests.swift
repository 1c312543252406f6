import Foundation
import Testing

/// A program that does the same in two forms, one of which has a flaw, on a store of its own.
enum MusicProgram {
    /// The finding of the flawed form.
    struct Flaw: Sendable, CustomTestStringConvertible {
        var scenario: String
        var rule: String
        var title: String
        var code: [String]
        /// The comment on the line of the fetch, and a part of the line at which the objects were read.
        var fetch: String
        var reader: String?

        var testDescription: String { scenario }
    }

    static let flaws = [
        Flaw(
            scenario: "count", rule: "R05", title: "Count Track with a count request, not by fetching",
            code: ["let count = try context.count(for: request)"], fetch: "// counted"),
        Flaw(
            scenario: "existence", rule: "R05", title: "Check with a limit of 1 whether any Track exists",
            code: ["request.fetchLimit = 1", "let isEmpty = try context.fetchObjectIDs(request).isEmpty"],
            fetch: "// asked for emptiness"),
        Flaw(
            scenario: "sum", rule: "R05", title: "Aggregate Track.milliseconds in the store, not over its objects",
            code: [
                #"let sum = ExpressionDescription("sum", .function(.sum, "milliseconds"))"#,
                "(request.resultType, request.propertiesToFetch) = (.dictionary, [sum])",
                #"let found = try context.fetchDictionaries(request)[0]["sum"]"#,
            ], fetch: "// added up", reader: "tracks.reduce(0)"),
        Flaw(
            scenario: "preview", rule: "R05",
            title: "Count Track with a count request, and fetch the first 3 with a limit",
            code: ["let count = try context.count(for: request)", "request.fetchLimit = 3"], fetch: "// previewed",
            reader: "found.prefix(3)"),
        Flaw(
            scenario: "limit", rule: "R03", title: "Limit the fetch of Track to the 1 row that is used",
            code: ["request.fetchLimit = 1"], fetch: "// cut off", reader: "first?.title"),
        Flaw(
            scenario: "identities", rule: "R03", title: "Fetch object IDs of Track, since nothing else is used",
            code: ["let ids = try context.fetchObjectIDs(request)"], fetch: "// only identified"),
        Flaw(
            scenario: "values", rule: "R03", title: "Keep Track.lyrics out of the rows that this fetch loads",
            code: ["// In the model: Track.lyrics: to-one TrackLyrics", "// In the model: TrackLyrics.lyrics: String"],
            fetch: "// read in part",
            reader: "isNaive ? 0 : track.lyrics"),
        Flaw(
            scenario: "loop", rule: "R04", title: "Fetch Track for all values of album at once, with IN",
            code: [
                #"request.predicate = .isIn("album", objects: ids)"#, "let found = try context.fetch(request)",
                "let groups = Dictionary(grouping: found) { $0.album }",
            ], fetch: "// looped"),
        Flaw(
            scenario: "create", rule: "R04", title: "Fetch Track for all values of title at once, with IN",
            code: [
                #"request.predicate = .isIn("title", values)"#, "let found = try context.fetch(request)",
                "let groups = Dictionary(grouping: found) { $0.title }",
            ], fetch: "// found or created"),
        Flaw(
            scenario: "contains", rule: "R08",
            title: "Search Track.title by the beginnings of its words, not with CONTAINS[cd]",
            code: [
                "// In the model: Track.words: to-many TrackWord; TrackWord.text: String, with an index",
                #"FetchRequest<TrackWord>(predicate: PropertyPath("text").beginsWith(word))"#,
            ], fetch: "// searched by a part"),
        Flaw(
            scenario: "prefix", rule: "R08", title: "Search a folded copy of Track.title, not BEGINSWITH[c]",
            code: [
                "// In the model: Track.foldedTitle: String, with an index",
                #"PropertyPath("foldedTitle").beginsWith(folded)"#,
            ], fetch: "// searched by its beginning"),
        Flaw(
            scenario: "save", rule: "R10", title: "Save Album once, after all changes",
            code: ["for change in changes {", "    apply(change)", "}", "try context.save()"],
            fetch: "// saved one by one"),
        Flaw(
            scenario: "repeat", rule: "R18", title: "Run the fetch of Album once, and keep its result", code: [],
            fetch: "// fetched again"),
        Flaw(
            scenario: "unused", rule: "R17", title: "Fetch Track only where its result is used", code: [],
            fetch: "// looked at by the way"),
        Flaw(
            scenario: "unbounded", rule: "R14", title: "Load the rows of Track in batches, or a page at a time",
            code: ["request.fetchBatchSize = 500"], fetch: "// taken as they come"),
        Flaw(
            scenario: "sort", rule: "R19", title: "Index Track by milliseconds to avoid the sort",
            code: [#"FetchIndexDescription("byMilliseconds", on: "milliseconds")"#], fetch: "// sorted each time"),
        Flaw(
            scenario: "index", rule: "R06", title: "Index Track by milliseconds",
            code: [#"FetchIndexDescription("byMilliseconds", on: "milliseconds")"#], fetch: "// looked for everywhere"),
        Flaw(
            scenario: "order", rule: "R07", title: "Compare milliseconds before title in the predicate of Track",
            code: ["milliseconds > ? AND NOT (title CONTAINS[cd] ?)"], fetch: "// searched before it is sorted out"),
        Flaw(
            scenario: "searches", rule: "R07", title: "Search title before lyrics in the predicate of Track",
            code: ["NOT (title CONTAINS[cd] ?) AND NOT (lyrics CONTAINS[cd] ?)"],
            fetch: "// searched where nothing is sorted out"),
        Flaw(
            scenario: "members", rule: "R01",
            title: "Count Album.tracks for all objects at once: the members are never read",
            code: [
                #"let count = ExpressionDescription("count", .function(.count, "self"))"#,
                "var request = FetchRequest<Track>()",
                #"request.predicate = .isIn("album", objects: ids)"#,
                #"(request.resultType, request.propertiesToFetch) = (.dictionary, ["album", count])"#,
                #"request.propertiesToGroupBy = ["album"]"#,
                "let counts = try context.fetchDictionaries(request)",
            ], fetch: "// fetched to be counted", reader: "// counted one by one"),
        Flaw(
            scenario: "prefetch", rule: "R20", title: #"Do not prefetch "tracks" with the fetch of Album"#,
            code: ["request.relationshipKeyPathsForPrefetching = []"], fetch: "// loaded along"),
        Flaw(
            scenario: "again", rule: "R11",
            title: "Keep Track objects alive, or enlarge the row cache",
            code: ["description.rowCacheLimit = 32 << 20"], fetch: "// read again", reader: "// read again"),
        Flaw(
            scenario: "unchanged", rule: "R23", title: "Set values only where they differ from the current values",
            code: ["if object.value != value { object.value = value }"], fetch: "// saved for nothing"),
        Flaw(
            scenario: "wait", rule: "R13", title: "Give the save at \(holder) a context of its own",
            code: ["let context = container.newBackgroundContext()", "try await context.perform { … }"],
            fetch: "// saved while others wait", reader: "print(try shown.performAndWait"),
    ]

    /// The line that others wait for.
    private static let holder = (try? line("// saved while others wait")) ?? ""

    private static let path = BuiltCommand.programs.appendingPathComponent("MusicProgram").path

    /// Returns the line of the source that contains a text.
    static func line(_ text: String) throws -> String {
        let source = BuiltCommand.package.appendingPathComponent("Tests/Integration/MusicProgram/main.swift")
        return "main.swift:\(try SourceLine.find(text, in: source))"
    }

    /// Records scenarios on a new store, and returns the trace.
    static func record(_ scenarios: [String], isNaive: Bool) throws -> String {
        try record(scenarios, isNaive: isNaive, in: try TemporaryDirectory()).trace
    }

    /// Records scenarios on a new store in a directory.
    ///
    /// - Parameter change: Statements that are run on the store first.
    static func record(
        _ scenarios: [String], isNaive: Bool, in directory: TemporaryDirectory, with options: [String] = [],
        after change: String = ""
    ) throws -> (trace: String, store: String) {
        let (store, trace) = (directory.path("music.sqlite"), directory.path("trace.json"))
        let prepared = try BuiltCommand.run([store, "prepare"], program: path)
        guard prepared.status == 0 else { throw CommandFailed(text: prepared.errors) }
        try SQLiteFile.run(change, on: store)
        let form = [store, isNaive ? "naive" : "improved"] + scenarios
        let recorded = try BuiltCommand.run(["record", "-o", trace, "--quiet"] + options + ["--", path] + form)
        guard recorded.status == 0 else { throw CommandFailed(text: recorded.errors) }
        return (trace, store)
    }
}

@Suite("The music program")
struct MusicFindingsTests {
    @Test("gets a finding with the line to change, the code, and where it was seen", arguments: MusicProgram.flaws)
    func naive(flaw: MusicProgram.Flaw) throws {
        let report = try ReportDocument(of: try MusicProgram.record([flaw.scenario], isNaive: true))
        let problems = report.findings.filter { $0.severity != "note" }
        #expect(problems.map(\.rule) == [flaw.rule])
        let finding = try #require(problems.first)
        #expect(finding.title == flaw.title)
        #expect(finding.code == flaw.code)
        #expect(finding.change?.text == (try MusicProgram.line(flaw.fetch)))
        if let reader = flaw.reader {
            #expect(finding.seenAt.map(\.site?.text) == [try MusicProgram.line(reader)])
        }
    }

    @Test("has no finding in a scope that prepares something", arguments: MusicProgram.flaws)
    func setup(flaw: MusicProgram.Flaw) throws {
        let directory = try TemporaryDirectory()
        let trace = try MusicProgram.record([flaw.scenario], isNaive: true, in: directory).trace
        let text = try String(contentsOfFile: trace, encoding: .utf8)
        let request = #""kind":"request""#
        try #require(text.contains(request))
        let setup = directory.path("setup.json")
        try text.replacingOccurrences(of: request, with: #""kind":"setup""#)
            .write(toFile: setup, atomically: true, encoding: .utf8)
        // On a busy machine, other work waits, too.
        #expect(try ReportDocument(of: setup).findings.filter { $0.rule == flaw.rule }.map(\.title) == [])
    }

    @Test("has no finding, not even a note, after the change", arguments: MusicProgram.flaws)
    func improved(flaw: MusicProgram.Flaw) throws {
        let report = try ReportDocument(of: try MusicProgram.record([flaw.scenario], isNaive: false))
        // On a busy machine, one save takes so long that R10 would divide it.
        let findings = report.findings.filter { flaw.rule != "R13" || $0.rule != "R10" }
        #expect(findings.map(\.title) == [])
    }

    @Test("has no finding for objects that delete rules load")
    func deletion() throws {
        let report = try ReportDocument(of: try MusicProgram.record(["delete"], isNaive: true))
        #expect(report.findings.filter { $0.rule == "R01" }.map(\.title) == [])
        #expect((report.totals.events["fault"] ?? 0) >= 20)
    }

    @Test("gets a finding for a list that grows with the library, once several runs are merged")
    func growth() throws {
        let directory = try TemporaryDirectory()
        var profiles: [String] = []
        // Each run adds sixty albums to the library.
        for run in 1...3 {
            let trace = try MusicProgram.record(["repeat"], isNaive: false, in: directory).trace
            profiles.append(directory.path("\(run).profile"))
            guard try BuiltCommand.run(["profile", trace, "-o", profiles[run - 1]]).status == 0 else {
                throw CommandFailed(text: "no profile")
            }
        }
        func findings(_ path: String) throws -> [ReportDocument.Finding] {
            try ReportDocument(of: path).findings.filter { $0.rule == "R14" }
        }
        #expect(try profiles.allSatisfy { try findings($0).isEmpty })
        let all = directory.path("all.profile")
        #expect(try BuiltCommand.run(["merge"] + profiles.reversed() + ["-o", all]).status == 0)
        let finding = try #require(try findings(all).first)
        #expect(finding.title == "Load the rows of Album in batches, or a page at a time")
        #expect(finding.change?.text == (try MusicProgram.line("// fetched again")))
        #expect(finding.figure("maximumRows") == 180 && finding.figure("runs") == 3)
        let text = try BuiltCommand.run(["report", all]).output.split(whereSeparator: \.isWhitespace)
            .joined(separator: " ")
        #expect(text.contains("It grows with its table: in 3 runs from 60 of 60 rows to 180 of 180."), "\(text)")
    }

    /// The state after ANALYZE ran before the library was filled.
    private static let oldStatistics = "ANALYZE; UPDATE sqlite_stat1 SET stat = '3 2' WHERE tbl = 'ZTRACK'"

    @Test("with outdated statistics gets advice to run ANALYZE, and not to create an existing index")
    func statistics() throws {
        let directory = try TemporaryDirectory()
        let scenarios = ["create"]
        let (trace, store) = try MusicProgram.record(
            scenarios, isNaive: true, in: directory, after: Self.oldStatistics)
        let report = try ReportDocument(of: trace)
        let finding = try #require(report.findings.first { $0.rule == "R22" }, "\(report.findings.map(\.title))")
        // A limit ends each scan at the first matching row.
        let title = /Run ANALYZE: SQLite expects 3 rows in the table of Track, which has at least [\d,]+ rows/
        #expect(finding.title.wholeMatch(of: title) != nil, "\(finding.title)")
        #expect(finding.severity == "warning" && finding.code == ["ANALYZE;"])
        #expect(finding.change?.text == (try MusicProgram.line("// found or created")))
        #expect(!report.findings.contains { $0.rule == "R06" })
        let verified = try BuiltCommand.run(["verify", trace, "--store", store]).output
        #expect(verified.contains("R22 Changing plans"), "\(verified)")
        let again = try MusicProgram.record(
            scenarios, isNaive: true, in: try TemporaryDirectory(), after: Self.oldStatistics + "; ANALYZE")
        #expect(try !ReportDocument(of: again.trace).findings.contains { ["R06", "R22"].contains($0.rule) })
    }

    @Test("with all flaws has each finding once, and its report fits a terminal")
    func all() throws {
        let trace = try MusicProgram.record(MusicProgram.flaws.map(\.scenario), isNaive: true)
        let report = try ReportDocument(of: trace)
        let titles = report.findings.map(\.title)
        #expect(Set(MusicProgram.flaws.map(\.title)).isSubset(of: titles), "\(titles)")
        #expect(report.findings.map(\.change).count == Set(report.findings.map(\.change)).count)
        let text = try BuiltCommand.run(["report", trace]).output
        for finding in report.findings.prefix(4) {
            for line in finding.code { #expect(text.contains(line), "\(line)") }
        }
        // Values in the rows and search texts stay out of the trace.
        let lines = try String(contentsOfFile: trace, encoding: .utf8)
        for value in ["la la", "NIGHT", "1 Ni", "love", "Album 1"] { #expect(!lines.contains(value)) }
    }
}
