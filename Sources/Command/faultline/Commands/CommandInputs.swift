import ArgumentParser
import FaultlineFindings
import FaultlineReport
import FaultlineTrace
import Foundation

/// The files that a command reads.
///
/// Its outputs replace none of them, and are as private as they are.
struct CommandInputs {
    /// The maximum number of files that are looked at in a directory, such as a CTF trace or a model.
    private static let mostParts = 20_000

    private let paths: [String]
    /// The folder with the program's sources.
    private let sources: String?

    /// - Parameters:
    ///   - paths: The paths as the user named them. Those of options that were left out are `nil`.
    ///   - sources: The folder with the program's sources.
    init(_ paths: [String?], sources: String? = nil) {
        (self.paths, self.sources) = (paths.compactMap(\.self), sources)
    }

    /// A phrase for the input that writing to a file would replace, or `nil` if the file is not an input.
    ///
    /// Files are compared by their identity, so links and other names of an input are recognized.
    ///
    /// - Parameter isOwn: Whether the file is an earlier output of this kind. In a directory, it is then no input.
    func replaced(by output: FileIdentity, at path: String, isOwn: Bool) -> String? {
        if let input = paths.first(where: { FileIdentity(existing: $0) == output }) { return "\"\(input)\"" }
        for input in paths {
            let isDirectory = Self.status(input).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false
            guard !(isDirectory && isOwn) else { continue }
            let parts = isDirectory ? Self.contents(of: input) : Self.companions(of: input)
            if parts.contains(where: { FileIdentity(existing: $0) == output }) { return "a part of \"\(input)\"" }
        }
        guard let sources, let folder = Self.resolved(sources), let file = Self.resolved(path),
            file.hasPrefix(folder == "/" ? "/" : folder + "/"), SourceLocator.isSource(file), !isOwn
        else { return nil }
        return "a source in \"\(sources)\""
    }

    /// Whether every user can read all inputs.
    var isPublic: Bool {
        paths.allSatisfy { path in
            guard let status = Self.status(path) else { return true }
            guard status.st_mode & S_IFMT == S_IFDIR else { return Self.isPublic(status) }
            return Self.isPublic(status)
                && Self.contents(of: path).allSatisfy { Self.status($0).map(Self.isPublic) ?? true }
        } && (sources.flatMap(Self.status).map(Self.isPublic) ?? true)
    }

    private static func isPublic(_ status: stat) -> Bool {
        switch status.st_mode & S_IFMT {
        case S_IFREG: status.st_mode & 0o004 != 0
        case S_IFDIR: status.st_mode & 0o005 == 0o005
        // A pipe has what its writer alone knows.
        default: false
        }
    }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }

    /// The files that SQLite keeps beside a database.
    private static func companions(of path: String) -> [String] {
        // SQLite puts them beside the file that a link leads to.
        [path, resolved(path) ?? path].flatMap { path in StoreCompanion.suffixes.map { path + $0 } }
    }

    private static func contents(of directory: String) -> [String] {
        guard let real = resolved(directory), let names = FileManager.default.enumerator(atPath: real) else {
            return []
        }
        var parts: [String] = []
        while parts.count < mostParts, let name = names.nextObject() as? String { parts.append(real + "/" + name) }
        return parts
    }

    /// A path without links, or `nil` if there is no such file.
    static func resolved(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }
}

/// Files that SQLite takes for a part of a database, because of their names.
enum StoreCompanion {
    static let suffixes = ["-journal", "-wal", "-shm"]

    /// The database that a file would belong to, or `nil` if there is none.
    static func database(of path: String) -> String? {
        guard let suffix = suffixes.first(where: { path.hasSuffix($0) }) else { return nil }
        let database = String(path.dropLast(suffix.count))
        // https://www.sqlite.org/fileformat2.html#the_database_header
        return RegularFile.begins(database, with: "SQLite format 3\0") ? database : nil
    }
}

/// The identity of a file, whatever it is called.
struct FileIdentity: Equatable {
    private let device: dev_t
    private let inode: ino_t
    /// The name of a file that does not exist; the numbers are those of its folder.
    private let name: String

    /// - Returns: `nil` if there is no such file.
    init?(existing path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// - Returns: `nil` if there is neither the file nor its folder.
    init?(_ path: String) {
        if let file = FileIdentity(existing: path) {
            self = file
        } else {
            var status = stat()
            guard stat(OutputFile.folder(of: path), &status) == 0 else { return nil }
            self.init(status, name: Phrase.fileName(path))
        }
    }

    /// - Returns: `nil` if the descriptor is not open.
    init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat, name: String = "") {
        (device, inode, self.name) = (status.st_dev, status.st_ino, name)
    }
}

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
            guard let next = subcommands.first(where: { names(of: $0).contains(word) }) else {
                let names = subcommands.flatMap(names) + (path == "faultline" ? ["help"] : [])
                let hint = NearestName.of(word, in: names).map { "did you mean \"\($0)\"?" }
                throw ValidationError(
                    "There is no command \"\(Phrase.printable(word))\"; \(hint ?? "\"\(path) --help\" lists the commands.")"
                )
            }
            (command, path) = (next, "\(path) \(word)")
        }
    }

    private static func names(of command: any ParsableCommand.Type) -> [String] {
        (command.configuration.commandName.map { [$0] } ?? []) + command.configuration.aliases
    }
}

/// Adds the value that a mistyped one resembles to the parser's message, which lists the values of an option.
///
///     The value 'jsn' is invalid for '--format <format>'. Did you mean 'json'? Please provide one of …
enum ValueHint {
    /// Returns the parser's message with the hint, or as it is if no value is similar.
    static func add(to message: String) -> String {
        guard
            let parts = message.firstMatch(of: /The value '(?<value>.*?)' is invalid for '(?<option>--[a-z-]+) <.*?>'/)
        else { return message }
        let isKind = parts.output.option == "--kind"
        let rest = message[parts.range.upperBound...]
        let values = isKind ? EventKind.allCases.map(\.name) : Self.values(in: rest)
        let words = isKind ? parts.output.value.split(separator: ",") : [parts.output.value]
        guard let word = words.first(where: { !values.contains(String($0)) }),
            let nearest = NearestName.of(String(word), in: values)
        else { return message }
        return message[..<parts.range.upperBound] + ". Did you mean '\(nearest)'?"
            + (rest.first == "." ? rest.dropFirst() : rest)
    }

    /// The values that a message lists: `Please provide one of 'a' and 'b'.`, or one in each of the lines that follow.
    private static func values(in text: Substring) -> [String] {
        guard let list = text.firstRange(of: "Please provide one of") else { return [] }
        let lines = text[list.upperBound...].split(separator: "\n")
        let quoted = lines.first.map { $0.matches(of: /'([^']*)'/).map { String($0.output.1) } } ?? []
        return quoted.isEmpty
            ? lines.dropFirst().prefix { $0.hasPrefix("  - ") }.map { String($0.dropFirst(4)) } : quoted
    }
}
