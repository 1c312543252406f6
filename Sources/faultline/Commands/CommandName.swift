import ArgumentParser
import FaultlineAnalysis

/// Recognizes a mistyped subcommand, which the parser would report as an unexpected argument.
enum CommandName {
    /// Checks the first argument.
    ///
    /// - Throws: `ValidationError` if it is neither an option nor a subcommand; the message suggests a similar one.
    static func check(_ arguments: [String], of command: any ParsableCommand.Type) throws {
        guard let word = arguments.first, !word.hasPrefix("-") else { return }
        var names = ["help"]
        for subcommand in command.configuration.subcommands {
            if let name = subcommand.configuration.commandName { names.append(name) }
        }
        guard !names.contains(word) else { return }
        let nearest = NearestName.of(word, in: names)
        let hint = nearest.map { "did you mean \"\($0)\"?" } ?? "\"faultline --help\" lists the commands."
        throw ValidationError("There is no command \"\(Phrase.printable(word))\"; \(hint)")
    }
}
