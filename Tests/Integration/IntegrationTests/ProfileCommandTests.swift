import Foundation
import ProjectFiles
import Testing

@Suite("faultline profile and merge")
struct ProfileCommandTests {
    private static func trace(_ story: String) -> String {
        BuiltCommand.package.appendingPathComponent("Traces/\(story)/trace.json").path
    }

    @Test("A profile gives the same report as its trace", arguments: SampleTraces.timelines)
    func report(story: String) throws {
        let profile = try TemporaryDirectory().path("trace.profile")
        #expect(try BuiltCommand.run(["profile", Self.trace(story), "-o", profile]).status == 0)
        for format in ["text", "json"] {
            let reports = try [Self.trace(story), profile].map {
                try BuiltCommand.run(["report", $0, "--format", format])
            }
            #expect(reports[0].status == 0 && reports[1].status == 0)
            #expect(reports[0].withoutNextStep == reports[1].withoutNextStep)
        }
    }

    @Test("Profiles and traces merge to the same sum, in any order and grouping")
    func merge() throws {
        let directory = try TemporaryDirectory()
        let stories = SampleTraces.timelines
        for story in stories {
            #expect(try BuiltCommand.run(["profile", Self.trace(story), "-o", directory.path(story)]).status == 0)
        }
        let forth = try BuiltCommand.run(["merge"] + stories.map { directory.path($0) })
        #expect(forth.status == 0 && forth.errors == "")
        let back = try BuiltCommand.run(["merge"] + stories.reversed().map { Self.trace($0) })
        #expect(back.output == forth.output)
        let half = directory.path("half")
        #expect(
            try BuiltCommand.run(["merge"] + stories.dropFirst().map { directory.path($0) } + ["-o", half]).status == 0)
        let grouped = try BuiltCommand.run(["merge", half, directory.path(stories[0])])
        #expect(grouped.output == forth.output)
        try Data(forth.output.utf8).write(to: URL(fileURLWithPath: directory.path("all")))
        let report = try BuiltCommand.run(["report", directory.path("all")])
        #expect(report.output.contains(" in \(stories.count) traces, "))
    }

    @Test("Of two profiles of one recording, the more complete one counts, in any order")
    func partial() throws {
        let directory = try TemporaryDirectory()
        let (whole, cut) = (Self.trace("groceries-flawed"), directory.path("cut.json"))
        let text = try String(contentsOfFile: whole, encoding: .utf8)
        try String(text.prefix(text.count / 2)).write(toFile: cut, atomically: true, encoding: .utf8)
        let expected = try BuiltCommand.run(["merge", whole]).output
        for files in [[cut, whole], [whole, cut]] {
            let merged = try BuiltCommand.run(["merge"] + files)
            #expect(merged.status == 0 && merged.output == expected)
        }
        let superseded = try BuiltCommand.run(["merge", cut, whole]).errors
        #expect(
            superseded.contains(
                "faultline: \(cut): \"\(whole)\" has more of the same recording; only that is counted.\n"))
        #expect(
            superseded.contains("faultline: \(cut): 1 process has no end in the trace: the last events are missing.\n"))
    }

    @Test("A sum whose recordings are all in other files is reported and not counted")
    func contained() throws {
        let directory = try TemporaryDirectory()
        let parts = ["groceries-flawed", "n-plus-one"].map(Self.trace)
        let week = directory.path("week.profile")
        #expect(try BuiltCommand.run(["merge"] + parts + ["-o", week]).status == 0)
        let again = try BuiltCommand.run(["merge"] + parts + [week])
        #expect(
            again.errors
                == "faultline: \(week): all of it is in \"\(parts[0])\" and \"\(parts[1])\" already; it is not "
                + "counted again.\n")
    }

    @Test("Profiles with different thresholds are not merged, and each is reported with its own")
    func thresholds() throws {
        let directory = try TemporaryDirectory()
        let (standard, own, file) = (directory.path("standard"), directory.path("own"), directory.path("own.json"))
        try Data(#"{"R10": {"minimumSaves": 4}}"#.utf8).write(to: URL(fileURLWithPath: file))
        #expect(try BuiltCommand.run(["profile", Self.trace("n-plus-one"), "-o", standard]).status == 0)
        let made = try BuiltCommand.run(["profile", Self.trace("music-library"), "-o", own, "--thresholds", file])
        #expect(made.status == 0)
        let merged = try BuiltCommand.run(["merge", standard, own, "-o", directory.path("sum")])
        #expect(merged.status == 2)
        #expect(
            merged.errors
                == "faultline: Cannot merge \"\(own)\": it and \"\(standard)\" were made with different thresholds "
                + "(R10 minimumSaves); make both again with the same --thresholds.\n")
        #expect(!FileManager.default.fileExists(atPath: directory.path("sum")))
        let reports = try [[own], [Self.trace("music-library"), "--thresholds", file]].map {
            try BuiltCommand.run(["report"] + $0).withoutNextStep
        }
        #expect(reports[0] == reports[1])
    }

    @Test("A profile replaces only another profile")
    func output() throws {
        let directory = try TemporaryDirectory()
        let copy = directory.path("trace.json")
        try FileManager.default.copyItem(atPath: Self.trace("n-plus-one"), toPath: copy)
        let refused = try BuiltCommand.run(["profile", copy, "-o", copy])
        #expect(refused.status == 2)
        #expect(
            refused.errors
                == "faultline: Cannot write \"\(copy)\": it would replace \"\(copy)\", which the command reads; name "
                + "another file with -o.\n")
        let other = try BuiltCommand.run(["profile", Self.trace("n-plus-one"), "-o", copy])
        #expect(
            other.errors
                == "faultline: Cannot write \"\(copy)\": it exists and is not a profile; name another file with -o, "
                + "or replace it with --force.\n")
        #expect(FileManager.default.contentsEqual(atPath: copy, andPath: Self.trace("n-plus-one")))
        let profile = directory.path("trace.profile")
        for _ in 0..<2 { #expect(try BuiltCommand.run(["profile", copy, "-o", profile]).status == 0) }
        let nullDevice = try BuiltCommand.run(["profile", copy, "-o", directory.path("missing/trace.profile")])
        #expect(nullDevice.status == 2)
        #expect(
            nullDevice.errors
                == "faultline: Cannot write \"\(directory.path("missing/trace.profile"))\": there is no folder "
                + "\"\(directory.path("missing"))\"; make it, or name another file with -o.\n")
    }

    @Test("A sum counts each recording once, even if it is among the files it is merged from")
    func provenance() throws {
        let directory = try TemporaryDirectory()
        let (a, b, week) = (directory.path("a"), directory.path("b"), directory.path("week"))
        #expect(try BuiltCommand.run(["profile", Self.trace("n-plus-one"), "-o", a]).status == 0)
        #expect(try BuiltCommand.run(["profile", Self.trace("groceries-flawed"), "-o", b]).status == 0)
        #expect(try BuiltCommand.run(["merge", a, b, "-o", week]).status == 0)
        let once = try Data(contentsOf: URL(fileURLWithPath: week))
        let sum = directory.path("sum")
        for files in [[a, b, week], [week, b, a], [a, week, b]] {
            let again = try BuiltCommand.run(["merge"] + files + ["-o", sum])
            #expect(again.status == 0 && again.errors.contains("it is not counted again"))
            #expect(try Data(contentsOf: URL(fileURLWithPath: sum)) == once)
        }
        let twice = try BuiltCommand.run(["merge", a, a])
        #expect(twice.errors == "faultline: \(a): named twice; it is counted once.\n")
        // Two sums that have some of their recordings in common.
        let other = directory.path("other")
        #expect(
            try BuiltCommand.run(["merge", a, Self.trace("groceries-improved"), "-o", other]).status == 0)
        let refused = try BuiltCommand.run(["merge", week, other])
        #expect(refused.status == 2 && refused.output.isEmpty)
        #expect(
            refused.errors
                == "faultline: Cannot merge \"\(other)\": 1 recording of it is also in \"\(week)\", and the others are "
                + "not; merge the profiles from which these two were made.\n")
    }

    @Test("A folder stands for its profiles, and a damaged one among them costs itself and is named")
    func folder() throws {
        let directory = try TemporaryDirectory()
        let folder = directory.path("profiles")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let names = ["groceries-flawed", "n-plus-one"]
        for name in names {
            #expect(
                try BuiltCommand.run(["profile", Self.trace(name), "-o", "\(folder)/\(name).profile"]).status == 0)
        }
        let expected = try BuiltCommand.run(["merge"] + names.map { "\(folder)/\($0).profile" })
        try Data("not a profile".utf8).write(to: URL(fileURLWithPath: "\(folder)/bad.profile"))
        try Data("notes".utf8).write(to: URL(fileURLWithPath: "\(folder)/README"))
        let merged = try BuiltCommand.run(["merge", folder])
        #expect(merged.status == 0 && merged.output == expected.output)
        #expect(
            merged.errors
                == "faultline: \(folder)/bad.profile: not counted. The profile \"\(folder)/bad.profile\" is not JSON, or "
                + "is cut short; make it again from its trace with \"faultline profile\".\n")
        // Of a file that does not exist, nothing is known.
        let missing = try BuiltCommand.run(["merge", "\(folder)/none.profile", "\(folder)/n-plus-one.profile"])
        #expect(missing.status == 2 && missing.output.isEmpty)
    }

    @Test("The error about a damaged profile describes the damage")
    func damaged() throws {
        let directory = try TemporaryDirectory()
        let profile = directory.path("trace.profile")
        #expect(try BuiltCommand.run(["profile", Self.trace("n-plus-one"), "-o", profile]).status == 0)
        let whole = try Data(contentsOf: URL(fileURLWithPath: profile))
        try whole.prefix(whole.count / 2).write(to: URL(fileURLWithPath: profile))
        let result = try BuiltCommand.run(["report", profile])
        #expect(result.status == 2)
        #expect(
            result.errors
                == "faultline: The profile \"\(profile)\" is not JSON, or is cut short; make it again from its "
                + "trace with \"faultline profile\".\n")
        // Commands that need single events say that they need a trace.
        for command in [["events", profile], ["query", profile]] {
            let result = try BuiltCommand.run(command)
            #expect(result.status == 2)
            #expect(
                result.errors
                    == "faultline: \"\(profile)\" is a profile, which has sums but no events; name the trace that it "
                    + "was "
                    + "made from.\n")
        }
    }
}
