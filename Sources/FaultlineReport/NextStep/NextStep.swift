internal import FaultlineAnalysis
internal import Foundation

/// The command to run after a document, chosen from its findings.
///
///     Next, measure the advice on a copy of the store: faultline verify trace.json --store …
package struct NextStep: Sendable, Equatable {
    /// A file of the command that printed the document, which the next command reads as well.
    package struct Input: Sendable, Equatable {
        /// The path as a word of a shell command.
        let path: String
        /// The options that both commands share, as words with a space before each.
        let options: String
        /// Whether the file is a profile, which has no events.
        let isProfile: Bool

        /// - Parameters:
        ///   - path: The path of the file.
        ///   - options: The options that both commands share: their names, followed by their values.
        /// - Returns: `nil` for a path that a terminal cannot show as it is.
        package init?(path: String, options: [String] = [], isProfile: Bool = false) {
            let words = [path] + options
            guard words.allSatisfy({ Phrase.printable($0) == $0 }) else { return nil }
            self.path = Self.quoted(path)
            self.options = options.map { " " + Self.quoted($0) }.joined()
            self.isProfile = isProfile
        }

        /// Returns a word for a shell: as it is, or in quotation marks if the shell would change it.
        package static func quoted(_ word: String) -> String {
            let plain = word.unicodeScalars.allSatisfy { scalar in
                scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                    || "/._-+,:=@%".unicodeScalars.contains(scalar)
            }
            if plain, !word.isEmpty, !word.hasPrefix("-") { return word }
            if word.hasPrefix("-"), plain { return word.hasPrefix("--") ? word : "./" + word }
            return "'" + word.replacingOccurrences(of: "'", with: "'\\''") + "'"
        }
    }

    /// The purpose of the command, in words that follow "Next,".
    let purpose: String
    let command: String

    init(_ purpose: String, _ command: String) {
        (self.purpose, self.command) = (purpose, command)
    }

    /// The line at the end of a document.
    package var line: String { "Next, \(purpose): \(command)" }
}
