/// Plain text of the help and of rules as Markdown.
enum Markdown {
    /// Returns a sentence whose options, commands and JSON are code.
    ///
    /// Outside code, DocC would make a dash of the two hyphens of an option.
    static func prose(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        let code =
            /"(faultline [^"]*|--)"|(\{".*\}|'[^' ]+ [^']*=[^']*')|(^|[ (,])(--?[A-Za-z][A-Za-z-]*(?: html| json)?)/
        while let match = rest.firstMatch(of: code) {
            let words = match.output.1 ?? match.output.2 ?? match.output.4 ?? ""
            result += escaped(rest[..<match.range.lowerBound] + (match.output.3 ?? "")) + "`\(words)`"
            rest = rest[match.range.upperBound...]
        }
        return result + escaped(rest)
    }

    /// Returns a row of a table.
    static func row(_ cells: [String]) -> String {
        "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
    }

    private static func escaped(_ text: some StringProtocol) -> String {
        text.map { "*_<[]`\\".contains($0) ? "\\\($0)" : String($0) }.joined()
    }
}
