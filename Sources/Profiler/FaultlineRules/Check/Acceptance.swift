internal import FaultlineFindings
package import FaultlineTrace

/// A suppression of findings, with its reason.
package struct Acceptance: Sendable, Hashable {
    package enum Subject: Sendable, Hashable {
        /// One finding, by its ``Finding/signature``.
        case finding(String)
        /// The findings of a rule at a line.
        case line(CallSite, rule: String)
    }

    package var subject: Subject
    package var reason: String
    /// The last day on which the suppression is valid, as `"2027-06-30"`, or `nil` if it never expires.
    package var expires: String?

    package init(subject: Subject, reason: String, expires: String? = nil) {
        self.subject = subject
        self.reason = reason
        self.expires = expires
    }

    func covers(_ finding: Finding) -> Bool {
        switch subject {
        case .finding(let signature): finding.signature == signature
        case .line(let site, let rule):
            finding.rule == rule && finding.change == site
                && (finding.change.map { Self.isSameFile($0.file, site.file) } ?? false)
        }
    }

    /// Whether a file name in a trace denotes a source file.
    ///
    /// A trace has a path, which may come from another machine, or a module and a file name. Two modules can have files
    /// of the same name.
    private static func isSameFile(_ recorded: String, _ source: String) -> Bool {
        let recorded = recorded.split(separator: "/")
        let source = source.split(separator: "/")
        guard recorded.count > 1, source.count > 1 else { return recorded.last == source.last }
        // Paths must agree in the last folder. A module's name must be one of the source file's folders.
        return recorded.suffix(2) == source.suffix(2)
            || (recorded.count == 2 && source.dropLast().contains(recorded[0]))
    }

    static func isDay(_ text: some StringProtocol) -> Bool {
        String(text).wholeMatch(of: /\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])/) != nil
    }
}

/// The error for a suppression comment that cannot be used.
package struct AcceptanceError: Error, Sendable, Hashable {
    /// The place of the comment.
    package var site: CallSite
}

extension Acceptance {
    /// Returns the suppressions in the comments of a source file.
    ///
    ///     // faultline:ignore R02, R03 until 2027-06-30: the archive is opened once a year
    ///     let request = FetchRequest<Item>()
    ///
    /// A comment applies to its own line. A comment that stands alone applies to the next line with code.
    ///
    /// - Parameter file: The file's name. Its extension says how comments begin: with `//` in Swift and in C, C++ and
    ///   Objective-C, with `#` in Python. A file in any other language has no suppressions.
    /// - Throws: ``AcceptanceError`` if a comment begins with `faultline:ignore` but has no rule, no reason, or an
    ///   invalid day.
    package static func inComments(of source: String, file: String) throws(AcceptanceError) -> [Acceptance] {
        guard let comments = CommentSyntax(file: file), source.contains(marker) else { return [] }
        var found: [Acceptance] = []
        let lines = source.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        for (index, line) in lines.enumerated() {
            guard line.contains(marker), let comment = comments.comment(in: line), comment.hasPrefix(marker) else {
                continue
            }
            let text = comment.dropFirst(marker.count)
            guard let match = text.wholeMatch(of: form), match.day.map({ isDay($0) }) ?? true else {
                throw AcceptanceError(site: CallSite(file: file, line: index + 1))
            }
            let isAlone = comments.isWithoutCode(line)
            let next = lines.indices.dropFirst(index + 1).first { !comments.isWithoutCode(lines[$0]) }
            let site = CallSite(file: file, line: isAlone ? (next ?? index) + 1 : index + 1)
            found += match.rules.matches(of: /R\d+/).map { rule in
                Acceptance(
                    subject: .line(site, rule: String(rule.output)), reason: String(match.reason),
                    expires: match.day.map(String.init))
            }
        }
        return found
    }

    /// Whether a file is in a language whose comments can suppress findings.
    package static func canBeIn(file: String) -> Bool { CommentSyntax(file: file) != nil }

    private static let marker = " faultline:ignore "
    private static var form: Regex<(Substring, rules: Substring, day: Substring?, reason: Substring)> {
        /\s*(?<rules>R\d+(?:\s*,\s*R\d+)*)(?:\s+until\s+(?<day>\S+))?\s*:\s*(?<reason>\S.*)/
    }
}

/// A language's syntax of comments that end with their line, and of string literals, in which they do not begin.
private struct CommentSyntax {
    let opening: String
    let quotes: Set<Character>

    /// - Parameter file: A file's name, whose extension says the language; `nil` for languages without such comments.
    init?(file: String) {
        guard let dot = file.lastIndex(of: ".") else { return nil }
        switch file[file.index(after: dot)...].lowercased() {
        case "swift": (opening, quotes) = ("//", ["\""])
        case "c", "h", "cc", "hh", "cpp", "hpp", "cxx", "m", "mm": (opening, quotes) = ("//", ["\"", "'"])
        case "py": (opening, quotes) = ("#", ["\"", "'"])
        default: return nil
        }
    }

    /// The text of a line's comment, after the characters that open it.
    func comment(in line: Substring) -> Substring? {
        var quote: Character?
        var rest = line
        while let character = rest.first {
            if quote == nil, rest.hasPrefix(opening) { return rest.dropFirst(opening.count) }
            rest.removeFirst()
            if character == "\\", quote != nil {
                rest = rest.dropFirst()
            } else if character == quote {
                quote = nil
            } else if quote == nil, quotes.contains(character) {
                quote = character
            }
        }
        return nil
    }

    func isWithoutCode(_ line: Substring) -> Bool {
        let text = line.drop { $0 == " " || $0 == "\t" }
        return text.isEmpty || text.hasPrefix(opening)
    }
}
