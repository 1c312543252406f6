import Foundation
import Testing

@Suite("faultline record --try")
struct AdviceTrialTests {
    /// A shopping list with flaws, in a directory of its own.
    private struct List {
        let directory: TemporaryDirectory
        let form: [String]
        let line: Int

        init() throws {
            directory = try TemporaryDirectory()
            form = [
                "workload", "groceries", "--store", directory.path("list.sqlite"), "--items", "100", "--flaws", "all",
            ]
            line = try GroceriesRun.line("return try context.fetch(request)", in: "Groceries.swift")
            guard try BuiltCommand.run(form + ["--prepare"]).status == 0 else {
                throw CommandFailed(text: "cannot be prepared")
            }
        }

        var trace: String { directory.path("trace.json") }
        var untried: String { directory.path("trace-untried.json") }

        func record(_ arguments: String..., environment: [String: String] = [:]) throws -> (
            status: Int32, output: String, errors: String
        ) {
            let words = ["record", "-o", trace] + arguments + ["--", BuiltCommand.faultline] + form
            let result = try BuiltCommand.run(words, environment: environment)
            return (result.status, result.output, result.errors)
        }

        /// Returns the batch size of the items' fetch in a trace.
        func batchSize(_ trace: String) throws -> String {
            let sql = "SELECT batchSize FROM fetch WHERE entityName = 'Item'"
            return try BuiltCommand.run(["query", trace, sql]).output.split(separator: "\n").dropFirst().joined()
                .trimmingCharacters(in: .whitespaces)
        }

        /// Returns whether the items' fetch in a trace prefetches locations.
        func prefetches(_ trace: String) throws -> Bool {
            try String(contentsOfFile: trace, encoding: .utf8).contains(#""unit","locationAtHome""#)
        }
    }

    @Test("changes the fetch of a line, and compares the run with one of the unchanged program")
    func change() throws {
        let list = try List()
        let advice = "Groceries.swift:\(list.line) batch=15 prefetch=locationAtHome"
        let result = try list.record("--try", advice)
        #expect(result.status == 0)
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 2 && lines[0] == lines[1])
        #expect(try list.batchSize(list.untried) == "50" && list.batchSize(list.trace) == "15")
        #expect(try !list.prefetches(list.untried) && list.prefetches(list.trace))
        // The list only reads, so both runs were repeated. How often depends on how long that took.
        #expect(result.errors.hasPrefix("\nTried: \(advice)\n\nBefore and after  (per trace: the mean of "))
        #expect(result.errors.contains("\nThe command's CPU time is "))
        #expect(result.errors.contains("  gone   warning  R02 Set the batch size of Item to 15 (now 50)"))
        #expect(!result.errors.contains("is not tried"))
    }

