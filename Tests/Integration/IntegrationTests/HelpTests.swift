import FaultlineTrace
import Foundation
import Testing

@Suite("Asked about itself, the command")
struct HelpTests {
    @Test(
        "prints the help of record for options before the command, and runs nothing",
        arguments: [["-h"], ["--help"], ["--quiet", "--help"], ["-o", "x.json", "-h", "--", "/bin/true"]])
    func recordHelp(options: [String]) throws {
        let result = try BuiltCommand.run(["record"] + options, directory: TemporaryDirectory().url)
        #expect(result.status == 0)
        #expect(result.errors.isEmpty)
        #expect(result.output.contains("USAGE: faultline record"))
    }

    @Test("passes options after the dashes or the program's name to the program", arguments: [true, false])
    func programsOption(dashes: Bool) throws {
        let directory = try TemporaryDirectory()
        let arguments = ["record", "--quiet"] + (dashes ? ["--"] : []) + ["/bin/echo", "-h", "--help"]
        let result = try BuiltCommand.run(arguments, directory: directory.url)
        #expect(result.output == "-h --help\n")
    }

    @Test("runs a program after the dashes even if its name looks like an option")
    func programNamedLikeOption() throws {
        let directory = try TemporaryDirectory()
        let result = try BuiltCommand.run(["record", "--", "--help"], directory: directory.url)
        #expect(result.status == 2)
        #expect(result.errors.contains("Cannot run the command \"--help\""))
    }

    @Test("prints its version", arguments: [["--version"], ["record", "--version"]])
    func version(arguments: [String]) throws {
        let result = try BuiltCommand.run(arguments)
        #expect(result.status == 0)
        #expect(result.output.wholeMatch(of: /\d+\.\d+\.\d+\n/) != nil)
        #expect(result.errors.isEmpty)
    }

    @Test("lists in the help of events every kind")
    func kinds() throws {
        let result = try BuiltCommand.run(["events", "--help"])
        let help = result.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let kinds = EventKind.allCases.map(\.name).joined(separator: ", ")
        #expect(help.contains("commas: \(kinds)."))
        #expect(help.contains("release"))
    }
}
