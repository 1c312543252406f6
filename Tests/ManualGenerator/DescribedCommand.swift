import Foundation

/// A built command that describes itself.
struct DescribedCommand {
    /// The command could not be run, or failed.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let path: String

    /// The dumped help of the command and its subcommands.
    func help() throws -> CommandHelp {
        try JSONDecoder().decode(HelpDump.self, from: Data(output(of: ["--experimental-dump-help"]).utf8)).command
    }

    /// The version, without its newline.
    func version() throws -> String { try output(of: ["--version"]).trimmingCharacters(in: .newlines) }

    /// The completions for a shell.
    func completions(for shell: String) throws -> String { try output(of: ["--generate-completion-script", shell]) }

    /// The options of a subcommand that take a value only if one follows.
    ///
    /// Only the help that people read shows them: `--cpu [<HZ>]`.
    func optionalValues(of words: [String]) throws -> Set<String> {
        Set(try output(of: words.dropFirst() + ["--help"]).matches(of: /(--[a-z-]+) \[</).map { String($0.output.1) })
    }

    private func output(of arguments: [String]) throws -> String {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardOutput = pipe
        do {
            try process.run()
        } catch {
            throw Failure(description: "Cannot run \(path): \(error.localizedDescription)")
        }
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0, process.terminationReason == .exit else {
            throw Failure(description: "\(path) \(arguments.joined(separator: " ")) failed.")
        }
        return String(decoding: data, as: UTF8.self)
    }
}
