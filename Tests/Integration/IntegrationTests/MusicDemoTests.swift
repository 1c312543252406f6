import Foundation
import SharedData
import Testing

@Suite("The music library", .enabled(if: SharedData.exists, "\(SharedData.need)"))
struct MusicDemoTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private static func database() throws -> String {
        try SharedData.url("chinook/Chinook_Sqlite.sqlite").path
    }

    private func line(_ text: String, in file: String) throws -> Int {
        try SourceLine.find(
            text,
            in: BuiltCommand.package.appendingPathComponent("Sources/Command/FaultlineWorkloads/MusicLibrary/\(file)"))
    }

    /// Returns the values of a row of the comparison, before and after.
    private func compared(_ name: String, _ output: String) throws -> (before: Double, after: Double) {
        let title = try #require(output.range(of: "The same screens, before and after"))
        let row = try #require(
            output[title.upperBound...].split(separator: "\n").first { $0.hasPrefix("  \(name) ") })
        let numbers = row.dropFirst(name.count + 2).split(separator: " ").compactMap {
            Double($0.replacing(",", with: ""))
        }
        try #require(numbers.count >= 2, "\(row)")
        return (numbers[0], numbers[1])
    }

    @Test("has a demo that records both forms and compares them")
    func demo() throws {
        let output = directory.path("demo")
        let result = try BuiltCommand.run([
            "demo", "music", "--database", try Self.database(), "--output", output,
        ])
        #expect(result.status == 0 && result.errors.isEmpty)
        for heading in ["The music library with five flaws: 20 rows on a screen", "The music library without flaws: "] {
            #expect(result.output.contains("\n\(heading)"))
        }
        let trips = try compared("round trips", result.output)
        #expect(trips == (407, 186))
        let rows = try compared("rows loaded", result.output)
        #expect(rows.before > rows.after * 5)
        #expect(try compared("peak memory of the app", result.output).before > 1)
        #expect(try compared("time in the store", result.output).after > 0)
        #expect(result.output.contains("\nThe stores and traces are in \(output).\n"))
        let flawed = try ReportDocument(of: output + "/flawed.json")
        let improved = try ReportDocument(of: output + "/improved.json")
        #expect(flawed.totals.readTrips == 407 && improved.totals.readTrips == 186)
        #expect(places(improved.findings) == [], "\(improved.findings)")
        #expect(
            Set(improved.scopes.map(\.name)) == [
                "playlists", "playlist card", "playlist", "artists", "artist", "search by title", "search by word",
                "library",
            ])
        #expect(improved.scopes.allSatisfy { $0.kind == "screen" })
    }

    /// How a flaw is reported: the rule, the file after `MusicLibrary+`, and the call to change.
    struct Mark: Sendable, Hashable, CustomStringConvertible {
        var rule: String
        var file: String
        var call: String

        var description: String { "\(rule) in \(file): \(call)" }
    }

    private static let marks: [String: [Mark]] = [
        "album": [Mark(rule: "R01", file: "Playlists", call: "let entries = try context.fetch(request)")],
        "search": [
            Mark(rule: "R08", file: "Search", call: "Self.sorted(try context.fetch(request))"),
            Mark(rule: "R08", file: "Search", call: "found = try context.fetch(request).filter"),
        ],
        "count": [Mark(rule: "R05", file: "Playlists", call: "let all = try context.fetch(request)")],
        "sum": [Mark(rule: "R05", file: "Length", call: "try context.fetch(FetchRequest<Track>())")],
        "lookup": [Mark(rule: "R04", file: "Artists", call: "return Array(try context.fetch(request))")],
        "none": [],
    ]

    /// Returns the call site of a mark, as findings print it.
    private func place(_ mark: Mark) throws -> String {
        let file = "MusicLibrary+\(mark.file).swift"
        return "\(mark.rule) \(file):\(try line(mark.call, in: file))"
    }

    /// Returns the findings above notes, with their lines, and those of R01.
    ///
    /// The time for which the main thread waits (R12) depends on the machine's load, and so does whether some hundred
    /// quick trips cost more than a prefetch.
    private func places(_ findings: [ReportDocument.Finding]) -> [String] {
        findings.filter { ($0.severity != "note" || $0.rule == "R01") && $0.rule != "R12" }.map { finding in
            let file = finding.change?.file.split(separator: "/").last.map(String.init) ?? "?"
            return "\(finding.rule) \(file):\(finding.change?.line ?? 0)"
        }.sorted()
    }

    @Test("reports each flaw at its line, and nothing else", arguments: marks.keys.sorted())
    func flaw(name: String) throws {
        let store = directory.path("music.sqlite")
        let trace = directory.path("trace.json")
        let form = ["workload", "music", "--store", store, "--flaws", name]
        let prepared = try BuiltCommand.run(form + ["--database", try Self.database(), "--prepare"])
        try #require(prepared.status == 0, "\(prepared.errors)")
        let recorded = try BuiltCommand.run(["record", "-o", trace, "--quiet", "--", BuiltCommand.faultline] + form)
        #expect(recorded.status == 0 && recorded.errors.isEmpty)
        let report = try ReportDocument(of: trace)
        #expect(try places(report.findings) == #require(Self.marks[name]).map(place).sorted())
        guard name == "album" else { return }
        let finding = try #require(report.findings.first { $0.rule == "R01" })
        #expect(
            try finding.seenAt.map { $0.site?.line }
                == [line("track.album?.title", in: "MusicLibrary+Playlists.swift")])
        #expect(finding.title == #"Prefetch "track.album" with the fetch of PlaylistEntry"#)
        #expect(finding.figure("trips") == 200)
    }

    @Test("runs its flaws in the process itself if the demo is already being recorded")
    func recordedDemo() throws {
        let trace = directory.path("trace.json")
        let temporary = directory.path("temporary")
        try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
        let result = try BuiltCommand.run(
            [
                "record", "--all", "-o", trace, "--", BuiltCommand.faultline, "demo", "music", "--database",
                try Self.database(),
            ], environment: ["TMPDIR": temporary])
        #expect(result.status == 0)
        #expect(result.output.hasPrefix("The music library with five flaws: 20 rows on a screen\n93 screens, "))
        #expect(result.errors.contains("What to change"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary).isEmpty)
        let report = try ReportDocument(of: trace)
        #expect(report.processes.count == 1)
        #expect(report.totals.readTrips == 407)
        #expect(report.totals.events["save"] == nil || report.totals.events["save"] == 0, "the import is not in it")
        #expect(try places(report.findings) == Self.marks.values.flatMap { $0 }.map(place).sorted())
        for title in ["R04 Fetch in a loop", "R05 Counts and sums", "R08 Text search"] {
            let heads = result.errors.split(separator: "\n").filter { $0.contains(". warning ") }
            #expect(heads.contains { $0.contains("  \(title)") })
        }
    }

    @Test(
        "reports a wrong database and leaves nothing behind", arguments: ["demo", "recorded", "prepare"])
    func wrongDatabase(way: String) throws {
        let path = directory.path("list.sqlite")
        let made = try BuiltCommand.run(["workload", "groceries", "--store", path, "--items", "10", "--prepare"])
        try #require(made.status == 0)
        let temporary = directory.path("temporary")
        try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: true)
        let demo = ["demo", "music", "--database", path]
        let store = directory.path("music.sqlite")
        let arguments =
            switch way {
            case "demo": demo
            case "recorded":
                ["record", "--quiet", "-o", directory.path("trace.json"), "--", BuiltCommand.faultline] + demo
            default: ["workload", "music", "--store", store, "--database", path, "--prepare"]
            }
        let result = try BuiltCommand.run(arguments, environment: ["TMPDIR": temporary])
        #expect(result.status == 2 && result.output.isEmpty)
        #expect(
            result.errors
                == "faultline: The music database \"\(path)\" cannot be read: it lacks the tables Artist, Album, Genre, Track, Playlist and PlaylistTrack; name a file that has Chinook's tables.\n"
        )
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary).isEmpty)
        #expect(!FileManager.default.fileExists(atPath: store))
    }

    @Test(
        "explains wrong usage",
        arguments: [
            (["demo", "music"], "Error: Missing expected argument '--database <database>'\n"),
            (["demo", "music", "--database", "x", "--rows", "0"], "Error: --rows must be at least 1.\n"),
            (
                ["workload", "music", "--store", "x", "--prepare"],
                "Error: --prepare needs --database, from which it creates the store.\n"
            ),
            (
                ["workload", "music", "--store", "x", "--flaws", "album,batch"],
                "Error: The value 'album,batch' is invalid"
            ),
        ])
    func wrongCall(arguments: [String], message: String) throws {
        let result = try BuiltCommand.run(arguments)
        #expect(result.status == 2 && result.output.isEmpty)
        #expect(result.errors.hasPrefix(message))
    }
}

