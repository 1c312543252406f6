import Foundation

// Writes the manual pages and the shell completions of a command, where an installation has them:
// ManualGenerator COMMAND DIRECTORY. Both come from the command itself.

guard CommandLine.arguments.count == 3 else {
    FileHandle.standardError.write(Data("usage: ManualGenerator COMMAND DIRECTORY\n".utf8))
    exit(64)
}

do {
    let command = DescribedCommand(path: CommandLine.arguments[1])
    let help = try command.help()
    let version = try command.version()
    var files: [(path: String, text: String)] = [
        ("share/bash-completion/completions/faultline", try command.completions(for: "bash")),
        ("share/fish/vendor_completions.d/faultline.fish", try command.completions(for: "fish")),
        ("share/zsh/site-functions/_faultline", try command.completions(for: "zsh")),
    ]
    for (words, help) in help.pages() {
        let page = ManualPage(
            words: words, help: help, version: version, optionalValues: try command.optionalValues(of: words))
        files.append(("share/man/man1/\(page.name).1", page.text))
    }
    for (path, text) in files {
        let file = URL(fileURLWithPath: CommandLine.arguments[2]).appendingPathComponent(path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: file, atomically: true, encoding: .utf8)
    }
} catch {
    FileHandle.standardError.write(Data("ManualGenerator: \(error)\n".utf8))
    exit(1)
}
