/// A page of section 1 of the manual.
struct ManualPage {
    /// The words that run the command.
    let words: [String]
    let help: CommandHelp
    let version: String
    /// The options that take a value only if one follows.
    let optionalValues: Set<String>

    /// The page's name: `faultline-record`.
    var name: String { words.joined(separator: "-") }

    var text: String {
        var lines = [
            ".\\\" Generated from the command's help by ManualGenerator.",
            ".TH \(Roff.quoted(name.uppercased())) 1 \"\" \(Roff.quoted("faultline \(version)")) \"User Commands\"",
            // Options, paths and SQL are neither divided nor stretched.
            ".nh", ".ad l",
            ".SH NAME", "\(Roff.code(name)) \\- \(Roff.prose(summary))",
            ".SH SYNOPSIS", synopsis,
        ]
        lines += description
        lines += section("ARGUMENTS", help.positionals)
        for (title, options) in help.groupedOptions {
            if let title {
                lines.append(".SS " + Roff.quoted(title))
                lines += options.flatMap(entry)
            } else {
                lines += section("OPTIONS", options)
            }
        }
        if !help.documented.isEmpty {
            lines.append(".SH COMMANDS")
            for command in help.documented {
                lines += [".TP", "\(reference(name + "-" + command.commandName))", Roff.prose(command.abstract ?? "")]
            }
        }
        lines += exitStatus
        let others = words.count > 1 ? [words.dropLast().joined(separator: "-")] : []
        let related = others + help.documented.map { name + "-" + $0.commandName }
        lines += [".SH SEE ALSO", related.map(reference).joined(separator: ",\n")]
        return lines.joined(separator: "\n") + "\n"
    }

    /// The abstract as the other pages of a system write it: without a capital and a full stop.
    private var summary: String {
        let text = help.abstract ?? ""
        return text.prefix(1).lowercased() + text.dropFirst().trimmingFullStop
    }

    private var synopsis: String {
        var parts = ["\\fB\(Roff.code(words.joined(separator: " ")))\\fR"]
        if !help.documented.isEmpty { parts.append("\\fIcommand\\fR") }
        if !help.options.isEmpty { parts.append("[\\fIoptions\\fR]") }
        for option in help.options where !option.isOptional { parts.append(spelling(of: option, names: 1)) }
        for argument in help.positionals {
            let value = "\\fI\(Roff.code(argument.valueName ?? ""))\\fR" + (argument.isRepeating ? " ..." : "")
            parts.append(argument.isOptional ? "[\(value)]" : value)
        }
        return parts.joined(separator: " ")
    }

    private var description: [String] {
        var lines = [".SH DESCRIPTION", Roff.prose(help.abstract ?? "")]
        for paragraph in help.paragraphs where exitStatus(in: paragraph) == nil {
            switch paragraph {
            case .prose(let text): lines += [".PP", Roff.prose(text)]
            case .lines(let all):
                lines += all.flatMap { [".PP", Roff.prose($0.trimmingSpaces)] }
            case .code(let all): lines += [".PP", ".RS 4", ".nf"] + all.map(Roff.code) + [".fi", ".RE"]
            }
        }
        return lines
    }

    private var exitStatus: [String] {
        let sentences = help.paragraphs.compactMap(exitStatus)
        return sentences.isEmpty ? [] : [".SH EXIT STATUS"] + sentences.map(Roff.prose)
    }

    private func exitStatus(in paragraph: HelpParagraph) -> String? {
        guard case .prose(let text) = paragraph, text.hasPrefix("Exit status: ") else { return nil }
        return String(text.dropFirst("Exit status: ".count))
    }

    private func section(_ title: String, _ arguments: [CommandHelp.Argument]) -> [String] {
        arguments.isEmpty ? [] : [".SH " + title] + arguments.flatMap(entry)
    }

    private func entry(_ argument: CommandHelp.Argument) -> [String] {
        var sentences = [argument.abstract, argument.discussion].compactMap { $0 }
        if let values = argument.allValues { sentences.append("One of: \(values.joined(separator: ", ")).") }
        if let value = argument.defaultValue {
            let name = argument.names?.first(where: { $0.kind == "long" })?.spelling ?? ""
            sentences.append(optionalValues.contains(name) ? "Without a value: \(value)." : "Default: \(value).")
        }
        return [".TP", spelling(of: argument), Roff.prose(sentences.joined(separator: " "))]
    }

    private func spelling(of argument: CommandHelp.Argument, names: Int = .max) -> String {
        guard argument.kind != "positional" else { return "\\fI\(Roff.code(argument.valueName ?? ""))\\fR" }
        let spellings = argument.spellings.suffix(names)
        let options = spellings.map { "\\fB\(Roff.code($0))\\fR" }.joined(separator: ", ")
        guard argument.kind == "option" else { return options }
        let value = "\\fI\(Roff.code(argument.valueName ?? ""))\\fR"
        return options + (spellings.contains(where: optionalValues.contains) ? " [\(value)]" : " " + value)
    }

    private func reference(_ page: String) -> String { "\\fB\(Roff.code(page))\\fR(1)" }
}

extension StringProtocol {
    /// The text without a full stop at its end.
    fileprivate var trimmingFullStop: String { hasSuffix(".") ? String(dropLast()) : String(self) }

    /// The text without spaces at its start.
    fileprivate var trimmingSpaces: String { String(drop { $0 == " " }) }
}
