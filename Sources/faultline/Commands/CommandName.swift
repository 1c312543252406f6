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
        var hint = "\"faultline --help\" lists the commands."
        var least = Int.max
        for name in names {
            let distance = distance(word, name)
            guard distance < least, distance <= max(1, name.count / 3) else { continue }
            (hint, least) = ("did you mean \"\(name)\"?", distance)
        }
        throw ValidationError("There is no command \"\(Phrase.printable(word))\"; \(hint)")
    }

    /// The number of characters to insert, delete, replace or swap with their neighbour to get from one word to another.
    private static func distance(_ first: String, _ second: String) -> Int {
        let (a, b) = (Array(first.prefix(64)), Array(second))
        var rows = [Array(0...b.count)]
        for i in 0..<a.count {
            var row = [i + 1]
            for j in 0..<b.count {
                var least = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { least = min(least, rows[i - 1][j - 1] + 1) }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }
}
