import Foundation
import SharedData
import Testing

@Suite("faultline verify")
struct VerifyTests {
    /// The parts of the JSON output that the tests read.
    private struct Report: Decodable {
        struct Finding: Decodable { var rule, title: String }
        struct Range: Decodable { var median, low, high: Double }
        struct Figure: Decodable { var before, after, gain: Range }
        struct Counts: Decodable, Equatable {
            var trips, rows: UInt64
        }
        struct Measurement: Decodable {
            var rounds: Int
            var operations, recordedOperations: UInt64
            var time, pause: Figure
            var before, after: Counts
        }
        struct Trial: Decodable {
            var finding: Finding
            var outcome: String
            var reason: String?
            var expected: Range?
            var measurement: Measurement?
            var notes: [String]
        }
        var version: Int
        var store: String
        var trials: [Trial]
    }

    private func verify(_ arguments: String...) throws -> Report {
        let result = try BuiltCommand.run(["verify", "--format", "json"] + arguments)
        guard result.status == 0 else { throw CommandFailed(text: result.errors) }
        return try JSONDecoder().decode(Report.self, from: Data(result.output.utf8))
    }

    /// A scenario of the music program, with the trips and rows of its fetches or saves before and after the change.
    struct Case: Sendable, CustomTestStringConvertible {
        var scenario: String
        var before: [UInt64]
        var after: [UInt64]
        /// The number of fetches or saves that are repeated, and of those in the trace.
        var operations: [UInt64]
        /// Whether one trip may be missing: the end of the read transaction before a save, if that has already ended.
        var beginsWithReading = false

        var testDescription: String { scenario }
    }

    private static let cases = [
        Case(scenario: "count", before: [8, 160], after: [8, 0], operations: [8, 10]),
        Case(scenario: "existence", before: [8, 160], after: [8, 8], operations: [8, 10]),
        Case(scenario: "sum", before: [1, 1200], after: [1, 1], operations: [1, 1]),
        Case(scenario: "preview", before: [8, 160], after: [16, 24], operations: [8, 10]),
        Case(scenario: "limit", before: [8, 160], after: [8, 8], operations: [8, 10]),
        Case(scenario: "identities", before: [8, 160], after: [8, 160], operations: [8, 10]),
        Case(scenario: "values", before: [7, 2400], after: [7, 2400], operations: [1, 1]),
        Case(scenario: "save", before: [122, 40], after: [44, 40], operations: [40, 40], beginsWithReading: true),
        Case(scenario: "sort", before: [1, 10], after: [1, 10], operations: [1, 1]),
        Case(scenario: "index", before: [1, 6], after: [1, 6], operations: [1, 1]),
        Case(scenario: "order", before: [1, 0], after: [1, 0], operations: [1, 1]),
        Case(scenario: "loop", before: [10, 200], after: [1, 200], operations: [10, 10]),
        Case(scenario: "prefetch", before: [9, 1320], after: [5, 120], operations: [1, 1]),
    ]

    @Test("repeats the recorded work on a copy, with and without the change", arguments: cases)
    private func trial(_ one: Case) throws {
        let directory = try TemporaryDirectory()
        let (trace, store) = try MusicProgram.record([one.scenario], isNaive: true, in: directory)
        let report = try verify(trace, "--store", store)
        let flaw = try #require(MusicProgram.flaws.first { $0.scenario == one.scenario })
        let trial = try #require(report.trials.first { $0.finding.title == flaw.title }, "\(report)")
        let measured = try #require(trial.measurement, "\(trial)")
        for (counts, expected) in [(measured.before, one.before), (measured.after, one.after)] {
            let fewest = expected[0] - (one.beginsWithReading ? 1 : 0)
            #expect((fewest...expected[0]).contains(counts.trips) && counts.rows == expected[1])
        }
        #expect([measured.operations, measured.recordedOperations] == one.operations)
        #expect(measured.rounds >= 6)
        for figure in [measured.time, measured.pause] {
            #expect(figure.before.low > 0 && figure.after.low > 0)
            #expect(figure.gain.low <= figure.gain.median && figure.gain.median <= figure.gain.high)
        }
        #expect(trial.outcome != "not tried" && trial.reason == nil && trial.expected != nil)
    }

