/// A command's help as an article of the documentation.
struct CommandArticle {
    /// The words that run the command.
    let words: [String]
    let help: CommandHelp
    /// The options that take a value only if one follows.
    let optionalValues: Set<String>

    /// The name of the file, to which `<doc:faultline-record>` leads.
    var name: String { words.count == 1 ? "Commands" : words.joined(separator: "-") }

    var text: String {
        let title = words.count == 1 ? "Commands" : words.joined(separator: " ")
        var lines = ["# \(title)", "", Markdown.prose(help.abstract ?? ""), "", "## Overview", ""]
        lines += ["```text", "usage: \(usage)", "```", ""]
        for paragraph in help.paragraphs {
            switch paragraph {
            case .prose(let text): lines += [Markdown.prose(text), ""]
            case .lines(let all): lines += all.map { "- " + Markdown.prose($0) } + [""]
            case .code(let all):
                let isShell = all.allSatisfy { $0.hasPrefix("faultline ") }
                lines += [isShell ? "```sh" : "```text"] + all + ["```", ""]
            }
        }
        lines += table("Arguments", "argument", help.positionals)
        for (title, options) in help.groupedOptions { lines += table(title ?? "Options", "option", options) }
        if !help.documented.isEmpty {
            lines +=
                ["## Topics", ""]
                + help.documented.map { "- <doc:\((words + [$0.commandName]).joined(separator: "-"))>" }
            lines.append("")
        }
        return lines.dropLast().joined(separator: "\n") + "\n"
    }

    private var usage: String {
        var parts = [words.joined(separator: " ")]
        if !help.documented.isEmpty { parts.append("COMMAND") }
        if !help.options.isEmpty { parts.append("[OPTIONS]") }
        for option in help.options where !option.isOptional { parts.append(spelling(of: option, names: 1)) }
        for argument in help.positionals {
            let value = spelling(of: argument) + (argument.isRepeating ? " …" : "")
            parts.append(argument.isOptional ? "[\(value)]" : value)
        }
        return parts.joined(separator: " ")
    }

    private func table(_ title: String, _ kind: String, _ arguments: [CommandHelp.Argument]) -> [String] {
        guard !arguments.isEmpty else { return [] }
        return ["## \(title)", "", Markdown.row([kind, "meaning"]), Markdown.row(["---", "---"])]
            + arguments.map { Markdown.row(["`\(spelling(of: $0))`", meaning(of: $0)]) } + [""]
    }

    private func meaning(of argument: CommandHelp.Argument) -> String {
        var sentences = [argument.abstract, argument.discussion].compactMap { $0 }.map(Markdown.prose)
        if let values = argument.allValues {
            sentences.append("One of: \(values.map { "`\($0)`" }.joined(separator: ", ")).")
        }
        if let value = argument.defaultValue {
            let isOptional = argument.spellings.contains(where: optionalValues.contains)
            sentences.append((isOptional ? "Without a value: " : "Default: ") + "`\(value)`.")
        }
        return sentences.joined(separator: " ")
    }

    private func spelling(of argument: CommandHelp.Argument, names: Int = .max) -> String {
        let value = (argument.valueName ?? "").uppercased()
        guard argument.kind != "positional" else { return value }
        let spellings = argument.spellings.suffix(names)
        let options = spellings.joined(separator: ", ")
        guard argument.kind == "option" else { return options }
        return options + (spellings.contains(where: optionalValues.contains) ? " [\(value)]" : " \(value)")
    }
}
