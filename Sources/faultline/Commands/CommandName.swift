import ArgumentParser
import FaultlineAnalysis

/// Recognizes a mistyped subcommand, which the parser would report as an unexpected argument.
enum CommandName {
    /// Checks the subcommands among the first arguments, also those after `help`.
    ///
    /// - Throws: `ValidationError` if one is neither an option nor a subcommand; the message suggests a similar one.
    static func check(_ arguments: [String], of command: any ParsableCommand.Type) throws {
        var arguments = arguments[...]
        if arguments.first == "help" { arguments.removeFirst() }
        guard arguments.first != "help" else { return }
        var command = command
        var path = "faultline"
        while let word = arguments.popFirst(), !word.hasPrefix("-"), !command.configuration.subcommands.isEmpty {
            let subcommands = command.configuration.subcommands
            guard let next = subcommands.first(where: { $0.configuration.commandName == word }) else {
                let names =
                    subcommands.compactMap { $0.configuration.commandName } + (path == "faultline" ? ["help"] : [])
                let hint = NearestName.of(word, in: names).map { "did you mean \"\($0)\"?" }
                throw ValidationError(
                    "There is no command \"\(Phrase.printable(word))\"; \(hint ?? "\"\(path) --help\" lists the commands.")"
                )
            }
            (command, path) = (next, "\(path) \(word)")
        }
    }
}