    @Test("accepts the advice of every report, and an existing trace to compare with")
    func advised() throws {
        let list = try List()
        #expect(
            try BuiltCommand.run(["record", "-o", list.untried, "--", BuiltCommand.faultline] + list.form).status == 0)
        struct Report: Decodable {
            struct Finding: Decodable {
                var rule: String
                var `try`: String?
            }
            var findings: [Finding]
        }
        let text = try BuiltCommand.run(["report", list.untried, "--format", "json"]).output
        let findings = try JSONDecoder().decode(Report.self, from: Data(text.utf8)).findings
        let batches = try #require(findings.first { $0.rule == "R02" }?.try)
        #expect(batches == "Groceries.swift:\(list.line) batch=15")
        #expect(findings.first { $0.rule == "R09" }?.try == nil)
        let result = try list.record("--try", batches, "--against", list.untried)
        #expect(result.status == 0 && result.output.split(separator: "\n").count == 1)
        #expect(result.errors.contains("gone   warning  R02 Set the batch size of Item to 15 (now 50)"))
    }

    @Test("fetches only object IDs, and batches of rows only if that is requested too")
    func identities() throws {
        let list = try List()
        let place = "Groceries.swift:\(list.line)"
        let result = try list.record("--try", "\(place) ids")
        #expect(result.status == 0 && result.errors.hasPrefix("\nTried: \(place) ids\n"))
        #expect(try list.batchSize(list.untried) == "50" && list.batchSize(list.trace) == "0")
        let batches = try list.record("--try", "\(place) batch=15 ids", "--against", list.untried)
        #expect(batches.status == 0 && batches.errors.hasPrefix("\nTried: \(place) batch=15 ids\n"))
        #expect(try list.batchSize(list.trace) == "15")
    }

    @Test("combines several pieces of advice for one line, and ignores the environment's in the unchanged run")
    func several() throws {
        let list = try List()
        let place = "Groceries.swift:\(list.line)"
        let result = try list.record(
            "--try", "\(place) batch=15", "--try", "\(place) prefetch=locationAtHome",
            environment: ["FAULTLINE_TRY": "\(place) limit=3"])
        #expect(result.status == 0)
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 2 && lines[0] == lines[1])
        #expect(try list.batchSize(list.untried) == "50" && list.batchSize(list.trace) == "15")
        #expect(try !list.prefetches(list.untried) && list.prefetches(list.trace))
        #expect(
            result.errors.hasPrefix("\nTried: \(place) batch=15\nTried: \(place) prefetch=locationAtHome\n\nBefore"))
    }

    @Test("reads the trace to compare with before running anything, and does not overwrite it")
    func against() throws {
        let list = try List()
        let missing = try list.record("--try", "List.swift:1 ids", "--against", list.directory.path("none.json"))
        #expect(missing.status == 2 && missing.output.isEmpty && missing.errors.contains("none.json"))
        #expect(
            try BuiltCommand.run(["record", "-o", list.trace, "--", BuiltCommand.faultline] + list.form).status == 0)
        let same = try list.record("--try", "List.swift:1 ids", "--against", list.trace)
        #expect(same.status == 2 && same.output.isEmpty)
        #expect(
            same.errors == "faultline: Cannot write \"\(list.trace)\": it would replace \"\(list.trace)\", which the "
                + "command reads; name another file with -o.\n")
    }

    @Test("ignores advice that the program cannot follow, and reports it")
    func wrongAdvice() throws {
        let list = try List()
        let place = "Groceries.swift:\(list.line)"
        let unknown = try list.record("--quiet", "--try", "\(place) prefetch=location")
        let nothing =
            "faultline: --try changed no fetch; name a line that fetches, and options that its fetch accepts.\n"
        #expect(unknown.status == 2)
        #expect(
            unknown.errors
                == "faultline: \"\(place) prefetch=location\" is ignored: Item has no relationship \"location\".\n"
                + nothing)
        let property = try list.record("--quiet", "--against", list.untried, "--try", "\(place) properties=name,items")
        #expect(
            property.errors
                == "faultline: \"\(place) properties=name,items\" is ignored: Item has no stored attribute or to-one relationship \"items\".\n"
                + nothing)
        let elsewhere = try list.record("--against", list.untried, "--try", "Groceries.swift:1 batch=15")
        // The changed command does not even run.
        #expect(elsewhere.status == 2 && elsewhere.output.isEmpty)
        #expect(
            elsewhere.errors
                == "faultline: The unchanged command made no fetch at Groceries.swift:1, so --try has nothing to change; name a line that fetches, as the report prints it.\n"
        )
        let environment = ["FAULTLINE_TRY": "\(place) batch=5\nnonsense"]
        let result = try BuiltCommand.run(list.form, environment: environment)
        #expect(result.status == 0)
        #expect(
            result.errors
                == "faultline: FAULTLINE_TRY: \"nonsense\" does not begin with a line such as List.swift:42; the advice is ignored.\n"
        )
    }

    @Test(
        "rejects invalid advice",
        arguments: [
            (["--try", "batch=15"], #"--try "batch=15" does not begin with a line such as List.swift:42."#),
            (
                ["--try", "List.swift:42"],
                #"--try "List.swift:42" contains no change, such as batch=15 or prefetch=location."#
            ),
            (
                ["--try", "List.swift:42 speed=1"],
                #"--try "List.swift:42 speed=1" has "speed=1", which is not one of batch=, limit=, prefetch=, properties= or ids."#
            ),
            (["--against", "a.json"], "--against needs --try, which names the change to compare."),
        ])
    func wrongWords(_ arguments: [String], _ sentence: String) throws {
        let result = try BuiltCommand.run(["record"] + arguments + ["--", "true"])
        #expect(result.status == 2)
        #expect(result.errors.contains("Error: \(sentence)\n"))
    }

    @Test("passes on the exit status of a failing program, and does not run it again")
    func failure() throws {
        let directory = try TemporaryDirectory()
        let trace = directory.path("trace.json")
        let result = try BuiltCommand.run(
            ["record", "-o", trace, "--try", "List.swift:42 ids", "--", "sh", "-c", "echo ran; exit 3"])
        #expect(result.status == 3 && result.output == "ran\n")
        #expect(result.errors.hasPrefix("faultline: No process of \"sh\" recorded anything:"))
        #expect(!FileManager.default.fileExists(atPath: trace))
    }
}
