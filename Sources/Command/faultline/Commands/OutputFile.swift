import FaultlineReport
import FaultlineTrace
import Foundation

/// The output of a subcommand: a file, or standard output.
///
/// Everything that commands write to a named file goes through here. The file is checked before the work starts, so no
/// user data is lost and no work is wasted.
struct OutputFile {
    /// The kind of output.
    enum Content {
        case page, profile
        /// A trace that grows while it is recorded.
        case recording
        /// A trace that is made of ring buffers.
        case trace
        case export, tables
        /// What a command prints.
        case document

        /// A phrase for the existing files that may be replaced, or `nil` if there are none.
        fileprivate var replaceable: String? {
            switch self {
            case .page: "a page that Faultline wrote"
            case .profile: "a profile"
            case .recording: "a trace that Faultline recorded"
            case .export, .tables, .document: "an output of Faultline that nobody changed"
            case .trace: nil
            }
        }

        /// The output with its article, for sentences.
        fileprivate var name: String {
            switch self {
            case .page: "the page"
            case .profile: "the profile"
            case .recording, .trace: "the trace"
            case .export: "the export"
            case .tables: "the tables"
            case .document: "the output"
            }
        }

        /// Whether the output has a trace's individual events, which its owner alone can read in any form.
        fileprivate var hasEvents: Bool { ![.page, .profile, .document].contains(self) }

        /// The reason why it cannot be written to standard output, or `nil` if it can.
        fileprivate var needForFile: String? {
            switch self {
            case .page, .profile, .export, .document: nil
            case .recording: "a recording needs a file or a directory"
            case .trace: "a trace that is completed needs a file"
            case .tables: "a database needs a file"
            }
        }

        fileprivate func isHeld(by path: String) -> Bool {
            switch self {
            case .page: RegularFile.begins(path, with: Renderers.pageBeginning)
            case .profile: LoadedProfile.isProfile(path)
            case .recording: OutputFile.isTimeline(path)
            case .export, .tables, .document: UnfinishedFile.isUnchanged(path)
            case .trace: false
            }
        }
    }

    /// The path that the user named.
    let path: String
    /// Whether the output goes to standard output, because the user named it or no file.
    let isStandardOutput: Bool
    private let content: Content
    /// Whether there was a file, which may be replaced.
    private let isReplaced: Bool
    private let isPrivate: Bool

    /// The advice to use another file, for sentences.
    private static let advice = "name another file with -o"