@Suite("The demo")
struct DemoTests {
    @Test("runs the shopping list by default", arguments: [["demo"], ["demo", "groceries"]])
    func groceries(demo: [String]) throws {
        let result = try BuiltCommand.run(demo + ["--items", "40", "--rows", "5"])
        #expect(result.status == 0 && result.errors.isEmpty)
        #expect(result.output.hasPrefix("The flaws: batches of 50 whatever the screen shows, "))
        #expect(
            result.output.hasSuffix(
                """

                To keep the stores and traces, add -o DIRECTORY.
                "faultline explain R02" describes a rule that the reports name.

                """))
        #expect(result.output.contains("\nThe shopping list with four flaws: 40 items, 5 rows on a screen\n====="))
        #expect(result.output.contains("\nThe shopping list without flaws: 40 items, 5 rows on a screen\n====="))
        #expect(result.output.contains("\nThe same screens, before and after\n====="))
    }

    @Test("lists its apps and their options in the help")
    func help() throws {
        let demo = try BuiltCommand.run(["demo", "--help"])
        #expect(demo.status == 0)
        #expect(demo.output.contains("groceries (default)") && demo.output.contains("demo music --database FILE"))
        let music = try BuiltCommand.run(["demo", "music", "--help"])
        #expect(music.output.contains("Under \"faultline record\", it runs only the form with the flaws, once"))
        #expect(music.output.contains("faultline record -- faultline demo music --database Chinook_Sqlite.sqlite"))
    }
}
