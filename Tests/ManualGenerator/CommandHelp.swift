import Foundation

/// A command's help, as the argument parser dumps it for tools.
struct CommandHelp: Decodable {
    /// An argument, an option or a flag.
    struct Argument: Decodable {
        /// A spelling of an option.
        struct Name: Decodable {
            var kind: String
            var name: String

            /// The name with its dashes.
            var spelling: String { (kind == "long" ? "--" : "-") + name }
        }

        var kind: String
        var abstract: String?
        var discussion: String?
        var names: [Name]?
        var valueName: String?
        var defaultValue: String?
        var allValues: [String]?
        var isOptional: Bool
        var isRepeating: Bool
        var sectionTitle: String?
        var shouldDisplay: Bool

        /// The spellings of an option, the short one first.
        var spellings: [String] { (names ?? []).map(\.spelling).sorted { $0.count < $1.count } }
    }

    var commandName: String
    var abstract: String?
    var discussion: String?
    var arguments: [Argument]?
    var subcommands: [CommandHelp]?
    var shouldDisplay: Bool

    /// The subcommands that have pages; "help" needs none.
    var documented: [CommandHelp] { (subcommands ?? []).filter { $0.shouldDisplay && $0.commandName != "help" } }

    /// The arguments without a name.
    var positionals: [Argument] { (arguments ?? []).filter { $0.shouldDisplay && $0.kind == "positional" } }

    /// The options and flags.
    var options: [Argument] { (arguments ?? []).filter { $0.shouldDisplay && $0.kind != "positional" } }

    /// The options and flags by the headings of the help, in its order.
    ///
    /// The first group has no heading.
    var groupedOptions: [(title: String?, options: [Argument])] {
        var groups: [(title: String?, options: [Argument])] = [(nil, [])]
        for option in options {
            if let index = groups.firstIndex(where: { $0.title == option.sectionTitle }) {
                groups[index].options.append(option)
            } else {
                groups.append((option.sectionTitle, [option]))
            }
        }
        return groups.filter { !$0.options.isEmpty }
    }

    /// The paragraphs of the discussion.
    var paragraphs: [HelpParagraph] { HelpParagraph.all(of: discussion ?? "") }

    /// The pages of this command and those of its subcommands, with the words that run each of them.
    func pages(after words: [String] = []) -> [(words: [String], help: CommandHelp)] {
        let own = words + [commandName]
        return [(own, self)] + documented.flatMap { $0.pages(after: own) }
    }
}

/// The file with the dumped help.
struct HelpDump: Decodable {
    var command: CommandHelp
}
