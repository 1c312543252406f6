import Foundation

// Writes what follows from a command's help:
//
//   ManualGenerator COMMAND DIRECTORY   manual pages and shell completions, where an installation has them
//   ManualGenerator --articles COMMAND CATALOG   articles about the commands and the rules; see "make articles"
//   ManualGenerator --check COMMAND CATALOG      names the articles that differ, and writes nothing

var arguments = Array(CommandLine.arguments.dropFirst())
let mode = arguments.first.flatMap { ["--articles", "--check"].contains($0) ? $0 : nil }
if mode != nil { arguments.removeFirst() }
guard arguments.count == 2 else {
    FileHandle.standardError.write(Data("usage: ManualGenerator [--articles | --check] COMMAND DIRECTORY\n".utf8))
    exit(64)
}

do {
    let command = DescribedCommand(path: arguments[0])
    let directory = URL(fileURLWithPath: arguments[1])
    guard mode == nil else {
        let stale = try ArticleFiles(of: command).update(directory, isCheck: mode == "--check")
        for name in stale { print(name) }
        exit(mode == "--check" && !stale.isEmpty ? 1 : 0)
    }
    for (path, text) in try ManualFiles(of: command).files {
        let file = directory.appendingPathComponent(path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: file, atomically: true, encoding: .utf8)
    }
} catch {
    FileHandle.standardError.write(Data("ManualGenerator: \(error)\n".utf8))
    exit(1)
}
