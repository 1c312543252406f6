import FaultlineAnalysis
import FaultlineTrace

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
