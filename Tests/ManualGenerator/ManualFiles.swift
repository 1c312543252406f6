/// The manual pages and the completions of a command, below a prefix.
struct ManualFiles {
    let files: [(path: String, text: String)]

    init(of command: DescribedCommand) throws {
        let version = try command.version()
        let pages = try command.help().pages().map { words, help in
            ManualPage(
                words: words, help: help, version: version, optionalValues: try command.optionalValues(of: words))
        }
        files =
            [
                ("share/bash-completion/completions/faultline", try command.completions(for: "bash")),
                ("share/fish/vendor_completions.d/faultline.fish", try command.completions(for: "fish")),
                ("share/zsh/site-functions/_faultline", try command.completions(for: "zsh")),
            ] + pages.map { ("share/man/man1/\($0.name).1", $0.text) }
    }
}