    @Test("names the findings that it does not try, and leaves the store unchanged")
    func untouched() throws {
        let directory = try TemporaryDirectory()
        let scenarios = ["loop", "unbounded", "contains", "count", "save"]
        let (trace, store) = try MusicProgram.record(scenarios, isNaive: true, in: directory)
        let folder = URL(fileURLWithPath: store).deletingLastPathComponent()
        func files() throws -> [String: Data] {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                .filter { $0.hasPrefix("music.sqlite") }
            return try Dictionary(
                uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: folder.appendingPathComponent($0))) })
        }
        let before = try files()
        let report = try verify(trace, "--store", store)
        #expect(try files() == before)
        #expect(report.version == 1 && report.store == store)
        let reasons = Dictionary(
            report.trials.compactMap { trial in trial.reason.map { (trial.finding.rule, $0) } }
        ) { first, _ in first }
        #expect(reasons["R08"] == "Only the program's author can make its change.")
        #expect(reasons["R14"] == "It predicts a saving of memory, and only times, trips and rows are measured.")
        #expect(report.trials.contains { $0.finding.rule == "R05" && $0.reason == nil })
        let text = try BuiltCommand.run(["verify", trace, "--store", store]).withoutNextStep
        #expect(text.hasPrefix("music.sqlite: 3 findings tried on a copy: "))
        #expect(text.contains("R05 Counts and sums by fetching"))
        #expect(
            text.contains(
                "\nNot tried\n  Only the program's author can make its change.\n    R"))
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }

    @Test("never writes to a store behind a link, and leaves no copies behind")
    func links() throws {
        let directory = try TemporaryDirectory()
        let (trace, store) = try MusicProgram.record(["values", "save"], isNaive: true, in: directory)
        let before = try Data(contentsOf: URL(fileURLWithPath: store))
        let folder = directory.path("scratch")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let links = [directory.path("absolute.sqlite"), directory.path("relative.sqlite")]
        try FileManager.default.createSymbolicLink(atPath: links[0], withDestinationPath: store)
        try FileManager.default.createSymbolicLink(atPath: links[1], withDestinationPath: "music.sqlite")
        for link in links {
            let result = try BuiltCommand.run(["verify", trace, "--store", link], environment: ["TMPDIR": folder])
            #expect(result.status == 0 && result.output.contains("2 findings tried on a copy: "))
            #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
        }
        let size = Double(before.count) / 1_048_576
        #expect(
            try BuiltCommand.run(["inspect", links[1]]).output.hasPrefix(
                "relative.sqlite: \(String(format: "%.2f", size)) MiB, "))
        let nullDevice = try BuiltCommand.run(
            ["verify", trace, "--store", store], environment: ["TMPDIR": directory.path("nowhere")])
        #expect(nullDevice.status == 75)
        #expect(
            nullDevice.errors.hasPrefix(
                "faultline: Cannot create a folder for copies in \"\(directory.path("nowhere"))"))
    }

    @Test("removes its copies when it is interrupted")
    func interrupted() throws {
        let directory = try TemporaryDirectory()
        // As much work as possible, so that it does not end before the interruption.
        let (trace, store) = try MusicProgram.record(Self.cases.map(\.scenario), isNaive: true, in: directory)
        let folder = directory.path("scratch")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let script = """
            "$0" verify "$1" --store "$2" > /dev/null & verify=$!
            set -- "$TMPDIR"/*
            while [ ! -e "$1" ] && kill -0 $verify; do set -- "$TMPDIR"/*; done
            kill -TERM $verify; wait $verify
            """
        let result = try BuiltCommand.run(
            ["-c", script, BuiltCommand.faultline, trace, store], program: "/bin/sh", environment: ["TMPDIR": folder])
        #expect(result.status == 128 + SIGTERM)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
    }

    @Test("reports that a store with fewer rows does not repeat the same work")
    func otherStores() throws {
        let directory = try TemporaryDirectory()
        let (trace, store) = try MusicProgram.record(["values"], isNaive: true, in: directory)
        try SQLiteFile.run("DELETE FROM ZTRACK WHERE Z_PK > 100", on: store)
        let fewer = try #require(try verify(trace, "--store", store).trials.first { $0.finding.rule == "R03" })
        #expect(
            fewer.reason
                == "Its fetches find 100 rows here, but found 1,200 when they were recorded: this is not the same work."
        )
        try SQLiteFile.run("DELETE FROM ZTRACK", on: store)
        let none = try #require(try verify(trace, "--store", store).trials.first { $0.finding.rule == "R03" })
        #expect(none.reason?.hasPrefix("Its fetches find 0 rows here") == true)
    }

    @Test("draws values for which the predicate finds as many rows, and says so")
    func values() throws {
        let directory = try TemporaryDirectory()
        let (trace, store) = try MusicProgram.record(["count"], isNaive: true, in: directory)
        let trial = try #require(try verify(trace, "--store", store).trials.first)
        #expect(
            trial.notes.first
                == "The trace has no predicate values, so they were drawn from the copy; they match 160 rows, the recorded ones 160."
        )
    }

    @Test("uses the recorded values of a trace made with --values, and no other trace contains values")
    func recordedValues() throws {
        let directory = try TemporaryDirectory()
        let (plain, _) = try MusicProgram.record(["order"], isNaive: true, in: directory)
        #expect(try !String(contentsOfFile: plain, encoding: .utf8).contains("night"))
        let (trace, store) = try MusicProgram.record(["order"], isNaive: true, in: directory, with: ["--values"])
        #expect(
            try String(contentsOfFile: trace, encoding: .utf8).contains(
                #"[{\"string\":\"night\"},{\"integer\":39000}]"#))
        let trial = try #require(try verify(trace, "--store", store).trials.first { $0.finding.rule == "R07" })
        #expect(trial.measurement != nil && trial.notes.allSatisfy { !$0.contains("drawn") })
        let profile = directory.path("trace.profile")
        #expect(try BuiltCommand.run(["profile", trace, "-o", profile, "--values"]).status == 0)
        let again = try #require(try verify(profile, "--store", store).trials.first { $0.finding.rule == "R07" })
        #expect(
            again.measurement?.before == trial.measurement?.before && again.notes.allSatisfy { !$0.contains("drawn") })
    }

    @Test("tries two searches in reverse order")
    func searches() throws {
        let directory = try TemporaryDirectory()
        let (trace, store) = try MusicProgram.record(["searches"], isNaive: true, in: directory, with: ["--values"])
        let trial = try #require(try verify(trace, "--store", store).trials.first { $0.finding.rule == "R07" })
        #expect(trial.measurement?.before == trial.measurement?.after && trial.measurement?.before.trips == 1)
        #expect(trial.outcome != "not tried" && trial.expected != nil)
    }

    @Test("works on a profile as on a trace")
    func profile() throws {
        let directory = try TemporaryDirectory()
        let (trace, store) = try MusicProgram.record(["preview"], isNaive: true, in: directory)
        let profile = directory.path("trace.profile")
        #expect(try BuiltCommand.run(["profile", trace, "-o", profile]).status == 0)
        let trial = try #require(try verify(profile, "--store", store).trials.first)
        #expect(trial.measurement?.before == Report.Counts(trips: 8, rows: 160))
        #expect(trial.measurement?.after == Report.Counts(trips: 16, rows: 24))
    }

    @Test("measures the predicted direction of trips for the shopping list's flaws")
    func groceries() throws {
        let directory = try TemporaryDirectory()
        let (store, trace) = (directory.path("list.sqlite"), directory.path("trace.json"))
        let form = ["workload", "groceries", "--store", store, "--items", "300", "--flaws", "all"]
        #expect(try BuiltCommand.run(form + ["--prepare"]).status == 0)
        #expect(
            try BuiltCommand.run(["record", "-o", trace, "--quiet", "--", BuiltCommand.faultline] + form).status == 0)
        let trials = try verify(trace, "--store", store).trials
        let batches = try #require(trials.first { $0.finding.rule == "R02" }?.measurement)
        #expect(batches.before.rows == batches.after.rows && batches.before.trips < batches.after.trips)
        let photos = try #require(trials.first { $0.finding.rule == "R09" }?.measurement)
        #expect(photos.before.trips >= photos.after.trips)
        let locations = try #require(trials.first { $0.finding.rule == "R01" }?.measurement)
        #expect(locations.after.trips < locations.before.trips)
    }

    @Test("reports wrong arguments and files")
    func wrongInput() throws {
        let directory = try TemporaryDirectory()
        let (trace, store) = try MusicProgram.record(["count"], isNaive: true, in: directory)
        func errors(_ arguments: String...) throws -> String {
            let result = try BuiltCommand.run(["verify"] + arguments)
            #expect(result.status == 2 && result.output.isEmpty)
            return result.errors
        }
        let missing = directory.path("none.sqlite")
        #expect(
            try errors(trace, "--store", missing)
                == "faultline: Cannot read the store \"\(missing)\": there is no such file; check the path.\n")
        #expect(
            try errors(trace, "--store", trace)
                .hasPrefix("faultline: Cannot read \"\(trace)\" as an SQLite file ("))
        let other = directory.path("other.sqlite")
        try Data().write(to: URL(fileURLWithPath: other))
        #expect(
            try errors(trace, "--store", other)
                == "faultline: \"\(other)\" is not a Core Data or Faultline store: it has no table Z_METADATA; name "
                + "the store that the program used.\n"
        )
        #expect(try errors(directory.path("none.json"), "--store", store).contains("none.json"))
        let unnamed = BuiltCommand.package.appendingPathComponent("Traces/groceries-flawed/trace.json").path
        #expect(
            try errors(unnamed)
                == "faultline: \(unnamed) does not name the program's store; name its file with --store.\n")
        // The trace of the recording names it.
        let named = try BuiltCommand.run(["verify", trace])
        let file = URL(fileURLWithPath: store).lastPathComponent
        #expect(named.status == 0 && named.output.hasPrefix("\(file): "), "\(named.errors)")
    }

    @Test(
        "rejects a model file that does not match the store",
        .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func model() throws {
        let directory = try TemporaryDirectory()
        let (trace, store) = try MusicProgram.record(["count"], isNaive: true, in: directory)
        let models = SharedData.paths(endingIn: ".xcdatamodel")
        let model = try SharedData.url(try #require(models.first)).path
        let result = try BuiltCommand.run(["verify", trace, "--store", store, "--model", model])
        #expect(result.status == 2)
        #expect(
            result.errors.hasPrefix(
                "faultline: The model does not match the store \"\(store)\": since the store's version, the entity '"))
        #expect(result.errors.contains("the entity 'Track' was removed"))
        #expect(result.errors.hasSuffix("Name the version that wrote the store with --model.\n"))
    }
}