    /// Checks that an output can be written.
    ///
    /// - Parameters:
    ///   - path: The file, or `-` or `/dev/stdout` for standard output.
    ///   - content: The kind of output, and of an existing file that it may replace.
    ///   - inputs: The files that the command reads. They are never replaced.
    ///   - isForced: Whether any other existing file may be replaced, because the user said so.
    /// - Throws: ``CommandFailure`` if the file is an input, exists with other content, or cannot be written.
    init(_ path: String, _ content: Content, inputs: CommandInputs, isForced: Bool = false) throws {
        guard !path.isEmpty else { throw CommandFailure.usage("The output file has no name; name one with -o.") }
        try Self.check(path, content, inputs: inputs)
        (self.path, self.content) = (path, content)
        isStandardOutput = Self.isStandardOutput(path)
        guard !isStandardOutput else {
            (isReplaced, isPrivate) = (false, false)
            return
        }
        if let database = StoreCompanion.database(of: CommandInputs.resolved(path) ?? path) {
            throw Self.refusal(path, "SQLite would treat it as part of \"\(database)\"", Self.advice)
        }
        var status = stat()
        if content == .tables,
            let beside = StoreCompanion.suffixes.map({ path + $0 }).first(where: { lstat($0, &status) == 0 })
        {
            throw Self.refusal(path, "SQLite would treat \"\(beside)\" as part of it", Self.advice)
        }
        isReplaced = stat(path, &status) == 0
        isPrivate = content.hasEvents || !inputs.isPublic || (isReplaced && status.st_mode & 0o004 == 0)
        if isReplaced {
            guard status.st_mode & S_IFMT == S_IFREG else {
                let what = status.st_mode & S_IFMT == S_IFDIR ? "it is a directory" : "it is not a regular file"
                throw Self.refusal(path, what, Self.advice)
            }
            guard isForced || status.st_size == 0 || content.isHeld(by: path) else {
                let reason = content.replaceable.map { "it exists and is not \($0)" } ?? "it exists"
                let force = content.replaceable == nil ? "" : ", or replace it with --force"
                throw Self.refusal(path, reason, Self.advice + force)
            }
            guard access(path, W_OK) == 0 else { throw Self.refusal(path, errno) }
        } else if content != .recording, lstat(path, &status) == 0 {
            throw Self.refusal(path, "it is a link to a file that does not exist", Self.advice)
        }
        let folder = Self.folder(of: path)
        guard stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw Self.refusal(path, "there is no folder \"\(folder)\"", "make it, or \(Self.advice)")
        }
        guard access(folder, W_OK | X_OK) == 0 else { throw Self.refusal(path, errno) }
    }

    /// Checks that an output is not an input, and that it is not standard output if it cannot be.
    ///
    /// - Throws: ``CommandFailure`` if not.
    static func check(_ path: String, _ content: Content, inputs: CommandInputs) throws {
        if isStandardOutput(path) {
            if let need = content.needForFile { throw refusal(path, need, "name one with -o") }
            guard let output = FileIdentity(descriptor: STDOUT_FILENO),
                let input = inputs.replaced(by: output, at: path, isOwn: false)
            else { return }
            throw refusal(path, "standard output is \(input), which the command reads", "write to another file")
        }
        guard let output = FileIdentity(existing: path),
            let input = inputs.replaced(by: output, at: path, isOwn: content.isHeld(by: path))
        else { return }
        throw refusal(path, "it would replace \(input), which the command reads", advice)
    }

    /// Whether a path names standard output.
    static func isStandardOutput(_ path: String) -> Bool {
        ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].contains(path)
    }

    /// The folder of a file.
    ///
    /// Foundation's own function traps for a name of one letter.
    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    // MARK: - Writing

    /// Writes the whole output.
    ///
    /// - Throws: ``CommandFailure`` if it cannot be written. An earlier file is then unchanged.
    func write(_ data: Data) throws {
        let file = try begin()
        try file.write(data)
        try file.finish()
    }

    /// Begins the output, which appears under its name once it is finished.
    ///
    /// - Throws: ``CommandFailure`` if it cannot be written.
    func begin() throws -> UnfinishedFile {
        guard !isStandardOutput else { return UnfinishedFile() }
        do {
            // An output takes the place of the file that a link leads to, and not of the link.
            return try UnfinishedFile(
                CommandInputs.resolved(path) ?? path, replacing: isReplaced, isPrivate: isPrivate, failure: failure)
        } catch {
            throw failure("\(error)")
        }
    }

    /// The failure to write the output, for a reason as in `No space left on device`.
    func failure(_ reason: String) -> CommandFailure {
        .tool(
            "Cannot write \(content.name) to \"\(path)\" (\(reason)); check that the disk has space, and that the folder "
                + "exists and is writable.")
    }

    // MARK: - Problems

    private static func refusal(_ path: String, _ reason: String, _ advice: String) -> CommandFailure {
        .usage("Cannot write \"\(path)\": \(reason); \(advice).")
    }

    private static func refusal(_ path: String, _ code: Int32) -> CommandFailure {
        refusal(path, "\(SystemError(code: code))", advice)
    }

    /// Whether a file is a timeline that Faultline wrote, or had just begun.
    private static func isTimeline(_ path: String) -> Bool {
        guard let head = try? RegularFile.beginning(of: path, length: 64) else { return false }
        let text = String(decoding: head, as: UTF8.self)
        return text.hasPrefix("[\n{\"name\":\"faultline.") || ["[", "[\n", "[\n]\n", "]\n"].contains(text)
    }
}
