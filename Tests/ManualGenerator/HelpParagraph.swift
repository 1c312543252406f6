import Foundation

/// A paragraph of a command's discussion.
enum HelpParagraph: Equatable {
    /// A sentence or several.
    case prose(String)
    /// Lines that each describe something.
    case lines([String])
    /// Commands, comments or a file, whose lines stay as they are.
    case code([String])

    /// Divides a discussion into its paragraphs.
    ///
    /// A paragraph of prose is one line, which the terminal wraps.
    static func all(of discussion: String) -> [HelpParagraph] {
        var paragraphs: [HelpParagraph] = []
        for block in discussion.split(separator: "\n\n") {
            let lines = block.split(separator: "\n").map(String.init)
            guard let first = lines.first else { continue }
            if lines.count > 1 {
                paragraphs.append(lines.contains { $0.count > 90 } ? .lines(lines) : .code(lines))
            } else {
                paragraphs.append(first.hasPrefix("faultline ") || first.hasPrefix("//") ? .code(lines) : .prose(first))
            }
        }
        return paragraphs
    }
}
