import ArgumentParser
import FaultlineFindings
import FaultlineRules
import FaultlineTrace

/// Options that select events of a trace.
struct EventSelection<End: EndOption>: ParsableArguments {
    @Option(name: .long, help: "Kinds, separated by commas: \(KindList.names).")
    var kind: KindList?

    @Option(name: .long, help: "Only events of this entity.")
    var entity: String?

    @Option(name: .long, help: "Only events that took at least this long: 500us, 2ms, 1s.")
    var minDuration: Duration?

    @Option(name: .long, help: "Only events that end after this time since the trace began: 500us, 20ms, 1.5s.")
    var from: Duration?

    @Option(name: .customLong(End.name), help: "Only events that start before this time since the trace began.")
    var to: Duration?

    @Option(name: .long, help: "Only events of this thread: its number, its name, or main.")
    var thread: String?

    @Option(name: .long, help: "Only events within scopes of this name.")
    var scope: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Only events with this call site: List.swift:42, or List.swift for the whole file.", valueName: "file:line")
    )
    var site: SitePattern?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Only events that a finding rests on: its number in the report, such as 2.", valueName: "number"))
    var finding: Int?

    func validate() throws {
        if thread?.isEmpty == true || scope?.isEmpty == true || entity?.isEmpty == true {
            throw ValidationError("--thread, --scope and --entity need a name.")
        }
        if let finding, finding < 1 { throw ValidationError("--finding needs the number of a finding, at least 1.") }
        if let from, let to, from.nanoseconds > to.nanoseconds {
            throw ValidationError("--from must not be later than --\(End.name).")
        }
    }

    /// Returns the finding that is selected by its number, or `nil` if none is, and the notes about the trace that were printed.
    ///
    /// It costs a pass over the trace, which recovers the events that a killed program left behind.
    ///
    /// - Throws: ``CommandFailure`` if the trace has no such finding or cannot be read.
    func selectedFinding(in trace: String) throws -> (finding: Finding?, told: [String]) {
        guard let finding else { return (nil, []) }
        let loaded = try LoadedProfile(path: trace)
        for note in loaded.notes { Terminal.tell(note) }
        let findings = try Analysis(asking: nil, about: loaded.profile).findings
        try Self.check(finding, of: findings, in: trace)
        return (findings[finding - 1], loaded.notes)
    }

    /// - Throws: ``CommandFailure`` if a trace has no finding of that number.
    static func check(_ finding: Int, of findings: [Finding], in trace: String) throws {
        guard !findings.indices.contains(finding - 1) else { return }
        let count = Phrase.count(UInt64(findings.count), "finding")
        throw CommandFailure.usage(
            "There is no finding \(finding): \"faultline report \(trace)\" has \(findings.isEmpty ? "none" : count)."
        )
    }

    /// The options as words of a command line.
    var words: [String] {
        let options: [(String, String?)] = [
            ("--kind", kind?.words), ("--entity", entity), ("--min-duration", minDuration?.words),
            ("--from", from?.words),
            ("--\(End.name)", to?.words), ("--thread", thread), ("--scope", scope), ("--site", site?.description),
            ("--finding", finding.map { String($0) }),
        ]
        return options.flatMap { name, value in value.map { [name, $0] } ?? [] }
    }

    /// The same selection without what only some of the events within a scope meet.
    var ofScopes: EventSelection {
        var selection = self
        (selection.kind, selection.entity, selection.minDuration, selection.site) = (nil, nil, nil, nil)
        (selection.from, selection.to, selection.finding) = (nil, nil, nil)
        return selection
    }

    /// Whether only the time and the thread of events matter.
    var isOfAnyKind: Bool {
        kind == nil && entity == nil && minDuration == nil && scope == nil && site == nil && finding == nil
    }

    /// Whether all events are selected.
    var isWhole: Bool {
        kind == nil && entity == nil && minDuration == nil && from == nil && to == nil && thread == nil && scope == nil
            && site == nil && finding == nil
    }
}

/// The name of the option for the end of a time range.
protocol EndOption: Sendable {
    static var name: String { get }
}

/// The name for subcommands without another use for it.
enum ToOption: EndOption {
    static let name = "to"
}

/// The name for subcommands whose `--to` is a format.
enum UntilOption: EndOption {
    static let name = "until"
}

/// A file, or a line of it, on the command line.
struct SitePattern: ExpressibleByArgument {
    /// The file's name, or the end of its path.
    private let file: Substring
    /// The line, or `nil` for all.
    private let line: Int?
    let description: String

    init?(argument: String) {
        guard argument.split(separator: ":").first?.isEmpty == false, !argument.hasPrefix(":") else { return nil }
        description = argument
        let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
        if parts.count > 1, let last = parts.last, let number = Int(last) {
            (file, line) = (argument.dropLast(last.count + 1), number)
        } else {
            (file, line) = (argument[...], nil)
        }
    }

    /// Returns the line or the file that was probably meant: one of a similar file, next to the given line.
    ///
    /// - Parameter sites: Lines as `List.swift:42`.
    func nearest(in sites: [String]) -> String? {
        let name = Phrase.fileName(String(file))
        let similar = sites.compactMap { text -> (pattern: SitePattern, distance: Int)? in
            guard let pattern = SitePattern(argument: text) else { return nil }
            return NearestName.similarity(name, String(pattern.file)).map { (pattern, $0) }
        }
        guard let line else { return similar.min { $0.distance < $1.distance }.map { String($0.pattern.file) } }
        func rank(_ one: (pattern: SitePattern, distance: Int)) -> (Int, UInt) {
            (one.distance, (one.pattern.line ?? 0).distance(to: line).magnitude)
        }
        return similar.min { rank($0) < rank($1) }?.pattern.description
    }

    func matches(_ site: CallSite) -> Bool {
        (line == nil || line == site.line) && (site.file == file || site.file.hasSuffix("/" + file))
    }
}
