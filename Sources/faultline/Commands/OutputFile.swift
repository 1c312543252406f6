import FaultlineAnalysis
import FaultlineReport
import FaultlineTrace
import Foundation

/// The output file of a subcommand.
///
/// It is checked before the work starts, so no user data is lost and no work is wasted.
struct OutputFile {
    /// The kind of existing file that may be replaced.
    enum Content {
        case timeline, profile, page
        /// No existing file may be replaced.
        case nothing

        /// A phrase for this kind of file.
        fileprivate var name: String {
            switch self {
            case .timeline: "a trace that Faultline recorded"
            case .profile: "a profile"
            case .page: "a page that Faultline wrote"
            case .nothing: ""
            }
        }

        fileprivate func isHeld(by path: String) -> Bool {
            switch self {
            case .timeline: OutputFile.isTimeline(path)
            case .profile: LoadedProfile.isProfile(path)
            case .page: RegularFile.begins(path, with: Renderers.pageBeginning)
            case .nothing: false
            }
        }
    }

    /// The advice to use another file, for sentences.
    private static let advice = "name another file with -o"

    /// Checks that a file can be written.
    ///
    /// - Parameters:
    ///   - content: The kind of existing file that may be replaced.
    ///   - isForced: Whether any existing file may be replaced, because the user said so.
    ///   - suffixes: Suffixes of files next to it that would be taken for a part of it.
    /// - Throws: ``CommandFailure`` if the file exists with other content, or cannot be written.
    static func check(
        _ path: String, replacing content: Content, isForced: Bool = false, suffixes: [String] = []
    ) throws {
        guard !path.isEmpty else { throw CommandFailure.usage("The output file has no name; name one with -o.") }
        var status = stat()
        for beside in suffixes.map({ path + $0 }) where lstat(beside, &status) == 0 {
            throw CommandFailure.usage(
                "Cannot write \"\(path)\": SQLite would treat \"\(beside)\" as part of it; \(advice).")
        }
        if stat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFREG else {
                let what = status.st_mode & S_IFMT == S_IFDIR ? "it is a directory" : "it is not a regular file"
                throw CommandFailure.usage("Cannot write \"\(path)\": \(what); \(advice).")
            }
            guard isForced || status.st_size == 0 || content.isHeld(by: path) else {
                let reason = content == .nothing ? "it exists" : "it exists and is not \(content.name)"
                let force = content == .nothing ? "" : ", or replace it with --force"
                throw CommandFailure.usage("Cannot write \"\(path)\": \(reason); \(advice)\(force).")
            }
            guard access(path, W_OK) == 0 else { throw cannotWrite(path, errno) }
        }
        let folderPath = folder(of: path)
        guard stat(folderPath, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw CommandFailure.usage(
                "Cannot write \"\(path)\": there is no folder \"\(folderPath)\"; make it, or \(advice).")
        }
        guard access(folderPath, W_OK | X_OK) == 0 else { throw cannotWrite(path, errno) }
    }

    /// The folder of a file.
    ///
    /// Foundation's own function traps for a name of one letter.
    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func cannotWrite(_ path: String, _ code: Int32) -> CommandFailure {
        .usage("Cannot write \"\(path)\": \(String(cString: strerror(code))); \(advice).")
    }

    /// Whether a file is a timeline that Faultline wrote, or had just begun.
    private static func isTimeline(_ path: String) -> Bool {
        guard let head = try? FileHandle(forReadingAtPath: path)?.read(upToCount: 64) else { return false }
        let text = String(decoding: head, as: UTF8.self)
        return text.hasPrefix("[\n{\"name\":\"faultline.") || ["[", "[\n", "[\n]\n", "]\n"].contains(text)
    }
}
