import Foundation
import Testing

@Suite("A mistyped name is answered with the nearest one")
struct SuggestionTests {
    private static let trace = BuiltCommand.package.appendingPathComponent("Traces/groceries-flawed/trace.json").path

    private func firstLine(_ arguments: [String]) throws -> String? {
        let result = try BuiltCommand.run(arguments)
        return result.errors.split(separator: "\n").first.map(String.init)
    }

    @Test(
        "that an option has",
        arguments: [
            (
                ["report", "x", "--format", "jsn"],
                "Error: The value 'jsn' is invalid for '--format <format>'. Did you mean 'json'? "
                    + "Please provide one of the following:"
            ),
            (
                ["tree", "x", "--by", "Entiy"],
                "Error: The value 'Entiy' is invalid for '--by <by>'. Did you mean 'entity'? "
                    + "Please provide one of 'thread', 'scope', 'entity', 'shape' or 'site'."
            ),
            (
                ["tree", "x", "--weight", "cpus"],
                "Error: The value 'cpus' is invalid for '--weight <weight>'. Did you mean 'cpu'? "
                    + "Please provide one of the following:"
            ),
            (
                ["record", "--to", "ltng", "--", "true"],
                "Error: The value 'ltng' is invalid for '--to <to>'. Did you mean 'lttng'? "
                    + "Please provide one of 'timeline' and 'lttng'."
            ),
            (
                ["events", "x", "--kind", "fetch,cachemis"],
                "Error: The value 'fetch,cachemis' is invalid for '--kind <kind>'. Did you mean 'cacheMiss'?"
            ),
            (
                ["timeline", "x", "--format", "folded?"],
                "Error: The value 'folded?' is invalid for '--format <format>'. Please provide one of 'text' and 'json'."
            ),
            (["events", "x", "--kind", "x"], "Error: The value 'x' is invalid for '--kind <kind>'"),
        ])
    func options(arguments: [String], line: String) throws {
        #expect(try firstLine(arguments) == line)
        #expect(try BuiltCommand.run(arguments).status == 2)
    }

    @Test(
        "of a rule, by its number or its name",
        arguments: [
            ("R2", "R02 (Batch size)"), ("r002", "R02 (Batch size)"), ("S1", "S01 (Empty space)"),
            ("batchsize", "R02 (Batch size)"), ("over fetch", "R03 (Over-fetch)"),
            ("misingindex", "R06 (Missing index)"),
        ])
    func rules(word: String, rule: String) throws {
        #expect(
            try firstLine(["explain", word])
                == "faultline: There is no rule \"\(word)\"; did you mean \(rule)? \"faultline explain\" lists the rules."
        )
    }

    @Test("of a command")
    func commands() throws {
        #expect(
            try firstLine(["Timelin", "x"]) == "Error: There is no command \"Timelin\"; did you mean \"timeline\"?")
        #expect(try firstLine(["help", "reprot"]) == "Error: There is no command \"reprot\"; did you mean \"report\"?")
        #expect(
            try firstLine(["demo", "grocery"]) == "Error: There is no command \"grocery\"; did you mean \"groceries\"?")
        #expect(
            try firstLine(["model", "x"])
                == "Error: There is no command \"x\"; \"faultline model --help\" lists the commands.")
    }

    @Test(
        "that the trace has",
        arguments: [
            (["--entity", "itm"], "of an entity \"itm\"; did you mean \"Item\"?"),
            (["--entity", "Publisher"], "of an entity \"Publisher\"."),
            (["--thread", "mian"], "on a thread \"mian\"; did you mean \"main\"?"),
            (["--scope", "List"], "within a scope \"List\"; did you mean \"list\"?"),
            (["--site", "Groceries.swift:99"], "at Groceries.swift:99; did you mean Groceries.swift:100?"),
            (["--site", "App/Grocries.swift:80"], "at App/Grocries.swift:80; did you mean Groceries.swift:81?"),
            (["--site", "groceries.swift"], "at groceries.swift; did you mean Groceries.swift?"),
            (["--site", "Other.swift:1"], "at Other.swift:1."),
        ])
    func events(arguments: [String], words: String) throws {
        for command in ["events", "tree", "timeline"] {
            #expect(
                try firstLine([command, Self.trace] + arguments) == "faultline: The trace has no event \(words)",
                "\(command)")
            #expect(try BuiltCommand.run([command, Self.trace] + arguments).status == 2)
        }
    }
}
