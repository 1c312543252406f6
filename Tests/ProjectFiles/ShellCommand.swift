/// A command of a shell script, without assignments, redirections and comments.
package struct ShellCommand: Equatable {
    package var words: [String]
    /// The number of the line where it begins.
    package var line: Int

    package init(words: [String], line: Int) {
        (self.words, self.line) = (words, line)
    }

    /// Splits lines into commands; `line` is the number of the first line.
    ///
    /// It knows quotes, comments, continued lines, lists, pipes and redirections, and no substitutions.
    package static func all(in lines: [Substring], line: Int) -> [ShellCommand] {
        var reader = Reader(line: line)
        for line in lines { reader.read(line) }
        reader.endCommand()
        return reader.commands
    }
}

extension ShellCommand {
    /// Splits lines into words, and words into commands.
    private struct Reader {
        var commands: [ShellCommand] = []
        private var line: Int
        private var words: [String] = []
        private var start: Int
        private var word: String?
        private var quote: Character?
        private var isRedirected = false

        init(line: Int) {
            self.line = line
            start = line
        }

        mutating func read(_ text: Substring) {
            var rest = text
            defer { line += 1 }
            while let character = rest.popFirst() {
                if let quote {
                    if character == quote { self.quote = nil } else { append(character) }
                    continue
                }
                switch character {
                case "'", "\"":
                    quote = character
                    word = word ?? ""
                case "\\" where rest.isEmpty: return
                case "\\": rest.popFirst().map { append($0) }
                case "#" where word == nil: rest = ""
                case " ": endWord()
                case "|", "&", ";": endCommand()
                case ">", "<":
                    endWord()
                    isRedirected = true
                default: append(character)
                }
            }
            if quote == nil { endCommand() } else { append("\n") }
        }

        private mutating func append(_ character: Character) {
            word = (word ?? "") + String(character)
        }

        private mutating func endWord() {
            guard let word else { return }
            self.word = nil
            if isRedirected {
                isRedirected = false
            } else if !words.isEmpty || word.prefixMatch(of: /[A-Z_]+=/) == nil {
                if words.isEmpty { start = line }
                words.append(word)
            }
        }

        mutating func endCommand() {
            endWord()
            if !words.isEmpty { commands.append(ShellCommand(words: words, line: start)) }
            words = []
        }
    }
}
