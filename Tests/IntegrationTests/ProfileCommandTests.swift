import Foundation
import Testing

@Suite("faultline profile and merge")
struct ProfileCommandTests {
    private static func trace(_ story: String) -> String {
        BuiltCommand.package.appendingPathComponent("Traces/\(story)/trace.json").path
    }

    @Test("A profile gives the report of its trace", arguments: SampleTraceTests.timelines)
    func report(story: String) throws {
        let profile = try TemporaryDirectory().path("trace.profile")
        #expect(try BuiltCommand.run(["profile", Self.trace(story), "-o", profile]).status == 0)
        for format in ["text", "json"] {
            let reports = try [Self.trace(story), profile].map {
                try BuiltCommand.run(["report", $0, "--format", format])
            }
            #expect(reports[0].status == 0 && reports[1].status == 0)
            #expect(reports[0].output == reports[1].output)
        }
    }

    @Test("Profiles and traces add up to the same, in whatever order and grouping")
    func merge() throws {
        let directory = try TemporaryDirectory()
        let stories = SampleTraceTests.timelines
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

    @Test("A profile takes the place of a profile, and of nothing else")
    func output() throws {
        let directory = try TemporaryDirectory()
        let copy = directory.path("trace.json")
        try FileManager.default.copyItem(atPath: Self.trace("n-plus-one"), toPath: copy)
        let refused = try BuiltCommand.run(["profile", copy, "-o", copy])
        #expect(refused.status == 2)
        #expect(
            refused.errors
                == "faultline: \"\(copy)\" is there already and is no profile; name another file with -o.\n")
        #expect(FileManager.default.contentsEqual(atPath: copy, andPath: Self.trace("n-plus-one")))
        let profile = directory.path("trace.profile")
        for _ in 0..<2 { #expect(try BuiltCommand.run(["profile", copy, "-o", profile]).status == 0) }
        let nowhere = try BuiltCommand.run(["profile", copy, "-o", directory.path("missing/trace.profile")])
        #expect(nowhere.status == 75)
        #expect(nowhere.errors.hasPrefix("faultline: The profile cannot be written to \""))
    }

    @Test("A damaged profile is named, and what is wrong with it")
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
                == "faultline: The profile \"\(profile)\" is no JSON, or a part of it is missing; make it again from its "
                + "trace with \"faultline profile\".\n")
        // What asks for single events says what it needs.
        for command in [["events", profile], ["query", profile]] {
            let result = try BuiltCommand.run(command)
            #expect(result.status == 2)
            #expect(
                result.errors
                    == "faultline: \"\(profile)\" is a profile, which has sums and no events; name the trace that it was "
                    + "made of.\n")
        }
    }
}
